"""The days of a space: when a day begins and ends, how old a digest of today may be, how a long day is split and shown.

A day follows the calendar of the space's time zone: with a clock change it has 23 or 25 hours, and a day that the
calendar left out has none. Today's digest is valid for the hour it was made in, and longer if nothing was said since. A
merge is identified by a hash of its inputs: the same inputs give the same merge.

A model reads a day as XML with time, author and content that nobody can fake:

    <messages zone="Europe/Berlin">
    <message><timestamp>2024-05-01T09:30</timestamp><author_id>123</author_id><author>Alex</author><content>…</content></message>
    </messages>

The log keeps ids; here they become names: that of the author, and those of the people mentioned (`<@123>`, `<@!123>`,
`@123`). A mention of an id without a name stays as it is. Names change, so none is ever stored for an id. Both ids and
names are made distinct by `text.escaping`: two people never have the same. All text goes through `escaping` first,
so that no word of a chat reads as the frame of an instruction. Then it is escaped as XML: a parser gives back what
`escaping` made of the text, which for ordinary words is the text itself. Erased messages are left out. In a group each
message has the number of its thread, `<thread>3</thread>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from hashlib import sha256
from typing import Any, NamedTuple
from xml.sax.saxutils import escape as xml
from zoneinfo import ZoneInfo

from everword.errors import InvalidInput
from everword.model import Message
from everword.text import escaping
from everword.text.names import MENTION
from everword.word_lists import lazy_pattern

GIVEN = "replies to it"
"""Why a message is in a thread, if the platform says what it answers."""
HISTORY = 6
"""Days before today that become one history: with today a week."""
LATE = 4  # a long day is split at a pause in the last 1/LATE of what fits
DAY = timedelta(days=1)


def parse_time_zone(name: str) -> tzinfo:
    """The time zone with this name; raises InvalidInput if there is none. UTC needs no system data."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError, RecursionError):  # an odd name, one of a folder, an unknown one
        raise InvalidInput(
            "time_zone",
            f"is {name!r}, which is not a known time zone; use an IANA name such as Europe/Berlin, and "
            "install `tzdata` if the system has no time zones",
        ) from None


def local_time(moment: datetime, zone: tzinfo) -> datetime:
    """A moment on the space's clock. In the first and last hours of the calendar there is only UTC."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.astimezone(UTC)


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The day on the space's calendar."""
    return local_time(moment, zone).date()


def day_bounds(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """When a day begins, and when the next does."""
    return _day_start(day, zone), _day_start(day + DAY, zone) if day < date.max else datetime.max.replace(tzinfo=UTC)


def _day_start(day: date, zone: tzinfo) -> datetime:
    try:
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time(), UTC)


def hour_bucket(moment: datetime, zone: tzinfo) -> str:
    """The hour on the space's clock. An hour that comes twice, when clocks are set back, gives two values."""
    return moment.astimezone(zone).isoformat(timespec="hours").replace(":", "")


def history_days(today: date) -> tuple[date, ...]:
    """The days of a history, oldest first: yesterday and those before it."""
    return tuple(today - DAY * back for back in range(HISTORY, 0, -1) if today - date.min >= DAY * back)


# -- what a digest is made of


@dataclass(frozen=True, slots=True)
class Participation:
    """What a member said on a day in a channel: how many messages, and the turns of the first and the last."""

    conversation: str
    user: str
    first: int
    last: int
    messages: int


def fingerprint(spoke: Iterable[Participation]) -> str:
    """A short hash of what was said on a day: one more message, earlier or later, changes it."""
    rows = sorted((entry.conversation, entry.user, entry.first, entry.last, entry.messages) for entry in spoke)
    return content_hash(*(str(value) for row in rows for value in row))


def extend_participation(
    spoke: Participation | None, conversation: str, user: str, turns: Sequence[int]
) -> Participation:
    """The participation of a member on a day, with these turns added."""
    first = min(turns)
    last = max(turns)
    if spoke is None:
        return Participation(conversation, user, first, last, len(turns))
    return Participation(
        conversation, user, min(first, spoke.first), max(last, spoke.last), spoke.messages + len(turns)
    )


def content_hash(*parts: str) -> str:
    """A hash of texts, each with its length: the same characters cut in another way give another hash."""
    texts = [part.encode("utf-8", "surrogatepass") for part in parts]
    return sha256(b"".join(len(text).to_bytes(8, "big") + text for text in texts)).hexdigest()[:32]


class ThreadLink(NamedTuple):
    """The thread of a message of a group, the turn that it answers, and whether the platform says so."""

    thread: tuple[str, int]
    answers: int | None
    is_given: bool = False


# -- whether a digest is still valid


def is_current(row: Mapping[str, Any], *, inputs: str, hour: str, asking: bool) -> bool:
    """Whether a stored digest is as good as a new one.

    It is if nothing was said since, or if it is of this hour; a day that has ended has no `hour`. A digest by the
    built-in writer in place of a model is not, as soon as a model can be asked.
    """
    return not (row["pending"] and asking) and (row["inputs"] == inputs or (hour != "" and row["bucket"] == hour))


# -- a day that is too long


def split_day(sizes: Sequence[int], times: Sequence[datetime], limit: int) -> list[tuple[int, int]]:
    """Split a day's messages into runs of at most `limit` in total size, at pauses if possible.

    A run is the index of its first message and the index after its last. A message that is too large is its own run.
    """
    runs = list[tuple[int, int]]()
    start = 0
    while start < len(sizes):
        end = start
        size = 0
        while end < len(sizes) and (end == start or size + sizes[end] <= limit):
            size += sizes[end]
            end += 1
        if end < len(sizes):
            earliest = max(end - max((end - start) // LATE, 1), start + 1)
            end = max(range(earliest, end + 1), key=lambda place: (times[place] - times[place - 1], place))
        runs.append((start, end))
        start = end
    return runs


# -- without a model


def merge_sources(profile: str, today: str, history: str) -> list[tuple[str, str]]:
    """The texts to merge that are not empty, with their names, the most important first."""
    pairs = (("profile", profile), ("today", today), ("history", history))
    return [(name, text.strip()) for name, text in pairs if text.strip()]


def join_sources(profile: str, today: str, history: str, names: Mapping[str, str]) -> str:
    """All the texts, one after the other, without a model: the profile first, then today, then the days before."""
    texts = merge_sources(profile, today, history)
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"{names[name]}: {text}" if name in names else text for name, text in texts)


# -- the messages of a day as a model reads them


MAX_SHOWN = 80
"""Characters of a display name that are shown."""

# A handle ends at white space or at a sign that no id of a platform has; before it stands no letter, as in an address.
_HANDLE = lazy_pattern(r"(?<![\w@.])@(?P<id>[^\s@<>]{1,256})")
_NO_XML = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def transcript(
    messages: Iterable[Message], names: Mapping[str, str], zone: tzinfo, links: Mapping[str, ThreadLink] | None = None
) -> escaping.Fenced:
    """The messages in their order, with times in that zone; `names` are display names by id. Threads of `links` have a
    number each."""
    visible_messages = [message for message in messages if message.is_lasting]
    people = People.of((message.author for message in visible_messages), names)
    numbers = {
        thread: str(number)
        for number, thread in enumerate(dict.fromkeys(link.thread for link in (links or {}).values()), 1)
    }
    threads = {id: numbers[link.thread] for id, link in (links or {}).items()}
    lines = [_element(message, names, people, zone, threads.get(message.id)) for message in visible_messages]
    frame = f"<messages zone={_quote_attribute(str(zone))}>"
    return escaping.Fenced("\n".join([frame, *lines, "</messages>"]))


@dataclass(frozen=True, slots=True)
class People:
    """The authors: how their ids and their names are shown, by id."""

    ids: Mapping[str, str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, authors: Iterable[str], names: Mapping[str, str]) -> People:
        author_ids = list(dict.fromkeys(authors))
        ids = escaping.distinct_labels({author: _display_id(author) for author in author_ids})
        return cls(ids, escaping.distinct_labels({author: _display_name(author, names) for author in author_ids}))


def _display_id(author: str) -> str:
    """An id on one line; with its sign if the line differs from the id."""
    label = escaping.escape_line(author)
    return label if label == author else escaping.with_sign(label, author)


def _display_name(author: str, names: Mapping[str, str]) -> str:
    label = escaping.escape_line(_short_name(author, names))
    is_reserved = escaping.RESERVED.fullmatch("".join(map(escaping.fold_character, label)))
    return escaping.with_sign(f"member {label}", author) if is_reserved else label


def replace_mentions(text: str, names: Mapping[str, str]) -> str:
    """The text with a name for every mention of an id that has one."""
    if "@" not in text:
        return text

    def name_mention(match: re.Match[str]) -> str:
        return f"@{_short_name(match['id'], names)}" if match["id"] in names else match[0]

    def name_handle(match: re.Match[str]) -> str:
        handle = match["id"]
        # The longest beginning that is an id and ends where a word does, without the full stop in "ask @123."
        for end in range(len(handle), 0, -1):
            if handle[:end] in names:
                return f"@{_short_name(handle[:end], names)}{handle[end:]}"
            if handle[end - 1].isalnum() or handle[end - 1] == "_":
                break
        return match[0]

    # The text between mentions is read separately, so that an inserted name is never read as a mention.
    pieces: list[str] = []
    at = 0
    for match in MENTION.finditer(text):
        pieces += [_HANDLE.sub(name_handle, text[at : match.start()]), name_mention(match)]
        at = match.end()
    return "".join([*pieces, _HANDLE.sub(name_handle, text[at:])])


def _element(message: Message, names: Mapping[str, str], people: People, zone: tzinfo, thread: str | None) -> str:
    fields = {
        **({"thread": thread} if thread else {}),
        "timestamp": local_time(message.time, zone).replace(tzinfo=None).isoformat(timespec="minutes"),
        "author_id": people.ids[message.author],
        "author": people.names[message.author],
        "content": escaping.escape(replace_mentions(message.content, names)),
    }
    return f"<message>{''.join(f'<{tag}>{_escape_xml(text)}</{tag}>' for tag, text in fields.items())}</message>"


def _short_name(id: str, names: Mapping[str, str]) -> str:
    name = " ".join(names.get(id, id).split())
    return name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"


def _escape_xml(text: str) -> str:
    return xml(_NO_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _quote_attribute(text: str) -> str:
    return f'"{xml(_NO_XML.sub(chr(0xFFFD), text), {chr(34): "&quot;"})}"'

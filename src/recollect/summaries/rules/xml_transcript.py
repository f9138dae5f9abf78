"""Messages of several people as a model reads them: XML with time, author and content that nobody can fake.

    <messages zone="Europe/Berlin">
    <message><timestamp>2024-05-01T09:30</timestamp><author_id>123</author_id><author>Alex</author><content>…</content></message>
    </messages>

The log keeps ids; here they become names: that of the author, and those of the people mentioned (`<@123>`, `<@!123>`,
`@123`). A mention of an id without a name stays as it is. Names change, so none is ever stored for an id. Both ids and
names are made distinct by `text.fences`: two people never have the same.

All text goes through `fences` first, so that no word of a chat reads as the frame of an instruction. Then it is escaped
as XML: a parser gives back what `fences` made of the text, which for ordinary words is the text itself. Erased messages
are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from xml.sax.saxutils import escape as xml

from recollect.model import Message
from recollect.text.fences import (
    MENTION,
    RESERVED,
    Fenced,
    distinct_labels,
    escape,
    escape_line,
    fold_character,
    with_sign,
)
from recollect.text.packs import lazy_pattern

MAX_SHOWN = 80
"""Characters of a display name that are shown."""

# A handle ends at white space or at a sign that no id of a platform has; before it stands no letter, as in an address.
_HANDLE = lazy_pattern(r"(?<![\w@.])@(?P<id>[^\s@<>]{1,256})")
_NO_XML = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def transcript(messages: Iterable[Message], names: Mapping[str, str], zone: tzinfo) -> Fenced:
    """The messages in their order, with times in that zone; `names` are display names by id."""
    visible_messages = [message for message in messages if message.is_lasting]
    people = People.of((message.author for message in visible_messages), names)
    lines = [_element(message, names, people, zone) for message in visible_messages]
    frame = f"<messages zone={_quote_attribute(str(zone))}>"
    return Fenced("\n".join([frame, *lines, "</messages>"]))


@dataclass(frozen=True, slots=True)
class People:
    """The authors: how their ids and their names are shown, by id."""

    ids: Mapping[str, str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, authors: Iterable[str], names: Mapping[str, str]) -> People:
        author_ids = list(dict.fromkeys(authors))
        ids = distinct_labels({author: _display_id(author) for author in author_ids})
        return cls(ids, distinct_labels({author: _display_name(author, names) for author in author_ids}))


def _display_id(author: str) -> str:
    """An id on one line; with its sign if the line differs from the id."""
    label = escape_line(author)
    return label if label == author else with_sign(label, author)


def _display_name(author: str, names: Mapping[str, str]) -> str:
    label = escape_line(_short_name(author, names))
    return with_sign(f"member {label}", author) if RESERVED.fullmatch("".join(map(fold_character, label))) else label


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


def _element(message: Message, names: Mapping[str, str], people: People, zone: tzinfo) -> str:
    fields = {
        "timestamp": _local(message.time, zone).replace(tzinfo=None).isoformat(timespec="minutes"),
        "author_id": people.ids[message.author],
        "author": people.names[message.author],
        "content": escape(replace_mentions(message.content, names)),
    }
    return f"<message>{''.join(f'<{tag}>{_escape_xml(text)}</{tag}>' for tag, text in fields.items())}</message>"


def _short_name(id: str, names: Mapping[str, str]) -> str:
    name = " ".join(names.get(id, id).split())
    return name if len(name) <= MAX_SHOWN else f"{name[: MAX_SHOWN - 1]}…"


def _local(time: datetime, zone: tzinfo) -> datetime:
    try:
        return time.astimezone(zone)
    except OverflowError:  # in the first or the last hours there are
        return time.astimezone(UTC)


def _escape_xml(text: str) -> str:
    return xml(_NO_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _quote_attribute(text: str) -> str:
    return f'"{xml(_NO_XML.sub(chr(0xFFFD), text), {chr(34): "&quot;"})}"'

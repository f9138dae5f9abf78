"""Messages of several people as a model reads them: XML that says when, who and what, and that nobody can fake.

    <messages zone="Europe/Berlin">
    <message><timestamp>2024-05-01T09:30</timestamp><author_id>123</author_id><author>Alex</author><content>…</content></message>
    </messages>

The log keeps ids; here they become names: that of the author, and those of whoever is mentioned (`<@123>`, `<@!123>`,
`@123`). A mention of an id that has no name stays as it is. Names come and go, so none is ever stored for an id. Both
ids and names are told apart as everywhere (`rules.labels`): two people never have the same.

All text goes through `fences` first, so that no word of a chat reads as an instruction's frame, and is then escaped as
XML: what a parser gives back is what `fences` made of it, and for ordinary words that is the words themselves. What was
erased is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from xml.sax.saxutils import escape as xml

from recollect.model import Message
from recollect.rules.people.names import MENTION
from recollect.rules.prompt.fences import RESERVED, Fenced, escape, folded, line, with_sign
from recollect.rules.prompt.labels import distinct_labels

MAX_SHOWN = 80
"""Characters of a display name that are shown."""

# A handle ends at white space or at a sign that no id of a platform has; before it stands no letter, as in an address.
_HANDLE = re.compile(r"(?<![\w@.])@(?P<id>[^\s@<>]{1,256})")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def transcript(messages: Iterable[Message], names: Mapping[str, str], zone: tzinfo) -> Fenced:
    """The messages in their order, with times in that zone; `names` are display names by id."""
    shown = [message for message in messages if not message.erased]
    people = People.of((message.author for message in shown), names)
    lines = [_element(message, names, people, zone) for message in shown]
    frame = f"<messages zone={_quoted(str(zone))}>"
    return Fenced("\n".join([frame, *lines, "</messages>"]))


@dataclass(frozen=True, slots=True)
class People:
    """Those who speak: how their ids and their names are shown, by id."""

    ids: Mapping[str, str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, authors: Iterable[str], names: Mapping[str, str]) -> People:
        every = list(dict.fromkeys(authors))
        ids = distinct_labels({author: _shown_id(author) for author in every})
        return cls(ids, distinct_labels({author: _shown_name(author, names) for author in every}))


def _shown_id(author: str) -> str:
    """An id in one line; with its sign where that is not all of it."""
    shown = line(author)
    return shown if shown == author else with_sign(shown, author)


def _shown_name(author: str, names: Mapping[str, str]) -> str:
    shown = line(_name(author, names))
    return with_sign(f"member {shown}", author) if RESERVED.fullmatch("".join(map(folded, shown))) else shown


def mentions_shown(text: str, names: Mapping[str, str]) -> str:
    """The text with a name for every mention of an id that has one."""
    if "@" not in text:
        return text

    def named(match: re.Match[str]) -> str:
        return f"@{_name(match['id'], names)}" if match["id"] in names else match[0]

    def handled(match: re.Match[str]) -> str:
        said = match["id"]
        # The longest beginning that is an id and ends where a word does: the full stop in "ask @123." is not of it.
        for end in range(len(said), 0, -1):
            if said[:end] in names:
                return f"@{_name(said[:end], names)}{said[end:]}"
            if said[end - 1].isalnum() or said[end - 1] == "_":
                break
        return match[0]

    # One after the other over what is left, so that a name is never taken for a mention itself.
    pieces, at = list[str](), 0
    for match in MENTION.finditer(text):
        pieces += [_HANDLE.sub(handled, text[at : match.start()]), named(match)]
        at = match.end()
    return "".join([*pieces, _HANDLE.sub(handled, text[at:])])


def _element(message: Message, names: Mapping[str, str], people: People, zone: tzinfo) -> str:
    fields = {
        "timestamp": _local(message.time, zone).replace(tzinfo=None).isoformat(timespec="minutes"),
        "author_id": people.ids[message.author],
        "author": people.names[message.author],
        "content": escape(mentions_shown(message.content, names)),
    }
    return f"<message>{''.join(f'<{tag}>{_escaped(text)}</{tag}>' for tag, text in fields.items())}</message>"


def _name(id: str, names: Mapping[str, str]) -> str:
    shown = " ".join(names.get(id, id).split())
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}…"


def _local(time: datetime, zone: tzinfo) -> datetime:
    try:
        return time.astimezone(zone)
    except OverflowError:  # in the first or the last hours there are
        return time.astimezone(UTC)


def _escaped(text: str) -> str:
    return xml(_NO_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _quoted(text: str) -> str:
    return f'"{xml(_NO_XML.sub(chr(0xFFFD), text), {chr(34): "&quot;"})}"'

"""Members of a space and their names, whom a name means, and the answer to a command.

A display name may hold anything that its owner could type, and a strange name never stops a message: `clean_name` makes
it fit to be kept. White space and control characters become single spaces, invisible characters go, except joiners
where a script or an emoji needs them. What is longer than a name may be is cut between characters as a reader sees
them. A name of which nothing can be seen is no name: the next one is used, or none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from everword.errors import InvalidInput
from everword.model.facts import Fact, Forgotten, Statement
from everword.model.log import Message

NameKind = Literal["id", "mention", "display", "nickname", "alias"]
CommandKind = Literal["remember", "forget", "ask"]
NEVER = datetime(1, 1, 1, tzinfo=UTC)
MAX_NAME = 256  # characters
MAX_NAME_BYTES = 768  # of UTF-8, as of an id: a name may become one
LONGEST_READ = 16 * MAX_NAME  # characters of a name that are looked at
JOINERS = "\u200c\u200d"
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters to Unicode, and nothing to the eye
FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
MAX_MARKS = 32  # characters that may belong to the one before; a name with more is cut among them


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a person, with the times when it was first and last seen, if they are known. A name that its owner no
    longer uses is kept, because other people may still use it."""

    text: str
    kind: NameKind
    since: datetime | None = None
    seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A person in a space. A person's id counts as one of the names."""

    id: str
    names: tuple[Name, ...] = ()

    @property
    def shown(self) -> str:
        """The display name that was seen last, or else the id."""
        display_names = [(name.seen or name.since or NEVER, name.text) for name in self.names if name.kind == "display"]
        return max(display_names)[1] if display_names else self.id


@dataclass(frozen=True, slots=True)
class Candidate:
    """A person that a name may refer to, the name that matches, and the reason in words."""

    member: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one person that a name refers to, and the reason."""

    member: str
    why: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several people match a name equally well: ask the user which person is meant."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody matches a name. The suggestions are names with a similar spelling: ask the user whether one of them is
    meant."""

    suggestions: tuple[Candidate, ...] = ()


Whom = Resolved | Ambiguous | Unknown
"""Whom a name means."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command, such as "remember …" or "forget …".

    `text` is the answer to the person who gave the command; `message` is the command in the log. `person` is whom the
    command was about. If this is unclear, `person` is None, nothing was done, and `candidates` are the people who may
    be meant. After a "remember", `statements` are the statements that are true now. After a question, `statements` and
    `facts` are what was shown. After a "forget", `forgotten` is what was removed.
    """

    kind: CommandKind
    text: str
    message: Message
    person: str | None = None
    statements: tuple[Statement, ...] = ()
    facts: tuple[Fact, ...] = ()
    forgotten: Forgotten | None = None
    candidates: tuple[Candidate, ...] = ()

    @property
    def asks_back(self) -> bool:
        """Whether nothing was done, because it is not clear what was meant."""
        return self.person is None or (self.forgotten is not None and self.forgotten.everything)


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """The answer to a question about a person, with the facts and messages that support the answer, best first.

    `made_by` is "model" or "offline". It is "offline" if there was no model, or if its answer could not be used: in
    this case, `text` lists the facts and messages themselves. If `known` is false, nothing in the memory answers the
    question. `user` is the id of the person: if you asked by name, `user` shows whom everword chose.
    """

    text: str
    known: bool
    made_by: str
    facts: tuple[Fact, ...] = ()
    messages: tuple[Message, ...] = ()
    user: str = ""


def clean_name(*names: object) -> str:
    """The first of some names of which something is left, cleaned; empty if nothing is left of any."""
    return next(filter(None, map(_clean, names)), "")


def with_name(metadata: Mapping[str, Any], name: object) -> dict[str, Any]:
    """The metadata of a message with the name of its author, as far as something can be seen of it."""
    if not isinstance(name, str):
        raise InvalidInput("name", f"must be text, not {type(name).__name__}")
    visible_name = clean_name(name)
    return {**metadata, "name": visible_name} if visible_name else dict(metadata)


def _clean(name: object) -> str:
    if not isinstance(name, str):
        return ""
    text = name[:LONGEST_READ]
    if not (text.isascii() and text.isprintable()):
        text = "".join(_visible(text, place) for place in range(len(text)))
    text = _cut(" ".join(text.split()))
    return text if any(unicodedata.category(char)[0] in "LNPS" for char in text) else ""


def _visible(text: str, place: int) -> str:
    """What is kept of a character at its place."""
    char = text[place]
    if char in JOINERS:
        neighbours = (text[place - 1 : place], text[place + 1 : place + 2])
        return char if all(other and not other.isascii() and other not in JOINERS for other in neighbours) else ""
    category = unicodedata.category(char)
    if category in ("Cc", "Zs", "Zl", "Zp") or char in FILLERS:
        return " "
    return "" if category in ("Cf", "Cs", "Cn") else char


def _cut(text: str) -> str:
    """The text, if it is too long, cut at a place that is not inside a character as a reader sees it."""
    end = min(len(text), MAX_NAME)
    while len(text[:end].encode()) > MAX_NAME_BYTES:
        end -= 1
    if end == len(text):
        return text
    places = range(end, max(end - MAX_MARKS, 0), -1)
    return text[: next((place for place in places if not _is_joined(text, place)), end)].rstrip()


def _is_joined(text: str, place: int) -> bool:
    """Whether a cut at this place would part what belongs together."""
    before, after = text[place - 1], text[place]
    if before in JOINERS or after in JOINERS or unicodedata.category(after)[0] == "M":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # the colour of a skin
        return True
    letters = len(text[:place]) - len(text[:place].rstrip(FLAG_LETTERS))
    return after in FLAG_LETTERS and letters % 2 == 1

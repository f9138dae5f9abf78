"""Members of a space and their names, whom a name means, and the answer to a command."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from everword.model.facts import Fact, Forgotten, Statement
from everword.model.log import Message

NameKind = Literal["id", "mention", "display", "nickname", "alias"]
CommandKind = Literal["remember", "forget", "ask"]
NEVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a member, and when it was first and last seen, if that is known. A name that is no longer used stays
    known: somebody will still use it."""

    text: str
    kind: NameKind
    since: datetime | None = None
    seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a space. The id needs no name of its own."""

    id: str
    names: tuple[Name, ...] = ()

    @property
    def shown(self) -> str:
        """The display name that was seen last, or else the id."""
        display_names = [(name.seen or name.since or NEVER, name.text) for name in self.names if name.kind == "display"]
        return max(display_names)[1] if display_names else self.id


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member that a name may mean, the name that fits, and why, in words for the person who is asked."""

    member: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one member a name means, and why."""

    member: str
    why: str


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several members fit equally well: the caller asks which."""

    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody fits. The suggestions have a similar spelling: the caller may ask whether one is meant."""

    suggestions: tuple[Candidate, ...] = ()


Whom = Resolved | Ambiguous | Unknown


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command. `text` is the answer to whoever gave it; `message` is the command in the log.

    `person` is the person it was about. If that must be asked, it is None, nothing was done, and `candidates` are the
    people who may be meant. After a "remember", `statements` are those that stand now; after an "ask", `statements` and
    `facts` are what was shown; after a "forget", `forgotten` is what was taken out.
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
    """The answer to a question about a person, and the facts and messages it rests on, best first.

    `made_by` is "model", or "offline" if there was none or its answer could not be used: then `text` is the facts and
    messages themselves, as lines. If it is not `known`, nothing that is remembered answers the question.
    """

    text: str
    known: bool
    made_by: str
    facts: tuple[Fact, ...] = ()
    messages: tuple[Message, ...] = ()

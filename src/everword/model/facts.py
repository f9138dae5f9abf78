"""What is known about people: as a message states it, as it is kept, and as digests of their days and weeks tell it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, get_args

FactCategory = Literal[
    "identity", "relationship", "work", "place", "health", "possession",
    "preference", "constraint", "instruction", "plan", "event", "other",
]  # fmt: skip
FACT_CATEGORIES: tuple[FactCategory, ...] = get_args(FactCategory)

FactChangeKind = Literal["add", "edit", "delete"]
Holds = Literal["now", "ended", "not"]
HOLDS: tuple[Holds, ...] = get_args(Holds)

RefusalKind = Literal[
    "unsure", "unimportant", "incomplete", "invalid", "about_assistant", "about_nobody", "only_asked", "denied",
    "not_said", "secret",
]  # fmt: skip
REFUSAL_KINDS: tuple[RefusalKind, ...] = get_args(RefusalKind)


DigestKind = Literal["day", "week"]


@dataclass(frozen=True, slots=True)
class Span:
    """Messages of a conversation, from the turn `first` to the turn `last`: a source of a digest."""

    conversation: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Digest:
    """What a member of a space did on a day. If `kind` is "week", it covers the six days that end with `last`.

    `made_by` is "model" or "offline". While `pending`, the text is the built-in writer's, until a model has written it.
    `sources` are the messages of the day in which the member spoke, by channel; a week has those of its days. A digest
    without a `user` is of a channel.
    """

    space: str
    user: str
    kind: DigestKind
    first: date
    last: date
    text: str
    made_by: str
    made_at: datetime
    pending: bool = False
    sources: tuple[Span, ...] = ()

    @property
    def day(self) -> date:
        """Its day, or its last one."""
        return self.last

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact as a message states it, before it is weighed against what is known.

    `subject` is None if it is about who speaks, or else a name as it was said: "Bob", "brother". `holds` says whether
    the value is so "now", was so and has "ended", or is "not" so; an empty value then means every value of the key.
    `corrects` is an explicit correction or change, `echo` a repetition of what the assistant was shown or said.
    `since` and `until` are there only if they were said. `is_undated` is an event of long ago: the day on which it was
    told is not its day. `asked_in` is the id of the message with the question that it answers, if it was found by both.
    `instead_of` is a value whose place it takes: it counts only where that is known ("switched from Vim to Helix").
    """

    category: FactCategory
    key: str
    value: str
    confidence: float = 1.0
    importance: float = 0.8
    subject: str | None = None
    holds: Holds = "now"
    corrects: bool = False
    echo: bool = False
    since: date | None = None
    until: date | None = None
    is_undated: bool = False
    asked_in: str | None = None
    instead_of: str | None = None

    @property
    def retracts(self) -> bool:
        """Whether it takes a value back, rather than giving one."""
        return self.holds != "now"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing known about a person, and since when. A fact that no longer holds stays, with its times.

    It is in the memory of `user`, and about them, unless `subject` names somebody else. `speaker` said it. `audience`
    is the channel where they first said it, or None if they did so in private; `also_heard_in` are the other channels
    where they said it. `conversation`, `turn` and `said_at` tell where and when it was said last; `recorded_at` is when
    it was said first. It was true from `valid_from` (None if nobody said when) to `valid_to`. `retired_by` is the id of
    the fact that replaced it, or of the message that denied or forgot it. A fact that has only ended has none.
    """

    space: str
    user: str
    id: str
    category: FactCategory
    key: str
    value: str
    confidence: float
    importance: float
    speaker: str
    conversation: str
    turn: int
    said_at: datetime
    recorded_at: datetime
    sources: tuple[str, ...]
    subject: str | None = None
    audience: str | None = None
    active: bool = True
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    retired_by: str | None = None
    also_heard_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence about a user, in the third person. `speaker` said it, last at `said_at`; `sources` are the messages.

    `audience` is the group conversation where it was said, or None if it was in private. A statement that no longer
    holds is not `active`; `retired_by` is the id of the statement that replaced it, or None if it was forgotten. A
    statement that expires is shown until `expires_at`.
    """

    space: str
    user: str
    id: str
    text: str
    speaker: str
    said_at: datetime
    sources: tuple[str, ...] = ()
    audience: str | None = None
    active: bool = True
    retired_at: datetime | None = None
    retired_by: str | None = None
    expires_at: datetime | None = None

    def is_shown_at(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or self.expires_at > now


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about a person: facts, and statements to remember. As text, it is what a context shows.

    If they speak in channels of the space, `today` and `history` are the digests of what they did there today and in
    the six days before. `context` is all of it as one text: the profile alone if there is nothing else.
    """

    user: str
    name: str
    facts: tuple[Fact, ...]
    statements: tuple[Statement, ...]
    text: str
    today: Digest | None = None
    history: Digest | None = None
    context: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What `forget` did. `id` brings it back (`memory.undo`). If `everything` is true, the words meant all that is
    known: then nothing was forgotten, and you should ask what is meant."""

    id: str | None
    statements: tuple[Statement, ...] = ()
    facts: tuple[Fact, ...] = ()
    everything: bool = False

    @property
    def found(self) -> bool:
        return bool(self.statements or self.facts)


@dataclass(frozen=True, slots=True)
class FactChange:
    """What somebody decided about the facts of a person: they added one, edited it or deleted it.

    `fact` is the fact after the change; None if it was deleted. `retired` are the facts that no longer hold, with their
    times. Give `id` to `memory.undo` to take the change back; it is also the id of the message in the log.
    """

    id: str
    kind: FactChangeKind
    speaker: str
    changed_at: datetime
    fact: Fact | None = None
    retired: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class FactRefusal:
    """Why a fact is not kept: the kind of reason, which programs and counts use, and the reason in words."""

    kind: RefusalKind
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """A fact that a model found in a message and that is not kept, and why.

    It would be in the memory of `user`. `speaker` wrote the message at `said_at`, in the channel `audience`, or in
    private if that is None.
    """

    space: str
    user: str
    category: FactCategory
    key: str
    value: str
    kind: RefusalKind
    reason: str
    speaker: str
    conversation: str
    turn: int
    message: str
    said_at: datetime
    subject: str | None = None
    audience: str | None = None

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
    """Messages of a conversation, from the turn `first` to the turn `last`, from which a digest was made."""

    conversation: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary of what a user said in the channels of a space on a day. A digest without a `user` summarises a
    channel.

    If `kind` is "week", the digest covers the six days that end with `last`. `made_by` is "model" or "offline". While
    `pending` is true, the text is by the built-in writer, until a model has written the digest. `sources` are the
    messages of the day in which the user spoke, by channel; a week has the sources of its days.
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
    """One thing known about a person, with the time in which it was true. A fact that is no longer true stays stored,
    with its times.

    The fact belongs to the memory of `user`, and is about `user` unless `subject` names somebody else. `speaker` said
    the fact. `audience` is the channel in which `speaker` first said the fact, or None if that was in private.
    `also_heard_in` are the other channels in which `speaker` said the fact. `conversation`, `turn` and `said_at` are
    the place and time of the last statement of the fact; `recorded_at` is the time of the first statement.

    The fact was true from `valid_from` (None if nobody said when) to `valid_to`. `retired_by` is the id of the fact
    that replaced this fact, or of the message that denied or forgot this fact; if the fact merely ended, `retired_by`
    is None.
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
    """One sentence about a user, in the third person.

    `speaker` made the statement, last at `said_at`; `sources` are the messages. `audience` is the channel in which the
    statement was made, or None if it was made in private. A statement that is no longer true is not `active`;
    `retired_by` is the id of the statement that replaced it, or None if the statement was forgotten. A statement with
    `expires_at` is shown until that time.
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
    """What is known about a person: facts and remembered statements. As text, a profile is what a context shows.

    For people who speak in channels, `today` and `history` are digests (summaries) of what they said there today and in
    the six days before. `context` is the whole profile as one text, with the digests if there are any.
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
    """What `forget` removed. To restore it, pass `id` to `undo`.

    If `everything` is true, the words matched everything that is known about the person. In this case, nothing was
    removed: ask the person what to forget.
    """

    id: str | None
    statements: tuple[Statement, ...] = ()
    facts: tuple[Fact, ...] = ()
    everything: bool = False

    @property
    def found(self) -> bool:
        return bool(self.statements or self.facts)


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of a person's facts by hand: a fact was added, edited or deleted.

    `fact` is the fact after the change, or None if the fact was deleted. `retired` are the facts that are no longer
    true since the change, with their times. To undo the change, pass `id` to `undo`; `id` is also the id of the message
    in the log.
    """

    id: str
    kind: FactChangeKind
    speaker: str
    changed_at: datetime
    fact: Fact | None = None
    retired: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class FactRefusal:
    """Why a fact was not stored: the kind of reason, for programs and counts, and the reason in words."""

    kind: RefusalKind
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedFact:
    """A fact that a model found in a message and that everword did not store, with the reason.

    The fact would belong to the memory of `user`. `speaker` wrote the message at `said_at`, in the channel `audience`,
    or in private if `audience` is None.
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

"""The nouns of recollect, as frozen values. They hold data and know nothing of storage, models or clocks.

A message is said once and never changes. Everything that can be derived from messages is a view and lives
elsewhere; what is here is the log, what is asked of it, and what is answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, TypedDict, get_args

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

DEFAULT_SPACE = "default"


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way into the log: what the caller knows, before the log gives it a turn.

    `author` is who wrote it; `user` is whose memory it belongs to (in a chat with one person, theirs, replies
    included). `time` is when it was said: now, if none is given. `platform_id` is the id another system gave
    it: the same one twice in a conversation is stored once. So is the same `id`.
    """

    role: Role
    content: str
    author: str | None = None
    user: str | None = None
    time: datetime | None = None
    platform_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Seal:
    """Makes a message provable: `digest` covers it and its salt, `link` the digest and the link before."""

    salt: bytes
    digest: bytes
    link: bytes


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance, as the log keeps it. An erased one keeps its place and its seal, and nothing that was said."""

    space: str
    conversation: str
    turn: int
    id: str
    role: Role
    author: str
    user: str | None
    content: str
    time: datetime
    platform_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    erased: bool = False
    seal: Seal = field(default=Seal(b"", b"", b""), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One thread of messages: a chat with one `user`, or a channel with many (`user` is None).

    `turns` is the number of the last message and `head` its link: with them a missing tail is noticed.
    """

    space: str
    id: str
    user: str | None
    created_at: datetime
    changed_at: datetime
    turns: int = 0
    head: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: the message as it is in the log, and whether it was new or known already."""

    message: Message
    new: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One message of an imported file.

    `user` is the owner of the conversation if it is a chat with one person, None if it is a channel. `where` says
    where in the file the message is, for a person; `position` is how many bytes had been read, for a progress bar.
    `space` is the one the file names, if it names one: which space the message goes to is the caller's choice.
    """

    conversation: str
    user: str | None
    draft: Draft
    where: str
    position: int = 0
    space: str | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """One place in an imported file that could not be read, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Which messages are meant. Nothing crosses a space; None means "any"."""

    space: str
    user: str | None = None
    author: str | None = None
    conversation: str | None = None
    role: Role | None = None
    after: datetime | None = None
    before: datetime | None = None

    @property
    def whole(self) -> bool:
        """Whether it means all messages of a user, or of a space."""
        return self == Filter(self.space, self.user)


@dataclass(frozen=True, slots=True)
class Hit:
    """One message found by search, its score, and the parts the score is made of."""

    message: Message
    score: float
    parts: Mapping[str, float]


class ChatMessage(TypedDict):
    """The shape every chat model takes."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens a context may have, and how many of them each section. What is left over goes to history.

    `pairs` is how many of the last exchanges are sent word for word, as far as `recent` allows.
    """

    total: int = 30_000
    system: int = 2_000
    profile: int = 2_000
    summaries: int = 4_000
    retrieved: int = 4_000
    recent: int | None = 10_000
    pairs: int = 4

    @classmethod
    def compact(cls) -> Budget:
        """8,000 tokens in all, for small models and small bills."""
        return cls(total=8_000, system=1_500, profile=1_500, summaries=2_000, retrieved=1_500, recent=3_000)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a receipt: which message (or the like), at which tier, how many tokens, and why it is in or out."""

    id: str
    tokens: int
    reason: str
    tier: int = 3


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a context: its name, its tokens, what is in it and what was left out."""

    name: str
    tokens: int
    items: tuple[Item, ...] = ()
    left_out: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a context contains, at which tier, what it left out and why, and the tokens of each section."""

    tokenizer: str
    budget: Budget
    tokens: int
    sections: tuple[Section, ...]

    def explain(self, width: int | None = None) -> str:
        """The receipt as a table a person can read, in plain text; broken to `width` columns (60 or more), if given."""
        from io import StringIO

        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        for column in ("section", "in/out", "id", "tier", "tokens", "reason"):
            right = column in ("tier", "tokens")
            table.add_column(column, justify="right" if right else "left", no_wrap=right, overflow="fold")
        for row in self._rows():
            # An id may be anything somebody chose: it is no markup, and moves no cursor.
            table.add_row(*("".join(c if c.isprintable() else "\ufffd" for c in cell) for cell in row))
        page = StringIO()
        plain = Console(
            file=page,
            width=100_000 if width is None else max(width, 60),
            color_system=None,
            force_terminal=False,
            force_jupyter=False,
            markup=False,
            emoji=False,
            highlight=False,
        )
        plain.print(table)
        lines = [
            f"{self.tokens:,} of {self.budget.total:,} tokens ({self.tokenizer})",
            "",
            *page.getvalue().split("\n"),
        ]
        return "\n".join(line.rstrip() for line in lines).rstrip()

    def _rows(self) -> Iterator[tuple[str, str, str, str, str, str]]:
        """The lines of the table: each section with its total and budget, and below it what is in and what is not."""
        for section in self.sections:
            allowed = getattr(self.budget, section.name, None)
            about = [f"of {allowed:,}"] if isinstance(allowed, int) else []
            if section.items or section.left_out:
                about.append(f"{len(section.items):,} in, {len(section.left_out):,} left out")
            yield section.name, "", "", "", f"{section.tokens:,}", "; ".join(about)
            for way, items in (("in", section.items), ("out", section.left_out)):
                for item in items:
                    yield "", way, item.id, f"{item.tier}", f"{item.tokens:,}", item.reason
        joints = self.tokens - sum(section.tokens for section in self.sections)
        if joints:
            yield "joints", "", "", "", f"{joints:,}", "between the parts, and to open the reply"


@dataclass(frozen=True, slots=True)
class Context:
    """What is sent to the model, and the receipt for it."""

    messages: list[ChatMessage]
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Round:
    """One call of the model within a turn: what it asked for, what it was given, and what the call cost.

    `raised` are the turns of messages and the tiers they were raised to; `found` the ids a search gave.
    """

    number: int
    raised: tuple[tuple[int, int], ...]
    searches: tuple[str, ...]
    found: tuple[str, ...]
    tokens_in: int
    tokens_out: int
    model: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered: the text, the message in the log, the last context's receipt, and every round."""

    text: str
    message: Message
    receipt: Receipt
    rounds: tuple[Round, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Tiers:
    """A message at lower resolutions: tier 1 `key = value` pairs, tier 2 a sentence or two; tier 3 is itself.

    `made_by` is "model", "offline", or "self" for a message too short to gain from it, which is its own tiers.
    `required` is the tier the model asked for, at turn `raised_at` of the conversation.
    """

    tier1: str = ""
    tier2: str = ""
    made_by: str = "self"
    required: int = 1
    raised_at: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of messages that left the window together: from which turn to which, why, and when."""

    first: int
    last: int
    reason: str
    archived_at: datetime


@dataclass(frozen=True, slots=True)
class Episode:
    """A summary of a run of turns (level 1), or of episodes of the level below, which are its `parts`.

    `made_by` is "model" or "offline". While `pending`, the built-in writer's summary stands in until the memory model
    answers. An episode that is not `active` has become part of one of the next level.
    """

    space: str
    conversation: str
    level: int
    first: int
    last: int
    began: datetime
    ended: datetime
    summary: str
    made_by: str = "offline"
    pending: bool = False
    active: bool = True
    parts: tuple[Episode, ...] = ()

    @property
    def id(self) -> str:
        """What it is called in a context: its level and its turns."""
        return f"e{self.level}_{self.first}_{self.last}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the index: a passage of a message, its terms, and its vector."""

    space: str
    conversation: str
    turn: int
    part: int
    message_id: str
    user: str | None
    role: Role
    time: datetime
    language: str
    terms: tuple[str, ...]
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the log, named so that it can be found."""

    space: str
    conversation: str
    turn: int
    problem: str

    def __str__(self) -> str:
        return f"{self.space}/{self.conversation} turn {self.turn}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` saw. `root` covers every conversation: note it elsewhere to prove later that nothing moved."""

    conversations: int
    messages: int
    erased: int
    faults: tuple[Fault, ...]
    root: str

    @property
    def ok(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True)
class Erasure:
    """What `erase` removed. The person is not named here: that is the point."""

    id: str
    space: str
    at: datetime
    messages: int
    conversations: int
    entries: int


@dataclass(frozen=True, slots=True)
class ViewState:
    """How far a view has got: messages behind the log, conversations waiting after a failure, and the last error.

    `standing_in` are those of the waiting for which the built-in writer stands in until a model is back.
    """

    view: str
    behind: int
    waiting: int
    leased: int
    error: str | None = None
    standing_in: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in a store, and how far its views are."""

    store: str
    spaces: int
    conversations: int
    users: int
    messages: int
    erased: int
    characters: int
    first: datetime | None
    last: datetime | None
    entries: int
    embedder: str | None
    views: tuple[ViewState, ...]


FactCategory = Literal["identity", "preference", "constraint", "instruction"]
FACT_CATEGORIES: tuple[FactCategory, ...] = get_args(FactCategory)

Holds = Literal["now", "ended", "not"]
HOLDS: tuple[Holds, ...] = get_args(Holds)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact as a message states it, before it is weighed against what is known.

    `subject` is None if it is about who speaks, or else a name as it was said: "Bob", "brother". `holds` says whether
    the value is so "now", was so and has "ended", or is "not" so; an empty value then means every value of the key.
    `corrects` is an explicit correction or change, `echo` a repetition of what the assistant was shown or said.
    `since` and `until` are there only if they were said.
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

    @property
    def retracts(self) -> bool:
        """Whether it takes a value back, rather than giving one."""
        return self.holds != "now"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing known about a person, and since when. A fact that no longer holds stays, with its times.

    `user` is in whose memory it is. It is about them, unless `subject` names somebody else. `speaker` said it;
    `audience` is the group conversation where they did, or None if it was in private. `conversation`, `turn` and
    `said_at` tell where and when it was said last, `recorded_at` when first. It was so from `valid_from` (None: nobody
    said) to `valid_to`; `retired_by` is the id of the fact in its place, if one is.
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

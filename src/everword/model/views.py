"""Values that are derived from the log (tiers, episodes, entries of the index, topics), and how far the views are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from everword.model.log import Degraded, Role

TopicKind = Literal["short-term", "transitioning", "long-term"]
IMPORTANCE = 0.5  # of a message whose importance nobody gave, from 0 to 1
UNKNOWN_TRAITS = -1
"""What is known of a text that nobody has looked at."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """A message at three lengths: tier 1 is `key = value` pairs, tier 2 is a sentence or two, tier 3 is the whole
    message.

    `made_by` is "model", "offline" or "self". A message with "self" is too short to shorten: each tier is the message.
    `required` is the tier that the model asked for, at the turn `raised_at` of the conversation.
    """

    tier1: str = ""
    tier2: str = ""
    made_by: str = "self"
    required: int = 1
    raised_at: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Messages that left the window together: from which turn to which turn, why, and when."""

    first: int
    last: int
    reason: str
    archived_at: datetime


@dataclass(frozen=True, slots=True)
class ExtractLine:
    """A sentence of a summary, with the turn that it comes from, its author and its time.

    `role` and `author` are empty in text that a model wrote. `kind` is the kind of sentence: "prose", "item",
    "heading", "note", or "text" for several sentences that stay together. If the sentence needs an earlier line to be
    understood, such as the question that it answers, `leans` says how many lines before it that line is; otherwise,
    `leans` is 0.
    """

    turn: int
    role: Role | Literal[""]
    author: str
    text: str
    time: datetime | None = None
    kind: str = "prose"
    leans: int = 0


@dataclass(frozen=True, slots=True)
class Episode:
    """A summary of messages (level 1), or of summaries of the level below (`parts`).

    `lines` are the sentences of the summary with their sources, and `summary` is the text written from them. `made_by`
    is "model" or "offline". While `pending` is true, the summary is by the built-in writer, until the memory model
    answers. An episode that is not `active` has become part of an episode of the next level.
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
    lines: tuple[ExtractLine, ...] = ()

    @property
    def id(self) -> str:
        """What it is called in a context: its level and its turns."""
        return f"e{self.level}_{self.first}_{self.last}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the index: a passage of a message, its terms, its vector, and what ranking has to know of the text of
    the message."""

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
    author: str = ""
    expires_at: datetime | None = None
    traits: int = UNKNOWN_TRAITS


@dataclass(frozen=True, slots=True)
class ViewState:
    """The progress of a view (derived data): how many messages are still to process, how many conversations wait after
    a failure, and the last error.

    For `standing_in` of the waiting conversations, the built-in writer does the work until a model is available.
    `set_aside` counts the messages that the view skipped because of an error. A changed message is still to process
    until the view has read it again. If a model waits for more messages before it starts, `waits` says in words when it
    will start; meanwhile, rules extract the facts.
    """

    view: str
    behind: int
    waiting: int
    leased: int
    error: str | None = None
    standing_in: int = 0
    set_aside: int = 0
    waits: str | None = None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A message on which a view failed, and went past: how often, when it is tried again, and the kind of the error.

    `retry_at` is None in a view that follows a conversation in order: it is made anew when somebody asks for a retry.
    Of a view that works on a conversation as a whole, `turn` is how far it was to get. Without `failures` nothing
    failed: the message was changed after the view had read it, and is to be read again.
    """

    space: str
    view: str
    conversation: str
    turn: int
    failures: int
    retry_at: datetime | None
    error: str


@dataclass(frozen=True, slots=True)
class Retried:
    """The result of `retry`: how many skipped messages were processed again, and how many still fail."""

    tried: int
    left: int


@dataclass(frozen=True, slots=True)
class Activity:
    """How often something was done, with which outcome, how long it took in all, and how many tokens it cost.

    For calls of a model, `what` is "chat" or "memory", and `kind` is the task. For all else, `what` is "cache" (`kind`
    says which; the outcome is "hit" or "miss"), "fallback" (`kind` says of what) or "view".
    """

    what: str
    kind: str
    outcome: str
    count: int
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in a store, and the progress of its views (derived data).

    `degraded` is set if this process buffers messages that it could not write yet. `users` counts the users with
    messages in the index. `secrets` says how many messages contain each kind of secret, or a placeholder for one.
    """

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
    activity: tuple[Activity, ...] = ()
    degraded: Degraded | None = None
    secrets: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: messages of a conversation about the same subject.

    `id` is made from the turn that opened the topic. `priority` is the topic's importance, which halves in each
    `half_life`. `messages` counts all messages of the topic; `packed` counts the messages that are only in the summary.
    A topic that has `faded` is no longer active; a message that matches the topic makes it active again. `merged` are
    the ids of topics that became part of this topic.
    """

    id: str
    title: str
    summary: str
    kind: TopicKind
    half_life: timedelta
    priority: float
    importance: float
    accesses: int
    messages: int
    packed: int
    created_at: datetime
    last_active_at: datetime
    tags: tuple[str, ...] = ()
    current: bool = False
    faded: bool = False
    merged: tuple[str, ...] = ()
    made_by: str = "offline"


@dataclass(frozen=True, slots=True)
class TopicMessage:
    """A message of a topic: its turn, its author and its text.

    In a group, a topic is a thread: `answers` is the turn of the message that this message most likely answers, or None
    if this message begins the thread. `why` is the reason.
    """

    turn: int
    role: Role
    author: str
    content: str
    time: datetime
    answers: int | None = None
    why: str = ""

    @property
    def timestamp(self) -> float:
        """Seconds since 1970."""
        return self.time.timestamp()


@dataclass(frozen=True, slots=True)
class TopicStats:
    """The figures of a topic."""

    topic_id: str
    topic_title: str
    active_messages: int
    compressed_messages: int
    total_messages: int
    has_summary: bool
    importance_score: float
    access_count: int
    memory_type: TopicKind
    half_life_days: float
    age_seconds: float
    inactive_seconds: float


@dataclass(frozen=True, slots=True)
class TopicHit:
    """A topic that search found, with its score and the turns of its messages that match best, best first."""

    topic: Topic
    score: float
    turns: tuple[int, ...] = ()

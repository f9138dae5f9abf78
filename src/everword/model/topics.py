"""Topics: the messages of a conversation grouped by what they are about, with how present each group still is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from everword.model.log import Role

TopicKind = Literal["short-term", "transitioning", "long-term"]
IMPORTANCE = 0.5  # of a message whose importance nobody gave, from 0 to 1


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now. `id` is made of the turn that opened it.

    `priority` is its importance, less what time took: half of it in each `half_life`. `messages` are all of them,
    `packed` those that have left the active set and stand in the summary. A topic that has `faded` has left the active
    set itself; a message that matches it brings it back. `merged` are the ids of topics that have become part of it.
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
    """A message of a topic's history: whose turn it was, and what was said."""

    turn: int
    role: Role
    author: str
    content: str
    time: datetime

    @property
    def timestamp(self) -> float:
        """Seconds since 1970."""
        return self.time.timestamp()


@dataclass(frozen=True, slots=True)
class TopicStats:
    """A topic in figures."""

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
    """A topic that a search found: its score, and the turns of its messages that fit best, best first."""

    topic: Topic
    score: float
    turns: tuple[int, ...] = ()

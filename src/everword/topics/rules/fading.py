"""The state of a topic, and how it fades: its priority is its importance, which halves in a time that grows with its
accesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log2

from everword.model.views import IMPORTANCE, TopicKind
from everword.topics.rules.words import NO_WORDS, TopicWords

LONG_AGO = datetime.min.replace(tzinfo=UTC)
DAY = timedelta(days=1)
LONGEST = timedelta(days=30)
STEP = 5
"""Accesses after which the half-life doubles."""
DOUBLINGS = 5


def half_life(accesses: int) -> timedelta:
    """The time in which a topic's priority halves: a day at first, doubled every five accesses, up to thirty days."""
    doublings = min(max(accesses, 0) // STEP, DOUBLINGS)
    return min(DAY * (1 << doublings), LONGEST)


def topic_kind(accesses: int) -> TopicKind:
    if accesses < STEP:
        return "short-term"
    return "transitioning" if accesses < 2 * STEP else "long-term"


def priority(importance: float, accesses: int, age: timedelta) -> float:
    """The importance, decayed by the age; a negative age takes nothing away."""
    return float(importance * 0.5 ** (max(age, timedelta()) / half_life(accesses)))


def remaining_time(now: float, half: timedelta, least: float) -> timedelta:
    """The time until a priority has fallen to the least; zero if it has already."""
    return half * max(log2(now / least), 0.0) if now > 0 else timedelta()


WEIGHT = 4.0
"""How many votes the importance given with a message is worth."""
RETURN = 0.25
"""The worth of a return to a topic, in votes."""
EARLY = timedelta(seconds=1)
"""How long before a topic may leave it is looked at: the exact check is made then."""


@dataclass(frozen=True, slots=True)
class TopicState:
    """The state of one topic, named by its opening turn, `first`.

    `importance` is the importance given with its messages; what was learned since is in `returns`, `ups` and `downs`.
    `packed` of its `count` messages have left the active set; `opened` is the count at which they were brought back.
    `merged_into` is the topic it is part of, `apart` those it must not be merged with again. `made_by` is the author of
    the title; while `pending`, a title or a summary is still to be written. `packed_upto` is the last turn packed.
    `words` are what its messages say most.
    """

    first: int
    title: str
    created_at: datetime
    last_active_at: datetime
    centroid: bytes = b""
    count: int = 0
    accesses: int = 0
    returns: int = 0
    importance: float = IMPORTANCE
    ups: int = 0
    downs: int = 0
    tags: tuple[str, ...] = ()
    packed: int = 0
    opened: int | None = None
    faded_at: datetime | None = None
    merged_into: int | None = None
    apart: frozenset[int] = frozenset()
    made_by: str = "offline"
    packed_upto: int = 0
    pending: bool = False
    words: TopicWords = NO_WORDS

    @property
    def id(self) -> str:
        return f"t{self.first}"


class TopicOutline(TopicState):
    """A faded topic of which only the centroid is known, and which one it is part of."""

    __slots__ = ()

    @classmethod
    def of(cls, first: int, centroid: bytes, merged_into: int | None) -> TopicOutline:
        return cls(first, "", LONG_AGO, LONG_AGO, centroid, faded_at=LONG_AGO, merged_into=merged_into)


def importance_of(state: TopicState) -> float:
    """The given importance, adjusted by votes and by the number of returns to the topic. From 0 to 1."""
    return_weight = RETURN * state.returns
    return (WEIGHT * state.importance + state.ups + return_weight) / (WEIGHT + state.ups + state.downs + return_weight)


def current_priority(state: TopicState, now: datetime) -> float:
    """The priority of a topic with its parts (see `whole_topic`) at a time."""
    return priority(importance_of(state), state.accesses, now - state.last_active_at)


def fade_time(state: TopicState, least: float) -> datetime:
    """When a topic may have less priority than `least`, and leaves. A little early: the exact check is made then."""
    try:
        return state.last_active_at + _time_before_leaving(importance_of(state), state.accesses, least)
    except OverflowError:  # never, as far as there are dates
        return datetime.max.replace(tzinfo=UTC)


def _time_before_leaving(importance: float, accesses: int, least: float) -> timedelta:
    return remaining_time(importance, half_life(accesses), least) - EARLY

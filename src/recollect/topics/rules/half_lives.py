"""How fast a topic fades: its half-life by accesses, and its priority after some time."""

from __future__ import annotations

from datetime import timedelta
from math import log2

from recollect.model.topics import TopicKind

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

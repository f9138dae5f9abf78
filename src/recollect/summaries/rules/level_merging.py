"""When episodes are merged into one of the next level: few stay active, however long a conversation gets.

A merge takes the oldest episodes of one level and makes the newest of the level above. So the active episodes are in
the order of their levels, the highest first, which is the order of time. Each merge takes neighbours; only the merged
episodes leave the active set. Call again after each merge, until there is no next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import InvalidInput

AT_MOST = 5
"""Active episodes of one level."""
IN_ALL = 10
"""Active episodes of all levels together."""


@dataclass(frozen=True, slots=True)
class EpisodeMerge:
    """The episodes of a level, by their first turns, oldest first, that become one episode of level + 1."""

    level: int
    firsts: tuple[int, ...]


def next_merge(active: Sequence[tuple[int, int]], at_most: int = AT_MOST, in_all: int = IN_ALL) -> EpisodeMerge | None:
    """The merge that is due among the active episodes (level, first turn); None if they are few enough."""
    if at_most < 2:
        raise InvalidInput("at_most", f"is {at_most}; must be 2 or more, for a merge makes one of several")
    if in_all < 1:
        raise InvalidInput("in_all", f"is {in_all}; must be 1 or more")
    levels: dict[int, list[int]] = {}
    for level, first in sorted(active):
        levels.setdefault(level, []).append(first)
    for level, firsts in levels.items():
        if len(firsts) > at_most:
            return EpisodeMerge(level, tuple(firsts[:at_most]))
    if len(active) <= in_all:
        return None
    fullest = max(levels, key=lambda level: (len(levels[level]), level))
    if len(levels[fullest]) == 1:
        # One of each level: the oldest but one rises until it meets the oldest, and those two become one.
        fullest = sorted(levels)[-2]
    return EpisodeMerge(fullest, tuple(levels[fullest][:at_most]))

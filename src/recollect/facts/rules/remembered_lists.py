"""Remembers what rules say of the facts of a person.

The facts of a person are read for every context, and are mostly the same objects as before: so a list is known by its
members. A list of other objects is read anew, also if they are equal: nothing is answered of facts that were changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeVar

from recollect.model import Fact

T = TypeVar("T")

REMEMBERED = 8_192  # facts in all lists of a rule; all are dropped when there are more


def remember_fact_lists(rule: Callable[[Sequence[Fact]], T]) -> Callable[[Sequence[Fact]], T]:
    """A rule that reads a list of facts, and nothing else, and gives something that nobody changes."""
    entries: dict[tuple[int, ...], tuple[Sequence[Fact], T]] = {}
    room = REMEMBERED

    @wraps(rule)
    def read_facts(facts: Sequence[Fact]) -> T:
        nonlocal room
        key = tuple(map(id, facts))
        entry = entries.get(key)
        if entry is None:
            room -= len(facts) + 1
            if room < 0:
                entries.clear()
                room = REMEMBERED - len(facts) - 1
            # The facts are kept with what was read of them: else other objects could get their ids.
            entry = entries[key] = (tuple(facts), rule(facts))
        return entry[1]

    return read_facts

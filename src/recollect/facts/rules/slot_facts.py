"""The facts of a slot, of which a found fact is compared only with those that may say the same.

Somebody who tells of ten thousand things that happened has ten thousand facts with one key. Two of them say the same if
their words mean the same, or if they have two words or more in common (`values`): so the facts are kept by their words,
and to decide on one more takes as long as there are facts like it. Where more than the words counts, the found fact is
compared with all: a key of one value, something taken back, an end that was said. For the same reason a finding that
comes late, said before others that are known, changes nothing but the facts of findings that it is connected with:
those that nearly say the same, and those that nearly say the same as these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from recollect.facts.rules.keys import holds_several_values
from recollect.facts.rules.values import NEAR, value_stems, value_texts
from recollect.model import Fact, FoundFact

COMPARED_IN_FULL = frozenset({"pets", "diet"})
"""Keys whose values are compared by more than their words."""
FEW = 8
"""Facts of a slot that are compared one by one."""
COMMON_STEMS = 2
"""Words that two values that nearly say the same have in common, at least."""


class SlotFacts:
    """The facts of a slot by id."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.by_id: dict[str, Fact] = {}
        self._by_text: dict[object, set[str]] = {}
        self._by_stem: dict[str, set[str]] = {}
        for fact in facts:
            self.put(fact)

    def put(self, fact: Fact) -> None:
        """Add a fact, or a newer version of it."""
        known_fact = self.by_id.get(fact.id)
        self.by_id[fact.id] = fact
        if known_fact is not None and known_fact.value == fact.value:
            return
        for text in value_texts(fact.value):
            self._by_text.setdefault(text, set()).add(fact.id)
        for stem in value_stems(fact.value):
            self._by_stem.setdefault(stem, set()).add(fact.id)

    def remove(self, id: str) -> None:
        """Take a fact out; its words may still lead to its id, where nothing is then."""
        self.by_id.pop(id, None)

    def facts_like(self, found_fact: FoundFact) -> Collection[Fact]:
        """The facts that a found fact may change, or that change what becomes of it; in the order in which they were
        first said, so that it does not matter in which order they were read."""
        if len(self.by_id) <= FEW or not is_compared_by_words(found_fact):
            return self._in_order(self.by_id)
        ids = {id for text in value_texts(found_fact.value) for id in self._by_text.get(text, ())}
        counts: Counter[str] = Counter()
        for stem in value_stems(found_fact.value):
            counts.update(self._by_stem.get(stem, ()))
        ids |= {id for id, count in counts.items() if count >= COMMON_STEMS}
        return self._in_order(ids)

    def _in_order(self, ids: Iterable[str]) -> list[Fact]:
        def order(fact: Fact) -> tuple[datetime, str]:
            return fact.recorded_at, fact.id

        return sorted([self.by_id[id] for id in ids if id in self.by_id], key=order)


class ConnectedValues:
    """Values by their words, to find those that are connected with others: all that have the same sense or nearly say
    the same (`values`), and all that are connected with these. A group of connected values is found once, and grows
    with what is added."""

    def __init__(self) -> None:
        self._values: list[str] = []
        self._by_text: dict[object, list[int]] = {}
        self._by_stem: dict[str, list[int]] = {}
        self._groups: dict[int, set[int]] = {}

    def add(self, value: str) -> None:
        """Add a value; its number is how many were there before."""
        number = len(self._values)
        if self._groups:
            self._join_groups(number, value)
        self._values.append(value)
        for text in value_texts(value):
            self._by_text.setdefault(text, []).append(number)
        for stem in value_stems(value):
            self._by_stem.setdefault(stem, []).append(number)

    def connected_with(self, values: Iterable[str]) -> list[int]:
        """The numbers of the values that are connected with some values, in order."""
        numbers: set[int] = set()
        for value in dict.fromkeys(values):
            for number in self._like(value):
                if number not in numbers:
                    numbers |= self._group_of(number)
        return sorted(numbers)

    def _group_of(self, number: int) -> set[int]:
        """The numbers of the values that are connected with one, and its own."""
        group = self._groups.get(number)
        if group is None:
            group = {number}
            waiting = [number]
            while waiting:
                others = set(self._like(self._values[waiting.pop()])) - group
                group |= others
                waiting += others
            self._groups |= dict.fromkeys(group, group)
        return group

    def _join_groups(self, number: int, value: str) -> None:
        """Take a value that is about to be added into the groups that are known of values like it: they are one now."""
        like_numbers = set(self._like(value))
        if not self._groups.keys().isdisjoint(like_numbers):
            group = {number}.union(*map(self._group_of, like_numbers))
            self._groups |= dict.fromkeys(group, group)

    def _like(self, value: str) -> Iterator[int]:
        """The numbers of the values that may say the same as a value; some of them twice."""
        for text in value_texts(value):
            yield from self._by_text.get(text, ())
        stems = value_stems(value)
        counts: Counter[int] = Counter()
        for stem in stems:
            counts.update(self._by_stem.get(stem, ()))
        for number, common in counts.items():
            if common >= COMMON_STEMS:
                all_stems = len(stems) + len(value_stems(self._values[number])) - common
                if common >= NEAR * all_stems:
                    yield number


def is_compared_by_words(fact: FoundFact) -> bool:
    """Whether only facts that may say the same count for what becomes of a found fact."""
    if fact.retracts or fact.until is not None or fact.key in COMPARED_IN_FULL:
        return False
    return holds_several_values(fact.category, fact.key) and not (fact.category == "plan" and fact.corrects)

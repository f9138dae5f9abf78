"""When episodes become one of the next level (D2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.summaries.rules.window import EpisodeMerge, next_merge


@dataclass(frozen=True)
class Range:
    """An episode as far as merging goes: its level and the turns it is about."""

    level: int
    first: int
    last: int


def settle(active: list[Range], at_most: int = 5, in_all: int = 10) -> tuple[list[Range], int]:
    """The episodes after every merge that is due, and how many merges that took."""
    merges = 0
    while merge := next_merge([(one.level, one.first) for one in active], at_most, in_all):
        merges += 1
        assert merges < 1_000, "it never settles"
        taken = [one for one in active if one.level == merge.level and one.first in merge.firsts]
        assert len(taken) == len(merge.firsts) <= at_most
        assert [one.first for one in taken] == list(merge.firsts)
        assert all(one.last + 1 == other.first for one, other in pairwise(taken))
        made = Range(merge.level + 1, taken[0].first, taken[-1].last)
        active = sorted([*(one for one in active if one not in taken), made], key=lambda one: one.first)
    return active, merges


@pytest.mark.checklist("D2")
def test_the_sixth_of_a_level_makes_one_of_the_oldest_five() -> None:
    assert next_merge([(1, first) for first in (1, 11, 21, 31, 41)]) is None
    assert next_merge([(1, first) for first in (51, 41, 31, 21, 11, 1)]) == EpisodeMerge(1, (1, 11, 21, 31, 41))


@pytest.mark.checklist("D2")
def test_the_lowest_level_that_has_too_many_goes_first() -> None:
    level2 = [(2, first) for first in range(1, 7)]
    level1 = [(1, first) for first in range(10, 16)]
    assert next_merge([*level2, *level1]) == EpisodeMerge(1, (10, 11, 12, 13, 14))
    assert next_merge([*level2, *level1[:2]]) == EpisodeMerge(2, (1, 2, 3, 4, 5))


@pytest.mark.checklist("D2")
def test_over_ten_in_all_the_fullest_level_gives_and_of_equals_the_higher() -> None:
    active = [(3, 1), *((2, first) for first in range(2, 7)), *((1, first) for first in range(7, 12))]
    assert next_merge(active) == EpisodeMerge(2, (2, 3, 4, 5, 6))
    assert next_merge(active[1:]) is None
    assert next_merge([(4, 0), *active[:-2], (1, 20)]) == EpisodeMerge(2, (2, 3, 4, 5, 6))


def test_nothing_is_due_where_there_is_nothing() -> None:
    assert next_merge([]) is None
    assert next_merge([(7, 1)], at_most=2, in_all=1) is None


def test_one_of_each_level_settles_too() -> None:
    active = [Range(13 - turn, turn, turn) for turn in range(1, 13)]
    settled, _ = settle(active)
    assert len(settled) <= 10
    assert (settled[0].first, settled[-1].last) == (1, 12)


def test_levels_with_gaps_settle() -> None:
    settled, _ = settle([Range(50, 1, 1), Range(20, 2, 2), Range(1, 3, 3)], at_most=2, in_all=2)
    assert len(settled) == 2


@pytest.mark.parametrize(("at_most", "in_all"), [(1, 10), (0, 10), (-3, 10), (5, 0)])
def test_limits_that_could_never_be_kept_are_refused(at_most: int, in_all: int) -> None:
    with pytest.raises(InvalidInput):
        next_merge([(1, 1)], at_most, in_all)


@pytest.mark.checklist("D2")
def test_ten_thousand_arrivals_stay_few_in_order_and_complete() -> None:
    active: list[Range] = []
    merges = 0
    turn = 1
    for number in range(10_000):
        last = turn + number % 7
        active, more = settle([*active, Range(1, turn, last)])
        merges += more
        turn = last + 1
        levels = [one.level for one in active]
        assert len(active) <= 10
        assert all(levels.count(level) <= 5 for level in set(levels))
        assert levels == sorted(levels, reverse=True)
        assert active[0].first == 1
        assert active[-1].last == last
        assert all(one.last + 1 == other.first for one, other in pairwise(active))
    assert merges < 10_000 / 2, "a merge costs a call of the model, so it must be rarer than an episode"


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=60),
    st.integers(2, 8),
    st.integers(1, 14),
)
@settings(max_examples=60)
@pytest.mark.checklist("D2")
def test_whatever_arrives_nothing_is_lost(lengths: list[int], at_most: int, in_all: int) -> None:
    active: list[Range] = []
    turn = 1
    for length in lengths:
        active, _ = settle([*active, Range(1, turn, turn + length - 1)], at_most, in_all)
        turn += length
        levels = [one.level for one in active]
        assert len(active) <= in_all
        assert all(levels.count(level) <= at_most for level in set(levels))
    assert active[0].first == 1
    assert active[-1].last == turn - 1
    assert all(one.last + 1 == other.first for one, other in pairwise(active))

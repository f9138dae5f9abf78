"""Whose turn it is, and how much is taken at a time."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.follow.view import fair_order, next_room
from everword.ports import Lag

LAGS = st.lists(st.builds(Lag, st.sampled_from("abc"), st.text("xyz", max_size=2), st.just(0), st.just(1)))
SERVED = st.dictionaries(st.sampled_from("abc"), st.integers(1, 9))


def spaces(*names: str, served: dict[str, int] | None = None) -> str:
    lags = [Lag(name, str(number), 0, 1) for number, name in enumerate(names)]
    return "".join(lag.space for lag in fair_order(lags, served or {}))


@pytest.mark.checklist("F16")
def test_each_space_comes_once_before_any_comes_again() -> None:
    assert spaces("a", "a", "a", "b", "c", "b") == "abcaba"


@pytest.mark.checklist("F16")
def test_who_was_served_longest_ago_comes_first() -> None:
    assert spaces("a", "a", "b", "c", served={"a": 3, "b": 1}) == "cbaa"


@pytest.mark.checklist("F16")
def test_within_a_space_little_comes_before_much() -> None:
    lags = [Lag("a", "long", 0, 5_000), Lag("a", "first", 9, 10), Lag("b", "long", 0, 60), Lag("a", "second", 0, 16)]
    order = [(lag.space, lag.conversation) for lag in fair_order(lags, {})]
    assert order == [("a", "first"), ("b", "long"), ("a", "second"), ("a", "long")]


@given(LAGS, SERVED)
@pytest.mark.checklist("F16")
def test_nobody_is_left_out_and_none_is_two_ahead(lags: list[Lag], served: dict[str, int]) -> None:
    ordered = fair_order(lags, served)
    assert Counter(ordered) == Counter(lags)
    waiting = Counter(lag.space for lag in lags)
    taken: Counter[str] = Counter()
    for lag in ordered:
        taken[lag.space] += 1
        assert all(taken[lag.space] <= taken[other] + 1 for other in waiting if taken[other] < waiting[other])


@pytest.mark.checklist("F16")
def test_a_batch_grows_while_it_is_quick_and_shrinks_at_once_when_it_is_slow() -> None:
    assert next_room(32, 32, 0.01, target=0.5, limit=512) == 128
    assert next_room(400, 400, 0.01, target=0.5, limit=512) == 512
    assert next_room(32, 32, 64.0, target=0.5, limit=512) == 1, "a model takes two seconds a message"
    assert next_room(32, 0, 0.0, target=0.5, limit=512) == 32

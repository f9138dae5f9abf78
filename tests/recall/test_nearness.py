"""Which of the last messages are nearest to a question."""

from __future__ import annotations

import numpy as np

from everword.recall.rules.relevance import NEAREST, nearest_turns

EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


def test_what_stands_out_is_nearest_first() -> None:
    near = np.array([0.9, 0.4], dtype=np.float32)
    assert list(nearest_turns(EAST, {1: NORTH, 2: near, 3: NORTH, 4: EAST, 5: NORTH})) == [4, 2]


def test_where_all_are_alike_none_stands_out() -> None:
    assert nearest_turns(EAST, dict.fromkeys(range(9), EAST)) == {}


def test_nothing_is_near_to_nothing() -> None:
    assert nearest_turns(EAST, {}) == {}
    assert nearest_turns(0 * EAST, {1: EAST, 2: NORTH}) == {}
    assert nearest_turns(EAST, {1: NORTH, 2: -EAST}) == {}


def test_they_are_few() -> None:
    vectors = {turn: EAST if turn < 10 else NORTH for turn in range(20)}
    assert list(nearest_turns(EAST, vectors)) == [9, 8, 7, 6][:NEAREST]

"""Passages in columns: numbers that are there once."""

from __future__ import annotations

import numpy as np
import pytest

from everword.recall.rules.neighbours import distinct_numbers


@pytest.mark.parametrize("numbers", [[], [7], [3, 1, 3, 2, 1], [-1, -1, 5, 0], [2**40, 2, 2**40]])
def test_numbers_are_in_order_and_once(numbers: list[int]) -> None:
    assert distinct_numbers(np.array(numbers, np.int64)).tolist() == sorted(set(numbers))

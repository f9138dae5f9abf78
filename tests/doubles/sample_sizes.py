"""How much is tried of what could be tried for ever: a part in `make test`, all of it in `make test-all`.

A number that an issue names is no sample: the tests that have one do not ask here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

PART = 4  # one in so many is tried in `make test`
WHOLE = "EVERWORD_TEST_WHOLE"
is_whole = WHOLE in os.environ  # in a process that a test has started


def try_all() -> None:
    """Called before any test is imported, for `--every-store`."""
    global is_whole
    is_whole = True
    os.environ[WHOLE] = "1"


def sample(size: int, least: int = 1) -> int:
    """So many of `size` examples are tried now, but not fewer than `least`."""
    return size if is_whole else max(least, -(-size // PART))


def combine(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Each value of each axis with each of the others; in `make test` every second of them, like the white fields of a
    chessboard: each value, and each pair of values of three axes, is among them."""
    fields = product(*(enumerate(axis) for axis in axes))
    return [
        tuple(value for _, value in field) for field in fields if is_whole or sum(place for place, _ in field) % 2 == 0
    ]

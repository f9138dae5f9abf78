"""How much one may ask: requests a minute by key, bytes in a body.

Rates are counted in this process: with several workers, each lets through so many. A bucket fills evenly and holds a
burst; who finds it empty is told when to come again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

BUCKETS = 10_000  # keys counted at a time


class Buckets:
    """One bucket of tokens for each key."""

    def __init__(self, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._now = burst, now
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str, rate: int) -> float:
        """Take a token: 0.0 if there was one, else the seconds until there is. A rate of 0 is none."""
        if not rate:
            return 0.0
        now, most = self._now(), float(max(1, min(self._burst, rate)))
        left, at = self._left.pop(key, (most, now))
        left = min(most, left + (now - at) * rate / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / rate
        self._left[key] = (left if wait else left - 1, now)
        while len(self._left) > BUCKETS:  # the one that was used longest ago; by now it is full again, or nearly
            del self._left[next(iter(self._left))]
        return wait

"""Calls for which somebody waits go first; those that nobody waits for let them.

All threads of a process share one interpreter: a view that is brought up to date while a context is built would double
the time that the caller waits.
"""

from __future__ import annotations

import asyncio
import time

from everword.follow.events import wait_for_event

LONGEST_YIELD = 0.1  # seconds; some servers are never idle, and views must follow there, too


class Callers:
    """The calls under way for which somebody waits: each is made within `with` in the event loop's thread."""

    def __init__(self) -> None:
        self.call_count = 0  # so far, about
        self._under_way = 0
        self._all_served = asyncio.Event()

    def __enter__(self) -> None:
        self.call_count += 1
        self._under_way += 1

    def __exit__(self, *error: object) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._all_served.set()

    async def go_first(self) -> None:
        """Wait until no such call is under way, or for a while."""
        if not self._under_way:
            return
        deadline = time.monotonic() + LONGEST_YIELD
        while self._under_way and (seconds_left := deadline - time.monotonic()) > 0:
            self._all_served.clear()  # a caller that goes on at once has taken the place of the last
            await wait_for_event(self._all_served, seconds_left)

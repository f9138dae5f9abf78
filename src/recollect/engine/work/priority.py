"""Calls for which somebody waits go first; those that nobody waits for let them.

All threads of a process share one interpreter: a view that is brought up to date while a context is built would double
the time that the caller waits.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from recollect.engine.work.events import wait_for_event

LONGEST_YIELD = 0.1  # seconds; some servers are never idle, and views must follow there, too


class Callers:
    """The calls under way for which somebody waits: each is made within `with`, in any thread."""

    def __init__(self) -> None:
        self.call_count = 0  # so far, about
        self._under_way: list[None] = []  # a list is counted up and down safely by several threads, without a lock
        self._all_served = asyncio.Event()
        self._waiting_loops: list[asyncio.AbstractEventLoop] = []  # one for each call that lets others go first

    def __enter__(self) -> None:
        self._under_way.append(None)
        self.call_count += 1

    def __exit__(self, *error: object) -> None:
        self._under_way.pop()
        if not self._under_way:
            with suppress(IndexError, RuntimeError):  # nobody waits, or the loop was closed
                self._waiting_loops[0].call_soon_threadsafe(self._all_served.set)

    async def go_first(self) -> None:
        """Wait until no such call is under way, or for a while."""
        if not self._under_way:
            return
        deadline = time.monotonic() + LONGEST_YIELD
        self._waiting_loops.append(asyncio.get_running_loop())
        try:
            while self._under_way and (seconds_left := deadline - time.monotonic()) > 0:
                self._all_served.clear()  # a caller that goes on at once has taken the place of the last
                await wait_for_event(self._all_served, seconds_left)
        finally:
            self._waiting_loops.pop()

"""Calls for which somebody waits go first; those that nobody waits for let them.

All threads of a process share one interpreter: a view that is brought up to date while a context is built would double
the time that the caller waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from recollect.follow.events import wait_for_event

LONGEST_YIELD = 0.1  # seconds; some servers are never idle, and views must follow there, too

T = TypeVar("T")


class Callers:
    """The calls under way for which somebody waits: each is made within `with` in the event loop's thread, or by
    `call_here` in any other."""

    def __init__(self) -> None:
        self.call_count = 0  # so far, about
        self._under_way = 0
        self._elsewhere: set[object] = set()  # the calls under way in other threads
        self._is_closed = False
        self._all_served = asyncio.Event()
        self._waiting_loops: list[asyncio.AbstractEventLoop] = []  # one for each call that lets others go first

    def __enter__(self) -> None:
        self.call_count += 1
        self._under_way += 1

    def __exit__(self, *error: object) -> None:
        self._under_way -= 1
        if not self._is_any_under_way:
            self._all_served.set()

    @property
    def _is_any_under_way(self) -> bool:
        return self._under_way > 0 or len(self._elsewhere) > 0

    def call_here(self, fn: Callable[[], T]) -> T | None:
        """Make a call in the thread that asks for it, whichever that is. None, and no call, after `close`, or if
        another thread makes one: it would only take the interpreter from it."""
        if self._elsewhere:
            return None
        call = object()
        try:
            self._elsewhere.add(call)
            self.call_count += 1
            return None if self._is_closed else fn()
        finally:
            self._elsewhere.discard(call)  # the first step, before which nobody can be interrupted (Ctrl-C)
            if not self._is_any_under_way:
                with suppress(IndexError, RuntimeError):  # nobody waits, or the loop was closed
                    self._waiting_loops[0].call_soon_threadsafe(self._all_served.set)

    async def close(self) -> None:
        """Wait for the calls under way in other threads; no other begins."""
        self._is_closed = True
        while self._elsewhere:
            await self.go_first()

    async def go_first(self) -> None:
        """Wait until no such call is under way, or for a while."""
        if not self._is_any_under_way:
            return
        deadline = time.monotonic() + LONGEST_YIELD
        self._waiting_loops.append(asyncio.get_running_loop())
        try:
            while self._is_any_under_way and (seconds_left := deadline - time.monotonic()) > 0:
                self._all_served.clear()  # a caller that goes on at once has taken the place of the last
                await wait_for_event(self._all_served, seconds_left)
        finally:
            self._waiting_loops.pop()

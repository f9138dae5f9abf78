"""How an event loop has calls made that block: each in a thread, and first those for which somebody waits.

All threads of a process share one interpreter: a view that is brought up to date while a context is built would double
the time that the caller waits. So calls that nobody waits for let the others go first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from everword.ports import Store, Tx

T = TypeVar("T")
LONGEST_YIELD = 0.1  # seconds; some servers are never idle, and views must follow there, too


async def wait_for_event(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, at most `timeout` seconds; whether it happened."""
    try:
        async with asyncio.timeout(timeout):
            return await event.wait()
    except TimeoutError:
        return False


class StoreCalls:
    """The transactions of a store, and other calls that block, each made in a thread."""

    def __init__(self, store: Store, run: Callable[..., Awaitable[Any]]) -> None:
        """`run` makes a call in a thread; it decides which calls go first."""
        self._store = store
        self.run = run

    async def read(self, fn: Callable[[Tx], T]) -> T:
        """Run a function in a transaction that only reads."""
        result: T = await self.run(self._store.read, fn)
        return result

    async def write(self, fn: Callable[[Tx], T]) -> T:
        """Run a function in a transaction, again if the database is busy: it must not change anything else."""
        result: T = await self.run(self._store.write, fn)
        return result


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

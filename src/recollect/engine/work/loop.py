"""A follower in the background of a process: when it steps, when it rests, and who waits for it.

What comes in quick succession is brought in at one go, and what a program adds before it ends is left to the next.
Whoever waits for a space to be up to date cuts the pause short, and waits for that space alone: what others have added
by the thousand is none of their business.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from recollect.engine.work.faults import reason_of
from recollect.engine.work.follower import Follower
from recollect.errors import StoreClosed
from recollect.ports import Clock

log = logging.getLogger("recollect.followers")

POLL = 2.0  # seconds between looks at what other processes have written
PAUSE = 0.1  # seconds without anything new, before a view that nobody waits for is brought up to date,
LONGEST_PAUSE = 1.0  # and how long that may take while there always is
FULL_LOOK = 60.0  # seconds between looks at every conversation, not only at those changed lately
OVERLAP = timedelta(minutes=2)  # how far clocks of two machines may be apart


class Loop:
    """Runs a follower in the background of a process until it is told to stop."""

    def __init__(
        self, follower: Follower, clock: Clock, done: Callable[[], None] = lambda: None, calls: Callable[[], int] = int
    ) -> None:
        """`done` is called after each step that brought something in: others may follow this view. `calls` says how
        often others have called so far: while they do, they have half of the time."""
        self._follower, self._clock, self._done, self._calls = follower, clock, done, calls
        self._wake, self._idle, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._stepped = asyncio.Event()  # set, and replaced by a new one, at the end of each step
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._forever(), name="recollect followers")

    def wake(self) -> None:
        """There is something new: no need to wait for the next look."""
        self._idle.clear()
        self._wake.set()

    async def wait_for(self, space: str, timeout: float) -> bool:
        """Wait until all that was written here of a space so far has been seen to; False if that takes too long."""
        deadline = time.monotonic() + timeout
        while not self._idle.is_set():
            self._follower.prefer(space)
            self._hurry.set()
            stepped = self._stepped
            if not await self._follower.lags_in(space, self._clock.now() - OVERLAP):
                return True
            if not await happened(stepped, deadline - time.monotonic()):
                return False
        return True

    async def stop(self) -> None:
        # A store that fails while leases are given back hides the cancellation: hence the flag.
        self._stopping = True
        if self._task is not None:
            self._wake.set()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forever(self) -> None:
        looked, again, worked = float("-inf"), False, 0.0
        while not self._stopping:
            await self._rest(again, worked)
            self._wake.clear()
            full, begun, calls = time.monotonic() - looked > FULL_LOOK, time.monotonic(), self._calls()
            done = await self._step(None if full else self._clock.now() - OVERLAP)
            worked = time.monotonic() - begun if self._calls() != calls else 0.0
            if done:
                self._done()
            again = done > 0 and not self._follower.drained
            looked = time.monotonic() if full and not again else looked
            if not again and not self._wake.is_set():
                self._idle.set()
            self._hurry.clear()
            self._tell_stepped()
            if not again and not self._stopping:
                await happened(self._wake, POLL)
        self._idle.set()  # it has ended: nobody is to wait for it
        self._tell_stepped()

    def _tell_stepped(self) -> None:
        self._stepped.set()
        self._stepped = asyncio.Event()

    async def _rest(self, again: bool, worked: float) -> None:
        """Let more come, until nothing has come for a moment; and let others work, as long as the last step took."""
        self._wake.clear()
        until = time.monotonic() + LONGEST_PAUSE
        rest = max(0.0 if again else PAUSE, min(worked, LONGEST_PAUSE))
        while not await happened(self._hurry, rest) and self._wake.is_set() and time.monotonic() < until and not again:
            self._wake.clear()
            rest = PAUSE

    async def _step(self, since: datetime | None) -> int:
        try:
            return await self._follower.step(since)
        except StoreClosed:
            self._stopping = True  # by whoever else has it: there is nothing left to follow
        except Exception as error:  # noqa: BLE001  a store that is away for a while must not end the loop
            if not self._stopping:
                log.warning("followers: %s", reason_of(error))
        return 0


async def happened(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, so many seconds at most."""
    try:
        async with asyncio.timeout(timeout):
            return await event.wait()
    except TimeoutError:
        return False

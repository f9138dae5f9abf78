"""Runs a follower in the background of a process: decides when it steps and when it pauses, and lets callers wait.

Messages that come in quick succession are brought in with one step, and what a program adds just before it ends is left
to the next process. A caller that waits for a space to be up to date ends the pause early, and waits for that space
only, not for the thousands of messages that others may have added.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from everword.errors import StoreClosed
from everword.follow.events import wait_for_event
from everword.follow.faults import reason_of
from everword.follow.follower import Follower
from everword.masking import masked_logger
from everword.ports import Clock

log = masked_logger("everword.followers")

POLL = 2.0  # seconds between checks for what other processes have written
PAUSE = 0.1  # seconds without a new message, before a view that nobody waits for is brought up to date,
LONGEST_PAUSE = 1.0  # and the longest such wait while new messages keep coming
FULL_LOOK = 60.0  # seconds between checks of all conversations, not only of those changed lately
OVERLAP = timedelta(minutes=2)  # how far the clocks of two machines may differ


class Loop:
    """Runs a follower in the background of a process until it is told to stop."""

    def __init__(
        self,
        follower: Follower,
        clock: Clock,
        on_progress: Callable[[], None] = lambda: None,
        calls: Callable[[], int] = int,
    ) -> None:
        """`on_progress` is called after each step that brought something in: other views may follow this one. `calls`
        gives the number of calls by others so far: while they call, the loop leaves them half of the time."""
        self._follower = follower
        self._clock = clock
        self._on_progress = on_progress
        self._calls = calls
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._hurry = asyncio.Event()
        self._step_done = asyncio.Event()  # set, and replaced by a new one, at the end of each step
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._run_forever(), name="everword followers")

    def wake(self) -> None:
        """Say that there is something new, so that the loop does not wait for its next check."""
        self._idle.clear()
        self._wake.set()

    async def wait_for(self, space: str, timeout: float) -> bool:
        """Wait until all that this process has written of a space so far was handled; False after the timeout."""
        deadline = time.monotonic() + timeout
        while not self._idle.is_set():
            self._follower.prefer(space)
            self._hurry.set()
            step_done = self._step_done
            if not await self._follower.lags_in(space, self._clock.now() - OVERLAP):
                return True
            if not await wait_for_event(step_done, deadline - time.monotonic()):
                return False
        return True

    async def stop(self) -> None:
        # If the store fails while leases are given back, that error hides the cancellation: hence the flag.
        self._stopping = True
        if self._task is not None:
            self._wake.set()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run_forever(self) -> None:
        last_full_look = float("-inf")
        has_more = False
        work_seconds = 0.0
        while not self._stopping:
            await self._pause(has_more, work_seconds)
            self._wake.clear()
            started_at = time.monotonic()
            is_full_look = started_at - last_full_look > FULL_LOOK
            calls = self._calls()
            message_count = await self._step(None if is_full_look else self._clock.now() - OVERLAP)
            work_seconds = time.monotonic() - started_at if self._calls() != calls else 0.0
            if message_count:
                self._on_progress()
            has_more = message_count > 0 and not self._follower.drained
            last_full_look = time.monotonic() if is_full_look and not has_more else last_full_look
            if not has_more and not self._wake.is_set():
                self._idle.set()
            self._hurry.clear()
            self._signal_step()
            if not has_more and not self._stopping:
                await wait_for_event(self._wake, POLL)
        self._idle.set()  # the loop has ended: nobody should wait for it
        self._signal_step()

    def _signal_step(self) -> None:
        self._step_done.set()
        self._step_done = asyncio.Event()

    async def _pause(self, has_more: bool, work_seconds: float) -> None:
        """Wait until no new message has come for a moment; and let others work for as long as the last step took."""
        self._wake.clear()
        deadline = time.monotonic() + LONGEST_PAUSE
        pause = max(0.0 if has_more else PAUSE, min(work_seconds, LONGEST_PAUSE))
        while (
            not await wait_for_event(self._hurry, pause)
            and self._wake.is_set()
            and time.monotonic() < deadline
            and not has_more
        ):
            self._wake.clear()
            pause = PAUSE

    async def _step(self, since: datetime | None) -> int:
        try:
            return await self._follower.step(since, patient=True)
        except StoreClosed:
            self._stopping = True  # somebody else closed it: there is nothing left to follow
        except Exception as error:  # noqa: BLE001  a store that is unavailable for a while must not end the loop
            if not self._stopping:
                log.warning("followers: %s", reason_of(error))
        return 0

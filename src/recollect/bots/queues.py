"""Work in order: what belongs together is done one after the other, what does not, at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any

from recollect.masking import masked_logger

logger = masked_logger("recollect.bots")


class OrderedQueues:
    """A queue for each key. An error ends its own piece of work alone."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Task[None]] = {}
        self._tasks: dict[asyncio.Task[None], str] = {}  # all that is not done, with its key
        self._counts: Counter[str] = Counter()  # of these, by key

    def put(self, key: str, work: Coroutine[Any, Any, None], most: int | None = None) -> bool:
        """Do this after all that was put under the same key before. False if `most` pieces of work are there already:
        then it is not done."""
        if most is not None and self._counts[key] >= most:
            work.close()
            return False
        task = asyncio.create_task(self._run_after(self._last.get(key), work))
        self._last[key] = task
        self._tasks[task] = key
        self._counts[key] += 1
        task.add_done_callback(lambda done: self._remove(done, work))
        return True

    async def drain(self, seconds: float | None = None) -> int:
        """Wait until nothing is left to do, or for so many seconds. Returns how much was left, which is given up."""
        try:
            async with asyncio.timeout(seconds):
                await self._wait_for_all()
        except TimeoutError:
            left_count = len(self._tasks)
            for task in self._tasks:
                task.cancel()
            await self._wait_for_all()
            return left_count
        return 0

    async def _wait_for_all(self) -> None:
        while self._tasks:
            await asyncio.wait([*self._tasks])
            await asyncio.sleep(0)  # the callbacks that take them out

    def _remove(self, task: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
        work.close()  # it may not have been begun
        key = self._tasks.pop(task)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]
        if self._last.get(key) is task:
            del self._last[key]

    async def _run_after(self, before: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as error:
            logger.error("an update could not be handled: %s", type(error).__name__, exc_info=error)

"""Work in order: what belongs together is done one after the other, what does not, at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger("recollect.bots")


class OrderedQueues:
    """A queue for each key. An error ends its own piece of work alone."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Task[None]] = {}

    def put(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Do this after all that was put under the same key before."""
        task = asyncio.create_task(self._run_after(self._last.get(key), work))
        self._last[key] = task
        task.add_done_callback(lambda done: self._remove(key, done))

    async def drain(self) -> None:
        """Wait until nothing is left to do."""
        while self._last:
            await asyncio.gather(*self._last.values(), return_exceptions=True)
            await asyncio.sleep(0)

    def _remove(self, key: str, task: asyncio.Task[None]) -> None:
        if self._last.get(key) is task:
            del self._last[key]

    async def _run_after(self, before: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as error:
            logger.error("an update could not be handled: %s", type(error).__name__, exc_info=error)

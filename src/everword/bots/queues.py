"""Work in order: what belongs together is done one after the other, what does not, at once.

A platform says once that a message was edited or deleted. So a change that the store refuses is postponed, and done in
order when the store takes it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from everword.bots.platforms import Change
from everword.errors import EverwordError, StoreError
from everword.masking import masked_logger

logger = masked_logger("everword.bots")

MOST_POSTPONED = 1_000  # edits and deletions


class OrderedQueues:
    """A queue for each key. An error ends its own piece of work alone."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}  # all that is not done, by key

    def put(self, key: str, work: Coroutine[Any, Any, None], most: int | None = None) -> bool:
        """Do this after all that was put under the same key before. False if `most` pieces of work are there already:
        then it is not done."""
        tasks = self._tasks.get(key, [])
        if most is not None and len(tasks) >= most:
            work.close()
            return False
        task = asyncio.create_task(self._run_after(tasks[-1] if tasks else None, work))
        self._tasks.setdefault(key, []).append(task)
        task.add_done_callback(lambda task: self._remove(key, task, work))
        return True

    async def drain(self, seconds: float | None = None) -> int:
        """Wait until nothing is left to do, or for so many seconds. Returns how much was left, which is given up."""
        try:
            async with asyncio.timeout(seconds):
                await self._wait_for_all()
        except TimeoutError:
            tasks = self._all_tasks()
            for task in tasks:
                task.cancel()
            await self._wait_for_all()
            return len(tasks)
        return 0

    def _all_tasks(self) -> list[asyncio.Task[None]]:
        return [task for tasks in self._tasks.values() for task in tasks]

    async def _wait_for_all(self) -> None:
        while self._tasks:
            await asyncio.wait(self._all_tasks())
            await asyncio.sleep(0)  # the callbacks that take them out

    def _remove(self, key: str, task: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
        work.close()  # it may not have been begun
        self._tasks[key].remove(task)
        if not self._tasks[key]:
            del self._tasks[key]

    async def _run_after(self, before: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as error:
            logger.error("an update could not be handled: %s", type(error).__name__, exc_info=error)


class PostponedChanges:
    """Edits and deletions that a store refused, in the order in which they came."""

    def __init__(self, carry_out: Callable[[Change], Awaitable[None]]) -> None:
        self._carry_out = carry_out
        self._changes: dict[str, deque[Change]] = {}  # by chat

    @property
    def count(self) -> int:
        return sum(map(len, self._changes.values()))

    @property
    def chats(self) -> list[str]:
        return [*self._changes]

    async def follow(self, change: Change) -> None:
        """Carry out a change, or postpone it behind those of the same chat."""
        key = change.place.key
        await self.retry(key)
        if key not in self._changes:
            try:
                await self._carry_out(change)
                return
            except StoreError as error:
                logger.warning("an edit or a deletion is postponed: %s", error)
        if self.count < MOST_POSTPONED:
            self._changes.setdefault(key, deque()).append(change)
        else:
            logger.error("an edit or a deletion is lost: %d wait already", MOST_POSTPONED)

    async def retry(self, key: str) -> None:
        """Carry out what was postponed in a chat, as far as its store takes it."""
        changes = self._changes.get(key)
        while changes:
            try:
                await self._carry_out(changes[0])
            except StoreError:
                return
            except EverwordError as error:
                logger.warning("an edit or a deletion is refused: %s", error)
            changes.popleft()
        self._changes.pop(key, None)

"""Reads into memory, in the background, what the next search of a scope needs whatever is asked.

A chat searches its memory in every turn, and its last messages are in the index a moment after it. The next search has
to wait until they are read. So they are read as soon as they are written, if somebody has searched there before.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from everword.errors import EverwordError
from everword.follow.store_calls import StoreCalls
from everword.model import Filter
from everword.recall.scope_index import ScopeIndexes


class ReadAhead:
    """The reading of scopes for searches to come."""

    def __init__(self, indexes: ScopeIndexes, calls: StoreCalls, *, is_on: bool) -> None:
        """`calls` are made when nobody waits for another."""
        self._indexes = indexes
        self._calls = calls
        self._is_on = is_on
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start reading the scopes that should be read, and do not wait."""
        for scope in self._indexes.take_unread() if self._is_on else ():
            task = asyncio.create_task(self._read_scope(scope))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Read nothing more; what is being read ends by itself."""
        self._is_on = False
        for task in self._tasks:
            task.cancel()

    async def _read_scope(self, scope: Filter) -> None:
        with suppress(EverwordError):  # the next search tells
            await self._calls.read(lambda tx: self._indexes.view(tx, scope, ahead=True))

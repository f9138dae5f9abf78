"""Reads into memory, in the background, what the next search of a scope needs whatever is asked.

A chat searches its memory in every turn, and its last messages are in the index a moment after it. The next search has
to wait until they are read. So they are read as soon as they are written, if somebody has searched there before. What
a turn needs in any scope, such as patterns, is prepared a moment after turns are first expected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from everword.errors import EverwordError
from everword.model import Filter
from everword.ports import Clock, Embedder, Store, Tokenizer, Tx
from everword.recall.passages import IndexSource, MessageReader, standing_instructions
from everword.recall.scope_index import ScopeIndexes

QUIET = 0.5  # seconds until turns are prepared: a program that ends sooner does not pay for it


class ReadAhead:
    """The reading of scopes for searches to come."""

    def __init__(
        self,
        indexes: ScopeIndexes,
        run_later: Callable[..., Awaitable[Any]],
        store: Store,
        clock: Clock,
        *,
        is_on: bool,
    ) -> None:
        """`run_later` makes a call in a thread when nobody waits for another."""
        self._indexes = indexes
        self._run_later = run_later
        self._store = store
        self._clock = clock
        self._is_on = is_on
        self._expects_turns = False
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start reading the scopes that should be read, and do not wait."""
        for space, user in self._indexes.take_unread() if self._is_on else ():
            self._start_task(self._read_scope(space, user))

    def expect_turns(self, tokenizer: Tokenizer, embedder: Embedder) -> None:
        """Start preparing what turns need, if that was not done before, and do not wait."""
        if self._is_on and not self._expects_turns:
            self._expects_turns = True
            self._start_task(self._prepare_turns(tokenizer, embedder))

    def stop(self) -> None:
        """Read nothing more; what is being read ends by itself."""
        self._is_on = False
        for task in self._tasks:
            task.cancel()

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_scope(self, space: str, user: str | None) -> None:
        with suppress(EverwordError):  # the next search tells
            await self._run_later(self._store.read, partial(read_scope, self._indexes, space, user, self._clock.now()))

    async def _prepare_turns(self, tokenizer: Tokenizer, embedder: Embedder) -> None:
        await asyncio.sleep(QUIET)
        from everword.memory.preparation import prepare_turns

        steps = prepare_turns(tokenizer, embedder)
        is_done = object()
        with suppress(EverwordError):  # the next turn tells
            while await self._run_later(next, steps, is_done) is not is_done:
                pass


def read_scope(indexes: ScopeIndexes, space: str, user: str | None, now: datetime, tx: Tx) -> None:
    """Read the new passages of a scope, and find its standing instructions."""
    view = indexes.view(tx, space, user, ahead=True)
    if view is not None:
        source = IndexSource(view, now)
        reader = MessageReader(tx, source, space, {})
        standing_instructions(reader, source, Filter(space, user), source.tally().languages)

"""An event loop in a thread of its own, for programs that have none.

Calls are waited for from any thread. A call that is interrupted ends, and leaves things in order, before anybody goes
on; a process that was forked begins anew, or says that it cannot.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from recollect.errors import RecollectError

T = TypeVar("T")

CLOSED = "this memory is closed: open it again"
FORKED = "this memory was opened by the process that this one was forked from: open it again here"
GRACE = 5.0  # seconds for calls of other threads to end by themselves when a memory is closed


class Private:
    """An event loop in a thread of its own.

    A process that is forked has no such thread: there it is left `behind`. What can begin anew says how by `forked`;
    all else says so, where it would wait for ever.
    """

    def __init__(self) -> None:
        self.forked: Callable[[], None] | None = None
        self._left: list[asyncio.AbstractEventLoop] = []
        self._turn, self.stopped = threading.Lock(), False
        self._begin()
        _private.add(self)

    def _begin(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="recollect loop", daemon=True)
        self._thread.start()
        self.behind = False

    def leave_behind(self) -> None:
        """This is another process now. Nobody else runs in it yet, and whoever held the lock is not here."""
        self._turn, self.behind = threading.Lock(), True

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.current_thread() is self._thread:
            work.close()
            raise RecollectError("Memory cannot be called from inside its own loop: use AsyncMemory there")
        with self._turn:
            if self.behind and not self.stopped:
                if self.forked is None:
                    work.close()
                    raise RecollectError(FORKED)
                self._left.append(self._loop)  # not closed: what it waits for is the other process's
                self._begin()
                self.forked()
            if self.stopped:
                work.close()
                raise RecollectError(CLOSED)
            running: list[asyncio.Task[Any] | None] = []
            answer = asyncio.run_coroutine_threadsafe(_noted(work, running), self._loop)
        try:
            return answer.result()
        except CancelledError:
            raise RecollectError(CLOSED) from None
        except KeyboardInterrupt:
            # Ctrl-C is for what is waited for: it ends, and leaves things in order, before anybody goes on.
            asyncio.run_coroutine_threadsafe(_cancel(running), self._loop)
            with suppress(Exception, CancelledError):
                answer.result(GRACE)
            raise

    def each(self, source: AsyncIterator[T]) -> Iterator[T]:
        async def following() -> list[T]:
            return [item async for item in _first(source, 500)]

        while some := self.wait(following()):
            yield from some

    def one_by_one(self, source: AsyncIterator[T]) -> Iterator[T]:
        """Each item as soon as it is there; if the caller goes away, the source is closed."""

        async def following() -> list[T]:
            return [item async for item in _first(source, 1)]

        try:
            while some := self.wait(following()):
                yield from some
        finally:
            close = getattr(source, "aclose", None)
            if close is not None:
                self.wait(close())

    def stop(self) -> None:
        with self._turn:
            if self.stopped:
                return
            self.stopped = True
        asyncio.run_coroutine_threadsafe(_wind_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_private = weakref.WeakSet[Private]()


def _forked() -> None:
    for one in list(_private):
        one.leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


async def _noted(work: Coroutine[Any, Any, T], running: list[asyncio.Task[Any] | None]) -> T:
    """The work, with a note of the task it runs in."""
    running.append(asyncio.current_task())
    return await work


async def _cancel(running: list[asyncio.Task[Any] | None]) -> None:
    for task in running:
        if task is not None:
            task.cancel()


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """The work, which goes on to its end even if nobody waits for it any more."""
    await asyncio.shield(work)


async def _wind_up() -> None:
    """Whoever still waits for an answer gets one, if only that it is too late."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, late = await asyncio.wait(others, timeout=GRACE)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _first(source: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    while count and (item := await anext(source, None)) is not None:
        yield item
        count -= 1

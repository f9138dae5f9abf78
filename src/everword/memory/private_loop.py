"""An event loop in a thread of its own, for programs that have none.

Any thread can wait for a call. A call that is interrupted is cancelled and cleaned up before its caller continues. In
a forked process the loop starts again, or raises an error if it cannot.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from everword.errors import EverwordError

if TYPE_CHECKING:
    from everword.memory.memory import MemoryFace

T = TypeVar("T")

CLOSED = "this memory is closed: open it again"
FORKED = "this memory was opened before the process was forked: open it again in this process"
GRACE = 5.0  # seconds for calls of other threads to end by themselves when a memory is closed
PAUSE = 0.01  # seconds between two attempts to close a generator that still runs


class LoopCall(Generic[T]):
    """A coroutine that a loop runs for another thread. asyncio's own way makes a second future and links it."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self._task: asyncio.Task[T] | None = None
        self.ended = threading.Lock()  # held until the coroutine has ended in any way
        self.ended.acquire()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called in the loop's thread, as is `cancel`."""
        self._task = loop.create_task(self._begin())
        self._task.add_done_callback(lambda _: self.ended.release())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:  # it was never to be started
            self._begin().close()
            self.ended.release()

    def result(self) -> T:
        """What the coroutine returned, or raise what it raised."""
        task = self._task
        self._task = None
        try:
            assert task is not None
            return task.result()
        except asyncio.CancelledError:
            raise EverwordError(CLOSED) from None
        finally:
            del task  # an error's traceback names this frame: nothing would free either


class LoopThread:
    """An event loop in a thread of its own.

    A forked process does not have that thread: there `is_left_behind` is true. `forked` is called to start again; if
    there is none, a call raises an error instead of waiting for ever.
    """

    def __init__(self) -> None:
        self.forked: Callable[[], None] | None = None
        self._abandoned_loops: list[asyncio.AbstractEventLoop] = []
        self._lock = threading.Lock()
        self.is_stopped = False
        self._start_thread()
        _loop_threads.add(self)

    def _start_thread(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="everword loop", daemon=True)
        self._thread.start()
        self.is_left_behind = False

    def leave_behind(self) -> None:
        """Called in a forked process. No other thread runs in it, and the thread that held the lock is not in it."""
        self._lock = threading.Lock()
        self.is_left_behind = True

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.call(lambda: work)

    def call(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for a coroutine that is made in the loop's thread: however soon Ctrl-C comes, none is left unawaited."""
        if threading.current_thread() is self._thread:
            begin().close()
            raise EverwordError("Memory cannot be called inside its own event loop; use AsyncMemory there")
        call = LoopCall(begin)
        try:
            with self._lock:
                try:
                    self._check_running()
                except EverwordError:
                    begin().close()
                    raise
                self._loop.call_soon_threadsafe(call.start, self._loop)
            call.ended.acquire()
        except KeyboardInterrupt:
            # Ctrl-C, at whatever moment, cancels the call; it cleans up before the caller continues.
            with suppress(RuntimeError):  # the loop may be closed
                self._loop.call_soon_threadsafe(call.cancel)
                call.ended.acquire(timeout=GRACE)
            raise
        return call.result()

    def _check_running(self) -> None:
        """Raise if the loop is stopped; in a forked process, start it again."""
        if self.is_left_behind and not self.is_stopped:
            if self.forked is None:
                raise EverwordError(FORKED)
            # It is not closed: what it waits for belongs to the other process.
            self._abandoned_loops.append(self._loop)
            self._start_thread()
            self.forked()
        if self.is_stopped:
            raise EverwordError(CLOSED)

    def iterate_pages(self, source: AsyncIterator[T]) -> Iterator[T]:
        async def next_items() -> list[T]:
            return [item async for item in _take(source, 500)]

        while items := self.call(next_items):
            yield from items

    def iterate_items(self, source: AsyncIterator[T]) -> Iterator[T]:
        """Yield each item as soon as it is there; if the caller stops, the source is closed."""

        async def next_items() -> list[T]:
            return [item async for item in _take(source, 1)]

        try:
            while items := self.call(next_items):
                yield from items
        finally:
            if hasattr(source, "aclose"):
                self.wait(_close_generator(cast(AsyncGenerator[T], source)))

    def stop(self) -> None:
        with self._lock:
            if self.is_stopped:
                return
            self.is_stopped = True
        asyncio.run_coroutine_threadsafe(_wind_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class OwnLoop:
    """A memory that is open in a loop of its own: what the blocking twin of a memory is made of."""

    def __init__(self, memory: MemoryFace, opening: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Open the memory, by its method `open` unless another way of `opening` it is given."""
        self._private = LoopThread()
        self._closing = threading.Lock()
        self._inner = memory
        try:
            self._private.wait((opening or memory.open)())
        except BaseException:
            self._private.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the background tasks, finish writing, and close the store."""
        if self._private.is_left_behind:  # what it has open belongs to the other process
            self._private.is_stopped = True
            return
        with self._closing:
            if not self._private.is_stopped:
                try:
                    self._private.wait(run_shielded(self._inner.close()))
                finally:
                    self._private.stop()

    def run(self, work: Callable[[MemoryFace], Coroutine[Any, Any, T]]) -> T:
        """Run `work`, a function that takes the asynchronous memory inside this one, and return what it returns."""
        return self._private.wait(work(self._inner))


_loop_threads = weakref.WeakSet[LoopThread]()


def _mark_left_behind() -> None:
    for loop_thread in list(_loop_threads):
        loop_thread.leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_left_behind)


async def run_shielded(work: Coroutine[Any, Any, None]) -> None:
    """Await the work; it runs to its end even if the caller is cancelled."""
    await asyncio.shield(work)


async def _wind_up() -> None:
    """Give the other tasks time to end, and cancel those that do not."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, late_tasks = await asyncio.wait(others, timeout=GRACE)
        for task in late_tasks:
            task.cancel()
        await asyncio.gather(*late_tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _close_generator(source: AsyncGenerator[Any]) -> None:
    """Close a generator; one whose last step is still being cancelled, as after Ctrl-C, once that has ended."""
    deadline = time.monotonic() + GRACE
    while True:
        try:
            return await source.aclose()
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(PAUSE)


async def _take(source: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    while count and (item := await anext(source, None)) is not None:
        yield item
        count -= 1

"""Threads in which an event loop has calls made that block.

Every transaction is such a call, so what it costs to change threads counts. asyncio's own executor makes two futures
for each call and links them, with a lock each; here a call goes into a queue, and its result back to the loop.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
Call = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[..., Any], tuple[Any, ...]]


class ThreadsClosed(Exception):
    """The threads take no more calls."""


class CallThreads:
    """At most so many threads, each started when it is needed first. Calls are begun in order."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._calls = SimpleQueue[Call | None]()
        self._threads: list[threading.Thread] = []
        self._unfinished_count = 0  # changed by the loop's thread alone
        self._is_closed = False
        _open_threads.add(self)

    def call(self, fn: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Call a function in a thread. If the future is cancelled before the call has begun, it is not made."""
        if self._is_closed:
            raise ThreadsClosed
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._unfinished_count += 1
        self._calls.put((loop, future, fn, args))
        if self._unfinished_count > len(self._threads) < self._most:
            self._start_thread()
        return future

    def _start_thread(self) -> None:
        # A daemon, since a program may end without closing its memory; `_close_all` waits for what is being done.
        thread = threading.Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            make_call(call, self._finish)
            del call  # not kept until the next one comes

    def _finish(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        self._unfinished_count -= 1
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def close(self) -> None:
        """Make the calls that were asked for, and end the threads. It blocks until then."""
        self._is_closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


def make_call(call: Call, finish: Callable[[asyncio.Future[Any], Any, BaseException | None], None]) -> None:
    """Make a call in this thread, and have the loop finish its future."""
    loop, future, fn, args = call
    result: Any = None
    error: BaseException | None = None
    if not future.cancelled():
        try:
            result = fn(*args)
        except StopIteration as ended:  # a future does not take it: the caller would wait for ever
            error = RuntimeError("an iterator ended too early")
            error.__cause__ = ended
        except BaseException as raised:  # noqa: BLE001  it is raised where the future is awaited
            error = raised
    try:
        loop.call_soon_threadsafe(finish, future, result, error)
    except RuntimeError:
        pass  # the loop was closed: nobody waits any more
    finally:
        del error  # its traceback names this frame: nothing would free either


_open_threads = weakref.WeakSet[CallThreads]()


@atexit.register
def _close_all() -> None:
    for threads in list(_open_threads):
        threads.close()

"""How an event loop has calls made that block: each in a thread, and first those for which somebody waits.

Every transaction is such a call, so what it costs to change threads counts. Python's own executor makes two futures for
each call, with a lock each, and wakes threads that find nothing to do: with it, adding a message takes an eighth more
of the processor's time (`benchmarks/goals.py --only add`).

All threads of a process share one interpreter: a view that is brought up to date while a context is built would double
the time that the caller waits. So calls that nobody waits for let the others go first.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from everword.errors import StoreClosed
from everword.ports import Store, Tx
from everword.text.doc import reading_in

T = TypeVar("T")
CLOSED = "this memory is not open; use it inside its `with` or `async with` block"
LONGEST_YIELD = 0.1  # seconds; some servers are never idle, and views must follow there, too


async def wait_for_event(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, at most `timeout` seconds; whether it happened."""
    try:
        async with asyncio.timeout(timeout):
            return await event.wait()
    except TimeoutError:
        return False


class CallThreads:
    """At most so many threads, each started when it is needed first. Calls are begun in order."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._calls = SimpleQueue[partial[None] | None]()
        self._threads: list[threading.Thread] = []
        self._unfinished_count = 0  # changed by the loop's thread alone
        self._is_closed = False
        _open_threads.add(self)

    def call(self, languages: str, fn: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Call a function in a thread, where texts are taken to be in these languages. If the future is cancelled
        before the call has begun, it is not made."""
        if self._is_closed:
            raise StoreClosed(CLOSED)
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        self._unfinished_count += 1
        self._calls.put(partial(self._make_call, loop, outcome, languages, fn, args))
        if self._unfinished_count > len(self._threads) < self._most:
            # A daemon, since a program may end without closing its memory; `_close_all` waits for what is being done.
            thread = threading.Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return outcome

    def _work(self) -> None:
        while (make_call := self._calls.get()) is not None:
            make_call()
            del make_call  # not kept until the next one comes

    def _make_call(
        self, loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[Any], languages: str, fn: Any, args: Any
    ) -> None:
        """Make a call in this thread, and have the loop finish its future."""
        result: Any = None
        error: BaseException | None = None
        try:
            if not outcome.cancelled():
                with reading_in(languages):
                    result = fn(*args)
        except StopIteration as ended:  # a future does not take it: the caller would wait for ever
            error = RuntimeError("a function raised StopIteration, which cannot be passed to its caller")
            error.__cause__ = ended
        except BaseException as raised:  # noqa: BLE001  it is raised where the call is awaited
            error = raised
        try:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(self._finish, outcome, result, error)
        finally:
            del error  # its traceback names this frame: nothing would free either

    def _finish(self, outcome: asyncio.Future[T], result: Any, error: BaseException | None) -> None:
        self._unfinished_count -= 1
        if not outcome.cancelled():
            outcome.set_result(result) if error is None else outcome.set_exception(error)

    def close(self) -> None:
        """Make the calls that were asked for, and end the threads. It blocks until then."""
        self._is_closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()


_open_threads = weakref.WeakSet[CallThreads]()


@atexit.register
def _close_all() -> None:
    for threads in list(_open_threads):
        threads.close()


class StoreCalls:
    """The transactions of a store, and other calls that block, each made in a thread."""

    def __init__(self, store: Store, run: Callable[..., Awaitable[Any]]) -> None:
        """`run` makes a call in a thread; it decides which calls go first."""
        self._store = store
        self.run = run

    async def read(self, fn: Callable[[Tx], T]) -> T:
        """Run a function in a transaction that only reads."""
        result: T = await self.run(self._store.read, fn)
        return result

    async def write(self, fn: Callable[[Tx], T]) -> T:
        """Run a function in a transaction, again if the database is busy: it must not change anything else."""
        result: T = await self.run(self._store.write, fn)
        return result


class Callers:
    """The calls under way for which somebody waits: each is made within `with` in the event loop's thread."""

    def __init__(self) -> None:
        self.call_count = 0  # so far, about
        self._under_way = 0
        self._all_served = asyncio.Event()

    def __enter__(self) -> None:
        self.call_count += 1
        self._under_way += 1

    def __exit__(self, *error: object) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._all_served.set()

    async def go_first(self) -> None:
        """Wait until no such call is under way, or for a while."""
        if not self._under_way:
            return
        deadline = time.monotonic() + LONGEST_YIELD
        while self._under_way and (seconds_left := deadline - time.monotonic()) > 0:
            self._all_served.clear()  # a caller that goes on at once has taken the place of the last
            await wait_for_event(self._all_served, seconds_left)

"""One way to write what must run with a `Memory` and with an `AsyncMemory`: as steps, each a call to be made.

Steps are a generator that yields calls and is sent their results. With a `Memory` the calls are made one after the
other; with an `AsyncMemory` they are awaited. A blocking memory in an asynchronous program is used in a thread, so that
nobody's loop stands still; an asynchronous one in a blocking program cannot be used, and says so. A `Client` is in the
place of a `Memory` and an `AsyncClient` in that of an `AsyncMemory`. Whoever is cancelled while something is `changed`
learns of it when that has been done, or has not: nothing is done behind their back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeVar

from recollect.engine.sync import BlockingMemory
from recollect.errors import RecollectError

T = TypeVar("T")
Steps = Generator[Callable[[], Any], Any, T]


class AnyMemory(Protocol):
    """What an adapter asks of a memory, blocking or not, here or on a server."""

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> Any: ...

    def documents(self, *, space: str | None = None) -> Any: ...


def now(memory: AnyMemory, steps: Steps[T]) -> T:
    """Take the steps, blocking."""
    if not isinstance(memory, BlockingMemory):
        raise RecollectError("this was made with an AsyncMemory: call its asynchronous methods, or give it a Memory")
    result: Any = None
    while True:
        try:
            call = steps.send(result)
        except StopIteration as end:
            done: T = end.value
            return done
        result = call()


async def later(memory: AnyMemory, steps: Steps[T]) -> T:
    """Take the steps, asynchronously."""
    if isinstance(memory, BlockingMemory):
        return await asyncio.to_thread(now, memory, steps)
    result: Any = None
    while True:
        try:
            call = steps.send(result)
        except StopIteration as end:
            done: T = end.value
            return done
        result = await call()


async def changed(memory: AnyMemory, steps: Steps[T]) -> T:
    """Take steps that change something. Who is cancelled meanwhile is cancelled after them."""
    work = asyncio.ensure_future(later(memory, steps))
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        work.cancelled() or work.exception()  # looked at: the cancellation is what is told
        raise cancelled
    return work.result()

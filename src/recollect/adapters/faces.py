"""Lets one piece of code run with a `Memory` and with an `AsyncMemory`: as steps, each a call to be made.

Steps are a generator that yields calls and is sent their results. With a `Memory` the calls are made one after the
other; with an `AsyncMemory` they are awaited. A blocking memory in an asynchronous program is used in a thread, so that
it does not block the event loop; an asynchronous memory in a blocking program raises an error. A `Client` is used like
a `Memory` and an `AsyncClient` like an `AsyncMemory`. `run_shielded` raises a cancellation only after its steps have
ended: nothing is changed after the caller has gone on.
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
    """What an adapter needs of a memory: blocking or not, in this process or on a server."""

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> Any: ...

    def documents(self, *, space: str | None = None) -> Any: ...


def run_blocking(memory: AnyMemory, steps: Steps[T]) -> T:
    """Run the steps, blocking."""
    if not isinstance(memory, BlockingMemory):
        raise RecollectError("this was made with an AsyncMemory: call its asynchronous methods, or give it a Memory")
    result: Any = None
    while True:
        try:
            call = steps.send(result)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        result = call()


async def run_async(memory: AnyMemory, steps: Steps[T]) -> T:
    """Run the steps, asynchronously."""
    if isinstance(memory, BlockingMemory):
        return await asyncio.to_thread(run_blocking, memory, steps)
    result: Any = None
    while True:
        try:
            call = steps.send(result)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        result = await call()


async def run_shielded(memory: AnyMemory, steps: Steps[T]) -> T:
    """Run steps that change something to their end, even if the caller is cancelled; then raise the cancellation."""
    work = asyncio.ensure_future(run_async(memory, steps))
    cancellation: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        work.cancelled() or work.exception()  # read, so that asyncio does not log it as lost
        raise cancellation
    return work.result()

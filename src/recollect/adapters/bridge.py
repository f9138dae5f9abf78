"""Lets one piece of asynchronous code run with a `Memory` and with an `AsyncMemory`.

The code is a function of an asynchronous memory. A blocking memory runs it on its own loop; in an asynchronous program
that is waited for in a thread, so that the program's loop is not blocked. An asynchronous memory in a blocking program
raises an error. A `Client` is used like a `Memory` and an `AsyncClient` like an `AsyncMemory`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from recollect.errors import RecollectError
from recollect.memory.faces import MemoryFace
from recollect.memory.sync import BlockingMemory

T = TypeVar("T")
AnyMemory: TypeAlias = BlockingMemory | MemoryFace  # blocking or not, in this process or on a server
Work: TypeAlias = Callable[[MemoryFace], Coroutine[Any, Any, T]]


def run_blocking(memory: AnyMemory, work: Work[T]) -> T:
    """Run the work, blocking."""
    if not isinstance(memory, BlockingMemory):
        raise RecollectError("this was made with an AsyncMemory: call its asynchronous methods, or give it a Memory")
    return memory.run(work)


async def run_async(memory: AnyMemory, work: Work[T]) -> T:
    """Run the work, asynchronously."""
    if isinstance(memory, BlockingMemory):
        return await asyncio.to_thread(memory.run, work)
    return await work(memory)


async def run_shielded(memory: AnyMemory, work: Work[T]) -> T:
    """Run work that changes something to its end, even if the caller is cancelled; then raise the cancellation, so
    that nothing is changed after the caller has gone on."""
    task = asyncio.ensure_future(run_async(memory, work))
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        task.cancelled() or task.exception()  # read, so that asyncio does not log it as lost
        raise cancellation
    return task.result()

"""One way to write what must run with a `Memory` and with an `AsyncMemory`: as steps, each a call to be made.

Steps are a generator that yields calls and is sent their results. With a `Memory` the calls are made one after the
other; with an `AsyncMemory` they are awaited. A blocking memory in an asynchronous program is used in a thread, so that
nobody's loop stands still; an asynchronous one in a blocking program cannot be used, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from recollect.engine.memory import MemoryEngine
from recollect.engine.sync import BlockingMemory
from recollect.errors import RecollectError

T = TypeVar("T")
AnyMemory = MemoryEngine | BlockingMemory
Steps = Generator[Callable[[], Any], Any, T]


def now(memory: AnyMemory, steps: Steps[T]) -> T:
    """Take the steps, blocking."""
    if isinstance(memory, MemoryEngine):
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
    if not isinstance(memory, MemoryEngine):
        return await asyncio.to_thread(now, memory, steps)
    result: Any = None
    while True:
        try:
            call = steps.send(result)
        except StopIteration as end:
            done: T = end.value
            return done
        result = await call()

"""What models cost: every call is counted in the store, by day, role, task, model and outcome.

The counts are shared by all processes on a store, so a ceiling for the day holds for all of them together.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from recollect.errors import RecollectError
from recollect.ports import Clock, Tx

log = logging.getLogger("recollect.metering")
COUNTED = ("calls", "tokens_in", "tokens_out", "milliseconds")


class Call(Protocol):
    """One call of a model."""

    @property
    def role(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def outcome(self) -> str: ...


class Meter:
    """Writes calls down in the background, and knows what was spent today."""

    def __init__(
        self, write: Callable[..., Awaitable[Any]], read: Callable[..., Awaitable[Any]], clock: Clock, space: str
    ) -> None:
        self._write, self._read, self._clock, self._space = write, read, clock, space
        self._pending: set[asyncio.Task[None]] = set()

    def record(self, call: Call) -> None:
        """Count a call. Never waits and never fails: a reply is worth more than its statistics."""
        task = asyncio.get_running_loop().create_task(self._store(call))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _store(self, call: Call) -> None:
        row = {
            "space": self._space,
            "day": self._today(),
            "role": call.role,
            "task": call.task,
            "model": call.model[:200],
            "outcome": call.outcome,
            "calls": 1,
            "tokens_in": call.tokens_in,
            "tokens_out": call.tokens_out,
            "milliseconds": round(call.seconds * 1000),
        }
        try:
            await self._write(lambda tx: tx.put("usage", [row], add=COUNTED))
        except RecollectError as error:
            log.warning("a call of %s was not counted: %s", call.model, error)

    async def spent(self, role: str = "memory") -> int:
        """Tokens of this role today."""
        where = {"space": self._space, "day": self._today(), "role": role}

        def total(tx: Tx) -> int:
            return sum(row["tokens_in"] + row["tokens_out"] for row in tx.rows("usage", where=where))

        return int(await self._read(total))

    async def finish(self) -> None:
        await asyncio.gather(*self._pending, return_exceptions=True)

    def _today(self) -> str:
        return self._clock.now().date().isoformat()

"""What models cost: every call is counted in the store, by day, role, task, model and outcome.

The counts are shared by all processes on a store, so a ceiling for the day holds for all of them together. What else
is counted and kept (looks into caches, fallbacks) is written with the next call, when somebody asks, and at the end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from recollect.engine.counting import Counting
from recollect.errors import NoModel, RecollectError
from recollect.model import Activity
from recollect.ports import Call, Clock, Tx

log = logging.getLogger("recollect.metering")
COUNTED = ("calls", "tokens_in", "tokens_out", "milliseconds")


class Meter:
    """Writes calls down in the background, and knows what was spent today."""

    def __init__(
        self,
        write: Callable[..., Awaitable[Any]],
        read: Callable[..., Awaitable[Any]],
        clock: Clock,
        space: str,
        counting: Counting,
    ) -> None:
        self._write, self._read, self._clock, self._space = write, read, clock, space
        self._counting = counting
        self._pending: set[asyncio.Task[None]] = set()

    def record(self, call: Call) -> None:
        """Count a call. Never waits and never fails: a reply is worth more than its statistics."""
        if call.outcome == NoModel.__name__:
            return  # nobody was called
        self._counting.call(call)
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
        await self._put([row], f"a call of {call.model}")

    async def flush(self) -> None:
        """Write down what is counted and not yet kept."""
        await self._put([], "what was done")

    async def _put(self, rows: Sequence[dict[str, Any]], what: str) -> None:
        counts = self._counting.drained()
        every = [*rows, *(self._row(one) for one in counts)]
        if not every:
            return
        try:
            await self._write(lambda tx: tx.put("usage", every, add=COUNTED))
        except RecollectError as error:
            self._counting.give_back(counts)
            log.warning("%s was not counted: %s", what, error)

    def _row(self, one: Activity) -> dict[str, Any]:
        names = {"space": self._space, "day": self._today(), "role": one.what, "task": one.kind, "model": ""}
        counts = {"calls": one.count, "tokens_in": 0, "tokens_out": 0, "milliseconds": round(one.seconds * 1000)}
        return names | {"outcome": one.outcome} | counts

    async def spent(self, role: str = "memory") -> int:
        """Tokens of this role today."""
        where = {"space": self._space, "day": self._today(), "role": role}

        def total(tx: Tx) -> int:
            return sum(row["tokens_in"] + row["tokens_out"] for row in tx.rows("usage", where=where))

        return int(await self._read(total))

    async def finish(self) -> None:
        await asyncio.gather(*self._pending, return_exceptions=True)
        await self.flush()

    def _today(self) -> str:
        return self._clock.now().date().isoformat()

"""Counts every call of a model in the store, by day, role, task, model and outcome.

The counts are shared by all processes on a store, so the daily limit applies to all of them together. They are written
a moment later, several calls at once: storing a reply does not wait for its statistics. Reading the counts writes
pending ones first. Other counts that are stored (cache lookups, fallbacks) are written with them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from everword.errors import EverwordError, NoModel
from everword.follow.events import wait_for_event
from everword.follow.metrics import ActivityCounter
from everword.masking import masked_logger
from everword.model import Activity
from everword.ports import Call, Clock, Tx

log = masked_logger("everword.metering")
COUNTED = ("calls", "tokens_in", "tokens_out", "milliseconds")
MOMENT = 0.25  # seconds to wait for more calls, before they are written

Row = dict[str, Any]


class Meter:
    """Writes calls to the store in the background, and knows how many tokens were used today."""

    def __init__(
        self,
        write: Callable[..., Awaitable[Any]],
        read: Callable[..., Awaitable[Any]],
        clock: Clock,
        space: str,
        counting: ActivityCounter,
        writable: bool = True,
    ) -> None:
        self._writable = writable
        self._write = write
        self._read = read
        self._clock = clock
        self._space = space
        self._counting = counting
        self._calls: list[Row] = []
        self._writing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def record(self, call: Call) -> None:
        """Count a call. Never waits and never fails: a reply is worth more than its statistics."""
        if call.outcome == NoModel.__name__:
            return  # no model was called
        self._counting.call(call)
        self._calls.append(self._call_row(call))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._flush_soon())

    async def _flush_soon(self) -> None:
        while self._calls:
            await wait_for_event(self._hurry, MOMENT)
            await self.flush()

    async def flush(self) -> None:
        """Write what was counted and is not yet in the store."""
        calls = self._calls
        self._calls = []
        activities = self._counting.drain()
        rows = sum_rows([*calls, *(self._activity_row(activity) for activity in activities)])
        if not rows or not self._writable:
            return
        try:
            await self._write(lambda tx: tx.put("usage", rows, add=COUNTED))
        except EverwordError as error:
            self._counting.give_back(activities)
            log.warning("%s was not counted: %s", f"{len(calls)} calls of models" if calls else "what was done", error)

    def _call_row(self, call: Call) -> Row:
        return {
            "space": self._space,
            "day": self._today(),
            "role": call.role,
            "task": call.task,
            "model": self._counting.model_label(call.model)[:200],
            "outcome": call.outcome,
            "calls": 1,
            "tokens_in": call.tokens_in,
            "tokens_out": call.tokens_out,
            "milliseconds": round(call.seconds * 1000),
        }

    def _activity_row(self, activity: Activity) -> Row:
        names = {"space": self._space, "day": self._today(), "role": activity.what, "task": activity.kind, "model": ""}
        counts = {
            "calls": activity.count,
            "tokens_in": 0,
            "tokens_out": 0,
            "milliseconds": round(activity.seconds * 1000),
        }
        return names | {"outcome": activity.outcome} | counts

    async def tokens_today(self, role: str = "memory") -> int:
        """The tokens that this role has used today."""
        await self.flush()
        where = {"space": self._space, "day": self._today(), "role": role}

        def total(tx: Tx) -> int:
            return sum(row["tokens_in"] + row["tokens_out"] for row in tx.rows("usage", where=where))

        return int(await self._read(total))

    async def finish(self) -> None:
        if self._writing is not None:
            self._hurry.set()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self.flush()

    def _today(self) -> str:
        return self._clock.now().date().isoformat()


def sum_rows(rows: Iterable[Row]) -> list[Row]:
    """Rows with the same labels summed into one."""
    totals: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(value for name, value in row.items() if name not in COUNTED)
        total = totals.setdefault(key, {**row, **dict.fromkeys(COUNTED, 0)})
        for name in COUNTED:
            total[name] += row[name]
    return list(totals.values())

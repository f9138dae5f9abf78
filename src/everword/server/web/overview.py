"""The overview: how much is remembered, how far the views are, and what models and caches did; and the spaces.

Counting all messages takes longer than a page may take, so the figures of a space are kept for some seconds: a page
shows the last ones at once, and has newer ones made beside it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from everword.memory.inspection import count_days, list_spaces
from everword.memory.memory import MemoryEngine
from everword.model import Activity, Stats
from everword.server.door.access import Caller, caller_for
from everword.server.web.pages import show_page

FRESH = 5.0  # seconds for which figures are shown without new ones being made
DAYS = 30  # days of the chart
MAX_SPACES = 200  # in the list
MOST_KEPT = 100  # spaces whose figures are kept

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls of a model for one task cost."""

    role: str
    task: str
    model: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How often a cache had what was asked of it."""

    name: str
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What the overview shows of a space, and when it was counted (by a clock that only counts on)."""

    stats: Stats
    days: Mapping[date, int]
    spending: tuple[Spending, ...]
    caches: tuple[CacheUse, ...]
    made_at: float

    @property
    def chart(self) -> dict[str, Any]:
        times = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day in self.days]
        return {"times": times, "names": ["messages"], "values": [list(self.days.values())], "bars": True}


class FigureCache:
    """The last figures of each space."""

    def __init__(self, memory: MemoryEngine) -> None:
        self._memory = memory
        self._figures: dict[str, Figures] = {}
        self._tasks: dict[str, asyncio.Task[Figures]] = {}

    async def of_space(self, space: str) -> Figures:
        """The figures of a space: the last ones, if there are any, and newer ones are made if they are old."""
        last = self._figures.get(space)
        if last is not None and time.monotonic() - last.made_at < FRESH:
            return last
        task = self._tasks.get(space)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._tasks[space] = asyncio.create_task(self._count(space))
            task.add_done_callback(lambda task: self._end_count(space, task))
        return await asyncio.shield(task) if last is None else last

    def _end_count(self, space: str, task: asyncio.Task[Figures]) -> None:
        self._tasks.pop(space, None)
        if not task.cancelled():
            task.exception()  # those who waited for it got it; the next request counts again

    async def _count(self, space: str) -> Figures:
        stats = await self._memory.stats(space=space)
        days = await count_days(self._memory.runtime, space, DAYS)
        rows = await self._memory.runtime.read(lambda tx: tx.rows("usage", where={"space": space}))
        figures = Figures(stats, days, sum_spending(rows), sum_caches(stats.activity), time.monotonic())
        if len(self._figures) >= MOST_KEPT:
            self._figures.clear()
        self._figures[space] = figures
        return figures


def sum_spending(rows: Iterable[Mapping[str, Any]]) -> tuple[Spending, ...]:
    """Calls of models by task and model, the dearest first."""
    totals: dict[tuple[str, str, str], Spending] = {}
    for row in rows:
        if not row["model"]:
            continue
        key = (row["role"], row["task"], row["model"])
        last = totals.get(key, Spending(*key, 0, 0, 0, 0))
        totals[key] = replace(
            last,
            calls=last.calls + row["calls"],
            failures=last.failures + (row["calls"] if row["outcome"] != "ok" else 0),
            tokens_in=last.tokens_in + row["tokens_in"],
            tokens_out=last.tokens_out + row["tokens_out"],
        )
    return tuple(sorted(totals.values(), key=lambda spending: -(spending.tokens_in + spending.tokens_out)))


def sum_caches(activities: Iterable[Activity]) -> tuple[CacheUse, ...]:
    caches: dict[str, CacheUse] = {}
    for activity in activities:
        if activity.what == "cache":
            use = caches.get(activity.kind, CacheUse(activity.kind, 0, 0))
            is_hit = activity.outcome == "hit"
            caches[activity.kind] = replace(
                use,
                hits=use.hits + (activity.count if is_hit else 0),
                misses=use.misses + (0 if is_hit else activity.count),
            )
    return tuple(caches[name] for name in sorted(caches))


async def figures_for(caller: Caller) -> Figures | None:
    """The figures of the caller's space; none for a key of one user, since they are about all."""
    if caller.access.is_bound:
        return None
    cache: FigureCache = caller.request.app.state.figures
    return await cache.of_space(caller.space)


@router.get("/")
async def show_overview(caller: Annotated[Caller, caller_for("stats")]) -> Response:
    figures = await figures_for(caller)
    return show_page(caller, "overview.html", section="Overview", figures=figures, degraded=caller.memory.degraded)


@router.get("/web/overview/live")
async def show_figures(caller: Annotated[Caller, caller_for("stats")]) -> Response:
    """The figures alone: a script asks for them again and again."""
    figures = await figures_for(caller)
    return show_page(caller, "figures.html", figures=figures, degraded=caller.memory.degraded)


@router.get("/web/spaces")
async def show_spaces(caller: Annotated[Caller, caller_for("spaces")], after: str = "") -> Response:
    """The spaces that the key opens."""
    spaces = caller.access.spaces
    if spaces is None:
        names = await list_spaces(caller.memory.runtime, after, MAX_SPACES)
        has_more = len(names) == MAX_SPACES
    else:
        names = sorted(spaces)
        has_more = False
    return show_page(caller, "spaces.html", section="", names=names, next_after=names[-1] if has_more else None)

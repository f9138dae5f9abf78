"""The state of the server: alive, ready, and metrics."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from everword.errors import EverwordError, StoreBusy
from everword.log.access import Access
from everword.memory.memory import MemoryEngine
from everword.server import MULTIPROCESS
from everword.server.door.access import access_for
from everword.server.problems import Problem, problem_of

LONGEST_LOOK = 5.0  # seconds: a readiness check must not wait as long as a request does

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def alive(request: Request) -> dict[str, str | int]:
    """The process answers. Says nothing of the store: restarting would not mend that. If messages are held in memory
    since the store takes none, the status is "degraded", with how many and why: a restart would lose them."""
    memory: MemoryEngine = request.app.state.memory
    degraded = memory.degraded
    if degraded is None:
        return {"status": "ok"}
    return {
        "status": "degraded",
        "held": degraded.held,
        "since": degraded.since.isoformat(),
        "reason": degraded.reason,
    }


@router.get("/readyz")
async def ready(request: Request) -> dict[str, str]:
    """The store answers, too: send requests here. 503 if it does not, and no more than that: anybody may ask."""
    memory: MemoryEngine = request.app.state.memory
    try:
        async with asyncio.timeout(LONGEST_LOOK):
            await memory.conversations(limit=1)
    except (EverwordError, TimeoutError) as error:
        problem = problem_of(error if isinstance(error, EverwordError) else StoreBusy("no answer in time"))
        parts = [{"field": "store", "reason": "does not answer"}]
        raise Problem(problem.status, problem.code, problem.detail, parts, problem.headers) from None
    return {"status": "ready"}


@router.get("/openapi.json", include_in_schema=False)
async def description(request: Request) -> Response:
    """The description of the API, written once: anybody may ask for it, as often as they like."""
    state = request.app.state
    if not hasattr(state, "description"):
        state.description = await asyncio.to_thread(json.dumps, request.app.openapi(), separators=(",", ":"))
    return Response(state.description, media_type="application/json")


@router.get("/metrics", response_class=Response)
async def metrics(access: Annotated[Access, access_for("metrics")]) -> Any:
    """Counts and timings, as Prometheus reads them: of all workers of this server. They name nobody."""
    access.check_unbound()
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = REGISTRY
    if os.environ.get(MULTIPROCESS):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

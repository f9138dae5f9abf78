"""How the server is: alive, ready, and in figures."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollect.engine.memory import MemoryEngine
from recollect.rules.access import Access
from recollect.server.access import may
from recollect.server.options import MULTIPROCESS

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """The process answers. Says nothing of the store: restarting would not mend that."""
    return {"status": "ok"}


@router.get("/readyz")
async def ready(request: Request) -> dict[str, str]:
    """The store answers, too: send requests here. 503 if it does not."""
    memory: MemoryEngine = request.app.state.memory
    await memory.conversations(limit=1)
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(access: Annotated[Access, may("admin")]) -> Any:
    """Counts and timings, as Prometheus reads them: of all workers of this server. They name nobody."""
    access.check_unbound()
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = REGISTRY
    if os.environ.get(MULTIPROCESS):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

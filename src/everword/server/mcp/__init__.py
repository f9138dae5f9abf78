"""The memory as tools and resources of MCP, at `/mcp` of the server. What answers there is made at the first request.

The SDK takes a second to import, and its schemas a while to build: most servers are never asked by an MCP client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from everword.memory.memory import MemoryEngine

PATH = "/mcp"


def mount(app: FastAPI) -> None:
    """Serve MCP at `/mcp`, while the application runs."""
    endpoint = McpEndpoint(app.state.memory)
    # A client opens a stream of notifications by GET; it would stay empty, so there is no such route.
    app.router.routes.append(Route(PATH, endpoint, methods=["POST"], name="mcp"))
    app.state.services.append(endpoint.run)


class McpEndpoint:
    """Answers MCP requests, while `run` is entered. What answers runs in one task, as the SDK's task group must."""

    def __init__(self, memory: MemoryEngine) -> None:
        self._memory = memory
        self._is_over = asyncio.Event()
        self._app: asyncio.Future[ASGIApp]
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="everword mcp")
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self._is_over.clear()
        self._app = asyncio.get_running_loop().create_future()
        self._task = None
        try:
            yield
        finally:
            await self._stop()

    async def _stop(self) -> None:
        self._is_over.set()
        if self._task is not None:
            await self._task

    async def _serve(self) -> None:
        try:
            from everword.server.mcp.tools import build_http_app

            app, sessions = await asyncio.to_thread(build_http_app, self._memory, PATH)
        except Exception as error:  # noqa: BLE001  whoever asks is told, as of any other failure
            self._app.set_exception(error)
            return
        async with sessions:
            self._app.set_result(app)
            await self._is_over.wait()

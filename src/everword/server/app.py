"""The application: every router on one memory, behind one door.

A request passes the middlewares from outside in: observation, the rules for browsers, the check of its address, the
door, then the routes. The memory is opened when the server starts, and closed when the last request has ended.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from everword import __version__
from everword.config import Settings
from everword.errors import EverwordError
from everword.memory.memory import MemoryEngine
from everword.ports import Telemetry
from everword.server import ServerOptions, mcp, model_apis, web
from everword.server.access import Door
from everword.server.keys import Keys
from everword.server.middleware import DegradedHeader, OriginMiddleware, RequestGuard, RequestObserver
from everword.server.problems import Problem, handle_error
from everword.server.routes import conversations, documents, from_declarations, health
from everword.server.routes.health import openapi_document

Service = Callable[[], AbstractAsyncContextManager[Any]]


def create_app(
    memory: MemoryEngine,
    options: ServerOptions | None = None,
    *,
    keys: Keys | None = None,
    telemetry: Telemetry | None = None,
    settings: Settings | None = None,
) -> FastAPI:
    """The server's application. Without `keys` everybody may do everything: for loopback, and for tests. The dashboard
    shows `settings`, if they are given.

    Services that run as long as the application (`app.state.services`) are entered after the memory and left before it.
    """
    server_options = options or ServerOptions()
    app = FastAPI(
        title="everword",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # it is served as bytes that are made once: it needs no key
        telemetry={"tracing": False, "metrics": False, "logs": False},  # `RequestObserver` does that, once
        redirect_slashes=False,  # a redirect would be built from the Host header, and might send a key over plain http
    )
    app.state.memory = memory
    app.state.options = server_options
    app.state.keys = keys
    app.state.settings = settings
    app.state.services = list[Service]()
    app.state.shapes = model_apis.SHAPES
    app.add_middleware(DegradedHeader, memory=memory)
    app.add_middleware(Door, options=server_options, keys=keys)
    app.add_middleware(RequestGuard)
    if server_options.origins:
        app.add_middleware(OriginMiddleware, origins=server_options.origins)
    app.add_middleware(RequestObserver, telemetry=telemetry)
    for kind in (EverwordError, Problem, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, handle_error)
    # Not by `include_router`, which reads the signature of every route again: our routers add nothing to their routes.
    app.router.routes.extend(route for router in ROUTERS for route in router.routes)
    mcp.mount(app)
    web.prepare(app)
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    memory: MemoryEngine = app.state.memory
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(memory)
        for service in app.state.services:
            await stack.enter_async_context(service())
        yield


# Those that are called most first: to find its route, a request is compared with each before it.
ROUTERS = (
    conversations.router,
    from_declarations.router,
    conversations.router_of_others,
    health.router,
    documents.router,
    model_apis.router,
    *web.ROUTERS,
)
ABOUT = "Memory for conversational AI: keeps every word, shows the model what matters now, and can say why."

"""How the routes of a router become routes of the application, and how the most used of them read their arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recollect.server.door.access import CALLER_CHECKS

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
JSON = "application/json"


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Serve the routes of a router as they are.

    `include_router` gives them what an application adds (a prefix, tags, dependencies): for that it reads the signature
    of every route again, in each application, at its first request. Ours add nothing, and it took a third of a second.
    """
    app.router.routes.extend(router.routes)


class LeanRoute(APIRoute):
    """A route that reads its arguments itself, if they are no more than a caller, ids in the path and a body of JSON:
    FastAPI takes longer for that than for all else. The fields are FastAPI's own, so they mean the same; a request that
    does not fit them, or is unusual, is left to FastAPI, which tells what is wrong."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        read = argument_reader(self)
        endpoint: Callable[..., Awaitable[Response]] = self.endpoint
        if read is None:
            return handle

        async def handle_lean(request: Request) -> Response:
            arguments = await read(request)
            return await (handle(request) if arguments is None else endpoint(**arguments))

        return handle_lean


def argument_reader(route: APIRoute) -> Callable[[Request], Awaitable[dict[str, Any] | None]] | None:
    """What reads the arguments of a route from a request, or returns None if FastAPI is to read them. None for a route
    that has arguments of other kinds."""
    dependant = route.dependant
    checks = {dependency.name: dependency.call for dependency in dependant.dependencies}
    others = (*dependant.query_params, *dependant.header_params, *dependant.cookie_params)
    has_context = dependant.request_param_name or dependant.response_param_name
    if others or has_context or len(dependant.body_params) != 1 or not CALLER_CHECKS.issuperset(checks.values()):
        return None
    body_field = dependant.body_params[0]

    async def read(request: Request) -> dict[str, Any] | None:
        if request.headers.get("content-type") != JSON:
            return None
        try:
            body = await request.json()
        except HTTPException:
            raise
        except Exception:  # noqa: BLE001  FastAPI reads the same body, and tells what is wrong with it
            return None
        arguments = dict[str, Any]()
        values = [(field, request.path_params.get(field.alias)) for field in dependant.path_params]
        for field, value in (*values, (body_field, body)):
            arguments[field.name], errors = field.validate(value, {}, loc=())
            if errors:
                return None
        for name, check in checks.items():  # last, and only here: FastAPI checks the callers of what is left to it
            if name and check:
                arguments[name] = await check(request, None)
        return arguments

    return read

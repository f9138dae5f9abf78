"""How the routes of a router become routes of the application, and how the most used of them read their arguments."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from recollect.server.door.access import CALLER_CHECKS

JSON = b"application/json"


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

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self._read_arguments = argument_reader(self)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._read_arguments is None or scope["method"] not in (self.methods or ()) or not has_plain_json(scope):
            await super().handle(scope, receive, send)
            return
        body = await read_body(receive)
        receive = receive if body is None else receive_again(body, receive)
        arguments = None if body is None else await self._read_arguments(Request(scope, receive), body)
        if arguments is None:
            await super().handle(scope, receive, send)
            return
        response: Response = await self.endpoint(**arguments)
        await response(scope, receive, send)


def has_plain_json(scope: Scope) -> bool:
    """Whether a request says that its body is JSON, and no more about it."""
    return [value for name, value in scope["headers"] if name == b"content-type"] == [JSON]


async def read_body(receive: Receive) -> bytes | None:
    """The body of a request; None if the client has gone before it came."""
    message = await receive()
    parts: list[bytes] = [message.get("body", b"")]
    while message.get("more_body", False):
        message = await receive()
        parts.append(message.get("body", b""))
    return b"".join(parts) if message["type"] == "http.request" else None


def receive_again(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read before, and then what follows it."""
    has_body = True

    async def receive_next() -> Message:
        nonlocal has_body
        if not has_body:
            return await receive()
        has_body = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_next


ArgumentReader = Callable[[Request, bytes], Awaitable[dict[str, Any] | None]]


def argument_reader(route: APIRoute) -> ArgumentReader | None:
    """What reads the arguments of a route from a request and its body, or returns None if FastAPI is to read them. None
    for a route that has arguments of other kinds."""
    dependant = route.dependant
    checks = {dependency.name: dependency.call for dependency in dependant.dependencies}
    others = (*dependant.query_params, *dependant.header_params, *dependant.cookie_params)
    has_context = dependant.request_param_name or dependant.response_param_name
    if others or has_context or len(dependant.body_params) != 1 or not CALLER_CHECKS.issuperset(checks.values()):
        return None
    body_field = dependant.body_params[0]

    async def read(request: Request, body: bytes) -> dict[str, Any] | None:
        try:
            json_body = json.loads(body)  # within the limits that the door has checked
        except (ValueError, RecursionError):  # FastAPI reads the same body, and tells what is wrong with it
            return None
        arguments = dict[str, Any]()
        values = [(field, request.path_params.get(field.alias)) for field in dependant.path_params]
        for field, value in (*values, (body_field, json_body)):
            arguments[field.name], errors = field.validate(value, {}, loc=())
            if errors:
                return None
        for name, check in checks.items():  # last, and only here: FastAPI checks the callers of what is left to it
            if name and check:
                arguments[name] = await check(request, None)
        return arguments

    return read

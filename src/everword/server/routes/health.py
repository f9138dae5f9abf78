"""The server as a whole: alive, ready, metrics, and its description (OpenAPI), with every route's errors and scopes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from fastapi.routing import iter_route_contexts

from everword.errors import EverwordError, MachineAway, StoreBusy
from everword.log.access import Access
from everword.log.operation_declarations import OPERATIONS, RIGHTS, Operation
from everword.memory.memory import MemoryEngine
from everword.server import MULTIPROCESS
from everword.server.access import CHECKED_OPERATIONS, access_for
from everword.server.problems import MEDIA, Problem, problem_of
from everword.server.routes.shapes import DESCRIPTIONS, ProblemOut, describe_argument

LONGEST_LOOK = 5.0  # seconds: a readiness check must not wait as long as a request does

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def alive(request: Request) -> dict[str, str | int]:
    """Check that the server process answers. `/healthz` does not check the store (the database), because restarting the
    server would not repair the store. While the server buffers messages in RAM (setting `hold_messages`), the answer
    has the status "degraded", the number of buffered messages and the reason. Do not restart a server that is
    "degraded": a restart would lose the buffered messages."""
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
    """Check whether this server can handle requests: the store (the database) must answer. If the store does not
    answer, the status is 503. If one machine of a Citus cluster is down, the server is still ready, because it serves
    the spaces on the other machines. The answer of `/readyz` gives no details, because `/readyz` needs no API key."""
    memory: MemoryEngine = request.app.state.memory
    try:
        async with asyncio.timeout(LONGEST_LOOK):
            await memory.conversations(limit=1)
    except MachineAway:
        pass
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
    """Get metrics (counts and timings) of all worker processes of this server, in Prometheus format. The metrics
    identify no person."""
    access.check_unbound()
    from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = REGISTRY
    if os.environ.get(MULTIPROCESS):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


# -- the description of the API

PROBLEMS: dict[str, str] = DESCRIPTIONS["problems"]
METHODS = ("get", "put", "post", "delete", "patch")


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        tags = [{"name": name, "description": about} for name, about in DESCRIPTIONS["groups"].items()]
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=tags
        )
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        for item in document["paths"].values():
            for method in METHODS:
                if method in item:
                    add_problems(item[method]["responses"])
        add_scopes(app, document)
        app.openapi_schema = document
    return app.openapi_schema


def add_scopes(app: FastAPI, document: dict[str, Any]) -> None:
    """Say of every route which scopes it needs, and what its arguments are."""
    for route, operation in checked_operations(app).items():
        method, path = route.split(" ", 1)
        description = document["paths"].get(path, {}).get(method.lower())
        if description is not None:
            names = " and ".join(f"`{right}`" for right in RIGHTS if right in OPERATIONS[operation].rights)
            noun = "scopes" if " and " in names else "scope"
            text = f"{description.get('description', '')}\n\nThe API key needs the {noun} {names}."
            description["description"] = text.strip()
            describe_arguments(OPERATIONS[operation], description, document["components"]["schemas"])


def describe_arguments(operation: Operation, description: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Describe the arguments of a route that is written by hand as those of its method are."""
    arguments = {argument["name"]: argument for argument in description.get("parameters", ())}
    body = description.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    arguments |= schemas.get(body.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    for name, argument in arguments.items():
        argument.setdefault("description", describe_argument(operation, name))


def checked_operations(app: FastAPI) -> dict[str, str]:
    """The operation that each route checks: "GET /v1/space" checks `space`. Those that are open to everybody are not
    there."""
    return {
        f"{method} {route.path_format}": operation
        for route in iter_route_contexts(app.routes)
        for operation in operations_checked_by(getattr(route, "dependant", None))
        for method in route.methods or ()
    }


def operations_checked_by(dependant: Any) -> Iterator[str]:
    for dependency in () if dependant is None else dependant.dependencies:
        if dependency.call in CHECKED_OPERATIONS:
            yield CHECKED_OPERATIONS[dependency.call]
        yield from operations_checked_by(dependency)


def add_problems(responses: dict[str, Any]) -> None:
    """Add the problems that every route may answer; if a route declares another shape for one, all get that shape."""
    route_content = next(
        (response["content"] for status, response in responses.items() if status in PROBLEMS and status != "422"), None
    )
    for status, about in PROBLEMS.items():
        content = route_content or {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        if status == "422" or status not in responses:
            responses[status] = {"description": about, "content": content}

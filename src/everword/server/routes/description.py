"""The API's description (OpenAPI), complete: every route's errors as problem documents, and the scopes it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from everword.log.operations import OPERATIONS, RIGHTS
from everword.server.door.access import CHECKED_OPERATIONS
from everword.server.problems import MEDIA
from everword.server.routes.shapes import ProblemOut

PROBLEMS = {
    "400": "The request cannot be read, or does not say which space it is about.",
    "401": "There is no key, or it opens nothing.",
    "403": "The key does not open this.",
    "404": "There is no such thing in this space.",
    "409": "Something else is under way, or not yet done: try again.",
    "410": "What the cursor names is gone: begin the list again.",
    "412": "What you have read has changed since: read it again.",
    "413": "The body is larger than the key allows.",
    "415": "The body is not sent as JSON.",
    "422": "A value breaks a rule; `errors` says which.",
    "429": "Too many requests; `Retry-After` says when to come again.",
    "500": "The server failed; its log says why.",
    "501": "The server lacks an optional package for this.",
    "502": "A model or the embedder failed.",
    "503": "No model is configured, or the store or a model is busy: try again.",
    "504": "A model did not answer in time.",
}
METHODS = ("get", "put", "post", "delete", "patch")


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
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
    """Say of every route which scopes it needs."""
    for route, operation in checked_operations(app).items():
        method, path = route.split(" ", 1)
        description = document["paths"].get(path, {}).get(method.lower())
        if description is not None:
            names = " and ".join(f"`{right}`" for right in RIGHTS if right in OPERATIONS[operation].rights)
            noun = "scopes" if " and " in names else "scope"
            text = f"{description.get('description', '')}\n\nNeeds the {noun} {names}."
            description["description"] = text.strip()


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


TAGS = [
    {"name": "conversations", "description": "What was said, contexts, replies."},
    {"name": "topics", "description": "What a conversation is about."},
    {"name": "people", "description": "What is known of people, and their rights to it."},
    {"name": "spaces", "description": "Finding, digests, and keeping order."},
    {"name": "documents", "description": "What programs keep under keys of their own."},
    {"name": "moves", "description": "Conversations and people under other names."},
    {"name": "operations", "description": "How the server is."},
]

"""The API's description as a page, from the same document as `/openapi.json`: it needs no key, and no other server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse, Response

from recollect.server.web.pages import HEADERS, environment
from recollect.server.web.session import DOCS
from recollect.server.web.sign_in import nobody

METHODS = ("get", "post", "put", "patch", "delete")
INDENT = 2

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a route, and where it goes."""

    name: str
    place: str
    kind: str
    is_required: bool
    about: str


@dataclass(frozen=True, slots=True)
class DescribedRoute:
    """A route: its method and path, what it does, what it takes, and what it answers with."""

    method: str
    path: str
    anchor: str
    about: str
    parameters: tuple[Parameter, ...]
    body: str
    example: str
    answer: str


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type that a schema describes, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        kinds = [kind_of(option) for option in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null") or "null"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def content_of(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a body or an answer that is JSON."""
    for media, content in part.get("content", {}).items():
        if "json" in media:
            schema: Mapping[str, Any] = content.get("schema", {})
            return schema
    return {}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    definition = schemas.get(kind_of(schema), {})
    examples = definition.get("examples") or ([definition["example"]] if "example" in definition else [])
    return json.dumps(examples[0], ensure_ascii=False, indent=INDENT) if examples else ""


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, DescribedRoute]]:
    """Every route with its tag."""
    schemas = document.get("components", {}).get("schemas", {})
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield item[method].get("tags", ["other"])[0], describe(path, method, item[method], schemas)


def describe(path: str, method: str, route: Mapping[str, Any], schemas: Mapping[str, Any]) -> DescribedRoute:
    body = content_of(route.get("requestBody", {}))
    answer = content_of(route.get("responses", {}).get("200", {}))
    parameters = tuple(
        Parameter(
            parameter["name"],
            parameter["in"],
            kind_of(parameter.get("schema", {})),
            parameter.get("required", False),
            parameter.get("description", ""),
        )
        for parameter in route.get("parameters", ())
    )
    anchor = f"{method}-{path}".replace("/", "-").replace("{", "").replace("}", "")
    return DescribedRoute(
        method.upper(),
        path,
        anchor,
        route.get("description", route.get("summary", "")),
        parameters,
        kind_of(body) if body else "",
        example_of(body, schemas),
        kind_of(answer) if answer else "",
    )


def build_reference(app: FastAPI, values: Mapping[str, Any]) -> str:
    document = app.openapi()
    groups: dict[str, list[DescribedRoute]] = {}
    for tag, operation in operations_of(document):
        groups.setdefault(tag, []).append(operation)
    about = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
    return environment().get_template("reference.html").render(groups=groups, about=about, **values)


@router.get(DOCS)
async def show_reference(request: Request) -> Response:
    """The page, made once: anybody may ask for it."""
    state = request.app.state
    if not hasattr(state, "reference"):
        state.reference = await asyncio.to_thread(build_reference, request.app, {"view": nobody(request)})
    return HTMLResponse(state.reference, headers=HEADERS)

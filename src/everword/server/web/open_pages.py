"""Pages that need no session: signing in with an API key, and out again; the files that pages use; the reference."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.params import Query
from starlette.responses import FileResponse, HTMLResponse, Response

from everword.errors import StoreError
from everword.log.access import Access
from everword.server.keys import COOKIE, DOCS, LASTS, OVERVIEW, PAGES, SIGN_IN, SIGN_OUT, Keys, Session, Sessions
from everword.server.problems import Problem, problem_of
from everword.server.rates import SignIns
from everword.server.web.pages import FOLDER, HEADERS, Form, PageView, environment, html_response, redirect

MAX_NEXT = 2_000  # characters
YEAR = 31_536_000  # seconds
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
TOO_MANY = "Too many keys were wrong. Try again in {seconds} seconds."
WRONG = "This key is not valid: it is unknown, revoked or expired."
HALF_SIGNED_OUT = (
    "This browser has forgotten the session, but the store could not note its end: until it is over, a copy of the "
    "cookie would still open the pages. Revoke the key if somebody may have one."
)
ASSET = re.compile(r"[a-z0-9.-]{1,64}", re.IGNORECASE)

router = APIRouter(include_in_schema=False)
NextPage = Annotated[str, Query(alias="next", max_length=MAX_NEXT)]
METHODS = ("get", "post", "put", "patch", "delete")
INDENT = 2


def own_path(path: str) -> str:
    """A path of the dashboard to go on to; whatever else was given, the overview."""
    is_own = path == OVERVIEW or path.startswith((PAGES, "/?"))
    return path if is_own and not path.startswith(SIGN_OUT) and path.isprintable() else OVERVIEW


def nobody(request: Request) -> PageView:
    return PageView(request, Access("", frozenset(), frozenset()), "")


@router.get(SIGN_IN)
async def show_sign_in(request: Request, next_page: NextPage = "") -> Response:
    if request.app.state.keys is None:  # everybody is let in
        return redirect(OVERVIEW)
    return html_response("sign_in.html", view=nobody(request), next_page=own_path(next_page), problem="")


@router.post(SIGN_IN)
async def sign_in(request: Request, form: Form) -> Response:
    """Begin a session with the key that was typed."""
    keys: Keys | None = request.app.state.keys
    next_page = own_path(form.text("next")[:MAX_NEXT])
    if keys is None:
        return redirect(next_page)
    sign_ins: SignIns = request.app.state.sign_ins
    attempt = sign_ins.begin_attempt("" if request.client is None else request.client.host)
    if attempt.wait:
        seconds = math.ceil(attempt.wait)
        problem = TOO_MANY.format(seconds=seconds)
        response = html_response("sign_in.html", 429, view=nobody(request), next_page=next_page, problem=problem)
        response.headers["Retry-After"] = str(seconds)
        return response
    try:
        key = await keys.find_key(form.text("key"))
    except StoreError as error:
        sign_ins.succeed(attempt)  # nobody knows whether it was wrong
        raise problem_of(error) from None
    if key is None:
        return html_response("sign_in.html", 401, view=nobody(request), next_page=next_page, problem=WRONG)
    sign_ins.succeed(attempt)
    sessions = Sessions(request.app.state.options.session_secret)
    session = sessions.begin(key.id, keys.now())
    response = redirect(next_page)
    response.set_cookie(
        COOKIE,
        sessions.cookie_value(session),
        max_age=int(LASTS.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.post(SIGN_OUT)
async def sign_out(request: Request, form: Form) -> Response:
    """End the session: its cookie opens nothing any more, whoever has kept it."""
    keys: Keys | None = request.app.state.keys
    session: Session | None = request.scope.get("session")
    response = redirect(SIGN_IN)
    if keys is not None and session is not None:
        try:
            await keys.end_session(session)
        except StoreError:
            view = nobody(request)
            response = html_response("sign_in.html", 503, view=view, next_page=OVERVIEW, problem=HALF_SIGNED_OUT)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


@router.get("/web/static/{name}")
async def asset(request: Request, name: str) -> Response:
    """A file that pages use: our own, and those of others as they were published."""
    kind = KINDS.get(PurePosixPath(name).suffix)
    path = FOLDER / "static" / name
    if kind is None or not ASSET.fullmatch(name) or not path.is_file():
        raise Problem(404, "not_found", "there is no such file")
    headers = {**HEADERS, "Cache-Control": f"public, max-age={YEAR}, immutable", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(path, headers=headers, media_type=kind)
    return Response(compress_file(path), headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)


def compress_file(path: Path) -> bytes:
    """A file as it is sent. Pages are not compressed: their size would tell what is beside a secret token."""
    return gzip.compress(path.read_bytes(), mtime=0)


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


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every route with its tag."""
    schemas = document.get("components", {}).get("schemas", {})
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield item[method].get("tags", ["other"])[0], describe(path, method, item[method], schemas)


def describe(path: str, method: str, route: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """A route: its method and path, what it does, what it takes, and what it answers with."""
    body = content_of(route.get("requestBody", {}))
    answer = content_of(route.get("responses", {}).get("200", {}))
    return {
        "method": method.upper(),
        "path": path,
        "anchor": f"{method}-{path}".replace("/", "-").replace("{", "").replace("}", ""),
        "about": route.get("description", route.get("summary", "")),
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "kind": kind_of(parameter.get("schema", {})),
                "is_required": parameter.get("required", False),
                "about": parameter.get("description", ""),
            }
            for parameter in route.get("parameters", ())
        ],
        "body": kind_of(body) if body else "",
        "example": example_of(body, schemas),
        "answer": kind_of(answer) if answer else "",
    }


def build_reference(app: FastAPI, values: Mapping[str, Any]) -> str:
    document = app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
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

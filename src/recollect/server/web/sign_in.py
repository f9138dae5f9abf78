"""Signing in with an API key, and out again; and the files that pages use."""

from __future__ import annotations

import gzip
import math
import re
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.params import Query
from starlette.responses import FileResponse, Response

from recollect.errors import StoreError
from recollect.log.access import Access
from recollect.server.door.keys import Keys
from recollect.server.door.sign_ins import SignIns
from recollect.server.problems import Problem, problem_of
from recollect.server.web.forms import Form
from recollect.server.web.pages import FOLDER, HEADERS, PageView, html_response, redirect
from recollect.server.web.session import COOKIE, LASTS, OVERVIEW, PREFIX, SIGN_IN, SIGN_OUT, Session, Sessions

MAX_NEXT = 2_000  # characters
YEAR = 31_536_000  # seconds
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
TOO_MANY = "Too many keys were wrong. Try again in {seconds} seconds."
WRONG = "This key opens nothing: it is unknown, revoked or expired."
HALF_SIGNED_OUT = (
    "This browser has forgotten the session, but the store could not note its end: until it is over, a copy of the "
    "cookie would still open the pages. Revoke the key if somebody may have one."
)
ASSET = re.compile(r"[a-z0-9.-]{1,64}", re.IGNORECASE)

router = APIRouter(include_in_schema=False)
NextPage = Annotated[str, Query(alias="next", max_length=MAX_NEXT)]


def own_path(path: str) -> str:
    """A path of the dashboard to go on to; whatever else was given, the overview."""
    is_own = path == OVERVIEW or path.startswith((PREFIX, "/?"))
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


@cache
def compress_file(path: Path) -> bytes:
    """A file as it is sent. Pages are not compressed: their size would tell what is beside a secret token."""
    return gzip.compress(path.read_bytes(), mtime=0)

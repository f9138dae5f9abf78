"""Who may enter, and where they are then.

Every request passes the door first: it reads the key, counts the request, and bounds the body. Without a key nothing
is open but what says how the server is; with auth off, which only a server on loopback may have, everybody is
anonymous. A route says which right it needs by `may("read")`, or by `at("read")` for the space it is about too. What
comes of a key is an `Access` (`rules.access`), which decides: a key of one space never opens another, and one that is
bound to a user opens that user's memory alone.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPBearer
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.engine.memory import MemoryEngine
from recollect.errors import RecollectError
from recollect.rules.access import Access
from recollect.rules.log import MAX_ID
from recollect.server.door import loopback
from recollect.server.door.keys import Key, Keys
from recollect.server.door.rates import Rates
from recollect.server.options import ServerOptions
from recollect.server.problems import Problem, problem_of, response_of

PUBLIC = ("/healthz", "/readyz", "/openapi.json")
ANONYMOUS = "anonymous"
LOOKED_AT = frozenset((b"authorization", b"content-length")) | loopback.LOOKED_AT
ONCE = frozenset((b"authorization", b"host", b"origin"))  # of two, somebody else may mean the other
SLASH = "\x1f"  # stands for a slash inside an id, which can hold no control character
NO_KEY = "there is no key, or it opens nothing; send `Authorization: Bearer rk_…` (`recollect keys create` makes one)"
TOO_SLOW = "the body did not come in time; send it at once, or less of it"

bearer = HTTPBearer(auto_error=False, description="A key, as `recollect keys create` shows it.")


@dataclass(frozen=True, slots=True)
class Here:
    """What a route works with: the memory, who asks, and in which space."""

    memory: MemoryEngine
    access: Access
    space: str
    request: Request


def access_of(request: Request) -> Access:
    access: Access | None = request.scope.get("access")
    if access is None:
        raise Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
    return access


def may(scope: str) -> Any:
    """A dependency: who asks, if they have this right."""

    def check(request: Request, _: Annotated[Any, Depends(bearer)]) -> Access:
        access = access_of(request)
        access.check_right(scope)
        return access

    return Depends(check)


LENGTH: dict[str, Any] = {"minLength": 1, "maxLength": MAX_ID}
Named = Annotated[
    str | None,
    Header(alias="X-Recollect-Space", description="The space; nothing crosses it.", json_schema_extra=LENGTH),
]
Asked = Annotated[
    str | None,
    Query(alias="space", description="The space, if the header does not name it.", json_schema_extra=LENGTH),
]


def space_named(request: Request) -> str | None:
    """The space a request names, if any. An empty name is wrong, and not none: whose header was left empty by mistake
    does not mean the space that is used without. Nor may it name two: which one counts is not to be guessed, since
    whoever passes a request on may have added theirs to the caller's."""
    headers, query = request.headers.getlist("X-Recollect-Space"), request.query_params.getlist("space")
    names = {*map(spelt, headers), *query}
    if len(names) > 1:
        raise Problem(400, "which_space", "the header X-Recollect-Space and the query `space` differ: name one space")
    return next(iter(names), None)


def spelt(header: str) -> str:
    """A header's text: UTF-8 as most programs send it, or Latin-1, as which it was read."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def at(scope: str) -> Any:
    """A dependency: where the caller is, if they have this right in that space."""

    entering = may(scope)

    def check(request: Request, access: Access = entering, _: Named = None, __: Asked = None) -> Here:
        return Here(request.app.state.memory, access, access.space(space_named(request)), request)

    return Depends(check)


Reading = Annotated[Here, at("read")]
Writing = Annotated[Here, at("write")]
Governing = Annotated[Here, at("admin")]


class Door:
    """The first thing a request meets: key, rate, size."""

    def __init__(self, app: ASGIApp, options: ServerOptions, keys: Keys | None) -> None:
        self._app, self._options, self._keys = app, options, keys
        self._rates = Rates(options.burst, options.rates)
        self._anonymous = Access(ANONYMOUS, home=options.space)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            keep_slashes(scope)
            limit = await self._enter(scope)
        except (Problem, RecollectError) as error:
            await response_of(problem_of(error), scope)(scope, receive, send)
            return
        await self._app(scope, bounded(receive, limit, self._options), send)

    async def _enter(self, scope: Scope) -> int:
        """Let a request in: note who it is in the scope. Returns how long its body may be."""
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in ONCE and name in headers:
                raise Problem(400, "bad_request", f"there are two headers {name.decode()!r}: send one")
            if name in LOOKED_AT:
                headers[name] = value
        if self._keys is None and (refused := loopback.refusal(headers, self._options.origins)) is not None:
            raise Problem(403, *refused)
        if scope["path"] in PUBLIC:  # whoever asks; the store, which has the keys, may be away
            return self._options.body
        access, key = await self._access(headers.get(b"authorization", b"").decode("latin-1"))
        if access is None:
            raise Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
        scope["access"] = access
        limit = self._options.body if key is None or key.body is None else key.body
        rate = self._options.rate if key is None or key.rate is None else key.rate
        wait = self._rates.take(access.key_id, rate)
        if wait:
            again = {"Retry-After": str(math.ceil(wait))}
            raise Problem(429, "too_many", f"more than {rate} requests a minute; come again later", headers=again)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            raise too_large(limit)
        return limit

    async def _access(self, given: str) -> tuple[Access | None, Key | None]:
        if self._keys is None:
            return self._anonymous, None
        kind, _, text = given.partition(" ")
        key = await self._keys.opened_by(text.strip()) if kind.lower() == "bearer" else None
        if key is None:
            return None, None
        spaces = frozenset(key.spaces) if key.spaces else None
        return Access(key.id, spaces, frozenset(key.scopes), key.user, self._options.space), key


def too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit:,} bytes; send less at a time")


def bounded(receive: Receive, limit: int, options: ServerOptions) -> Receive:
    """The body as it comes, up to a limit: what does not say its length is counted, and what does not come in time is
    not waited for. What is raised is in the one form that FastAPI lets pass while it reads a body."""
    began = asyncio.get_running_loop().time()
    seen, more = 0, True

    def latest() -> float:
        """Until when the next part must be there."""
        least = options.body_idle + seen / options.body_rate if options.body_rate else math.inf
        return min(asyncio.get_running_loop().time() + options.body_idle, began + min(least, options.body_seconds))

    async def counted() -> Message:
        nonlocal seen, more
        if not more:  # what comes now is that the caller has gone, which nobody hurries
            return await receive()
        try:
            async with asyncio.timeout_at(latest()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, headers={"Connection": "close"}) from None
        seen += len(message.get("body", b""))
        more = message.get("more_body", False)
        if seen > limit:
            raise HTTPException(413, too_large(limit).detail)
        return message

    return counted


def keep_slashes(scope: Scope) -> None:
    """A slash that was written %2F belongs to an id, and does not part the path."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%1f" in raw.lower():  # which stands for that slash from here on
        raise Problem(422, "invalid_input", "the path contains a control character")
    if b"%2f" in raw.lower():
        parts = raw.decode("ascii", "replace").split("/")
        scope["path"] = "/".join(unquote(part).replace("/", SLASH) for part in parts)


class Id(Convertor[str]):
    """An id in a path: `{id:id}`."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return value.replace(SLASH, "/")

    def to_string(self, value: str) -> str:
        return value


class Ids(Id):
    """The rest of a path as one id, whether its slashes are written as such or as %2F: `{name:ids}`."""

    regex = ".*"


register_url_convertor("id", Id())
register_url_convertor("ids", Ids())

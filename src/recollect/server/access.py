"""Who may enter, and where they are then.

Every request passes the door first: it reads the key, counts the request, and bounds the body. Without a key nothing
is open but what says how the server is; with auth off, which only a server on loopback may have, everybody is the
anonymous caller. A route says which right it needs by `may("read")`, or by `at("read")` for the space it is about too;
a key of one space never opens another, and one that is bound to a user opens that user's memory alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPBearer
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.engine.memory import MemoryEngine
from recollect.errors import StoreError
from recollect.rules.log import checked_id
from recollect.server.keys import SCOPES, Key, Keys
from recollect.server.limits import Buckets
from recollect.server.options import ServerOptions
from recollect.server.problems import Problem, problem_of, response_of

PUBLIC = ("/healthz", "/readyz", "/openapi.json")
ANONYMOUS = "anonymous"
LOOKED_AT = (b"authorization", b"content-length", b"host")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")
SLASH = "\x1f"  # stands for a slash inside an id, which can hold no control character
NO_KEY = "there is no key, or it opens nothing; send `Authorization: Bearer rk_…` (`recollect keys create` makes one)"

bearer = HTTPBearer(auto_error=False, description="A key, as `recollect keys create` shows it.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: by which key, for which spaces (None: all), with which rights, and for which user if for one."""

    key_id: str
    spaces: frozenset[str] | None
    scopes: frozenset[str]
    user: str | None = None
    home: str = "default"

    def space(self, name: str | None = None) -> str:
        """The space that is meant, if this caller may enter it: the one named, or else the key's own."""
        if name is None:
            if self.spaces is not None and self.home not in self.spaces:
                if len(self.spaces) != 1:
                    raise Problem(400, "which_space", "this key opens several spaces: name one with X-Recollect-Space")
                return next(iter(self.spaces))
            return self.home
        checked_id("space", name)
        if self.spaces is not None and name not in self.spaces:
            raise Problem(403, "not_your_space", "this key does not open that space")
        return name

    def allow(self, scope: str) -> None:
        if scope not in self.scopes:
            has = ", ".join(sorted(self.scopes)) or "none"
            raise Problem(403, "scope", f"this needs a key with the scope {scope!r}; this one has {has}")

    def person(self, user: str) -> str:
        """The user that is meant, if this caller may ask about them."""
        if self.user is not None and checked_id("user", user) != self.user:
            raise Problem(403, "not_you", "this key is for one user, and that is another")
        return user

    def own(self, user: str | None) -> str | None:
        """The user that is meant; the caller's own if they name none."""
        return self.user if user is None else self.person(user)

    def everybody(self) -> None:
        """What is about many is not for a key that is one user's."""
        if self.user is not None:
            raise Problem(403, "not_you", "this key is for one user, and this is about all")


@dataclass(frozen=True, slots=True)
class Here:
    """What a route works with: the memory, who asks, and in which space."""

    memory: MemoryEngine
    caller: Caller
    space: str
    request: Request


def caller_of(request: Request) -> Caller:
    found: Caller | None = request.scope.get("caller")
    if found is None:
        raise Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
    return found


def may(scope: str) -> Any:
    """A dependency: the caller, if they have this right."""

    def check(request: Request, _: Annotated[Any, Depends(bearer)]) -> Caller:
        caller = caller_of(request)
        caller.allow(scope)
        return caller

    return Depends(check)


Named = Annotated[str | None, Header(alias="X-Recollect-Space", description="The space; nothing crosses it.")]
Asked = Annotated[str | None, Query(alias="space", description="The space, if the header does not name it.")]


def at(scope: str) -> Any:
    """A dependency: where the caller is, if they have this right in that space."""

    entering = may(scope)

    def check(request: Request, caller: Caller = entering, named: Named = None, asked: Asked = None) -> Here:
        return Here(request.app.state.memory, caller, caller.space(named or asked), request)

    return Depends(check)


Reading = Annotated[Here, at("read")]
Writing = Annotated[Here, at("write")]
Governing = Annotated[Here, at("admin")]


class Door:
    """The first thing a request meets: key, rate, size."""

    def __init__(self, app: ASGIApp, options: ServerOptions, keys: Keys | None) -> None:
        self._app, self._options, self._keys = app, options, keys
        self._buckets = Buckets(options.burst)
        self._anonymous = Caller(ANONYMOUS, None, frozenset(SCOPES), home=options.space)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            keep_slashes(scope)
            limit = await self._enter(scope)
        except (Problem, StoreError) as error:
            await response_of(problem_of(error), scope)(scope, receive, send)
            return
        await self._app(scope, bounded(receive, limit), send)

    async def _enter(self, scope: Scope) -> int:
        """Let a request in: note who it is in the scope. Returns how long its body may be."""
        headers = {name: value for name, value in scope["headers"] if name in LOOKED_AT}
        caller, key = await self._caller(headers.get(b"authorization", b"").decode("latin-1"))
        scope["caller"] = caller
        limit = self._options.body if key is None or key.body is None else key.body
        if self._keys is None:
            check_host(headers.get(b"host", b"").decode("latin-1"))
        if scope["path"] in PUBLIC:
            return limit
        if caller is None:
            raise Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
        rate = self._options.rate if key is None or key.rate is None else key.rate
        wait = self._buckets.take(caller.key_id, rate)
        if wait:
            again = {"Retry-After": str(max(1, round(wait + 0.5)))}
            raise Problem(429, "too_many", f"more than {rate} requests a minute; come again later", headers=again)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            raise too_large(limit)
        return limit

    async def _caller(self, given: str) -> tuple[Caller | None, Key | None]:
        if self._keys is None:
            return self._anonymous, None
        kind, _, text = given.partition(" ")
        key = await self._keys.opened_by(text.strip()) if kind.lower() == "bearer" else None
        if key is None:
            return None, None
        spaces = frozenset(key.spaces) if key.spaces else None
        return Caller(key.id, spaces, frozenset(key.scopes), key.user, self._options.space), key


def check_host(host: str) -> None:
    """Without keys, only who calls this machine by its own name: a web page can make a name of its own lead here."""
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    if name not in LOOPBACK:
        raise Problem(403, "host", "this server has auth off and answers only to localhost and 127.0.0.1")


def too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit:,} bytes; send less at a time")


class TooLarge(HTTPException):
    """A body that turned out too long; in the one form FastAPI lets pass while it reads a body."""


def bounded(receive: Receive, limit: int) -> Receive:
    """The body as it comes, up to a limit: what does not say its length is counted."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge(413, too_large(limit).detail)
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


register_url_convertor("id", Id())

"""Checks who may call the server, and in which space.

Every request passes the door first: it reads the key, counts the request, and limits the body. Without a key only the
routes in `PUBLIC` are open; with auth off, which only a server on loopback may have, everybody is anonymous. A route
names its operation (`log.operation_declarations`), which says the rights it needs: by `access_for("verify")`, or by
`caller_for("search")` if it also needs the space of the request. A key becomes an `Access` (`log.access`), which
decides: a key of one space never opens another, and a key that is bound to a user opens only that user's memory. A
server without keys answers only requests of this machine (`find_refusal`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from fastapi import Depends, Header, Path, Query, Request
from fastapi.security import HTTPBearer
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everword.errors import EverwordError
from everword.log.access import Access
from everword.log.checks_and_seals import MAX_ID
from everword.log.operation_declarations import OPERATIONS, declare_operations
from everword.memory.memory import SeenMemory
from everword.server import WHOLE_BODY, ServerOptions
from everword.server.keys import (
    IMPORT,
    SIGN_IN_BYTES,
    UPLOAD_BYTES,
    ApiKey,
    Keys,
    Sessions,
    is_open_page,
    is_page,
    read_cookie,
)
from everword.server.problems import Problem, problem_of, problem_response
from everword.server.rates import Rates, SharedRates
from everword.strict_json import UnreadableJson, check_json

LARGE = 1 << 16  # bytes of a body that takes a while to check
PUBLIC = ("/healthz", "/readyz", "/openapi.json")
ANONYMOUS = "anonymous"
PROXY_HEADERS = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip")
ORIGIN_HEADERS = (b"host", b"origin", b"sec-fetch-site")
CHECKED_HEADERS = frozenset(
    (b"authorization", b"x-api-key", b"content-length", b"cookie", *ORIGIN_HEADERS, *PROXY_HEADERS)
)
API_KEY = b"x-api-key"  # where Anthropic's clients send their key
SINGLE_HEADERS = frozenset((b"authorization", API_KEY, b"host", b"origin"))  # of two, another program may use the other
SPACE_HEADER = b"x-everword-space"
SLASH = "\x1f"  # stands for a slash inside an id, which can hold no control character
NO_KEY = "the API key is missing or not valid; send `Authorization: Bearer rk_…` (`everword keys create` makes a key)"
SIGNED_OUT = "you are signed out, or your key is no longer valid: sign in again"
TOO_SLOW = "the body did not arrive in time; send it faster, or send less"

# What only a server has.
declare_operations("read", "nothing", "space models")
declare_operations("read", "request", "embeddings")
declare_operations("read", "memory", "receipts documents spaces responses")
declare_operations("write", "memory", "chat_completions")
declare_operations("admin", "nothing", "metrics settings")
declare_operations("admin", "memory", "list_keys create_key revoke_key")

bearer = HTTPBearer(auto_error=False, description="An API key, which `everword keys create` shows.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a route: the memory as they see it, their rights, the space, and the request."""

    memory: SeenMemory
    access: Access
    space: str
    request: Request


def access_of(request: Request) -> Access:
    access: Access | None = request.scope.get("access")
    if access is None:
        raise Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
    return access


def access_for(operation: str) -> Any:
    """A dependency: the access of whoever calls, if they may do this. It is asynchronous, as all are: FastAPI would
    run it in a thread, which takes longer than the check."""

    async def check(request: Request, _: Annotated[Any, Depends(bearer)]) -> Access:
        access = access_of(request)
        access.check_operation(operation)
        return access

    CHECKED_OPERATIONS[check] = OPERATIONS[operation].name
    return Depends(check)


CHECKED_OPERATIONS: dict[Callable[..., Any], str] = {}
"""The operation that each of these dependencies checks: what a route needs can be read from its dependencies."""


LENGTH: dict[str, Any] = {"minLength": 1, "maxLength": MAX_ID}
SpaceHeader = Annotated[
    str | None,
    Header(alias="X-Everword-Space", description="The space (separate memory) to use.", json_schema_extra=LENGTH),
]
SpaceQuery = Annotated[
    str | None,
    Query(
        alias="space",
        description="The space to use, if the header `X-Everword-Space` names none.",
        json_schema_extra=LENGTH,
    ),
]


PathSpace = Annotated[str, Path(alias="id", description="The space.", max_length=256)]


def space_of_request(request: Request) -> str | None:
    """The space a request names, if any. An empty name is an error, and does not mean the default space: the header may
    have been left empty by mistake. Two different names are an error, too: a proxy may have added its own to the
    caller's, and we do not guess which one counts."""
    headers = [value.decode("latin-1") for name, value in request.scope["headers"] if name == SPACE_HEADER]
    query = request.query_params.getlist("space") if request.scope["query_string"] else []
    if not headers and not query:
        return None
    names = {*map(decode_header, headers), *query}
    if len(names) > 1:
        raise Problem(400, "which_space", "the header X-Everword-Space and the query `space` differ: name one space")
    return next(iter(names), None)


def decode_header(header: str) -> str:
    """A header's text. It was read as Latin-1; most programs send UTF-8."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def caller_for(operation: str) -> Any:
    """A dependency: the caller, if they may do this in the space that the request names. It does not depend on
    `access_for`: FastAPI takes as long to solve a dependency as the check takes."""

    async def check(
        request: Request, _: Annotated[Any, Depends(bearer)], __: SpaceHeader = None, ___: SpaceQuery = None
    ) -> Caller:
        access = access_of(request)
        access.check_operation(operation)
        return caller_of(request, access, access.resolve_space(space_of_request(request)))

    CHECKED_OPERATIONS[check] = OPERATIONS[operation].name
    return Depends(check)


def caller_in_path_space(operation: str) -> Any:
    """A dependency: the caller, if they may do this in the space that the path names."""
    access_check = access_for(operation)

    async def check(request: Request, id: PathSpace, access: Access = access_check) -> Caller:
        return caller_of(request, access, access.resolve_space(id))

    return Depends(check)


def caller_of_all_spaces(operation: str) -> Any:
    """A dependency: the caller, if they may do this, which is about no one space."""
    access_check = access_for(operation)

    async def check(request: Request, access: Access = access_check) -> Caller:
        return caller_of(request, access, access.home)

    return Depends(check)


def caller_of(request: Request, access: Access, space: str) -> Caller:
    return Caller(request.app.state.memory.seen_by(access), access, space, request)


class Door:
    """The first middleware that checks a request: its key, rate and size."""

    def __init__(self, app: ASGIApp, options: ServerOptions, keys: Keys | None) -> None:
        self._app = app
        self._options = options
        self._keys = keys
        self._rates = Rates(options.burst, options.rates)
        self._shared_rates: SharedRates | None = None
        if keys is not None and options.shares_rates:
            self._shared_rates = SharedRates(self._rates, keys.store)
        self._anonymous = Access(ANONYMOUS, home=options.space)
        self._sessions = Sessions(options.session_secret)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            keep_slashes(scope)
            limit = await self._admit(scope)
        except (Problem, EverwordError) as error:
            await problem_response(problem_of(error), scope)(scope, receive, send)
            return
        limited = limit_body(receive, limit, self._options, scope.get(WHOLE_BODY, False))
        await self._app(scope, limited if is_page(scope["path"]) else check_whole_body(limited), send)

    async def _admit(self, scope: Scope) -> int:
        """Let a request in: write its access into the scope. Returns how many bytes its body may have."""
        headers = read_headers_once(scope)
        if self._keys is None and (refusal := find_refusal(headers, self._options.origins)) is not None:
            raise Problem(403, *refusal)
        if scope["path"] in PUBLIC:  # open to everybody: the store, which has the keys, may be away
            return self._options.body
        if is_open_page(scope["path"]):
            return SIGN_IN_BYTES
        access, key = await self._authenticate(scope, headers)
        scope["access"] = access
        usual_limit = max(self._options.body, UPLOAD_BYTES) if scope["path"] == IMPORT else self._options.body
        limit = usual_limit if key is None or key.body is None else key.body
        rate = self._options.rate if key is None or key.rate is None else key.rate
        self._count_request(access.key_id, rate)
        if key is not None:
            self._count_for_makers(key)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            raise too_large(limit)
        return limit

    def _count_for_makers(self, key: ApiKey) -> None:
        """Many keys that one makes share its rate."""
        for maker in key.makers:
            if maker.rate is not None:
                self._count_request(maker.id, maker.rate)

    def _count_request(self, key_id: str, rate: int) -> None:
        """Count a request of a key; raises if that are too many."""
        wait = self._rates.take(key_id, rate)
        if wait:
            retry_headers = {"Retry-After": str(math.ceil(wait))}
            detail = f"more than {rate} requests a minute; come again later"
            raise Problem(429, "too_many", detail, headers=retry_headers)
        if rate and self._shared_rates is not None:
            self._shared_rates.note_use(key_id, rate)

    async def _authenticate(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[Access, ApiKey | None]:
        """Who calls: by the key in the header, or on a page of the dashboard by the session's cookie, and by nothing
        else: a browser sends a cookie for any page that asks it to."""
        if self._keys is None:
            return self._anonymous, None
        if is_page(scope["path"]):
            session = self._sessions.read(read_cookie(headers.get(b"cookie", b"").decode("latin-1")), self._keys.now())
            key = None if session is None else await self._keys.find_key_of(session)
            scope["session"] = session
            refusal = Problem(401, "signed_out", SIGNED_OUT)
        else:
            scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
            if not scheme:
                scheme, token = "bearer", headers.get(API_KEY, b"").decode("latin-1")
            key = await self._keys.find_key(token.strip()) if scheme.lower() == "bearer" else None
            refusal = Problem(401, "no_key", NO_KEY, headers={"WWW-Authenticate": "Bearer"})
        if key is None:
            raise refusal
        spaces = frozenset(key.spaces) if key.spaces else None
        return Access(key.id, spaces, frozenset(key.scopes), key.user, self._options.space), key


def read_headers_once(scope: Scope) -> dict[bytes, bytes]:
    """The headers that say who calls and from where; raises if one that decides is there twice."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in SINGLE_HEADERS and name in headers:
            raise Problem(400, "bad_request", f"there are two headers {name.decode()!r}: send one")
        if name in CHECKED_HEADERS:
            headers[name] = value
    return headers


def too_large(limit: int) -> Problem:
    return Problem(413, "too_large", f"the body is larger than {limit:,} bytes; send less at a time")


def limit_body(receive: Receive, limit: int, options: ServerOptions, is_whole: bool) -> Receive:
    """Receive a body up to a limit: the bytes are counted, since a request need not state its length, and each part
    must come in time, unless the body `is_whole`, which has come already. Errors are raised as `HTTPException`, the one
    form that FastAPI lets pass while it reads a body."""
    began = asyncio.get_running_loop().time()
    size = 0
    has_more = True

    def deadline() -> float:
        """The time by which the next part must be there."""
        by_rate = options.body_idle + size / options.body_rate if options.body_rate else math.inf
        return min(asyncio.get_running_loop().time() + options.body_idle, began + min(by_rate, options.body_seconds))

    async def receive_in_time() -> Message:
        try:
            async with asyncio.timeout_at(deadline()):
                return await receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW, headers={"Connection": "close"}) from None

    async def receive_limited() -> Message:
        nonlocal size, has_more
        if not has_more:  # the next message is the disconnect, which has no time limit
            return await receive()
        message = await (receive() if is_whole else receive_in_time())
        size += len(message.get("body", b""))
        has_more = message.get("more_body", False)
        if size > limit:
            raise HTTPException(413, too_large(limit).detail)
        return message

    return receive_limited


def check_whole_body(receive: Receive) -> Receive:
    """Receive a body of JSON, and refuse it at its end if it goes beyond the limits of JSON (`strict_json.LIMITS`):
    every parser behind the door, ours or a library's, gets what it can read."""
    parts: list[bytes] = []

    async def receive_checked() -> Message:
        message = await receive()
        if message["type"] == "http.request":
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                await check_body(b"".join(parts))
                parts.clear()
        return message

    return receive_checked


async def check_body(body: bytes) -> None:
    try:
        if len(body) < LARGE:
            check_json(body)
        else:  # others are answered meanwhile
            await asyncio.to_thread(check_json, body)
    except UnreadableJson as error:
        raise HTTPException(400, f"the request body {error}") from None


def keep_slashes(scope: Scope) -> None:
    """Keep a slash that was written as %2F inside its id: it does not split the path."""
    raw: bytes = scope.get("raw_path") or b""
    if b"%" not in raw:
        return
    if b"%1f" in raw.lower():  # which stands for that slash from here on
        raise Problem(422, "invalid_input", "the path contains a control character")
    if b"%2f" in raw.lower():
        parts = raw.decode("ascii", "replace").split("/")
        scope["path"] = "/".join(unquote(part).replace("/", SLASH) for part in parts)


class IdConvertor(Convertor[str]):
    """An id in a path: `{id:id}`."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return value.replace(SLASH, "/")

    def to_string(self, value: str) -> str:
        return value


class SlashedIdConvertor(IdConvertor):
    """The rest of a path as one id, whether its slashes are written as such or as %2F: `{name:ids}`."""

    regex = ".*"


register_url_convertor("id", IdConvertor())
register_url_convertor("ids", SlashedIdConvertor())

# -- servers without keys

# A server without keys listens on loopback, so only programs of this machine reach it. But a browser is such a program
# and does what any page says, and a proxy is one and passes on requests from elsewhere. So a request must name this
# machine by `localhost` or a loopback address (a page can point a name of its own at it), must not come from a page of
# another origin, and must have no header of a proxy.
MAKE_KEY = "make a key (`everword keys create`) and start the server again"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def find_refusal(headers: Mapping[bytes, bytes], origins: Collection[str]) -> tuple[str, str] | None:
    """Why a request is refused without a key, as a code and a message; None if it is let in."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback(re.sub(r":\d+$", "", host)):
        return "host", "this server has auth off and answers only to localhost and 127.0.0.1"
    if any(name in headers for name in PROXY_HEADERS):
        return "forwarded", f"this server has auth off, and a proxy passed this on from elsewhere; {MAKE_KEY}"
    origin = headers.get(b"origin", b"").decode("latin-1")
    is_foreign = not is_own_origin(origin, origins) if origin else headers.get(b"sec-fetch-site") == b"cross-site"
    if is_foreign:
        return (
            "origin",
            f"this server has auth off and serves no page of elsewhere; name it in server_origins, or {MAKE_KEY}",
        )
    return None


def is_own_origin(origin: str, origins: Collection[str]) -> bool:
    """Whether an origin is this machine, or one of those that may call."""
    if origin in origins or "*" in origins:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False

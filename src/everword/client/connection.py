"""Builds one request to a server, by the declaration of its operation, sends it, retries it, and reads its answer.

What a program passes goes into the path, the query or the body, and the answer becomes a value of the type that the
method returns. A value is checked here only where it could not be sent, or would be sent as another one; the server
checks the rest.

A write carries its own idempotency key, so that it can be sent again after a lost answer and is done once. If what was
lost is also removed meanwhile, that is an `AnswerGone`: the write was done. A problem from the server is raised as the
error that a memory in this process would raise.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args, get_origin
from urllib.parse import quote
from uuid import uuid4

from everword import errors
from everword.errors import EverwordError, InvalidInput, MissingExtra, ServerError
from everword.log.operations import PLACE, Operation
from everword.log.rules import (
    MAX_TURN,
    SURROGATE,
    check_day,
    check_id,
    check_items,
    check_metadata,
    check_number,
    check_time,
    format_expiry,
)
from everword.masking import keep_out_of_texts, keep_password_out_of_texts
from everword.parsing import Limits, read_json
from everword.wire import ERROR_CODES, from_json_value, to_json_value

if TYPE_CHECKING:
    import httpx2


class EditConflict(ServerError):
    """The documents have changed since they were read; nothing was written."""


TRIES = 4
PAUSE = 0.2  # seconds before the second try; then twice as long
AT_WORK = "in_progress"
TRANSIENT = ("store_busy", "too_many", AT_WORK, "unavailable")  # problems that soon pass; a failing model does not
DOTS = {".": "%2E", "..": "%2E%2E"}
HEADER_TEXT = re.compile(r"[\x21-\x7e]*")  # what a header can hold, without spaces
NOT_OURS = "answered as no server of ours of this version would; is the address right?"
ANSWER = Limits(values=20_000_000, size=1 << 30)  # of a server that the program chose
GATEWAY = (502, 503, 504)  # status codes of a proxy before the server
INVALID: dict[str, type[InvalidInput]] = {"invalid_input": InvalidInput, "secret_refused": errors.SecretRefused}
NOT_ALLOWED = ("not_you", "not_your_space", "scope", "no_key")
ERRORS: dict[str, type[EverwordError]] = {
    **{code: kind for code, (kind, _) in ERROR_CODES.items() if code not in (*INVALID, "missing_extra", "unavailable")},
    **dict.fromkeys(NOT_ALLOWED, errors.ScopeError),
    "changed": EditConflict,
}


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The space that a key opens."""

    space: str


@dataclass(frozen=True, slots=True)
class ResultPage:
    """One page of a list, as a server sends it."""

    items: list[Any]
    next: str | None = None
    tag: str = ""


def build_path(*parts: str) -> str:
    """A path of these parts, each quoted, so that no id can change the path: not by a slash, nor by dots."""
    for part in parts:
        if not isinstance(part, str):
            raise InvalidInput("id", f"must be text, not {type(part).__name__}")
    return "/v1/" + "/".join(DOTS.get(part) or quote(part, safe="", errors="replace") for part in parts)


def without_none(**values: Any) -> dict[str, Any]:
    """The values that are not None, as JSON values."""
    try:
        return {name: to_json_value(value) for name, value in values.items() if value is not None}
    except TypeError as error:
        raise InvalidInput("a value", f"cannot be sent: {error}") from None


def check_query(query: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in query.items():
        if isinstance(value, str) and SURROGATE.search(value):
            raise InvalidInput(name, "contains a lone surrogate, which is not text")
    return dict(query)


class ServerConnection:
    """The connection to a server, with its address and a key."""

    def __init__(self, base_url: str, key: str, space: str | None, timeout: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput("base_url", "must begin with http:// or https://")
        if "?" in base_url or "#" in base_url:
            raise InvalidInput("base_url", "must end with the host or a path; leave out what follows ? or #")
        if not isinstance(key, str) or not HEADER_TEXT.fullmatch(key):
            raise InvalidInput("key", "holds what no key does; copy it as `everword keys create` showed it")
        keep_password_out_of_texts(base_url)
        keep_out_of_texts(key)
        self._url = base_url.rstrip("/").removesuffix("/v1")
        self.space = space
        self._timeout = timeout
        self._key = key
        self._home: str | None = None
        self._http: httpx2.AsyncClient | None = None
        self._abandoned: list[httpx2.AsyncClient] = []

    def __repr__(self) -> str:
        return f"<server {self.address}>"

    @property
    def address(self) -> str:
        """The server's URL, without a password in it."""
        scheme, _, location = self._url.partition("://")
        return f"{scheme}://{location.rpartition('@')[2]}"

    def open(self) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra("client", "a client") from None
        if self._http is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=self._timeout)

    def reopen_after_fork(self) -> None:
        """In a forked process: open new connections, and leave those of the parent process untouched."""
        if self._http is not None:
            self._abandoned.append(self._http)
            self._http = None
            self.open()

    async def close(self) -> None:
        http = self._http
        self._http = None
        if http is not None:
            await http.aclose()

    async def ask(
        self,
        kind: Any,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        wait: float = 0.0,
    ) -> Any:
        """Send a request and read the answer as a value of this kind. `wait` is extra time for it, in seconds."""
        import httpx2

        request = self._build_request(method, path, space, query, body, wait)
        deadline = time.monotonic() + self._timeout + wait
        attempt = 0
        while True:
            attempt = attempt + 1
            retry_after = ""
            try:
                response = await self._client.send(request)
            except httpx2.HTTPError as error:
                # A request that timed out would time out again.
                if attempt == TRIES or isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
                    raise unreachable_error(self.address, error) from error
            else:
                if response.is_success:
                    return self.read(kind, response.content)
                code = problem_code(response)
                if code == AT_WORK and time.monotonic() < deadline:
                    attempt -= 1  # the first try goes on there, and its answer is worth waiting for
                elif attempt == TRIES or not is_transient(code, response.status_code):
                    raise parse_error(response.status_code, response.content)
                retry_after = response.headers.get("Retry-After", "")
            has_pause = retry_after.isascii() and retry_after.isdigit()
            await asyncio.sleep(min(float(retry_after), 5.0) if has_pause else PAUSE * 2**attempt / 2)

    async def stream_lines(
        self,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> AsyncIterator[str]:
        """The lines of an answer, as they come. Only a line feed ends a line."""
        import httpx2

        request = self._build_request(method, path, space, query, body, 0.0)
        has_begun = False
        try:
            response = await self._client.send(request, stream=True)
            try:
                if not response.is_success:
                    raise parse_error(response.status_code, await response.aread())
                remainder = b""
                async for data in response.aiter_bytes():
                    has_begun = True
                    *complete_lines, remainder = (remainder + data).split(b"\n")
                    for line in complete_lines:
                        yield line.decode("utf-8", "replace").removesuffix("\r")
                if remainder:
                    yield remainder.decode("utf-8", "replace")
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            if has_begun:
                raise ServerError(f"{self.address} hung up in the middle of an answer") from error
            raise unreachable_error(self.address, error) from error

    def read(self, kind: Any, content: bytes | str) -> Any:
        """An answer as a value of this kind."""
        try:
            return from_json_value(kind, read_json(content, ANSWER))
        except ValueError as error:  # InvalidInput, too: the server's fault, not the caller's
            raise ServerError(f"{self.address} {NOT_OURS}") from error

    def decode(self, kind: Any, value: Any) -> Any:
        """A part of an answer as a value of this kind."""
        try:
            return from_json_value(kind, value)
        except ValueError as error:
            raise ServerError(f"{self.address} {NOT_OURS}") from error

    async def resolve_space(self, space: str | None) -> str:
        """The space of a request: the one named, or the client's, or the one the key opens."""
        target_space = space if space is not None else self.space
        if target_space is not None:
            return check_id("space", target_space)
        if self._home is None:
            self._home = str((await self.ask(KeySpace, "GET", build_path("space"))).space)
        return self._home

    def _build_request(
        self, method: str, path: str, space: str | None, query: Mapping[str, Any] | None, body: Any, wait: float
    ) -> httpx2.Request:
        target_space = space if space is not None else self.space
        # In the query, and not in the header: a header cannot hold every script a space may be named in.
        params = {**check_query(query or {}), **({} if target_space is None else {"space": target_space})}
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        try:
            content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("a value", f"cannot be sent: {error}") from None
        if content is not None:
            headers["Content-Type"] = "application/json"
        return self._client.build_request(
            method, path, params=params, content=content, headers=headers, timeout=self._timeout + wait
        )

    @property
    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            raise EverwordError("this client is not open: use it inside `with` (or `async with`), and not after")
        return self._http


def problem_code(response: httpx2.Response) -> str | None:
    """The code of a problem; None if the answer is not a problem."""
    try:
        return str(read_json(response.content)["code"])
    except (ValueError, TypeError, KeyError):
        return None


def is_transient(code: str | None, status: int) -> bool:
    """Whether a retry in a moment may help."""
    return status in GATEWAY if code is None else code in TRANSIENT


def unreachable_error(url: str, error: Exception) -> ServerError:
    return ServerError(f"{url} did not answer ({type(error).__name__}); is the server running there?")


def parse_error(status: int, content: bytes) -> EverwordError:
    """The error for a problem that a server sent."""
    try:
        problem = read_json(content)
        code = str(problem["code"])
        detail = str(problem["detail"])
    except (ValueError, TypeError, KeyError):
        return ServerError(f"the server answered {status}, and not as one of ours would; is the address right?")
    try:
        field = str(problem["errors"][0]["field"])
        reason = str(problem["errors"][0]["reason"])
    except (TypeError, KeyError, IndexError):
        return ERRORS.get(code, ServerError)(detail)
    if code == "missing_extra":
        return MissingExtra(field, reason)
    kind = INVALID.get(code)
    return ServerError(detail) if kind is None else kind(field.removeprefix("body."), reason)


# -- operations as requests


PAGE = 1_000  # values in one answer
CURRENT = "current"  # in the place of a topic's id: the one that is being talked about
DIGESTS = 60.0  # seconds a server may wait for digests, beyond what an answer may take
LONGEST = 300.0  # seconds that a server may be asked to wait


async def send(
    server: ServerConnection, operation: Operation, values: Mapping[str, Any], space: str | None, user: str | None
) -> Any:
    """Ask a server to do an operation with these values. `user` is whose conversation it is about."""
    values = dict(values)
    if "space" in operation.places:
        values["space"] = await server.resolve_space(space)
    path, query = build_operation_path(operation, values)
    fields = without_none(user=user, **operation.sends)
    for name, value in values.items():
        if value is not None and name not in operation.places:
            fields[name] = encode(operation, name, value)
    seconds = 0.0 if "wait" not in values else fields.get("wait", DIGESTS)
    request: dict[str, Any] = {"space": space, "query": query | fields, "wait": seconds}
    if operation.has_body:
        request |= {"query": query, "body": fields}
    kind = operation.types["return"]
    if operation.page:
        pages = iterate_pages(server, get_args(kind)[0], path, space, request["query"])
        return [value async for value in pages]
    if operation.wrap or kind is type(None):
        answer = await server.ask(dict[str, Any], operation.verb, path, **request)
        return server.decode(kind, answer[operation.wrap]) if operation.wrap else None
    return await server.ask(kind, operation.verb, path, **request)


def build_operation_path(operation: Operation, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The path with its values, and what the query says about them: a message may be named by its turn."""
    parts: list[str] = []
    query: dict[str, Any] = {}
    for part in operation.path.removeprefix("/v1/").split("/"):
        place = PLACE.fullmatch(part)
        if place is None:
            parts.append(part)
            continue
        argument = place[1] or place[2]
        value = values[argument]
        if isinstance(value, int) and int in get_args(operation.types.get(argument)):
            query["by"] = "turn"
            value = str(check_number(argument, value, MAX_TURN))
        elif value is None:
            value = CURRENT
        parts.append(check_id(place[2] if argument == "id" else argument, value))
    return build_path(*parts), query


def encode(operation: Operation, name: str, value: Any) -> Any:
    """A value as it is sent."""
    hint = operation.types[name]
    kinds = get_args(hint) or (hint,)
    if isinstance(value, tuple) and hint is str:  # all further arguments
        return list(value)
    if name == "wait":
        return check_wait(value)
    if name == "metadata":
        return check_metadata(value)
    if get_origin(hint) is Sequence:
        return check_items(name, value)
    if timedelta in kinds:
        return format_expiry(name, value)
    if datetime in kinds:
        return check_time(name, value).isoformat()
    if date in kinds:
        day = check_day(name, value)
        return None if day is None else day.isoformat()
    if hint is bool and not operation.has_body:
        return "true" if value else "false"  # what counts as true in a program does so here
    return without_none(value=value)["value"]


def check_wait(wait: Any) -> float:
    if not (isinstance(wait, int | float) and 0 <= wait < float("inf")):
        raise InvalidInput("wait", f"is {wait!r}; must be a number of seconds, 0 or more")
    return min(float(wait), LONGEST)


async def iterate_pages(
    server: ServerConnection, kind: Any, path: str, space: str | None, query: Mapping[str, Any]
) -> AsyncIterator[Any]:
    """All values of a list, read page by page."""
    cursor: str | None = None
    while True:
        page_query = {**query, **without_none(cursor=cursor, limit=PAGE)}
        page = await server.ask(ResultPage, "GET", path, space=space, query=page_query)
        for value in server.decode(list[kind], page.items):
            yield value
        cursor = page.next
        if cursor is None:
            return

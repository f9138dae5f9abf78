"""One request to a server, and its answer: built, sent, tried again, and read, in one place.

A write carries an idempotency key of its own, so that one whose answer got lost is sent again and done once. A problem
becomes the error it would have been had the memory been here.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from recollect import errors
from recollect.errors import InvalidInput, MissingExtra, RecollectError, ServerError
from recollect.rules.log import SURROGATE, checked_id, checked_time
from recollect.wire import plain, read

if TYPE_CHECKING:
    import httpx2


class Changed(ServerError):
    """What was read has changed since; nothing was done."""


TRIES = 4
PAUSE = 0.2  # seconds before the second try; then twice as long
AT_WORK = "in_progress"
AGAIN = ("store_busy", "too_many", AT_WORK, "unavailable")  # what is over in a moment; a model's trouble is not
DOTS = {".": "%2E", "..": "%2E%2E"}
WRITTEN = re.compile(r"[\x21-\x7e]*")  # what a header can hold, without spaces
NOT_OURS = "answered as no server of ours of this version would; is the address right?"
GATEWAY = (502, 503, 504)  # of whatever stands before the server
ERRORS: dict[str, type[RecollectError]] = {
    "not_found": errors.NotFound,
    "not_yours": errors.ScopeError,
    "not_you": errors.ScopeError,
    "not_your_space": errors.ScopeError,
    "scope": errors.ScopeError,
    "no_key": errors.ScopeError,
    "no_model": errors.NoModel,
    "model_timeout": errors.ModelTimeout,
    "model_refused": errors.ModelRefused,
    "model_busy": errors.ModelBusy,
    "model_spent": errors.ModelSpent,
    "model_nonsense": errors.ModelNonsense,
    "model_failed": errors.ModelError,
    "embedder_failed": errors.EmbedderError,
    "changed": Changed,
    "not_settled": errors.NotSettled,
    "store_busy": errors.StoreBusy,
    "commit_unknown": errors.CommitUnknown,
    "store_locked": errors.StoreLocked,
    "store_closed": errors.StoreClosed,
    "store_unwritable": errors.StoreUnwritable,
    "schema_mismatch": errors.SchemaMismatch,
    "embedder_mismatch": errors.EmbedderMismatch,
    "store_failed": errors.StoreError,
    "config": errors.ConfigError,
}


@dataclass(frozen=True, slots=True)
class SpaceOf:
    """The space that a key opens."""

    space: str


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list, as a server sends it."""

    items: list[Any]
    next: str | None = None
    tag: str = ""


def path_of(*parts: str) -> str:
    """A path of these parts; whatever is in an id stays in it, and one that is all dots leads nowhere else."""
    return "/v1/" + "/".join(DOTS.get(part) or quote(part, safe="", errors="replace") for part in parts)


def person(user: str, *parts: str) -> str:
    """The path of what is about a user."""
    return path_of("users", checked_id("user", user), *parts)


def given(**values: Any) -> dict[str, Any]:
    """What was given, as JSON knows it: None means "not given"."""
    try:
        return {name: plain(value) for name, value in values.items() if value is not None}
    except TypeError as error:
        raise InvalidInput("a value", f"cannot be sent: {error}") from None


def timed(name: str, value: datetime | None) -> datetime | None:
    return None if value is None else checked_time(name, value)


def checked_query(query: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in query.items():
        if isinstance(value, str) and SURROGATE.search(value):
            raise InvalidInput(name, "contains a lone surrogate, which is not text")
    return dict(query)


class Asking:
    """A server, by its address and a key."""

    def __init__(self, base_url: str, key: str, space: str | None, timeout: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput("base_url", "must begin with http:// or https://")
        if "?" in base_url or "#" in base_url:
            raise InvalidInput("base_url", "must end with the host or a path; leave out what follows ? or #")
        if not isinstance(key, str) or not WRITTEN.fullmatch(key):
            raise InvalidInput("key", "holds what no key does; copy it as `recollect keys create` showed it")
        self._url, self.space, self._timeout = base_url.rstrip("/").removesuffix("/v1"), space, timeout
        self._key = key
        self._home: str | None = None
        self._http: httpx2.AsyncClient | None = None
        self._left: list[httpx2.AsyncClient] = []

    def __repr__(self) -> str:
        return f"<server {self.address}>"

    @property
    def address(self) -> str:
        """Where it is, without a password that stands in it."""
        scheme, _, rest = self._url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def open(self) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra("client", "a client") from None
        if self._http is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=self._timeout)

    def begin_again(self) -> None:
        """In a process that was forked: open connections of its own, and leave those of the other as they are."""
        if self._http is not None:
            self._left.append(self._http)
            self._http = None
            self.open()

    async def close(self) -> None:
        http, self._http = self._http, None
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
        """Ask, and read the answer as a value of this kind. `wait` is how much longer it may take than usual."""
        import httpx2

        request = self._request(method, path, space, query, body, wait)
        until, attempt = time.monotonic() + self._timeout + wait, 0
        while True:
            attempt, told = attempt + 1, ""
            try:
                response = await self._opened.send(request)
            except httpx2.HTTPError as error:
                # One that took too long would only take as long again.
                if attempt == TRIES or isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
                    raise unreachable(self.address, error) from error
            else:
                if response.is_success:
                    return self.read(kind, response.content)
                code = code_of(response)
                if code == AT_WORK and time.monotonic() < until:
                    attempt -= 1  # the first try goes on there, and its answer is worth waiting for
                elif attempt == TRIES or not passes(code, response.status_code):
                    raise error_of(response.status_code, response.content)
                told = response.headers.get("Retry-After", "")
            await asyncio.sleep(min(float(told), 5.0) if told.isascii() and told.isdigit() else PAUSE * 2**attempt / 2)

    async def lines(
        self,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> AsyncIterator[str]:
        """The lines of an answer, as they come. They end at a line feed and at nothing else that looks like an end."""
        import httpx2

        request = self._request(method, path, space, query, body, 0.0)
        begun = False
        try:
            response = await self._opened.send(request, stream=True)
            try:
                if not response.is_success:
                    raise error_of(response.status_code, await response.aread())
                rest = b""
                async for some in response.aiter_bytes():
                    begun = True
                    *whole, rest = (rest + some).split(b"\n")
                    for line in whole:
                        yield line.decode("utf-8", "replace").removesuffix("\r")
                if rest:
                    yield rest.decode("utf-8", "replace")
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            if begun:
                raise ServerError(f"{self.address} hung up in the middle of an answer") from error
            raise unreachable(self.address, error) from error

    def read(self, kind: Any, content: bytes | str) -> Any:
        """An answer as a value of this kind."""
        try:
            return read(kind, json.loads(content))
        except (ValueError, RecursionError) as error:  # InvalidInput is one, too, but it was not the caller's
            raise ServerError(f"{self.address} {NOT_OURS}") from error

    async def home(self, space: str | None) -> str:
        """The space that is meant: the one named, or the client's, or the one the key opens."""
        named = space if space is not None else self.space
        if named is not None:
            return checked_id("space", named)
        if self._home is None:
            self._home = str((await self.ask(SpaceOf, "GET", path_of("space"))).space)
        return self._home

    def _request(
        self, method: str, path: str, space: str | None, query: Mapping[str, Any] | None, body: Any, wait: float
    ) -> httpx2.Request:
        wanted = space if space is not None else self.space
        # In the query, and not in the header: a header cannot hold every script a space may be named in.
        params = {**checked_query(query or {}), **({} if wanted is None else {"space": wanted})}
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        try:
            content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("a value", f"cannot be sent: {error}") from None
        if content is not None:
            headers["Content-Type"] = "application/json"
        return self._opened.build_request(
            method, path, params=params, content=content, headers=headers, timeout=self._timeout + wait
        )

    @property
    def _opened(self) -> httpx2.AsyncClient:
        if self._http is None:
            raise RecollectError("this client is not open: use it inside `with` (or `async with`), and not after")
        return self._http


def code_of(response: httpx2.Response) -> str | None:
    """The code of a problem, if it is one."""
    try:
        return str(response.json()["code"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def passes(code: str | None, status: int) -> bool:
    """Whether trying again in a moment may help."""
    return status in GATEWAY if code is None else code in AGAIN


def unreachable(url: str, error: Exception) -> ServerError:
    return ServerError(f"{url} did not answer ({type(error).__name__}); is the server running there?")


def error_of(status: int, content: bytes) -> RecollectError:
    """The error a problem is."""
    try:
        told = json.loads(content)
        code, detail = str(told["code"]), str(told["detail"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ServerError(f"the server answered {status}, and not as one of ours would; is the address right?")
    try:
        field, reason = str(told["errors"][0]["field"]), str(told["errors"][0]["reason"])
    except (TypeError, KeyError, IndexError):
        return ERRORS.get(code, ServerError)(detail)
    if code == "missing_extra":
        return MissingExtra(field, reason)
    return InvalidInput(field.removeprefix("body."), reason) if code == "invalid_input" else ServerError(detail)

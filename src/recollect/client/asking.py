"""One request to a server, and its answer: built, sent, tried again, and read, in one place.

A write carries an idempotency key of its own, so that one whose answer got lost is sent again and done once. A problem
becomes the error it would have been had the memory been here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from recollect import errors
from recollect.errors import InvalidInput, MissingExtra, RecollectError, ServerError
from recollect.wire import plain, read

if TYPE_CHECKING:
    import httpx2

TRIES = 4
PAUSE = 0.2  # seconds before the second try; then twice as long
AGAIN = ("store_busy", "too_many", "in_progress", "unavailable")  # what is over in a moment; a model's trouble is not
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
    "not_settled": errors.NotSettled,
    "store_busy": errors.StoreBusy,
    "store_failed": errors.StoreError,
}


def path_of(*parts: str) -> str:
    """A path of these parts; whatever is in an id stays in it."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def given(**values: Any) -> dict[str, Any]:
    """What was given, as JSON knows it: None means "not given"."""
    return {name: plain(value) for name, value in values.items() if value is not None}


class Asking:
    """A server, by its address and a key."""

    def __init__(self, base_url: str, key: str, space: str | None, timeout: float) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput("base_url", "must begin with http:// or https://")
        self._url, self.space, self._timeout = base_url.rstrip("/").removesuffix("/v1"), space, timeout
        self._key = key
        self._http: httpx2.AsyncClient | None = None

    def __repr__(self) -> str:
        return f"<server {self._url}>"

    def open(self) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra("client", "a client") from None
        if self._http is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._http = httpx2.AsyncClient(base_url=self._url, headers=headers, timeout=self._timeout)

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
        for attempt in range(1, TRIES + 1):
            told = ""
            try:
                response = await self._opened.send(request)
            except httpx2.HTTPError as error:
                # One that took too long would only take as long again.
                if attempt == TRIES or isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
                    raise unreachable(self._url, error) from error
            else:
                if response.status_code < 400:
                    return read(kind, response.json())
                if attempt == TRIES or not passes(response):
                    raise error_of(response.status_code, response.content)
                told = response.headers.get("Retry-After", "")
            await asyncio.sleep(min(float(told), 5.0) if told.isdigit() else PAUSE * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")

    async def lines(
        self,
        method: str,
        path: str,
        *,
        space: str | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> AsyncIterator[str]:
        """The lines of an answer, as they come."""
        import httpx2

        request = self._request(method, path, space, query, body, 0.0)
        try:
            response = await self._opened.send(request, stream=True)
            try:
                if response.status_code >= 400:
                    raise error_of(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    yield line
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise unreachable(self._url, error) from error

    def _request(
        self, method: str, path: str, space: str | None, query: Mapping[str, Any] | None, body: Any, wait: float
    ) -> httpx2.Request:
        wanted = space if space is not None else self.space
        # In the query, and not in the header: a header cannot hold every script a space may be named in.
        params = {**(query or {}), **({} if wanted is None else {"space": wanted})}
        headers = {"Idempotency-Key": uuid4().hex} if method != "GET" else {}
        content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
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


def passes(response: httpx2.Response) -> bool:
    """Whether trying again in a moment may help."""
    try:
        return response.json()["code"] in AGAIN
    except (ValueError, TypeError, KeyError):
        return response.status_code in GATEWAY


def unreachable(url: str, error: Exception) -> ServerError:
    return ServerError(f"{url} did not answer ({type(error).__name__}); is the server running there?")


def error_of(status: int, content: bytes) -> RecollectError:
    """The error a problem is."""
    try:
        told = json.loads(content)
        code, detail = str(told["code"]), str(told["detail"])
        wrong = told.get("errors") or []
    except (ValueError, TypeError, KeyError):
        return ServerError(f"the server answered {status}, and not as one of ours would; is the address right?")
    if code == "invalid_input" and wrong:
        return InvalidInput(str(wrong[0]["field"]).removeprefix("body."), str(wrong[0]["reason"]))
    return ERRORS.get(code, ServerError)(detail)

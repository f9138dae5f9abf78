"""Any OpenAI-compatible `/chat/completions`, through the official client.

The client carries the request and the key; what comes back is read here byte by byte, so that no answer is larger,
later or stranger than we allow. Trying again is ours, not the client's, because `timeout` bounds the whole of it: a
call (or the opening of a stream) with all its tries and waits takes at most `timeout` seconds, and so does each
silence within a stream. Silence is not tried again: the next model of a chain is a better use of the time. The key
is handed to the client and to `Trouble`, which keeps it out of messages; it is in no repr and in no error.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from recollect.errors import InvalidInput, MissingExtra, ModelError
from recollect.llm.answer import LARGEST, Answer, Count, rough
from recollect.llm.events import DONE, Events
from recollect.llm.flow import closing
from recollect.llm.form import Form
from recollect.llm.relay import Relayed
from recollect.llm.trouble import Trouble, passing
from recollect.ports import Completion, Request

TIMEOUT = 60.0  # seconds
RETRIES = 2  # after the first try
LONGEST_STREAM = 10  # times the timeout
BODY = 8 * LARGEST  # bytes of a whole reply: the text with all its escapes, and what stands around it
FIRST_WAIT = 0.5  # seconds before the second try, doubled each time
LAST_WAIT = 8.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A try that failed: the error to raise if it was the last, and whether and when another may help."""

    error: ModelError
    status: int = 0
    said: str = field(default="", repr=False)
    again: bool = False
    after: float | None = None


class OpenAIModel:
    """A model at a server. `count` counts tokens where the server does not say what an answer cost."""

    def __init__(
        self,
        base_url: str,
        key: str,
        model: str,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        *,
        count: Count = rough,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        where = address(base_url)
        if not model:
            raise InvalidInput("model", "is empty; name the model to ask for")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InvalidInput("key", "must be ASCII without spaces; copy it again")
        if timeout <= 0 or retries < 0:
            raise InvalidInput("timeout, retries", "must not be negative, and the timeout not zero")
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "a chat model") from None
        self._openai = openai
        secret = str(key)  # plain: one that formats as stars would be sent as stars
        # The client refuses an empty key, but a local server often needs none.
        # Redirects are not followed: what is said to one server is not for another.
        carrier = openai.DefaultAsyncHttpxClient(timeout=None, follow_redirects=False)
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=secret or "none", timeout=None, max_retries=0, http_client=carrier
        )
        # The client's transport has had two names; whichever it is, it is loaded now.
        self._broken = tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)
        self._model = model
        self._where = where
        self._timeout = timeout
        self._retries = retries
        self._count = count
        self._sleep = sleep
        self._trouble = Trouble(self.name, secret)
        self._form = Form()

    def __repr__(self) -> str:
        return f"OpenAIModel({self._where!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return f"{self._model} at {self._where}"

    @property
    def model(self) -> str:
        """What it is called at its server."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        until = now() + self._timeout
        async with AsyncExitStack() as stack:
            raw = await self._all(await self._open(stack, request, False, until), until)
        answer = Answer(self._trouble)
        answer.whole(raw)
        return answer.completion(self._model, request.messages, self._count)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        begun = now()
        answer = Answer(self._trouble)
        async with AsyncExitStack() as stack:
            response = await self._open(stack, request, True, begun + self._timeout)
            until = begun + LONGEST_STREAM * self._timeout
            events = await stack.enter_async_context(closing(self._events(response, until)))
            async for event in events:
                if event == DONE:
                    break
                if text := answer.piece(event):
                    yield text
            else:
                if answer.finish is None:
                    raise self._trouble.broken()
        yield answer.completion(self._model, request.messages, self._count)

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Asks in the words of the caller. Nothing is tried again: whoever relays has a client that does."""
        begun, stream, relayed = now(), bool(body.get("stream")), Relayed(self._trouble)
        async with AsyncExitStack() as stack:
            response = await self._pass_on(stack, body, stream, begun + self._timeout)
            if not stream:
                yield relayed.whole(await self._all(response, begun + self._timeout))
                return
            events = self._events(response, begun + LONGEST_STREAM * self._timeout)
            async for event in await stack.enter_async_context(closing(events)):
                if event == DONE:
                    break
                if chunk := relayed.chunk(event):
                    yield chunk
            else:
                if not relayed.finished:
                    raise self._trouble.broken()

    async def close(self) -> None:
        await self._client.close()

    async def _pass_on(self, stack: AsyncExitStack, body: Mapping[str, Any], stream: bool, until: float) -> Any:
        """The response to a body; with a stream, if the server knows how, it is to end in what it cost."""
        asked = stream and self._form.usage and "stream_options" not in body
        usage = {"stream_options": {"include_usage": True}} if asked else {}
        outcome = await self._send(stack, wired({**body, **usage}), until)
        if isinstance(outcome, Failure) and asked:
            simpler = self._form.simpler(Request([]), stream, outcome.status, outcome.said)
            if simpler is not None:
                outcome = await self._send(stack, wired(body), until)
                if not isinstance(outcome, Failure):
                    self._form = simpler
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    async def _all(self, response: Any, until: float) -> bytes:
        raw = bytearray()
        async with closing(response.http_response.aiter_bytes()) as source:
            while chunk := await self._next(source, until):
                raw += chunk
                if len(raw) > BODY:
                    raise self._trouble.nonsense(f"more than {BODY >> 20} MiB; ask for less")
        return bytes(raw)

    async def _events(self, response: Any, until: float) -> AsyncIterator[str]:
        events = Events(self._trouble)
        # The response's own bytes: what is closed here is closed to the bottom, and nothing is left to be collected.
        async with closing(response.http_response.aiter_bytes()) as source:
            while chunk := await self._next(source, now() + self._timeout, until):
                for event in events.feed(chunk):
                    yield event

    async def _next(self, source: AsyncIterator[bytes], patience: float, until: float = math.inf) -> bytes:
        """The next bytes; none at the end."""
        try:
            async with asyncio.timeout_at(min(patience, until)):
                return await anext(source, b"")
        except TimeoutError:
            talking = self._trouble.endless(LONGEST_STREAM * self._timeout)
            error: ModelError = self._trouble.silent(self._timeout) if patience < until else talking
        except self._broken:
            error = self._trouble.broken()
        raise error

    async def _open(self, stack: AsyncExitStack, request: Request, stream: bool, until: float) -> Any:
        """The response to a request, in the richest form that the server takes; its body is still to be read."""
        form = known = self._form
        while True:
            outcome = await self._persist(stack, form.body(self._model, request, stream), until)
            if not isinstance(outcome, Failure):
                if form != known:
                    self._form = form
                return outcome
            simpler = form.simpler(request, stream, outcome.status, outcome.said)
            if simpler is None:
                raise outcome.error
            form = simpler

    async def _persist(self, stack: AsyncExitStack, body: Mapping[str, Any], until: float) -> Any | Failure:
        """Sends, and sends again while that may help and there is time."""
        for attempt in range(self._retries + 1):
            outcome = await self._send(stack, body, until)
            if not isinstance(outcome, Failure) or not outcome.again or attempt == self._retries:
                break
            wait = backoff(attempt) if outcome.after is None else outcome.after
            if now() + wait >= until:
                break
            await self._sleep(wait)
        return outcome

    async def _send(self, stack: AsyncExitStack, body: Mapping[str, Any], until: float) -> Any | Failure:
        create = self._client.chat.completions.with_streaming_response.create
        try:
            async with asyncio.timeout_at(until):
                return await stack.enter_async_context(create(**body))
        except (TimeoutError, self._openai.APITimeoutError):
            return Failure(self._trouble.silent(self._timeout))
        except self._openai.APIStatusError as error:
            return self._refused(error)
        except (self._openai.APIConnectionError, *self._broken):
            return Failure(self._trouble.unreachable(), again=True)
        except (self._openai.OpenAIError, ValueError):
            return Failure(self._trouble.foreign("something the client cannot read"))
        except RuntimeError:  # closed by another task while this one was asking
            return Failure(self._trouble.broken())

    def _refused(self, error: Any) -> Failure:
        status: int = error.status_code
        after = pause(error.response.headers)
        said = error.body.get("message") if isinstance(error.body, dict) else error.body
        trouble = self._trouble.refusal(status, said if isinstance(said, str) else "", after)
        trouble.refusal = self._trouble.shown(status, error.body, after)
        return Failure(trouble, status, str(error.message), again=passing(status), after=after)


def wired(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the client takes it: what it has no parameter for passes, too."""
    return {"model": body["model"], "messages": [], "stream": bool(body.get("stream")), "extra_body": dict(body)}


def now() -> float:
    """The loop's clock, which `timeout_at` goes by."""
    return asyncio.get_running_loop().time()


def backoff(attempt: int) -> float:
    """Longer each time, and not the same for all who were refused together."""
    longest: float = min(FIRST_WAIT * 2.0**attempt, LAST_WAIT)
    return longest * random.uniform(0.5, 1.0)


def pause(headers: Mapping[str, str]) -> float | None:
    """How long the server asks us to wait. A date is read against the server's own clock."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif headers["retry-after"].strip().replace(".", "", 1).isdigit():
            seconds = float(headers["retry-after"])
        else:
            then, there = parsedate_to_datetime(headers["retry-after"]), parsedate_to_datetime(headers["date"])
            seconds = (then - there).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def address(base_url: str) -> str:
    """The address as it may be shown; one that holds a secret is refused, since servers and logs repeat addresses."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not base_url.isprintable() or " " in base_url:
        raise InvalidInput("base_url", "must be an address like https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInput("base_url", "must hold no user, password or query; the key is given as the key")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"

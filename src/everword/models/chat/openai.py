"""Any OpenAI-compatible `/chat/completions`, through the official client.

The client sends the request and the key; the reply is read here byte by byte, so that size, time and format are
bounded. We retry, not the client, because `timeout` bounds all attempts together: a call (or the opening of a stream)
with all its attempts and waits takes at most `timeout` seconds, and so does each silence within a stream. A timeout is
not retried: the next model of a chain is a better use of the time.

Some servers speak other APIs too (`apis`): a request of one is forwarded to its path there, and its answer passed on
event by event, as they are.

Servers that call themselves compatible differ in what they accept: a JSON Schema, only "some JSON", or neither; the
usage at the end of a stream; a temperature; the limit under its old name or its new one; a limit that leaves room for
thinking; a system message after others, which many local templates refuse and which then becomes the beginning of the
message after it; hints for a cache of prompts. A `Form` is what one server accepts. It starts with everything, each
refusal removes one thing, and the form that worked is remembered. The key is handed to the client and to `Trouble`,
which keeps it out of the log; it is in no repr and in no error.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, get_args
from urllib.parse import urlsplit

from everword.errors import InvalidInput, MissingExtra, ModelError
from everword.masking import keep_out_of_texts
from everword.model import ChatMessage
from everword.models.chat import answers
from everword.ports import Completion, ForeignApi, Request

TIMEOUT = 60.0  # seconds
RETRIES = 2  # after the first attempt
LONGEST_STREAM = 10  # times the timeout
BODY = 8 * answers.LARGEST  # bytes of a whole reply: the text with all its escapes, and the JSON around it
FIRST_WAIT = 0.5  # seconds before the second attempt, doubled each time
LAST_WAIT = 8.0
THINKING_PACE = 50  # tokens a second: a call gets more time if it may think, since nothing comes before the answer
SHAPES = ("json_schema", "json_object", "words")
DOUBTFUL = (400, 404, 422)  # HTTP states that may mean: not in this form
ABOUT_CONTEXT = re.compile(r"context[_ ](?:length|window|size)", re.IGNORECASE)
ABOUT_ROLES = re.compile(r"system|\broles?\b|alternat|template|jinja", re.IGNORECASE)
RAW = {"X-Stainless-Raw-Response": "stream"}  # asks OpenAI's client for the response before it is read
VERSION = "anthropic-version"
API_HOSTS: Mapping[str, ForeignApi] = {"api.openai.com": "responses", "api.anthropic.com": "messages"}
KEEPS_BY_KEY = ("openai.com", "openai.azure.com")  # hosts whose servers take a key for their cache of prompts
ABOUT_LIMIT = re.compile(
    rf"max(?:imum)?[_ ](?:completion[_ ]|output[_ ]|new[_ ])?tokens|(?:output|completion) tokens"
    rf"|{ABOUT_CONTEXT.pattern}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt that failed: the error to raise if it was the last, and whether and when to try again."""

    error: ModelError
    status: int = 0
    server_text: str = field(default="", repr=False)
    can_retry: bool = False
    after: float | None = None


class OpenAIModel:
    """A model at a server. `count` counts tokens if the server does not report usage."""

    def __init__(
        self,
        base_url: str,
        key: str,
        model: str,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        *,
        apis: str = "",
        count: answers.Count = answers.rough_token_count,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        shown_address = public_address(base_url)
        if not model:
            raise InvalidInput("model", "is empty; give the name of a model")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InvalidInput("key", "contains spaces or characters that are not ASCII; copy the key again")
        if timeout <= 0 or retries < 0:
            raise InvalidInput("timeout, retries", "must not be negative, and the timeout must not be zero")
        try:
            import openai
        except ImportError:
            raise MissingExtra("openai", "a chat model") from None
        self._openai = openai
        secret = str(key)  # a plain string: a Secret that formats as stars would be sent as stars
        # The client refuses an empty key, but a local server often needs none.
        # Redirects are not followed: a request for one server is not sent to another.
        http_client = openai.DefaultAsyncHttpxClient(timeout=None, follow_redirects=False)
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=secret or "none", timeout=None, max_retries=0, http_client=http_client
        )
        # The client's transport library has had two names; whichever it is, it is imported by now.
        self._transport_errors = tuple(
            sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules
        )
        self._model = model
        self._address = shown_address
        self._host = urlsplit(base_url).hostname or ""
        self.apis = parse_apis(apis or API_HOSTS.get(self._host, ""))
        self._timeout = timeout
        self._retries = retries
        self._count = count
        self._sleep = sleep
        keep_out_of_texts(secret)
        self._trouble = answers.Trouble(self.name, secret)
        self._form = Form()

    def __repr__(self) -> str:
        return f"OpenAIModel({self._address!r}, model={self._model!r})"

    @property
    def name(self) -> str:
        return f"{self._model} at {self._address}"

    @property
    def model(self) -> str:
        """The name of the model at its server."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        deadline = loop_time() + self._timeout + request.thinking_tokens / THINKING_PACE
        async with AsyncExitStack() as stack:
            raw = await self._read_body(await self._open(stack, request, False, deadline), deadline)
        answer = answers.AnswerReader(self._trouble.about(request.messages))
        answer.read_body(raw)
        return answer.completion(self._model, request.messages, self._count)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        start = loop_time()
        answer = answers.AnswerReader(self._trouble.about(request.messages))
        async with AsyncExitStack() as stack:
            response = await self._open(stack, request, True, start + self._timeout)
            deadline = start + LONGEST_STREAM * self._timeout
            events = await stack.enter_async_context(answers.closing(self._events(response, deadline)))
            async for event in events:
                if event == answers.DONE:
                    break
                if text := answer.read_event(event):
                    yield text
            else:
                if answer.finish is None:
                    raise self._trouble.interruption()
        yield answer.completion(self._model, request.messages, self._count)

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Sends the body of the caller. Nothing is retried here: the caller's own client does that."""
        start = loop_time()
        stream = bool(body.get("stream"))
        reader = answers.RelayReader(self._trouble.about(body["messages"]))
        async with AsyncExitStack() as stack:
            response = await self._send_relayed(stack, body, stream, start + self._timeout)
            if not stream:
                yield reader.read_body(await self._read_body(response, start + self._timeout))
                return
            events = self._events(response, start + LONGEST_STREAM * self._timeout)
            async for event in await stack.enter_async_context(answers.closing(events)):
                if event == answers.DONE:
                    break
                if chunk := reader.read_event(event):
                    yield chunk
            else:
                if not reader.finished:
                    raise self._trouble.interruption()

    async def forward(
        self, api: ForeignApi, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[dict[str, Any]]:
        """Sends a body of another API to its path. Nothing is retried here, as in `relay`."""
        start = loop_time()
        content = body.get("input") if api == "responses" else json.dumps(body.get("messages"), ensure_ascii=False)
        trouble = self._trouble.about([{"content": content}])
        reader = answers.EventReader(trouble)
        async with AsyncExitStack() as stack:
            response = await self._send(stack, self._post(api, body, headers), start + self._timeout)
            if isinstance(response, FailedAttempt):
                trouble.log_words(response.error, response.server_text)
                raise response.error
            if not body.get("stream"):
                yield reader.read(await self._read_body(response, start + self._timeout))
                return
            events = self._events(response, start + LONGEST_STREAM * self._timeout)
            async for event in await stack.enter_async_context(answers.closing(events)):
                if event != answers.DONE:
                    yield reader.read(event)
            if not reader.is_finished:
                raise self._trouble.interruption()

    @asynccontextmanager
    async def _post(self, api: ForeignApi, body: Mapping[str, Any], headers: Mapping[str, str]) -> AsyncIterator[Any]:
        own_headers: dict[str, Any] = {**RAW, **headers}
        if api == "messages":  # which takes the key in a header of its own
            version = headers.get(VERSION, "2023-06-01")
            own_headers |= {VERSION: version, "x-api-key": self._client.api_key, "Authorization": self._openai.Omit()}
        response: Any = await self._client.post(
            f"/{api}", cast_to=object, body=dict(body), options={"headers": own_headers}
        )
        try:
            yield response
        finally:
            await response.close()

    async def close(self) -> None:
        await self._client.close()

    async def _send_relayed(self, stack: AsyncExitStack, body: Mapping[str, Any], stream: bool, deadline: float) -> Any:
        """The response to a body; a stream ends with its usage, if the server supports that."""
        asks_usage = stream and self._form.usage and "stream_options" not in body
        usage = {"stream_options": {"include_usage": True}} if asks_usage else {}
        if not self._form.late_system:
            body = {**body, "messages": fold_late_system(body["messages"])}
        outcome = await self._send(stack, self._ask({**body, **usage}), deadline)
        if isinstance(outcome, FailedAttempt) and has_late_system(body["messages"]):
            folded_body = {**body, "messages": fold_late_system(body["messages"])}
            if ABOUT_ROLES.search(outcome.server_text):
                outcome = await self._send(stack, self._ask({**folded_body, **usage}), deadline)
                if not isinstance(outcome, FailedAttempt):
                    self._form = replace(self._form, late_system=False)
        if isinstance(outcome, FailedAttempt) and asks_usage:
            simpler = self._form.simpler_form(Request([]), stream, outcome.status, outcome.server_text)
            if simpler is not None:
                outcome = await self._send(stack, self._ask(body), deadline)
                if not isinstance(outcome, FailedAttempt):
                    self._form = simpler
        if isinstance(outcome, FailedAttempt):
            raise self._logged_error(outcome, body["messages"])
        return outcome

    def _logged_error(self, outcome: FailedAttempt, messages: Sequence[Mapping[str, Any]]) -> ModelError:
        """The error of the last attempt; the log has what the server said."""
        self._trouble.about(messages).log_words(outcome.error, outcome.server_text)
        return outcome.error

    async def _read_body(self, response: Any, deadline: float) -> bytes:
        raw = bytearray()
        async with answers.closing(response.http_response.aiter_bytes()) as source:
            while chunk := await self._next_bytes(source, deadline):
                raw += chunk
                if len(raw) > BODY:
                    raise self._trouble.nonsense(f"more than {BODY >> 20} MiB; ask for less")
        return bytes(raw)

    async def _events(self, response: Any, deadline: float) -> AsyncIterator[str]:
        events = answers.EventParser(self._trouble)
        # The bytes of the HTTP response itself: to close them closes the connection, and leaves nothing to collect.
        async with answers.closing(response.http_response.aiter_bytes()) as source:
            while chunk := await self._next_bytes(source, loop_time() + self._timeout, deadline):
                for event in events.feed(chunk):
                    yield event

    async def _next_bytes(self, source: AsyncIterator[bytes], silence_end: float, end: float = math.inf) -> bytes:
        """The next bytes; empty at the end."""
        try:
            async with asyncio.timeout_at(min(silence_end, end)):
                return await anext(source, b"")
        except TimeoutError:
            overlong = self._trouble.overlong_answer(LONGEST_STREAM * self._timeout)
            error: ModelError = self._trouble.timeout(self._timeout) if silence_end < end else overlong
        except self._transport_errors:
            error = self._trouble.interruption()
        raise error

    async def _open(self, stack: AsyncExitStack, request: Request, stream: bool, deadline: float) -> Any:
        """The response to a request, in the richest form that the server accepts; its body is not read yet."""
        form = known_form = self._form
        refused_limit = form.refused_limit
        while True:
            body = form.body(self._model, request, stream, self._host)
            outcome = await self._send_with_retries(stack, body, deadline)
            if not isinstance(outcome, FailedAttempt):
                if form != known_form:
                    self._form = replace(form, refused_limit=refused_limit)
                return outcome
            simpler = form.simpler_form(request, stream, outcome.status, outcome.server_text)
            if simpler is None:
                raise self._logged_error(outcome, request.messages)
            if not ABOUT_CONTEXT.search(outcome.server_text):  # with a shorter request the limit may be accepted
                refused_limit = simpler.refused_limit
            form = simpler

    async def _send_with_retries(
        self, stack: AsyncExitStack, body: Mapping[str, Any], deadline: float
    ) -> Any | FailedAttempt:
        """Sends, and retries while that may help and there is time."""
        for attempt in range(self._retries + 1):
            outcome = await self._send(stack, self._create(body), deadline)
            if not isinstance(outcome, FailedAttempt) or not outcome.can_retry or attempt == self._retries:
                break
            wait = backoff(attempt) if outcome.after is None else outcome.after
            if loop_time() + wait >= deadline:
                break
            await self._sleep(wait)
        return outcome

    def _create(self, body: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
        opening: AbstractAsyncContextManager[Any] = self._client.chat.completions.with_streaming_response.create(**body)
        return opening

    def _ask(self, body: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
        return self._create(client_arguments(body))

    async def _send(
        self, stack: AsyncExitStack, opening: AbstractAsyncContextManager[Any], deadline: float
    ) -> Any | FailedAttempt:
        try:
            async with asyncio.timeout_at(deadline):
                return await stack.enter_async_context(opening)
        except (TimeoutError, self._openai.APITimeoutError):
            return FailedAttempt(self._trouble.timeout(self._timeout))
        except self._openai.APIStatusError as error:
            return self._attempt_from_status(error)
        except (self._openai.APIConnectionError, *self._transport_errors):
            return FailedAttempt(self._trouble.unreachable(), can_retry=True)
        except (self._openai.OpenAIError, ValueError):
            return FailedAttempt(self._trouble.foreign_answer("something the client cannot read"))
        except RuntimeError:  # closed by another task while this one was asking
            return FailedAttempt(self._trouble.interruption())

    def _attempt_from_status(self, error: Any) -> FailedAttempt:
        status: int = error.status_code
        after = retry_after(error.response.headers)
        model_error = self._trouble.refusal(status, error.body, after)
        return FailedAttempt(
            model_error, status, str(error.message), can_retry=answers.is_temporary(status), after=after
        )


def client_arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as arguments of the client; fields that the client has no parameter for are sent, too."""
    return {"model": body["model"], "messages": [], "stream": bool(body.get("stream")), "extra_body": dict(body)}


def parse_apis(names: str) -> frozenset[str]:
    """The APIs that a setting names; raises InvalidInput if there is no such API."""
    apis = frozenset(name.strip() for name in names.split(",") if name.strip())
    if unknown := sorted(apis - {*get_args(ForeignApi)}):
        raise InvalidInput(
            "chat_apis",
            f"contains the unknown API {unknown[0]!r}; the known APIs are {', '.join(get_args(ForeignApi))}",
        )
    return apis


def loop_time() -> float:
    """The loop's clock, which `timeout_at` uses."""
    return asyncio.get_running_loop().time()


def backoff(attempt: int) -> float:
    """Longer each time, with jitter so that clients refused together do not come back together."""
    longest: float = min(FIRST_WAIT * 2.0**attempt, LAST_WAIT)
    return longest * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server asks us to wait. A date is compared with the server's own clock."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif headers["retry-after"].strip().replace(".", "", 1).isdigit():
            seconds = float(headers["retry-after"])
        else:
            retry_time = parsedate_to_datetime(headers["retry-after"])
            server_time = parsedate_to_datetime(headers["date"])
            seconds = (retry_time - server_time).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def public_address(base_url: str) -> str:
    """The address as it may be shown. One that holds a secret is refused, because servers and logs repeat addresses."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not base_url.isprintable() or " " in base_url:
        raise InvalidInput("base_url", "must be an address like https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidInput("base_url", "must not contain a user, a password or a query; give the key as `key`")
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


@dataclass(frozen=True, slots=True)
class Form:
    """What a server accepts, as far as is known. `refused_limit` is the smallest limit of tokens it has refused."""

    shape: str = SHAPES[0]
    usage: bool = True
    temperature: bool = True
    limit: str = "max_tokens"
    refused_limit: int | None = None
    late_system: bool = True
    cache_hints: bool = True

    def simpler_form(self, request: Request, stream: bool, status: int, server_text: str) -> Form | None:
        """The form to try after a refusal; None if the form cannot have been the reason.

        What the server names in its refusal is dropped first. If it names nothing, the schema is dropped first.
        """
        if self.late_system and has_late_system(request.messages) and ABOUT_ROLES.search(server_text):
            return replace(self, late_system=False)
        if status not in DOUBTFUL:
            return None
        asked_usage = stream and self.usage and status != 404
        named_form = self._without_named(request, asked_usage, server_text)
        if named_form is not None:
            return named_form
        if request.schema is not None and self.shape != SHAPES[-1]:
            return replace(self, shape=SHAPES[SHAPES.index(self.shape) + 1])
        return replace(self, usage=False) if asked_usage else None

    def _without_named(self, request: Request, asked_usage: bool, server_text: str) -> Form | None:
        """The form without what the server names in its refusal."""
        if request.max_tokens is not None and self.limit == "max_tokens" and "max_completion_tokens" in server_text:
            return replace(self, limit="max_completion_tokens")
        if self._has_thinking_tokens(request) and ABOUT_LIMIT.search(server_text):
            return replace(self, refused_limit=request.token_limit)
        if request.temperature is not None and self.temperature and "temperature" in server_text:
            return replace(self, temperature=False)
        if self.cache_hints and re.search("cache_control|prompt_cache_key", server_text):
            return replace(self, cache_hints=False)
        if asked_usage and re.search("stream_options|include_usage", server_text):
            return replace(self, usage=False)
        return None

    def body(self, model: str, request: Request, stream: bool, host: str = "") -> dict[str, Any]:
        """The request in this form, for a server on this host."""
        messages: list[Any] = self._messages(request)
        body: dict[str, Any] = {"model": model, "messages": messages, "stream": stream}
        if self.cache_hints and request.cache_key and host.endswith(KEEPS_BY_KEY):
            body["prompt_cache_key"] = request.cache_key
        elif self.cache_hints and request.cache_key and "claude" in model.casefold():
            body["messages"] = with_cache_marks(messages)
        if request.temperature is not None and self.temperature:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[self.limit] = request.token_limit if self._has_thinking_tokens(request) else request.max_tokens
        if stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        if request.schema is not None:
            body |= self._answer_format(request.schema)
        return body

    def _answer_format(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        if self.shape == "json_schema":
            named_schema = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": named_schema}}
        return {"response_format": {"type": "json_object"}} if self.shape == "json_object" else {}

    def _has_thinking_tokens(self, request: Request) -> bool:
        """Whether a request in this form leaves the model room for thinking."""
        limit = request.token_limit
        return limit is not None and request.thinking_tokens > 0 and limit < (self.refused_limit or math.inf)

    def _messages(self, request: Request) -> list[ChatMessage]:
        messages = [ChatMessage(role=m["role"], content=replace_surrogates(m["content"])) for m in request.messages]
        messages = messages if self.late_system else fold_late_system(messages)
        if request.schema is None or self.shape == "json_schema":
            return messages
        instruction = schema_instruction(request.schema)
        systems = [place for place, message in enumerate(messages) if message["role"] == "system"]
        if not systems:
            return [ChatMessage(role="system", content=instruction), *messages]
        last = messages[systems[-1]]
        messages[systems[-1]] = ChatMessage(role="system", content=f"{last['content']}\n\n{instruction}")
        return messages


def has_late_system(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a system message stands after others."""
    return any(message["role"] == "system" for message in messages[1:])


def fold_late_system(messages: Sequence[Any]) -> list[Any]:
    """The messages with each late system message at the beginning of the message after it."""
    folded: list[Any] = []
    pending = ""
    for place, message in enumerate(messages):
        if place and message["role"] == "system" and place + 1 < len(messages):
            pending += f"{message['content']}\n\n"
            continue
        if pending and isinstance(message["content"], str):
            message = {**message, "content": pending + message["content"]}
        elif pending:
            message = {**message, "content": [{"type": "text", "text": pending.strip()}, *(message["content"] or [])]}
        pending = ""
        folded.append(message)
    return folded


def with_cache_marks(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The messages with Anthropic's marks on what the next prompt begins with, too: the first, and the last before what
    belongs to the message alone."""
    late = [place for place, message in enumerate(messages) if place and message["role"] == "system"]
    last_kept = (late[0] if late else len(messages) - 1) - 1
    marked: list[dict[str, Any]] = [dict(message) for message in messages]
    for place in {0, last_kept} - {-1}:
        text = {"type": "text", "text": messages[place]["content"], "cache_control": {"type": "ephemeral"}}
        marked[place] = {"role": messages[place]["role"], "content": [text]}
    return marked


def schema_instruction(schema: Mapping[str, Any]) -> str:
    """An instruction for a server that cannot guarantee the schema."""
    return (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It must follow this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )


def is_strict(schema: object) -> bool:
    """Whether every object in a schema is closed: OpenAI guarantees such schemas, and rejects others in strict mode."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        is_closed_object = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
            properties
        )
        return is_closed_object and all(is_strict(item) for item in properties.values())
    return all(is_strict(item) for item in schema.values())


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")

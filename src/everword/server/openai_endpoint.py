"""The drop-in endpoint: OpenAI's API, with a memory behind it. A client changes its base URL and nothing else.

`POST /v1/chat/completions` stores the messages, adds what matters from earlier ones to the model's context, and passes
the model's answer on. The key and the request's `user` decide whose memory it is; a header, or how the messages begin,
decides which conversation. A client that hangs up ends the turn; what it was sent is kept.

Errors have OpenAI's shape, in a stream too. An error tells the client its cause in our words and nothing else: no
address of the model's server, no key, nothing of what the model was sent, nothing of what its server said; that is in
the log, under the id in the message. A refusal of the model's server keeps its status, except one about the key: the
client's own key was right.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote

import numpy as np
from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from everword import errors
from everword.errors import EverwordError, InvalidInput, ModelError, Refusal
from everword.memory import openai_relay as relay
from everword.memory.openai_relay import TooLong
from everword.models.chat.answers import log_note
from everword.openai.messages import clean_json
from everword.parsing import UnreadableJson, read_json
from everword.server.access import ANONYMOUS, Caller, caller_for
from everword.server.problems import Problem, ProblemShape, problem_of

NOBODY = "default"  # whose memory it is if neither the request nor the key says, and the settings allow that
NO_USER = (
    "is missing, and this server has no keys to tell people apart: name whose memory it is by `user` in the request; "
    "a server that only one person uses takes requests without it if it is started with EVERWORD_ANONYMOUS=one"
)
MODEL = "everword"  # the name of whichever model is configured
INPUTS = 2_048  # texts in one request for vectors
LARGE = 1 << 16  # bytes of a body that takes long to parse
DONE = b"data: [DONE]\n\n"
GONE = 499  # the client has hung up, so nobody reads this answer

# The endpoint in the API's description: the fields that we read; all others are passed on.
SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("openai_schema.json").read_text(encoding="utf-8"))

router = APIRouter(prefix="/v1", tags=["OpenAI"])
# The endpoints there are, and those that OpenAI's clients may ask for in vain: they have to read the error.
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/completions", "/v1/moderations", "/v1/images",
    "/v1/audio", "/v1/files", "/v1/batches", "/v1/threads", "/v1/assistants",
)  # fmt: skip


def responses(answer: str, *, stream: bool = False, error: str = "error") -> dict[int | str, dict[str, Any]]:
    """The responses of a route, for the API's description."""
    content: dict[str, Any] = {"application/json": {"schema": SCHEMA["answers"][answer]}}
    if stream:
        content["text/event-stream"] = {"schema": SCHEMA["event"]}
    failure = {"application/json": {"schema": SCHEMA[error]}}
    bad: dict[int | str, dict[str, Any]] = {
        int(status): {"description": about, "content": failure} for status, about in SCHEMA["errors"].items()
    }
    return {200: {"description": "As the provider answers.", "content": content}} | bad


@router.post(
    "/chat/completions",
    summary="Answer with memory",
    openapi_extra=SCHEMA["chat"],
    responses=responses("completion", stream=True),
)
async def chat_completions(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """OpenAI's chat completions, stream or not; every parameter is passed to the model's server."""
    return await respond(caller.request, complete_chat(caller, await read_request_body(caller.request)))


async def complete_chat(caller: Caller, body: dict[str, Any]) -> Response:
    options = take_memory_options(caller.request.headers, body)
    is_stream = wants_stream(body)
    if not options.memory or not relay.has_speech(body):
        chunks = relay.relay_without_memory(caller.memory.runtime, body)
        return await EventStream.of(chunks, {}) if is_stream else WholeAnswer(await anext(chunks))
    turn = await relay.begin_exchange(caller.memory.runtime, build_relay_request(caller, options, body))
    if is_stream:
        return await EventStream.of(turn.stream(), turn_headers(turn))
    return WholeAnswer(await turn.answer_whole(), headers=turn_headers(turn))


@router.get("/models", summary="The models", responses=responses("models"))
async def models(caller: Annotated[Caller, caller_for("models")]) -> Response:
    """The models that are configured, and `everword`, which is whichever of them answers."""
    names = relay.model_names(caller.memory.runtime)
    return JSONResponse({"object": "list", "data": [model_entry(name) for name in (MODEL, *names)]})


@router.get("/models/{name:ids}", summary="One model", responses=responses("model"))
async def one_model(caller: Annotated[Caller, caller_for("models")], name: str) -> Response:
    """One of the models that are configured."""
    if name not in (MODEL, *relay.model_names(caller.memory.runtime)):
        raise Problem(404, "model_not_found", "there is no such model; GET /v1/models lists them")
    return JSONResponse(model_entry(name))


@router.post(
    "/embeddings",
    summary="Vectors",
    openapi_extra=SCHEMA["embedding"],
    responses=responses("embeddings"),
)
async def embeddings(caller: Annotated[Caller, caller_for("embeddings")]) -> Response:
    """The vectors of texts, made by the embedder of the memory, whatever model is named."""
    return await respond(caller.request, embed_input(caller, await read_request_body(caller.request)))


async def embed_input(caller: Caller, body: Mapping[str, Any]) -> Response:
    texts = input_texts(body)
    encoding = body.get("encoding_format") or "float"
    if encoding not in ("float", "base64"):
        raise InvalidInput("encoding_format", "must be float or base64")
    vectors, name, tokens = await relay.embed_texts(caller.memory.runtime, texts)
    if body.get("dimensions") not in (None, vectors.shape[1]):
        raise InvalidInput("dimensions", f"must be {vectors.shape[1]}, as the vectors have, or left out")
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    envelope = {"object": "list", "model": name, "data": [], "usage": usage}
    content = await asyncio.to_thread(write_embeddings, envelope, vectors, encoding)
    return Response(content, media_type="application/json")


def turn_headers(turn: relay.RelayExchange | relay.ForwardedTurn) -> dict[str, str]:
    return {"X-Everword-Conversation": quote_header(turn.conversation), "X-Everword-Tokens": str(turn.tokens)}


def build_relay_request(caller: Caller, options: MemoryOptions, body: Mapping[str, Any]) -> relay.RelayRequest:
    """The request to the relay: for whose memory, if the caller may use it."""
    access = caller.access
    takes_anonymous = caller.memory.runtime.parts.settings.anonymous == "one"
    target_space = caller.space if options.space is None else access.resolve_space(options.space)
    user = access.resolve_user(options.user)
    if user is None and access.key_id == ANONYMOUS and not takes_anonymous:
        raise InvalidInput("user", NO_USER)
    user = user or (NOBODY if access.key_id == ANONYMOUS else access.key_id)
    return relay.RelayRequest(body, target_space, user, options.conversation, options.budget)


def wants_stream(body: Mapping[str, Any]) -> bool:
    stream = body.get("stream")
    if not isinstance(stream, bool | None):
        raise InvalidInput("stream", "must be true or false")
    return bool(stream)


def model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "everword"}


def input_texts(body: Mapping[str, Any]) -> list[str]:
    value = body.get("input")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or len(texts) > INPUTS:
        raise InvalidInput("input", f"must be a text or a list of 1 to {INPUTS:,} texts")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput("input", "must be text, not tokens (in LangChain: check_embedding_ctx_length=False)")
    if not all(text.strip() for text in texts):
        raise InvalidInput("input", "has an empty text")
    return texts


def write_embeddings(envelope: Mapping[str, Any], vectors: Any, encoding: str) -> bytes:
    """The answer with its vectors as JSON. They are written one by one, so that other threads can run in between."""
    rows = [
        dump_json({"object": "embedding", "index": index, "embedding": encode_vector(row, encoding)})
        for index, row in enumerate(vectors)
    ]
    before, after = dump_json(envelope).split(b'"data":[]', 1)
    return before + b'"data":[' + b",".join(rows) + b"]" + after


def encode_vector(row: Any, encoding: str) -> str | list[float]:
    floats = np.asarray(row, dtype="<f4")
    return base64.b64encode(floats.tobytes()).decode("ascii") if encoding == "base64" else floats.tolist()


async def read_request_body(request: Request) -> dict[str, Any]:
    """The body of a request; a large one is parsed in a thread, so that others are answered meanwhile."""
    raw = await request.body()
    return read_body(raw) if len(raw) < LARGE else await asyncio.to_thread(read_body, raw)


async def respond(request: Request, answer: Coroutine[Any, Any, Response]) -> Response:
    """The answer; an empty response if the client hangs up before it is ready. The body was read: the next message is
    the disconnect."""
    work = asyncio.ensure_future(answer)
    try:
        disconnect = asyncio.ensure_future(wait_for_disconnect(request.receive))
        try:
            await asyncio.wait({work, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # marks it as retrieved: nobody is there to read it
            return Response(status_code=GONE)
        return work.result()
    finally:
        work.cancel()


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class WholeAnswer(JSONResponse):
    """A whole answer, not a stream."""

    def render(self, content: Any) -> bytes:
        return dump_json(content)


class EventStream(Response):
    """Events as server-sent events, as the `shape` of an API writes them. The response starts only when the first is
    there: an error before that gets a status of its own."""

    media_type = "text/event-stream"

    def __init__(
        self,
        first: dict[str, Any] | None,
        chunks: AsyncGenerator[dict[str, Any]],
        headers: Mapping[str, str],
        shape: OpenAiShape,
    ) -> None:
        super().__init__(headers={**headers, "Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._first = first
        self._chunks = chunks
        self._shape = shape

    @classmethod
    async def of(
        cls, chunks: AsyncGenerator[dict[str, Any]], headers: Mapping[str, str], shape: OpenAiShape | None = None
    ) -> EventStream:
        return cls(await anext(chunks, None), chunks, headers, shape or SHAPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Separate tasks: the turn is cancelled only once, and then has the time it needs to end.
        sending = asyncio.ensure_future(self._send_chunks(send))
        disconnect = asyncio.ensure_future(wait_for_disconnect(receive))
        try:
            await asyncio.wait({sending, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
            if not sending.done():
                sending.cancel()
                await asyncio.wait({sending})
        if not sending.cancelled():
            sending.result()

    async def _send_chunks(self, send: Send) -> None:
        async def send_data(data: bytes, *, has_more: bool = True) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": has_more})

        async with aclosing(self._chunks) as chunks:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                if self._first is not None:
                    await send_data(self._shape.event_bytes(self._first))
                async for chunk in chunks:
                    await send_data(self._shape.event_bytes(chunk))
                await send_data(self._shape.last, has_more=False)
            except (EverwordError, Problem) as error:
                event = self._shape.error_event(self._shape.problem_of(error))
                await send_data(self._shape.event_bytes(event), has_more=False)


def dump_json(data: Any) -> bytes:
    """Data as JSON. Half a character, where a stream was cut, cannot be encoded: it is passed on as an escape."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()


# -- OpenAI's shapes

OURS = "everword"  # in a request's body: the options for the memory
LARGEST_BUDGET = 10_000_000  # tokens
NOT_AVAILABLE = "the memory is not available; the server's log says why"
NOT_AGAIN = {"x-should-retry": "false"}  # OpenAI's clients heed it
KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
SEEN = "".join(chr(code) for code in range(33, 127) if chr(code) != "%") + " "
WORDS: tuple[tuple[type[ModelError], int, str, str], ...] = (
    (errors.ModelTimeout, 504, "model_timeout", "the model did not answer in time; try again"),
    (errors.ModelBusy, 502, "model_unreachable", "the model's server cannot be reached or broke off; try again"),
    (errors.ModelSpent, 503, "model_spent", "the day's ceiling of tokens is reached"),
    (errors.ModelNonsense, 502, "model_nonsense", "the model's server sent something that is no answer; try again"),
    (errors.ModelError, 502, "model_failed", "the model's server failed; try again"),
)


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """The options of a request for the memory, in headers or in its body under `everword`."""

    conversation: str | None = None
    space: str | None = None
    user: str | None = None
    memory: bool = True
    budget: int | None = None


def read_body(raw: bytes) -> dict[str, Any]:
    """The body of a request; raises InvalidInput if it is not a JSON object."""
    try:
        body = read_json(raw)
    except UnreadableJson as error:
        raise InvalidInput("body", str(error)) from None
    if not isinstance(body, dict):
        raise InvalidInput("body", "must be an object")
    clean: dict[str, Any] = clean_json(body)
    return clean


def take_memory_options(headers: Headers, body: dict[str, Any]) -> MemoryOptions:
    """Take the options for the memory out of a request. The body goes before the headers."""
    options = body.pop(OURS, None)
    options = {} if options is None else options
    if not isinstance(options, dict):
        raise InvalidInput(OURS, "must be an object")
    option_names = {"conversation", "space", "user", "memory", "budget"}
    if unknown := sorted({*options} - option_names):
        raise InvalidInput(OURS, f"has no {unknown[0]!r}; it has {', '.join(sorted(option_names))}")
    header_names = option_names - {"space"}  # that header is read at the door, as on every route
    header_values = {
        name: unquote(value) for name in header_names if (value := headers.get(f"x-everword-{name}")) is not None
    }
    if body.get("user") is not None:
        header_values["user"] = parse_text("user", body["user"]) or ""
    texts = {
        name: parse_text(name, options.get(name, header_values.get(name))) for name in ("conversation", "space", "user")
    }
    return MemoryOptions(
        **texts,
        memory=parse_switch(options.get("memory", header_values.get("memory"))),
        budget=parse_budget(options.get("budget", header_values.get("budget"))),
    )


def parse_text(name: str, value: object) -> str | None:
    if not isinstance(value, str | None):
        raise InvalidInput(name, "must be text")
    return value or None


def parse_switch(value: object) -> bool:
    if value is None or value is True or (isinstance(value, str) and value.lower() in ("on", "true", "1")):
        return True
    if value is False or (isinstance(value, str) and value.lower() in ("off", "false", "0")):
        return False
    raise InvalidInput("memory", "must be on or off")


def parse_budget(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_BUDGET:
        raise InvalidInput("budget", f"must be a whole number of tokens, 1 to {LARGEST_BUDGET:,}")
    return value


def quote_header(value: str) -> str:
    """An id as a header can carry it; read back, it is the same."""
    return quote(value, safe=SEEN)


# -- errors


class OpenAiShape:
    """Errors and events as clients of OpenAI's chat completions read them."""

    last = DONE
    """What ends a stream."""

    def event_bytes(self, event: Mapping[str, Any]) -> bytes:
        return b"data: " + dump_json(event) + b"\n\n"

    def error_event(self, problem: Problem) -> Mapping[str, Any]:
        """A problem in a stream that has begun."""
        return self.document(problem)

    def problem_of(self, error: Exception) -> Problem:
        """The problem that a client gets for an error."""
        if isinstance(error, ModelError) and not isinstance(error, errors.NoModel):
            return model_refusal(error.refusal) if error.refusal is not None else model_failure(error)
        problem = problem_of(error)
        if isinstance(error, InvalidInput):
            code = "context_length_exceeded" if isinstance(error, TooLong) else "invalid_value"
            return Problem(400, code, problem.detail, problem.errors)
        if isinstance(error, errors.NoModel):
            return Problem(problem.status, problem.code, problem.detail, headers=NOT_AGAIN)
        if not isinstance(error, EverwordError) or isinstance(error, errors.ScopeError | errors.StoreBusy):
            return problem
        # Others may name files and tables of the server.
        return Problem(problem.status, problem.code, NOT_AVAILABLE, (), problem.headers)

    def document(self, problem: Problem) -> Mapping[str, Any]:
        """A problem as OpenAI's clients read it."""
        first = problem.errors[0] if problem.errors else {}
        usual = "server_error" if problem.status >= 500 else "invalid_request_error"
        kind = first.get("type") or KINDS.get(problem.status, usual)
        return {"error": {"message": problem.detail, "type": kind, "param": first.get("field"), "code": problem.code}}


def model_failure(error: ModelError) -> Problem:
    status, code, words = next((s, c, w) for kind, s, c, w in WORDS if isinstance(error, kind))
    return Problem(status, code, words)


def model_refusal(refusal: Refusal) -> Problem:
    """A refusal of the model's server: its status, and what happened in our words."""
    retry_headers = {} if refusal.after is None else {"Retry-After": str(math.ceil(refusal.after))}
    if refusal.status in (401, 403) or not 400 <= refusal.status < 600:
        text = "the model's server refused this server's key or has moved; whoever runs this server must look at it"
        return Problem(502, "model_refused", text + log_note(refusal.id), headers=NOT_AGAIN)
    param = refusal.param if refusal.param and not refusal.param.startswith("messages") else ""
    fields = {name: value for name, value in (("type", refusal.kind), ("field", param)) if value}
    code = refusal.code or "model_refused"
    return Problem(refusal.status, code, refusal.message, (fields,) if fields else (), retry_headers)


SHAPE = OpenAiShape()
SHAPES: dict[str, ProblemShape] = dict.fromkeys(PATHS, SHAPE)

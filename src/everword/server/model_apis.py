"""The drop-in endpoints: OpenAI's and Anthropic's APIs, with a memory behind them. A client changes its base URL alone.

`POST /v1/chat/completions` stores the messages, adds what matters from earlier ones to the model's context, and passes
the model's answer on. The key and the request's `user` decide whose memory it is; a header, or how the messages begin,
decides which conversation. A client that hangs up ends the turn; what it was sent is kept.

Errors have OpenAI's shape, in a stream too. An error tells the client its cause in our words and nothing else: no
address of the model's server, no key, nothing of what the model was sent, nothing of what its server said; that is in
the log, under the id in the message. A refusal of the model's server keeps its status, except one about the key: the
client's own key was right.

`POST /v1/responses` and `POST /anthropic/v1/messages` do what chat completions do: whose memory it is, which
conversation, rights and errors are decided by the same code. Where the model's server speaks the API itself, the
request is forwarded with the memory's texts added and nothing else changed, and the answer passed on event by event.
Elsewhere it is translated to chat completions (`everword.openai`), and what these cannot do is refused.

A response is the reply of that name in the log: `previous_response_id` goes on after it, `GET /v1/responses/{id}`
tells it, to whom the conversation belongs, and `DELETE` removes it: what the user said stays.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import quote, unquote

import numpy as np
from fastapi import APIRouter, Request
from fastapi import Path as InPath
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from everword import errors
from everword.context.build import PER_MESSAGE
from everword.errors import EverwordError, InvalidInput, ModelError, Refusal
from everword.log.append_and_read import new_id
from everword.memory import openai_relay as relay
from everword.memory.openai_relay import TooLong
from everword.model import Message
from everword.models.chat.answers import log_note
from everword.openai import anthropic, responses
from everword.openai.messages import clean_json, count_tokens, wire_message
from everword.openai.request_layouts import ANTHROPIC, RESPONSES, BlockWriter, Fields, Shape
from everword.ports import ForeignApi
from everword.server.access import ANONYMOUS, Caller, caller_for
from everword.server.problems import Problem, ProblemShape, problem_of
from everword.strict_json import UnreadableJson, read_json

NOBODY = "default"  # whose memory it is if neither the request nor the key says, and the settings allow that
NO_USER = (
    "is missing; a server without keys needs a `user` in each request. If only one person uses the server, start it "
    "with EVERWORD_ANONYMOUS=one"
)
MODEL = "everword"  # the name of whichever model is configured
INPUTS = 2_048  # texts in one request for vectors
LARGE = 1 << 16  # bytes of a body that takes long to parse
DONE = b"data: [DONE]\n\n"
GONE = 499  # the client has hung up, so nobody reads this answer

# The endpoint in the API's description: the fields that we read; all others are passed on.
SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("openai_schema.json").read_text(encoding="utf-8"))

router = APIRouter(tags=["OpenAI"])
# The endpoints there are, and those that OpenAI's clients may ask for in vain: they have to read the error.
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/completions", "/v1/moderations", "/v1/images",
    "/v1/audio", "/v1/files", "/v1/batches", "/v1/threads", "/v1/assistants",
)  # fmt: skip


def described(answer: str, *, stream: bool = False, error: str = "error") -> dict[int | str, dict[str, Any]]:
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
    "/v1/chat/completions",
    summary="Answer with memory",
    openapi_extra=SCHEMA["chat"],
    responses=described("completion", stream=True),
)
async def chat_completions(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """Answer a request of OpenAI's Chat Completions API, streamed or not. The server passes every parameter of the
    request on to the model's server."""
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


@router.get("/v1/models", summary="The models", responses=described("models"))
async def models(caller: Annotated[Caller, caller_for("models")]) -> Response:
    """List the model names that requests can use: the configured models and `everword`, which stands for the
    configured model."""
    names = relay.model_names(caller.memory.runtime)
    return JSONResponse({"object": "list", "data": [model_entry(name) for name in (MODEL, *names)]})


@router.get("/v1/models/{name:ids}", summary="One model", responses=described("model"))
async def one_model(caller: Annotated[Caller, caller_for("models")], name: str) -> Response:
    """Get one of the server's configured models, by its name."""
    if name not in (MODEL, *relay.model_names(caller.memory.runtime)):
        raise Problem(404, "model_not_found", "there is no such model; GET /v1/models lists all models")
    return JSONResponse(model_entry(name))


@router.post(
    "/v1/embeddings",
    summary="Vectors",
    openapi_extra=SCHEMA["embedding"],
    responses=described("embeddings"),
)
async def embeddings(caller: Annotated[Caller, caller_for("embeddings")]) -> Response:
    """Compute vectors of texts. The server always uses the memory's own embedder, even if the request names another
    model."""
    return await respond(caller.request, embed_input(caller, await read_request_body(caller.request)))


async def embed_input(caller: Caller, body: Mapping[str, Any]) -> Response:
    texts = input_texts(body)
    encoding = body.get("encoding_format") or "float"
    if encoding not in ("float", "base64"):
        raise InvalidInput("encoding_format", "must be float or base64")
    vectors, name, tokens = await relay.embed_texts(caller.memory.runtime, texts)
    if body.get("dimensions") not in (None, vectors.shape[1]):
        raise InvalidInput("dimensions", f"must be {vectors.shape[1]}, the length of the vectors, or left out")
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
        raise InvalidInput("input", "must be text, not tokens (LangChain: set check_embedding_ctx_length=False)")
    if not all(text.strip() for text in texts):
        raise InvalidInput("input", "contains an empty text")
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

OWN_OPTIONS = "everword"  # in a request's body: the options for the memory
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
    options = body.pop(OWN_OPTIONS, None)
    options = {} if options is None else options
    if not isinstance(options, dict):
        raise InvalidInput(OWN_OPTIONS, "must be an object")
    option_names = {"conversation", "space", "user", "memory", "budget"}
    if unknown := sorted({*options} - option_names):
        raise InvalidInput(
            OWN_OPTIONS,
            f"contains the unknown option {unknown[0]!r}; the options are {', '.join(sorted(option_names))}",
        )
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
        raise InvalidInput("budget", f"must be a whole number of tokens from 1 to {LARGEST_BUDGET:,}")
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


# -- the Responses API and the Messages API

PATH = "/anthropic"  # `/v1/messages` is a route of ours
PASSED_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
CLAUDE_KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error",
}  # fmt: skip
ResponseId = Annotated[str, InPath(description="The response's id.")]
NO_RESPONSE = "you have no response with this id; send the whole history instead"


class ResponsesShape(OpenAiShape):
    """Errors and events as clients of OpenAI's Responses API read them."""

    last = b""

    def event_bytes(self, event: Mapping[str, Any]) -> bytes:
        return b"event: " + str(event.get("type", "")).encode() + b"\ndata: " + dump_json(event) + b"\n\n"

    def error_event(self, problem: Problem) -> Mapping[str, Any]:
        return {"type": "error", **self.document(problem)}


class AnthropicShape(ResponsesShape):
    """Errors and events as Anthropic's clients read them."""

    def document(self, problem: Problem) -> Mapping[str, Any]:
        usual = "api_error" if problem.status >= 500 else "invalid_request_error"
        return {"type": "error", "error": {"type": CLAUDE_KINDS.get(problem.status, usual), "message": problem.detail}}


SHAPES: dict[str, ProblemShape] = {
    **dict.fromkeys(PATHS, SHAPE),
    "/v1/responses": ResponsesShape(),
    PATH: AnthropicShape(),
}


@dataclass(frozen=True, slots=True)
class Api:
    """What differs between the APIs: how a request is checked, read and translated, and how the answer is written."""

    name: ForeignApi
    shape: Shape
    stream: OpenAiShape
    check: Callable[[Fields], object]
    chat_body: Callable[[Fields], Fields]
    writer: Callable[[Fields, Caller, relay.RelayExchange | None], BlockWriter]


def write_response(body: Fields, caller: Caller, turn: relay.RelayExchange | None) -> BlockWriter:
    now = caller.memory.runtime.parts.clock.now()
    id = relay.reply_name(new_id(now), new_id(now)) if turn is None else turn.reply_name
    return responses.ResponseWriter(id, int(now.timestamp()), body, partial(new_id, now))


def write_message(body: Fields, caller: Caller, turn: relay.RelayExchange | None) -> BlockWriter:
    id = f"msg_{new_id(caller.memory.runtime.parts.clock.now())}"
    return anthropic.MessageWriter(id, body, 0 if turn is None else turn.tokens)


OPENAI = Api(
    "responses", RESPONSES, ResponsesShape(), responses.check_items, responses.chat_body, write_response
)  # fmt: skip
CLAUDE = Api(
    "messages", ANTHROPIC, AnthropicShape(), anthropic.check_messages, anthropic.chat_body, write_message
)  # fmt: skip


@router.post(
    "/v1/responses",
    summary="Answer with memory, as a response",
    openapi_extra=SCHEMA["response_request"],
    responses=described("response", stream=True),
)
async def create_response(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """Answer a request of OpenAI's Responses API, streamed or not."""
    body = await read_request_body(caller.request)
    options = take_memory_options(caller.request.headers, body)
    return await respond(caller.request, complete(caller, OPENAI, body, with_conversation(options, body)))


@router.get("/v1/responses/{id:ids}", summary="A response again", responses=described("response"))
async def one_response(caller: Annotated[Caller, caller_for("responses")], id: ResponseId) -> Response:
    """Get a stored response of the Responses API: the response's text and tool calls."""
    message = await find_reply(caller, id)
    now = message.time
    writer = responses.ResponseWriter(id, int(now.timestamp()), {}, partial(new_id, now))
    return JSONResponse(writer.whole({"choices": [{"message": wire_message(message)}]}))


@router.delete("/v1/responses/{id:ids}", summary="Remove a response", responses=described("deleted"))
async def delete_response(caller: Annotated[Caller, caller_for("delete_message")], id: ResponseId) -> Response:
    """Remove a response of the Responses API and everything derived from it. The user's message that the response
    answered is not removed."""
    message = await find_reply(caller, id)
    await caller.memory.conversation(message.conversation, space=message.space).delete(message.id)
    return JSONResponse({"id": id, "object": "response", "deleted": True})


async def find_reply(caller: Caller, id: str) -> Message:
    """The reply of this name, in a conversation that is the caller's."""
    options = take_memory_options(caller.request.headers, {})
    request = build_relay_request(caller, options, {})
    line = await relay.read_history(caller.memory.runtime, request.space, request.user, id)
    if line is None or line[1][-1].role != "assistant" or line[1][-1].erased:
        raise Problem(404, "not_found", NO_RESPONSE)
    return line[1][-1]


@router.get(
    f"{PATH}/v1/models",
    summary="The models, as Anthropic lists them",
    responses=described("claude_models", error="message_error"),
)
async def list_models(caller: Annotated[Caller, caller_for("models")]) -> Response:
    """List the model names that requests can use: the configured models and `everword`, which stands for the
    configured model. The list has one page."""
    models = [claude_model(name) for name in (MODEL, *relay.model_names(caller.memory.runtime))]
    page = {"has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}
    return JSONResponse({"data": models, **page})


@router.get(
    f"{PATH}/v1/models/{{name:ids}}",
    summary="One model, as Anthropic shows it",
    responses=described("claude_model", error="message_error"),
)
async def show_model(caller: Annotated[Caller, caller_for("models")], name: str) -> Response:
    """Get one of the server's configured models, by its name."""
    if name not in (MODEL, *relay.model_names(caller.memory.runtime)):
        raise Problem(404, "model_not_found", "there is no such model; GET /anthropic/v1/models lists all models")
    return JSONResponse(claude_model(name))


def claude_model(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}


@router.post(
    f"{PATH}/v1/messages",
    summary="Answer with memory, as a message",
    openapi_extra=SCHEMA["message_request"],
    responses=described("message", stream=True, error="message_error"),
)
async def create_message(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """Answer a request of Anthropic's Messages API, streamed or not."""
    body = await read_request_body(caller.request)
    options = take_memory_options(caller.request.headers, body)
    return await respond(caller.request, complete(caller, CLAUDE, body, with_user(caller, options, body)))


@router.post(
    f"{PATH}/v1/messages/count_tokens",
    summary="Count the tokens of a message",
    openapi_extra=SCHEMA["message_request"],
    responses=described("count", error="message_error"),
)
async def count_message(caller: Annotated[Caller, caller_for("embeddings")]) -> Response:
    """Count the tokens of a request, without the tokens that everword would add from the memory."""
    body = await read_request_body(caller.request)
    take_memory_options(caller.request.headers, body)
    chat = anthropic.chat_body({**body, "max_tokens": 1})
    runtime = caller.memory.runtime
    tokenizer = runtime.parts.tokenizer

    def count_all() -> int:
        messages = sum(count_tokens(message, tokenizer) + PER_MESSAGE for message in chat["messages"])
        return messages + (tokenizer.count(dump_json(chat["tools"]).decode()) if chat.get("tools") else 0)

    return JSONResponse({"input_tokens": await runtime.run(count_all)})


def with_conversation(options: MemoryOptions, body: Fields) -> MemoryOptions:
    """The options with the conversation that the API's own field names, if no other is own_name."""
    own_name = body.get("conversation")
    own_name = own_name.get("id") if isinstance(own_name, dict) else own_name
    return (
        replace(options, conversation=own_name) if isinstance(own_name, str) and not options.conversation else options
    )


def with_user(caller: Caller, options: MemoryOptions, body: Fields) -> MemoryOptions:
    """The options with the user whom the API's own field names, if neither another field nor the key does: programs may
    put any id there."""
    metadata = body.get("metadata")
    own_name = metadata.get("user_id") if isinstance(metadata, dict) else None
    is_free = options.user is None and caller.access.user is None
    return replace(options, user=own_name) if is_free and isinstance(own_name, str) and own_name else options


async def complete(caller: Caller, api: Api, body: Fields, options: MemoryOptions) -> Response:
    """The answer, by a server that speaks the API, or else by one of chat completions."""
    api.check(body)
    is_stream = wants_stream(body)
    headers = {name: value for name in PASSED_HEADERS if (value := caller.request.headers.get(name))}
    forwarder = relay.find_forwarder(caller.memory.runtime, body, api.name, headers)
    if forwarder is None:
        return await translate(caller, api, body, options, is_stream)
    runtime = caller.memory.runtime
    messages = api.shape.messages(body)
    if not options.memory or not relay.has_speech({"messages": messages}):
        events = cast(AsyncGenerator[Fields], forwarder.relay(body))
        return await EventStream.of(events, {}, api.stream) if is_stream else WholeAnswer(await anext(events))
    request = await continue_request(caller, body, build_relay_request(caller, options, {"messages": messages}), False)
    turn = relay.ForwardedTurn(runtime, forwarder, api.shape, body, await relay.begin_program_turn(runtime, request))
    if is_stream:
        return await EventStream.of(turn.stream(), turn_headers(turn), api.stream)
    return WholeAnswer(await turn.answer_whole(), headers=turn_headers(turn))


async def translate(caller: Caller, api: Api, body: Fields, options: MemoryOptions, is_stream: bool) -> Response:
    """The answer by a server of chat completions. Programs of Anthropic's API ask for thinking of any model: one that
    refuses it is asked without."""
    chat = api.chat_body(body)
    try:
        return await answer_chat(caller, api, body, chat, options, is_stream)
    except ModelError as error:
        is_refused = error.refusal is not None and error.refusal.status in (400, 422)
        if api is not CLAUDE or not is_refused or anthropic.EFFORT not in chat:
            raise
    chat = {name: value for name, value in chat.items() if name != anthropic.EFFORT}
    return await answer_chat(caller, api, body, chat, options, is_stream)


async def answer_chat(
    caller: Caller, api: Api, body: Fields, chat: Fields, options: MemoryOptions, is_stream: bool
) -> Response:
    """The answer to a request of chat completions, in the shape of another API."""
    runtime = caller.memory.runtime
    if not options.memory or not relay.has_speech(chat):
        chunks, headers, writer = relay.relay_without_memory(runtime, chat), {}, api.writer(body, caller, None)
        if not is_stream:
            return WholeAnswer(writer.whole(await anext(chunks)))
    else:
        request = await continue_request(caller, body, build_relay_request(caller, options, chat), True)
        turn = await relay.begin_exchange(runtime, request)
        headers, writer = turn_headers(turn), api.writer(body, caller, turn)
        if not is_stream:
            return WholeAnswer(writer.whole(await turn.answer_whole()), headers=headers)
        chunks = turn.stream()
    first = await anext(chunks, None)  # an error before it gets a status of its own
    return await EventStream.of(write_stream(writer, first, chunks), headers, api.stream)


async def write_stream(
    writer: BlockWriter, first: Fields | None, chunks: AsyncGenerator[Fields]
) -> AsyncGenerator[Fields]:
    """The events of a reply that comes in chunks, of which the first is there."""
    async with aclosing(chunks) as source:
        for event in (*writer.begin(), *writer.feed(first or {})):
            yield event
        async for chunk in source:
            for event in writer.feed(chunk):
                yield event
    for event in (*writer.end(), *writer.last()):
        yield event


async def continue_request(
    caller: Caller, body: Fields, request: relay.RelayRequest, must_be_known: bool
) -> relay.RelayRequest:
    """The request as one that goes on after the response it names, if it names one."""
    previous = body.get("previous_response_id")
    if not isinstance(previous, str) or not previous:
        return request
    line = await relay.read_history(caller.memory.runtime, request.space, request.user, previous)
    if line is None and must_be_known:
        raise Problem(400, "previous_response_not_found", NO_RESPONSE, ({"field": "previous_response_id"},))
    return request if line is None else replace(request, conversation=line[0], history=line[1])

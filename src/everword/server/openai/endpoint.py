"""The drop-in endpoint: OpenAI's API, with a memory behind it. A client changes its base URL and nothing else.

`POST /v1/chat/completions` stores the messages, adds what matters from earlier ones to the model's context, and passes
the model's answer on. The key and the request's `user` decide whose memory it is; a header, or how the messages begin,
decides which conversation. Errors have OpenAI's shape, in a stream too. A client that hangs up ends the turn; what it
was sent is kept.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from everword.errors import EverwordError, InvalidInput
from everword.log.access import Access
from everword.memory import openai_relay as relay
from everword.server.door.access import ANONYMOUS, Caller, SpaceHeader, SpaceQuery, access_for, space_of_request
from everword.server.openai.shapes import (
    MemoryOptions,
    openai_error,
    openai_problem,
    quote_header,
    read_body,
    take_memory_options,
)
from everword.server.problems import Problem, Shape
from everword.server.routing import add_routes

NOBODY = "default"  # whose memory it is if neither the request nor the key says
MODEL = "everword"  # the name of whichever model is configured
INPUTS = 2_048  # texts in one request for vectors
LARGE = 1 << 16  # bytes of a body that takes long to parse
DONE = b"data: [DONE]\n\n"
GONE = 499  # the client has hung up, so nobody reads this answer

# The endpoint in the API's description: the fields that we read; all others are passed on.
SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))

router = APIRouter(prefix="/v1", tags=["OpenAI"])
# The endpoints there are, and those that OpenAI's clients may ask for in vain: they have to read the error.
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/embeddings", "/v1/responses", "/v1/completions", "/v1/moderations",
    "/v1/images", "/v1/audio", "/v1/files", "/v1/batches", "/v1/threads", "/v1/assistants",
)  # fmt: skip
SHAPES: Mapping[str, Shape] = dict.fromkeys(PATHS, openai_error)


def responses(answer: str, *, stream: bool = False) -> dict[int | str, dict[str, Any]]:
    """The responses of a route, for the API's description."""
    content: dict[str, Any] = {"application/json": {"schema": SCHEMA["answers"][answer]}}
    if stream:
        content["text/event-stream"] = {"schema": SCHEMA["event"]}
    failure = {"application/json": {"schema": SCHEMA["error"]}}
    bad: dict[int | str, dict[str, Any]] = {
        int(status): {"description": about, "content": failure} for status, about in SCHEMA["errors"].items()
    }
    return {200: {"description": "As OpenAI answers.", "content": content}} | bad


def caller_for(operation: str) -> Any:
    """A dependency: the caller, as on every route, but with errors in OpenAI's shape."""
    access_check = access_for(operation)

    async def check(
        request: Request, access: Access = access_check, _: SpaceHeader = None, __: SpaceQuery = None
    ) -> Caller:
        try:
            return Caller(request.app.state.memory, access, access.resolve_space(space_of_request(request)), request)
        except EverwordError as error:
            raise openai_problem(error) from None

    return Depends(check)


def mount(app: FastAPI) -> None:
    """Add the endpoint to an application; errors on its paths have OpenAI's shape."""
    add_routes(app, router)
    app.state.shapes.update(SHAPES)


@router.post(
    "/chat/completions",
    summary="Answer with memory",
    openapi_extra=SCHEMA["chat"],
    responses=responses("completion", stream=True),
)
async def chat_completions(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """OpenAI's chat completions, stream or not; every parameter is passed to the model's server."""

    async def answer() -> Response:
        body = await read_request_body(caller.request)
        options = take_memory_options(caller.request.headers, body)
        is_stream = wants_stream(body)
        if not options.memory or not relay.has_speech(body):
            chunks = relay.relay_without_memory(caller.memory.runtime, body)
            return await EventStream.of(chunks, {}) if is_stream else WholeAnswer(await anext(chunks))
        turn = await relay.begin_exchange(
            caller.memory.runtime, build_relay_request(caller.access, caller.space, options, body)
        )
        headers = {"X-Everword-Conversation": quote_header(turn.conversation), "X-Everword-Tokens": str(turn.tokens)}
        if is_stream:
            return await EventStream.of(turn.stream(), headers)
        return WholeAnswer(await turn.answer_whole(), headers=headers)

    return await respond(caller.request, answer)


@router.get("/models", summary="The models", responses=responses("models"))
async def models(caller: Annotated[Caller, caller_for("models")]) -> Response:
    """The models that are configured, and `everword`, which is whichever of them answers."""

    async def answer() -> Response:
        names = relay.model_names(caller.memory.runtime)
        return JSONResponse({"object": "list", "data": [model_entry(name) for name in (MODEL, *names)]})

    return await respond(caller.request, answer)


@router.get("/models/{name:ids}", summary="One model", responses=responses("model"))
async def one_model(caller: Annotated[Caller, caller_for("models")], name: str) -> Response:
    """One of the models that are configured."""

    async def answer() -> Response:
        if name not in (MODEL, *relay.model_names(caller.memory.runtime)):
            raise Problem(404, "model_not_found", "there is no such model; GET /v1/models lists them")
        return JSONResponse(model_entry(name))

    return await respond(caller.request, answer)


@router.post(
    "/embeddings",
    summary="Vectors",
    openapi_extra=SCHEMA["embedding"],
    responses=responses("embeddings"),
)
async def embeddings(caller: Annotated[Caller, caller_for("embeddings")]) -> Response:
    """The vectors of texts, made by the embedder of the memory, whatever model is named."""

    async def answer() -> Response:
        body = await read_request_body(caller.request)
        texts = input_texts(body)
        encoding = body.get("encoding_format") or "float"
        if encoding not in ("float", "base64"):
            raise InvalidInput("encoding_format", "must be float or base64")
        vectors, name, tokens = await relay.embed_texts(caller.memory.runtime, texts)
        if body.get("dimensions") not in (None, vectors.shape[1]):
            raise InvalidInput("dimensions", f"must be {vectors.shape[1]}, as the vectors have, or left out")

        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        envelope = {"object": "list", "model": name, "data": [], "usage": usage}
        return Response(
            await asyncio.to_thread(write_embeddings, envelope, vectors, encoding), media_type="application/json"
        )

    return await respond(caller.request, answer)


def build_relay_request(
    access: Access, space: str, options: MemoryOptions, body: Mapping[str, Any]
) -> relay.RelayRequest:
    """The request to the relay: for whose memory, if the caller may use it."""
    target_space = space if options.space is None else access.resolve_space(options.space)
    user = access.resolve_user(options.user) or (NOBODY if access.key_id == ANONYMOUS else access.key_id)
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


async def respond(request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
    """The answer, or the error in OpenAI's shape; an empty response if the client hangs up before it is ready."""
    await request.body()  # all of it: the next message is then the disconnect
    work = asyncio.ensure_future(answer())
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
    except (EverwordError, Problem) as error:
        failure = openai_problem(error)
        return JSONResponse(openai_error(failure), failure.status, headers=dict(failure.headers))
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
    """Chunks as server-sent events. The response starts only when the first chunk is there: an error before that gets a
    status of its own."""

    media_type = "text/event-stream"

    def __init__(
        self, first: dict[str, Any] | None, chunks: AsyncGenerator[dict[str, Any]], headers: Mapping[str, str]
    ) -> None:
        super().__init__(headers={**headers, "Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._first = first
        self._chunks = chunks

    @classmethod
    async def of(cls, chunks: AsyncGenerator[dict[str, Any]], headers: Mapping[str, str]) -> EventStream:
        return cls(await anext(chunks, None), chunks, headers)

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
                    await send_data(event_bytes(self._first))
                async for chunk in chunks:
                    await send_data(event_bytes(chunk))
                await send_data(DONE, has_more=False)
            except (EverwordError, Problem) as error:
                await send_data(event_bytes(openai_error(openai_problem(error))), has_more=False)


def event_bytes(data: Mapping[str, Any]) -> bytes:
    return b"data: " + dump_json(data) + b"\n\n"


def dump_json(data: Any) -> bytes:
    """Data as JSON. Half a character, where a stream was cut, cannot be encoded: it is passed on as an escape."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()

"""The drop-in endpoint: OpenAI's API, with a memory behind it. A client changes its base URL and nothing else.

`POST /v1/chat/completions` keeps what is said, shows the model what matters of what was said before, and passes its
answer on. Whose memory it is follows from the key and the request's `user`; which conversation, from a header or from
how the messages begin. Whatever goes wrong has OpenAI's shape, in a stream too. A client that hangs up ends the turn;
what it was sent is kept.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from recollect.engine.openai import relay
from recollect.errors import InvalidInput, RecollectError
from recollect.rules.access import Access
from recollect.server.door.access import ANONYMOUS, Asked, Here, Named, may, space_named
from recollect.server.openai import schema
from recollect.server.openai.shapes import Wish, header, problem, read_body, shape, wish_of
from recollect.server.problems import Problem, Shape

NOBODY = "default"  # whose memory it is if neither the request nor the key says
MODEL = "recollect"  # the name of whichever model is configured
INPUTS = 2_048  # texts in one request for vectors
LARGE = 1 << 16  # bytes of a body that takes long to read
DONE = b"data: [DONE]\n\n"
GONE = 499  # nobody is there to read it

router = APIRouter(prefix="/v1", tags=["OpenAI"])
SHAPES: Mapping[str, Shape] = dict.fromkeys(("/v1/chat/completions", "/v1/models", "/v1/embeddings"), shape)


def at(scope: str) -> Any:
    """A dependency: where the caller is, as on every route; what is wrong with that is a 400 to OpenAI's clients."""
    entered = may(scope)

    def check(request: Request, access: Access = entered, _: Named = None, __: Asked = None) -> Here:
        try:
            return Here(request.app.state.memory, access, access.space(space_named(request)), request)
        except RecollectError as error:
            raise problem(error) from None

    return Depends(check)


Reading = Annotated[Here, at("read")]
Writing = Annotated[Here, at("write")]


def mount(app: FastAPI) -> None:
    """Add the endpoint to an application; what goes wrong on its paths has OpenAI's shape."""
    app.include_router(router)
    app.state.shapes.update(SHAPES)


@router.post(
    "/chat/completions",
    summary="Answer with memory",
    openapi_extra=schema.CHAT,
    responses=schema.responses(schema.COMPLETION, stream=True),
)
async def chat_completions(here: Writing) -> Response:
    """OpenAI's chat completions, stream or not; every parameter is passed to the model's server."""

    async def answer() -> Response:
        body = await body_of(here.request)
        wish = wish_of(here.request.headers, body)
        streaming = streams(body)
        if not wish.memory or not relay.speaks(body):
            passed = relay.passed_on(here.memory, body)
            return await EventStream.of(passed, {}) if streaming else Said(await anext(passed))
        talk = await relay.begin(here.memory, asking(here.access, here.space, wish, body))
        headers = {"X-Recollect-Conversation": header(talk.conversation), "X-Recollect-Tokens": str(talk.tokens)}
        if streaming:
            return await EventStream.of(talk.stream(), headers)
        return Said(await talk.whole(), headers=headers)

    return await answered(here.request, answer)


@router.get("/models", summary="The models", responses=schema.responses(schema.MODELS))
async def models(here: Reading) -> Response:
    """The models that are configured, and `recollect`, which is whichever of them answers."""

    async def answer() -> Response:
        names = relay.model_names(here.memory)
        return JSONResponse({"object": "list", "data": [model(name) for name in (MODEL, *names)]})

    return await answered(here.request, answer)


@router.get("/models/{name:ids}", summary="One model", responses=schema.responses(schema.MODEL))
async def one_model(here: Reading, name: str) -> Response:
    """One of the models that are configured."""

    async def answer() -> Response:
        if name not in (MODEL, *relay.model_names(here.memory)):
            raise Problem(404, "model_not_found", "there is no such model; GET /v1/models lists them")
        return JSONResponse(model(name))

    return await answered(here.request, answer)


@router.post(
    "/embeddings",
    summary="Vectors",
    openapi_extra=schema.EMBEDDING,
    responses=schema.responses(schema.EMBEDDINGS),
)
async def embeddings(here: Reading) -> Response:
    """The vectors of texts, made by the embedder of the memory, whatever model is named."""

    async def answer() -> Response:
        body = await body_of(here.request)
        texts, encoding = inputs(body), body.get("encoding_format") or "float"
        if encoding not in ("float", "base64"):
            raise InvalidInput("encoding_format", "must be float or base64")
        vectors, name, tokens = await relay.embedded(here.memory, texts)
        if body.get("dimensions") not in (None, vectors.shape[1]):
            raise InvalidInput("dimensions", f"must be {vectors.shape[1]}, as the vectors have, or left out")

        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        told = {"object": "list", "model": name, "data": [], "usage": usage}
        return Response(await asyncio.to_thread(listed, told, vectors, encoding), media_type="application/json")

    return await answered(here.request, answer)


def asking(access: Access, space: str, wish: Wish, body: Mapping[str, Any]) -> relay.Asking:
    """Whose memory is meant, if the caller may."""
    place = space if wish.space is None else access.space(wish.space)
    user = access.own(wish.user) or (NOBODY if access.key_id == ANONYMOUS else access.key_id)
    return relay.Asking(body, place, user, wish.conversation, wish.budget)


def streams(body: Mapping[str, Any]) -> bool:
    stream = body.get("stream")
    if not isinstance(stream, bool | None):
        raise InvalidInput("stream", "must be true or false")
    return bool(stream)


def model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "recollect"}


def inputs(body: Mapping[str, Any]) -> list[str]:
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or len(texts) > INPUTS:
        raise InvalidInput("input", f"must be a text or a list of 1 to {INPUTS:,} texts")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput("input", "must be text, not tokens (in LangChain: check_embedding_ctx_length=False)")
    if not all(text.strip() for text in texts):
        raise InvalidInput("input", "has an empty text")
    return texts


def listed(told: Mapping[str, Any], vectors: Any, encoding: str) -> bytes:
    """The answer with its vectors. They are written one by one: in one go, nothing else would run meanwhile."""
    rows = [
        written({"object": "embedding", "index": place, "embedding": encoded(row, encoding)})
        for place, row in enumerate(vectors)
    ]
    before, after = written(told).split(b'"data":[]', 1)
    return before + b'"data":[' + b",".join(rows) + b"]" + after


def encoded(row: Any, encoding: str) -> str | list[float]:
    floats = np.asarray(row, dtype="<f4")
    return base64.b64encode(floats.tobytes()).decode("ascii") if encoding == "base64" else floats.tolist()


async def body_of(request: Request) -> dict[str, Any]:
    """The body of a request; a large one is read in a thread, so that others are answered meanwhile."""
    raw = await request.body()
    return read_body(raw) if len(raw) < LARGE else await asyncio.to_thread(read_body, raw)


async def answered(request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
    """The answer, or what went wrong in OpenAI's shape; or nothing, if the client is gone before it is there."""
    await request.body()  # all of it: what comes after is that the client is gone
    work = asyncio.ensure_future(answer())
    try:
        gone = asyncio.ensure_future(disconnected(request.receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # nobody is there to be told
            return Response(status_code=GONE)
        return work.result()
    except (RecollectError, Problem) as error:
        found = problem(error)
        return JSONResponse(shape(found), found.status, headers=dict(found.headers))
    finally:
        work.cancel()


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Said(JSONResponse):
    """An answer in one."""

    def render(self, content: Any) -> bytes:
        return written(content)


class EventStream(Response):
    """Chunks as server-sent events. It has begun with the first, if there is one: until then, an error is a status of
    its own."""

    media_type = "text/event-stream"

    def __init__(
        self, first: dict[str, Any] | None, rest: AsyncGenerator[dict[str, Any]], headers: Mapping[str, str]
    ) -> None:
        super().__init__(headers={**headers, "Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._first, self._rest = first, rest

    @classmethod
    async def of(cls, chunks: AsyncGenerator[dict[str, Any]], headers: Mapping[str, str]) -> EventStream:
        return cls(await anext(chunks, None), chunks, headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Tasks of our own: a cancellation is told to the turn once, and the turn ends in its own time.
        talk = asyncio.ensure_future(self._talk(send))
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            await asyncio.wait({talk, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not talk.done():
                talk.cancel()
                await asyncio.wait({talk})
        if not talk.cancelled():
            talk.result()

    async def _talk(self, send: Send) -> None:
        async def say(data: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": more})

        async with aclosing(self._rest) as chunks:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                if self._first is not None:
                    await say(event(self._first))
                async for chunk in chunks:
                    await say(event(chunk))
                await say(DONE, more=False)
            except (RecollectError, Problem) as error:
                await say(event(shape(problem(error))), more=False)


def event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + written(data) + b"\n\n"


def written(data: Any) -> bytes:
    """JSON. Half a character, as streams are cut, has no bytes of its own: it is passed on as it came, as an escape."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()

"""OpenAI's Responses API and Anthropic's Messages API, with a memory behind them. A client changes its base URL alone.

`POST /v1/responses` and `POST /anthropic/v1/messages` do what chat completions do: whose memory it is, which
conversation, rights and errors are decided by the same code. Where the model's server speaks the API itself, the
request is forwarded with the memory's texts added and nothing else changed, and the answer passed on event by event.
Elsewhere it is translated to chat completions (`everword.openai`), and what these cannot do is refused.

A response is the reply of that name in the log: `previous_response_id` goes on after it, `GET /v1/responses/{id}`
tells it, to whom the conversation belongs, and `DELETE` removes it: what the user said stays.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, cast

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from everword.context.build import PER_MESSAGE
from everword.errors import ModelError
from everword.log.tables import new_id
from everword.memory import openai_relay as relay
from everword.model import Message
from everword.openai import anthropic, responses
from everword.openai.blocks import BlockWriter
from everword.openai.messages import count_tokens, wire_message
from everword.openai.shapes import ANTHROPIC, RESPONSES, Fields, Shape
from everword.ports import ForeignApi
from everword.server.access import Caller, caller_for
from everword.server.openai_endpoint import (
    MODEL,
    SCHEMA,
    EventStream,
    MemoryOptions,
    OpenAiShape,
    WholeAnswer,
    build_relay_request,
    dump_json,
    read_request_body,
    respond,
    take_memory_options,
    turn_headers,
    wants_stream,
)
from everword.server.openai_endpoint import responses as described
from everword.server.problems import Problem, ProblemShape

PATH = "/anthropic"  # `/v1/messages` is a route of ours
PASSED_HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error",
}  # fmt: skip
NO_RESPONSE = "there is no response of this id that is yours; send the whole history instead"

router = APIRouter()


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
        return {"type": "error", "error": {"type": KINDS.get(problem.status, usual), "message": problem.detail}}


SHAPES: dict[str, ProblemShape] = {"/v1/responses": ResponsesShape(), PATH: AnthropicShape()}


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
    tags=["OpenAI"],
    summary="Answer with memory, as a response",
    openapi_extra=SCHEMA["response_request"],
    responses=described("response", stream=True),
)
async def create_response(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """OpenAI's Responses API, stream or not."""
    body = await read_request_body(caller.request)
    options = take_memory_options(caller.request.headers, body)
    return await respond(caller.request, complete(caller, OPENAI, body, with_conversation(options, body)))


@router.get(
    "/v1/responses/{id:ids}", tags=["OpenAI"], summary="A response again", responses=described("response")
)  # fmt: skip
async def one_response(caller: Annotated[Caller, caller_for("responses")], id: str) -> Response:
    """What a response said: its text, and its calls of tools."""
    message = await find_reply(caller, id)
    now = message.time
    writer = responses.ResponseWriter(id, int(now.timestamp()), {}, partial(new_id, now))
    return JSONResponse(writer.whole({"choices": [{"message": wire_message(message)}]}))


@router.delete(
    "/v1/responses/{id:ids}", tags=["OpenAI"], summary="Remove a response", responses=described("deleted")
)  # fmt: skip
async def delete_response(caller: Annotated[Caller, caller_for("delete_message")], id: str) -> Response:
    """Remove a response and all that was derived from it. What the user said before it stays."""
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
    tags=["OpenAI"],
    summary="The models, as Anthropic lists them",
    responses=described("claude_models", error="message_error"),
)
async def list_models(caller: Annotated[Caller, caller_for("models")]) -> Response:
    """The models that are configured, and `everword`, which is whichever of them answers; all on one page."""
    models = [claude_model(name) for name in (MODEL, *relay.model_names(caller.memory.runtime))]
    page = {"has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}
    return JSONResponse({"data": models, **page})


@router.get(
    f"{PATH}/v1/models/{{name:ids}}",
    tags=["OpenAI"],
    summary="One model, as Anthropic shows it",
    responses=described("claude_model", error="message_error"),
)
async def show_model(caller: Annotated[Caller, caller_for("models")], name: str) -> Response:
    """One of the models that are configured."""
    if name not in (MODEL, *relay.model_names(caller.memory.runtime)):
        raise Problem(404, "model_not_found", "there is no such model; GET /anthropic/v1/models lists them")
    return JSONResponse(claude_model(name))


def claude_model(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}


@router.post(
    f"{PATH}/v1/messages",
    tags=["OpenAI"],
    summary="Answer with memory, as a message",
    openapi_extra=SCHEMA["message_request"],
    responses=described("message", stream=True, error="message_error"),
)
async def create_message(caller: Annotated[Caller, caller_for("chat_completions")]) -> Response:
    """Anthropic's Messages API, stream or not."""
    body = await read_request_body(caller.request)
    options = take_memory_options(caller.request.headers, body)
    return await respond(caller.request, complete(caller, CLAUDE, body, with_user(caller, options, body)))


@router.post(
    f"{PATH}/v1/messages/count_tokens",
    tags=["OpenAI"],
    summary="Count the tokens of a message",
    openapi_extra=SCHEMA["message_request"],
    responses=described("count", error="message_error"),
)
async def count_message(caller: Annotated[Caller, caller_for("embeddings")]) -> Response:
    """The tokens of what a request sends, without what the memory adds."""
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

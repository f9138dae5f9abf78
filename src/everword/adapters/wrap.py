"""Gives a program's own client of a model a memory, in this process.

`wrap` returns the client with its calls of a model (`chat.completions.create`, `responses.create`, `messages.create`,
`messages.stream`) replaced; everything else is the client's own. Before a call, what is new of its messages is kept;
what the memory adds is put into the request: what lasts before all messages, what is about the question right before
it. Messages of the program are never changed or left out. After the call the reply is kept, with its calls of tools;
`receipt` on what is returned says what was added and why.

The memory may fail, the call may not: what goes wrong with it is logged, and the call is made as the program made it. A
reply that is streamed is kept as far as it was read. Each API is a `Shape`: it reads requests and replies as messages
in OpenAI's shape, which the log keeps.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from everword.adapters.bridge import AnyMemory, Work, run_async, run_blocking
from everword.errors import InvalidInput
from everword.log.rules import check_id
from everword.memory.memory import MemoryEngine, MemoryFace
from everword.memory.openai_relay import ProgramTurn, RelayRequest, begin_program_turn, end_program_turn
from everword.memory.sync import BlockingMemory
from everword.openai.messages import INSTRUCTIONS

logger = logging.getLogger(__name__)

C = TypeVar("C")
T = TypeVar("T")
Fields = dict[str, Any]
PATIENCE = 10.0  # seconds that a call waits for the memory
FAILED = "a call of a model was made without the memory, which failed: %s"


def wrap(
    client: C,
    memory: AnyMemory,
    *,
    user: str,
    conversation: str | None = None,
    space: str | None = None,
    budget: int | None = None,
) -> C:
    """Give a client of OpenAI's or Anthropic's library, blocking or asynchronous, a memory.

    `client` is the client that you have; use what this returns in its place. `memory` keeps what is said, in a `space`
    if you name one. `user` is whose memory it is. Without a `conversation`, the messages tell which one it is: most
    programs send the whole history with each call. `budget` is the most tokens of the question and what is added.

        client = everword.wrap(OpenAI(), memory, user="alex")
        client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "Where do I live?"}])
    """
    shapes = {path: shape for path, shape in SHAPES.items() if has_path(client, path)}
    if not shapes:
        raise InvalidInput("client", f"is {type(client).__name__}; must be a client of `openai` or `anthropic`")
    is_async = hasattr(client, "__aenter__")
    if not is_async and not isinstance(memory, BlockingMemory):
        raise InvalidInput(
            "memory", "is asynchronous, and the client blocks: give it a Memory, or wrap an async client"
        )
    if isinstance(memory, BlockingMemory):
        memory.run(check_engine)
    else:
        engine_of(memory)
    scope = WrappedScope(memory, check_id("user", user), conversation, space, budget)
    return cast(C, Resource(client, (), shapes, scope, is_async))


@dataclass(frozen=True, slots=True)
class WrappedScope:
    """The memory of a wrapped client, and whose it is. Nothing that fails in it reaches the program."""

    memory: AnyMemory
    user: str
    conversation: str | None
    space: str | None
    budget: int | None

    async def begin(self, messages: Sequence[Fields], memory: MemoryFace) -> ProgramTurn:
        runtime = engine_of(memory).runtime
        space = runtime.resolve_space(self.space)
        request = RelayRequest({"messages": list(messages)}, space, self.user, self.conversation, self.budget)
        return await asyncio.wait_for(begin_program_turn(runtime, request), PATIENCE)

    async def end(self, turn: ProgramTurn, reply: Fields, memory: MemoryFace) -> None:
        await asyncio.wait_for(end_program_turn(engine_of(memory).runtime, turn, reply), PATIENCE)


async def check_engine(memory: MemoryFace) -> None:
    engine_of(memory)


def engine_of(memory: MemoryFace) -> MemoryEngine:
    if not isinstance(memory, MemoryEngine):
        raise InvalidInput("memory", "is on a server: give the program's client the server's address as its base URL")
    return memory


# -- the client


class Resource:
    """A part of a client, with the calls below it that are remembered."""

    def __init__(
        self,
        inner: Any,
        path: tuple[str, ...],
        shapes: Mapping[tuple[str, ...], Shape],
        scope: WrappedScope,
        is_async: bool,
    ) -> None:
        self._inner, self._path, self._shapes, self._scope, self._is_async = inner, path, shapes, scope, is_async

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        path = (*self._path, name)
        if path in self._shapes:
            call = WrappedCall(value, self._shapes[path], self._scope)
            return call.manage if path[-1] == "stream" else call.acreate if self._is_async else call.create
        if any(known[: len(path)] == path for known in self._shapes):
            return Resource(value, path, self._shapes, self._scope, self._is_async)
        return value

    def __enter__(self) -> Resource:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._inner.__exit__(*error)

    async def __aenter__(self) -> Resource:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._inner.__aexit__(*error)


@dataclass(frozen=True, slots=True)
class WrappedCall:
    """One call of a client, with the memory around it."""

    method: Callable[..., Any]
    shape: Shape
    scope: WrappedScope

    def create(self, *args: Any, **fields: Any) -> Any:
        turn, fields = self.begin(fields)
        response = self.method(*args, **fields)
        if turn is None:
            return response
        if fields.get("stream"):
            return ReadStream(response, self, turn)
        self.end(turn, partial(self.shape.reply, response))
        return with_receipt(response, turn)

    async def acreate(self, *args: Any, **fields: Any) -> Any:
        turn, fields = await self.abegin(fields)
        response = await self.method(*args, **fields)
        if turn is None:
            return response
        if fields.get("stream"):
            return ReadStream(response, self, turn)
        await self.aend(turn, partial(self.shape.reply, response))
        return with_receipt(response, turn)

    def manage(self, *args: Any, **fields: Any) -> ManagedStream:
        return ManagedStream(self, args, fields)

    def begin(self, fields: Fields) -> tuple[ProgramTurn | None, Fields]:
        turn = attempt(lambda: run_blocking(self.scope.memory, self._beginning(fields)))
        return turn, fields if turn is None else self.shape.with_texts(fields, turn.texts)

    async def abegin(self, fields: Fields) -> tuple[ProgramTurn | None, Fields]:
        turn = await attempt_async(lambda: run_async(self.scope.memory, self._beginning(fields)))
        return turn, fields if turn is None else self.shape.with_texts(fields, turn.texts)

    def _beginning(self, fields: Fields) -> Work[ProgramTurn]:
        return partial(self.scope.begin, self.shape.messages(fields))

    def end(self, turn: ProgramTurn, reply: Callable[[], Fields]) -> None:
        attempt(lambda: run_blocking(self.scope.memory, partial(self.scope.end, turn, reply())))

    async def aend(self, turn: ProgramTurn, reply: Callable[[], Fields]) -> None:
        await attempt_async(lambda: run_async(self.scope.memory, partial(self.scope.end, turn, reply())))


def attempt(work: Callable[[], T]) -> T | None:
    """What the memory gives; None, with a line in the log, if it fails: the program's call goes on."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001  whatever it is, it is not the program's fault
        logger.warning(FAILED, error)
        return None


async def attempt_async(work: Callable[[], Awaitable[T]]) -> T | None:
    """The same, asynchronously."""
    try:
        return await work()
    except Exception as error:  # noqa: BLE001  whatever it is, it is not the program's fault
        logger.warning(FAILED, error)
        return None


def with_receipt(response: Any, turn: ProgramTurn) -> Any:
    """The response with a `receipt`, which is no field of it: what is written of it stays as it was."""
    object.__setattr__(response, "receipt", turn.receipt)
    return response


class ReadStream:
    """A stream of a client; what is read of it is kept when it ends or is left."""

    def __init__(self, inner: Any, call: WrappedCall, turn: ProgramTurn) -> None:
        self._inner, self._call, self._turn = inner, call, turn
        self._reply = call.shape.collector()
        self._is_kept = False
        self.receipt = turn.receipt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            for event in self._inner:
                self._reply.add(event)
                yield event
        finally:
            self._keep()

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for event in self._inner:
                self._reply.add(event)
                yield event
        finally:
            await self._akeep()

    def __enter__(self) -> ReadStream:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._inner.__exit__(*error)
        self._keep()

    async def __aenter__(self) -> ReadStream:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._inner.__aexit__(*error)
        await self._akeep()

    def _keep(self) -> None:
        if not self._is_kept:
            self._is_kept = True
            self._call.end(self._turn, self._reply.message)

    async def _akeep(self) -> None:
        if not self._is_kept:
            self._is_kept = True
            await self._call.aend(self._turn, self._reply.message)


class ManagedStream:
    """Anthropic's `messages.stream`: a block that opens a stream and ends it. The reply is what was read by then."""

    def __init__(self, call: WrappedCall, args: tuple[Any, ...], fields: Fields) -> None:
        self._call, self._args, self._fields = call, args, fields
        self._manager: Any = None
        self._stream: Any = None
        self._turn: ProgramTurn | None = None

    def __enter__(self) -> Any:
        self._turn, fields = self._call.begin(self._fields)
        manager: AbstractContextManager[Any] = self._call.method(*self._args, **fields)
        self._manager, self._stream = manager, manager.__enter__()
        return self._stream if self._turn is None else with_receipt(self._stream, self._turn)

    def __exit__(self, *error: object) -> None:
        self._manager.__exit__(*error)
        if self._turn is not None:
            self._call.end(self._turn, self._reply)

    async def __aenter__(self) -> Any:
        self._turn, fields = await self._call.abegin(self._fields)
        manager: AbstractAsyncContextManager[Any] = self._call.method(*self._args, **fields)
        self._manager, self._stream = manager, await manager.__aenter__()
        return self._stream if self._turn is None else with_receipt(self._stream, self._turn)

    async def __aexit__(self, *error: object) -> None:
        await self._manager.__aexit__(*error)
        if self._turn is not None:
            await self._call.aend(self._turn, self._reply)

    def _reply(self) -> Fields:
        return self._call.shape.reply(self._stream.current_message_snapshot)


# -- the shapes of APIs


@dataclass(slots=True)
class Collector:
    """Puts the events of a stream together: text, and calls of tools by their place."""

    read: Callable[[Any], Iterator[tuple[int | None, Fields]]]
    text: str = ""
    calls: dict[int, Fields] = field(default_factory=dict)

    def add(self, event: Any) -> None:
        for place, part in self.read(event):
            if place is None:
                self.text += part["text"]
                continue
            call = self.calls.setdefault(
                place, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
            call["id"] = part.get("id") or call["id"]
            call["function"]["name"] += part.get("name") or ""
            call["function"]["arguments"] += part.get("arguments") or ""

    def message(self) -> Fields:
        calls = [self.calls[place] for place in sorted(self.calls)]
        return {"content": self.text, **({"tool_calls": calls} if calls else {})}


@dataclass(frozen=True, slots=True)
class Shape:
    """How an API writes messages: those of a request, where texts of the memory are put, a reply, and a stream."""

    messages: Callable[[Fields], list[Fields]]
    with_texts: Callable[[Fields, Sequence[str]], Fields]
    reply: Callable[[Any], Fields]
    read_event: Callable[[Any], Iterator[tuple[int | None, Fields]]]

    def collector(self) -> Collector:
        return Collector(self.read_event)


def as_fields(value: Any) -> Any:
    """A value of a client's library as plain data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    if isinstance(value, Mapping):
        return {name: as_fields(item) for name, item in value.items()}
    return [as_fields(item) for item in value] if isinstance(value, list | tuple) else value


def tool_call(id: Any, name: Any, arguments: Any) -> Fields:
    content = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": str(id or ""), "type": "function", "function": {"name": str(name or ""), "arguments": content}}


def beside_question(messages: Sequence[Any], texts: Sequence[str], role: str) -> list[Any]:
    """Messages of a program with those of the memory: what lasts after the instructions they begin with, the rest right
    before the last message of the user."""
    memory_messages = [{"role": role, "content": text} for text in texts]
    roles = [as_fields(message).get("role") for message in messages]
    start = next((place for place, speaker in enumerate(roles) if speaker not in INSTRUCTIONS), len(roles))
    question = max((place for place, speaker in enumerate(roles) if speaker == "user"), default=start)
    question = max(question, start)
    return [
        *messages[:start],
        *memory_messages[:1],
        *messages[start:question],
        *memory_messages[1:],
        *messages[question:],
    ]


def chat_messages(fields: Fields) -> list[Fields]:
    return [as_fields(message) for message in fields["messages"]]


def chat_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    role = next((m["role"] for m in chat_messages(fields) if m.get("role") in INSTRUCTIONS), "system")
    return {**fields, "messages": beside_question(fields["messages"], texts, role)}


def chat_reply(response: Any) -> Fields:
    return cast(Fields, as_fields(response.choices[0].message))


def chat_event(event: Any) -> Iterator[tuple[int | None, Fields]]:
    for choice in event.choices:
        if choice.index == 0 and choice.delta is not None:
            yield None, {"text": choice.delta.content or ""}
            for part in choice.delta.tool_calls or ():
                function = part.function
                named = {} if function is None else {"name": function.name, "arguments": function.arguments}
                yield part.index, {"id": part.id, **named}


def response_items(fields: Fields) -> list[Any]:
    items = fields.get("input") or ""
    return [{"role": "user", "content": items}] if isinstance(items, str) else list(items)


def response_messages(fields: Fields) -> list[Fields]:
    return [message for item in response_items(fields) if (message := item_message(as_fields(item)))]


def item_message(item: Fields) -> Fields | None:
    """An item of OpenAI's responses as a message; None for one that says nothing, as thoughts."""
    if item.get("role"):
        return item
    if item.get("type") == "function_call":
        calls = [tool_call(item.get("call_id"), item.get("name"), item.get("arguments") or "")]
        return {"role": "assistant", "content": "", "tool_calls": calls}
    if item.get("type") == "function_call_output":
        output = item.get("output")
        content = output if isinstance(output, str) else json.dumps(output)
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    return None


def response_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    return {**fields, "input": beside_question(response_items(fields), texts, "developer")}


def response_reply(response: Any) -> Fields:
    items = [item for item in map(as_fields, response.output) if item.get("type") == "function_call"]
    calls = [tool_call(item.get("call_id"), item.get("name"), item.get("arguments") or "") for item in items]
    return {"content": response.output_text, **({"tool_calls": calls} if calls else {})}


def response_event(event: Any) -> Iterator[tuple[int | None, Fields]]:
    if event.type == "response.output_text.delta":
        yield None, {"text": event.delta}
    elif event.type == "response.output_item.done" and event.item.type == "function_call":
        item = event.item
        yield event.output_index, {"id": item.call_id, "name": item.name, "arguments": item.arguments}


def anthropic_messages(fields: Fields) -> list[Fields]:
    return [part for message in map(as_fields, fields["messages"]) for part in block_messages(message)]


def block_messages(message: Fields) -> Iterator[Fields]:
    """A message of Anthropic's: results of tools are messages of their own, before what else it says."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    for block in blocks:
        if block.get("type") == "tool_result":
            result = block.get("content")
            text = result if isinstance(result, str) else "\n".join(b.get("text") or "" for b in result or ())
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text}
    calls = [tool_call(b.get("id"), b.get("name"), b.get("input")) for b in blocks if b.get("type") == "tool_use"]
    spoken_blocks = [
        b for b in blocks if b.get("type") not in ("tool_result", "tool_use", "thinking", "redacted_thinking")
    ]
    if spoken_blocks or calls:
        yield {"role": message.get("role"), "content": spoken_blocks, **({"tool_calls": calls} if calls else {})}


def anthropic_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    """Anthropic's API has instructions beside the messages, not among them."""
    own_system = fields.get("system")
    own_system = own_system if isinstance(own_system, str | list | tuple) else ()  # the library has a value for "none"
    blocks = [{"type": "text", "text": own_system}] if own_system and isinstance(own_system, str) else list(own_system)
    memory_blocks = [{"type": "text", "text": text} for text in texts]
    return {**fields, "system": [*blocks, *memory_blocks]} if memory_blocks else fields


def anthropic_reply(response: Any) -> Fields:
    return next(block_messages({"role": "assistant", "content": as_fields(response).get("content")}), {"content": ""})


def anthropic_event(event: Any) -> Iterator[tuple[int | None, Fields]]:
    if event.type == "content_block_start" and event.content_block.type == "tool_use":
        yield event.index, {"id": event.content_block.id, "name": event.content_block.name}
    elif event.type == "content_block_delta" and event.delta.type == "text_delta":
        yield None, {"text": event.delta.text}
    elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
        yield event.index, {"arguments": event.delta.partial_json}


CHAT = Shape(chat_messages, chat_with_texts, chat_reply, chat_event)
RESPONSES = Shape(response_messages, response_with_texts, response_reply, response_event)
ANTHROPIC = Shape(anthropic_messages, anthropic_with_texts, anthropic_reply, anthropic_event)
SHAPES: Mapping[tuple[str, ...], Shape] = {
    ("chat", "completions", "create"): CHAT,
    ("responses", "create"): RESPONSES,
    ("messages", "create"): ANTHROPIC,
    ("messages", "stream"): ANTHROPIC,
}


def find_path(client: Any, path: Sequence[str]) -> Any:
    for name in path:
        client = getattr(client, name, None)
    return client


def has_path(client: Any, path: Sequence[str]) -> bool:
    return callable(find_path(client, path))

"""Gives a program's own client of a model a memory, in this process.

`wrap` returns the client with its calls of a model (`chat.completions.create`, `responses.create`, `messages.create`,
`messages.stream`) replaced; everything else is the client's own. Before a call, what is new of its messages is kept;
what the memory adds is put into the request: what lasts before all messages, what is about the question right before
it. Messages of the program are never changed or left out. After the call the reply is kept, with its calls of tools;
`receipt` on what is returned says what was added and why.

The memory may fail, the call may not: what goes wrong with it is logged, and the call is made as the program made it. A
reply that is streamed is kept as far as it was read; its events are looked at when it has ended.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from everword.adapters.blocking_or_async import AnyMemory, TurnMemory, attempt, check_local
from everword.errors import InvalidInput
from everword.memory.blocking import BlockingMemory
from everword.memory.openai_relay import ProgramTurn
from everword.openai.request_layouts import ANTHROPIC, CHAT, RESPONSES, Fields, Shape

C = TypeVar("C")


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
            "memory", "is asynchronous, but the client is not; give a Memory, or wrap an asynchronous client"
        )
    check_local(memory)
    turns = TurnMemory(memory, user, conversation, space, budget)
    return cast(C, Resource(client, (), shapes, turns, is_async))


# -- the client


class Resource:
    """A part of a client, with the calls below it that are remembered."""

    def __init__(
        self,
        inner: Any,
        path: tuple[str, ...],
        shapes: Mapping[tuple[str, ...], Shape],
        turns: TurnMemory,
        is_async: bool,
    ) -> None:
        self._inner, self._path, self._shapes, self._turns, self._is_async = inner, path, shapes, turns, is_async

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        path = (*self._path, name)
        if path in self._shapes:
            call = WrappedCall(value, self._shapes[path], self._turns)
            return call.manage if path[-1] == "stream" else call.acreate if self._is_async else call.create
        if any(shape_path[: len(path)] == path for shape_path in self._shapes):
            return Resource(value, path, self._shapes, self._turns, self._is_async)
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
    turns: TurnMemory

    def create(self, *args: Any, **fields: Any) -> Any:
        turn, fields = self.begin(fields)
        response = self.method(*args, **fields)
        if turn is None:
            return response
        if fields.get("stream"):
            return ReadStream(response, self, turn)
        self.turns.end(turn, lambda: self.shape.reply(as_fields(response)))
        return with_receipt(response, turn)

    async def acreate(self, *args: Any, **fields: Any) -> Any:
        turn, fields = await self.abegin(fields)
        response = await self.method(*args, **fields)
        if turn is None:
            return response
        if fields.get("stream"):
            return ReadStream(response, self, turn)
        await self.turns.aend(turn, lambda: self.shape.reply(as_fields(response)))
        return with_receipt(response, turn)

    def manage(self, *args: Any, **fields: Any) -> ManagedStream:
        return ManagedStream(self, args, fields)

    def begin(self, fields: Fields) -> tuple[ProgramTurn | None, Fields]:
        fields = read_iterators(fields)
        return self._with_memory(self.turns.begin(partial(self._messages, fields)), fields)

    async def abegin(self, fields: Fields) -> tuple[ProgramTurn | None, Fields]:
        fields = read_iterators(fields)
        return self._with_memory(await self.turns.abegin(partial(self._messages, fields)), fields)

    def _with_memory(self, turn: ProgramTurn | None, fields: Fields) -> tuple[ProgramTurn | None, Fields]:
        if turn is None:
            return None, fields
        return turn, attempt(lambda: self.shape.with_texts(fields, turn.texts)) or fields

    def _messages(self, fields: Fields) -> list[Fields]:
        return self.shape.messages(as_fields(fields))


def with_receipt(response: Any, turn: ProgramTurn) -> Any:
    """The response with a `receipt`, which is no field of it: what is written of it stays as it was."""
    object.__setattr__(response, "receipt", turn.receipt)
    return response


class ReadStream:
    """A stream of a client; what is read of it is kept when it ends or is left."""

    def __init__(self, inner: Any, call: WrappedCall, turn: ProgramTurn) -> None:
        self._inner, self._call, self._turn = inner, call, turn
        self._events: list[Any] = []
        self._is_kept = False
        self.receipt = turn.receipt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            for event in self._inner:
                self._events.append(event)
                yield event
        finally:
            self._keep()

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for event in self._inner:
                self._events.append(event)
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
            self._call.turns.end(self._turn, self._reply)

    async def _akeep(self) -> None:
        if not self._is_kept:
            self._is_kept = True
            await self._call.turns.aend(self._turn, self._reply)

    def _reply(self) -> Fields:
        reply = self._call.shape.collector()
        for event in self._events:
            reply.add(as_fields(event))
        return reply.message()


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
            self._call.turns.end(self._turn, self._reply)

    async def __aenter__(self) -> Any:
        self._turn, fields = await self._call.abegin(self._fields)
        manager: AbstractAsyncContextManager[Any] = self._call.method(*self._args, **fields)
        self._manager, self._stream = manager, await manager.__aenter__()
        return self._stream if self._turn is None else with_receipt(self._stream, self._turn)

    async def __aexit__(self, *error: object) -> None:
        await self._manager.__aexit__(*error)
        if self._turn is not None:
            await self._call.turns.aend(self._turn, self._reply)

    def _reply(self) -> Fields:
        return self._call.shape.reply(as_fields(self._stream.current_message_snapshot))


# -- the calls that are remembered


def as_fields(value: Any) -> Any:
    """A value of a client's library as plain data."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True, warnings=False)
    if isinstance(value, Mapping):
        return {name: as_fields(item) for name, item in value.items()}
    return [as_fields(item) for item in value] if isinstance(value, list | tuple) else value


def read_iterators(fields: Fields) -> Fields:
    """The arguments of a call, with lists for what can be read only once."""
    return {name: [*value] if isinstance(value, Iterator) else value for name, value in fields.items()}


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

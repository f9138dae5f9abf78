"""Lets one piece of asynchronous code run with a `Memory` and with an `AsyncMemory`.

The code is a function of an asynchronous memory. A blocking memory runs it on its own loop; in an asynchronous program
that is waited for in a thread, so that the program's loop is not blocked. An asynchronous memory in a blocking program
raises an error. A `Client` is used like a `Memory` and an `AsyncClient` like an `AsyncMemory`.

A program's session is a conversation of the memory (`Thread`): it can be cleared, and its last message taken back, over
a log from which nothing is removed. Clearing it begins another conversation, `chat~2` after `chat`: the session is
empty, and the earlier messages are still in the log and still found. A session that is itself called `chat~2` is the
conversation `chat~2~1`, so that no two sessions share a conversation. A message taken back is hidden from the session.
One document for each session holds this state. `erase` removes what a person said for good.

A program that asks its model itself gets a memory by `TurnMemory`: before a call, what is new of its messages is kept
and what the memory adds is chosen; after it, the reply is kept. The memory may fail, the program may not: what goes
wrong is logged, and the program goes on without it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from typing import Any, TypeAlias, TypeVar

from everword.documents import SESSIONS
from everword.errors import EverwordError, InvalidInput
from everword.log.access import ConversationScope
from everword.log.checks_and_seals import MAX_ID, check_id
from everword.memory.blocking import BlockingMemory
from everword.memory.memory import MemoryEngine, MemoryFace
from everword.memory.openai_relay import (
    ProgramTurn,
    RelayRequest,
    added_texts,
    begin_program_turn,
    build_program_context,
    end_program_turn,
    keep_program_messages,
)
from everword.memory.operations.conversation import ConversationFace
from everword.memory.runtime import Runtime
from everword.model import Change, Document, Draft, Message
from everword.openai.request_layouts import Fields
from everword.text import escaping

logger = logging.getLogger(__name__)

T = TypeVar("T")
AnyMemory: TypeAlias = BlockingMemory | MemoryFace  # blocking or not, in this process or on a server
Work: TypeAlias = Callable[[MemoryFace], Coroutine[Any, Any, T]]
LONGEST = MAX_ID - 16  # characters of a session's id: a number follows it
NUMBER_SUFFIX = re.compile(r"~\d+$")
PATIENCE = 10.0  # seconds that a program waits for the memory
FAILED = "the program goes on without the memory, which failed: %s"
FOUND = 8  # messages that a tool finds
NOTHING = "Nothing was found."
NOWHERE = "~"  # a conversation that nobody has
UNREACHABLE = "The memory cannot be reached now. Go on without it."


def run_blocking(memory: AnyMemory, work: Work[T]) -> T:
    """Run the work, blocking."""
    if not isinstance(memory, BlockingMemory):
        raise EverwordError(
            "this adapter uses an AsyncMemory: call its asynchronous methods, or create the adapter with a Memory"
        )
    return memory.run(work)


async def run_async(memory: AnyMemory, work: Work[T]) -> T:
    """Run the work, asynchronously."""
    if isinstance(memory, BlockingMemory):
        return await asyncio.to_thread(memory.run, work)
    return await work(memory)


async def run_shielded(memory: AnyMemory, work: Work[T]) -> T:
    """Run work that changes something to its end, even if the caller is cancelled; then raise the cancellation, so
    that nothing is changed after the caller has gone on."""
    task = asyncio.ensure_future(run_async(memory, work))
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        task.cancelled() or task.exception()  # read, so that asyncio does not log it as lost
        raise cancellation
    return task.result()


# -- a program's turns


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """The memory of a program that asks its model itself, and whose it is: context before a call, the turn kept after
    it, and tools. Nothing that fails in it reaches the program. Its messages come and go in OpenAI's shape.

    Without a `conversation`, the messages tell which one it is. `budget` is the most tokens of the question and what is
    added to it.
    """

    memory: AnyMemory
    user: str
    conversation: str | None = None
    space: str | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        check_id("user", self.user)

    def begin(self, messages: Callable[[], Sequence[Fields]]) -> ProgramTurn | None:
        """Keep what is new of the messages, and choose what the memory adds; None if the memory fails."""
        return attempt(lambda: run_blocking(self.memory, partial(self._begin, messages())))

    async def abegin(self, messages: Callable[[], Sequence[Fields]]) -> ProgramTurn | None:
        return await attempt_async(lambda: run_async(self.memory, partial(self._begin, messages())))

    def end(self, turn: ProgramTurn | None, reply: Callable[[], Fields]) -> None:
        """Keep the model's reply."""
        if turn is not None:
            attempt(lambda: run_blocking(self.memory, partial(self._end, turn, reply())))

    async def aend(self, turn: ProgramTurn | None, reply: Callable[[], Fields]) -> None:
        if turn is not None:
            await attempt_async(lambda: run_async(self.memory, partial(self._end, turn, reply())))

    def keep(self, messages: Callable[[], Sequence[Fields]]) -> None:
        """Keep what is new of the messages, and choose nothing: for a program that says when a turn has ended."""
        attempt(lambda: run_blocking(self.memory, partial(self._keep, messages())))

    async def akeep(self, messages: Callable[[], Sequence[Fields]]) -> None:
        await attempt_async(lambda: run_async(self.memory, partial(self._keep, messages())))

    def recall(self, text: str) -> tuple[str, ...]:
        """What the memory adds to a text, keeping nothing."""
        return attempt(lambda: run_blocking(self.memory, partial(self._recall, text, None))) or ()

    async def arecall(self, text: str, thread: Thread | None = None) -> tuple[str, ...]:
        """What the memory adds to a text, keeping nothing: for a program whose messages are kept as it stores them, in
        the `thread` if it shows that to its model."""
        return await attempt_async(lambda: run_async(self.memory, partial(self._recall, text, thread))) or ()

    async def search_memory(self, query: str) -> str:
        """Find what was said in earlier conversations, by words and by meaning.

        Args:
            query: What to look for, in plain words.
        """

        async def search(memory: MemoryFace) -> str:
            hits = await memory.search(query, user=self.user, space=self.space, limit=FOUND)
            return (
                escaping.data_block("MESSAGES", escaping.messages([hit.message for hit in hits])) if hits else NOTHING
            )

        answer = await attempt_async(lambda: run_async(self.memory, search))
        return UNREACHABLE if answer is None else answer

    async def remember(self, statement: str) -> str:
        """Keep something about the user for good, when they ask for it or tell something lasting about themselves.

        Args:
            statement: One statement, as in "I like tea".
        """

        async def remember(memory: MemoryFace) -> str:
            statements = await memory.remember(statement, user=self.user, space=self.space)
            return escaping.data_block("REMEMBERED", [escaping.escape_line(statement.text) for statement in statements])

        try:
            return await run_async(self.memory, remember)
        except InvalidInput as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  whatever it is, it is not the program's fault
            logger.warning(FAILED, error)
            return UNREACHABLE

    async def _begin(self, messages: Sequence[Fields], memory: MemoryFace) -> ProgramTurn:
        runtime = engine_of(memory).runtime
        return await asyncio.wait_for(begin_program_turn(runtime, self._request(messages, runtime)), PATIENCE)

    async def _keep(self, messages: Sequence[Fields], memory: MemoryFace) -> None:
        runtime = engine_of(memory).runtime
        await asyncio.wait_for(keep_program_messages(runtime, self._request(messages, runtime)), PATIENCE)

    def _request(self, messages: Sequence[Fields], runtime: Runtime) -> RelayRequest:
        space = runtime.resolve_space(self.space)
        return RelayRequest({"messages": list(messages)}, space, self.user, self.conversation, self.budget)

    async def _end(self, turn: ProgramTurn, reply: Fields, memory: MemoryFace) -> None:
        await asyncio.wait_for(end_program_turn(engine_of(memory).runtime, turn, reply), PATIENCE)

    async def _recall(self, text: str, thread: Thread | None, memory: MemoryFace) -> tuple[str, ...]:
        runtime = engine_of(memory).runtime
        shown_messages = await thread.messages(None, memory) if thread else []
        id = shown_messages[-1].conversation if shown_messages else thread.session if thread else NOWHERE
        scope = ConversationScope(runtime.resolve_space(self.space), id, self.user)
        users_messages = (message for message in reversed(shown_messages) if message.role == "user")
        question = next((message for message in users_messages if message.content == text), None)
        building = build_program_context(runtime, scope, text, question, shown_messages, self.budget)
        return added_texts(await asyncio.wait_for(building, PATIENCE))


def with_texts(instructions: str | None, texts: Sequence[str]) -> str | None:
    """A program's instructions, and after them what the memory adds."""
    return "\n\n".join(part for part in (instructions, *texts) if part) or None


def call_fields(text: str, calls: Sequence[tuple[str, str, str]] = ()) -> Fields:
    """A model's reply in OpenAI's shape, with its calls of tools: id, name and arguments."""
    tool_calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in calls
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": tool_calls} if tool_calls else {})}


def result_fields(id: str, text: str) -> Fields:
    """What a tool answered to a call, in OpenAI's shape."""
    return {"role": "tool", "tool_call_id": id, "content": text}


def check_local(memory: AnyMemory) -> None:
    """Refuse a memory that is on a server: what a program's messages have that is new is seen in this process."""
    if isinstance(memory, BlockingMemory):
        memory.run(check_engine)
    else:
        engine_of(memory)


def blocking_tool(memory: AnyMemory, work: Callable[..., Coroutine[Any, Any, str]]) -> Callable[..., str]:
    """A tool for a program that does not await."""

    @wraps(work)
    def call(*args: Any, **arguments: Any) -> str:
        return attempt(lambda: run_blocking(memory, lambda _: work(*args, **arguments))) or UNREACHABLE

    return call


async def check_engine(memory: MemoryFace) -> None:
    engine_of(memory)


def engine_of(memory: MemoryFace) -> MemoryEngine:
    if not isinstance(memory, MemoryEngine):
        raise InvalidInput(
            "memory",
            "must be a Memory or AsyncMemory, not a Client; to use a server, set your model client's base URL to the "
            "server's address",
        )
    return memory


def attempt(work: Callable[[], T]) -> T | None:
    """What the memory gives; None, with a line in the log, if it fails: the program goes on."""
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


# -- a program's sessions


@dataclass(frozen=True, slots=True)
class SessionState:
    """The number of a session's current conversation, and the turns of the messages hidden in it."""

    number: int = 1
    hidden_turns: tuple[int, ...] = ()


class Thread:
    """A session's messages. Every method takes the memory they are in last, so that `run_async` can give it."""

    def __init__(self, session: str, user: str | None, space: str | None) -> None:
        self.session = check_id("session", session)
        self._user = user
        self._space = space
        if len(session) > LONGEST:
            raise InvalidInput("session", f"has {len(session)} characters; at most {LONGEST} are allowed")
        self._namespace = state_namespace(session)

    async def messages(self, limit: int | None, memory: MemoryFace) -> list[Message]:
        """The session's messages in order; with `limit`, the last ones."""
        state = await self._load_state(memory)
        max_messages = None if limit is None else limit + len(state.hidden_turns)
        chat = self._conversation(state, memory)
        messages = [] if max_messages == 0 else await chat.history(limit=max_messages)
        now = datetime.now(UTC)
        if limit is not None and not all(message.is_shown_at(now) for message in messages):
            messages = await chat.history()  # what has expired is in the log, and not in a session
        hidden_turns = {*state.hidden_turns}
        visible = [message for message in messages if message.turn not in hidden_turns and message.is_shown_at(now)]
        return visible if limit is None else visible[max(len(visible) - limit, 0) :]

    async def add(self, drafts: Sequence[Draft], memory: MemoryFace) -> None:
        if drafts:
            await self._conversation(await self._load_state(memory), memory).extend(drafts)

    async def pop(self, memory: MemoryFace) -> Message | None:
        """Hide the last message, and return it."""
        while True:
            state = await self._load_state(memory)
            last = await self.messages(1, memory)
            if not last:
                return None
            new_state = SessionState(state.number, (*state.hidden_turns, last[0].turn))
            if await self._save_state(state, new_state, memory):
                return last[0]

    async def clear(self, memory: MemoryFace) -> None:
        """Begin a new conversation, unless the session is empty already."""
        while await self.messages(1, memory):
            state = await self._load_state(memory)
            if await self._save_state(state, SessionState(state.number + 1), memory):
                return

    def _conversation(self, state: SessionState, memory: MemoryFace) -> ConversationFace:
        first = state.number == 1 and not NUMBER_SUFFIX.search(self.session)
        id = self.session if first else f"{self.session}~{state.number}"
        return memory.conversation(id, user=self._user, space=self._space)

    async def _load_state(self, memory: MemoryFace) -> SessionState:
        return parse_state(await memory.documents(space=self._space).get(self._namespace, self.session))

    async def _save_state(self, before: SessionState, after: SessionState, memory: MemoryFace) -> bool:
        """Save the state, unless it has changed since `before` was read."""
        value = {"number": after.number, "gone": list(after.hidden_turns)}

        def decide(documents: dict[str, Document]) -> tuple[list[Change], bool]:
            if parse_state(documents.get(self.session)) != before:
                return [], False
            return [Change(self._namespace, self.session, value, self._user, ())], True

        return await memory.documents(space=self._space).edit(self._namespace, decide)


def state_namespace(session: str) -> tuple[str, ...]:
    """The namespace of a session's state: one of many, since an edit reads all documents of a namespace."""
    return SESSIONS, f"sessions~{hashlib.sha256(session.encode()).hexdigest()[:3]}"


def parse_state(document: Document | None) -> SessionState:
    return SessionState() if document is None else SessionState(document.value["number"], tuple(document.value["gone"]))

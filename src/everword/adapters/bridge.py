"""Lets one piece of asynchronous code run with a `Memory` and with an `AsyncMemory`.

The code is a function of an asynchronous memory. A blocking memory runs it on its own loop; in an asynchronous program
that is waited for in a thread, so that the program's loop is not blocked. An asynchronous memory in a blocking program
raises an error. A `Client` is used like a `Memory` and an `AsyncClient` like an `AsyncMemory`.

A program's session is a conversation of the memory (`Thread`): it can be cleared, and its last message taken back, over
a log from which nothing is removed. Clearing it begins another conversation, `chat~2` after `chat`: the session is
empty, and the earlier messages are still in the log and still found. A session that is itself called `chat~2` is the
conversation `chat~2~1`, so that no two sessions share a conversation. A message taken back is hidden from the session.
One document for each session holds this state. `erase` removes what a person said for good.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

from everword.documents import SESSIONS
from everword.errors import EverwordError, InvalidInput
from everword.log.rules import MAX_ID, check_id
from everword.memory.conversation import ConversationFace
from everword.memory.memory import MemoryFace
from everword.memory.sync import BlockingMemory
from everword.model import Change, Document, Draft, Message

T = TypeVar("T")
AnyMemory: TypeAlias = BlockingMemory | MemoryFace  # blocking or not, in this process or on a server
Work: TypeAlias = Callable[[MemoryFace], Coroutine[Any, Any, T]]
LONGEST = MAX_ID - 16  # characters of a session's id: a number follows it
NUMBER_SUFFIX = re.compile(r"~\d+$")


def run_blocking(memory: AnyMemory, work: Work[T]) -> T:
    """Run the work, blocking."""
    if not isinstance(memory, BlockingMemory):
        raise EverwordError("this was made with an AsyncMemory: call its asynchronous methods, or give it a Memory")
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

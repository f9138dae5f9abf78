"""Sessions and memory for Google's Agent Development Kit (ADK).

`EverwordSessionService` keeps each event as a message that can be found, with the event itself in the metadata. A
session is a conversation, which `erase` removes with all else of its user. `EverwordMemoryService` answers a search
with what the memory would show a model: ADK's `preload_memory` tool gives that to the model before each call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

from everword.adapters.blocking_or_async import (
    AnyMemory,
    Thread,
    TurnMemory,
    attempt_async,
    check_local,
    run_async,
    run_shielded,
)
from everword.documents import ADK
from everword.errors import MissingExtra
from everword.memory.memory import MemoryFace
from everword.memory.operations.documents import MAX_LIMIT
from everword.model import Change, Document, Draft, Role

try:
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
    from google.adk.sessions.session import Session
    from google.adk.sessions.state import State
    from google.genai.types import Content, Part
except ImportError:
    raise MissingExtra("adk", "the services for Google's ADK") from None

ORIGINAL = "adk"  # the metadata key that holds an event as ADK writes it
SESSION, STATE = "session", "state"  # keys of documents: one session, and the state of a user or of an app
PREFIXES = (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX)


class EverwordMemoryService(BaseMemoryService):
    """A memory for the agents of a runner: `Runner(…, memory_service=EverwordMemoryService(memory))`.

    An agent uses it by the tools `preload_memory` and `load_memory`. Sessions that are kept elsewhere are remembered by
    `add_session_to_memory`, each event once.
    """

    def __init__(self, memory: AnyMemory, *, space: str | None = None, budget: int | None = None) -> None:
        check_local(memory)
        self._memory, self._space, self._budget = memory, space, budget

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        texts = await TurnMemory(self._memory, user_id, None, self._space, self._budget).arecall(query)
        return SearchMemoryResponse(memories=[MemoryEntry(content=Content(parts=[Part(text=text)])) for text in texts])

    async def add_session_to_memory(self, session: Session) -> None:
        place = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        await self.add_events_to_memory(**place, events=session.events)

    async def add_events_to_memory(
        self, *, app_name: str, user_id: str, events: Sequence[Event], session_id: str | None = None, **_: Any
    ) -> None:
        thread = thread_of(app_name, user_id, session_id or "events", self._space)
        drafts = [draft_from_event(event) for event in events]
        await attempt_async(lambda: run_shielded(self._memory, partial(thread.add, drafts)))

    async def add_memory(self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], **_: Any) -> None:
        turns = TurnMemory(self._memory, user_id, None, self._space)
        for memory in memories:
            await turns.remember(content_text(memory.content))


class EverwordSessionService(BaseSessionService):
    """Sessions that outlive the process: `Runner(…, session_service=EverwordSessionService(memory))`."""

    def __init__(self, memory: AnyMemory, *, space: str | None = None) -> None:
        self._memory, self._space = memory, space

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        id = (session_id or "").strip() or uuid4().hex
        await run_shielded(self._memory, partial(self._change_state, (app_name, user_id, id), state or {}, True))
        session = await self.get_session(app_name=app_name, user_id=user_id, session_id=id)
        assert session is not None
        return session

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        async def read(memory: MemoryFace) -> Session | None:
            documents = memory.documents(space=self._space)
            id = session_id.strip()
            document = await documents.get((ADK, app_name, user_id, id), SESSION)
            if document is None:
                return None
            shared = {
                prefix + name: value
                for prefix, place in ((PREFIXES[0], (ADK, app_name)), (PREFIXES[1], (ADK, app_name, user_id)))
                for name, value in state_of(await documents.get(place, STATE)).items()
            }
            after = None if config is None else config.after_timestamp
            count = None if config is None or after is not None else config.num_recent_events
            messages = await thread_of(app_name, user_id, id, self._space).messages(count, memory)
            originals = [message.metadata.get(ORIGINAL) for message in messages]
            events = [Event.model_validate(original) for original in originals if original is not None]
            if config is not None and after is not None:
                events = [event for event in events if event.timestamp >= after]
                events = (
                    events if config.num_recent_events is None else events[-config.num_recent_events or len(events) :]
                )
            session = session_from(document)
            return session.model_copy(update={"state": {**session.state, **shared}, "events": events})

        return await run_async(self._memory, read)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        place = (ADK, app_name) if user_id is None else (ADK, app_name, user_id)

        async def read(memory: MemoryFace) -> list[Document]:
            return await memory.documents(space=self._space).search(place, limit=MAX_LIMIT)

        documents = [document for document in await run_async(self._memory, read) if document.key == SESSION]
        return ListSessionsResponse(sessions=[session_from(document) for document in reversed(documents)])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Remove a session. The log keeps what was said in it; `memory.erase` removes that for good."""

        async def remove(memory: MemoryFace) -> None:
            await memory.documents(space=self._space).remove((ADK, app_name, user_id, session_id.strip()), SESSION)
            await thread_of(app_name, user_id, session_id.strip(), self._space).clear(memory)

        await run_shielded(self._memory, remove)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        async def read(memory: MemoryFace) -> dict[str, Any]:
            return state_of(await memory.documents(space=self._space).get((ADK, app_name, user_id), STATE))

        return await run_async(self._memory, read)

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        event = await super().append_event(session, event)
        place = session.app_name, session.user_id, session.id
        delta = dict(event.actions.state_delta) if event.actions else {}

        async def write(memory: MemoryFace) -> None:
            await self._change_state(place, delta, False, memory)
            await thread_of(*place, self._space).add([draft_from_event(event)], memory)

        await run_shielded(self._memory, write)
        session.last_update_time = event.timestamp
        return event

    async def _change_state(self, place: Any, delta: Mapping[str, Any], is_new: bool, memory: MemoryFace) -> None:
        """Change the states of a session, its user and its app; the session is there, or it `is_new`."""
        app_name, user_id, id = place
        documents = memory.documents(space=self._space)

        def decide(
            namespace: tuple[str, ...], key: str, own: Mapping[str, Any], found: dict[str, Document]
        ) -> tuple[list[Change], None]:
            if key == SESSION and is_new and key in found:
                raise AlreadyExistsError(f"Session with id {id} already exists.")
            if key == SESSION and not is_new and key not in found:
                raise SessionNotFoundError(f"Session {id} not found.")
            value = {STATE: {**state_of(found.get(key)), **own}}
            return [Change(namespace, key, value, user_id if len(namespace) > 2 else None, ())], None

        session_place = (ADK, app_name, user_id, id)
        own = {name: value for name, value in delta.items() if not name.startswith(PREFIXES)}
        await documents.edit(session_place, partial(decide, session_place, SESSION, own))
        for prefix, namespace in zip(PREFIXES, (session_place[:2], session_place[:3]), strict=False):
            shared = {name.removeprefix(prefix): value for name, value in delta.items() if name.startswith(prefix)}
            if shared:
                await documents.edit(namespace, partial(decide, namespace, STATE, shared))


def thread_of(app_name: str, user_id: str, session_id: str, space: str | None) -> Thread:
    """A session's messages. In ADK a session's id is one for its app and its user alone."""
    return Thread(f"{app_name}:{user_id}:{session_id}", user_id, space)


def state_of(document: Document | None) -> dict[str, Any]:
    return {} if document is None else dict(document.value[STATE])


def session_from(document: Document) -> Session:
    _, app_name, user_id, id = document.namespace
    updated = document.updated_at.timestamp()
    return Session(id=id, app_name=app_name, user_id=user_id, state=state_of(document), last_update_time=updated)


def draft_from_event(event: Event) -> Draft:
    role: Role = "user" if event.author == "user" else "tool" if event.get_function_responses() else "assistant"
    original = event.model_dump(mode="json", exclude_none=True)
    time = datetime.fromtimestamp(event.timestamp, UTC)
    return Draft(role, content_text(event.content), time=time, platform_id=event.id, metadata={ORIGINAL: original})


def content_text(content: Content | None) -> str:
    """The text of what was said, called or answered."""
    texts = []
    for part in (content.parts if content else None) or ():
        if part.text and not part.thought:
            texts.append(part.text)
        elif part.function_call:
            texts.append(f"{part.function_call.name}({as_json(part.function_call.args)})")
        elif part.function_response:
            texts.append(as_json(part.function_response.response))
    return "\n".join(texts)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)

"""One conversation on a server, where each method is one request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.client.connection import (
    ResultPage,
    ServerConnection,
    build_path,
    check_optional_time,
    parse_error,
    switch_text,
    without_none,
)
from recollect.errors import ServerError
from recollect.log.expiry import format_expiry
from recollect.log.rules import check_id, check_items, check_metadata, check_number
from recollect.memory.faces import ConversationFace
from recollect.memory.memory import MAX_TURN
from recollect.model import (
    Added,
    Answer,
    Budget,
    BudgetName,
    ChatMessage,
    Chunk,
    Context,
    Deletion,
    Draft,
    Episode,
    Message,
    OnEdit,
    Reply,
    Role,
    Topic,
    TopicHit,
    TopicMessage,
    TopicStats,
)
from recollect.model.clean_names import with_name
from recollect.model.topics import IMPORTANCE
from recollect.openai.drafts_from_mappings import as_draft
from recollect.wire import from_json_value

PAGE = 1_000
CURRENT = "current"
CUT_OFF = "the server ended the reply before it was whole; what was seen of it is kept"


def draft_fields(draft: Draft) -> dict[str, Any]:
    return without_none(
        role=draft.role,
        content=draft.content,
        author=draft.author,
        user=draft.user,
        time=check_optional_time("time", draft.time),
        platform_id=draft.platform_id,
        metadata=check_metadata(draft.metadata) or None,
        id=draft.id,
        expires=None if draft.expires_at is None else format_expiry("expires", draft.expires_at),
    )


def with_outcome(addition: Added) -> Added:
    """What was added, whose message says what became of it, too."""
    return replace(addition, message=replace(addition.message, kept=addition.kept))


def edit_field(on_edit: OnEdit) -> dict[str, Any]:
    """What a request says about other texts of known messages: nothing, unless they are to be versions."""
    return {} if on_edit == "refuse" else {"on_edit": on_edit}


class AsyncClientConversation(ConversationFace):
    """One thread of messages."""

    def __init__(self, server: ServerConnection, space: str | None, id: str, user: str | None) -> None:
        self._server = server
        self.space = space
        self.id = id
        self.user = user

    def __repr__(self) -> str:
        return f"<conversation {self.id} of {self._server!r}>"

    async def add(
        self,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        user: str | None = None,
        time: datetime | None = None,
        platform_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        expires: datetime | timedelta | None = None,
        on_edit: OnEdit = "refuse",
    ) -> Message:
        full_metadata = {} if metadata is None else metadata
        if name is not None:
            full_metadata = with_name(full_metadata, name)
        draft = Draft(role, content, author, user, time, platform_id, full_metadata, expires_at=expires)
        added = (await self.extend([draft], on_edit=on_edit))[0]
        return replace(added.message, degraded=added.degraded)

    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        messages = [draft_fields(as_draft(draft)) for draft in check_items("messages", drafts)]
        if not messages:
            return []
        body = {"messages": messages, **edit_field(on_edit)}
        additions: list[Added] = await self._ask(list[Added], "POST", "messages", body=body)
        return list(map(with_outcome, additions))

    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        max_messages = None if limit is None else check_number("limit", limit, MAX_TURN)
        cursor = None if before is None else str(check_number("before", before, MAX_TURN))
        messages: list[Message] = []
        while max_messages is None or len(messages) < max_messages:
            size = PAGE if max_messages is None else min(PAGE, max_messages - len(messages))
            query = without_none(cursor=cursor, limit=size, versions=versions or None)
            page = await self._ask(ResultPage, "GET", "messages", query=query)
            messages[:0] = from_json_value(list[Message], page.items)
            cursor = page.next
            if cursor is None:
                break
        return messages

    async def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        is_turn = isinstance(message, int)
        name = str(check_number("message", message, MAX_TURN) if is_turn else check_id("message", message))
        query = without_none(by="turn" if is_turn else None)
        new_metadata = None if metadata is None else check_metadata(metadata)
        body = without_none(text=text, metadata=new_metadata)
        edited: Message = await self._ask(Message, "PATCH", "messages", name, query=query, body=body)
        return edited

    async def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        is_turn = isinstance(message, int)
        name = str(check_number("message", message, MAX_TURN) if is_turn else check_id("message", message))
        query = without_none(by="turn" if is_turn else None, dry_run=dry_run or None)
        deletion: Deletion = await self._ask(Deletion, "DELETE", "messages", name, query=query)
        return deletion

    async def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        body = without_none(text=text, budget=budget, system=system, markers=markers)
        context: Context = await self._ask(Context, "POST", "context", body=body)
        return context

    async def reply(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        body = without_none(text=text, budget=budget, system=system, author=author, platform_id=platform_id)
        reply: Reply = await self._ask(Reply, "POST", "reply", body=body)
        return reply

    async def stream(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        body = without_none(
            text=text, budget=budget, system=system, author=author, platform_id=platform_id, user=self.user
        )
        path = build_path("conversations", self.id, "reply")
        kind = ""
        async for line in self._server.stream_lines("POST", path, space=self.space, body=body | {"stream": True}):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "text":
                yield self._server.read(dict[str, str], value)["text"]
            elif name == "data" and kind == "error":
                raise parse_error(500, value.encode())
            elif name == "data" and kind == "done":
                return
        raise ServerError(CUT_OFF)

    async def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("recollect", "bot"),
        addressed: bool = False,
        platform_id: str | None = None,
    ) -> Answer | None:
        options = {
            "author": author,
            "names": check_items("names", names),
            "addressed": addressed,
            "platform_id": platform_id,
        }
        body = without_none(text=text, **options)
        answer: Answer | None = await self._ask(Answer | None, "POST", "command", body=body)
        return answer

    async def archive(self) -> Chunk | None:
        chunk: Chunk | None = await self._ask(Chunk | None, "POST", "archive", body={})
        return chunk

    async def archived(self) -> list[Chunk]:
        return await self._ask_list(Chunk, "archived")

    async def episodes(self) -> list[Episode]:
        return await self._ask_list(Episode, "episodes")

    async def standalone(self, question: str) -> str:
        answer = await self._ask(dict[str, str], "POST", "standalone", body={"question": question})
        return str(answer["question"])

    # -- topics

    async def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        body = without_none(
            role="user", text=text, importance=importance, author=author, time=check_optional_time("time", time)
        )
        return await self._ask_topic("topics", body=body)

    async def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        return await self._ask_topic(
            "topics", body=without_none(role="assistant", text=text, time=check_optional_time("time", time))
        )

    async def topics(self, *, faded: bool = False) -> list[Topic]:
        topics: list[Topic] = []
        cursor: str | None = None
        while True:
            query = without_none(faded=switch_text(faded), cursor=cursor, limit=PAGE)
            page = await self._ask(ResultPage, "GET", "topics", query=query)
            topics += from_json_value(list[Topic], page.items)
            cursor = page.next
            if cursor is None:
                return topics

    async def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        answer = await self._ask(dict[str, Any], "GET", "topics", topic_id or CURRENT, "context")
        messages: list[ChatMessage] = answer["messages"]
        return messages

    async def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        query = {"include_compressed": switch_text(include_compressed)}
        return await self._ask_list(TopicMessage, "topics", topic_id or CURRENT, "messages", query=query)

    async def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        stats: TopicStats = await self._ask(TopicStats, "GET", "topics", topic_id or CURRENT, "stats")
        return stats

    async def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        return await self._ask_list(TopicHit, "topic-search", query={"query": query, "limit": limit})

    async def merge_topics(self, topic_id: str, other: str) -> Topic:
        return await self._ask_topic("topics", topic_id, "merge", body={"other": other})

    async def undo_merge(self, topic_id: str) -> Topic:
        return await self._ask_topic("topics", topic_id, "unmerge", body={})

    async def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        return await self._ask_topic("topics", topic_id, "tags", body={"tags": list(tags), "remove": remove})

    async def feedback(self, topic_id: str, score: int) -> Topic:
        return await self._ask_topic("topics", topic_id, "feedback", body={"score": score})

    # -- requests

    async def _ask(
        self,
        kind: Any,
        method: str,
        *parts: str,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> Any:
        user_field = without_none(user=self.user)
        path = build_path("conversations", self.id, *parts)
        if method in ("GET", "DELETE"):
            return await self._server.ask(kind, method, path, space=self.space, query=(query or {}) | user_field)
        return await self._server.ask(kind, method, path, space=self.space, query=query, body=(body or {}) | user_field)

    async def _ask_list(self, kind: Any, *parts: str, query: dict[str, Any] | None = None) -> list[Any]:
        values: list[Any] = await self._ask(list[kind], "GET", *parts, query=query)
        return values

    async def _ask_topic(self, *parts: str, body: dict[str, Any]) -> Topic:
        topic: Topic = await self._ask(Topic, "POST", *parts, body=body)
        return topic

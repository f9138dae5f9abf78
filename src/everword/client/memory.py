"""A memory on a server: each operation is one request, made from its declaration. Written by hand is what takes several
requests, or comes as a stream.

To edit documents, a client reads them with a tag, decides, and sends the changes with that tag: the server applies them
only if nobody else changed the documents since. If somebody did, the client reads and decides again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from everword import documents as rules
from everword.client.connection import (
    LONGEST,
    PAGE,
    EditConflict,
    ResultPage,
    ServerConnection,
    build_path,
    parse_error,
    send,
    without_none,
)
from everword.errors import InvalidInput, NotFound, NotSettled, ServerError, StoreBusy
from everword.log.operations import Operation
from everword.log.rules import MAX_TURN, check_id, check_items, check_metadata, check_number, check_time, format_expiry
from everword.memory.conversation import ConversationFace
from everword.memory.documents import MAX_OFFSET, DocumentsFace, check_offset
from everword.memory.memory import MemoryFace
from everword.memory.sync import BlockingMemory
from everword.model import Added, Batch, Conversation, Draft, Message, OnEdit
from everword.model.log import Change, Document
from everword.openai.messages import as_draft
from everword.wire import from_json_value

SHORTEST = 0.001  # seconds that one request asks a server to wait, at least
CUT_OFF = "the server ended the reply before it was whole; what was seen of it is kept"


class AsyncClient(MemoryFace):
    """A memory on a server: `async with AsyncClient("http://127.0.0.1:8000", key) as memory: …`.

    `key` is one that `everword keys create` showed; a server on loopback may need none. `space` is the one meant when
    a call names none: else the key's own. `timeout` is in seconds, for each answer or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        self.connection = ServerConnection(base_url, key, None if space is None else check_id("space", space), timeout)

    def __repr__(self) -> str:
        return f"<client of {self.connection!r}>"

    async def open(self) -> None:
        """Be ready to ask. `async with` does this."""
        self.connection.open()

    async def close(self) -> None:
        """Give the connections back."""
        await self.connection.close()

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = operation.arguments(args, kwargs)
        return await send(self.connection, operation, values, values.pop("space", None), None)

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> AsyncClientConversation:
        user = None if user is None else check_id("user", user)
        space = None if space is None else check_id("space", space)
        return AsyncClientConversation(self.connection, space, check_id("conversation", id), user)

    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        query = without_none(user=user, cursor=after or None, limit=limit)
        page = await self.connection.ask(ResultPage, "GET", build_path("conversations"), space=space, query=query)
        conversations: list[Conversation] = self.connection.decode(list[Conversation], page.items)
        return conversations

    def documents(self, *, space: str | None = None) -> AsyncClientDocuments:
        return AsyncClientDocuments(self.connection, None if space is None else check_id("space", space))

    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        all_batches: list[Batch] = check_items("batches", batches, Batch)
        if not all_batches:
            return []
        if len({batch.space for batch in all_batches}) > 1:
            raise InvalidInput("batches", "are for several spaces; a server is asked for one at a time")
        body = [
            without_none(conversation=batch.conversation, user=batch.user)
            | edit_field(batch.on_edit)
            | {"messages": [draft_fields(draft) for draft in check_items("drafts", batch.drafts, Draft)]}
            for batch in all_batches
        ]
        additions: list[list[Added]] = await self.connection.ask(
            list[list[Added]], "POST", build_path("messages"), space=all_batches[0].space, body={"batches": body}
        )
        return [list(map(with_outcome, batch)) for batch in additions]

    async def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log; raises NotSettled, with how far each is behind and why, if
        one cannot. Returns how many messages views failed on and have set aside, in the
        key's own space."""
        remaining = float(timeout)
        while True:
            seconds = min(max(remaining, SHORTEST), LONGEST)
            try:
                body = {"timeout": seconds}
                answer = await self.connection.ask(
                    dict[str, Any], "POST", build_path("settle"), body=body, wait=seconds
                )
                return int(answer.get("set_aside", 0))
            except NotSettled:
                remaining -= seconds
                if remaining <= 0:
                    raise

    async def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        options = {"salvage": salvage or None, "secrets": secrets or None}
        query = without_none(user=user, conversation=conversation, **options)
        async for line in self.connection.stream_lines("GET", build_path("export"), space=space, query=query):
            if line:
                message: Message = self.connection.read(Message, line)
                yield message


class AsyncClientConversation(ConversationFace):
    """One thread of messages."""

    def __init__(self, server: ServerConnection, space: str | None, id: str, user: str | None) -> None:
        self._server = server
        self.space = space
        self.id = id
        self.user = user

    def __repr__(self) -> str:
        return f"<conversation {self.id} of {self._server!r}>"

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = {"id": self.id, **operation.arguments(args, kwargs)}
        return await send(self._server, operation, values, self.space, self.user)

    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        messages = [draft_fields(as_draft(draft)) for draft in check_items("messages", drafts)]
        if not messages:
            return []
        body = without_none(user=self.user) | {"messages": messages} | edit_field(on_edit)
        path = build_path("conversations", self.id, "messages")
        additions: list[Added] = await self._server.ask(list[Added], "POST", path, space=self.space, body=body)
        return list(map(with_outcome, additions))

    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        max_messages = None if limit is None else check_number("limit", limit, MAX_TURN)
        cursor = None if before is None else str(check_number("before", before, MAX_TURN))
        messages: list[Message] = []
        while max_messages is None or len(messages) < max_messages:
            size = PAGE if max_messages is None else min(PAGE, max_messages - len(messages))
            query = without_none(user=self.user, cursor=cursor, limit=size, versions=versions or None)
            path = build_path("conversations", self.id, "messages")
            page = await self._server.ask(ResultPage, "GET", path, space=self.space, query=query)
            messages[:0] = self._server.decode(list[Message], page.items)
            cursor = page.next
            if cursor is None:
                break
        return messages

    async def _perform_stream(
        self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncIterator[str]:
        body = without_none(user=self.user, stream=True, **operation.arguments(args, kwargs))
        path = build_path("conversations", self.id, "reply")
        kind = ""
        async for line in self._server.stream_lines(operation.verb, path, space=self.space, body=body):
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


class Client(BlockingMemory):
    """A memory on a server: `with Client("http://127.0.0.1:8000", key) as memory: …`. `AsyncClient` is the same with
    await.

    `key` is one that `everword keys create` showed; a server on loopback may need none. `space` is the one meant when
    a call names none: else the key's own. `timeout` is in seconds, for each answer or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        client = AsyncClient(base_url, key, space=space, timeout=timeout)
        super().__init__(client)
        self._private.forked = client.connection.reopen_after_fork

    def __repr__(self) -> str:
        return repr(self._inner)


def draft_fields(draft: Draft) -> dict[str, Any]:
    return without_none(
        role=draft.role,
        content=draft.content,
        author=draft.author,
        user=draft.user,
        time=None if draft.time is None else check_time("time", draft.time),
        platform_id=draft.platform_id,
        metadata=check_metadata(draft.metadata) or None,
        id=draft.id,
        expires=None if draft.expires_at is None else format_expiry("expires", draft.expires_at),
        reply_to=draft.reply_to,
    )


def with_outcome(addition: Added) -> Added:
    """What was added, whose message says what became of it, too."""
    return replace(addition, message=replace(addition.message, kept=addition.kept, degraded=addition.degraded))


def edit_field(on_edit: OnEdit) -> dict[str, Any]:
    """What a request says about other texts of known messages: nothing, unless they are to be versions."""
    return {} if on_edit == "refuse" else {"on_edit": on_edit}


# -- documents


T = TypeVar("T")

ROUNDS = 40  # attempts to edit a namespace that others keep changing; in each round one of them succeeds
EDIT_PAUSE = 0.02  # seconds before the next attempt, at most


class AsyncClientDocuments(DocumentsFace):
    """The documents of one space."""

    def __init__(self, server: ServerConnection, space: str | None) -> None:
        self._server = server
        self.space = space

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = operation.arguments(args, kwargs)
        check_names(values["namespace"])
        if values.get("where") is not None:
            values["where"] = rules.check_filter(values["where"])
        return await send(self._server, operation, {"space": self.space, **values}, self.space, None)

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user: str | None = None,
        texts: Sequence[str] | None = None,
        expires: datetime | timedelta | None = None,
    ) -> Document:
        return (await self.apply([rules.build_change(namespace, key, value, user, texts, expires=expires)]))[0]

    async def get(self, namespace: Sequence[str], key: str) -> Document | None:
        names = check_names(namespace)
        if not names:
            return None
        try:
            document: Document = await self._ask(Document, "GET", "documents", check_id("key", key), namespace=names)
        except NotFound:
            return None
        return document

    async def apply(self, changes: Sequence[Change]) -> list[Document]:
        return await self._send_changes(check_items("changes", changes, Change), {})

    async def edit(
        self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]
    ) -> T:
        names = check_names(namespace)
        rules.check_decide(decide)
        for _ in range(ROUNDS):
            documents, tag = await self._read_namespace(names)
            changes, answer = decide(documents)
            try:
                if changes:
                    await self._send_changes(changes, {"namespace": names, "tag": tag})
            except EditConflict:
                await asyncio.sleep(random.uniform(0, EDIT_PAUSE))  # not all of them at once again
            else:
                return answer
        raise StoreBusy(f"others kept changing the documents of {tuple(names)!r}; nothing was written, try again")

    async def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        filters = {"prefix": check_names(prefix), "suffix": check_names(suffix), **without_none(depth=depth)}
        skip = check_offset(offset)
        end = None if limit is None else skip + check_number("limit", limit, MAX_OFFSET)
        namespaces: list[tuple[str, ...]] = []
        cursor: str | None = None
        while end is None or len(namespaces) < end:
            page = await self._ask(
                ResultPage, "GET", "namespaces", **filters, **without_none(cursor=cursor, limit=PAGE)
            )
            namespaces += from_json_value(list[tuple[str, ...]], page.items)
            cursor = page.next
            if cursor is None:
                break
        return namespaces[skip:end]

    # -- requests

    async def _read_namespace(self, names: Sequence[str]) -> tuple[dict[str, Document], str]:
        """All documents of a namespace, and their tag, which must be the same on every page."""
        while True:
            documents = dict[str, Document]()
            tag = None
            cursor = None
            while True:
                page_query = without_none(cursor=cursor, limit=PAGE)
                page = await self._ask(ResultPage, "GET", "documents", namespace=names, **page_query)
                if tag not in (None, page.tag):
                    break  # somebody changed it between two pages
                tag = str(page.tag)
                cursor = page.next
                documents |= {document.key: document for document in from_json_value(list[Document], page.items)}
                if cursor is None:
                    return documents, tag

    async def _send_changes(self, changes: Sequence[Change], condition: dict[str, Any]) -> list[Document]:
        if not changes:
            return []
        body = {"changes": [change_fields(rules.check_change(change)) for change in changes]} | condition
        documents: list[Document] = await self._ask(list[Document], "POST", "documents", body=body)
        return documents

    async def _ask(self, kind: Any, method: str, *parts: str, body: Any = None, **query: Any) -> Any:
        space = await self._server.resolve_space(self.space)
        path = build_path("spaces", space, *parts)
        return await self._server.ask(kind, method, path, space=space, query=query, body=body)


def change_fields(change: Change) -> dict[str, Any]:
    texts = None if change.texts is None else list(change.texts)
    body = {"namespace": list(change.namespace), "key": change.key, "value": change.value}
    expires = None if change.expires_at is None else format_expiry("expires", change.expires_at)
    return body | without_none(user=change.user, texts=texts, expires=expires)


def check_names(namespace: Sequence[str]) -> list[str]:
    """The names of a namespace as a list; a single string is refused."""
    rules.join_namespace(namespace)
    return list(namespace)

"""The documents of a space on a server, where each method is one request; `edit` is two.

To edit documents, a client reads them with a tag, decides, and sends the changes with that tag: the server applies them
only if nobody else changed the documents since. If somebody did, the client reads and decides again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from everword.client.connection import EditConflict, ResultPage, ServerConnection, build_path, without_none
from everword.client.requests import send
from everword.documents import validation_and_filters as rules
from everword.errors import NotFound, StoreBusy
from everword.log.operations import Operation
from everword.log.rules import check_id, check_items, check_number, format_expiry
from everword.memory.documents import MAX_OFFSET, DocumentsFace, check_offset
from everword.model.documents import Change, Document
from everword.wire import from_json_value

T = TypeVar("T")

PAGE = 1_000
ROUNDS = 40  # attempts to edit a namespace that others keep changing; in each round one of them succeeds
PAUSE = 0.02  # seconds before the next attempt, at most


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
                await asyncio.sleep(random.uniform(0, PAUSE))  # not all of them at once again
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

"""LangGraph's `BaseStore`: its items are documents, searched by meaning with the memory's own embedder.

All items are below the namespace `("langgraph",)`, a name that LangGraph reserves: so a store sees its own items and
no other documents of the memory, such as files of another adapter. A batch reads first and then writes, all its writes
in one transaction. An item that is overwritten or deleted is gone, as LangGraph specifies; `memory.erase(user=…)`
removes a person's items, found by `owner` or by the person's id in their namespace. An item with a `ttl`, in minutes,
is gone that long after it was put; reading it does not make it stay longer.

With a `message_field`, that text of each item is also a message of its owner: it is found with what they said, and
gives facts. An item that is overwritten edits its message, and one that is deleted removes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

from everword.adapters.blocking_or_async import AnyMemory, run_async, run_blocking
from everword.documents import LANGGRAPH, matches_namespace
from everword.errors import MissingExtra, NotFound
from everword.memory.memory import MemoryFace
from everword.memory.operations.documents import MAX_LIMIT, DocumentsFace
from everword.model import Change, Document

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError:
    raise MissingExtra("langgraph", "the store for LangGraph") from None

WHOLE_VALUE = "$"  # LangGraph's name for all of a value
ROOT = (LANGGRAPH,)


class EverwordStore(BaseStore):
    """A LangGraph store in a memory: `graph.compile(store=EverwordStore(memory))`.

    With a `Memory` both `put` and `aput` work; with an `AsyncMemory` the asynchronous ones. `fields` are the paths of a
    value it is found by, all of it if none are given. `owner` tells from a namespace whose items are in it.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AnyMemory,
        *,
        space: str | None = None,
        fields: Sequence[str] = (WHOLE_VALUE,),
        owner: Callable[[tuple[str, ...]], str | None] | None = None,
        message_field: str | None = None,
    ) -> None:
        self.ttl_config = {"refresh_on_read": False}
        self._memory = memory
        self._space = space
        self._fields = list(fields)
        self._owner = owner
        self._message_field = message_field

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return run_blocking(self._memory, partial(self._run_batch, list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await run_async(self._memory, partial(self._run_batch, list(ops)))

    async def _run_batch(self, ops: list[Op], memory: MemoryFace) -> list[Result]:
        for op in ops:
            validate_op_namespace(op)
        documents = memory.documents(space=self._space)
        results: list[Result] = []
        for op in ops:
            if isinstance(op, GetOp):
                document = await documents.get((*ROOT, *op.namespace), op.key)
                results.append(None if document is None else build_item(document))
            elif isinstance(op, SearchOp):
                results.append(await search_documents(documents, op))
            elif isinstance(op, ListNamespacesOp):
                namespaces = await documents.namespaces(prefix=ROOT)
                results.append(select_namespaces([without_root(namespace) for namespace in namespaces], op))
            elif isinstance(op, PutOp):
                results.append(None)
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        puts = [op for op in ops if isinstance(op, PutOp)]
        if puts:
            await documents.apply([self._change(op) for op in puts])
            for op in puts:
                await self._keep_message(op, memory)
        return results

    async def _keep_message(self, op: PutOp, memory: MemoryFace) -> None:
        """Keep an item as a message of its owner, as it is now."""
        owner = self._owner(op.namespace) if self._owner and self._message_field else None
        if owner is None:
            return
        item = hashlib.sha256(repr((op.namespace, op.key)).encode()).hexdigest()[:32]
        chat = memory.conversation(f"{LANGGRAPH}~{item}", user=owner, space=self._space)
        text = str((op.value or {}).get(self._message_field or "") or "")
        if text.strip():
            await chat.add("user", text, platform_id=item, on_edit="version")
        else:
            with suppress(NotFound):
                await chat.delete(item)

    def _change(self, op: PutOp) -> Change:
        namespace = (*ROOT, *op.namespace)
        if op.value is None:
            return Change(namespace, op.key, None)
        paths = [] if op.index is False else self._fields if op.index is None else list(op.index)
        owner = None if self._owner is None else self._owner(op.namespace)
        expires = None if op.ttl is None else timedelta(minutes=op.ttl)
        if paths == [WHOLE_VALUE]:
            return Change(namespace, op.key, op.value, owner, expires_at=expires)
        texts = tuple(text for path in paths for text in get_text_at_path(op.value, path))
        return Change(namespace, op.key, op.value, owner, texts, expires)


async def search_documents(documents: DocumentsFace, op: SearchOp) -> list[SearchItem]:
    hits: list[Document] = []
    while len(hits) < op.limit:
        page_size = min(op.limit - len(hits), MAX_LIMIT)
        page = await documents.search(
            (*ROOT, *op.namespace_prefix),
            query=op.query,
            where=op.filter,
            limit=page_size,
            offset=op.offset + len(hits),
        )
        hits += page
        if len(page) < page_size:
            break
    return [build_search_item(hit) for hit in hits]


def without_root(namespace: Sequence[str]) -> tuple[str, ...]:
    """A namespace as LangGraph knows it."""
    return tuple(namespace[len(ROOT) :])


def select_namespaces(namespaces: Sequence[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    for condition in op.match_conditions or ():
        path = tuple(condition.path)
        ends = (path, ()) if condition.match_type == "prefix" else ((), path)
        namespaces = [namespace for namespace in namespaces if matches_namespace(namespace, *ends)]
    if op.max_depth is not None:
        namespaces = sorted({namespace[: op.max_depth] for namespace in namespaces})
    return list(namespaces[op.offset : op.offset + op.limit])


def build_item(document: Document) -> Item:
    return Item(
        value=document.value,
        key=document.key,
        namespace=without_root(document.namespace),
        created_at=document.created_at,
        updated_at=document.updated_at,
    )


def build_search_item(document: Document) -> SearchItem:
    return SearchItem(
        namespace=without_root(document.namespace),
        key=document.key,
        value=document.value,
        created_at=document.created_at,
        updated_at=document.updated_at,
        score=document.score,
    )

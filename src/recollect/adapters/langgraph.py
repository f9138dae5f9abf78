"""LangGraph's `BaseStore`: its items are documents, searched by meaning with the memory's own embedder.

They are all below the namespace `("langgraph",)`, a name that LangGraph itself lets nobody use: so that a store has its
own items and nothing else of the memory, such as another adapter's files of another person. A batch reads first and
then writes, all its writes in one transaction. What is put over or deleted is gone, as LangGraph says;
`memory.erase(user=…)` takes a person's items, by `owner` or because their namespace names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from recollect.adapters.faces import AnyMemory, Steps, later, now
from recollect.engine.documents import MAX_LIMIT
from recollect.errors import MissingExtra
from recollect.model import Change, Document
from recollect.rules.documents.documents import LANGGRAPH, fits

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

WHOLE = "$"  # LangGraph's name for all of a value
ROOT = (LANGGRAPH,)


class RecollectStore(BaseStore):
    """A LangGraph store in a memory: `graph.compile(store=RecollectStore(memory))`.

    With a `Memory` both `put` and `aput` work; with an `AsyncMemory` the asynchronous ones. `fields` are the paths of a
    value it is found by, all of it if none are given. `owner` tells from a namespace whose items are in it.
    """

    supports_ttl = False

    def __init__(
        self,
        memory: AnyMemory,
        *,
        space: str | None = None,
        fields: Sequence[str] = (WHOLE,),
        owner: Callable[[tuple[str, ...]], str | None] | None = None,
    ) -> None:
        self._memory, self._space = memory, space
        self._fields, self._owner = list(fields), owner

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return now(self._memory, self._steps(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await later(self._memory, self._steps(list(ops)))

    def _steps(self, ops: list[Op]) -> Steps[list[Result]]:
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp) and op.ttl is not None:
                raise NotImplementedError("this store does not let items expire: leave ttl out")
        documents: Any = self._memory.documents(space=self._space)
        results: list[Result] = []
        for op in ops:
            if isinstance(op, GetOp):
                found = yield partial(documents.get, (*ROOT, *op.namespace), op.key)
                results.append(None if found is None else item(found))
            elif isinstance(op, SearchOp):
                results.append((yield from self._search(documents, op)))
            elif isinstance(op, ListNamespacesOp):
                every = yield partial(documents.namespaces, prefix=ROOT)
                results.append(listed([inner(one) for one in every], op))
            elif isinstance(op, PutOp):
                results.append(None)
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        changes = [self._change(op) for op in ops if isinstance(op, PutOp)]
        if changes:
            yield lambda: documents.apply(changes)
        return results

    def _search(self, documents: Any, op: SearchOp) -> Steps[list[SearchItem]]:
        found: list[Document] = []
        while len(found) < op.limit:
            most = min(op.limit - len(found), MAX_LIMIT)
            page = yield partial(
                documents.search,
                (*ROOT, *op.namespace_prefix),
                query=op.query,
                where=op.filter,
                limit=most,
                offset=op.offset + len(found),
            )
            found += page
            if len(page) < most:
                break
        return [search_item(one) for one in found]

    def _change(self, op: PutOp) -> Change:
        namespace = (*ROOT, *op.namespace)
        if op.value is None:
            return Change(namespace, op.key, None)
        paths = [] if op.index is False else self._fields if op.index is None else list(op.index)
        owner = None if self._owner is None else self._owner(op.namespace)
        if paths == [WHOLE]:
            return Change(namespace, op.key, op.value, owner)
        texts = tuple(text for path in paths for text in get_text_at_path(op.value, path))
        return Change(namespace, op.key, op.value, owner, texts)


def inner(namespace: Sequence[str]) -> tuple[str, ...]:
    """A namespace as LangGraph knows it."""
    return tuple(namespace[len(ROOT) :])


def listed(every: Sequence[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    for condition in op.match_conditions or ():
        path = tuple(condition.path)
        ends = (path, ()) if condition.match_type == "prefix" else ((), path)
        every = [one for one in every if fits(one, *ends)]
    if op.max_depth is not None:
        every = sorted({one[: op.max_depth] for one in every})
    return list(every[op.offset : op.offset + op.limit])


def item(found: Document) -> Item:
    return Item(
        value=found.value,
        key=found.key,
        namespace=inner(found.namespace),
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


def search_item(found: Document) -> SearchItem:
    return SearchItem(
        namespace=inner(found.namespace),
        key=found.key,
        value=found.value,
        created_at=found.created_at,
        updated_at=found.updated_at,
        score=found.score,
    )

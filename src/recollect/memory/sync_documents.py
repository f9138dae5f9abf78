"""The blocking documents of a space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from recollect.memory.faces import DocumentsFace, documented_as
from recollect.memory.private_loop import LoopThread
from recollect.model import Change, Document

T = TypeVar("T")


@documented_as(DocumentsFace)
class BlockingDocuments:
    """The documents of one space."""

    def __init__(self, inner: DocumentsFace, private: LoopThread) -> None:
        self._inner = inner
        self._private = private
        self.space = inner.space

    def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user: str | None = None,
        texts: Sequence[str] | None = None,
        expires: datetime | timedelta | None = None,
    ) -> Document:
        return self._private.wait(self._inner.put(namespace, key, value, user=user, texts=texts, expires=expires))

    def get(self, namespace: Sequence[str], key: str) -> Document | None:
        return self._private.wait(self._inner.get(namespace, key))

    def remove(self, namespace: Sequence[str], key: str) -> bool:
        return self._private.wait(self._inner.remove(namespace, key))

    def apply(self, changes: Sequence[Change]) -> list[Document]:
        return self._private.wait(self._inner.apply(changes))

    def edit(self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]) -> T:
        return self._private.wait(self._inner.edit(namespace, decide))

    def search(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Document]:
        return self._private.wait(self._inner.search(namespace, query=query, where=where, limit=limit, offset=offset))

    def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        return self._private.wait(
            self._inner.namespaces(prefix=prefix, suffix=suffix, depth=depth, limit=limit, offset=offset)
        )

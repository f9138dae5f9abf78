"""What a program can ask of the documents of a space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from everword.memory.faces.operation import operation
from everword.model import Change, Document

T = TypeVar("T")


class DocumentsFace:
    """The documents of one space: what programs keep under keys of their own."""

    space: str | None

    @operation(
        "PUT /v1/spaces/{space as id}/documents/{key}",
        right="write",
        tells="request",
        name="put_documents",
        by_hand=True,
    )
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
        """Keep a JSON object under a key, in the place of the one that was there.

        `user` is whose it is: `erase` takes it with all else of theirs. `texts` is what it is found by, in place of all
        that the value says; if they are empty, no search by meaning ranks it. From the moment it `expires` (a time, or
        a span of time from now) it is gone; without `expires` it stays, also if the one before was to expire.
        """

    @operation("GET /v1/spaces/{space as id}/documents/{key}", right="read", name="document", by_hand=True)
    async def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """The document under a key, if there is one."""

    @operation(
        "DELETE /v1/spaces/{space as id}/documents/{key}",
        right="write",
        tells="nothing",
        name="remove_document",
        once="nothing",
        wrap="removed",
    )
    async def remove(self, namespace: Sequence[str], key: str) -> bool:
        """Take a document away, for good; says whether there was one."""

    @operation(
        "POST /v1/spaces/{space as id}/documents", right="write", tells="request", name="put_documents", by_hand=True
    )
    async def apply(self, changes: Sequence[Change]) -> list[Document]:
        """Keep and remove several documents in one transaction. Returns those that are kept now, in the order given."""

    @operation(
        "POST /v1/spaces/{space as id}/documents", right="write", tells="request", name="put_documents", by_hand=True
    )
    async def edit(
        self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]
    ) -> T:
        """Change documents of one namespace by what they are: nobody else changes them in between.

        `decide` is given the documents by key and returns the changes and an answer. It may be run more than once.
        """

    @operation("POST /v1/spaces/{space as id}/document-search", right="read", name="search_documents")
    async def search(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Document]:
        """The documents of a namespace and of those below it: nearest to the `query` first, else the last changed.

        `where` is what their values must have: `{"kind": "note", "stars": {"$gte": 4}}`, with the operators `$eq`,
        `$ne`, `$gt`, `$gte`, `$lt`, `$lte`.
        """

    @operation("GET /v1/spaces/{space as id}/namespaces", right="read", by_hand=True)
    async def namespaces(
        self,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        depth: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """The namespaces that have documents, in order; `*` in a prefix or suffix stands for any one name.

        With `depth`, cut to so many names, each once.
        """

"""Documents: what programs keep under keys of their own, beside the log.

They are given, like statements, and not derived: a rebuild leaves them alone. But they are no log: a program may write
over them and remove them, and then they are gone. Each belongs to a user, or to nobody. `erase` removes a user's
documents, and those of nobody whose namespace names the user. One that has expired is there for nobody, from that
moment on; retention removes its row later.

Vectors are made at the first search by meaning, and kept: so keeping a document needs no embedder, and after a change
of embedder the vectors are made again. If the embedder can make nothing of a query, as the built-in one with another
script, the query is answered by its words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import numpy as np

from everword import documents as rules
from everword.errors import ScopeError
from everword.log.access import PROGRAM, Access
from everword.log.checks_and_seals import check_id, check_items, check_number, check_text, has_expired
from everword.log.operation_declarations import Operation, operation
from everword.memory.runtime import Runtime
from everword.model import Change, Document
from everword.ports import Tx, Vectors

T = TypeVar("T")
Row = Mapping[str, Any]

TABLE, LOCK = "documents", "documents"
PAGE = 500  # rows read at a time
NEAREST = 200  # documents by meaning, whose words are compared with those of a query
WORDS = 0.5  # what a query's words weigh beside its meaning: tuned on half of LoCoMo's turns and observations
AT_ONCE = 256  # documents given to the embedder at a time
MAX_LIMIT = 10_000  # documents in one answer
MAX_OFFSET = 2**31 - 1
MAX_QUERY = 1 << 20  # bytes


class DocumentsFace:
    """The documents of one space: JSON objects that programs store under their own keys."""

    space: str | None
    runtime: Runtime
    owner_filter: Row

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
        """Store a JSON object under a key, and replace any document that is stored under the key.

        `user` is the owner: `erase` removes the document with the owner's other data. Search compares queries with
        `texts` or, if you give none, with all texts in the value; if `texts` is empty, search by meaning does not rank
        the document. With `expires` (a time, or a time span from now), the document is hidden from that time on.
        Without `expires`, the document stays, even if the document that it replaces had an expiry.
        """
        return (await self.apply([rules.build_change(namespace, key, value, user, texts, expires=expires)]))[0]

    @operation("GET /v1/spaces/{space as id}/documents/{key}", right="read", name="document", by_hand=True)
    async def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """Get the document that is stored under a key, if there is one."""
        where = {**self.owner_filter, "namespace": rules.join_namespace(namespace), "key": check_id("key", key)}
        now = self.runtime.parts.clock.now()
        rows = await self.runtime.read(lambda tx: unexpired_rows(tx.rows(TABLE, limit=1, where=where), now))
        return document_of_row(rows[0]) if rows else None

    @operation(
        "DELETE /v1/spaces/{space as id}/documents/{key}",
        right="write",
        tells="nothing",
        name="remove_document",
        once="nothing",
        wrap="removed",
    )
    async def remove(self, namespace: Sequence[str], key: str) -> bool:
        """Permanently remove a document. The result says whether the document existed."""
        where = {**self.owner_filter, "namespace": rules.join_namespace(namespace), "key": check_id("key", key)}
        now = self.runtime.parts.clock.now()

        def write(tx: Tx) -> bool:
            rows = unexpired_rows(tx.rows(TABLE, limit=1, where=where), now)
            tx.remove(TABLE, where)
            return bool(rows)

        return await self.runtime.write(write)

    @operation(
        "POST /v1/spaces/{space as id}/documents", right="write", tells="request", name="put_documents", by_hand=True
    )
    async def apply(self, changes: Sequence[Change]) -> list[Document]:
        """Store and remove several documents in one transaction. Returns the documents that are stored now, in the
        given order."""
        now = self.runtime.parts.clock.now()
        ready = [rules.check_change(change, now) for change in check_items("changes", changes, Change)]
        return await self.runtime.write(lambda tx: apply_changes(tx, self.owner_filter, ready, now))

    @operation(
        "POST /v1/spaces/{space as id}/documents", right="write", tells="request", name="put_documents", by_hand=True
    )
    async def edit(
        self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]
    ) -> T:
        """Change documents of one namespace depending on what the documents contain. Nobody else can change them in
        between. `decide` gets the documents by key, and returns the changes and an answer. everword may call `decide`
        more than once."""
        namespace_key = rules.join_namespace(namespace)
        rules.check_decide(decide)
        now = self.runtime.parts.clock.now()

        def write(tx: Tx) -> T:
            tx.lock(LOCK, self.owner_filter["space"], namespace_key)
            rows = unexpired_rows(tx.rows(TABLE, where={**self.owner_filter, "namespace": namespace_key}), now)
            changes, answer = decide({row["key"]: document_of_row(row) for row in rows})
            apply_changes(tx, self.owner_filter, [rules.check_change(change, now) for change in changes], now)
            return answer

        return await self.runtime.write(write)

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
        """Search the documents of a namespace and of the namespaces below it. With a `query`, the documents nearest to
        the query in meaning and words come first. Without a `query`, the most recently changed documents come first.

        `where` filters documents by their values, as in `{"kind": "note", "stars": {"$gte": 4}}`. The operators in
        `where` are `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte`.
        """
        prefix = rules.join_namespace(namespace)
        count = check_number("limit", limit, MAX_LIMIT)
        skip = check_offset(offset)
        if query is not None:
            check_text("query", query, limit=MAX_QUERY)
        conditions = None if where is None else rules.check_filter(where)
        now = self.runtime.parts.clock.now()

        def read(tx: Tx) -> list[Row]:
            rows = unexpired_rows(rows_below(tx, self.owner_filter, prefix), now)
            return [row for row in rows if rules.matches_filter(row["value"], conditions)]

        rows = await self.runtime.read(read)
        rows.sort(key=lambda row: row["updated_at"], reverse=True)
        if not query or not query.strip():
            return [document_of_row(row) for row in rows[skip : skip + count]]
        scores = await self._scores(rows, query)
        order = sorted(range(len(rows)), key=lambda i: nearness(scores[i]), reverse=True)
        return [document_of_row(rows[i], scores[i]) for i in order[skip : skip + count]]

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
        """List the namespaces that have documents, in order. In a prefix or suffix, `*` stands for any one name. With
        `depth`, everword cuts namespaces to that many names and lists each result once."""
        for part in (prefix, suffix):
            rules.join_namespace(part)
        max_depth = None if depth is None else check_number("depth", depth, MAX_OFFSET)
        skip = check_offset(offset)
        end = None if limit is None else skip + check_number("limit", limit, MAX_OFFSET)
        now = self.runtime.parts.clock.now()
        namespaces: list[tuple[str, ...]] = await self.runtime.read(
            lambda tx: list(namespaces_of(tx, self.owner_filter, now))
        )
        matches = sorted(
            {namespace[:max_depth] for namespace in namespaces if rules.matches_namespace(namespace, prefix, suffix)}
        )
        return matches[skip:end]

    async def _scores(self, rows: Sequence[Row], query: str) -> list[float | None]:
        """The score of each document for a query: how near its nearest passage is, and the share of the query's words
        that it has, which is looked at in the nearest ones."""
        embedder = self.runtime.parts.embedder
        await embedder.ready()
        query_vector = (await embedder.embed([query]))[0]
        if not query_vector.any():
            return await asyncio.to_thread(
                rules.word_overlaps, query, [(row["value"], texts_of_row(row)) for row in rows]
            )
        vectors: list[Vectors | None] = []
        for start in range(0, len(rows), AT_ONCE):
            vectors += await self._vectors(rows[start : start + AT_ONCE], embedder.identity)
        scores = [None if passages is None else float((passages @ query_vector).max()) for passages in vectors]
        order = sorted(range(len(rows)), key=lambda i: nearness(scores[i]), reverse=True)[:NEAREST]
        documents = [(rows[i]["value"], texts_of_row(rows[i])) for i in order]
        overlaps = dict(zip(order, await asyncio.to_thread(rules.word_overlaps, query, documents), strict=True))
        return [
            None if score is None else (score + WORDS * (overlaps.get(i) or 0)) / (1 + WORDS)
            for i, score in enumerate(scores)
        ]

    async def _vectors(self, rows: Sequence[Row], identity: str) -> list[Vectors | None]:
        """The vectors of documents; vectors that are missing, or of another embedder, are made and kept."""
        width = self.runtime.parts.embedder.width
        new_vectors = dict[int, Vectors]()
        passages_by_row = {
            i: rules.document_passages(row["value"], texts_of_row(row))
            for i, row in enumerate(rows)
            if row["embedder"] != identity
        }
        vectors = await self.runtime.parts.embedder.embed(
            [text for parts in passages_by_row.values() for text in parts]
        )
        start = 0
        for i, parts in passages_by_row.items():
            new_vectors[i] = vectors[start : start + len(parts)]
            start += len(parts)
        if new_vectors:
            updated_rows = [
                {**rows[i], "embedder": identity, "vecs": matrix.astype(np.float16).tobytes()}
                for i, matrix in new_vectors.items()
            ]
            await self.runtime.write(lambda tx: keep_vectors(tx, updated_rows))
        matrices = (
            new_vectors[i] if i in new_vectors else decode_vectors(row["vecs"], width) for i, row in enumerate(rows)
        )
        return [matrix if len(matrix) else None for matrix in matrices]


class AsyncDocuments(DocumentsFace):
    """The documents of one space, for whoever has an access. For one that is bound to a user, nobody else's
    documents are seen, replaced or removed."""

    space: str

    def __init__(self, runtime: Runtime, space: str, access: Access = PROGRAM) -> None:
        self.runtime = runtime
        self.access = access
        self.space = space
        self.owner_filter: Row = {"space": space} if access.user is None else {"space": space, "user_id": access.user}

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.access.check_operation(operation.name)
        return await operation.method(self, *args, **kwargs)


# -- for remote callers, who read and write in two steps


async def documents_in(documents: AsyncDocuments, namespace: Sequence[str]) -> dict[str, Document]:
    """The documents of one namespace, by key."""
    where = {**documents.owner_filter, "namespace": rules.join_namespace(namespace)}
    now = documents.runtime.parts.clock.now()
    rows = await documents.runtime.read(lambda tx: unexpired_rows(tx.rows(TABLE, where=where), now))
    return {row["key"]: document_of_row(row) for row in rows}


async def apply_if_unchanged(
    documents: AsyncDocuments,
    namespace: Sequence[str],
    is_same: Callable[[dict[str, Document]], bool],
    changes: Sequence[Change],
) -> list[Document] | None:
    """Make the changes if the namespace is still what it was; nobody else changes it in between. None if it is not."""
    namespace_key = rules.join_namespace(namespace)
    now = documents.runtime.parts.clock.now()
    ready = [rules.check_change(change, now) for change in changes]

    def write(tx: Tx) -> list[Document] | None:
        tx.lock(LOCK, documents.space, namespace_key)
        rows = unexpired_rows(tx.rows(TABLE, where={**documents.owner_filter, "namespace": namespace_key}), now)
        if not is_same({row["key"]: document_of_row(row) for row in rows}):
            return None
        return apply_changes(tx, documents.owner_filter, ready, now)

    return await documents.runtime.write(write)


# -- in a transaction


def apply_changes(tx: Tx, owner_filter: Row, changes: Sequence[Change], now: datetime) -> list[Document]:
    """Make the changes; with an owner, only to documents that are that user's, or are new."""
    space = owner_filter["space"]
    owner = owner_filter.get("user_id")
    documents: list[Document] = []
    for namespace_key in sorted({rules.join_namespace(change.namespace) for change in changes}):
        tx.lock(LOCK, space, namespace_key)  # every writer locks in the same order
    for change in changes:
        document_key = {"space": space, "namespace": rules.join_namespace(change.namespace), "key": change.key}
        if change.value is None:
            tx.remove(TABLE, document_key if owner is None else document_key | {"user_id": owner})
            continue
        existing = unexpired_rows(tx.rows(TABLE, limit=1, where=document_key), now)
        if owner is not None and (change.user not in (None, owner) or (existing and existing[0]["user_id"] != owner)):
            raise ScopeError(f"the document {change.key!r} belongs to another user; choose another key")
        row = document_key | {
            "user_id": change.user or owner,
            "value": change.value,
            "texts": None if change.texts is None else json.dumps(change.texts, ensure_ascii=False),
            "created_at": existing[0]["created_at"] if existing else now,
            "updated_at": now,
            "embedder": None,
            "vecs": None,
            "expires_at": change.expires_at,
        }
        tx.put(TABLE, [row])
        documents.append(document_of_row(row))
    return documents


def keep_vectors(tx: Tx, rows: Sequence[Row]) -> None:
    """Store vectors for those documents that have not changed since the vectors were made."""
    for lock_key in sorted({(row["space"], row["namespace"]) for row in rows}):
        tx.lock(LOCK, *lock_key)
    for row in rows:
        document_key = {name: row[name] for name in ("space", "namespace", "key")}
        current = tx.rows(TABLE, limit=1, where=document_key)
        if current and (current[0]["value"], current[0]["texts"]) == (row["value"], row["texts"]):
            tx.put(TABLE, [{**current[0], "embedder": row["embedder"], "vecs": row["vecs"]}])


def unexpired_rows(rows: Iterable[Row], now: datetime) -> list[Row]:
    """Those of the rows that have not expired."""
    return [row for row in rows if not has_expired(row["expires_at"], now)]


def rows_below(tx: Tx, owner_filter: Row, prefix: str) -> Iterator[Row]:
    """Every row of a namespace and of those below it, which are next to each other in key order."""
    after: Row = {"space": owner_filter["space"], "namespace": prefix, "key": ""}
    while rows := tx.rows(TABLE, after, PAGE, where=owner_filter):
        for row in rows:
            if not rules.is_below(row["namespace"], prefix):
                return
            yield row
        after = rows[-1]


def namespaces_of(tx: Tx, owner_filter: Row, now: datetime) -> Iterator[tuple[str, ...]]:
    """Each namespace once: it jumps from the first document of one that has not expired to the first of the next."""
    after: Row = {"space": owner_filter["space"], "namespace": "", "key": ""}
    while rows := tx.rows(TABLE, after, 1, where=owner_filter):
        after = rows[0]
        if unexpired_rows(rows, now):
            yield rules.split_namespace(rows[0]["namespace"])
            after = {"space": owner_filter["space"], "namespace": rows[0]["namespace"] + rules.AFTER, "key": ""}


def check_offset(offset: object) -> int:
    return 0 if offset == 0 else check_number("offset", offset, MAX_OFFSET)


def nearness(score: float | None) -> float:
    return -np.inf if score is None else score


def texts_of_row(row: Row) -> list[str] | None:
    passages: list[str] | None = None if row["texts"] is None else json.loads(row["texts"])
    return passages


def decode_vectors(vectors: bytes | None, width: int) -> Vectors:
    matrix = np.frombuffer(vectors or b"", np.float16).reshape(-1, width)
    return np.asarray(matrix, dtype=np.float32)


def document_of_row(row: Row, score: float | None = None) -> Document:
    return Document(
        row["space"],
        rules.split_namespace(row["namespace"]),
        row["key"],
        row["value"],
        row["user_id"],
        row["created_at"],
        row["updated_at"],
        score,
        row["expires_at"],
    )

"""Exact nearest vectors for SQLite and JSON: a scan over a matrix in memory for each user.

A matrix is a cache of the rows in the database. Before each use it is compared with the tally of its scope, read in
the same snapshot: new rows are added at its end, and after a removal it is read again. So two processes on one file
both search all of it. All matrices together have a maximal size; the least recently used is dropped first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from everword.errors import StoreError
from everword.model.passages import products
from everword.ports import Vectors
from everword.stores.columns import parse_meta_number
from everword.stores.schema import meta, tallies

Scope = tuple[str, str | None]
Key = tuple[Any, ...]
ReadAfter = Callable[[int], Iterable[tuple[NDArray[np.int64], Vectors]]]


@dataclass(slots=True)
class Matrix:
    """The vectors of one scope, in order of doc; room to grow at the end."""

    docs: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    data: Vectors = field(default_factory=lambda: np.empty((0, 0), np.float32))
    size: int = 0
    state: tuple[int, int] = (0, 0)

    def view(self) -> tuple[NDArray[np.int64], Vectors]:
        return self.docs[: self.size], self.data[: self.size]

    def extend(self, docs: NDArray[np.int64], rows: Vectors, least_room: int = 0) -> None:
        """Add rows; if there is no room for them, make room for `least_room` in all, or more."""
        need = self.size + len(docs)
        if need > len(self.docs):
            room = max(need, least_room, 2 * self.size if self.size else 0)
            bigger_docs = np.empty(room, np.int64)
            bigger_data = np.empty((room, rows.shape[1]), np.float32)
            if self.size:
                bigger_docs[: self.size], bigger_data[: self.size] = self.view()
            self.docs = bigger_docs
            self.data = bigger_data
        self.docs[self.size : need] = docs
        self.data[self.size : need] = rows
        self.size = need

    @property
    def nbytes(self) -> int:
        return self.docs.nbytes + self.data.nbytes


class MatrixCache:
    """The matrices in use, up to a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._matrices: OrderedDict[Scope, Matrix] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self, connection: Connection, space: str, user: str | None, read_after: ReadAfter
    ) -> tuple[NDArray[np.int64], Vectors]:
        """The docs and unit vectors of a scope, as the connection's snapshot sees them. `read_after` reads those after
        a doc, in parts."""
        state = self._state(connection, space, user)
        with self._lock:
            matrix = self._matrices.pop((space, user), None) or Matrix()
            # A snapshot older than the cache (fewer docs, fewer removals) must not read rows it cannot see.
            if matrix.state[1] != state[1] or matrix.state[0] > state[0]:
                matrix = Matrix()
            if matrix.state != state:
                last_doc = int(matrix.docs[matrix.size - 1]) if matrix.size else 0
                for docs, rows in read_after(last_doc):
                    matrix.extend(docs, rows, state[0])
                matrix.state = state
            self._matrices[space, user] = matrix
            self._trim()
            return matrix.view()

    def find(self, connection: Connection, space: str, user: str | None) -> tuple[NDArray[np.int64], Vectors] | None:
        """The matrix of a scope, if there is one as the snapshot sees it."""
        if (space, user) not in self._matrices:
            return None
        state = self._state(connection, space, user)
        with self._lock:
            matrix = self._matrices.get((space, user))
            return None if matrix is None or matrix.state != state else matrix.view()

    def drop(self, space: str, user: str | None) -> None:
        with self._lock:
            self._matrices.pop((space, user), None)

    def clear(self) -> None:
        with self._lock:
            self._matrices.clear()

    def _state(self, connection: Connection, space: str, user: str | None) -> tuple[int, int]:
        """How many passages the scope has, and how often something was removed from the index."""
        query = select(func.coalesce(func.sum(tallies.c.docs), 0)).where(tallies.c.space == space)
        docs = connection.execute(query if user is None else query.where(tallies.c.user_id == user)).scalar()
        removals = connection.execute(select(meta.c.value).where(meta.c.key == "removals")).scalar()
        return int(docs or 0), parse_meta_number(removals)

    def _trim(self) -> None:
        total = sum(matrix.nbytes for matrix in self._matrices.values())
        while total > self.max_bytes and len(self._matrices) > 1:
            total -= self._matrices.popitem(last=False)[1].nbytes


def stack_vectors(vectors_bytes: Sequence[bytes]) -> NDArray[np.float16]:
    """Vectors as rows of a matrix: all have one width, or they are damaged."""
    try:
        return np.frombuffer(b"".join(vectors_bytes), np.float16).reshape(len(vectors_bytes), -1)
    except (ValueError, TypeError):
        raise StoreError("vectors of the store cannot be read; make them anew: everword rebuild index") from None


def unit_vectors(rows: Any) -> Vectors:
    """Rows of length one, in float32; zero rows stay zero. Stored values are rounded, so lengths are set again."""
    data = np.asarray(rows, dtype=np.float16).astype(np.float32)
    lengths = np.linalg.norm(data, axis=-1, keepdims=True)
    lengths[lengths == 0] = 1.0
    data /= lengths
    return data


def cosines(data: Vectors, query: Vectors) -> Vectors:
    """The cosine of each row with a query."""
    return products(data, query)


def top_docs(docs: NDArray[np.int64], scores: Vectors, limit: int) -> list[tuple[int, float]]:
    """The docs with the highest scores, best first; of equal ones the newer first."""
    if len(docs) > limit:
        top = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
        docs = docs[top]
        scores = scores[top]
    order = np.lexsort((-docs, -scores))
    return [(int(docs[i]), float(scores[i])) for i in order]


def nearest_keys(keys: Sequence[Key], rows: Vectors, query: Vectors, limit: int) -> list[tuple[Key, float]]:
    """The keys of the unit rows with the highest cosines, best first; of equal ones in the order of the keys."""
    scores = cosines(rows, unit_vectors(query))
    top = np.argpartition(-scores, limit)[: limit + 1].tolist() if len(keys) > limit + 1 else range(len(keys))
    values = scores.tolist()
    best = sorted((-values[place], keys[place]) for place in top)[:limit]
    return [(key, -score) for score, key in best]


def doc_scores(docs: NDArray[np.int64], data: Vectors, query: Vectors, doc_numbers: Sequence[int]) -> dict[int, float]:
    """The cosines of some docs; a doc that is not there has none."""
    candidates = np.asarray(doc_numbers, np.int64)
    places = np.searchsorted(docs, candidates)
    is_inside = places < len(docs)
    candidates = candidates[is_inside]
    places = places[is_inside]
    is_present = docs[places] == candidates
    candidates = candidates[is_present]
    places = places[is_present]
    return dict(zip(candidates.tolist(), cosines(data[places], query).tolist(), strict=True))

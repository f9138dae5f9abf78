"""Exact nearest vectors for SQLite and JSON: a scan over a matrix in memory, for scopes that have no index in memory.

A matrix is cached at the state of its scope, read in the same snapshot: new rows are added at its end, and after a
removal it is read again. So two processes on one file both search all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everword.errors import StoreError
from everword.ports import Vectors, products

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The docs and unit vectors of one scope, in the order of docs."""

    docs: NDArray[np.int64]
    data: Vectors

    @property
    def nbytes(self) -> int:
        return self.docs.nbytes + self.data.nbytes


NO_VECTORS = Matrix(np.empty(0, np.int64), np.empty((0, 0), np.float32))


def join_matrices(parts: Sequence[Matrix]) -> Matrix:
    """The vectors of several parts of a scope, one part after the other."""
    filled = [part for part in parts if len(part.docs)]
    if len(filled) < 2:
        return filled[0] if filled else NO_VECTORS
    return Matrix(np.concatenate([part.docs for part in filled]), np.concatenate([part.data for part in filled]))


def stack_vectors(vectors_bytes: Sequence[bytes]) -> NDArray[np.float16]:
    """Vectors as rows of a matrix: all have one width, or they are damaged."""
    try:
        return np.frombuffer(b"".join(vectors_bytes), np.float16).reshape(len(vectors_bytes), -1)
    except (ValueError, TypeError):
        raise StoreError("the vectors in the store cannot be read; run `everword rebuild index`") from None


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

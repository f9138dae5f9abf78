"""What a store tells a search of its passages: where words occur, how much there is, and what ranking needs of each.

Products of vectors are computed in one way everywhere: what is compared in memory scores as in a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everword.model.views import UNKNOWN_TRAITS

Vectors = NDArray[np.float32]
FORMER_EMBEDDER = "former embedder"  # the note that names who made the vectors before, while they are made anew
AT_ONCE = 32  # vectors that are multiplied in one call


@dataclass(frozen=True, slots=True)
class Posting:
    """Where one word of a query occurs: the newest passages that have it, and how many passages in scope do."""

    docs: Sequence[int] | NDArray[np.int64]
    frequency: int


NEVER = (1 << 63) - 1
"""When a passage expires that does not."""


class PassageBlock(NamedTuple):
    """Passages of a scope in columns, in the order of their docs. `terms` are those of each passage on a line of its
    own, with spaces between them, those of its space, user and conversation first; times are in microseconds since
    1970, `NEVER` where a passage does not expire; `traits` are what ranking has to know of the texts of messages."""

    docs: NDArray[np.int64]
    times: NDArray[np.int64]
    lengths: NDArray[np.int64]
    turns: NDArray[np.int64]
    traits: NDArray[np.int64]
    expires: NDArray[np.int64]
    message_ids: Sequence[str]
    conversations: Sequence[str]
    roles: Sequence[str]
    authors: Sequence[str]
    languages: Sequence[str]
    terms: bytes


class ScopeState(NamedTuple):
    """How many passages a scope has; how often something was removed from the index of its space, and from all; how
    often passages were changed in another way than that; and which embedder made the vectors."""

    docs: int
    removed: int
    removals: int
    resets: int
    embedder: str | None = None

    @property
    def version(self) -> tuple[int, int, int]:
        """What is the same as long as the passages are. A later one is greater."""
        return self.resets, self.removed, self.docs


class PassageCandidate(NamedTuple):
    """An indexed passage and what ranking needs of it: how often each word of the query occurs in it, its place and
    author, and its terms, with spaces between them."""

    doc: int
    message_id: str
    time: datetime
    length: int
    counts: tuple[int, ...]
    conversation: str = ""
    turn: int = 0
    role: str = "user"
    author: str = ""
    terms: str = ""
    traits: int = UNKNOWN_TRAITS


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is indexed for a user (or a whole space): passages, words, and languages, the most frequent first."""

    docs: int
    words: int
    languages: tuple[str, ...]


def products(vectors: Vectors, other: Vectors) -> Vectors:
    """The product of each vector with another. So many at a time: for more the library starts threads, which takes
    longer than the work; and always as many, so that a product does not depend on those computed with it."""
    count, width = vectors.shape
    if count < AT_ONCE:
        block = np.zeros((AT_ONCE, width), np.float32)
        block[:count] = vectors
        return np.asarray(np.matmul(block, other)[:count])
    whole = count - count % AT_ONCE
    results = np.empty(count, np.float32)
    np.matmul(vectors[:whole].reshape(-1, AT_ONCE, width), other, out=results[:whole].reshape(-1, AT_ONCE))
    if whole < count:
        results[-AT_ONCE:] = np.matmul(vectors[-AT_ONCE:], other)
    return results

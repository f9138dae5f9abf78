"""Centroids: the mean direction of the messages of a topic, in half precision, and how near a message is to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]

SLOWEST = 0.12
"""The least share of a further message in a centroid: the centroid follows the drift of the conversation."""


def round_vector(vector: Any) -> Row:
    """A vector as it comes back from a store: rounded to half precision and of length one again, or zero."""
    data = np.asarray(vector, dtype=np.float16).astype(np.float32)
    length = sqrt(data.dot(data))  # the same as a square root in single precision, once it is rounded to that
    return data / np.float32(length) if length > 0 else np.zeros_like(data)


def is_zero(vector: Row) -> bool:
    return not np.count_nonzero(vector)


def direction(centroid: bytes) -> Row:
    return np.frombuffer(_row_bytes(centroid), np.float32)


def move_centroid(centroid: bytes, count: int, vector: Row, share: float = 1.0) -> bytes:
    """A centroid after one more message; rounded at once, so that it is the same whether or not it was stored."""
    if is_zero(vector):
        return centroid
    if not centroid:
        return round_vector(vector).astype(np.float16).tobytes()
    weight = share * max(1 / (count + 1), SLOWEST)
    mean = (1 - weight) * direction(centroid) + weight * vector
    return round_vector(mean).astype(np.float16).tobytes()


@dataclass(frozen=True, slots=True)
class Similarities:
    """The cosines of a vector with parts of topics, and the topic of each part. There may be thousands: no loops."""

    topics: NDArray[np.int64]
    cosines: Row

    def best(self, current: int | None = None) -> tuple[int | None, float]:
        """The nearest topic. Among equals the current one, and then the oldest: the same in every database."""
        if not len(self.topics):
            return None, -1.0
        equal = self.topics[self.cosines == self.cosines.max()]
        return current if current is not None and current in equal else int(equal.min()), float(self.cosines.max())

    def to(self, topic: int | None) -> float:
        cosines = self.cosines[self.topics == topic]
        return float(cosines.max()) if len(cosines) else -1.0

    def above(self, least: float) -> dict[int, float]:
        """The topics with at least this cosine."""
        return {first: self.to(first) for first in set(self.topics[self.cosines >= least].tolist())}


@dataclass(frozen=True, slots=True)
class Centroids:
    """The centroids of topics and their parts, ready to compare: the opening turn and the topic of each."""

    firsts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    topics: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Row = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def near(self, vector: Row) -> Similarities:
        """The cosines of a vector with each; empty for a zero vector."""
        if not len(self.topics) or is_zero(vector):
            return Similarities(np.empty(0, np.int64), np.empty(0, np.float32))
        return Similarities(self.topics, np.asarray(np.vecdot(self.rows, vector)))


def rows_of(centroids: Sequence[bytes]) -> Row:
    """Centroids as the rows of a matrix."""
    return np.frombuffer(b"".join([_row_bytes(centroid) for centroid in centroids]), np.float32).reshape(
        len(centroids), -1
    )


@lru_cache(maxsize=8_192)
def _row_bytes(centroid: bytes) -> bytes:
    """A centroid as the bytes of a row. Converting from half precision takes ten times as long as comparing, and most
    centroids are the same as one message ago."""
    return round_vector(np.frombuffer(centroid, np.float16)).tobytes()

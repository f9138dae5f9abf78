"""Where topics are: the mean direction of what was said of each, kept in half precision, and how near a message is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]

SLOWEST = 0.12
"""The least share a further message has in a centroid: it follows where the talk drifts."""


def as_kept(vector: Any) -> Row:
    """A vector as it comes back from a store: rounded to half precision and of length one again, or zero."""
    data = np.asarray(vector, dtype=np.float16).astype(np.float32)
    length = np.linalg.norm(data)
    return np.asarray(data / length if length > 0 else np.zeros_like(data), dtype=np.float32)


def direction(centroid: bytes) -> Row:
    return as_kept(np.frombuffer(centroid, np.float16))


def moved(centroid: bytes, count: int, vector: Row, share: float = 1.0) -> bytes:
    """A centroid after one more message; rounded at once, so that it is the same whoever was there in between."""
    if not np.any(vector):
        return centroid
    if not centroid:
        return as_kept(vector).astype(np.float16).tobytes()
    weight = share * max(1 / (count + 1), SLOWEST)
    mixed = (1 - weight) * direction(centroid) + weight * vector
    return as_kept(mixed).astype(np.float16).tobytes()


@dataclass(frozen=True, slots=True)
class Near:
    """How near a vector is to the parts of topics, and of which topic each is. There may be thousands: no loops."""

    topics: NDArray[np.int64]
    cosines: Row

    def best(self, here: int | None = None) -> tuple[int | None, float]:
        """The nearest. Of equals the one talked of last, and then the older: in every database the same."""
        if not len(self.topics):
            return None, -1.0
        equal = self.topics[self.cosines == self.cosines.max()]
        return here if here is not None and here in equal else int(equal.min()), float(self.cosines.max())

    def to(self, topic: int | None) -> float:
        own = self.cosines[self.topics == topic]
        return float(own.max()) if len(own) else -1.0

    def above(self, least: float) -> dict[int, float]:
        """The topics from a cosine on."""
        return {first: self.to(first) for first in set(self.topics[self.cosines >= least].tolist())}


@dataclass(frozen=True, slots=True)
class Centroids:
    """The centroids of topics and their parts, ready to be compared: whose each is, and of which topic that is part."""

    firsts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    topics: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Row = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def near(self, vector: Row) -> Near:
        """How near a vector is to each; one that says nothing is near to none."""
        if not len(self.topics) or not np.any(vector):
            return Near(np.empty(0, np.int64), np.empty(0, np.float32))
        return Near(self.topics, np.asarray(np.vecdot(self.rows, vector)))


def rows_of(centroids: Sequence[bytes]) -> Row:
    """Centroids as they are compared, one below the other."""
    return np.frombuffer(b"".join([_ready(one) for one in centroids]), np.float32).reshape(len(centroids), -1)


@lru_cache(maxsize=8_192)
def _ready(centroid: bytes) -> bytes:
    """A centroid as it is compared. To widen half precision takes ten times as long as to compare, and most centroids
    are the same as a message ago."""
    return direction(centroid).tobytes()

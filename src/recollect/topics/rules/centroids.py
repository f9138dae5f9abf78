"""Centroids: the mean direction of the messages of a topic, in half precision, and how near a message is to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]

SLOWEST = 0.12
"""The least share of a further message in a centroid: the centroid follows the drift of the conversation."""
MOST_MOVED = 6
"""Centroids that are kept beside a matrix that has them as they were before: to copy it takes longer than to compare
these by themselves."""
SMALL = 16
"""Centroids of a part that is compared together with others."""


def round_vector(vector: Any) -> Row:
    """A vector as it comes back from a store: rounded to half precision and of length one again, or zero."""
    data = np.asarray(vector, dtype=np.float16).astype(np.float32)
    length = sqrt(data.dot(data))  # the same as a square root in single precision, once it is rounded to that
    if not length > 0:
        return np.zeros_like(data)
    data /= np.float32(length)
    return data


def round_vectors(vectors: Sequence[Row]) -> list[Row]:
    """As `round_vector`, of many vectors at once."""
    if len({len(vector) for vector in vectors}) != 1:
        return [round_vector(vector) for vector in vectors]
    data = np.asarray(np.stack(vectors), dtype=np.float16).astype(np.float32)
    lengths = np.sqrt(np.vecdot(data, data))
    is_long = lengths > 0
    data[~is_long] = 0.0
    data /= np.where(is_long, lengths, np.float32(1))[:, np.newaxis]
    return [row.copy() for row in data]  # a view would keep all of them in memory


def is_zero(vector: Row) -> bool:
    return not np.count_nonzero(vector)


@lru_cache(maxsize=1_024)
def direction(centroid: bytes) -> Row:
    """A centroid as a row that cannot be changed. Converting from half precision takes ten times as long as comparing,
    and a centroid is read several times while its topic is current."""
    row = round_vector(np.frombuffer(centroid, np.float16))
    row.flags.writeable = False
    return row


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

    def without(self, topic: int) -> Similarities:
        others = self.topics != topic
        return Similarities(self.topics[others], self.cosines[others])

    def above(self, least: float) -> dict[int, float]:
        """The topics with at least this cosine."""
        return {first: self.to(first) for first in set(self.topics[self.cosines >= least].tolist())}


@dataclass(frozen=True, slots=True)
class Centroids:
    """The centroids of topics and their parts, ready to compare: the opening turn and the topic of each, in order.
    `moved_rows`, by their places, are in place of those of `matrix`."""

    firsts: Sequence[int] = ()
    topics: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    matrix: Row = field(default_factory=lambda: np.empty((0, 0), np.float32))
    moved_rows: Mapping[int, Row] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return self is other  # arrays are compared member by member

    def __hash__(self) -> int:
        return id(self)

    @property
    def rows(self) -> Row:
        """All centroids as one matrix."""
        if not self.moved_rows:
            return self.matrix
        rows = self.matrix.copy()
        for place, row in self.moved_rows.items():
            rows[place] = row
        return rows

    def cosines(self, vector: Row) -> Row:
        """The cosines of a vector with each of them."""
        cosines = np.asarray(np.vecdot(self.matrix, vector))
        for place, row in self.moved_rows.items():
            cosines[place] = row.dot(vector)
        return cosines

    def with_rows(self, firsts: Collection[int], rows: Sequence[tuple[int, int, bytes]]) -> Centroids:
        """These centroids without those of the topics of these opening turns, and with these: opening turn, topic and
        centroid of each."""
        if len(firsts) == len(rows) == 1:
            first, topic, centroid = rows[0]
            place = bisect_left(self.firsts, first)
            if place < len(self.firsts) and self.firsts[place] == first and self.topics[place] == topic:
                return self.with_row(first, centroid)
        places = [place for place, first in enumerate(self.firsts) if first not in firsts]
        staying = [self.firsts[place] for place in places]
        if not rows:
            has_all = len(places) == len(self.firsts)
            return self if has_all else Centroids(staying, self.topics[places], self.rows[places])
        all_firsts = [*staying, *(first for first, _, _ in rows)]
        topics = np.concatenate([self.topics[places], np.array([topic for _, topic, _ in rows], np.int64)])
        new_rows = np.stack([direction(centroid) for _, _, centroid in rows])
        all_rows = np.concatenate([self.rows[places], new_rows]) if places else new_rows
        in_order = sorted(all_firsts)
        if in_order == all_firsts:
            return Centroids(all_firsts, topics, all_rows)
        order = np.argsort(all_firsts)
        return Centroids(in_order, topics[order], all_rows[order])

    def with_row(self, first: int, centroid: bytes) -> Centroids:
        """These centroids with another one of a topic that is among them."""
        moved_rows = {**self.moved_rows, bisect_left(self.firsts, first): direction(centroid)}
        moved = Centroids(self.firsts, self.topics, self.matrix, moved_rows)
        return moved if len(moved_rows) <= MOST_MOVED else Centroids(self.firsts, self.topics, moved.rows)


NO_CENTROIDS = Centroids()


def compare_with_centroids(vector: Row, parts: Iterable[Centroids]) -> Similarities:
    """The cosines of a vector with centroids; none for a zero vector."""
    parts = [] if is_zero(vector) else join_small_parts([part for part in parts if len(part.firsts)])
    if not parts:
        return Similarities(np.empty(0, np.int64), np.empty(0, np.float32))
    if len(parts) == 1:
        return Similarities(parts[0].topics, parts[0].cosines(vector))
    return Similarities(
        np.concatenate([part.topics for part in parts]),
        np.concatenate([part.cosines(vector) for part in parts]),
    )


def join_small_parts(parts: Sequence[Centroids]) -> list[Centroids]:
    """The same centroids in the same order, with small parts that follow each other as one."""
    fewer_parts: list[Centroids] = []
    for is_small, run in groupby(parts, key=is_small_and_still):
        run_parts = tuple(run)
        fewer_parts += [join_parts(run_parts)] if is_small and len(run_parts) > 1 else run_parts
    return fewer_parts


def is_small_and_still(part: Centroids) -> bool:
    return len(part.firsts) <= SMALL and not part.moved_rows


@lru_cache(maxsize=16)
def join_parts(parts: tuple[Centroids, ...]) -> Centroids:
    """Parts as one. Of a conversation only the last parts change with each message: to compare all others at once takes
    a fifth of the time."""
    return Centroids(
        [first for part in parts for first in part.firsts],
        np.concatenate([part.topics for part in parts]),
        np.concatenate([part.matrix for part in parts]),
    )

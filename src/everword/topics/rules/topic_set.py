"""The topics of a conversation, by their opening turns, and how near a message is to each.

Pure: a change gives a new value. A topic's centroid is the mean direction of its messages, in half precision.

There may be tens of thousands of topics, and a message changes one or two. So they are kept in buckets, by their
opening turns: a change copies the buckets it concerns and shares all others, and what is derived from a topic (its row
among the centroids, when it may leave) is derived once. A topic and the topics that are part of it are a family.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import nlargest
from math import sqrt
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everword.topics.rules.fading import LONG_AGO, TopicState, fade_time

NEVER = datetime.max.replace(tzinfo=UTC)


# -- centroids


Row = NDArray[np.float32]

SLOWEST = 0.12
"""The least share of a further message in a centroid: the centroid follows the drift of the conversation."""


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
    return [row.copy() for row in round_rows(np.stack(vectors))]  # a view would keep all of them in memory


def round_rows(matrix: NDArray[Any]) -> Row:
    """As `round_vector`, of the rows of a matrix."""
    data = np.asarray(matrix, dtype=np.float16).astype(np.float32)
    lengths = np.sqrt(np.vecdot(data, data))
    is_long = lengths > 0
    data[~is_long] = 0.0
    data /= np.where(is_long, lengths, np.float32(1))[:, np.newaxis]
    return data


def is_zero(vector: Row) -> bool:
    return not np.count_nonzero(vector)


def direction(centroid: bytes) -> Row:
    """A centroid as a row."""
    return round_vector(np.frombuffer(centroid, np.float16))


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


@dataclass(frozen=True, slots=True, eq=False)
class Centroids:
    """The centroids of topics and their parts, ready to compare: the opening turn and the topic of each, in order."""

    firsts: Sequence[int] = ()
    topics: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    matrix: Row = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def cosines(self, vector: Row) -> Row:
        """The cosines of a vector with each of them."""
        return np.asarray(np.vecdot(self.matrix, vector))

    def with_rows(self, firsts: Collection[int], rows: Sequence[tuple[int, int, bytes]]) -> Centroids:
        """These centroids without those of the topics of these opening turns, and with these: opening turn, topic and
        centroid of each."""
        places = [place for place, first in enumerate(self.firsts) if first not in firsts]
        staying = [self.firsts[place] for place in places]
        if len(rows) == 1 and len(staying) < len(self.firsts) and [*firsts] == [rows[0][0]]:
            topics = self.topics.copy()
            matrix = self.matrix.copy()
            place = self.firsts.index(rows[0][0])
            topics[place] = rows[0][1]
            matrix[place] = direction(rows[0][2])
            return Centroids(self.firsts, topics, matrix)
        if not rows:
            has_all = len(places) == len(self.firsts)
            return self if has_all else Centroids(staying, self.topics[places], self.matrix[places])
        all_firsts = [*staying, *(first for first, _, _ in rows)]
        topics = np.concatenate([self.topics[places], np.array([topic for _, topic, _ in rows], np.int64)])
        centroids = b"".join(centroid for _, _, centroid in rows)
        new_rows = round_rows(np.frombuffer(centroids, np.float16).reshape(len(rows), -1))
        all_rows = np.concatenate([self.matrix[places], new_rows]) if places else new_rows
        in_order = sorted(all_firsts)
        if in_order == all_firsts:
            return Centroids(all_firsts, topics, all_rows)
        order = np.argsort(all_firsts)
        return Centroids(in_order, topics[order], all_rows[order])


NO_CENTROIDS = Centroids()


def compare_with_centroids(vector: Row, parts: Iterable[Centroids]) -> Similarities:
    """The cosines of a vector with centroids; none for a zero vector."""
    parts = [] if is_zero(vector) else [part for part in parts if len(part.firsts)]
    if not parts:
        return Similarities(np.empty(0, np.int64), np.empty(0, np.float32))
    if len(parts) == 1:
        return Similarities(parts[0].topics, parts[0].cosines(vector))
    return Similarities(
        np.concatenate([part.topics for part in parts]),
        np.concatenate([part.cosines(vector) for part in parts]),
    )


# -- the topics of a conversation


SPAN = 512
"""Turns whose topics are in one bucket."""
COMPARED = 24
"""Topics, the last active, among which the rarity of words is counted."""
NO_FAMILIES = frozenset[int]()

States: TypeAlias = Mapping[int, TopicState]
Changes: TypeAlias = Mapping[int, TopicState | None]
"""States by their opening turns; None for a topic that is taken out."""


@dataclass(frozen=True, eq=False)
class TopicBucket:
    """The topics that were opened in some span of turns. `centroids` are of those that are compared with messages.
    `fade_times` tells when those that are active and in no family may leave, by the least priority; of some of them."""

    states: States = field(default_factory=dict)
    centroids: Centroids = NO_CENTROIDS
    in_families: frozenset[int] = frozenset()
    fade_times: dict[float, dict[int, datetime]] = field(default_factory=dict)

    @property
    def faded(self) -> tuple[TopicState, ...]:
        return tuple([state for state in self.states.values() if state.faded_at is not None])

    @property
    def root_count(self) -> int:
        """The active topics that are part of no other."""
        return len([state for state in self.states.values() if state.merged_into is None and state.faded_at is None])

    def times_of_fading(self, least: float) -> Mapping[int, datetime]:
        """When each topic may leave."""
        times = self.fade_times.get(least, {})
        if len(times) < len(self.states):
            missing = {first: state for first, state in self.states.items() if first not in times}
            times = {**times, **{first: self._time_of_fading(state, least) for first, state in missing.items()}}
            self.fade_times[least] = times
        return times

    def _time_of_fading(self, state: TopicState, least: float) -> datetime:
        is_alone = state.faded_at is None and state.first not in self.in_families
        return fade_time(state, least) if is_alone else NEVER

    def next_fade(self, least: float) -> datetime:
        return min(self.times_of_fading(least).values(), default=NEVER)

    def with_changes(
        self, changes: Changes, roots: Mapping[int, int], families: frozenset[int], of_faded: bool
    ) -> TopicBucket:
        states = dict(self.states)
        rows: list[tuple[int, int, bytes]] = []
        for first, state in changes.items():
            if state is None:
                states.pop(first, None)
                continue
            states[first] = state
            if state.centroid and (state.faded_at is not None) is of_faded:
                rows.append((first, roots.get(first, first), state.centroid))
        times = {
            least: {first: time for first, time in known_times.items() if first not in changes}
            for least, known_times in self.fade_times.items()
        }
        in_families = families.intersection(states) if families else NO_FAMILIES
        return TopicBucket(states, self.centroids.with_rows(changes.keys(), rows), in_families, times)


@dataclass(frozen=True, eq=False)
class TopicSet(Mapping[int, TopicState]):
    """Topics by their opening turns. Those that are active are compared with messages; with `of_faded`, the others.

    `roots` has the topic of each one that is part of another, `families` all that are in a family, and `last_active`
    the active topics that were so last, at most `COMPARED`.
    """

    buckets: Mapping[int, TopicBucket] = field(default_factory=dict)
    roots: Mapping[int, int] = field(default_factory=dict)
    families: frozenset[int] = frozenset()
    last_active: tuple[TopicState, ...] = ()
    of_faded: bool = False

    @classmethod
    def of(cls, states: States, *, of_faded: bool = False) -> TopicSet:
        if isinstance(states, TopicSet) and states.of_faded is of_faded:
            return states
        return TopicSet(of_faded=of_faded).with_changes(dict(states))

    # -- a mapping

    def __getitem__(self, first: int) -> TopicState:
        return self.buckets[first // SPAN].states[first]

    def __contains__(self, first: object) -> bool:
        bucket = self.buckets.get(first // SPAN) if isinstance(first, int) else None
        return bucket is not None and first in bucket.states

    def find(self, first: int) -> TopicState | None:
        bucket = self.buckets.get(first // SPAN)
        return None if bucket is None else bucket.states.get(first)

    def __iter__(self) -> Iterator[int]:
        for bucket in self.buckets.values():
            yield from bucket.states

    def __len__(self) -> int:
        return sum([len(bucket.states) for bucket in self.buckets.values()])

    # -- changes

    def with_changes(self, changes: Changes) -> TopicSet:
        """The topics with these states."""
        if not changes:
            return self
        roots = self.roots
        families = self.families
        if self._touches_families(changes):
            roots = self._roots_after(changes)
            families = frozenset({*roots, *roots.values()})
            parts_of_others = {first for first in {*roots, *self.roots} if roots.get(first) != self.roots.get(first)}
            others = {
                first
                for first in parts_of_others | (families ^ self.families)
                if first not in changes and first in self
            }
            changes = {**changes, **{first: self[first] for first in others}}
        by_bucket: dict[int, dict[int, TopicState | None]] = {}
        for first, state in changes.items():
            by_bucket.setdefault(first // SPAN, {})[first] = state
        buckets = dict(self.buckets)
        for key, bucket_changes in by_bucket.items():
            bucket = buckets.get(key, NO_TOPICS)
            buckets[key] = bucket.with_changes(bucket_changes, roots, families, self.of_faded)
        if len(buckets) > len(self.buckets):
            buckets = dict(sorted(buckets.items()))
        for key in by_bucket:
            if not buckets[key].states:
                del buckets[key]
        last_active = () if self.of_faded else self._last_active_after(buckets, changes)
        return TopicSet(buckets, roots, families, last_active, self.of_faded)

    def without_faded(self) -> TopicSet:
        return self.with_changes({state.first: None for state in self.faded})

    def changes_since(self, before: TopicSet) -> list[TopicState]:
        """The states that are not those of `before`, in order."""
        changed_states: list[TopicState] = []
        for key, bucket in self.buckets.items():
            bucket_before = before.buckets.get(key, NO_TOPICS)
            if bucket_before is not bucket:
                states_before = bucket_before.states
                changed_states += [
                    state for first, state in bucket.states.items() if states_before.get(first) is not state
                ]
        return sorted(changed_states, key=lambda state: state.first)

    def shared_firsts(self, other: TopicSet) -> list[int]:
        """The topics that another set has, too."""
        return [
            first
            for key, bucket in self.buckets.items()
            if key in other.buckets
            for first in bucket.states.keys() & other.buckets[key].states.keys()
        ]

    def _touches_families(self, changes: Changes) -> bool:
        """Whether some changes change who is part of whom."""
        for first, state in changes.items():
            before = self.find(first)
            into = None if state is None else state.merged_into
            if into != (None if before is None else before.merged_into) or (state is None and first in self.families):
                return True
        return False

    def _roots_after(self, changes: Changes) -> dict[int, int]:
        """The topic of each one that is part of another, after some changes."""
        states: dict[int, TopicState | None] = {**{first: self[first] for first in self.families}, **changes}
        for state in [*states.values()]:
            into = None if state is None else state.merged_into
            if into is not None and into not in states and into in self:
                states[into] = self[into]
        remaining = {first: state for first, state in states.items() if state is not None}
        return {
            first: root(remaining, first) for first, state in sorted(remaining.items()) if state.merged_into is not None
        }

    def _last_active_after(self, buckets: Mapping[int, TopicBucket], changes: Changes) -> tuple[TopicState, ...]:
        """The last active topics after some changes, which led to these buckets; from those before, if no others can
        be among them."""
        staying = [state for state in self.last_active if state.first not in changes]
        new = [state for state in changes.values() if state is not None and state.faded_at is None]
        new_keys = {state.first: activity_key(state) for state in new}
        changed_states = [state for state in self.last_active if state.first in changes]
        falls = any(activity_key(state) > new_keys.get(state.first, (LONG_AGO, 0)) for state in changed_states)
        if falls and len(self.last_active) == COMPARED:
            all_states = [state for bucket in buckets.values() for state in bucket.states.values()]
            staying, new = nlargest(COMPARED, (s for s in all_states if s.faded_at is None), activity_key), []
        return tuple(sorted([*staying, *new], key=activity_key, reverse=True)[:COMPARED])

    # -- what is derived

    @property
    def faded(self) -> list[TopicState]:
        return [state for bucket in self.buckets.values() for state in bucket.faded]

    @property
    def root_count(self) -> int:
        """The active topics that are part of no other."""
        return sum([bucket.root_count for bucket in self.buckets.values()])

    @property
    def _parts(self) -> Mapping[int, list[int]]:
        by_root: dict[int, list[int]] = {}
        for first, top in self.roots.items():
            by_root.setdefault(top, []).append(first)
        return by_root

    def parts(self, first: int) -> list[TopicState]:
        """A topic and all its parts, itself first."""
        if first not in self.families:
            return [self[first]]
        return [self[first], *[self[part] for part in self._parts.get(first, ())]]

    def near(self, vector: Row) -> Similarities:
        """The cosines of a vector with the centroids of those that are compared; empty for a zero vector."""
        return compare_with_centroids(vector, [bucket.centroids for bucket in self.buckets.values()])

    def next_fade(self, least: float) -> datetime:
        """When the first active topic may leave."""
        times = [bucket.next_fade(least) for bucket in self.buckets.values()]
        times += [fade_time(state, least) for state in self._active_families()]
        return min(times, default=NEVER)

    def due_topics(self, now: datetime, least: float) -> list[TopicState]:
        """The active topics that may leave by now, each together with its parts."""
        alone = [
            bucket.states[first]
            for bucket in self.buckets.values()
            if bucket.next_fade(least) <= now
            for first, time in bucket.times_of_fading(least).items()
            if time <= now
        ]
        return alone + [state for state in self._active_families() if fade_time(state, least) <= now]

    def _active_families(self) -> list[TopicState]:
        return [whole_topic(self, top) for top in self._parts if self[top].faded_at is None]


NO_TOPICS = TopicBucket()


activity_key: Callable[[TopicState], tuple[datetime, int]] = attrgetter("last_active_at", "first")


# -- parts


def root(states: States, first: int) -> int:
    """The topic that this one is part of, or the topic itself."""
    into = states[first].merged_into
    while into is not None:
        first, into = into, states[into].merged_into
    return first


def parts(states: States, first: int) -> list[TopicState]:
    """A topic and all its parts, itself first."""
    if isinstance(states, TopicSet):
        return states.parts(first)
    merged_states = [state for state in states.values() if state.merged_into is not None]
    others = [state for state in merged_states if root(states, state.first) == first]
    return [states[first], *sorted(others, key=lambda state: state.first)]


def group_parts(states: States) -> dict[int, list[TopicState]]:
    """All topics, each with its parts."""
    by_root: dict[int, list[TopicState]] = {}
    for first, state in states.items():
        by_root.setdefault(first if state.merged_into is None else root(states, first), []).append(state)
    return by_root


def roots(states: States) -> list[int]:
    """The topics that are part of no other."""
    return [first for first, state in states.items() if state.merged_into is None]


def size_of(states: States, first: int) -> int:
    """The messages of a topic with its parts."""
    return sum([part.count for part in parts(states, first)])


def whole_topic(states: States, first: int) -> TopicState:
    """A topic together with its parts: messages and accesses of all, the last activity of any."""
    all_parts = parts(states, first)
    topic = all_parts[0]
    if len(all_parts) == 1:
        return topic
    return replace(
        topic,
        count=sum(part.count for part in all_parts),
        packed=sum(part.packed for part in all_parts if part.opened is None),
        opened=None,
        accesses=sum(part.accesses for part in all_parts),
        returns=sum(part.returns for part in all_parts),
        ups=sum(part.ups for part in all_parts),
        downs=sum(part.downs for part in all_parts),
        importance=max(part.importance for part in all_parts),
        tags=tuple(dict.fromkeys(tag for part in all_parts for tag in part.tags)),
        created_at=min(part.created_at for part in all_parts),
        last_active_at=max(part.last_active_at for part in all_parts),
    )

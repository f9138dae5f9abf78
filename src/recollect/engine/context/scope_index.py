"""The passages of a scope in memory: a cache of the index of one user, or of one space, that is searched as arrays.

It is compared with the store before each search, by one small query in the same snapshot: passages that came since are
added at its end, and after a removal it is read again. So it is never newer or older than the snapshot, whichever
process wrote. A search works on a `ScopeView`, which stays as it is while others add to the index. All indexes together
have a maximal size; the least recently used is dropped first, and a scope that is larger than that is searched in the
database.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import StoreError
from recollect.model import ROLES, Filter
from recollect.ports import PASSAGE_FIELDS, PassageRow, ScopeState, Tally, Tx, Vectors
from recollect.rules.log import EPOCH, MICROSECOND
from recollect.rules.recall.neighbours import place_keys
from recollect.rules.recall.passages import Numbers, Passages, distinct_numbers

MICROSECONDS = 1e6
FIRST_ROWS = 256
SCOPE_TERMS = 3  # of each passage: its space, its user and its conversation
UNSORTED = 20_000  # terms that are looked through for each word, at most a quarter of all: more are sorted
BYTES_PER_PASSAGE = 1_600  # about: a vector of 256 numbers, fifteen terms, the columns

LAST_MICROS = 10**12 * 253_402  # of the year 9999
NEVER = (1 << 63) - 1  # when a passage expires that does not
UNKNOWN = -1  # how particular a message is that nobody has read
NUMBER_COLUMNS = (
    "docs", "micros", "lengths", "conversations", "turns", "roles", "authors", "languages", "expires", "ends",
)  # fmt: skip
ROLE_NUMBERS: dict[str, int] = {role: number for number, role in enumerate(ROLES)}

Rows = NDArray[np.intp]


class Column:
    """An array with room at its end. What was there before it grew is never changed, so that views of it stay."""

    def __init__(self, kind: Any, width: int | None = None) -> None:
        self._data = np.empty((0,) if width is None else (0, width), kind)
        self.size = 0

    def extend(self, values: NDArray[Any]) -> None:
        need = self.size + len(values)
        if need > len(self._data):
            room = max(need, 2 * self.size, FIRST_ROWS) if self.size else need
            bigger = np.empty((room, *values.shape[1:]), self._data.dtype)
            bigger[: self.size] = self._data[: self.size] if self.size else bigger[:0]
            self._data = bigger
        self._data[self.size : need] = values
        self.size = need

    def view(self) -> NDArray[Any]:
        return self._data[: self.size]

    @property
    def nbytes(self) -> int:
        return int(self._data.nbytes)


class Numbering:
    """Gives each name a number, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self.names: list[str] = []

    def numbers(self, names: Sequence[str]) -> Numbers:
        numbers = np.fromiter(map(self._numbers.__getitem__, names), np.int64, len(names))
        if len(self._numbers) > len(self.names):
            self.names.extend(list(self._numbers)[len(self.names) :])
        return numbers

    def get(self, name: str) -> int:
        """The number of a name, or -1."""
        return self._numbers.get(name, -1)


def to_micros(time: datetime) -> int:
    return (time - EPOCH) // MICROSECOND


@dataclass(frozen=True, slots=True)
class SortedTerms:
    """The first terms of an index in order, and the row that has each."""

    terms: NDArray[np.int32]
    rows: Rows

    @property
    def size(self) -> int:
        return len(self.terms)


@dataclass(frozen=True)
class ScopeView:
    """A scope index at one moment. Rows are in the order of their docs."""

    docs: Numbers
    message_ids: NDArray[np.object_]
    micros: Numbers
    lengths: Numbers
    conversations: Numbers
    turns: Numbers
    roles: Numbers
    authors: Numbers
    languages: Numbers
    expires: Numbers
    ends: Numbers  # where the terms of each row end in `terms`
    terms: NDArray[np.int32]
    sorted_terms: SortedTerms
    vectors: Vectors
    has_vector: NDArray[np.bool_]
    details: NDArray[np.int8]
    conversation_numbers: Numbering
    author_numbers: Numbering
    language_numbers: Numbering
    vocabulary: Callable[[str], int]

    def __len__(self) -> int:
        return len(self.docs)

    @cached_property
    def tally(self) -> Tally:
        """How much there is, as the store counts it."""
        present = np.bincount(self.languages) if len(self) else np.empty(0, np.int64)
        names = sorted(self.language_numbers.names[number] for number in np.flatnonzero(present))
        return Tally(len(self), int(self.lengths.sum()), tuple(names))

    @cached_property
    def by_place(self) -> tuple[Numbers, Rows]:
        """The keys of all places in order, and the row of each."""
        keys = place_keys(self.conversations, self.turns)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def rows_of(self, docs: Numbers) -> Rows:
        """The rows of these docs, in order; docs that are not here are left out."""
        docs = distinct_numbers(docs)
        rows = np.searchsorted(self.docs, docs)
        is_inside = rows < len(self)
        rows, docs = rows[is_inside], docs[is_inside]
        return np.asarray(rows[self.docs[rows] == docs])

    def rows_with(self, terms: Sequence[str]) -> Rows:
        """The rows that have one of these terms, in order."""
        numbers = {number for number in map(self.vocabulary, terms) if number >= 0}
        rows = [self._rows_with_term(number) for number in numbers]
        return distinct_numbers(np.concatenate(rows)) if rows else NO_ROWS

    def _rows_with_term(self, number: int) -> Rows:
        """The rows with a term: by the sorted terms, and by looking through those that came since."""
        first, last = np.searchsorted(self.sorted_terms.terms, [number, number + 1])
        size = self.sorted_terms.size
        new = np.flatnonzero(self.terms[size:] == number) + size
        new_rows = np.searchsorted(self.ends, new, side="right")
        return np.concatenate([self.sorted_terms.rows[first:last], new_rows])

    @cached_property
    def first_expiry(self) -> int:
        """When the first of the passages expires."""
        return int(self.expires.min(initial=NEVER))

    def mask(self, where: Filter, now: datetime) -> NDArray[np.bool_] | None:
        """Which rows a filter means that have not expired by now; None for all."""
        conditions = []
        if self.first_expiry <= to_micros(now):
            conditions.append(self.expires > to_micros(now))
        if where.conversation is not None:
            conditions.append(self.conversations == self.conversation_numbers.get(where.conversation))
        if where.author is not None:
            conditions.append(self.authors == self.author_numbers.get(where.author))
        if where.role is not None:
            conditions.append(self.roles == ROLES.index(where.role))
        if where.after is not None:
            conditions.append(self.micros >= to_micros(where.after))
        if where.before is not None:
            conditions.append(self.micros < to_micros(where.before))
        return np.logical_and.reduce(conditions) if conditions else None

    def nearest(self, mask: NDArray[np.bool_] | None, vector: Vectors, limit: int) -> Numbers:
        """The docs with the highest cosine, best first; of equal ones the newer first."""
        chosen = self.has_vector if mask is None else mask & self.has_vector
        rows = None if chosen.all() else np.flatnonzero(chosen)
        vectors = self.vectors if rows is None else self.vectors[rows]
        docs = self.docs if rows is None else self.docs[rows]
        if not len(docs):
            return docs
        scores = np.vecdot(vectors, unit_vector(vector))
        if len(docs) > limit:
            top = np.argpartition(scores, len(scores) - limit)[len(scores) - limit :]
            docs, scores = docs[top], scores[top]
        return docs[np.lexsort((-docs, -scores))]

    def cosines(self, docs: Numbers, vector: Vectors) -> NDArray[np.float64]:
        """The cosine of each of these docs, all of which are here; NaN for one without a vector."""
        if not vector.any() or not self.vectors.shape[1]:
            return np.full(len(docs), np.nan)
        rows = np.searchsorted(self.docs, docs)
        cosines = np.vecdot(self.vectors[rows], unit_vector(vector)).astype(np.float64)
        cosines[~self.has_vector[rows]] = np.nan
        return np.asarray(cosines)

    def passages(self, rows: Rows, groups: Sequence[Sequence[str]]) -> Passages:
        return Passages(
            docs=self.docs[rows],
            message_ids=self.message_ids[rows],
            moments=self.micros[rows] / MICROSECONDS,
            lengths=self.lengths[rows],
            counts=self._counts(rows, groups),
            conversations=self.conversations[rows],
            turns=self.turns[rows],
            roles=self.roles[rows],
            authors=self.authors[rows],
            conversation_names=self.conversation_numbers.names,
            author_names=self.author_numbers.names,
        )

    def _counts(self, rows: Rows, groups: Sequence[Sequence[str]]) -> Numbers:
        """How often these rows have a term of each group."""
        counts = np.zeros((len(rows), len(groups)), np.int64)
        ends = self.ends[rows]
        sizes = ends - np.where(rows > 0, self.ends[rows - 1], 0)
        if not len(rows) or not sizes.sum():
            return counts
        starts = np.cumsum(sizes) - sizes
        positions = np.arange(sizes.sum()) + np.repeat(ends - sizes - starts, sizes)
        terms = self.terms[positions]
        owners = np.repeat(np.arange(len(rows)), sizes)
        for number, group in enumerate(groups):
            for term in {term for term in map(self.vocabulary, group) if term >= 0}:
                counts[:, number] += np.bincount(owners[terms == term], minlength=len(rows))
        return counts


NO_ROWS = np.empty(0, np.intp)


def unit_vector(vector: Vectors) -> Vectors:
    """A vector of length one, rounded as those in the store are, and by the same arithmetic."""
    rounded = np.asarray(vector, np.float16).astype(np.float32)
    length = np.linalg.norm(rounded, axis=-1, keepdims=True)
    return np.asarray(np.divide(rounded, length, out=np.zeros_like(rounded), where=length > 0), np.float32)


class ScopeIndex:
    """The passages of one scope, in columns that grow."""

    def __init__(self) -> None:
        self.state = ScopeState(0, 0)
        self.lock = threading.Lock()
        self._view: ScopeView | None = None
        self._numbers = {name: Column(np.int64) for name in NUMBER_COLUMNS}
        self._message_ids = Column(object)
        self._terms = Column(np.int32)
        self._sorted_terms = SortedTerms(np.empty(0, np.int32), NO_ROWS)
        self._vectors = Column(np.float32, 0)
        self._has_vector = Column(np.bool_)
        self._details = Column(np.int8)
        self._conversations = Numbering()
        self._authors = Numbering()
        self._languages = Numbering()
        self._vocabulary: defaultdict[str, int] = defaultdict(count().__next__)

    @property
    def nbytes(self) -> int:
        columns = (*self._numbers.values(), self._message_ids, self._terms, self._vectors)
        sorted_bytes = self._sorted_terms.terms.nbytes + self._sorted_terms.rows.nbytes
        return sum(column.nbytes for column in columns) + sorted_bytes + 100 * len(self._vocabulary)

    @property
    def last_doc(self) -> int:
        docs = self._numbers["docs"].view()
        return int(docs[-1]) if len(docs) else 0

    def __len__(self) -> int:
        return self._message_ids.size

    def view(self) -> ScopeView:
        if self._view is None:
            self._sort_terms()
            self._view = ScopeView(
                **{name: column.view() for name, column in self._numbers.items()},
                message_ids=self._message_ids.view(),
                terms=self._terms.view(),
                sorted_terms=self._sorted_terms,
                vectors=self._vectors.view(),
                has_vector=self._has_vector.view(),
                details=self._details.view(),
                conversation_numbers=self._conversations,
                author_numbers=self._authors,
                language_numbers=self._languages,
                vocabulary=lambda term: self._vocabulary.get(term, -1),
            )
        return self._view

    def _sort_terms(self) -> None:
        size = self._terms.size
        if size - self._sorted_terms.size <= max(UNSORTED, size // 4):
            return
        terms = self._terms.view()
        order = np.argsort(terms, kind="stable")
        rows = np.repeat(np.arange(len(self)), np.diff(self._numbers["ends"].view(), prepend=0))
        self._sorted_terms = SortedTerms(terms[order], rows[order])

    def extend(self, rows: Sequence[PassageRow], vector_docs: Numbers, vectors: Vectors) -> None:
        """Add passages, in the order of their docs, and the vectors that some of them have."""
        self._view = None
        if not rows:
            return
        fields = dict(zip(PASSAGE_FIELDS, zip(*rows, strict=True), strict=True))
        term_lists = [terms.split()[SCOPE_TERMS:] for terms in fields["terms"]]
        sizes = np.fromiter(map(len, term_lists), np.int64, len(rows))
        new_terms = map(self._vocabulary.__getitem__, chain.from_iterable(term_lists))
        columns = {
            "docs": fields["doc"],
            "micros": fields["time"],
            "lengths": fields["length"],
            "conversations": self._conversations.numbers(fields["conversation"]),
            "turns": fields["turn"],
            "roles": [ROLE_NUMBERS.get(role, -1) for role in fields["role"]],
            "authors": self._authors.numbers(fields["author"]),
            "languages": self._languages.numbers(fields["language"]),
            "expires": [NEVER if at is None else at for at in fields["expires_at"]],
            "ends": np.cumsum(sizes) + self._terms.size,
        }
        numbers = {name: np.asarray(values, np.int64) for name, values in columns.items()}
        if np.abs(numbers["micros"]).max() > LAST_MICROS:
            raise ValueError("a time that no calendar has")
        for name, values in numbers.items():
            self._numbers[name].extend(values)
        self._terms.extend(np.fromiter(new_terms, np.int32, int(sizes.sum())))
        ids = np.empty(len(rows), object)
        ids[:] = fields["message_id"]
        self._message_ids.extend(ids)
        self._details.extend(np.full(len(rows), UNKNOWN, np.int8))
        self._extend_vectors(np.asarray(fields["doc"], np.int64), vector_docs, vectors)

    def _extend_vectors(self, docs: Numbers, vector_docs: Numbers, vectors: Vectors) -> None:
        """Add a vector for each doc; zeros for one that has none."""
        has_vector = np.isin(docs, vector_docs)
        self._has_vector.extend(has_vector)
        width = vectors.shape[1] if len(vectors) else self._vectors.view().shape[1]
        if has_vector.all() and len(vectors) == len(docs):
            complete = vectors
        else:
            complete = np.zeros((len(docs), width), np.float32)
            places = np.searchsorted(vector_docs, docs[has_vector])
            complete[has_vector] = vectors[places]
        if self._vectors.size and self._vectors.view().shape[1] == 0 and width:  # the first vectors of the scope
            self._vectors, size = Column(np.float32, width), self._vectors.size
            self._vectors.extend(np.zeros((size, width), np.float32))
        self._vectors.extend(complete)


class ScopeIndexes:
    """The indexes in use, up to a number of bytes."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._indexes: OrderedDict[tuple[str, str | None], ScopeIndex] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, tx: Tx, space: str, user: str | None) -> ScopeView | None:
        """The index of a scope as the snapshot of a transaction sees it; None if it is too large to be held."""
        state = tx.scope_state(space, user)
        if state.docs * BYTES_PER_PASSAGE > self.max_bytes:
            return None
        with self._lock:
            index = self._indexes.setdefault((space, user), ScopeIndex())
            self._indexes.move_to_end((space, user))
        with index.lock:
            if index.state != state:
                index = self._bring_up_to_date(tx, (space, user), index, state)
            view = index.view()
        self._trim()
        return view

    def _bring_up_to_date(
        self, tx: Tx, scope: tuple[str, str | None], index: ScopeIndex, state: ScopeState
    ) -> ScopeIndex:
        """The index at this state: with what came since, or read again if something was removed, or if the snapshot is
        an older one."""
        is_same_past = index.state.removals == state.removals
        if is_same_past and index.state.docs < state.docs:
            read_passages(tx, scope, index)
        if not is_same_past or len(index) != state.docs:
            is_older = (state.removals, state.docs) < (index.state.removals, index.state.docs)
            index = ScopeIndex()
            read_passages(tx, scope, index)
            if not is_older:
                with self._lock:
                    self._indexes[scope] = index
        index.state = ScopeState(len(index), state.removals)
        return index

    @property
    def scopes(self) -> list[tuple[str, str | None]]:
        """The scopes that are held, the least recently used first."""
        return list(self._indexes)

    @property
    def nbytes(self) -> int:
        return sum(index.nbytes for index in list(self._indexes.values()))

    def _trim(self) -> None:
        with self._lock:
            total = sum(index.nbytes for index in self._indexes.values())
            while total > self.max_bytes and len(self._indexes) > 1:
                total -= self._indexes.popitem(last=False)[1].nbytes


def read_passages(tx: Tx, scope: tuple[str, str | None], index: ScopeIndex) -> None:
    """Add to an index what a snapshot has after its last passage."""
    last_doc = index.last_doc
    rows = tx.passages_after(*scope, last_doc)
    vector_docs, vectors = tx.vectors_after(*scope, last_doc)
    try:
        index.extend(rows, vector_docs, vectors)
    except (AttributeError, TypeError, ValueError, OverflowError):  # a value of another kind than its column
        raise StoreError("a row of the index cannot be read; make it anew: recollect rebuild index") from None

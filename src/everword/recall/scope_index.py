"""The passages of a scope in memory: a cache of the index of a user, a channel or a space, that is searched as arrays.

It is cached at the version of its scope, as all that is made of rows is (`everword.versioned_cache`), but not made
anew when that has changed: passages that came since are added at its end, and those that were removed are taken out.
So it is never newer or older than the snapshot, whichever process wrote. A search works on a `ScopeView`, which stays
as it is while others add to the index; there a passage is known by its row, and rows are in the order of their docs. A
scope that is larger than the cache is searched in the database, as is a large one that is asked for the first time.

Terms are numbers, without a list of all terms: a term of up to eight bytes is the number, a longer one is hashed. So
the terms of many passages are numbered by a few operations on arrays, and the same term has the same number in every
index of every process. Two different terms have the same number with a chance of one in 2^64.

How near the words of passages are to those of a query ("violin" is near to "instruments", which no stem tells) is
known from a table of English, read when it is first needed. Of each word of the query, the nearest word of a passage
counts; a word that is not in the table is near to nothing.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import count, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from everword.errors import StoreError
from everword.model import ROLES, Filter, to_microseconds
from everword.ports import NEVER, PassageBlock, ScopeState, Tally, Tx, Vectors, products
from everword.recall.rules.neighbours import Numbers, Passages, PassageTable, number_of, place_keys
from everword.recall.rules.ranking import Traits
from everword.text.word_weights import LANGUAGE, load_word_table
from everword.versioned_cache import Cache

# -- terms as numbers


WORD_BYTES = 8  # bytes
MULTIPLIER = 0x9E3779B97F4A7C15
BITS = (1 << 64) - 1
SPACE = 32  # bytes up to this one separate terms
NEWLINE = 10

Codes = NDArray[np.uint64]

_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(WORD_BYTES + 1)], np.uint64)
_MULTIPLIER = np.uint64(MULTIPLIER)


def term_code(term: str) -> int:
    """The number of one term."""
    data = term.encode()
    code = int.from_bytes(data[:WORD_BYTES], "little")
    for start in range(WORD_BYTES, len(data), WORD_BYTES):
        code = (code * MULTIPLIER & BITS) ^ int.from_bytes(data[start : start + WORD_BYTES], "little")
    return code


def line_codes(lines: bytes, scope_terms: int) -> tuple[Codes, NDArray[np.int64]]:
    """The numbers of the terms of some lines, without the first `scope_terms` of each line; and how many each line has.
    Raises ValueError if a line has fewer."""
    buffer = b" " + lines + b"\n" + b" " * WORD_BYTES
    data = np.frombuffer(buffer, np.uint8)[: len(lines) + 2]
    separators = np.flatnonzero(data <= SPACE)
    before = np.flatnonzero(separators[1:] - separators[:-1] > 1)
    starts = separators[before] + 1
    ends = separators[before + 1]
    last = np.searchsorted(starts, np.flatnonzero(data == NEWLINE))
    first = np.concatenate([[0], last[:-1]])
    counts = last - first - scope_terms
    if counts.min() < 0:
        raise ValueError("a row of the search index lacks terms that name its space, user and conversation")
    is_kept = np.ones(len(starts), np.bool_)
    for number in range(scope_terms):
        is_kept[first + number] = False
    return _codes_at(buffer, starts[is_kept], ends[is_kept]), counts


def _codes_at(buffer: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Codes:
    """The numbers of the terms between these places of a text, which has room for a word at its end."""
    words: NDArray[np.uint64] = np.ndarray((len(buffer) - WORD_BYTES + 1,), "<u8", buffer, 0, (1,))
    sizes = ends - starts
    codes: Codes = words[starts] & _MASKS[np.minimum(sizes, WORD_BYTES)]
    longer = np.flatnonzero(sizes > WORD_BYTES)
    offset = WORD_BYTES
    while len(longer):
        next_words = words[starts[longer] + offset] & _MASKS[np.minimum(sizes[longer] - offset, WORD_BYTES)]
        codes[longer] = (codes[longer] * _MULTIPLIER) ^ next_words
        offset += WORD_BYTES
        longer = longer[sizes[longer] > offset]
    return codes


def spread_codes(codes: Codes) -> Codes:
    """For each number 32 bits that differ where the numbers do, mostly, and are spread evenly."""
    return np.asarray((codes * _MULTIPLIER) >> np.uint64(32))


# -- how near words are


Likeness = NDArray[np.float32]

SLOT_BITS = 19  # of a word's number, by which it is looked up: one in eighty loses its place to a more frequent one
AT_ONCE = 64  # words compared at a time: for more the library starts threads, which takes longer than the work


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words of the table by the numbers of their terms. The word after the last is near to nothing."""

    codes: Codes
    slots: NDArray[np.uint16]
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]

    def find(self, codes: Codes) -> NDArray[np.intp]:
        """The place of each term in the table."""
        places = self.slots[slots_of(codes)].astype(np.intp)
        return np.where(self.codes[places] == codes, places, len(self.codes) - 1)

    def vectors_of(self, groups: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """The vector of each group of terms, of length one: that of its most frequent word."""
        codes = np.array([term_code(term) for group in groups for term in group], np.uint64)
        starts = np.add.accumulate([0, *(len(group) for group in groups[:-1])])
        places = np.minimum.reduceat(self.find(codes), starts)
        return self.rows.take(places, axis=0) * self.scales.take(places)[:, np.newaxis]


@cache
def load_known_words() -> KnownWords:
    table = load_word_table()
    codes, _ = line_codes(table.stems, 0)
    rows = np.zeros((len(codes) + 1, table.rows.shape[1]), np.int8)
    rows[:-1] = table.rows
    slots = np.full(1 << SLOT_BITS, len(codes), np.uint16)
    slots[slots_of(codes)[::-1]] = np.arange(len(codes))[::-1]  # of words with the same slot, the most frequent
    return KnownWords(np.append(codes, np.uint64(0)), slots, rows, np.append(table.scales, np.float32(0)))


def slots_of(codes: Codes) -> NDArray[np.intp]:
    return (spread_codes(codes) >> np.uint64(32 - SLOT_BITS)).astype(np.intp)


def likeness_of_words(
    words: NDArray[Any], sizes: NDArray[np.int64], starts: NDArray[np.int64], groups: Sequence[Sequence[str]]
) -> Likeness:
    """How near passages (rows) are to each group of terms (column), given the places of their words in the table, which
    follow each other: so many of each passage, from these places on."""
    if not len(words) or not groups:
        return no_likeness(len(sizes), groups)
    likeness, rows = compare_words(words, groups)
    if np.logical_and.reduce(sizes):
        best = np.maximum.reduceat(likeness.take(rows, axis=0), starts, axis=0)
    else:
        has_terms = sizes > 0
        best = no_likeness(len(sizes), groups)
        best[has_terms] = np.maximum.reduceat(likeness.take(rows, axis=0), starts[has_terms], axis=0)
    return np.asarray(np.maximum(best, 0.0))


def compare_words(words: NDArray[Any], groups: Sequence[Sequence[str]]) -> tuple[Likeness, NDArray[np.intp]]:
    """How near words (rows) are to each group of terms (column), and the row of each of these words. A word is compared
    once, however often it comes. The last row is of no word, and near to nothing."""
    known = load_known_words()
    is_there = np.zeros(len(known.codes), np.bool_)
    is_there[words] = True
    distinct_words = is_there.nonzero()[0]
    padded_words = np.full((len(distinct_words) // AT_ONCE + 1) * AT_ONCE, len(known.codes) - 1)
    padded_words[: len(distinct_words)] = distinct_words
    blocks = known.rows.take(padded_words, axis=0).astype(np.float32).reshape(-1, AT_ONCE, known.rows.shape[1])
    likeness = np.matmul(blocks, known.vectors_of(groups).T).reshape(-1, len(groups))
    likeness *= known.scales.take(padded_words)[:, np.newaxis]
    rows = np.empty(len(known.codes), np.intp)
    rows[distinct_words] = np.arange(len(distinct_words))
    return likeness, rows.take(words)


def best_likeness(terms: Codes, sizes: NDArray[np.int64], groups: Sequence[Sequence[str]]) -> Likeness:
    """How near passages (rows) are to each group of terms (column): as near as the nearest of their terms is, from 0 to
    1. The terms of the passages follow each other, so many of each."""
    if not len(terms) or not groups:
        return no_likeness(len(sizes), groups)
    starts = np.add.accumulate(sizes) - sizes
    return likeness_of_words(load_known_words().find(terms), sizes, starts, groups)


def no_likeness(passages: int, groups: Sequence[Sequence[str]]) -> Likeness:
    """The likeness of so many passages that have no word near those of the query."""
    return np.zeros((passages, len(groups)), np.float32)


def knows_language(languages: Sequence[str]) -> bool:
    """Whether the table knows words of one of these languages."""
    return LANGUAGE in languages


# -- a scope at one moment


MICROSECONDS = 1e6
Rows = NDArray[np.intp]
NO_ROWS = np.empty(0, np.intp)
ROW_BITS = 32  # of a place of a term: the low bits are of its row, the others of its group
LAST_ROW = (1 << ROW_BITS) - 1
POSITION_BITS = 32  # of a sorted term: the low bits say where it is, the others are of its number
POSITIONS = np.uint64((1 << POSITION_BITS) - 1)


def to_micros(time: datetime) -> int:
    return to_microseconds(time)


def sort_terms(codes: Codes, first: int = 0) -> Codes:
    """Positions of terms, from the first on, so that those of equal terms are together: each number is of its term and
    its position."""
    positions = np.arange(first, first + len(codes), dtype=np.uint64)
    return np.sort((spread_codes(codes) << np.uint64(POSITION_BITS)) | positions)


@dataclass(frozen=True)
class ScopeView(PassageTable):
    """A scope at one moment. `owners` are the rows of the terms, `ends` where the terms of each row end, `words` the
    places of the terms in the table of words that are alike, if it knows words of their languages; `sorted_terms` are
    all terms by their numbers; `places` are the keys of all messages in order, and `place_rows` the row of each.
    `standing` are the rows that are standing instructions, by the scope, once a search has found them."""

    micros: Numbers
    languages: Numbers
    expires: Numbers
    ends: Numbers
    starts: Numbers
    terms: Codes
    owners: NDArray[np.int32]
    words: NDArray[np.uint16]
    sorted_terms: Codes
    vectors: Vectors
    has_vector: NDArray[np.bool_]
    traits: Traits
    places: Numbers
    place_rows: Rows
    first_expiry: int
    all_have_vectors: bool
    tally: Tally
    standing: dict[Filter, Rows]

    def __len__(self) -> int:
        return len(self.micros)

    def occurrences(self, groups: Sequence[Sequence[str]]) -> Occurrences:
        """Where the terms of some groups occur."""
        sought = codes_of_groups(groups)
        terms, positions = self._find(sought)
        rows = self.owners.take(positions).astype(np.intp)
        term_groups = sought.groups.take(terms)
        if sought.has_several:  # of a group of several terms, rows come term by term
            places = np.sort((term_groups << ROW_BITS) | rows)  # in a fifth of the time of `np.lexsort`
            rows = places & LAST_ROW
            term_groups = places >> ROW_BITS
        return Occurrences(rows, term_groups, len(self), len(groups))

    def _find(self, sought: GroupCodes) -> tuple[Numbers, Rows]:
        """Where the terms of groups occur: for each time the place of the term in the groups, and the position."""
        first = self.sorted_terms.searchsorted(sought.keys)
        sizes = self.sorted_terms.searchsorted(sought.keys | POSITIONS, side="right") - first
        positions = (self.sorted_terms[ranges(first, sizes)] & POSITIONS).astype(np.intp)
        terms = np.arange(len(sizes)).repeat(sizes)
        is_same = self.terms.take(positions) == sought.codes.take(terms)
        if np.logical_and.reduce(is_same):
            return terms, positions
        # Two terms whose numbers differ only in the bits that are not sorted by.
        return terms[is_same], positions[is_same]

    def mask(self, where: Filter, now: datetime) -> NDArray[np.bool_] | None:
        """Which rows a filter means that have not expired by now; None for all."""
        conditions = []
        if self.first_expiry <= to_micros(now):
            conditions.append(self.expires > to_micros(now))
        if where.conversation is not None and self.conversation_names != [where.conversation]:
            conditions.append(self.conversations == number_of(self.conversation_names, where.conversation))
        if where.author is not None:
            conditions.append(self.authors == number_of(self.author_names, where.author))
        if where.role is not None:
            conditions.append(self.roles == ROLES.index(where.role))
        if where.after is not None:
            conditions.append(self.micros >= to_micros(where.after))
        if where.before is not None:
            conditions.append(self.micros < to_micros(where.before))
        return np.logical_and.reduce(conditions) if conditions else None

    def nearest(
        self, mask: NDArray[np.bool_] | None, known_cosines: Vectors | None, unit_vector: Vectors, limit: int
    ) -> Rows:
        """The rows with the highest cosine; of equal ones the newer. `known_cosines` are those of all rows, if they are
        known already."""
        if not self.vectors.shape[1]:
            return NO_ROWS
        rows: Rows | None = None
        if mask is not None or not self.all_have_vectors:
            rows = (self.has_vector if mask is None else mask & self.has_vector).nonzero()[0]
        if known_cosines is None:
            scores = products(self.vectors if rows is None else self.vectors.take(rows, axis=0), unit_vector)
        else:
            scores = known_cosines if rows is None else known_cosines[rows]
        if len(scores) <= limit:
            return np.arange(len(scores)) if rows is None else rows
        best = places_of_highest(scores, limit)
        if len(best) > limit:
            best = best[np.lexsort((-best, -scores[best]))[:limit]]
        return best if rows is None else rows[best]

    def cosines(self, rows: Numbers, known_cosines: Vectors | None, unit_vector: Vectors) -> NDArray[np.float64]:
        """The cosine of each of these rows; NaN for one without a vector. `known_cosines` are those of all rows, or
        None."""
        if not self.vectors.shape[1]:
            return np.full(len(rows), np.nan)
        if known_cosines is None:
            cosines = products(self.vectors.take(rows, axis=0), unit_vector).astype(np.float64)
        else:
            cosines = known_cosines.take(rows).astype(np.float64)
        if not self.all_have_vectors:
            cosines[~self.has_vector[rows]] = np.nan
        return cosines

    def rows_at(self, keys: Numbers) -> Rows:
        """The rows of the messages at these places, in order."""
        first = np.searchsorted(self.places, keys)
        sizes = np.searchsorted(self.places, keys, side="right") - first
        return np.sort(self.place_rows[ranges(first, sizes)])

    def vectors_of(self, conversation: str, turns: Numbers) -> dict[int, Vectors]:
        """By turn, which are in order, the vector of each message that has one, of its beginning if it is long."""
        keys = place_keys(np.full(len(turns), number_of(self.conversation_names, conversation)), turns)
        first = self.places.searchsorted(keys)
        is_there = self.places.searchsorted(keys, side="right") > first
        rows = self.place_rows[first[is_there]]
        rows = rows[self.has_vector[rows]]
        return dict(zip(self.turns[rows].tolist(), self.vectors[rows], strict=True))

    def passages(self, rows: Rows, occurrences: Occurrences) -> Passages:
        """The passages of these rows, given where terms occur."""
        return Passages(self, rows, occurrences.counts(rows))

    def likeness(self, rows: Rows, groups: Sequence[Sequence[str]]) -> Likeness:
        """How near the words of these rows are to each group of terms."""
        starts = self.starts[rows]
        sizes = self.ends[rows] - starts
        words = self.words[ranges(starts, sizes)]
        return likeness_of_words(words, sizes, np.add.accumulate(sizes) - sizes, groups)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where terms of groups occur among the rows of a scope: for each time the row and the number of the group, in the
    order of groups and then of rows."""

    rows: Rows
    groups: Numbers
    row_count: int
    group_count: int

    def rows_by_group(self) -> list[Rows]:
        """For each group the rows that have one of its terms, in order."""
        is_first = np.ones(len(self.rows), np.bool_)
        is_first[1:] = (self.rows[1:] != self.rows[:-1]) | (self.groups[1:] != self.groups[:-1])
        rows = self.rows[is_first]
        ends = self.groups[is_first].searchsorted(np.arange(self.group_count + 1))
        return [rows[start:end] for start, end in pairwise(ends.tolist())]

    def counts(self, rows: Rows) -> Numbers:
        """How often each of these rows has a term of each group."""
        place_of_row = np.zeros(self.row_count, np.int32)
        place_of_row[rows] = np.arange(1, len(rows) + 1, dtype=np.int32)
        places = place_of_row.take(self.rows)
        in_rows = places.nonzero()[0]
        cells = (places.take(in_rows) - 1) * self.group_count
        cells += self.groups.take(in_rows)
        size = len(rows) * self.group_count
        return np.bincount(cells, minlength=size).reshape(len(rows), self.group_count)


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """The terms of some groups as numbers, in their order, what they are sorted by, and the number of the group of
    each; and whether a group has several."""

    codes: Codes
    keys: Codes
    groups: Numbers
    has_several: bool


def codes_of_groups(groups: Sequence[Sequence[str]]) -> GroupCodes:
    """The terms of the groups of a query as numbers."""
    codes = np.array([term_code(term) for group in groups for term in group], np.uint64)
    numbers = np.array([number for number, group in enumerate(groups) for _ in group], np.int64)
    keys = spread_codes(codes) << np.uint64(POSITION_BITS)
    return GroupCodes(codes, keys, numbers, len(codes) > len(groups))


def places_of_highest(scores: Vectors, limit: int) -> Rows:
    """The places of so many highest scores, of more than so many, and of all that are as high as the last of these."""
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])


def ranges(first: Numbers, sizes: Numbers) -> Numbers:
    """The numbers of several ranges, one after the other, each with its first number and its size."""
    ends = np.add.accumulate(sizes)
    numbers = np.arange(ends[-1] if len(ends) else 0)
    numbers += (first - ends + sizes).repeat(sizes)
    return numbers


# -- the index, which grows


SPARE = 8  # room for one more passage in so many, if an array has to grow
COMPACT = 2_048  # rows up to which an array has no such room: a process holds thousands of small scopes
SCOPE_TERMS = 3  # of each passage: its space, its user and its conversation
BYTES_PER_PASSAGE = 1_600  # about: a vector of 256 numbers, fifteen terms, the columns
OBJECTS = 16_000  # bytes of a scope that do not grow with it, about
ID_BYTES = 72  # of a message's id
PLACE_BYTES = 32  # of a passage: its place, its row there, where its terms start, and its time in seconds
BLOCK = 16_384  # passages that are read at a time
# Passages of a scope from which on its first search is one of the database: to read all of them takes longer, and many
# a process, such as a command, asks once.
LARGE = 30_000
LARGE_FOR_ONE_SEARCH = 1_000  # the same for a memory of which it is known that it is asked once
QUICK = 12_000  # passages of a scope that is searched in less time than Python lets a thread run, five milliseconds
QUICK_CHANGES = 100  # passages of it that may have come or gone since

LAST_MICROS = 10**12 * 253_402  # of the year 9999
NUMBER_COLUMNS = (
    "micros", "lengths", "conversations", "turns", "roles", "authors", "languages", "expires", "ends",
)  # fmt: skip
OF_TERMS = ("terms", "owners")
ROLE_NUMBERS: dict[str, int] = defaultdict(lambda: -1, {role: number for number, role in enumerate(ROLES)})


class Column:
    """An array with room at its end. What is in it is never changed, so that views of it stay."""

    def __init__(self, data: NDArray[Any], size: int = 0) -> None:
        self._data = data
        self.size = size

    def extended(self, values: NDArray[Any], room: int = 0) -> Column:
        """A column with these values at its end, which shares the array if there is room in it; this one stays as it
        is. If the array has to grow, there is room for so many in all."""
        need = self.size + len(values)
        data = self._data
        if need > len(data):
            size = max(need, room)
            spare = size // SPARE if size > COMPACT else 0
            data = np.empty((size + spare, *values.shape[1:]), self._data.dtype)
            if self.size:
                data[: self.size] = self._data[: self.size]
        data[self.size : need] = values
        return Column(data, need)

    def view(self) -> NDArray[Any]:
        return self._data[: self.size]

    def select(self, mask: NDArray[np.bool_]) -> Column:
        """Another column with these of its values."""
        return column_of(self.view()[mask])

    @property
    def nbytes(self) -> int:
        return int(self._data.nbytes)


def column_of(values: NDArray[Any]) -> Column:
    return Column(values[:0]).extended(values)


def empty_columns() -> dict[str, Column]:
    """The columns of no passages: a row for each passage, and in `terms` and `owners` one for each of its terms."""
    kinds = {"docs": np.int64, "message_ids": object, "terms": np.uint64, "owners": np.int32, "traits": np.int8}
    kinds |= {"has_vector": np.bool_} | dict.fromkeys(NUMBER_COLUMNS, np.int64)
    columns = {name: Column(np.empty(0, kind)) for name, kind in kinds.items()}
    return columns | {"vectors": Column(np.empty((0, 0), np.float32))}


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


def unit_vector(vector: Vectors) -> Vectors:
    """A vector of length one, rounded as those in the store are, and by the same arithmetic."""
    rounded = np.asarray(vector, np.float16).astype(np.float32)
    length = np.sqrt(np.add.reduce(rounded * rounded))  # as `np.linalg.norm`, in half the time
    return rounded / length if length else rounded


class ScopeIndex:
    """The passages of one scope, in columns that grow. A change makes all of them first and puts them in place by one
    assignment: if it fails, nothing has changed."""

    def __init__(self) -> None:
        self.version = (0, 0, 0)
        self.is_searched = False  # since it was last read ahead
        self.lock = threading.Lock()
        self._view: ScopeView | None = None
        self.nbytes = 0
        self._columns = empty_columns()
        self._words = Column(np.empty(0, np.uint16))
        self._sorted_terms = np.empty(0, np.uint64)
        self._places: Numbers = np.empty(0, np.int64)
        self._place_rows: Rows = NO_ROWS
        self._conversations = Numbering()
        self._authors = Numbering()
        self._languages = Numbering()

    def _count_bytes(self) -> int:
        columns = (*self._columns.values(), self._words)
        arrays = sum(column.nbytes for column in columns) + self._sorted_terms.nbytes
        return OBJECTS + arrays + (ID_BYTES + PLACE_BYTES) * len(self)

    def __len__(self) -> int:
        return self._columns["docs"].size

    @property
    def last_doc(self) -> int:
        return int(self._columns["docs"].view()[-1]) if len(self) else 0

    @property
    def _terms(self) -> Column:
        return self._columns["terms"]

    def view(self) -> ScopeView:
        """The passages as they are now."""
        if self._view is None:
            self._sort_new_terms()
            self._look_up_new_words()
            self._sort_places()
            self.nbytes = self._count_bytes()
            columns = {name: column.view() for name, column in self._columns.items() if name != "docs"}
            self._view = ScopeView(
                **columns,
                starts=np.concatenate([np.zeros(1, np.int64), columns["ends"][:-1]]),
                moments=columns["micros"] / MICROSECONDS,
                words=self._words.view(),
                sorted_terms=self._sorted_terms,
                places=self._places,
                place_rows=self._place_rows,
                first_expiry=int(columns["expires"].min(initial=NEVER)),
                all_have_vectors=bool(columns["has_vector"].all()),
                conversation_names=self._conversations.names,
                author_names=self._authors.names,
                tally=self._tally(),
                standing={},
            )
        return self._view

    def _tally(self) -> Tally:
        """How much there is, as the store counts it."""
        counts = np.bincount(self._columns["languages"].view(), minlength=len(self._languages.names)).tolist()
        used = sorted((-count, name) for name, count in zip(self._languages.names, counts, strict=True) if count)
        return Tally(len(self), int(self._columns["lengths"].view().sum()), tuple(name for _, name in used))

    def _sort_new_terms(self) -> None:
        """Put the terms that came since among all others, which are sorted."""
        count = len(self._sorted_terms)
        new_terms = sort_terms(self._terms.view()[count:], count)
        places = self._sorted_terms.searchsorted(new_terms)
        self._sorted_terms = np.insert(self._sorted_terms, places, new_terms) if count else new_terms

    def _look_up_new_words(self) -> None:
        """Find the terms that came since in the table of words, if it knows words of their languages."""
        if knows_language(self._languages.names):
            codes = self._terms.view()[self._words.size :]
            self._words = self._words.extended(load_known_words().find(codes), self._terms.size)

    def _sort_places(self) -> None:
        size = len(self._places)
        if size == len(self):
            return
        conversations = self._columns["conversations"].view()[size:]
        keys = np.concatenate([self._places, place_keys(conversations, self._columns["turns"].view()[size:])])
        rows = np.concatenate([self._place_rows, np.arange(size, len(self))])
        if (keys[max(size, 1) :] < keys[max(size, 1) - 1 : -1]).any():
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            rows = rows[order]
        self._places = keys
        self._place_rows = rows

    def keep_only(self, docs: Numbers) -> None:
        """Take out all passages but these."""
        is_kept = np.isin(self._columns["docs"].view(), docs, assume_unique=True)
        if is_kept.all():
            return
        self._view = None
        owners = self._columns["owners"].view()
        is_kept_term = is_kept[owners]
        new_rows = np.cumsum(is_kept) - 1
        new_positions = (np.cumsum(is_kept_term) - 1).astype(np.uint64)
        sizes = np.bincount(owners, minlength=len(is_kept))[is_kept]
        columns = {
            name: column.select(is_kept_term if name in OF_TERMS else is_kept) for name, column in self._columns.items()
        }
        columns["owners"] = column_of(new_rows[owners[is_kept_term]].astype(np.int32))
        columns["ends"] = column_of(np.cumsum(sizes))
        words = self._words.select(is_kept_term[: self._words.size])
        positions = self._sorted_terms & POSITIONS
        is_kept_position = is_kept_term[positions]
        codes = self._sorted_terms[is_kept_position] & ~POSITIONS
        sorted_terms = codes | new_positions[positions[is_kept_position]]
        is_kept_place = is_kept[self._place_rows]
        places = self._places[is_kept_place]
        place_rows = new_rows[self._place_rows[is_kept_place]]
        self._columns = columns
        self._words = words
        self._sorted_terms = sorted_terms
        self._places = places
        self._place_rows = place_rows

    def extend(self, block: PassageBlock, vector_docs: Numbers, vectors: Vectors, room: int = 0) -> None:
        """Add passages, in the order of their docs, and the vectors that some of them have."""
        self._view = None
        count = len(block.docs)
        if not count:
            return
        codes, sizes = line_codes(block.terms, SCOPE_TERMS)
        ids = np.empty(count, object)
        ids[:] = block.message_ids
        has_vector = np.isin(block.docs, vector_docs, assume_unique=True)
        values = {
            "docs": block.docs,
            "message_ids": ids,
            "micros": block.times,
            "lengths": block.lengths,
            "conversations": self._conversations.numbers(block.conversations),
            "turns": block.turns,
            "roles": np.fromiter(map(ROLE_NUMBERS.__getitem__, block.roles), np.int64, count),
            "authors": self._authors.numbers(block.authors),
            "languages": self._languages.numbers(block.languages),
            "expires": block.expires,
            "ends": np.cumsum(sizes) + self._terms.size,
            "traits": block.traits,
            "has_vector": has_vector,
        }
        if np.abs(block.times).max() > LAST_MICROS or any(len(column) != count for column in values.values()):
            raise ValueError(
                "in rows of the search index, a time is out of range or the columns have different lengths"
            )
        first_row = len(self)
        columns = {name: self._columns[name].extended(column, room) for name, column in values.items()}
        owners = np.repeat(np.arange(first_row, first_row + count, dtype=np.int32), sizes)
        columns |= {"terms": self._terms.extended(codes), "owners": self._columns["owners"].extended(owners)}
        if len(vectors) > np.count_nonzero(has_vector):  # some are of passages that are not in the block
            vectors = vectors[np.searchsorted(vector_docs, block.docs[has_vector])]
        self._columns = columns | {"vectors": self._extended_vectors(has_vector, vectors, room)}

    def _extended_vectors(self, has_vector: NDArray[np.bool_], vectors: Vectors, room: int) -> Column:
        """The column of vectors with those of the new passages that have one; the others get zeros."""
        column = self._columns["vectors"]
        width = vectors.shape[1] if len(vectors) else column.view().shape[1]
        if column.size and width and not column.view().shape[1]:  # the first vectors of the scope
            column = Column(np.empty((0, width), np.float32)).extended(np.zeros((column.size, width), np.float32), room)
        if has_vector.all():
            return column.extended(vectors, room)
        complete = np.zeros((len(has_vector), width), np.float32)
        if has_vector.any():
            complete[has_vector] = vectors
        return column.extended(complete, room)


INDEX = "index"


class VectorCheck(Protocol):
    def check_vectors_of(self, made_by: str | None) -> None:
        """Raise if vectors of this embedder cannot be compared with ours."""


class ScopeIndexes:
    """The indexes in use. The cache holds each at the version of its scope; here is which scopes are worth holding, and
    which of them should be read before they are asked for again."""

    def __init__(self, cache: Cache, large: int = LARGE) -> None:
        self._cache = cache
        self._large = large
        self._asked: set[Filter] = set()  # large scopes that were searched once, in the database
        self._unread: set[Filter] = set()  # to be read ahead: large ones, and those with new passages
        self._lock = threading.Lock()

    def view(
        self,
        tx: Tx,
        scope: Filter,
        vectors: VectorCheck | None = None,
        *,
        ahead: bool = False,
    ) -> ScopeView | None:
        """The index of a scope as the snapshot of a transaction sees it; None if it is too large to be held. What made
        its vectors is checked first. `ahead`: it is read for the next search."""
        state = tx.index.scope_state(scope)
        if vectors is not None:
            vectors.check_vectors_of(state.embedder)
        if state.docs * BYTES_PER_PASSAGE > self._cache.max_bytes or self._is_first_of_large(scope, state):
            return None
        if ahead and self._held(scope) is None and scope not in self._asked:
            return None  # it was dropped meanwhile
        with self._lock:
            index = self._cache.find(cache_key(scope), state.version) or self._held(scope)
            if index is None:
                index = ScopeIndex()
                self._cache.put(cache_key(scope), index.version, index, 0)
        with index.lock:
            is_older = state.version < index.version
            if index.version != state.version:
                index = self._bring_up_to_date(tx, scope, index, state)
            view = index.view()
            index.is_searched = not ahead
            if not is_older:  # one that is larger than the cache is held alone
                self._cache.put(cache_key(scope), index.version, index, min(index.nbytes, self._cache.max_bytes))
        return view

    def _held(self, scope: Filter) -> ScopeIndex | None:
        entry = self._cache.latest(cache_key(scope))
        return None if entry is None else entry.value

    def is_quick(self, scope: Filter) -> bool:
        """Whether a scope was held when it was last searched, is small, and nobody is just reading it."""
        index = self._held(scope)
        return index is not None and 0 < len(index) <= QUICK and not index.lock.locked()

    def is_nearly_read(self, tx: Tx, scope: Filter) -> bool:
        """Whether a scope is held but for a few passages that have come or gone since."""
        index = self._held(scope)
        state = tx.index.scope_state(scope)
        if index is None or index.version[0] != state.resets:
            return False
        return abs(state.docs - len(index)) + abs(state.removed - index.version[1]) <= QUICK_CHANGES

    def _is_first_of_large(self, scope: Filter, state: ScopeState) -> bool:
        """Whether a large scope is asked for the first time."""
        if state.docs < self._large or scope in self._asked or self._held(scope) is not None:
            return False
        self._asked.add(scope)
        with self._lock:
            self._unread.add(scope)
        return True

    def note_new_passages(self, space: str, user: str | None, conversation: str) -> None:
        """Passages are written: who has searched in their scopes will search again, and should not wait for them. Each
        search has a scope read ahead once at most."""
        with self._lock:
            for scope in (Filter(space, user), Filter(space, conversation=conversation), Filter(space)):
                index = self._held(scope)
                if index is not None and index.is_searched:
                    index.is_searched = False
                    self._unread.add(scope)

    def take_unread(self) -> list[Filter]:
        """The scopes that should be read before they are asked for again: large ones that were searched in the
        database, and those that have new passages. Each is given once."""
        if not self._unread:  # as after most searches
            return []
        with self._lock:
            scopes = list(self._unread)
            self._unread.clear()
        return scopes

    def _bring_up_to_date(self, tx: Tx, scope: Filter, index: ScopeIndex, state: ScopeState) -> ScopeIndex:
        """The index at this state: without what was removed and with what came since; or read again if passages have
        changed, or if the snapshot is an older one."""
        is_older = state.version < index.version
        if not is_older and state.resets == index.version[0] and len(index):
            if state.removed != index.version[1]:
                index.keep_only(tx.index.docs_upto(scope, index.last_doc))
            if len(index) < state.docs:
                read_passages(tx, scope, index, state.docs)
        if is_older or state.resets != index.version[0] or len(index) != state.docs:
            index = ScopeIndex()
            read_passages(tx, scope, index, state.docs)
        index.version = (state.resets, state.removed, len(index))
        return index

    @property
    def scopes(self) -> list[Filter]:
        """The scopes that are held, the least recently used first."""
        return [key[1] for key in self._cache.keys if key[0] == INDEX]


def cache_key(scope: Filter) -> tuple[str, Filter]:
    return INDEX, scope


def read_passages(tx: Tx, scope: Filter, index: ScopeIndex, room: int) -> None:
    """Add to an index what a snapshot has after its last passage. `room` is for how many passages in all."""
    block_size = BLOCK
    while block_size == BLOCK:
        block = tx.index.passages_after(scope, index.last_doc, BLOCK)
        block_size = len(block.docs)
        upto = int(block.docs[-1]) if block_size else index.last_doc
        try:
            index.extend(block, *tx.index.vectors_after(scope, index.last_doc, upto), room)
        except (AttributeError, TypeError, ValueError, OverflowError):  # a value of another kind than its column
            raise StoreError("a row of the search index cannot be read; run `everword rebuild index`") from None

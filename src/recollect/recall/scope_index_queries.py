"""A scope index at one moment: columns of all passages of a user, or of a space, and what a search asks of them.

It stays as it is while others add to the index. A passage is known by its row; rows are in the order of their docs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.log.rules import EPOCH, MICROSECOND
from recollect.model import ROLES, Filter
from recollect.model.passages import Tally
from recollect.model.vectors import products
from recollect.ports import Vectors
from recollect.recall.rules.message_specificity import Traits
from recollect.recall.rules.passage_columns import Numbers, Passages, place_keys
from recollect.recall.term_codes import Codes, spread_codes, term_code
from recollect.recall.word_likeness import Likeness, likeness_of_words, load_known_words

MICROSECONDS = 1e6
Rows = NDArray[np.intp]
NO_ROWS = np.empty(0, np.intp)
GROUP = 32  # scores, of which the highest is looked at first
ROW_BITS = 32  # of a place of a term: the low bits are of its row, the others of its group
LAST_ROW = (1 << ROW_BITS) - 1
POSITION_BITS = 32  # of a sorted term: the low bits say where it is, the others are of its number
POSITIONS = np.uint64((1 << POSITION_BITS) - 1)


def to_micros(time: datetime) -> int:
    return (time - EPOCH) // MICROSECOND


def sort_terms(codes: Codes, first: int = 0) -> Codes:
    """Positions of terms, from the first on, so that those of equal terms are together: each number is of its term and
    its position."""
    positions = np.arange(first, first + len(codes), dtype=np.uint64)
    return np.sort((spread_codes(codes) << np.uint64(POSITION_BITS)) | positions)


@dataclass(frozen=True)
class ScopeView:
    """`owners` are the rows of the terms, `ends` where the terms of each row end, `words` the places of the terms in
    the table of words that are alike, if they were looked up; `sorted_terms` are the first terms by their numbers, and
    `sorted_new_terms` those after them; `places` are the keys of all messages in order, and `place_rows` the row of
    each."""

    message_ids: NDArray[np.object_]
    micros: Numbers
    lengths: Numbers
    conversations: Numbers
    turns: Numbers
    roles: Numbers
    authors: Numbers
    languages: Numbers
    expires: Numbers
    ends: Numbers
    terms: Codes
    owners: NDArray[np.int32]
    words: NDArray[np.uint16]
    sorted_terms: Codes
    sorted_new_terms: Codes
    vectors: Vectors
    has_vector: NDArray[np.bool_]
    traits: Traits
    places: Numbers
    place_rows: Rows
    first_expiry: int
    all_have_vectors: bool
    conversation_names: Sequence[str]
    author_names: Sequence[str]
    language_names: Sequence[str]

    def __len__(self) -> int:
        return len(self.micros)

    @cached_property
    def tally(self) -> Tally:
        """How much there is, as the store counts it."""
        counts = np.bincount(self.languages).tolist() if len(self) else []
        names = sorted(name for name, count in zip(self.language_names, counts, strict=False) if count)
        return Tally(len(self), int(self.lengths.sum()), tuple(names))

    @cached_property
    def standing(self) -> dict[Filter, Numbers]:
        """The rows that are standing instructions, once a search of the whole scope has found them."""
        return {}

    @cached_property
    def moments(self) -> NDArray[np.float64]:
        """When the messages were said, in seconds since 1970."""
        return self.micros / MICROSECONDS

    def compute_columns(self) -> None:
        """Compute what is computed once of all rows, so that the next search finds it."""
        _ = self.moments, self._starts

    def occurrences(self, groups: Sequence[Sequence[str]]) -> Occurrences:
        """Where the terms of some groups occur."""
        sought = codes_of_groups(tuple(map(tuple, groups)))
        terms, positions, found = self._find_sorted(self.sorted_terms, sought)
        found_groups = sought.groups[found].tolist() if sought.has_several else []
        in_order = len(set(found_groups)) == len(found_groups)
        if len(self.terms) > len(self.sorted_terms):
            new_terms, new_positions = self._find_new(sought)
            terms = np.concatenate([terms, new_terms])
            positions = np.concatenate([positions, new_positions])
            in_order = in_order and not len(new_terms)
        rows = self.owners.take(positions).astype(np.intp)
        term_groups = sought.groups.take(terms)
        if not in_order:  # of a group of several terms, rows come term by term
            places = np.sort((term_groups << ROW_BITS) | rows)  # in a fifth of the time of `np.lexsort`
            rows = places & LAST_ROW
            term_groups = places >> ROW_BITS
        return Occurrences(rows, term_groups, len(self), len(groups))

    def _find_sorted(self, sorted_terms: Codes, sought: GroupCodes) -> tuple[Numbers, Rows, NDArray[np.bool_]]:
        """Where the terms of groups occur among sorted ones: for each time the place of the term in the groups, and the
        position; and for each term of the groups whether it may occur."""
        first = sorted_terms.searchsorted(sought.keys)
        sizes = sorted_terms.searchsorted(sought.keys | POSITIONS, side="right") - first
        positions = (sorted_terms[ranges(first, sizes)] & POSITIONS).astype(np.intp)
        terms = np.arange(len(sizes)).repeat(sizes)
        is_same = self.terms.take(positions) == sought.codes.take(terms)
        if not np.logical_and.reduce(is_same):  # two terms whose numbers differ only in the bits that are not sorted by
            positions = positions[is_same]
            terms = terms[is_same]
        return terms, positions, sizes > 0

    def _find_new(self, sought: GroupCodes) -> tuple[Numbers, Rows]:
        """The same for the terms that came after those that are sorted."""
        terms, positions, _ = self._find_sorted(self.sorted_new_terms, sought)
        count = len(self.sorted_terms) + len(self.sorted_new_terms)
        unsorted_terms = self.terms[count:]
        if not len(unsorted_terms):
            return terms, positions
        candidates = np.isin(unsorted_terms, sought.codes).nonzero()[0]
        which, places = (unsorted_terms[candidates] == sought.codes[:, np.newaxis]).nonzero()
        return np.concatenate([terms, which]), np.concatenate([positions, candidates[places] + count])

    def mask(self, where: Filter, now: datetime) -> NDArray[np.bool_] | None:
        """Which rows a filter means that have not expired by now; None for all."""
        conditions = []
        if self.first_expiry <= to_micros(now):
            conditions.append(self.expires > to_micros(now))
        if where.conversation is not None:
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

    @cached_property
    def _starts(self) -> Numbers:
        """Where the terms of each row begin."""
        return np.concatenate([np.zeros(1, np.int64), self.ends[:-1]])

    def _places_of_terms(self, rows: Rows) -> TermPlaces:
        """Where the terms of these rows are, one row's after the other's."""
        starts = self._starts[rows]
        sizes = self.ends[rows] - starts
        ends = np.add.accumulate(sizes)
        first = ends - sizes
        positions = np.arange(ends[-1] if len(ends) else 0)
        positions += (starts - first).repeat(sizes)
        return TermPlaces(positions, sizes, first)

    def likeness(self, rows: Rows, groups: Sequence[Sequence[str]]) -> Likeness:
        """How near the words of these rows are to each group of terms."""
        places = self._places_of_terms(rows)
        if len(self.words) == len(self.terms):
            words: NDArray[Any] = self.words[places.positions]
        else:
            words = load_known_words().find(self.terms[places.positions])
        return likeness_of_words(words, places.sizes, places.starts, groups)


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
class TermPlaces:
    """Where the terms of some rows are among all terms of a scope, one row's after the other's; how many each row has;
    and where those of each row begin among these."""

    positions: Numbers
    sizes: Numbers
    starts: Numbers


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """The terms of some groups as numbers, in their order, what they are sorted by, and the number of the group of
    each; and whether a group has several."""

    codes: Codes
    keys: Codes
    groups: Numbers
    has_several: bool


@lru_cache(maxsize=256)
def codes_of_groups(groups: tuple[tuple[str, ...], ...]) -> GroupCodes:
    """The terms of the groups of a query as numbers: they are looked for several times in a search."""
    codes = np.array([term_code(term) for group in groups for term in group], np.uint64)
    numbers = np.array([number for number, group in enumerate(groups) for _ in group], np.int64)
    keys = spread_codes(codes) << np.uint64(POSITION_BITS)
    return GroupCodes(codes, keys, numbers, len(codes) > len(groups))


def places_of_highest(scores: Vectors, limit: int) -> Rows:
    """The places of so many highest scores, of more than so many, and of all that are as high as the last of these. To
    find the last of the highest takes long, so it is looked for among those that are not below the last of the highest
    of some groups of scores: at least as many are as high as that."""
    groups = len(scores) // GROUP
    if groups <= limit:
        return np.flatnonzero(scores >= lowest_of_highest(scores, limit))
    highest = np.maximum.reduce(scores[: groups * GROUP].reshape(GROUP, groups), axis=0)
    places = np.flatnonzero(scores >= lowest_of_highest(highest, limit))
    scores = scores[places]
    return np.asarray(places[scores >= lowest_of_highest(scores, limit)])


def lowest_of_highest(scores: Vectors, limit: int) -> np.float32:
    """The lowest of so many highest scores."""
    lowest: np.float32 = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return lowest


def ranges(first: Numbers, sizes: Numbers) -> Numbers:
    """The numbers of several ranges, one after the other, each with its first number and its size."""
    ends = np.add.accumulate(sizes)
    numbers = np.arange(ends[-1] if len(ends) else 0)
    numbers += (first - ends + sizes).repeat(sizes)
    return numbers


def number_of(names: Sequence[str], name: str) -> int:
    """The number of a name, or -1."""
    try:
        return names.index(name)
    except ValueError:
        return -1

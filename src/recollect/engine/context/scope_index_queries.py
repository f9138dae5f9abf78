"""A scope index at one moment: columns of all passages of a user, or of a space, and what a search asks of them.

It stays as it is while others add to the index. A passage is known by its row; rows are in the order of their docs.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.engine.context.term_codes import Codes, spread_codes, term_code
from recollect.engine.context.word_likeness import Likeness, likeness_of_words, load_known_words
from recollect.model import ROLES, Filter
from recollect.model.frozen import dataclass
from recollect.model.passages import Tally
from recollect.model.vectors import products
from recollect.ports import Vectors
from recollect.rules.log import EPOCH, MICROSECOND
from recollect.rules.recall.message_specificity import Traits
from recollect.rules.recall.passage_columns import Numbers, Passages, distinct_numbers

MICROSECONDS = 1e6
Rows = NDArray[np.intp]
NO_ROWS = np.empty(0, np.intp)
GROUP = 32  # scores, of which the highest is looked at first
POSITION_BITS = 32  # of a sorted term: the low bits say where it is, the others are of its number
POSITIONS = np.uint64((1 << POSITION_BITS) - 1)


def to_micros(time: datetime) -> int:
    return (time - EPOCH) // MICROSECOND


def sort_terms(codes: Codes) -> Codes:
    """Positions of terms, so that those of equal terms are together: each number is of its term and its position."""
    positions = np.arange(len(codes), dtype=np.uint64)
    return np.sort((spread_codes(codes) << np.uint64(POSITION_BITS)) | positions)


@dataclass(frozen=True)
class ScopeView:
    """`owners` are the rows of the terms, `ends` where the terms of each row end, `words` the places of the terms in
    the table of words that are alike, if they were looked up; `places` are the keys of all messages in order, and
    `place_rows` the row of each."""

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

    def rows_of_groups(self, groups: Sequence[Sequence[str]]) -> list[Rows]:
        """For each group of terms the rows that have one of them, in order."""
        codes = codes_of_groups(tuple(map(tuple, groups)))
        rows_by_term = self._rows_of_terms(codes.codes)
        rows_of_group = []
        first_term = 0
        for group in groups:
            parts = [rows for rows in rows_by_term[first_term : first_term + len(group)] if len(rows)]
            first_term += len(group)
            rows_of_group.append(parts[0] if len(parts) == 1 else distinct_numbers(np.concatenate([NO_ROWS, *parts])))
        return rows_of_group

    def _rows_of_terms(self, codes: Codes) -> list[Rows]:
        """For each term the rows that have it, in order."""
        keys = spread_codes(codes) << np.uint64(POSITION_BITS)
        first = self.sorted_terms.searchsorted(keys)
        sizes = self.sorted_terms.searchsorted(keys | POSITIONS, side="right") - first
        positions = (self.sorted_terms[ranges(first, sizes)] & POSITIONS).astype(np.intp)
        terms = np.arange(len(codes)).repeat(sizes)
        is_same = self.terms[positions] == codes[terms]
        if not np.logical_and.reduce(is_same):  # two terms whose numbers differ only in the bits that are not sorted by
            positions = positions[is_same]
            terms = terms[is_same]
        rows = self.owners[positions].astype(np.intp)
        is_first = np.ones(len(rows), np.bool_)
        is_first[1:] = (rows[1:] != rows[:-1]) | (terms[1:] != terms[:-1])
        rows = rows[is_first]
        ends = terms[is_first].searchsorted(np.arange(len(codes) + 1))
        rows_by_term = [rows[start:end] for start, end in pairwise(ends.tolist())]
        new_terms = self.terms[len(self.sorted_terms) :]
        return self._with_unsorted(rows_by_term, codes, new_terms) if len(new_terms) else rows_by_term

    def _with_unsorted(self, rows_by_term: Sequence[Rows], codes: Codes, new_terms: Codes) -> list[Rows]:
        """The rows of each term with those among the terms that are not sorted yet, which come after them."""
        new_owners = self.owners[len(self.sorted_terms) :]
        is_code = np.isin(new_terms, codes)
        new_terms = new_terms[is_code]
        new_owners = new_owners[is_code]
        return [
            without_repeats(np.concatenate([rows, new_owners[new_terms == code]]))
            for rows, code in zip(rows_by_term, codes, strict=True)
        ]

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

    def passages(self, rows: Rows, groups: Sequence[Sequence[str]]) -> Passages:
        """The passages of these rows."""
        return Passages(self, rows, self._counts(self._places_of_terms(rows), groups))

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

    def _counts(self, places: TermPlaces, groups: Sequence[Sequence[str]]) -> Numbers:
        """How often the rows of which these are the terms have a term of each group."""
        size = len(places.sizes)
        sought = codes_of_groups(tuple(map(tuple, groups)))
        if not len(places.positions) or not len(sought.codes):
            return np.zeros((size, len(groups)), np.int64)
        terms = self.terms[places.positions]
        matches = (terms == sought.codes[:, np.newaxis]).ravel().nonzero()[0]  # of an array of one dimension it is fast
        codes, positions = np.divmod(matches, len(terms))
        cells = np.arange(size).repeat(places.sizes)[positions] * len(groups)
        cells += sought.groups[codes]
        return np.bincount(cells, minlength=size * len(groups)).reshape(size, len(groups))


@dataclass(frozen=True, slots=True)
class TermPlaces:
    """Where the terms of some rows are among all terms of a scope, one row's after the other's; how many each row has;
    and where those of each row begin among these."""

    positions: Numbers
    sizes: Numbers
    starts: Numbers


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """The terms of some groups as numbers, in their order, and the number of the group of each."""

    codes: Codes
    groups: Numbers


@lru_cache(maxsize=256)
def codes_of_groups(groups: tuple[tuple[str, ...], ...]) -> GroupCodes:
    """The terms of the groups of a query as numbers: they are looked for several times in a search."""
    codes = np.array([term_code(term) for group in groups for term in group], np.uint64)
    numbers = np.array([number for number, group in enumerate(groups) for _ in group], np.int64)
    return GroupCodes(codes, numbers)


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


def without_repeats(rows: NDArray[np.int32]) -> Rows:
    """Sorted rows, each once."""
    if len(rows) < 2:
        return rows.astype(np.intp)
    is_first = np.empty(len(rows), np.bool_)
    is_first[0] = True
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    return rows[is_first].astype(np.intp)


def number_of(names: Sequence[str], name: str) -> int:
    """The number of a name, or -1."""
    try:
        return names.index(name)
    except ValueError:
        return -1

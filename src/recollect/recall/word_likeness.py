"""How near the words of passages are to those of a query: "violin" is near to "instruments", which no stem tells.

Of each word of the query, the nearest word of a passage counts. What is known of words is a table of English, read when
it is first needed; a word that is not in it is near to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.recall.term_codes import BITS, MULTIPLIER, Codes, line_codes, spread_codes, term_code
from recollect.text.words import LANGUAGE, load_word_table

Likeness = NDArray[np.float32]

SLOT_BITS = 19  # of a word's number, by which it is looked up: one in eighty loses its place to a more frequent one
MANY_GROUPS = 8  # of terms, as a whole message has them,
FILLED = 4  # and places for each word of some passages, up to which all are filled up to the length of the longest
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
        places = [min(map(place_of_term, group)) for group in groups]
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
    longest = int(np.maximum.reduce(sizes))
    if len(groups) >= MANY_GROUPS and longest * len(sizes) <= FILLED * len(words):
        # A column for each passage, filled up to the longest: for many groups that takes half as long as `reduceat`.
        columns = np.full((longest, len(sizes)), len(likeness) - 1)
        columns.T[np.arange(longest) < sizes[:, np.newaxis]] = rows
        best = np.maximum.reduce(likeness.take(columns, axis=0), axis=0)
    elif np.logical_and.reduce(sizes):
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


@lru_cache(maxsize=4096)
def place_of_term(term: str) -> int:
    """The place of a term in the table: as `KnownWords.find`, which takes longer for one."""
    known = load_known_words()
    code = term_code(term)
    place = int(known.slots[(code * MULTIPLIER & BITS) >> (64 - SLOT_BITS)])
    return place if int(known.codes[place]) == code else len(known.codes) - 1


def no_likeness(passages: int, groups: Sequence[Sequence[str]]) -> Likeness:
    """The likeness of so many passages that have no word near those of the query."""
    return np.zeros((passages, len(groups)), np.float32)


def knows_language(languages: Sequence[str]) -> bool:
    """Whether the table knows words of one of these languages."""
    return LANGUAGE in languages

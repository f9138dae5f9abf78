"""How near the words of passages are to those of a query: "violin" is near to "instruments", which no stem tells.

Of each word of the query, the nearest word of a passage counts. What is known of words is a table of English, read when
it is first needed; a word that is not in it is near to nothing.

Terms are numbers, without a list of all terms: a term of up to eight bytes is the number, a longer one is hashed. So
the terms of many passages are numbered by a few operations on arrays, and the same term has the same number in every
index of every process. Two different terms have the same number with a chance of one in 2^64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everword.text.words import LANGUAGE, load_word_table

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
        raise ValueError("a line without its first terms")
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

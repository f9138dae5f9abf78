"""Terms as numbers, without a list of all terms: a term of up to eight bytes is the number, a longer one is hashed.

So the terms of many passages are numbered by a few operations on arrays, and the same term has the same number in every
index of every process. Two different terms have the same number with a chance of one in 2^64.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WORD = 8  # bytes
MULTIPLIER = 0x9E3779B97F4A7C15
BITS = (1 << 64) - 1
SPACE = 32  # bytes up to this one separate terms
NEWLINE = 10

Codes = NDArray[np.uint64]

_MASKS = np.array([(1 << (8 * count)) - 1 for count in range(WORD + 1)], np.uint64)
_MULTIPLIER = np.uint64(MULTIPLIER)


@lru_cache(maxsize=4096)
def term_code(term: str) -> int:
    """The number of one term."""
    data = term.encode()
    code = int.from_bytes(data[:WORD], "little")
    for start in range(WORD, len(data), WORD):
        code = (code * MULTIPLIER & BITS) ^ int.from_bytes(data[start : start + WORD], "little")
    return code


def line_codes(lines: bytes, scope_terms: int) -> tuple[Codes, NDArray[np.int64]]:
    """The numbers of the terms of some lines, without the first `scope_terms` of each line; and how many each line has.
    Raises ValueError if a line has fewer."""
    buffer = b" " + lines + b"\n" + b" " * WORD
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
    words: NDArray[np.uint64] = np.ndarray((len(buffer) - WORD + 1,), "<u8", buffer, 0, (1,))
    sizes = ends - starts
    codes: Codes = words[starts] & _MASKS[np.minimum(sizes, WORD)]
    longer = np.flatnonzero(sizes > WORD)
    offset = WORD
    while len(longer):
        next_words = words[starts[longer] + offset] & _MASKS[np.minimum(sizes[longer] - offset, WORD)]
        codes[longer] = (codes[longer] * _MULTIPLIER) ^ next_words
        offset += WORD
        longer = longer[sizes[longer] > offset]
    return codes


def spread_codes(codes: Codes) -> Codes:
    """For each number 32 bits that differ where the numbers do, mostly, and are spread evenly."""
    return np.asarray((codes * _MULTIPLIER) >> np.uint64(32))

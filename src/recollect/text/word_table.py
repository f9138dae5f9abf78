"""Words that are near each other in meaning: one vector for each stem of the frequent words of English.

The table (made by `scripts/word_table.py`) has some fourteen thousand stems in the order of their frequency. It is read
once a process, when it is first asked for; it knows no other language than English.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LANGUAGE = "en"
FILE = Path(__file__).parent / "data" / "words.npz"


@dataclass(frozen=True, slots=True)
class WordTable:
    """Stems, one on each line, the most frequent first; and their vectors as small numbers, which have length one when
    they are multiplied by their scale."""

    stems: bytes
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]


@cache
def load_word_table() -> WordTable:
    """The table that comes with recollect."""
    with np.load(FILE, allow_pickle=False) as arrays:
        rows = arrays["rows"]
        stems = arrays["stems"].tobytes()
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float32))
    return WordTable(stems, rows, 1 / lengths)

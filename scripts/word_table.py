"""Make the table by which a search knows words that are near each other, from the static embedding table.

    python scripts/word_table.py  # some seconds; writes src/everword/text/data

A term of the index is a stem. Each stem of the vocabulary gets the vector of its most frequent word, reduced to its 64
principal components, of length one, as 8-bit integers. Function words, single letters and what is not English have
none. The stems stand in the order of their frequency.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from everword.text.detect import function_words
from everword.text.terms import analyse

EMBEDDING = Path("src/everword/models/embedding/data")
OUT = Path("src/everword/text/data/words.npz")
WIDTH = 64


def find_stems(tokens: list[str], lengths: np.ndarray) -> dict[str, int]:
    """For each stem the place of its most frequent word, which is the first."""
    places: dict[str, int] = {}
    skipped = function_words("en")
    for place, token in enumerate(tokens):
        if token.isalpha() and token.isascii() and len(token) > 1 and token not in skipped and lengths[place] > 0:
            stems = analyse(token, "en").terms
            if len(stems) == 1:
                places.setdefault(stems[0], place)
    return places


def main() -> int:
    with np.load(EMBEDDING / "static.npz", allow_pickle=False) as arrays:
        rows = arrays["rows"].astype(np.float64) * arrays["scales"].astype(np.float64)[:, np.newaxis]
    tokens = (EMBEDDING / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    places = find_stems(tokens, np.linalg.norm(rows, axis=1))
    vectors = rows[list(places.values())]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, components = np.linalg.eigh(vectors.T @ vectors)
    reduced = vectors @ components[:, -WIDTH:]
    steps = np.abs(reduced).max(axis=1, keepdims=True) / 127
    stems = np.frombuffer("\n".join(places).encode(), np.uint8)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(OUT, stems=stems, rows=np.rint(reduced / steps).astype(np.int8))
    sys.stdout.write(f"{len(places)} stems, {OUT.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The default embedder: a text is the sum of its tokens' rows in a fixed table, scaled to length one.

The table (distilled by `scripts/distill.py`) holds whole numbers, so sums are exact: a text's vector does
not depend on the batch it came in or on the order of addition. A token without a meaning of its own has a
row of zeros, and a text of only such tokens a vector of zeros. Table and vocabulary are read once a process,
and only if their digest is the one below: vectors under one identity always come from the same bytes.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.errors import EmbedderError
from recollect.models.embedding.wordpiece import WordPiece
from recollect.ports import Vectors

DATA = Path(__file__).parent / "data"
# sha256 of static.npz and vocab.txt, one after the other.
DIGEST = "ac526a45c4262f124bd36669f6add99ecfe9d990de331b68d8a020fa0f3ca478"
WIDTH = 256

TOKENS_AT_ONCE = 4096  # their rows, scaled, are below 2**18, so 32 bits hold the sum
FEW_TOKENS = 63  # so few that also the 24 bits of single precision do
TEXTS_AT_ONCE = 512
INLINE = 4096  # characters; a shorter batch is embedded faster than a thread is started


@dataclass(frozen=True, slots=True)
class _Table:
    """A row of small numbers for each token, and what each of its numbers counts for."""

    rows: NDArray[np.int8]
    scales: NDArray[np.int32]
    wordpiece: WordPiece

    def vectors(self, texts: Sequence[str]) -> Vectors:
        totals = np.zeros((len(texts), WIDTH), dtype=np.float64)
        # Text by text: faster than a gather for a whole batch, whose rows leave the processor's cache.
        for number, text in enumerate(texts):
            for ids in self.wordpiece.batches(text, TOKENS_AT_ONCE):
                totals[number] += self.sum_rows(ids)
        lengths = np.sqrt(np.vecdot(totals, totals))
        lengths[lengths == 0] = 1
        totals /= lengths[:, np.newaxis]
        return totals.astype(np.float32)

    def sum_rows(self, ids: Sequence[int]) -> NDArray[np.int32] | NDArray[np.float32]:
        """The sum of the scaled rows of some tokens, in numbers that hold it exactly."""
        rows = self.rows.take(ids, axis=0)
        scales = self.scales.take(ids)
        if len(ids) <= FEW_TOKENS:
            total: NDArray[np.float32] = np.dot(scales.astype(np.float32), rows.astype(np.float32))
            return total
        return np.asarray(np.einsum("i,ij->j", scales, rows.astype(np.int32)))


_tables: dict[Path, _Table] = {}
_loading = threading.Lock()


class StaticEmbedder:
    """Tens of thousands of short texts a second on one core. Reads English; a text in another script has zeros."""

    def __init__(self, folder: Path = DATA) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.identity!r})"

    @property
    def identity(self) -> str:
        return f"static-1/{WIDTH}/{DIGEST[:8]}"

    @property
    def width(self) -> int:
        return WIDTH

    async def ready(self) -> None:
        """Nothing to do: identity and width are fixed."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._folder in _tables and sum(map(len, texts)) <= INLINE:
            return self.embed_now(texts)
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """The same, blocking: for callers that are in a thread already."""
        table = _get_table(self._folder)
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            vectors[start : start + TEXTS_AT_ONCE] = table.vectors(texts[start : start + TEXTS_AT_ONCE])
        return vectors

    async def close(self) -> None:
        """Nothing to close: the table is shared."""


def _get_table(folder: Path) -> _Table:
    with _loading:
        if folder not in _tables:
            _tables[folder] = _load_table(folder)
        return _tables[folder]


def _load_table(folder: Path) -> _Table:
    try:
        archive = (folder / "static.npz").read_bytes()
        vocabulary = (folder / "vocab.txt").read_bytes()
    except OSError as error:
        raise EmbedderError(f"the static table cannot be read ({error}): install recollect again") from error
    hashing = hashlib.sha256(archive)
    hashing.update(vocabulary)
    digest = hashing.hexdigest()
    if digest != DIGEST:
        raise EmbedderError(
            f"the static embedding table in {folder} is damaged or of another version (sha256 {digest[:8]}…, "
            f"expected {DIGEST[:8]}…): install recollect again"
        )
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        rows = arrays["rows"]
        scales = arrays["scales"].astype(np.int32)
    return _Table(rows, scales, WordPiece.from_lines(vocabulary.decode("utf-8")))

"""A cache in front of an embedder: a recent text is not embedded again, nor twice within one batch.

It changes nothing but speed. Texts are kept only as digests; vectors are copied in and out, so no caller can
change what another will get. Two tasks that miss the same text at the same time both embed it: the results
are the same.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from recollect.errors import EmbedderError, InvalidInput
from recollect.ports import Embedder, Telemetry, Vectors

Key = bytes


class CachedEmbedder:
    """Keeps the vectors of the last `size` different texts."""

    def __init__(self, inner: Embedder, size: int = 4096, telemetry: Telemetry | None = None) -> None:
        if size < 1:
            raise InvalidInput("size", "must be at least 1")
        self._inner = inner
        self._size = size
        self._telemetry = telemetry
        self._vectors: OrderedDict[Key, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"CachedEmbedder({self._inner!r}, size={self._size})"

    @property
    def identity(self) -> str:
        return self._inner.identity

    @property
    def width(self) -> int:
        return self._inner.width

    async def ready(self) -> None:
        await self._inner.ready()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [_key(text) for text in texts]
        vectors = self._find_vectors(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        self._count("hit", len(texts) - len(missing))
        self._count("miss", len(missing))
        if missing:
            fresh = await self._inner.embed(list(missing.values()))
            if len(fresh) != len(missing):
                raise EmbedderError(f"{self.identity} gave {len(fresh)} vectors for {len(missing)} texts")
            vectors.update(zip(missing, fresh, strict=True))
            self._store_vectors({key: vectors[key] for key in missing})
        if not keys:
            return np.zeros((0, self.width), dtype=np.float32)
        return np.stack([vectors[key] for key in keys])

    async def close(self) -> None:
        with self._lock:
            self._vectors.clear()
        await self._inner.close()

    def _count(self, outcome: str, texts: int) -> None:
        if self._telemetry is not None and texts:
            self._telemetry.count("cache", kind="embedding", outcome=outcome, amount=texts)

    def _find_vectors(self, keys: Sequence[Key]) -> dict[Key, Vectors]:
        vectors: dict[Key, Vectors] = {}
        with self._lock:
            for key in keys:
                vector = self._vectors.get(key)
                if vector is not None:
                    self._vectors.move_to_end(key)
                    vectors[key] = vector
        return vectors

    def _store_vectors(self, vectors: dict[Key, Vectors]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                # A row of its own: a view would keep its whole batch alive.
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _key(text: str) -> Key:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

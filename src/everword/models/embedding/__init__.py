"""Embedders: text in, vectors of length one out. Each names its vectors, so that vectors of two kinds are
never compared.

`local` has the default one, which needs nothing, and MiniLM; that and `endpoint` need an extra. A module is imported
only when it is used, and nothing is ever downloaded. Around any of them is `CachedEmbedder`: a recent text is not
embedded again, nor twice within one batch. It changes nothing but speed. Texts are kept only as digests; vectors are
copied in and out, so no caller can change what another will get.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache

from everword.errors import EmbedderError, InvalidInput
from everword.ports import Embedder, Telemetry, Vectors


class CachedEmbedder:
    """Keeps the vectors of the last `size` different texts."""

    def __init__(self, inner: Embedder, size: int = 4096, telemetry: Telemetry | None = None) -> None:
        if size < 1:
            raise InvalidInput("size", "must be at least 1")
        self._inner = inner
        self._size = size
        self._telemetry = telemetry
        self._vectors: LRUCache[bytes, Vectors] = LRUCache(size)
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
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            vectors = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        self._count("hit", len(texts) - len(missing))
        self._count("miss", len(missing))
        if missing:
            fresh = await self._inner.embed(list(missing.values()))
            if len(fresh) != len(missing):
                raise EmbedderError(f"{self.identity} returned {len(fresh)} vectors for {len(missing)} texts")
            vectors |= zip(missing, fresh, strict=True)
            with self._lock:  # a row of its own: a view would keep its whole batch alive
                self._vectors.update((key, vectors[key].copy()) for key in missing)
        return np.stack([vectors[key] for key in keys]) if keys else np.zeros((0, self.width), dtype=np.float32)

    async def close(self) -> None:
        with self._lock:
            self._vectors.clear()
        await self._inner.close()

    def _count(self, outcome: str, texts: int) -> None:
        if self._telemetry is not None and texts:
            self._telemetry.count("cache", kind="embedding", outcome=outcome, amount=texts)

"""The cache changes speed only: same vectors, fewer texts embedded, bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from everword.errors import EmbedderError, InvalidInput
from everword.models.embedding import CachedEmbedder
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Embedder, Vectors


class Watched(StaticEmbedder):
    """The static embedder, noting what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        await asyncio.sleep(0)
        return await super().embed(texts)

    async def close(self) -> None:
        self.closed = True


class Short(StaticEmbedder):
    """Answers with a row too few."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return (await super().embed(texts))[1:]


def test_same_vectors_same_name() -> None:
    inner = Watched()
    cached: Embedder = CachedEmbedder(inner)
    texts = ["one", "two", "", "one"]
    assert (cached.identity, cached.width) == (inner.identity, inner.width)
    for _ in range(2):
        assert np.array_equal(asyncio.run(cached.embed(texts)), StaticEmbedder().embed_now(texts))
    assert inner.asked == ["one", "two", ""]
    assert asyncio.run(cached.embed([])).shape == (0, inner.width)


def test_the_longest_unused_goes_first() -> None:
    inner = Watched()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        asyncio.run(cached.embed([text]))
    assert inner.asked == ["a", "b", "c", "b"]


def test_a_batch_larger_than_the_cache() -> None:
    inner = Watched()
    cached = CachedEmbedder(inner, size=2)
    texts = [f"text {n}" for n in range(5)]
    assert np.array_equal(asyncio.run(cached.embed(texts)), StaticEmbedder().embed_now(texts))
    asyncio.run(cached.embed(["text 4", "text 3"]))
    assert inner.asked == texts


def test_callers_cannot_change_what_is_kept() -> None:
    cached = CachedEmbedder(Watched())
    first = asyncio.run(cached.embed(["kept"]))
    expected = first.copy()
    first[:] = 7
    again = asyncio.run(cached.embed(["kept"]))
    assert np.array_equal(again, expected)
    again[:] = 7
    assert np.array_equal(asyncio.run(cached.embed(["kept"])), expected)


def test_many_tasks_at_once() -> None:
    cached = CachedEmbedder(Watched(), size=8)
    batches = [[f"text {(start * step) % 13}" for step in range(6)] for start in range(40)]

    async def all_at_once() -> list[Vectors]:
        return list(await asyncio.gather(*(cached.embed(batch) for batch in batches)))

    for batch, vectors in zip(batches, asyncio.run(all_at_once()), strict=True):
        assert np.array_equal(vectors, StaticEmbedder().embed_now(batch))


def test_texts_that_are_not_utf8_are_kept_apart() -> None:
    inner = Watched()
    asyncio.run(CachedEmbedder(inner).embed(["\ud83d", "\ud83e"]))
    assert len(inner.asked) == 2


def test_an_embedder_that_answers_short_is_refused() -> None:
    with pytest.raises(EmbedderError, match="1 vectors for 2 texts"):
        asyncio.run(CachedEmbedder(Short()).embed(["a", "b"]))


def test_closing_closes_what_is_inside() -> None:
    inner = Watched()
    asyncio.run(CachedEmbedder(inner).close())
    assert inner.closed


def test_a_cache_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="size"):
        CachedEmbedder(StaticEmbedder(), size=0)

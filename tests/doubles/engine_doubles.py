"""What the engine's tests put in the place of the world: embedders that fail, wait, count or differ, and a store
that fails or waits. Each implements its port and leaves the rest to the real thing behind it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from everword import EmbedderError, MachineAway, Memory
from everword.follow.follower import settle
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Store, Tx, Vectors

T = TypeVar("T")
PATIENCE = 120.0  # seconds until a test that waits for something gives up


def settle_index(memory: Memory) -> None:
    """Bring what is searched up to date, and no other view: most of what a settle does, a search never looks at."""
    settle_views(memory, "index")


def settle_views(memory: Memory, *names: str) -> None:
    """Bring these views up to date, and no other."""
    inner: Any = memory._inner
    followers = [inner.runtime.followers[name] for name in names]
    memory._private.wait(settle(followers, PATIENCE, inner.runtime.calls))


def step_view(memory: Memory, name: str) -> int:
    """Have a view look once for what is new, and bring in what it takes at a time. How many messages that were."""
    inner: Any = memory._inner
    count: int = memory._private.wait(inner.runtime.followers[name].step())
    return count


def settle_facts(memory: Memory) -> None:
    """Bring the facts up to date, those that rules read before a model does, too."""
    inner: Any = memory._inner
    settle_views(memory, *(name for name in ("index", "first_facts", "facts") if name in inner.runtime.followers))


def settle_topics(memory: Memory) -> None:
    """Bring the topics and their titles up to date, and the view that they follow."""
    settle_views(memory, "index", "topics", "titles")


def settle_summaries(memory: Memory) -> None:
    """Bring the episodes up to date, and the views that they follow. To read facts and to write tiers takes as long."""
    settle_views(memory, "index", "topics", "window", "episodes")


def note(log: Path, texts: Sequence[str]) -> None:
    """One write to a file opened for appending: lines of several processes do not mix."""
    with open(log, "ab", buffering=0) as file:
        file.write("".join(f"{os.getpid()} {text}\n" for text in texts).encode())


class CountingEmbedder(StaticEmbedder):
    """The built-in embedder; notes every text it embeds, and fails as often as told."""

    def __init__(self, *, failures: int = 0, log: Path | None = None) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.calls = 0
        self.failures = failures
        self.log = log

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            raise EmbedderError("the embedder is having a rest")
        self.texts += texts
        if self.log is not None:
            note(self.log, texts)
        return await super().embed(texts)


class GatedEmbedder(CountingEmbedder):
    """Embeds nothing until its gate is opened; says when somebody waits there."""

    def __init__(self) -> None:
        super().__init__()
        self._entered, self._waiting = threading.Event(), list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()
        self._open = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not self._open:
            gate = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), gate))
            self._entered.set()
            await gate.wait()
        return await super().embed(texts)

    @property
    def entered(self) -> bool:
        return self._entered.is_set()

    def wait_until_entered(self) -> None:
        assert self._entered.wait(PATIENCE), "nobody came to be embedded"

    def open(self) -> None:
        self._open = True
        for loop, gate in self._waiting:
            loop.call_soon_threadsafe(gate.set)


class HashEmbedder:
    """Vectors of any width under any name, from a hash of each word: texts that share words are near."""

    def __init__(self, identity: str, width: int) -> None:
        self._identity, self._width = identity, width

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def width(self) -> int:
        return self._width

    async def ready(self) -> None:
        """Always."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % self._width] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(lengths, 1)
        return vectors

    async def close(self) -> None:
        """Nothing to close."""


class StoreDouble:
    """A store in front of another. `before` and `after` each write may raise, inside or outside the transaction."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.inside: Callable[[Tx], None] = lambda tx: None
        self.after: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def searches(self) -> int:
        return self.inner.searches

    @property
    def reads_at_once(self) -> bool:
        return self.inner.reads_at_once

    def read(self, fn: Callable[[Tx], T]) -> T:
        return self.inner.read(fn)

    def write(self, fn: Callable[[Tx], T]) -> T:
        def both(tx: Tx) -> T:
            result = fn(tx)
            self.inside(tx)
            return result

        result = self.inner.write(both)
        self.after()
        return result

    @property
    def writable(self) -> bool:
        return self.inner.writable

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        return self.inner.scrub(full)

    def close(self) -> None:
        self.inner.close()


class PartialTx:
    """A transaction that touches no row of a space that is away. Who looks for work is shown that of other spaces."""

    def __init__(self, inner: Any, away: str) -> None:
        self._inner, self._away = inner, away

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if name == "index":
            return PartialTx(value, self._away)
        if not callable(value):
            return value

        def call(*values: Any, **options: Any) -> Any:
            if self._away in repr((values, options)):
                raise MachineAway("the machine of that space is away")
            result = value(*values, **options)
            is_look = name in ("lagging", "set_aside_due")
            return [row for row in result if row.space != self._away] if is_look else result

        return call


class PartialStore(StoreDouble):
    """A store that is spread over machines. While `is_away`, the one that holds a space does not answer."""

    def __init__(self, inner: Store, away: str) -> None:
        super().__init__(inner)
        self._away = away
        self.is_away = False

    def read(self, fn: Callable[[Tx], T]) -> T:
        return super().read(lambda tx: fn(self._part_of(tx)))

    def write(self, fn: Callable[[Tx], T]) -> T:
        return super().write(lambda tx: fn(self._part_of(tx)))

    def _part_of(self, tx: Tx) -> Tx:
        return cast(Tx, PartialTx(tx, self._away)) if self.is_away else tx

"""How fast recall is, what its time goes to, and how it grows, beside floors measured in the same run.

    python benchmarks/recall.py [--sizes 1000 10000 100000] [--store URL] [--queries 200]

All messages belong to one user and one conversation, the hardest case. Two kinds of queries: a few words that a
person remembers, and a whole message, as a context is made for. Floors: a bare product of the user's matrix
with the query's vector, and the embedding of the query. Ours: `search`, whole, through the public interface. Its parts
are what the store is asked for (words, vectors, messages), what is computed from it (ranking), and the rest
(embedding, threads, the transaction). The last lines are the growth from one size to the next.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from corpus import corpus, questions
from everword import Draft, Memory
from everword.config import Settings
from everword.models.embedding.local import WIDTH, StaticEmbedder
from everword.ports import Store, Tx
from everword.wiring import open_store
from table import milliseconds, percentile, show

T = TypeVar("T")

BATCH = 1_000
BETWEEN = timedelta(minutes=7)  # from one message to the next: 100,000 of them are a year and a half
PARTS = {
    "index": ("scope_state", "docs_upto", "passages_after", "vectors_after"),
    "words": ("tally", "postings", "candidates", "passages_at"),
    "vectors": ("nearest", "cosines"),
    "messages": ("find_messages", "messages"),
}
REST = ("other reads", "ranking", "around")


class TimedStore:
    """A store that notes how long its readers spend in each operation, and in all."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @property
    def name(self) -> str:
        return self._store.name

    @property
    def searches(self) -> int:
        return self._store.searches

    @property
    def reads_at_once(self) -> bool:
        return self._store.reads_at_once

    def read(self, fn: Callable[[Tx], T]) -> T:
        start = time.perf_counter()
        try:
            return self._store.read(lambda tx: self._inside(fn, tx))
        finally:
            self.seconds["transaction"] += time.perf_counter() - start

    def _inside(self, fn: Callable[[Tx], T], tx: Tx) -> T:
        start = time.perf_counter()
        try:
            timed: Any = TimedTx(tx, self.seconds)
            return fn(timed)
        finally:
            self.seconds["function"] += time.perf_counter() - start

    def write(self, fn: Callable[[Tx], T]) -> T:
        return self._store.write(fn)

    @property
    def writable(self) -> bool:
        return self._store.writable

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        return self._store.scrub(full)

    def close(self) -> None:
        self._store.close()


class TimedTx:
    """A transaction whose operations are timed by name."""

    def __init__(self, tx: Tx, seconds: defaultdict[str, float]) -> None:
        self._tx, self._seconds = tx, seconds

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._tx, name)

        def timed(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return operation(*given, **named)
            finally:
                self._seconds[f"tx.{name}"] += time.perf_counter() - start

        return timed


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each search, seconds of all by part, and how many queries found their message."""

    seconds: list[float]
    parts: dict[str, float]
    found: int


def parts_of(seconds: defaultdict[str, float], whole: float) -> dict[str, float]:
    """The time of all searches by part; together they are the whole."""
    named = {part: sum(seconds[f"tx.{name}"] for name in names) for part, names in PARTS.items()}
    reading = sum(spent for name, spent in seconds.items() if name.startswith("tx."))
    other = reading - sum(named.values())
    ranking = seconds["function"] - reading
    return {**named, "other reads": other, "ranking": ranking, "around": whole - seconds["function"]}


def bare_product(size: int, times: int = 50) -> float:
    """Seconds of a matrix product of that many vectors with one, at the median."""
    matrix = np.random.default_rng(0).standard_normal((size, WIDTH), dtype=np.float32)
    seconds = []
    for query in np.random.default_rng(1).standard_normal((times, WIDTH), dtype=np.float32):
        start = time.perf_counter()
        matrix @ query
        seconds.append(time.perf_counter() - start)
    return percentile(seconds, 0.5)


def embedding(asked: list[str]) -> float:
    """Seconds to embed one query, at the median."""

    async def run() -> list[float]:
        embedder, seconds = StaticEmbedder(), []
        await embedder.embed(asked)
        for query in asked:
            start = time.perf_counter()
            await embedder.embed([query])
            seconds.append(time.perf_counter() - start)
        return seconds

    return percentile(asyncio.run(run()), 0.5)


def kept(url: str, texts: list[str]) -> float:
    """Keep the messages, the last of them now. Seconds until all of it can be searched."""
    start, first_said = time.perf_counter(), datetime.now(UTC) - BETWEEN * len(texts)
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("many", user="alex")
        for first in range(0, len(texts), BATCH):
            batch = enumerate(texts[first : first + BATCH], first)
            chat.extend([Draft("user", text, time=first_said + BETWEEN * i) for i, text in batch])
        memory.settle(3600)
    return time.perf_counter() - start


def searched(memory: Memory, store: TimedStore, asked: list[str]) -> Measured:
    seconds, found = [], 0
    store.seconds.clear()
    for query in asked:
        start = time.perf_counter()
        hits = memory.search(query, user="alex")
        seconds.append(time.perf_counter() - start)
        wanted = query.lower().rstrip(".!?").split()
        found += any(all(word in hit.message.content.lower() for word in wanted) for hit in hits)
    return Measured(seconds, parts_of(store.seconds, sum(seconds)), found)


def measured(url: str, kinds: dict[str, list[str]]) -> tuple[float, dict[str, Measured]]:
    """Seconds of the first search after opening, and what was measured with each kind of queries."""
    store = TimedStore(open_store(url, Settings.load()))
    with Memory(store, followers=False) as memory:
        start = time.perf_counter()
        memory.search(next(iter(kinds.values()))[0], user="alex")
        cold = time.perf_counter() - start
        return cold, {kind: searched(memory, store, asked) for kind, asked in kinds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--store", help="measure this empty store (one size only) instead of SQLite files")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    rows: dict[str, list[list[str]]] = {}
    medians: dict[str, list[float]] = {}
    for size in options.sizes:
        texts = corpus(size)
        whole = random.Random(2).sample(texts, min(options.queries, size))
        kinds = {"a few words": questions(texts, options.queries), "a whole message": whole}
        with tempfile.TemporaryDirectory(dir=".") as folder:
            url = options.store or f"{folder}/ours.db"
            kept(url, texts)
            cold, results = measured(url, kinds)
        product = bare_product(size)
        for kind, result in results.items():
            each = [result.parts[part] / len(result.seconds) for part in (*PARTS, *REST)]
            times = [
                product,
                embedding(kinds[kind]),
                cold,
                *(percentile(result.seconds, p) for p in (0.5, 0.95)),
                *each,
            ]
            share = f"{result.found / len(kinds[kind]):.0%}"
            rows.setdefault(kind, []).append([f"{size:,}", *map(milliseconds, times), share])
            medians.setdefault(kind, []).append(percentile(result.seconds, 0.5))
    header = ["messages", "bare product", "embedding", "first search", "p50", "p95", *PARTS, *REST, "found"]
    for kind, lines in rows.items():
        show(f"Recall by {kind}, one user, static embedder; milliseconds, parts at the mean", header, lines)
        for (small, before), (large, after) in pairwise(zip(options.sizes, medians[kind], strict=True)):
            print(f"growth from {small:,} to {large:,} messages: {after / before:.1f} times")


if __name__ == "__main__":
    main()

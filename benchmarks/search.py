"""How fast messages are found, beside floors measured in the same run.

    python benchmarks/search.py [--sizes 1000 10000 100000] [--store URL] [--queries 200]

All messages belong to one user, the hardest case. Floors: a bare product of the user's matrix with the query's
vector, and the embedding of the query. Ours: `search`, whole, through the public API; beside it the same without the
query's embedding. The last line is the growth from one size to the next.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from itertools import pairwise

import numpy as np

from corpus import corpus, questions
from recollect import Draft, Memory
from recollect.embed.static import WIDTH, StaticEmbedder
from table import milliseconds, percentile, show

BATCH = 1_000


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


def searched(url: str, texts: list[str], asked: list[str]) -> tuple[float, list[float], int]:
    """Seconds of the first search after opening, seconds of the others, and how many queries found their message."""
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("many", user="alex")
        for first in range(0, len(texts), BATCH):
            chat.extend([Draft("user", text) for text in texts[first : first + BATCH]])
        memory.settle(3600)
    with Memory(url, followers=False) as memory:
        start = time.perf_counter()
        memory.search(asked[0], user="alex")
        cold, seconds, found = time.perf_counter() - start, [], 0
        for query in asked:
            start = time.perf_counter()
            hits = memory.search(query, user="alex")
            seconds.append(time.perf_counter() - start)
            found += any(all(word in hit.message.content.lower() for word in query.split()) for hit in hits)
    return cold, seconds, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--store", help="measure this empty store (one size only) instead of SQLite files")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    rows, medians = [], []
    for size in options.sizes:
        texts = corpus(size)
        asked = questions(texts, options.queries)
        with tempfile.TemporaryDirectory(dir=".") as folder:
            cold, seconds, found = searched(options.store or f"{folder}/ours.db", texts, asked)
        embed, product = embedding(asked), bare_product(size)
        medians.append(percentile(seconds, 0.5) - embed)
        rows.append(
            [
                f"{size:,}",
                milliseconds(product),
                milliseconds(embed),
                milliseconds(cold),
                milliseconds(percentile(seconds, 0.5)),
                milliseconds(percentile(seconds, 0.95)),
                milliseconds(medians[-1]),
                f"{found / len(asked):.0%}",
            ]
        )
    header = ["messages", "bare product ms", "query embedding ms", "first search ms", "search p50 ms", "search p95 ms"]
    show("Search, one user, static embedder", [*header, "p50 beside embedding", "found"], rows)
    for (small, before), (large, after) in pairwise(zip(options.sizes, medians, strict=True)):
        print(f"growth from {small:,} to {large:,} messages: {after / before:.1f} times")


if __name__ == "__main__":
    main()

"""How fast messages are kept, beside floors measured in the same run.

    python benchmarks/ingest.py [--sizes 1000 10000 100000] [--store URL] [--minilm 300]
    python benchmarks/ingest.py --views 6000 [--data FILE] [--together | --length 30]

Floors: the same rows put into a bare SQLite table with the same durability, and the bare embedder. Ours: `add` one by
one, `extend` in batches of 500, and batches with the index brought up to date (full text and vectors), until all of
it can be searched. Every number is from a store on the disk of the working directory. With `--views`, what every view
takes of an import of so many messages (`backlog.py`); with `--together`, the same import in two processes; with
`--length`, cut into conversations of so many messages, as exports of assistants are.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

import backlog
from corpus import corpus
from everword import Draft, Memory
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Embedder
from table import milliseconds, percentile, show

BATCH = 500
SINGLE = 500  # messages added one by one
WARM = 50  # messages added before, to fill caches


def raw_insert(folder: Path, texts: list[str]) -> tuple[list[float], float]:
    """Seconds of each single insert, and messages a second in batches, in bare SQLite."""
    connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    columns = "conversation TEXT, turn INTEGER, content TEXT, PRIMARY KEY (conversation, turn)"
    connection.execute(f"CREATE TABLE messages ({columns})")
    single = []
    for turn, text in enumerate(texts[:SINGLE]):
        start = time.perf_counter()
        connection.execute("INSERT INTO messages VALUES ('one', ?, ?)", (turn, text))
        single.append(time.perf_counter() - start)
    start = time.perf_counter()
    for first in range(0, len(texts), BATCH):
        connection.execute("BEGIN")
        rows = [("many", first + i, text) for i, text in enumerate(texts[first : first + BATCH])]
        connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    rate = len(texts) / (time.perf_counter() - start)
    connection.close()
    return single, rate


def raw_embedding(texts: list[str], embedder: Embedder) -> float:
    """Messages a second of the embedder alone, the second time: its memo of words is warm, as in a long run."""

    async def run() -> float:
        await embedder.embed(texts[:BATCH])
        start = time.perf_counter()
        for first in range(0, len(texts), BATCH):
            await embedder.embed(texts[first : first + BATCH])
        return len(texts) / (time.perf_counter() - start)

    return asyncio.run(run())


def ours(url: str, texts: list[str], embedder: Embedder | None = None) -> tuple[list[float], float, float]:
    """Seconds of each single `add`, messages a second appended in batches, and the same until indexed."""
    single = []
    with Memory(url, embedder=embedder, followers=False) as memory:
        chat = memory.conversation("one", user="ann")
        for text in texts[:WARM]:
            chat.add("user", text)
        for text in texts[:SINGLE]:
            start = time.perf_counter()
            chat.add("user", text)
            single.append(time.perf_counter() - start)
        memory.settle(600)
        chat = memory.conversation("many", user="alex")
        start = time.perf_counter()
        for first in range(0, len(texts), BATCH):
            chat.extend([Draft("user", text) for text in texts[first : first + BATCH]])
        appended = time.perf_counter() - start
        memory.settle(3600)
        indexed = time.perf_counter() - start
    return single, len(texts) / appended, len(texts) / indexed


def show_import(store: str | None, data: str | None, size: int) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        cost = backlog.run_import(store or f"{folder}/import.db", data, size)
    title = f"`everword import` with all views, two processes, {size:,} messages, {backlog.data_name(data)}"
    show(title, backlog.HEADER, backlog.cost_rows(size, [cost]))


def show_views(store: str | None, data: str | None, size: int, length: int) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        rows, megabytes = backlog.run(store or f"{folder}/views.db", data, size, length)
    parts = f" in conversations of {length}" if length else ""
    title = f"Every view, {size:,} messages{parts}, {backlog.data_name(data)}, at most {megabytes:,} MB of memory"
    show(title, backlog.HEADER, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--store", help="measure this empty store instead of SQLite files")
    parser.add_argument("--minilm", type=int, default=0, metavar="N", help="also N messages with the minilm embedder")
    parser.add_argument("--views", type=int, default=0, metavar="N", help="only the views, with a backlog of N")
    parser.add_argument("--together", action="store_true", help="with --views, all of them at once, in two processes")
    parser.add_argument("--length", type=int, default=0, metavar="N", help="with --views, messages of a conversation")
    parser.add_argument("--data", help="a data set whose messages are the backlog of --views")
    options = parser.parse_args()
    if options.views:
        if options.together:
            show_import(options.store, options.data, options.views)
        else:
            show_views(options.store, options.data, options.views, options.length)
        return
    rows = []
    for size in options.sizes:
        texts = corpus(size)
        with tempfile.TemporaryDirectory(dir=".") as folder:
            raw_single, raw_rate = raw_insert(Path(folder), texts)
            bare = raw_embedding(texts, StaticEmbedder())
            single, appended, indexed = ours(options.store or f"{folder}/ours.db", texts)
        rows.append(
            [
                f"{size:,}",
                milliseconds(percentile(raw_single, 0.5)),
                milliseconds(percentile(single, 0.5)),
                milliseconds(percentile(single, 0.95)),
                f"{raw_rate:,.0f}",
                f"{appended:,.0f}",
                f"{bare:,.0f}",
                f"{indexed:,.0f}",
                f"{indexed / bare:.0%}",
            ]
        )
    header = ["messages", "raw insert p50 ms", "add p50 ms", "add p95 ms", "raw batch /s", "extend /s"]
    show("Ingest, static embedder", [*header, "bare embedder /s", "searchable /s", "share"], rows)
    if options.minilm:
        from everword.models.embedding.local import MiniLMEmbedder

        texts = corpus(options.minilm)
        bare = raw_embedding(texts, MiniLMEmbedder())
        with tempfile.TemporaryDirectory(dir=".") as folder:
            _, _, indexed = ours(f"{folder}/ours.db", texts, MiniLMEmbedder())
        row = [f"{options.minilm:,}", f"{bare:,.0f}", f"{indexed:,.0f}", f"{indexed / bare:.0%}"]
        show("Ingest, minilm embedder", ["messages", "bare embedder /s", "searchable /s", "share"], [row])


if __name__ == "__main__":
    main()

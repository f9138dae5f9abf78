"""The goals for reading, all in one run: searches, contexts, a first search, turns, a server.

    python benchmarks/goals.py [--sizes 6000 56000 100000] [--turns 10000] [--postgres URL] [--folder FOLDER]

All messages belong to one user and one conversation. Stores that are searched only have the index; the smallest one,
the one of the turns and the server's have all views. Each figure is given by the clock and in the processor's time,
which other programs disturb less, at the median; beside it is the goal. A first search is timed in a process of its
own, from the call to its answer, with what that process then holds in memory (without the pages of the file, which the
system maps and may take back). With `--postgres` (migrated and empty) the smallest size is measured there too.
Stores are kept in `--folder` and used again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import server
import turn
from corpus import corpus, questions
from recollect import AsyncMemory, Draft, Memory
from recollect.config import Settings
from recollect.server.door.keys import create_key
from recollect.wiring import open_store
from table import milliseconds, percentile, show

BATCH = 1_000
APART = timedelta(minutes=7)
CLIENTS = 16
SEARCH_GOALS = {6_000: 3, 56_000: 10, 100_000: 15}  # milliseconds
FIRST = """
import json, sys, time
from recollect import Memory
with Memory(sys.argv[1], followers=False) as memory:
    start, work = time.perf_counter(), time.process_time()
    memory.search(sys.argv[2], user="alex")
    times = time.perf_counter() - start, time.process_time() - work
    memory.search(sys.argv[2], user="alex")
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(json.dumps([*times, int(status["RssAnon"].split()[0]) / 1024]))
"""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of each call, by the clock and of the processor."""

    clock: list[float]
    work: list[float]

    def row(self, figure: str, goal: float) -> list[str]:
        clock = percentile(self.clock, 0.5)
        texts = (clock, min(self.clock), percentile(self.clock, 0.95), percentile(self.work, 0.5), min(self.work))
        return [figure, f"≤ {goal:g}", *map(milliseconds, texts), is_met(clock * 1000 <= goal)]


def is_met(answer: bool) -> str:
    return "yes" if answer else "no"


def timed(call: Callable[[str], object], asked: Iterable[str]) -> Times:
    clock, work = list[float](), list[float]()
    for text in asked:
        start, start_work = time.perf_counter(), time.process_time()
        call(text)
        clock.append(time.perf_counter() - start)
        work.append(time.process_time() - start_work)
    return Times(clock, work)


async def fill(url: str, size: int, all_views: bool) -> None:
    """Keep so many messages, the last of them now, and have them indexed, or in all views."""
    now = datetime.now(UTC)
    texts = corpus(size)
    async with AsyncMemory(url, followers=False) as memory:
        chat = memory.conversation("long", user="alex")
        for first in range(0, size, BATCH):
            part = enumerate(texts[first : first + BATCH], start=first)
            drafts = [
                Draft("assistant" if number % 2 else "user", text, time=now - APART * (size - number))
                for number, text in part
            ]
            await chat.extend(drafts)
        if all_views:
            await memory.settle(7200)
        else:
            while await memory.runtime.followers["index"].step():
                pass


def stored(folder: Path, size: int, all_views: bool) -> str:
    """A store of that size, made unless it is there."""
    path = folder / f"{'views' if all_views else 'index'}-{size}.db"
    if not path.exists():
        making = path.with_suffix(".making")
        asyncio.run(fill(str(making), size, all_views))
        making.rename(path)
    return str(path)


def search_rows(url: str, size: int, queries: int, name: str, goal: float) -> list[list[str]]:
    texts = corpus(size)
    asked = {"a few words": questions(texts, queries), "a whole message": random.Random(2).sample(texts, queries)}
    with Memory(url, followers=False) as memory:
        for text in asked["a few words"][:20]:
            memory.search(text, user="alex")
        return [
            timed(lambda text: memory.search(text, user="alex"), some).row(f"search by {kind}, {name}", goal)
            for kind, some in asked.items()
        ]


def context_row(url: str, size: int, queries: int, name: str, goal: float) -> list[str]:
    asked = questions(corpus(size), queries)
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("long", user="alex")
        for text in asked[:10]:
            chat.context(text)
        return timed(chat.context, asked).row(f"context, {name}", goal)


def first_rows(url: str, size: int) -> list[list[str]]:
    """A first search in a process just begun, of five, and the memory that the process holds."""
    asked = questions(corpus(size), 5)
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", FIRST, url, text], check=True, capture_output=True).stdout)
        for text in asked
    ]
    times = Times([run[0] for run in runs], [run[1] for run in runs])
    megabytes = max(run[2] for run in runs)
    memory = [
        f"memory of the process, {size:,}",
        "≤ 400 MB",
        f"{megabytes:.0f} MB",
        *[""] * 4,
        is_met(megabytes <= 400),
    ]
    return [times.row(f"first search, {size:,}", 400), memory]


def turn_row(size: int) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = asyncio.run(turn.measured(f"{folder}/turns.db", size, 30))
    return Times(found.turns, found.worked).row(f"turn, {size:,} turns before", 15)


def server_rows(url: str, requests: int) -> list[list[str]]:
    store = open_store(url, Settings())
    try:
        key = create_key(store, name="benchmark", spaces=["default"])[1]
    finally:
        store.close()
    words = corpus(2_000)
    bodies: dict[str, tuple[int, server.Make]] = {
        "searches": (
            200,
            lambda n: server.request("/v1/search", {"query": words[n % len(words)], "user": "alex"}, key),
        ),
        "contexts": (
            70,
            lambda n: server.request(
                "/v1/conversations/long/context", {"text": words[n % len(words)], "user": "alex"}, key
            ),
        ),
    }
    rows = []
    with tempfile.TemporaryDirectory(dir=".") as name:
        command = ("-m", "recollect", "serve", "--port", "0", "--store", os.path.abspath(url))
        with server.started(Path(name).resolve(), *command) as port:
            for kind, (goal, make) in bodies.items():
                asyncio.run(server.load(port, make, 2, range(20)))
                rate, seconds = asyncio.run(server.load(port, make, CLIENTS, range(20, 20 + requests)))
                median, last = (milliseconds(percentile(seconds, share)) for share in (0.5, 0.95))
                figure = f"{kind} a second over HTTP, {CLIENTS} clients"
                answered = f"{rate:.0f} a second, {median}"
                rows.append([figure, f"≥ {goal}", answered, "", last, "", "", is_met(rate >= goal)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SEARCH_GOALS))
    parser.add_argument("--turns", type=int, default=10_000, help="turns of history; 0 leaves them out")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--postgres", help="a PostgreSQL that is migrated and empty")
    parser.add_argument("--folder", type=Path, help="where stores are kept for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        smallest, rows = min(options.sizes), list[list[str]]()
        for size in options.sizes:
            goal = next((limit for limit_size, limit in SEARCH_GOALS.items() if size <= limit_size), 15)
            rows += search_rows(stored(folder, size, False), size, options.queries, f"{size:,}, SQLite", goal)
        rows += first_rows(stored(folder, max(options.sizes), False), max(options.sizes))
        views = stored(folder, smallest, True)
        rows.append(context_row(views, smallest, options.queries, f"{smallest:,}, SQLite", 12))
        if options.postgres:
            asyncio.run(fill(options.postgres, smallest, True))
            rows += search_rows(options.postgres, smallest, options.queries, f"{smallest:,}, PostgreSQL", 5)
            rows.append(context_row(options.postgres, smallest, options.queries, f"{smallest:,}, PostgreSQL", 20))
        rows += [turn_row(options.turns)] if options.turns else []
        rows += server_rows(views, 2 * options.queries)
    header = ["figure", "goal", "p50 ms", "least ms", "p95 ms", "processor p50 ms", "processor least ms", "met"]
    show("Reading: the goals", header, rows)


if __name__ == "__main__":
    main()

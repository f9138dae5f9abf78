"""The goals for speed in one run: searches, contexts, a first search, adds, turns, a server, a cold start, an import.

    python benchmarks/goals.py [--only NAME ...] [--sizes 6000 56000 100000] [--turns 10000] [--postgres URL]
                               [--import-size 6000] [--data FILE] [--folder FOLDER]

`--only` measures some of them: search, first, context, add, turn, http, start, import, postgres. All messages belong to
one user and one conversation. Stores that are searched only have the index; the smallest one, the one of the turns and
the server's have all views. Each figure is given at the median by the clock and in the processor's time, which other
programs disturb less; beside it are the goal, a floor that is measured in the same run, and whether the goal is met by
each. A first search is timed in a process of its own, from the call to its answer, with what that process then holds in
memory (without the pages of the file, which the system maps and may take back). With `--postgres` (migrated and empty)
the smallest size is measured there too; the processor's time is then without that of the database. Stores are kept in
`--folder` and used again.
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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import backlog
import ingest
import server
import start
import turn
from corpus import corpus, questions
from everword import AsyncMemory, Draft, Memory
from everword.config import Settings
from everword.models.embedding.local import WIDTH
from everword.server.keys import create_key
from everword.wiring import open_store
from machine import describe_machine
from table import milliseconds, percentile, show

BATCH = 1_000
APART = timedelta(minutes=7)
CLIENTS = 16
ADDS = 1_000
SEARCH_GOALS = {6_000: 3, 56_000: 10, 100_000: 15}  # milliseconds
NAMES = ("search", "first", "context", "add", "turn", "http", "start", "import", "postgres")
HEADER = (
    "figure",
    "goal",
    "clock p50",
    "clock p95",
    "processor p50",
    "processor least",
    "floor",
    "met",
    "met by processor",
)
FIRST = """
import json, sys, time
from everword import Memory
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

    def row(self, figure: str, goal: float, floor: str = "") -> list[str]:
        clock = percentile(self.clock, 0.5)
        work = percentile(self.work, 0.5)
        texts = (clock, percentile(self.clock, 0.95), work, min(self.work))
        met = is_met(clock * 1000 <= goal), is_met(work * 1000 <= goal)
        return [figure, f"≤ {goal:g} ms", *map(milliseconds, texts), floor, *met]


def is_met(answer: bool) -> str:
    return "yes" if answer else "no"


def rate_row(figure: str, goal: float, rate: float, work_rate: float, floor: str = "", last: str = "") -> list[str]:
    """A row for what is counted in a second: by the clock, and in a second of the processor."""
    rates = f"{rate:,.0f}/s", last, f"{work_rate:,.0f}/s"
    return [figure, f"≥ {goal:,g}/s", *rates, "", floor, is_met(rate >= goal), is_met(work_rate >= goal)]


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


def bare_product(size: int) -> str:
    """The processor's milliseconds of a product of that many vectors with one, at the median."""
    matrix = np.random.default_rng(0).standard_normal((size, WIDTH), dtype=np.float32)
    vector = np.random.default_rng(1).standard_normal(WIDTH, dtype=np.float32)
    return milliseconds(percentile(timed(lambda _: matrix @ vector, map(str, range(30))).work, 0.5))


def search_rows(url: str, size: int, queries: int, name: str, goal: float) -> list[list[str]]:
    texts = corpus(size)
    asked = {"a few words": questions(texts, queries), "a whole message": random.Random(2).sample(texts, queries)}
    floor = f"{bare_product(size)} of the processor: a bare product"
    with Memory(url, followers=False) as memory:
        for text in asked["a few words"][:20]:
            memory.search(text, user="alex")
        return [
            timed(lambda text: memory.search(text, user="alex"), some).row(f"search by {kind}, {name}", goal, floor)
            for kind, some in asked.items()
        ]


def context_row(url: str, size: int, queries: int, name: str, goal: float) -> list[str]:
    asked = questions(corpus(size), queries)
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("long", user="alex")
        for text in asked[:10]:
            chat.context(text)
        times = timed(chat.context, asked)
        searches = timed(lambda text: memory.search(text, user="alex"), asked)
    floor = f"{milliseconds(percentile(searches.work, 0.5))} of the processor: the search"
    return times.row(f"context, {name}", goal, floor)


def first_rows(url: str, size: int) -> list[list[str]]:
    """A first search in a process just begun, of five, and the memory that the process holds."""
    asked = questions(corpus(size), 5)
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", FIRST, url, text], check=True, capture_output=True).stdout)
        for text in asked
    ]
    times = Times([run[0] for run in runs], [run[1] for run in runs])
    megabytes = max(run[2] for run in runs)
    met = is_met(megabytes <= 400)
    memory = [f"memory of the process, {size:,}", "≤ 400 MB", f"{megabytes:.0f} MB", *[""] * 4, met, met]
    return [times.row(f"first search, {size:,}", 400), memory]


def add_row() -> list[str]:
    """Messages added one by one, each on the disk when its call returns."""
    texts = corpus(ADDS + ingest.WARM)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        raw, _ = ingest.raw_insert(Path(folder), texts)
        with Memory(f"{folder}/adds.db", followers=False) as memory:
            chat = memory.conversation("long", user="alex")
            for text in texts[: ingest.WARM]:
                chat.add("user", text)
            times = timed(lambda text: chat.add("user", text), texts[ingest.WARM :])
    floor = f"{milliseconds(percentile(raw, 0.5))} bare insert"
    return times.row("add, one by one, durable (1,500 a second)", 0.66, floor)


def turn_row(size: int) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        found = asyncio.run(turn.measured(f"{folder}/turns.db", size, 30))
    return Times(found.turns, found.worked).row(f"turn, {size:,} turns before", 15)


def server_rows(url: str, requests: int) -> list[list[str]]:
    opened = open_store(url, Settings())
    try:
        key = create_key(opened, name="benchmark", spaces=["default"])[1]
    finally:
        opened.close()
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
    said = {"user": "alex", "messages": [{"role": "user", "content": words[0]}]}
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name).resolve()
        with server.started(folder, "-c", server.BARE) as (port, process_id):
            bare = server_load(port, process_id, lambda n: server.request("/bare", said, key), requests)[1]
        command = ("-m", "everword", "serve", "--port", "0", "--store", os.path.abspath(url))
        with server.started(folder, *command) as (port, process_id):
            return [
                rate_row(
                    f"{kind} a second over HTTP, {CLIENTS} clients",
                    goal,
                    *server_load(port, process_id, make, requests)[:2],
                    f"{bare:,.0f}/s of the processor: a bare route",
                )
                for kind, (goal, make) in bodies.items()
            ]


def server_load(port: int, process_id: int, make: server.Make, requests: int) -> tuple[float, float]:
    """Requests that a server answers in a second, and in a second of its processor's time."""
    asyncio.run(server.load(port, make, 2, range(20)))
    work = server.processor_seconds(process_id)
    rate, _ = asyncio.run(server.load(port, make, CLIENTS, range(20, 20 + requests)))
    return rate, requests / max(server.processor_seconds(process_id) - work, 1e-3)


def start_row(url: str, size: int) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".") as name:
        environment = start.compiled_environment(Path(name))
        floors = start.time_command([sys.executable, "-c", "import sqlalchemy, numpy"], 5, environment)
        times = start.time_command([sys.executable, *start.search_command(url)], 5, environment)
    floor = f"{milliseconds(floors[1])} of the processor: imports of sqlalchemy and numpy"
    return Times([times[0]], [times[1]]).row(f"everword search, cold, {size:,}, least of five", 600, floor)


def import_row(size: int, data: str | None) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder).resolve()
        log_cost = backlog.run_import(f"{path}/log.db", data, size, "--no-settle")
        cost = backlog.run_import(f"{path}/import.db", data, size)
    floor = f"{size / max(log_cost.cpu_seconds, 1e-3):,.0f}/s of the processor: the log alone"
    figure = f"`everword import` with all views, two processes, {size:,}, {backlog.data_name(data)}"
    return rate_row(figure, 1_000, size / cost.seconds, size / cost.cpu_seconds, floor)


def postgres_rows(url: str, size: int, queries: int) -> list[list[str]]:
    asyncio.run(fill(url, size, True))
    name = f"{size:,}, PostgreSQL"
    return [*search_rows(url, size, queries, name, 5), context_row(url, size, queries, name, 20)]


def measure(name: str, folder: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    """The rows of one of the names."""
    smallest, largest = min(options.sizes), max(options.sizes)
    if name == "search":
        for size in options.sizes:
            goal = next((limit for limit_size, limit in SEARCH_GOALS.items() if size <= limit_size), 15)
            url = stored(folder, size, False)
            yield from search_rows(url, size, options.queries, f"{size:,}, SQLite", goal)
    elif name == "first":
        yield from first_rows(stored(folder, largest, False), largest)
    elif name == "context":
        url = stored(folder, smallest, True)
        yield context_row(url, smallest, options.queries, f"{smallest:,}, SQLite", 12)
    elif name == "add":
        yield add_row()
    elif name == "turn":
        yield turn_row(options.turns)
    elif name == "http":
        yield from server_rows(stored(folder, smallest, True), 2 * options.queries)
    elif name == "start":
        yield start_row(stored(folder, options.start_size, False), options.start_size)
    elif name == "import":
        yield import_row(options.import_size, options.data)
    elif options.postgres:
        yield from postgres_rows(options.postgres, smallest, options.queries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES), help="measure these alone")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SEARCH_GOALS))
    parser.add_argument("--turns", type=int, default=10_000, help="turns of history")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--start-size", type=int, default=10_000, help="messages of the store of the cold start")
    parser.add_argument(
        "--import-size", type=int, default=6_000, help="messages that are imported; the goal is at 56,000"
    )
    parser.add_argument("--data", help="a data set whose messages are imported, instead of made text")
    parser.add_argument("--postgres", help="a PostgreSQL that is migrated and empty")
    parser.add_argument("--folder", type=Path, help="where stores are kept for the next run")
    options = parser.parse_args()
    machine = describe_machine()
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        rows = list[list[str]]()
        for name in options.only:
            for row in measure(name, folder, options):
                print(" | ".join(filter(None, row)), file=sys.stderr, flush=True)
                rows.append(row)
    show(f"The goals for speed (times in ms). {machine}", HEADER, rows)


if __name__ == "__main__":
    main()

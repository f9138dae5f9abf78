"""Measures one store of memories in a process of its own: `python driver.py PEER INPUT SECONDS`.

It runs in the peer's own environment, so it needs nothing but Python. INPUT is a folder with `input.json` (texts,
queries, haystacks) and `vectors.f32` (a vector for each text that occurs). Lines of JSON go to standard output:
progress and, after each phase, all that was measured so far. So a driver that is stopped for its time leaves what it
had.

A peer is a module beside this one with a function `open_peer(folder, embed)` that returns a `Peer`. A message is a
dictionary: its `text` as the other stores get it, and its `content`, `author` and `time`.
"""

from __future__ import annotations

import array
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Protocol

Message = dict[str, Any]
Embed = Callable[[Sequence[str]], list[list[float]]]

SINGLE = 200  # messages added one by one
BATCH = 500  # messages added at once
HITS = 10
FILLING = 0.4  # of the time, after which no more is added
SEARCHING = 15.0  # seconds, after which no more is searched at a size
OWNER = "alex"
TOOLS = {"pip", "setuptools", "wheel"}


class Peer(Protocol):
    """A store of memories, adapted."""

    def add(self, scope: str, number: int, message: Message) -> None:
        """Keep one message, durably, as its documentation says."""

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        """Keep messages that are numbered from `first` on, in its fastest documented way, until they can be found."""

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        """The numbers of the messages of a scope that answer a query best."""

    def finish(self) -> None:
        """Do what is otherwise done in the background after messages were added."""

    def close(self) -> None:
        """Close what is open."""


class Vectors:
    """The vector of each text, computed beforehand: every store gets the same."""

    def __init__(self, file: Path, texts: Sequence[str], width: int) -> None:
        self._numbers = array.array("f")
        with file.open("rb") as stream:
            self._numbers.frombytes(stream.read())
        self._rows = {text: row for row, text in enumerate(texts)}
        self._width = width

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        start = self._rows[text] * self._width
        return self._numbers[start : start + self._width].tolist()


class Report:
    """What was measured so far; printed after each phase."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def progress(self, what: str, done: int, total: int) -> None:
        print(json.dumps({"progress": what, "done": done, "total": total}), flush=True)

    def note(self, **values: Any) -> None:
        self.values.update(values)
        print(json.dumps({"result": self.values}), flush=True)


def measure_speed(peer: Peer, given: dict[str, Any], folder: Path, report: Report, deadline: float) -> None:
    """Add one by one, then fill to each size and search there."""
    messages: list[Message] = given["messages"]
    start = time.perf_counter()
    for number, message in enumerate(messages[:SINGLE]):
        peer.add(OWNER, number, message)
    report.note(adds=SINGLE / (time.perf_counter() - start))
    sizes: list[dict[str, Any]] = []
    count = SINGLE
    for size, queries in given["sizes"]:
        start = time.perf_counter()
        first = count
        while count < size and time.monotonic() < deadline:
            batch = messages[count : min(size, count + BATCH)]
            peer.add_many(OWNER, count, batch)
            count += len(batch)
            report.progress(f"adding, {size:,}", count, size)
        bulk = (count - first) / (time.perf_counter() - start) if count > first else None
        seconds = time_searches(peer, given["queries"][:queries], report, size)
        sizes.append({"size": size, "messages": count, "bulk": bulk, "seconds": seconds})
        report.note(sizes=sizes)
        if len(sizes) == 1:
            measure_rest(peer, folder, count, report)
        if count < size:
            return


def measure_rest(peer: Peer, folder: Path, count: int, report: Report) -> None:
    """What is done in the background after the first size, and what all of it takes on the disk."""
    report.progress("the rest of the work", 0, 1)
    start = time.perf_counter()
    peer.finish()
    finishing = time.perf_counter() - start
    used = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    report.note(finishing=finishing, bytes=used / count)


def time_searches(peer: Peer, queries: Sequence[str], report: Report, size: int) -> list[float]:
    """Seconds of each search, but for a first one that is not counted."""
    peer.search(OWNER, queries[0], HITS, None)
    seconds = []
    for number, query in enumerate(queries, 1):
        start = time.perf_counter()
        peer.search(OWNER, query, HITS, None)
        seconds.append(time.perf_counter() - start)
        if number % 10 == 0:
            report.progress(f"searching, {size:,}", number, len(queries))
        if sum(seconds) > SEARCHING:
            break
    return seconds


def measure_recall(peer: Peer, haystacks: Sequence[dict[str, Any]], report: Report) -> None:
    """For each question of each haystack the share of its evidence among the first ten."""
    shares: list[float] = []
    for place, haystack in enumerate(haystacks):
        scope = f"reader{place}"
        messages = haystack["messages"]
        for first in range(0, len(messages), BATCH):
            peer.add_many(scope, first, messages[first : first + BATCH])
        for question in haystack["questions"]:
            found = set(peer.search(scope, question["text"], HITS, question["asked_at"]))
            evidence = question["evidence"]
            shares.append(len(found.intersection(evidence)) / len(evidence))
        report.progress("recall", place + 1, len(haystacks))
    report.note(recall=sum(shares) / len(shares), questions=len(shares))


def main() -> None:
    name, source, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    deadline = time.monotonic() + seconds * FILLING
    given = json.loads((source / "input.json").read_text(encoding="utf-8"))
    vectors = Vectors(source / "vectors.f32", given["texts"], given["width"])
    report = Report()
    report.note(packages=len({dist.name.lower() for dist in distributions() if dist.name} - TOOLS))
    module = importlib.import_module(name)
    with tempfile.TemporaryDirectory(dir=".", prefix="peer-") as folder:
        peer: Peer = module.open_peer(Path(folder), vectors.embed)
        measure_speed(peer, given, Path(folder), report, deadline)
        peer.close()
    if given["haystacks"]:
        with tempfile.TemporaryDirectory(dir=".", prefix="peer-") as folder:
            peer = module.open_peer(Path(folder), vectors.embed)
            measure_recall(peer, given["haystacks"], report)
            peer.close()
    report.note(finished=True)


if __name__ == "__main__":
    main()

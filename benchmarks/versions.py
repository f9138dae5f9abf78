"""Two versions of everword on one machine: searches, contexts and turns, one of each version in turns.

    python benchmarks/versions.py CHECKOUT [--only search context turn] [--size 6000] [--turns 10000] [--count 200]

CHECKOUT is the folder of another version, as `git worktree add --detach ../before COMMIT` makes it. The speed of many a
machine changes by a half within minutes, since others use it too: so figures of two runs, one after the other, say
little. Here two processes, one with each version, keep the same messages in stores of their own, and then do the same
thing one after the other, each in its turn. Both run on the same core, since two cores may differ as much (elsewhere
than on Linux they cannot be told to). What counts is the quotient: that of the medians, and the median of the quotients
of all pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import turn
from corpus import corpus, questions
from everword import AsyncMemory, Memory
from machine import describe_machine
from table import milliseconds, percentile, show

KINDS = ("search", "context", "turn")
WARM = 20  # calls before, to fill caches
PAUSE = 0.3  # seconds after a turn: followers end their last look
HERE = Path(__file__).resolve().parent.parent
Times = list[float]  # seconds of one call, by the clock and of the processor


class Version:
    """A process that works with one version; it does one thing each time it is told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._requests = process.stdin
        self._answers = process.stdout

    def wait(self) -> Times:
        line = self._answers.readline()
        if not line:
            raise SystemExit("a version has ended with an error; see above")
        return list(json.loads(line))

    def call(self) -> Times:
        self._requests.write("\n")
        self._requests.flush()
        return self.wait()


@contextmanager
def opened_version(checkout: Path, kind: str, options: argparse.Namespace) -> Iterator[Version]:
    """A version that has kept its messages, or is about to."""
    size = options.turns if kind == "turn" else options.size
    # Its own program: it imports modules where they lie in that version.
    program = checkout / "benchmarks" / Path(__file__).name
    command = [sys.executable, str(program), "--work", kind, "--size", str(size), "--count", str(options.count)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Version(process)


def compare(kind: str, checkouts: tuple[Path, Path], options: argparse.Namespace) -> Iterator[list[str]]:
    """The rows of one kind of call: by the clock and of the processor."""
    with ExitStack() as stack:
        versions = [stack.enter_context(opened_version(checkout, kind, options)) for checkout in checkouts]
        for version in versions:
            version.wait()
        pairs = []
        for number in range(options.count):
            order = (0, 1) if number % 2 else (1, 0)
            times = {place: versions[place].call() for place in order}
            pairs.append((times[0], times[1]))
            if sys.stderr.isatty():
                print(f"\r{kind}: {number + 1} of {options.count}", end="", file=sys.stderr, flush=True)
    for column, name in enumerate(("clock", "processor")):
        before, after = ([pair[place][column] for pair in pairs] for place in (0, 1))
        medians = percentile(before, 0.5), percentile(after, 0.5)
        quotients = [later / earlier for earlier, later in zip(before, after, strict=True)]
        yield [
            f"{kind}, {name}",
            *map(milliseconds, medians),
            f"{medians[1] / medians[0]:.3f}",
            f"{percentile(quotients, 0.5):.3f}",
        ]


def answer(times: Times) -> None:
    print(json.dumps(times), flush=True)


def work(kind: str, size: int, count: int) -> None:
    """What one version does: keep a history, say so, and then one call for each line that comes."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = corpus(size + 2 * (count + WARM))
    model = turn.InstantModel(texts[size::2])
    with tempfile.TemporaryDirectory(dir=".") as folder:
        url = f"{folder}/memory.db"
        asyncio.run(turn.keep_history(url, texts[:size], model))
        if kind == "turn":
            asyncio.run(answer_with_turns(url, model, texts[size + 1 :: 2]))
        else:
            answer_with_calls(url, kind, questions(texts[:size], count + WARM))


def answer_with_calls(url: str, kind: str, asked: list[str]) -> None:
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("long", user="alex")
        call: Callable[[str], object] = chat.context if kind == "context" else partial(memory.search, user="alex")
        for text in asked[:WARM]:
            call(text)
        answer([])
        for text in asked[WARM:]:
            if not sys.stdin.readline():
                return
            start, start_work = time.perf_counter(), time.process_time()
            call(text)
            answer([time.perf_counter() - start, time.process_time() - start_work])


async def answer_with_turns(url: str, model: turn.InstantModel, asked: list[str]) -> None:
    async with AsyncMemory(url, chat=model) as memory:
        await memory.settle(3600)
        chat = memory.conversation("long", user="alex")
        for number, text in enumerate(asked, 1):
            if number > turn.WARM and not await asyncio.to_thread(sys.stdin.readline):
                return
            times = await turn.time_exchange(memory, chat, model, text)
            await asyncio.sleep(PAUSE)
            if number >= turn.WARM:
                answer([] if number == turn.WARM else list(times[:2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", help="the folder of the other version")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="compare these alone")
    parser.add_argument("--size", type=int, default=6_000, help="messages that are searched")
    parser.add_argument("--turns", type=int, default=10_000, help="turns of history before the turns")
    parser.add_argument("--count", type=int, default=100, help="calls of each kind")
    parser.add_argument("--work", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.size, options.count)
        return
    if options.checkout is None or not (options.checkout / "src" / "everword").is_dir():
        parser.error("name the folder of a checkout, with src/everword in it")
    checkouts = options.checkout.resolve(), HERE
    machine = describe_machine()
    rows = [row for kind in options.only for row in compare(kind, checkouts, options)]
    header = ("call", "other p50 ms", "this p50 ms", "quotient", "median of quotients")
    show(f"Two versions in turns. {machine}", header, rows)


if __name__ == "__main__":
    main()

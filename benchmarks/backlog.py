"""How fast every view takes a backlog: an import of many messages of one person, and then view by view.

The messages are those of a data set (`--data`: LoCoMo's or LongMemEval's format), or made from a seed. If more are
wanted than it has, they come again in other conversations, with every eighth word exchanged for another of its words,
so that no sentence is met twice and no cache makes a copy cheaper than a new message. Processor seconds are those of
the whole process: on a shared machine they tell more than the time that passed. `run_import` runs `everword import`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from corpus import corpus
from everword import AsyncMemory, Batch, Draft
from everword.cli.main import SELDOM
from everword.follow.follower import settle
from everword.model import Role
from quality import datasets

BATCH = 500
USER = "ann"
BETWEEN = timedelta(minutes=3)
WORD = re.compile(r"[a-z]{4,}")
EVERY = 8  # one word in so many is exchanged in a copy


@dataclass(frozen=True, slots=True)
class ViewCost:
    """What a view has taken for the whole backlog."""

    name: str
    cpu_seconds: float
    seconds: float


def talks(data: str | None, size: int) -> list[tuple[str, list[Draft]]]:
    """So many messages in conversations of one person."""
    sources = list(read_talks(data)) if data else [made_talk(min(size, 5_000))]
    words = sorted({word for _, drafts in sources for draft in drafts for word in WORD.findall(draft.content)})
    chance = random.Random(0)
    copies = (copy_talk(*talk, number, words, chance) for number in count() for talk in sources)
    chosen: list[tuple[str, list[Draft]]] = []
    left = size
    for name, drafts in copies:
        chosen.append((name, drafts[:left]))
        left -= len(chosen[-1][1])
        if not left:
            return chosen
    return chosen


def split_talks(conversations: Sequence[tuple[str, list[Draft]]], length: int) -> list[tuple[str, list[Draft]]]:
    return [
        (f"{name}-{start}", drafts[start : start + length])
        for name, drafts in conversations
        for start in range(0, len(drafts), length)
    ]


def read_talks(path: str) -> Iterator[tuple[str, list[Draft]]]:
    """The conversations of a data set; the sessions of one that is not continuous are put together by hundreds."""
    for haystack in datasets.load(path).haystacks:
        turns = iter(haystack.turns)
        size = len(haystack.turns) if haystack.continuous else 1_000
        for part in count():
            drafts = [
                Draft(turn.role, turn.text, time=turn.time, author=turn.speaker if haystack.continuous else None)
                for turn in islice(turns, size)
            ]
            if not drafts:
                break
            yield f"{haystack.name}-{part}", drafts


def made_talk(size: int) -> tuple[str, list[Draft]]:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    roles: tuple[Role, Role] = ("user", "assistant")
    texts = enumerate(corpus(size))
    return "made", [Draft(roles[turn % 2], text, time=start + turn * BETWEEN) for turn, text in texts]


def copy_talk(
    name: str, drafts: Sequence[Draft], number: int, words: Sequence[str], chance: random.Random
) -> tuple[str, list[Draft]]:
    def exchange(match: re.Match[str]) -> str:
        return match[0] if chance.randrange(EVERY) else chance.choice(words)

    if not number:
        return f"{name}-0", list(drafts)
    return f"{name}-{number}", [
        Draft(draft.role, WORD.sub(exchange, draft.content), time=draft.time, author=draft.author) for draft in drafts
    ]


async def measure(url: str, conversations: Sequence[tuple[str, list[Draft]]]) -> list[ViewCost]:
    """Import these conversations, then bring every view up to date, one after the other."""
    costs: list[ViewCost] = []
    async with AsyncMemory(url, followers=False) as memory:
        clock = time.perf_counter(), time.process_time()

        def note(name: str) -> None:
            nonlocal clock
            now = time.perf_counter(), time.process_time()
            costs.append(ViewCost(name, now[1] - clock[1], now[0] - clock[0]))
            clock = now

        await append(memory, conversations)
        note("append")
        gc.set_threshold(SELDOM)
        for name, follower in memory.runtime.followers.items():
            await settle([follower], 36_000, memory.runtime.calls)
            note(name)
    return costs


async def append(memory: AsyncMemory, conversations: Sequence[tuple[str, list[Draft]]]) -> None:
    for name, drafts in conversations:
        for first in range(0, len(drafts), BATCH):
            await memory.add_many(
                [Batch(memory.runtime.parts.settings.space, name, USER, drafts[first : first + BATCH])]
            )


def run_import(url: str, data: str | None, size: int, *options: str) -> ViewCost:
    """What `everword import` takes for a file of so many messages, from the command to its end: it reads the file,
    appends the messages and brings all views up to date, in two processes."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        file = Path(folder) / "chats.jsonl"
        write_chats(file, talks(data, size))
        clock = time.perf_counter(), processor_seconds()
        command = [sys.executable, "-m", "everword", "import", str(file), *options]
        subprocess.run(command, env={**os.environ, "EVERWORD_STORE": url}, check=True, stdout=subprocess.DEVNULL)
        return ViewCost("import", processor_seconds() - clock[1], time.perf_counter() - clock[0])


def write_chats(file: Path, conversations: Sequence[tuple[str, list[Draft]]]) -> None:
    """Conversations as a file of JSON Lines."""
    with file.open("w", encoding="utf-8") as lines:
        for name, drafts in conversations:
            for draft in drafts:
                author = {} if draft.author is None else {"author": draft.author}
                time = {} if draft.time is None else {"time": draft.time.isoformat()}
                fields = {"conversation": name, "owner": USER, "role": draft.role, **author, **time}
                lines.write(json.dumps({**fields, "content": draft.content}) + "\n")


def processor_seconds() -> float:
    """Those of this process and of the processes that it has waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def view_rows(size: int, costs: Sequence[ViewCost]) -> list[list[str]]:
    total = ViewCost("all", sum(cost.cpu_seconds for cost in costs), sum(cost.seconds for cost in costs))
    return cost_rows(size, [*costs, total])


def cost_rows(size: int, costs: Sequence[ViewCost]) -> list[list[str]]:
    return [
        [
            cost.name,
            f"{cost.cpu_seconds:,.1f}",
            f"{1_000 * cost.cpu_seconds / size:,.2f}",
            f"{size / max(cost.cpu_seconds, 1e-3):,.0f}",
            f"{cost.seconds:,.1f}",
            f"{size / max(cost.seconds, 1e-3):,.0f}",
        ]
        for cost in costs
    ]


HEADER = ["view", "processor s", "ms a message", "messages / processor s", "seconds", "messages /s"]


def run(url: str, data: str | None, size: int, length: int = 0) -> tuple[list[list[str]], int]:
    """The rows of a table, and the most memory that the process has had, in megabytes. With a `length`, conversations
    have so many messages at most."""
    conversations = talks(data, size)
    costs = asyncio.run(measure(url, split_talks(conversations, length) if length else conversations))
    rows = view_rows(size, costs)
    return rows, getrusage(RUSAGE_SELF).ru_maxrss // 1024


def data_name(data: str | None) -> str:
    return Path(data).stem if data else "made text"

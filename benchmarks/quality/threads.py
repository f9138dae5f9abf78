"""Threads in a busy channel, against annotated reply links: pairs of messages in one thread, and VI.

A folder has stretches of a channel in the form of Kummerfeld et al. 2019: `NAME.raw.txt`, a line a message, and
`NAME.annotation.txt`, which lines belong together. Only annotated messages are scored, those of the system are not;
each figure is the mean over the stretches. Stretches of even place, in the order of their names, are those that the
weights were learned on.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from everword.models.embedding.local import StaticEmbedder
from everword.topics.rules.reply_threads import Threads
from everword.topics.rules.topic_set import round_vectors

LINE = re.compile(r"\[(\d\d):(\d\d)\] <([^>]+)> ?(.*)")
OPENING = re.compile(r"\s*([^\s:,]+)[:,]")
START = datetime(2026, 1, 1, tzinfo=UTC)
NIGHT = 360  # minutes that a clock may go back before it is another day
ANNOTATED = 1_000  # lines before those that are annotated
GOES_ON = 15  # lines in which a speaker goes on, by the simple rule


@dataclass(frozen=True)
class ChannelLine:
    """A message of a stretch: its line in the file, when and by whom it was said, and its text."""

    number: int
    time: datetime
    author: str
    text: str


@dataclass(frozen=True)
class Stretch:
    """A stretch of a channel: its messages, the links between lines, and for how many lines."""

    name: str
    messages: Sequence[ChannelLine]
    links: Sequence[tuple[int, int]]
    lines: int

    @property
    def scored(self) -> list[int]:
        annotated = {number for link in self.links for number in link if number >= ANNOTATED}
        return [message.number for message in self.messages if message.number in annotated]

    @property
    def threads(self) -> list[int]:
        """The thread of each line: the connected parts of the links."""
        return connect(self.lines, self.links)


def connect(count: int, links: Iterable[tuple[int, int]]) -> list[int]:
    parents = list(range(count))

    def root(number: int) -> int:
        while parents[number] != number:
            number = parents[number]
        return number

    for first, second in links:
        parents[root(first)] = root(second)
    return [root(number) for number in range(count)]


def read_stretches(folder: Path) -> list[Stretch]:
    return [read_stretch(path) for path in sorted(folder.glob("*.raw.txt"))]


def read_stretch(path: Path) -> Stretch:
    lines = path.read_text(encoding="utf-8").splitlines()
    messages: list[ChannelLine] = []
    day = minute = 0
    for number, line in enumerate(lines):
        if (match := LINE.fullmatch(line)) is None:
            continue
        hours, minutes, author, text = match.groups()
        now = int(hours) * 60 + int(minutes)
        day += now < minute - NIGHT
        minute = now
        messages.append(ChannelLine(number, START + timedelta(days=day, minutes=now), author, text))
    annotation = path.with_name(path.name.replace(".raw.", ".annotation."))
    numbers = [sorted(map(int, line.split()[:2])) for line in annotation.read_text(encoding="utf-8").splitlines()]
    return Stretch(path.name.removesuffix(".raw.txt"), messages, [(first, last) for first, last in numbers], len(lines))


def embed(stretch: Stretch) -> list[Any]:
    texts = [message.text or " " for message in stretch.messages]
    return round_vectors([np.asarray(row) for row in asyncio.run(StaticEmbedder().embed(texts))])


# -- rules


def link_by_rule(stretch: Stretch) -> list[tuple[int, int]]:
    """The links that everword's rule finds."""
    threads = Threads()
    parents = [
        (link_message(threads, message.number, message, vector), message.number)
        for message, vector in zip(stretch.messages, embed(stretch), strict=True)
    ]
    return [(parent, number) for parent, number in parents if parent is not None]


def link_message(threads: Threads, turn: int, message: ChannelLine, vector: Any) -> int | None:
    """Give a message to a thread; returns the turn that it answers."""
    spoken = threads.read(turn, message.author, message.text, message.time, vector)
    parent = threads.find_parent(spoken).turn
    thread = None if parent is None else threads.thread_of(parent)
    threads.append(spoken, turn if thread is None else thread, parent)
    return parent


def cost_of_rule(stretches: Sequence[Stretch]) -> tuple[int, float]:
    """All stretches as one channel, one after the other: how many people wrote, and the milliseconds of the processor
    that a message of the last stretch costs, without its vector."""
    threads = Threads()
    turn = 0
    begun = 0.0
    for number, stretch in enumerate(stretches):
        vectors = embed(stretch)
        days = timedelta(days=number)
        begun = time.process_time()
        for message, vector in zip(stretch.messages, vectors, strict=True):
            turn += 1
            link_message(threads, turn, replace(message, time=message.time + days), vector)
    spent = time.process_time() - begun
    return len(threads.nicknames.people), 1000 * spent / len(stretches[-1].messages)


def link_simply(stretch: Stretch) -> list[tuple[int, int]]:
    """A message belongs with the last one of whoever it addresses, else with the last one that addressed its speaker
    since they spoke, else with the speaker's own last within 15 lines, else it begins a thread."""
    last: dict[str, int] = {}
    addressed: dict[str, int] = {}
    links: list[tuple[int, int]] = []
    for message in stretch.messages:
        author = message.author.lower()
        opening = OPENING.match(message.text)
        to = opening[1].lower() if opening else ""
        own = last.get(author, -1)
        parent = last.get(to) if to != author else None
        if parent is None and addressed.get(author, -1) > own:
            parent = addressed[author]
        elif parent is None and own >= 0 and message.number - own <= GOES_ON:
            parent = own
        links += [] if parent is None else [(parent, message.number)]
        if to in last:
            addressed[to] = message.number
        last[author] = message.number
    return links


RULES: Mapping[str, Callable[[Stretch], list[tuple[int, int]]]] = {"everword": link_by_rule, "simple": link_simply}


# -- measures


@dataclass(frozen=True)
class ThreadScores:
    """Pairs of messages in one thread, and 1 - variation of information / log2(n); in hundredths."""

    precision: float
    recall: float
    f1: float
    vi: float


def score(stretch: Stretch, links: Sequence[tuple[int, int]]) -> ThreadScores:
    found = connect(stretch.lines, links)
    expected = stretch.threads
    scored = stretch.scored
    of_found = Counter(found[number] for number in scored)
    of_expected = Counter(expected[number] for number in scored)
    of_both = Counter((found[number], expected[number]) for number in scored)
    both, all_found, all_expected = pairs(of_both), pairs(of_found), pairs(of_expected)
    information = 2 * entropy(of_both) - entropy(of_found) - entropy(of_expected)
    return ThreadScores(
        100 * both / max(all_found, 1),
        100 * both / max(all_expected, 1),
        200 * both / max(all_found + all_expected, 1),
        100 * (1 - information / log2(len(scored))),
    )


def pairs(sizes: Counter[Any]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes.values())


def entropy(sizes: Counter[Any]) -> float:
    total = sum(sizes.values())
    return -sum(size / total * log2(size / total) for size in sizes.values())


def mean(scores: Sequence[ThreadScores]) -> ThreadScores:
    count = len(scores)
    sums = [sum(getattr(entry, name) for entry in scores) for name in ("precision", "recall", "f1", "vi")]
    return ThreadScores(*(total / count for total in sums))

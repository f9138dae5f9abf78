"""`kill -9` at random points of an import: what was acknowledged is there, once, and everything goes on (D8)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prepared_programs import PreparedProgram
from sample_sizes import sample

from everword import Memory
from everword.testing import FrozenClock

CHILD = Path(__file__).parent / "data" / "killed_child.py"
RUNS = {"sqlite": sample(50), "json": sample(8), "postgresql": sample(8)}
MOST_LINES = 6  # acknowledged transactions before a process is killed, at most


class Victims:
    """Starts importing processes and kills them."""

    def __init__(self) -> None:
        self._parent = PreparedProgram[str](
            [sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def line(self) -> tuple[str, str]:
        assert self._parent.stdout is not None
        kind, _, rest = self._parent.stdout.readline().rstrip("\n").partition(" ")
        assert kind, "the importing process failed by itself"
        return kind, rest

    def run(self, url: str, start: int, seed: int, lines: int) -> list[tuple[int, str]]:
        """One process, killed once it has acknowledged so many transactions; and all that it acknowledged."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(f"{url} {start} {seed}\n")
        kept, pid = list[str](), 0
        while not pid or len(kept) < lines:
            kind, rest = self.line()
            assert kind != "ended", "the importing process failed by itself"
            pid = int(rest) if kind == "pid" else pid
            kept += [rest] if kind == "kept" else []
        os.kill(pid, signal.SIGKILL)
        while (line := self.line())[0] != "ended":
            kept.append(line[1])
        pairs = (one.split("=") for line in kept for one in line.split(" "))
        return [(int(number), id) for number, id in pairs]

    def close(self) -> None:
        self._parent.communicate()
        assert self._parent.returncode == 0


@pytest.fixture(scope="module")
def victims() -> Iterator[Victims]:
    processes = Victims()
    yield processes
    processes.close()


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
@pytest.mark.checklist("D8")
def test_killed_at_random_points_nothing_acknowledged_is_lost_or_doubled(
    kind: str, store_url: str, victims: Victims
) -> None:
    """D8: each process takes up where the last was killed, a little before. `make test-all` has the bar of fifty."""
    chance, acknowledged = random.Random(20), dict[int, str]()
    for run in range(RUNS[kind]):
        start = max(0, len(acknowledged) - chance.randint(0, 12))
        for number, id in victims.run(store_url, start, seed=run, lines=chance.randint(0, MOST_LINES)):
            assert acknowledged.setdefault(number, id) == id, "delivered again, it is the same message"
        if run % 10 == 0:
            with Memory(store_url, followers=False) as memory:
                assert memory.verify().ok
    assert sorted(acknowledged) == list(range(len(acknowledged)))
    check(store_url, acknowledged)


def check(url: str, acknowledged: dict[int, str]) -> None:
    later = FrozenClock(datetime.now(UTC) + timedelta(hours=1))  # the leases of the dead have run out
    with Memory(url, clock=later, followers=False) as memory:
        verification = memory.verify()
        assert verification.ok
        kept = list(memory.export())
        assert set(Counter(m.platform_id for m in kept).values()) == {1}
        found = {int(m.platform_id or -1): m for m in kept}
        assert {number: found[number].id for number in acknowledged} == acknowledged
        assert sorted(found) == list(range(len(found))), "what was not acknowledged is there whole, or not at all"
        assert all(m.content == f"Message {n} is about the number {n * 7919}." for n, m in found.items())
        for conversation in memory.conversations():
            turns = [m.turn for m in kept if m.conversation == conversation.id]
            assert turns == list(range(1, conversation.turns + 1))
        memory.settle()
        assert memory.stats().entries == len(kept)
        for number in (0, len(acknowledged) // 2, len(acknowledged) - 1):
            assert memory.search(str(number * 7919), limit=1)[0].message.id == acknowledged[number]
        assert memory.verify() == verification

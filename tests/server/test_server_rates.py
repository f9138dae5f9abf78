"""Rates: a bucket for each key, in a table that the workers of a server share."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prepared_programs import PreparedProgram

from everword.config import Settings
from everword.ports import Store
from everword.server.rates import ENTRY, SIZE, Rates, SharedRates, create_table
from everword.wiring import open_store

# What is run in processes of their own. Their clock stands still: nothing fills up meanwhile.
TAKING = """
import sys
from pathlib import Path
from everword.server import rates
rates.PATIENCE = 60.0
table = rates.Rates(100, Path(sys.argv[1]), lambda: 1000.0)
print("ready", flush=True)
input()
print(sum(table.take("key", 50) == 0.0 for _ in range(400)), flush=True)
"""
HOLDING = """
import fcntl, sys
with open(sys.argv[1], "r+b") as table:
    fcntl.lockf(table, fcntl.LOCK_EX)
    print("ready", flush=True)
    input()
"""


def started(code: str, table: Path) -> subprocess.Popen[str]:
    process = PreparedProgram[str](
        [sys.executable, "-c", code, str(table)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return create_table(tmp_path / "rates")


@pytest.mark.parametrize("shared", [False, True])
def test_a_bucket_fills_evenly_and_says_when_to_come_again(table: Path, shared: bool) -> None:
    now = 7.0
    rates = Rates(2, table if shared else None, lambda: now)
    assert [rates.take("k", 60) for _ in range(3)] == [0.0, 0.0, 1.0]
    assert rates.take("other", 60) == 0.0
    now = 7.5
    assert rates.take("k", 60) == pytest.approx(0.5)
    now = 8.5
    assert rates.take("k", 60) == 0.0
    assert rates.take("k", 0) == 0.0


def test_those_who_share_a_table_take_from_the_same_bucket(table: Path) -> None:
    now = 7.0
    one, other = Rates(100, table, lambda: now), Rates(100, table, lambda: now)
    assert [rates.take("k", 3) for rates in (one, other, one)] == [0.0] * 3
    assert other.take("k", 3) == one.take("k", 3) == pytest.approx(20.0)
    now = 17.0
    assert other.take("k", 3) == pytest.approx(10.0)
    now = 27.0
    assert one.take("k", 3) == 0.0
    assert other.take("k", 3) == pytest.approx(20.0)


def test_processes_at_once_take_no_more_than_there_is(table: Path) -> None:
    at_work = [started(TAKING, table) for _ in range(3)]
    for process in at_work:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert sum(int(process.communicate(timeout=120)[0]) for process in at_work) == 50


def test_a_process_that_holds_a_lock_and_stops_or_dies_holds_nobody_up(table: Path) -> None:
    rates = Rates(100, table, lambda: 7.0)
    holder = started(HOLDING, table)
    try:
        assert [rates.take("k", 2) for _ in range(3)] == [0.0, 0.0, 30.0]
    finally:
        holder.kill()
        holder.communicate()
    with table.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert rates.take("k", 2) == 30.0


def test_the_table_does_not_grow_and_who_is_at_work_keeps_the_bucket(table: Path) -> None:
    now = 1.0
    rates = Rates(100, table, lambda: now)
    assert [rates.take("busy", 2) for _ in range(3)] == [0.0, 0.0, 30.0]
    for number in range(20_000):
        now += 0.001
        assert rates.take(f"k{number}", 1_000) == 0.0
        if not number % 100:
            rates.take("busy", 2)
    assert rates.take("busy", 2) > 0
    assert table.stat().st_size == SIZE


def test_a_bucket_that_was_torn_is_full(table: Path) -> None:
    rates = Rates(100, table, lambda: 7.0)
    for rubbish in (b"\xff", b"\x7f"):  # no number, and a huge one
        rates.take("k", 2)
        whole = table.read_bytes()
        place = next(n for n in range(0, SIZE, ENTRY.size) if any(whole[n : n + 16]))
        with table.open("r+b") as file:
            file.seek(place + 16)
            file.write(rubbish * 16)
        assert [rates.take("k", 2) for _ in range(3)] == [0.0, 0.0, 30.0]


# -- several servers on one store


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with closing(open_store(store_url, Settings())) as opened:
        yield opened


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("G12")
def test_servers_on_one_store_keep_a_rate_together(store: Store) -> None:
    """A minute and a half, in which a client asks two servers ten times a second. Each may let in a burst before it
    hears of the other; then the key has its rate."""
    now = 0.0
    servers = [Rates(20, None, lambda: now) for _ in range(2)]
    shared = [SharedRates(rates, store) for rates in servers]
    let_in = [0, 0]
    for tenth in range(900):
        now = tenth / 10
        for number, rates in enumerate(servers):
            let_in[number] += rates.take("key", 60) == 0.0
            if tenth % 10 == 3 * number:
                shared[number].tell({"key": 60}, now)
    assert 2 * 20 < sum(let_in) <= 90 + 2 * 20
    assert min(let_in) > 20  # both serve the key


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_server_that_comes_later_finds_a_bucket_as_it_was_left(store: Store) -> None:
    now = 7.0
    first, later = (Rates(10, None, lambda: now) for _ in range(2))
    assert [first.take("key", 60) for _ in range(11)] == [0.0] * 10 + [1.0]
    SharedRates(first, store).tell({"key": 60, "another": 60}, now)
    assert later.take("key", 60) == 0.0
    SharedRates(later, store).tell({"key": 60}, now)
    assert later.take("key", 60) == pytest.approx(2.0)  # it owes one
    now = 9.5
    assert later.take("key", 60) == 0.0
    now += 3_600
    assert [later.take("key", 60) for _ in range(10)] == [0.0] * 10


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_a_clock_that_is_ahead_gives_nothing_away(store: Store) -> None:
    now = 7.0
    behind, ahead = (Rates(10, None, lambda: now) for _ in range(2))
    let_in = 0
    for _ in range(120):
        now += 0.5
        for rates, seconds in ((behind, 0), (ahead, 30)):
            let_in += rates.take("key", 60) == 0.0
            SharedRates(rates, store).tell({"key": 60}, now + seconds)
    assert let_in <= 60 + 30 + 2 * 10

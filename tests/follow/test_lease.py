"""One lease by itself: who has a place, until when, and what the holder that lost it notices."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import hypothesis.strategies as st
import pytest
from engine_doubles import PATIENCE
from fresh_processes import FRESH
from hypothesis import HealthCheck, given, settings
from sample_sizes import sample

from everword.config import Settings
from everword.errors import StoreError
from everword.follow.claiming import Lease
from everword.follow.store_calls import StoreCalls
from everword.log.append_and_read import cursor_of, set_cursors
from everword.ports import ConversationKey, Store, Tx
from everword.testing import FrozenClock
from everword.wiring import SystemClock, open_store

VIEW = "index"
MINUTE = timedelta(minutes=1)
SHORT = timedelta(milliseconds=30)
INSTANT = timedelta(microseconds=1)
PLACE = ("default", "chat")
OTHER_PLACE = ("default", "other")
NUMBERS = count()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened_store = open_store(store_url, Settings())
    yield opened_store
    opened_store.close()


def acquire(store: Store, lease: Lease, *places: ConversationKey) -> set[ConversationKey]:
    return set(store.write(lambda tx: lease.acquire(tx, places or [PLACE])))


def holds(store: Store, lease: Lease, place: ConversationKey = PLACE) -> bool:
    """What the lease says in a transaction that would store something, by both of its questions."""
    is_held, held_places = store.write(lambda tx: (lease.holds(tx, place), lease.held_places(tx, [place])))
    assert is_held == (place in held_places)
    return is_held


# -- who has a place


@pytest.mark.every_store
def test_a_place_is_taken_over_once_its_time_is_over_and_not_before(store: Store) -> None:
    clock = FrozenClock()
    first, second = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    assert acquire(store, first) == {PLACE}
    clock.advance(MINUTE - INSTANT)
    assert acquire(store, second) == set()
    assert holds(store, first)
    clock.advance(INSTANT)
    assert acquire(store, second) == {PLACE}
    assert holds(store, second)


@pytest.mark.every_store
def test_a_released_place_is_free_at_once(store: Store) -> None:
    clock = FrozenClock()
    first, second = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    acquire(store, first)
    store.write(lambda tx: first.release(tx, [PLACE]))
    assert not holds(store, first)
    assert acquire(store, second) == {PLACE}
    store.write(lambda tx: second.remove(tx, PLACE))
    assert store.read(lambda tx: tx.rows("leases")) == []
    assert acquire(store, first) == {PLACE}


@pytest.mark.every_store
def test_of_several_places_those_are_taken_that_nobody_holds(store: Store) -> None:
    clock = FrozenClock()
    first, second = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    assert acquire(store, first, PLACE) == {PLACE}
    assert acquire(store, second, PLACE, OTHER_PLACE) == {OTHER_PLACE}
    assert acquire(store, first, PLACE, OTHER_PLACE) == {PLACE}, "one's own is taken anew"
    assert store.write(lambda tx: first.acquire(tx, [])) == frozenset()


def test_a_place_of_another_view_is_another_place(store: Store) -> None:
    clock = FrozenClock()
    assert acquire(store, Lease(VIEW, clock, MINUTE)) == {PLACE}
    assert acquire(store, Lease("facts", clock, MINUTE)) == {PLACE}


def test_after_an_error_nobody_takes_the_place_for_a_while_that_grows(store: Store) -> None:
    clock = FrozenClock()
    first, second = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    for longest in (1, 2, 4):
        assert acquire(store, first) == {PLACE}
        store.write(lambda tx: first.release(tx, [PLACE], "ModelError: away"))
        clock.advance(timedelta(seconds=0.75 * longest) - INSTANT)
        assert acquire(store, second) == acquire(store, first) == set()
        assert store.read(lambda tx: second.waits_for_retry(tx, PLACE))
        clock.advance(timedelta(seconds=0.25 * longest) + INSTANT)
        assert not store.read(lambda tx: second.waits_for_retry(tx, PLACE))
    assert acquire(store, second) == {PLACE}
    assert not store.read(lambda tx: first.waits_for_retry(tx, PLACE)), "it is held, not waiting"


# -- a holder that lost its place


@pytest.mark.every_store
def test_a_holder_notices_that_it_lost_its_place_before_it_stores(store: Store) -> None:
    clock = FrozenClock()
    slow, quick = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    acquire(store, slow, PLACE, OTHER_PLACE)
    clock.advance(MINUTE)
    acquire(store, quick, PLACE)

    def store_if_held(tx: Tx) -> frozenset[ConversationKey]:
        held_places = slow.held_places(tx, [PLACE, OTHER_PLACE])
        set_cursors(tx, VIEW, dict.fromkeys(held_places, 7))
        return held_places

    assert store.write(store_if_held) == {OTHER_PLACE}, "nobody took the other, although its time is over"
    assert not holds(store, slow)
    assert store.read(lambda tx: (cursor_of(tx, VIEW, *PLACE), cursor_of(tx, VIEW, *OTHER_PLACE))) == (0, 7)


def test_a_place_that_was_lost_is_neither_renewed_nor_given_back_by_its_old_holder(store: Store) -> None:
    clock = FrozenClock()
    slow, quick = Lease(VIEW, clock, MINUTE), Lease(VIEW, clock, MINUTE)
    acquire(store, slow)
    clock.advance(MINUTE)
    acquire(store, quick)
    store.write(lambda tx: slow.renew(tx, [PLACE]))
    store.write(lambda tx: slow.release(tx, [PLACE]))
    store.write(lambda tx: slow.release(tx, [PLACE], "ModelError: away"))
    store.write(lambda tx: slow.remove(tx, PLACE))
    assert holds(store, quick)
    assert acquire(store, slow) == set()


# -- as long as the work takes


async def work_through_renewals(store: Store, clock: FrozenClock, renewals: int) -> list[bool]:
    """Work until the lease was renewed so often. Whether another got the place, asked just before each renewal."""
    lease, other = Lease(VIEW, clock, SHORT), Lease(VIEW, clock, SHORT)
    acquire(store, lease)
    work = asyncio.get_running_loop().create_future()
    takeovers: list[bool] = []

    async def run(write: Callable[[Callable[[Tx], None]], None], fn: Callable[[Tx], None]) -> None:
        clock.advance(SHORT - INSTANT)
        takeovers.append(bool(acquire(store, other)))
        write(fn)
        if len(takeovers) == renewals:
            work.set_result("done")

    await lease.renew_until_done(work, StoreCalls(store, run), [PLACE])
    assert work.result() == "done"
    assert holds(store, lease)
    return takeovers


def test_a_place_is_held_for_as_long_as_the_work_takes(store: Store) -> None:
    assert asyncio.run(work_through_renewals(store, FrozenClock(), 4)) == [False] * 4


async def fail_to_renew(store: Store, clock: FrozenClock) -> bool:
    work = asyncio.ensure_future(asyncio.Event().wait())

    async def run(write: Callable[[Callable[[Tx], None]], None], fn: Callable[[Tx], None]) -> None:
        raise StoreError("away")

    with pytest.raises(StoreError):
        await Lease(VIEW, clock, SHORT).renew_until_done(work, StoreCalls(store, run), [PLACE])
    await asyncio.wait({work})
    return work.cancelled()


def test_work_whose_place_cannot_be_renewed_is_cancelled(store: Store) -> None:
    assert asyncio.run(fail_to_renew(store, FrozenClock()))


# -- never two at once

STEPS = st.lists(
    st.tuples(st.sampled_from(["acquire", "renew", "release", "fail", "remove"]), st.integers(0, 2))
    | st.tuples(st.just("wait"), st.integers(1, 90)),
    max_size=25,
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store for many examples, each at a place of its own."""
    opened_store = open_store(f"sqlite:{tmp_path_factory.mktemp('lease') / 'memory.db'}", Settings())
    yield opened_store
    opened_store.close()


def take_step(tx: Tx, lease: Lease, step: str, place: ConversationKey) -> None:
    match step:
        case "acquire":
            lease.acquire(tx, [place])
        case "renew":
            lease.renew(tx, [place])
        case "release":
            lease.release(tx, [place])
        case "fail":
            lease.release(tx, [place], "ModelError: away")
        case "remove":
            lease.remove(tx, place)


@given(STEPS)
@settings(max_examples=sample(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_holders_do_no_two_have_a_place_and_none_takes_it_before_its_time(
    shared_store: Store, steps: list[tuple[str, int]]
) -> None:
    clock, place = FrozenClock(), ("default", f"place {next(NUMBERS)}")
    leases = [Lease(VIEW, clock, MINUTE) for _ in range(3)]
    holder, until = None, clock.now()
    for step, number in steps:
        if step == "wait":
            clock.advance(timedelta(seconds=number))
            continue
        shared_store.write(lambda tx: take_step(tx, leases[number], step, place))  # noqa: B023  called at once
        holding_numbers = [index for index, lease in enumerate(leases) if holds(shared_store, lease, place)]
        assert len(holding_numbers) <= 1
        new_holder = holding_numbers[0] if holding_numbers else None
        if holder is not None and new_holder != holder:
            gave_back = number == holder and step in ("release", "fail", "remove")
            assert gave_back or (step == "acquire" and number == new_holder and clock.now() >= until)
        if new_holder == number and step in ("acquire", "renew"):
            until = clock.now() + MINUTE
        holder = new_holder


def compete(url: str, marker: Path, rounds: int, pipe: Connection) -> None:
    """A process of its own: takes the place again and again, and marks it as its own while it has it."""
    store = open_store(url, Settings())
    lease = Lease(VIEW, SystemClock(), MINUTE)
    pipe.send("ready")
    pipe.recv()
    turns = 0
    while turns < rounds:
        if acquire(store, lease):
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))  # fails if the other process has the place too
            assert holds(store, lease)
            marker.unlink()
            store.write(lambda tx: lease.release(tx, [PLACE]))
            turns += 1
    store.close()
    pipe.send("done")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_never_have_a_place_at_once(
    kind: str, addresses: Callable[[str, str], str], tmp_path: Path
) -> None:
    url = addresses(kind, "memory")
    open_store(url, Settings()).close()
    running = []
    for _ in range(2):
        here, there = FRESH.Pipe()
        process = FRESH.Process(target=compete, args=(url, tmp_path / "marker", 25, there))
        process.start()
        there.close()
        running.append((process, here))
    try:
        for answer in ("ready", "done"):
            for _, pipe in running:
                assert pipe.poll(PATIENCE)
                assert pipe.recv() == answer  # an error in the process shows as the end of its pipe
            if answer == "ready":
                for _, pipe in running:
                    pipe.send("go")
    finally:
        for process, pipe in running:
            pipe.close()
            process.join(PATIENCE)
    assert [process.exitcode for process, _ in running] == [0, 0]

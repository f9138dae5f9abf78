"""Leases: of all the workers on a store, one at a time does a piece of work, and a dead one holds nothing up."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from engine_doubles import PATIENCE, CountingEmbedder, GatedEmbedder, StoreDouble
from fresh_processes import FRESH

from everword import AsyncMemory, Draft, Memory, NotSettled, StoreClosed
from everword.config import Settings
from everword.ports import Store
from everword.testing import FrozenClock
from everword.testing.samples import claim_place, release_place
from everword.wiring import open_store

MINUTE = timedelta(minutes=1)


def store_at(url: str) -> Store:
    return open_store(url, Settings())


def claim(store: Store, clock: FrozenClock, holder: str = "a worker that died") -> bool:
    now = clock.now()
    return store.write(lambda tx: claim_place(tx, "index", "default", "chat", holder, now, now + MINUTE))


def leased(memory: Memory) -> int:
    return sum(view.leased for view in memory.stats().views if view.view == "index")


# -- no work twice


@pytest.mark.every_store
def test_two_memories_on_one_store_never_embed_the_same_message_twice(store_url: str) -> None:
    store, embedder, count = store_at(store_url), CountingEmbedder(), 12
    with (
        Memory(store, embedder=embedder, window_turns=0) as one,
        Memory(store, embedder=embedder, window_turns=0) as two,
    ):

        def work(number: int) -> None:
            memory = (one, two)[number % 2]
            for n in range(count):
                memory.conversation("shared", user="alex").add("user", f"shared {n} by {number}")
                memory.conversation(f"own {number}", user="alex").add("user", f"own {n} by {number}")

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
            list(threads.map(Memory.settle, (one, two)))
        assert one.stats().entries == 2 * 4 * count
    assert Counter(embedder.texts) == Counter(dict.fromkeys(embedder.texts, 1))
    assert len(embedder.texts) == 2 * 4 * count


def follow(url: str, log: Path, name: str, count: int, pipe: Connection) -> None:
    """A process of its own on a shared store: adds messages, follows the log, and notes every text it embeds."""
    with Memory(url, embedder=CountingEmbedder(log=log), window_turns=0) as memory:
        pipe.send("ready")
        pipe.recv()
        for number in range(count):
            memory.conversation("shared", space="guild").add("user", f"shared message {number} of {name}", author=name)
            memory.conversation(name, user=name).add("user", f"own message {number} of {name}")
        memory.settle()
    pipe.send("settled")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_on_one_store_never_embed_the_same_message_twice(
    kind: str, addresses: Callable[[str, str], str], tmp_path: Path
) -> None:
    url, log, count = addresses(kind, "memory"), tmp_path / "embedded", 20
    store_at(url).close()
    running = []
    for name in ("one", "two"):
        here, there = FRESH.Pipe()
        process = FRESH.Process(target=follow, args=(url, log, name, count, there))
        process.start()
        there.close()
        running.append((process, here))
    try:
        for _, pipe in running:
            assert pipe.poll(PATIENCE)
            assert pipe.recv() == "ready"  # an error in the process shows as the end of its pipe
        for _, pipe in running:
            pipe.send("go")
        for _, pipe in running:
            assert pipe.poll(PATIENCE)
            assert pipe.recv() == "settled"
    finally:
        for process, pipe in running:
            pipe.close()
            process.join(PATIENCE)
    assert [process.exitcode for process, _ in running] == [0, 0]
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    assert Counter(Counter(text for _, text in lines).values()) == {1: 4 * count}
    with Memory(url) as memory:
        memory.settle()
        assert (memory.stats().messages, memory.stats().entries) == (4 * count, 4 * count)
        assert memory.verify().ok


async def closed_by_another(store: Store) -> None:
    async with AsyncMemory(store) as one:
        async with AsyncMemory(store, followers=False):
            await one.conversation("chat", user="alex").add("user", "a zebra")
        with pytest.raises(StoreClosed):
            await one.search("zebra")


def test_followers_whose_store_another_memory_closed_end_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(closed_by_another(store_at(f"json:{tmp_path / 'memory.json'}")))
    assert caplog.messages == []


# -- a holder that dies


def test_a_lease_keeps_others_off_until_it_has_run_out(store_url: str) -> None:
    clock, embedder = FrozenClock(), CountingEmbedder()
    store = store_at(store_url)
    with Memory(store, embedder=embedder, clock=clock, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "a zebra")
        assert claim(store, clock)
        for wait in (timedelta(0), MINUTE - timedelta(microseconds=1)):
            clock.advance(wait)
            with pytest.raises(NotSettled, match="another worker holds the lease"):
                memory.settle(timeout=0)
            assert (leased(memory), embedder.texts) == (1, [])
        clock.advance(timedelta(microseconds=1))
        memory.settle()
        assert (leased(memory), embedder.texts) == (0, ["a zebra"])


@pytest.mark.every_store
def test_what_a_worker_brings_after_its_lease_ran_out_is_void(store_url: str, caplog: pytest.LogCaptureFixture) -> None:
    clock, slow, quick = FrozenClock(), GatedEmbedder(), CountingEmbedder()
    store = store_at(store_url)
    with (
        Memory(store, embedder=slow, clock=clock, lease_seconds=10) as first,
        Memory(store, embedder=quick, clock=clock, followers=False) as second,
    ):
        first.conversation("chat", user="alex").extend(Draft("user", f"zebra {n}") for n in range(3))
        slow.wait_until_entered()
        clock.advance(timedelta(seconds=10))
        second.settle()
        second.conversation("chat", user="alex").add("user", "zebra 3")
        slow.open()
        first.settle()
        assert first.stats().entries == 4
        assert sorted(hit.message.turn for hit in second.search("zebra")) == [1, 2, 3, 4]
        assert quick.texts[:3] == ["zebra 0", "zebra 1", "zebra 2"]
    assert caplog.messages == [], "it is put aside, not refused by the database"


def test_only_the_holder_gives_a_lease_back(store_url: str) -> None:
    clock, store = FrozenClock(), store_at(store_url)
    with Memory(store, clock=clock, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "a zebra")
        assert claim(store, clock)
        assert not claim(store, clock, "another")
        store.write(lambda tx: release_place(tx, "index", "default", "chat", "another"))
        assert not claim(store, clock, "another")
        assert claim(store, clock), "the holder may renew it"
        store.write(lambda tx: release_place(tx, "index", "default", "chat", "a worker that died"))
        memory.settle()


# -- closed in the middle


@pytest.mark.checklist("D8")
def test_closing_in_the_middle_gives_the_lease_back(store_url: str) -> None:
    """D8: what was half done when the program ended is done at the next start, without waiting for a lease."""
    clock, slow = FrozenClock(), GatedEmbedder()
    memory = Memory(store_url, embedder=slow, clock=clock)
    memory.conversation("chat", user="alex").add("user", "a zebra")
    slow.wait_until_entered()
    assert leased(memory) == 1
    memory.close()
    embedder = CountingEmbedder()
    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        assert leased(memory) == 0
        memory.settle(timeout=0)
        assert embedder.texts == ["a zebra"]


async def close_while_claiming(store: StoreDouble, clock: FrozenClock) -> None:
    claimed, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    memory = AsyncMemory(store, clock=clock, followers=False)
    async with memory:
        await memory.conversation("chat", user="alex").add("user", "a zebra")

        def after_the_claim() -> None:
            store.after = lambda: None
            loop.call_soon_threadsafe(claimed.set)
            assert go_on.wait(PATIENCE)

        store.after = after_the_claim
        settling = asyncio.create_task(memory.settle())
        await claimed.wait()
        settling.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await settling
        assert [view.leased for view in (await memory.stats()).views if view.leased] == []
        await memory.settle(timeout=0)


def test_a_worker_cancelled_while_it_takes_a_lease_gives_it_back(store_url: str) -> None:
    asyncio.run(close_while_claiming(StoreDouble(store_at(store_url)), FrozenClock()))


@pytest.mark.checklist("D8")
def test_opening_and_closing_at_any_moment_loses_and_doubles_nothing(store_url: str) -> None:
    """D8: the time between adding and closing differs from round to round; none leaves a lease behind."""
    clock, embedder = FrozenClock(), CountingEmbedder()
    for number in range(12):
        with Memory(store_url, embedder=embedder, clock=clock) as memory:
            memory.conversation(f"chat {number}", user="alex").add("user", f"zebra {number}")
            for _ in range(number % 4):
                memory.stats()
    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        assert leased(memory) == 0
        memory.settle(timeout=0)
        assert memory.stats().entries == 12
        assert len(memory.search("zebra", limit=100)) == 12

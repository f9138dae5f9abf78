"""A backlog of facts: what is known of a person is held from one batch to the next (B3, D8), but only as long as
nobody changes it, and only what was committed. Each time the view is as if it had been built anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import StoreDouble
from fact_talks import NOW

from everword import AsyncMemory, Batch, Draft, StoreBusy
from everword.ports import Tx
from everword.stores.sqlite import SqliteStore
from everword.testing import FrozenClock

SIZE = 600
LARGE = 256  # messages in a batch after which what is known is held
CITIES = ("Lima", "Oslo", "Rome", "Turin", "Porto", "Ghent", "Cork")
THINGS = ("a red kite", "an old piano", "two lamps", "a blue canoe", "the small tent")

Change = Callable[[AsyncMemory], Awaitable[object]]


def drafts(seed: int) -> list[Draft]:
    """Messages of which every second belongs before the one that came before it, and one in ten states something."""
    times = [NOW - timedelta(hours=SIZE - number + 5 * (number % 2)) for number in range(SIZE)]
    return [Draft("user", text_of(number, number + seed), time=time) for number, time in enumerate(times)]


def text_of(number: int, choice: int) -> str:
    if number % 10:
        return "ok"
    return bought(choice) if number % 30 else f"I live in {CITIES[choice % len(CITIES)]} now."


def bought(number: int) -> str:
    return f"I bought {THINGS[number % len(THINGS)]} in {CITIES[number % len(CITIES)]}."


async def fill(memory: AsyncMemory) -> None:
    batches = [Batch("default", f"chat {seed}", "alex", drafts(seed)) for seed in range(2)]
    await memory.add_many(batches)


async def read_large_batch(memory: AsyncMemory) -> None:
    """Let the view read until a batch was so large that what is known is held."""
    follower = memory.runtime.followers["facts"]
    while (count := await follower.step(expects_work=True)) < LARGE:
        assert count, "the backlog is read before there was a large batch"


async def read_the_rest(memory: AsyncMemory) -> None:
    while await memory.runtime.followers["facts"].step(expects_work=True):
        pass


async def fact_rows(memory: AsyncMemory) -> list[Any]:
    rows: list[Any] = await memory.runtime.read(lambda tx: tx.rows("facts", where={"space": "default"}))
    return rows


async def check_as_built_anew(memory: AsyncMemory) -> None:
    await read_the_rest(memory)
    rows = await fact_rows(memory)
    assert len(rows) > len(CITIES) + len(THINGS)
    await memory.rebuild("facts")
    await read_the_rest(memory)
    assert rows == await fact_rows(memory)


async def read_more(other: AsyncMemory) -> object:
    return await other.runtime.followers["facts"].step(expects_work=True)


async def delete_a_fact(other: AsyncMemory) -> object:
    facts = await other.facts(user="alex")
    return await other.delete_fact(next(fact.id for fact in facts if fact.key != "location"), user="alex")


async def correct_the_city(other: AsyncMemory) -> object:
    city = next(fact for fact in await other.facts(user="alex") if fact.key == "location")
    return await other.edit_fact(city.id, "Zagreb", user="alex")


async def remove_messages(other: AsyncMemory) -> object:
    chat = other.conversation("chat 0", user="alex")
    return [await chat.delete(turn) for turn in (1, 2, 3, 7)]


@pytest.mark.parametrize("change", [read_more, delete_a_fact, correct_the_city, remove_messages])
@pytest.mark.checklist("B3")
def test_what_another_process_changes_between_two_batches_counts(tmp_path: Path, change: Change) -> None:
    url = str(tmp_path / "a.db")
    clock = FrozenClock(NOW)

    async def run() -> None:
        async with AsyncMemory(url, followers=False, clock=clock) as memory:
            await fill(memory)
            await read_large_batch(memory)
            async with AsyncMemory(url, followers=False, clock=clock) as other:
                await change(other)
            await check_as_built_anew(memory)

    asyncio.run(run())


@pytest.mark.checklist("D8")
def test_what_a_batch_did_that_was_undone_does_not_count(tmp_path: Path) -> None:
    store = StoreDouble(SqliteStore(tmp_path / "a.db"))
    clock = FrozenClock(NOW)
    counts: set[int] = set()

    def fail_once(tx: Tx) -> None:
        counts.add(len(tx.rows("findings")))
        if len(counts) == 2:  # the first batch that stores more
            store.inside = lambda tx: None
            raise StoreBusy("another writer was faster")

    async def run() -> None:
        async with AsyncMemory(store, followers=False, clock=clock) as memory:
            await fill(memory)
            await read_large_batch(memory)
            store.inside = fail_once
            assert not await read_more(memory)
            assert len(counts) == 2
            clock.advance(timedelta(hours=1))  # it is tried again after a pause
            await check_as_built_anew(memory)

    asyncio.run(run())

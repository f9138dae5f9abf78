"""A small scope that is in memory is searched without changing threads; any other is not, and finds the same."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from engine_doubles import StoreDouble

from everword import AsyncMemory, Draft
from everword.config import Settings
from everword.ports import Store, Tx
from everword.recall import scope_index
from everword.wiring import open_store

T = TypeVar("T")


class WatchedStore(StoreDouble):
    """Notes in which thread each read is made."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.readers: list[threading.Thread] = []

    def read(self, fn: Callable[[Tx], T]) -> T:
        self.readers.append(threading.current_thread())
        return super().read(fn)


async def found(memory: AsyncMemory, word: str) -> list[str]:
    contents = [hit.message.content for hit in await memory.search(word, user="ann", limit=50)]
    return sorted(content for content in contents if word in content)


async def keep(memory: AsyncMemory, *texts: str) -> None:
    await memory.conversation("chat", user="ann").extend([Draft("user", text) for text in texts])
    await memory.settle()


def has_changed_threads(store: WatchedStore) -> bool:
    return store.readers[-1] is not threading.current_thread()


def test_a_small_scope_that_is_held_is_searched_at_once_whoever_has_added_to_it(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")

    async def use() -> None:
        store = WatchedStore(open_store(url, Settings()))
        async with AsyncMemory(store, followers=False) as memory, AsyncMemory(url, followers=False) as other:
            await keep(memory, "a red kite")
            assert await found(memory, "kite") == ["a red kite"]
            assert has_changed_threads(store)  # it had to be read
            assert await found(memory, "kite") == ["a red kite"]
            assert not has_changed_threads(store)
            await keep(other, "a blue kite")
            assert await found(memory, "kite") == ["a blue kite", "a red kite"]
            assert not has_changed_threads(store)
            await keep(other, *(f"ship {number}" for number in range(2 * scope_index.QUICK_CHANGES)), "a green kite")
            assert await found(memory, "kite") == ["a blue kite", "a green kite", "a red kite"]
            assert has_changed_threads(store)
            await other.conversation("chat", user="ann").delete(1)
            assert await found(memory, "kite") == ["a blue kite", "a green kite"]
            await other.erase(user="ann")
            assert await found(memory, "kite") == []

    asyncio.run(use())


def test_a_large_scope_is_not_searched_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "QUICK", 2)

    async def use() -> None:
        store = WatchedStore(open_store(str(tmp_path / "memory.db"), Settings()))
        async with AsyncMemory(store, followers=False) as memory:
            await keep(memory, "a red kite", "a blue kite", "a green kite")
            for _ in range(3):
                assert len(await found(memory, "kite")) == 3
                assert has_changed_threads(store)

    asyncio.run(use())


def test_a_store_whose_reads_may_wait_is_not_read_at_once(tmp_path: Path) -> None:
    async def use() -> None:
        store = WatchedStore(open_store(f"json:{tmp_path / 'memory.json'}", Settings()))
        assert not store.reads_at_once
        async with AsyncMemory(store, followers=False) as memory:
            await keep(memory, "a red kite")
            for _ in range(3):
                assert await found(memory, "kite") == ["a red kite"]
                assert has_changed_threads(store)

    asyncio.run(use())


def test_searches_at_once_let_each_other_be_counted_before_views_go_on(tmp_path: Path) -> None:
    async def use() -> None:
        store = WatchedStore(open_store(str(tmp_path / "memory.db"), Settings()))
        async with AsyncMemory(store, followers=False) as memory:
            order: list[str] = []
            first = asyncio.create_task(memory.runtime.search(lambda: order.append("first"), at_once=True))
            second = asyncio.create_task(memory.runtime.search(lambda: order.append("second"), at_once=True))
            await asyncio.sleep(0)
            assert order == []  # both are under way, and neither is made
            second.cancel()
            await asyncio.wait({first, second})
            assert order == ["first"]  # one that nobody waits for is not made

    asyncio.run(use())

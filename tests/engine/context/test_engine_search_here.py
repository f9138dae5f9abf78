"""A blocking search runs in the thread of its caller if its scope is in memory and nothing has changed; any other is
made by the memory's own thread, and finds the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from engine_doubles import PATIENCE, StoreDouble

from recollect import Draft, Hit, InvalidInput, Memory, RecollectError
from recollect.config import Settings
from recollect.memory.faces import MemoryFace
from recollect.ports import Store, Tx
from recollect.wiring import open_store

T = TypeVar("T")
KITES = ["a blue kite", "a red kite"]


class WatchedStore(StoreDouble):
    """Notes in which thread each read is made, and what is called before a read."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.readers: list[threading.Thread] = []
        self.before_read: Callable[[], object] = lambda: None

    def read(self, fn: Callable[[Tx], T]) -> T:
        self.readers.append(threading.current_thread())
        self.before_read()
        return super().read(fn)


@contextmanager
def watched(url: str, **options: object) -> Iterator[tuple[Memory, WatchedStore]]:
    """A memory with two messages whose scope has been searched twice, so that it is in memory."""
    store = WatchedStore(open_store(url, Settings()))
    with Memory(store, **{"followers": False, **options}) as memory:  # type: ignore[arg-type]
        keep(memory, *KITES)
        for _ in range(2):
            assert found(memory) == KITES
        yield memory, store


def keep(memory: Memory, *texts: str) -> None:
    memory.conversation("chat", user="ann").extend([Draft("user", text) for text in texts])
    memory.settle()


def found(memory: Memory, word: str = "kite") -> list[str]:
    contents = [hit.message.content for hit in memory.search(word, user="ann", limit=50)]
    return sorted(content for content in contents if word in content)


async def search_elsewhere(options: dict[str, Any], memory: MemoryFace) -> list[Hit]:
    return await memory.search("kite", user="ann", **options)


def is_read_here(store: WatchedStore) -> bool:
    return store.readers[-1] is threading.current_thread()


@pytest.mark.parametrize("url", ["{}/memory.db", "json:{}/memory.json"])
def test_a_scope_in_memory_is_searched_in_the_callers_thread_whoever_changes_it(tmp_path: Path, url: str) -> None:
    url = url.format(tmp_path)
    with watched(url) as (memory, store):
        assert found(memory) == KITES
        assert is_read_here(store)
        keep(memory, "a green kite")
        assert found(memory) == ["a blue kite", "a green kite", "a red kite"]
        assert not is_read_here(store)  # what is new is read by the memory's own thread
        assert found(memory) == ["a blue kite", "a green kite", "a red kite"]
        assert is_read_here(store)
        memory.conversation("chat", user="ann").delete(1)
        assert found(memory) == ["a green kite", "a red kite"]


def test_what_another_memory_erases_is_not_found(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with watched(url) as (memory, store), Memory(url, followers=False) as other:
        assert found(memory) == KITES
        assert is_read_here(store)
        other.erase(user="ann")
        assert found(memory) == []


def test_what_was_just_added_is_found_while_views_follow(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db"), followers=True) as (memory, store):
        for number in range(3):
            memory.conversation("chat", user="ann").add("user", f"kite number {number}")
            assert len(found(memory)) == 3 + number
        memory.settle()
        assert len(found(memory)) == 5
        assert len(found(memory)) == 5
        assert is_read_here(store)


def test_hits_are_the_same_in_either_thread(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db")) as (memory, store):
        choices: list[dict[str, Any]] = [{}, {"floor": 0.2}, {"role": "user"}, {"conversation": "chat"}, {"limit": 1}]
        for options in choices:
            here = memory.search("kite", user="ann", **options)
            assert is_read_here(store)
            elsewhere = memory.run(partial(search_elsewhere, options))
            assert not is_read_here(store)
            assert here == elsewhere
        memory.search("kite", user="ann", kinds=["message", "fact"])
        assert not is_read_here(store)
        with pytest.raises(InvalidInput, match="limit"):
            memory.search("kite", user="ann", limit=0)


def test_threads_that_search_at_the_same_time_find_the_same(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db")) as (memory, store):
        within = threading.Barrier(2, timeout=PATIENCE)
        store.before_read = within.wait  # one in its own thread, the other in the memory's
        with ThreadPoolExecutor(2) as callers:
            results = [callers.submit(found, memory) for _ in range(2)]
            assert [result.result(PATIENCE) for result in results] == [KITES, KITES]
        assert len(set(store.readers[-2:])) == 2


def test_a_memory_that_is_closed_waits_for_a_search_and_begins_no_other(tmp_path: Path) -> None:
    searching, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        searching.set()
        assert go_on.wait(PATIENCE)

    with ThreadPoolExecutor(2) as threads:
        with watched(str(tmp_path / "memory.db")) as (memory, store):
            store.before_read = wait
            search = threads.submit(found, memory)
            assert searching.wait(PATIENCE)
            closing = threads.submit(memory.close)
            with pytest.raises(TimeoutError):
                closing.result(0.05)
            go_on.set()
            assert search.result(PATIENCE) == KITES
            closing.result(PATIENCE)
        with pytest.raises(RecollectError, match="closed"):
            memory.search("kite", user="ann")


def test_a_search_that_is_interrupted_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    def interrupt() -> None:
        store.before_read = lambda: None
        raise KeyboardInterrupt

    with watched(str(tmp_path / "memory.db")) as (memory, store):
        store.before_read = interrupt
        with pytest.raises(KeyboardInterrupt):
            memory.search("kite", user="ann")
        assert found(memory) == KITES
        assert is_read_here(store)
        keep(memory, "a green kite")
        assert len(found(memory)) == 3


def test_what_is_held_in_memory_is_found(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db"), hold_messages=10) as (memory, store):
        assert found(memory) == KITES
        assert not is_read_here(store)  # the memory's own thread knows what is held

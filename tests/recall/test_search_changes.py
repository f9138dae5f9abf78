"""A blocking search of a scope that is in memory finds what is there now, whoever changes it, and from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from engine_doubles import PATIENCE, StoreDouble

from everword import Draft, EverwordError, Memory
from everword.config import Settings
from everword.ports import Store, Tx
from everword.wiring import open_store

T = TypeVar("T")
KITES = ["a blue kite", "a red kite"]


class WatchedStore(StoreDouble):
    """Calls something before each read."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.before_read: Callable[[], object] = lambda: None

    def read(self, fn: Callable[[Tx], T]) -> T:
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


@pytest.mark.parametrize("url", ["{}/memory.db", "json:{}/memory.json"])
def test_a_scope_in_memory_is_searched_as_it_is_now(tmp_path: Path, url: str) -> None:
    url = url.format(tmp_path)
    with watched(url) as (memory, _):
        assert found(memory) == KITES
        keep(memory, "a green kite")
        assert found(memory) == ["a blue kite", "a green kite", "a red kite"]
        assert found(memory) == ["a blue kite", "a green kite", "a red kite"]
        memory.conversation("chat", user="ann").delete(1)
        assert found(memory) == ["a green kite", "a red kite"]


def test_what_another_memory_erases_is_not_found(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with watched(url) as (memory, _), Memory(url, followers=False) as other:
        assert found(memory) == KITES
        other.erase(user="ann")
        assert found(memory) == []


def test_what_was_just_added_is_found_while_views_follow(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db"), followers=True) as (memory, _):
        for number in range(3):
            memory.conversation("chat", user="ann").add("user", f"kite number {number}")
            assert len(found(memory)) == 3 + number
        memory.settle()
        assert len(found(memory)) == 5
        assert len(found(memory)) == 5


def test_threads_that_search_at_the_same_time_find_the_same(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db")) as (memory, _), ThreadPoolExecutor(2) as callers:
        results = [callers.submit(found, memory) for _ in range(2)]
        assert [result.result(PATIENCE) for result in results] == [KITES, KITES]


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
        with pytest.raises(EverwordError, match="closed"):
            memory.search("kite", user="ann")


def test_what_is_held_in_memory_is_found(tmp_path: Path) -> None:
    with watched(str(tmp_path / "memory.db"), hold_messages=10) as (memory, _):
        assert found(memory) == KITES

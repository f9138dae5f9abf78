"""What is new in a scope is read before it is searched again: the search finds the same, and nothing that is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory
from everword.model import Filter
from everword.recall.scope_index import ScopeIndexes

NEW = "The blue kite is at the beach."


@pytest.fixture
def scopes_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None, int]]:
    """The scopes that were read ahead, each with the passages it had then."""
    scopes: list[tuple[str, str | None, int]] = []
    view_scope = ScopeIndexes.view

    def view_and_note(indexes: ScopeIndexes, tx: Any, scope: Filter, *args: Any, ahead: bool = False) -> Any:
        view = view_scope(indexes, tx, scope, *args, ahead=ahead)
        if ahead:
            scopes.append((scope.space, scope.user, len(view or ())))
        return view

    monkeypatch.setattr(ScopeIndexes, "view", view_and_note)
    return scopes


async def add_and_settle(memory: AsyncMemory, text: str) -> None:
    await memory.conversation("chat", user="ann").add("user", text)
    await memory.settle()
    await asyncio.sleep(0.05)  # what is read in the background would be read by now


async def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)


def test_what_is_new_is_read_once_where_somebody_has_searched(
    tmp_path: Path, scopes_read: list[tuple[str, str | None, int]]
) -> None:
    url = str(tmp_path / "memory.db")

    async def talk() -> None:
        async with AsyncMemory(url) as memory:
            await add_and_settle(memory, "The red kite flies over the harbour.")
            assert scopes_read == []
            assert len(await memory.search("kite", user="ann")) == 1
            await add_and_settle(memory, NEW)
            await wait_until(lambda: bool(scopes_read))
            assert scopes_read == [("default", "ann", 2)]
            await add_and_settle(memory, "The green kite is gone.")
            assert len(scopes_read) == 1  # nobody has searched since
            hits = await memory.search("kite", user="ann")
            assert {hit.message.turn for hit in hits} == {1, 2, 3}

    asyncio.run(talk())


def test_what_was_removed_after_it_was_read_is_not_found(
    tmp_path: Path, scopes_read: list[tuple[str, str | None, int]]
) -> None:
    url = str(tmp_path / "memory.db")

    async def talk() -> None:
        async with AsyncMemory(url) as memory, AsyncMemory(url, followers=False) as other:
            await add_and_settle(memory, "The red kite flies over the harbour.")
            await memory.search("kite", user="ann")
            await add_and_settle(memory, NEW)
            await wait_until(lambda: bool(scopes_read))
            assert scopes_read == [("default", "ann", 2)]
            await other.conversation("chat", user="ann").delete(2)
            assert [hit.message.turn for hit in await memory.search("kite", user="ann")] == [1]

    asyncio.run(talk())


def test_a_memory_that_follows_nothing_reads_nothing_ahead(
    tmp_path: Path, scopes_read: list[tuple[str, str | None, int]]
) -> None:
    url = str(tmp_path / "memory.db")

    async def talk() -> None:
        async with AsyncMemory(url, followers=False) as memory:
            await add_and_settle(memory, "The red kite flies over the harbour.")
            await memory.search("kite", user="ann")
            await add_and_settle(memory, NEW)
            assert len(await memory.search("kite", user="ann")) == 2

    asyncio.run(talk())
    assert scopes_read == []

"""Several processes on one store: each has followers, caches and connections of its own, as two open memories have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everword import Memory
from everword.config import Settings
from everword.wiring import open_store

ROUNDS = 12


def contents(memory: Memory, query: str, *, user: str | None = None, conversation: str | None = None) -> set[str]:
    return {hit.message.content for hit in memory.search(query, limit=50, user=user, conversation=conversation)}


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.checklist("G12")
def test_what_one_process_has_indexed_the_next_search_of_another_finds(store_url: str) -> None:
    """By the version of the scope: nothing is found late, and nothing that was deleted is found."""
    with Memory(store_url) as writer, Memory(store_url) as reader:
        chat = writer.conversation("kitchen", user="ann")
        room = writer.conversation("room")
        for number in range(ROUNDS):
            said = f"The kettle number {number} is green."
            told = f"The toaster number {number} is broken."
            chat.add("user", said)
            message = room.add("user", told, author="bob")
            writer.settle()
            assert said in contents(reader, f"kettle {number}", user="ann")
            assert told in contents(reader, f"toaster {number}", conversation="room")
            if number % 3 == 0:
                room.delete(message.id)
                assert told not in contents(reader, f"toaster {number}", conversation="room")


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.checklist("G12")
def test_what_one_process_was_told_the_next_search_of_any_other_finds(store_url: str) -> None:
    """Nobody waits in between: a search waits until what others wrote about its scope is in the index."""
    with ExitStack() as stack:
        memories = [stack.enter_context(Memory(store_url, index_seconds=60)) for _ in range(4)]
        for number in range(3 * ROUNDS):
            writer, reader = memories[number % 4], memories[(number + 1 + number // 4 % 3) % 4]
            said = f"The kettle number {number} is green."
            told = f"The toaster number {number} is broken."
            writer.conversation("kitchen", user="ann").add("user", said)
            writer.conversation("room").add("user", told, author="bob")
            assert said in contents(reader, f"kettle {number}", user="ann")
            assert told in contents(reader, f"toaster {number}", conversation="room")


@pytest.mark.checklist("G11")
def test_a_search_does_not_wait_for_what_others_were_told(tmp_path: Path) -> None:
    """Nor for a conversation of others that no process can bring into the index."""
    with Memory(str(tmp_path / "memory.db"), index_seconds=600) as memory:
        memory.conversation("kitchen", user="ann").add("user", "The kettle is green.")
        memory.settle()
        with closing(open_store(str(tmp_path / "memory.db"), Settings.load())) as store:
            place = ("default", "chat")
            now = datetime.now(UTC)
            store.write(lambda tx: tx.claim("index", [place], "another", now, now + timedelta(days=1)))
        memory.conversation("chat", user="kim").add("user", "The toaster is broken.")
        assert contents(memory, "kettle", user="ann") == {"The kettle is green."}
        assert contents(memory, "kettle", conversation="kitchen") == {"The kettle is green."}
        assert "kettle" in str(memory.conversation("kitchen", user="ann").context("Which kettle?").messages)


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.checklist("G12")
def test_what_two_processes_add_at_once_is_kept_once_and_in_one_order(store_url: str) -> None:
    """The same platform ids, as when two bots read one channel."""
    with Memory(store_url) as one, Memory(store_url) as other:

        def add_all(memory: Memory) -> None:
            room = memory.conversation("room")
            for number in range(ROUNDS):
                room.add("user", f"Line {number}", author="bob", platform_id=f"p{number}")

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(add_all, (one, other)))
        lines = [message.content for message in one.conversation("room").history()]
        assert sorted(lines) == sorted(f"Line {number}" for number in range(ROUNDS))
        assert lines == [message.content for message in other.conversation("room").history()]
        assert one.verify().ok

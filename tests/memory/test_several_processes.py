"""Several processes on one store: each has followers, caches and connections of its own, as two open memories have."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_driver import process
from engine_doubles import settle_index
from sample_sizes import sample

from everword import Batch, Draft, Memory
from everword.config import Settings
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

ROUNDS = sample(12, least=4)
CHATS = 12  # that each round adds messages to
PATIENCE = 300.0


def contents(memory: Memory, query: str, *, user: str | None = None, conversation: str | None = None) -> set[str]:
    return {hit.message.content for hit in memory.search(query, limit=50, user=user, conversation=conversation)}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("G12")
def test_what_one_process_has_indexed_the_next_search_of_another_finds(store_url: str) -> None:
    """By the version of the scope: nothing is found late, and nothing that was deleted is found."""
    with Memory(store_url, followers=False) as writer, Memory(store_url, followers=False) as reader:
        chat = writer.conversation("kitchen", user="ann")
        room = writer.conversation("room")
        for number in range(ROUNDS):
            said = f"The kettle number {number} is green."
            told = f"The toaster number {number} is broken."
            chat.add("user", said)
            message = room.add("user", told, author="bob")
            settle_index(writer)
            assert said in contents(reader, f"kettle {number}", user="ann")
            assert told in contents(reader, f"toaster {number}", conversation="room")
            if number % 3 == 0:
                room.delete(message.id)
                assert told not in contents(reader, f"toaster {number}", conversation="room")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
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


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
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


def chats_of(number: int) -> list[Batch]:
    """A few chats, each of a person of their own."""
    texts = "I live in Delft.", f"My cat is called Mimi and is {number + 2} years old.", "I like green tea."
    return [Batch("default", f"c{chat}", f"u{chat}", [Draft("user", said) for said in texts]) for chat in range(CHATS)]


def derived(memory: Memory, rounds: int) -> tuple[list[object], ...]:
    """What is known of everybody, without ids and times of making."""
    assert memory.verify().ok
    stats = memory.stats()
    assert stats.entries == stats.messages == 3 * CHATS * rounds
    assert {view.behind for view in stats.views} == {0}
    people = [f"u{chat}" for chat in range(CHATS)]
    facts = sorted((fact.user, fact.key, fact.value) for person in people for fact in memory.facts(user=person))
    topics = [len(memory.conversation(f"c{chat}", user=f"u{chat}").topics()) for chat in range(CHATS)]
    return [*facts], [*topics]


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
@pytest.mark.checklist("G12")
def test_workers_divide_what_there_is_to_do_and_double_nothing(store_url: str, tmp_path: Path) -> None:
    """`everword worker` twice, in processes of their own: each takes leases, and what they make is what one makes."""
    workers = [process("worker", "--store", store_url, folder=tmp_path) for _ in range(2)]
    waiting = {str(worker.pid) for worker in workers}
    rounds = 0
    with Memory(store_url, followers=False) as memory, closing(open_store(store_url, Settings.load())) as store:
        try:
            deadline = time.monotonic() + PATIENCE
            while waiting and time.monotonic() < deadline:
                memory.add_many(chats_of(rounds))
                rounds += 1
                while waiting and any(view.behind for view in memory.stats().views):
                    leases = store.read(lambda tx: tx.rows("leases"))
                    waiting -= {row["holder"].split(":")[-2] for row in leases if row["holder"] is not None}
            assert not waiting, "a worker that never took a lease"
        finally:
            for worker in workers:
                worker.terminate()
            assert {worker.communicate(timeout=PATIENCE)[1] for worker in workers} == {""}
        memory.settle(PATIENCE)
        made_by_two = derived(memory, rounds)
    with Memory(str(tmp_path / "one.db")) as memory:
        for number in range(rounds):
            memory.add_many(chats_of(number))
        memory.settle(PATIENCE)
        assert derived(memory, rounds) == made_by_two


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("G12")
def test_what_one_process_has_spent_no_other_spends(store_url: str) -> None:
    """The tokens of a day are those of all processes."""
    clock = FrozenClock()
    models = [ScriptedLLM(default='{"tier1": "name = Ann", "tier2": "Ann runs two shops in Delft."}') for _ in range(2)]
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(Memory(store_url, memory=model, clock=clock, daily_tokens=10, followers=False))
            for model in models
        )
        one.conversation("kitchen", user="ann").add("user", "I run two shops in Delft. " * 40)
        one.settle()
        one.stats()  # counts what is done and not yet counted
        other.conversation("garden", user="ann").add("user", "I grow green beans behind both shops. " * 40)
        other.settle()
        assert models[0].requests
        assert not models[1].requests
        clock.advance(timedelta(days=1))
        other.conversation("garden", user="ann").add("user", "I grow red beans, too. " * 40)
        other.settle()
        assert models[1].requests

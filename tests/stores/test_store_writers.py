"""Many writers at once: threads, tasks and processes on one memory, and every message is there exactly once.

What a writer was told is compared with what the log says in the end: each message at the turn it was given, turns
without a gap, the chain whole. No writer hears that the database was locked.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from fresh_processes import FRESH
from sample_sizes import sample

from everword import AsyncMemory, Memory, StoreBusy
from everword.model import Message
from everword.stores.sqlite import SqliteStore
from everword.testing.samples import append_messages, make_message

PATIENCE = 120.0
PROCESSES, THREADS, EACH = 4, 8, sample(15)
CHANNELS = ("general", "random", "日本語")
Told = tuple[str, int, str, str | None]  # conversation, turn, id, platform id


def told(message: Message) -> Told:
    return message.conversation, message.turn, message.id, message.platform_id


def write(url: str, number: int, start: Barrier, pipe: Connection) -> None:
    """One process: eight threads on one memory, all into the same conversations."""
    with Memory(url) as memory:

        def speak(thread: int) -> list[Told]:
            heard = []
            for count in range(EACH):
                chat = memory.conversation(CHANNELS[(thread + count) % len(CHANNELS)])
                name = f"{number}.{thread}.{count}"
                heard.append(told(chat.add("user", f"message {name}", author=f"u{thread}", platform_id=name)))
            # Delivered to every process and thread: stored once.
            shared = memory.conversation("shared")
            heard.append(told(shared.add("user", f"shared {thread}", author="all", platform_id=f"shared {thread}")))
            return heard

        start.wait(PATIENCE)
        with ThreadPoolExecutor(THREADS) as pool:
            pipe.send([one for heard in pool.map(speak, range(THREADS)) for one in heard])


def run_processes(url: str) -> list[Told]:
    start, told_by_all = FRESH.Barrier(PROCESSES), []
    pipes, processes = [], []
    for number in range(PROCESSES):
        here, there = FRESH.Pipe()
        process = FRESH.Process(target=write, args=(url, number, start, there))
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)
    try:
        for pipe in pipes:
            assert pipe.poll(PATIENCE)
            told_by_all += pipe.recv()  # an error in the process shows as the end of its pipe
    finally:
        for process in processes:
            process.join(PATIENCE)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    return told_by_all


def whole(memory: Memory, heard: list[Told]) -> None:
    """Everything that was told is so, and nothing else is there."""
    log = [told(message) for message in memory.export()]
    assert sorted(log) == sorted(set(heard))
    for conversation in memory.conversations():
        turns = [turn for id, turn, _, _ in log if id == conversation.id]
        assert turns == list(range(1, conversation.turns + 1))
    verification = memory.verify()
    assert verification.ok
    assert verification.messages == len(log)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_eight_threads_in_each_of_four_processes(kind: str, addresses: Callable[[str, str], str]) -> None:
    """C1, D8: messages of each, and 8 that every thread delivers; then the index catches up with all of them, once."""
    url = addresses(kind, "memory")
    with Memory(url, followers=False):
        pass
    heard = run_processes(url)
    assert len(heard) == PROCESSES * THREADS * (EACH + 1)
    assert len(set(heard)) == PROCESSES * THREADS * EACH + THREADS
    with Memory(url) as memory:
        whole(memory, heard)
        memory.settle()
        assert memory.stats().entries == len(set(heard))


def test_tasks_of_one_process(store_url: str) -> None:
    async def speak(memory: AsyncMemory, number: int) -> list[Told]:
        chat = memory.conversation(CHANNELS[number % len(CHANNELS)])
        sent = [await chat.add("user", f"{number}.{count}", platform_id=f"{number}.{count}") for count in range(3)]
        return [told(message) for message in sent]

    async def run() -> list[Told]:
        async with AsyncMemory(store_url, followers=False) as memory:
            heard = await asyncio.gather(*(speak(memory, number) for number in range(40)))
        return [one for some in heard for one in some]

    heard = asyncio.run(run())
    assert len(set(heard)) == 120
    with Memory(store_url, followers=False) as memory:
        whole(memory, heard)


def test_threads_that_deliver_the_same_messages_store_them_once(store_url: str) -> None:
    """C1: eight deliverers of the same twenty messages, in different orders."""
    with Memory(store_url, followers=False) as memory:

        def deliver(thread: int) -> list[Told]:
            chat, heard = memory.conversation("general"), []
            for count in range(20):
                name = str((count * 7 + thread * 5) % 20)
                heard.append(told(chat.add("user", f"message {name}", platform_id=name)))
            return heard

        with ThreadPoolExecutor(8) as pool:
            heard = [one for some in pool.map(deliver, range(8)) for one in some]
        assert len(set(heard)) == 20
        whole(memory, heard)


def test_a_file_another_keeps_locked_is_busy(tmp_path: Path) -> None:
    """The wait has an end, the error says that trying again will do, and nothing was written."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path, busy_seconds=0.2)) as store, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            store.write(lambda tx: append_messages(tx, make_message(1)))
        assert store.read(lambda tx: tx.conversations()) == []  # readers never wait
        other.rollback()
        store.write(lambda tx: append_messages(tx, make_message(1)))

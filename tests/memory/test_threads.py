"""The threads in which a memory makes the calls that block."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from everword import AsyncMemory
from everword.errors import StoreClosed
from everword.follow.store_calls import CallThreads, ThreadsClosed


def test_a_call_is_made_in_another_thread_and_its_result_or_error_comes_back() -> None:
    async def use() -> None:
        threads = CallThreads(2, "calls")
        assert await threads.call(int, "12") == 12
        assert await threads.call(threading.get_ident) != threading.get_ident()
        with pytest.raises(ValueError, match="invalid literal"):
            await threads.call(int, "twelve")
        with pytest.raises(RuntimeError, match="ended too early"):
            await threads.call(next, iter(()))
        threads.close()

    asyncio.run(use())


def test_no_more_calls_run_at_once_than_there_are_threads() -> None:
    async def use() -> list[int]:
        threads = CallThreads(2, "calls")
        lock = threading.Lock()
        meeting = threading.Barrier(2)
        running: list[int] = []
        counts: list[int] = []

        def meet() -> None:
            with lock:
                running.append(1)
                counts.append(len(running))
            meeting.wait(10)
            with lock:
                running.pop()

        await asyncio.gather(*(threads.call(meet) for _ in range(6)))
        threads.close()
        return counts

    counts = asyncio.run(use())
    assert len(counts) == 6
    assert max(counts) <= 2


def test_a_call_cancelled_before_it_began_is_not_made() -> None:
    async def use() -> list[str]:
        threads = CallThreads(1, "calls")
        made: list[str] = []
        first_may_end = threading.Event()
        first = threads.call(first_may_end.wait, 10)
        second = threads.call(made.append, "second")
        third = threads.call(made.append, "third")
        second.cancel()
        first_may_end.set()
        await first
        await third
        threads.close()
        return made

    assert asyncio.run(use()) == ["third"]


def test_closing_makes_what_was_asked_for_and_takes_no_more() -> None:
    async def use() -> list[int]:
        threads = CallThreads(1, "calls")
        made: list[int] = []
        for number in range(3):
            threads.call(made.append, number)
        threads.close()
        with pytest.raises(ThreadsClosed):
            threads.call(made.append, 3)
        return made

    assert asyncio.run(use()) == [0, 1, 2]


def test_a_call_that_ends_after_its_loop_is_closed_disturbs_nobody() -> None:
    threads = CallThreads(1, "calls")
    may_end = threading.Event()

    async def use() -> None:
        threads.call(may_end.wait, 10)

    asyncio.run(use())
    may_end.set()
    threads.close()


def test_a_memory_that_is_closed_says_so_to_its_own_loops_which_then_end(tmp_path: Path) -> None:
    async def use() -> None:
        memory = AsyncMemory(str(tmp_path / "memory.db"), followers=False)
        await memory.open()
        await memory.close()
        with pytest.raises(StoreClosed, match="not open"):
            await memory.runtime.run(int)

    asyncio.run(use())


def test_searches_of_a_file_run_one_at_a_time_and_one_nobody_waits_for_is_not_made(tmp_path: Path) -> None:
    async def use() -> list[str]:
        made: list[str] = []
        may_end = threading.Event()

        def hold() -> None:
            made.append("first begins")
            may_end.wait(10)
            made.append("first ends")

        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            search = memory.runtime.search
            first = asyncio.create_task(search(hold))
            second = asyncio.create_task(search(lambda: made.append("second")))
            third = asyncio.create_task(search(lambda: made.append("third")))
            assert await memory.runtime.run(int, "12") == 12  # other calls do not wait for them
            second.cancel()
            first.cancel()  # it is under way: the next still waits for it
            await asyncio.wait({second}, timeout=10)
            assert "third" not in made
            may_end.set()
            await third
        return made

    assert asyncio.run(use()) == ["first begins", "first ends", "third"]

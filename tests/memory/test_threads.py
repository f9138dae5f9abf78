"""The threads in which a memory makes the calls that block."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from everword import AsyncMemory
from everword.errors import StoreClosed
from everword.memory.runtime import THREADS


def test_a_call_is_made_in_another_thread_and_its_result_or_error_comes_back(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            run = memory.runtime.run
            assert await run(int, "12") == 12
            assert await run(threading.get_ident) != threading.get_ident()
            with pytest.raises(ValueError, match="invalid literal"):
                await run(int, "twelve")
            with pytest.raises(RuntimeError, match="raised StopIteration"):
                await run(next, iter(()))

    asyncio.run(use())


def test_no_more_calls_run_at_once_than_there_are_threads(tmp_path: Path) -> None:
    async def use() -> list[int]:
        lock = threading.Lock()
        meeting = threading.Barrier(THREADS)
        running: list[int] = []
        counts: list[int] = []

        def meet() -> None:
            with lock:
                running.append(1)
                counts.append(len(running))
            meeting.wait(10)
            with lock:
                running.pop()

        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            await asyncio.gather(*(memory.runtime.run(meet) for _ in range(3 * THREADS)))
        return counts

    counts = asyncio.run(use())
    assert len(counts) == 3 * THREADS
    assert max(counts) <= THREADS


def test_closing_makes_the_calls_that_are_under_way(tmp_path: Path) -> None:
    async def use() -> list[int]:
        made: list[int] = []
        memory = AsyncMemory(str(tmp_path / "memory.db"), followers=False)
        await memory.open()
        calls = [asyncio.create_task(memory.runtime.run(made.append, number)) for number in range(3)]
        await asyncio.sleep(0)
        await memory.close()
        await asyncio.gather(*calls)
        return made

    assert sorted(asyncio.run(use())) == [0, 1, 2]


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

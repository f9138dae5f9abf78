"""Calls for which somebody waits go before those of views."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from recollect.follow.priority import LONGEST_YIELD, Callers


def test_a_view_waits_until_every_caller_is_served() -> None:
    async def use() -> list[str]:
        callers = Callers()
        done: list[str] = []

        async def follow() -> None:
            await callers.go_first()
            done.append("view")

        with callers:
            with callers:
                view = asyncio.create_task(follow())
                await asyncio.sleep(0)
            done.append("first caller")
            await asyncio.sleep(0)
            done.append("second caller")
        with callers:  # it goes on at once, as the steps of a turn do
            await asyncio.sleep(0)
            done.append("second caller again")
        await view
        assert callers.call_count == 3
        return done

    assert asyncio.run(use()) == ["first caller", "second caller", "second caller again", "view"]


def test_a_view_goes_on_at_once_if_nobody_calls_and_after_a_while_in_any_case() -> None:
    async def use() -> tuple[float, float]:
        callers = Callers()
        started_at = time.monotonic()
        await callers.go_first()
        free_at = time.monotonic()
        with callers:
            await callers.go_first()
        return free_at - started_at, time.monotonic() - free_at

    free_seconds, busy_seconds = asyncio.run(use())
    assert free_seconds < LONGEST_YIELD <= busy_seconds + 0.01


def test_a_view_waits_for_a_caller_in_another_thread_and_goes_on_when_it_is_served() -> None:
    async def use() -> list[str]:
        callers = Callers()
        called, go_on = threading.Event(), threading.Event()
        done: list[str] = []

        def call() -> None:
            called.set()
            go_on.wait(LONGEST_YIELD)
            done.append("caller")

        caller = threading.Thread(target=callers.call_here, args=(call,))
        caller.start()
        called.wait()
        assert callers.call_here(lambda: "a second caller") is None
        asyncio.get_running_loop().call_soon(go_on.set)
        await callers.go_first()
        done.append("view")
        caller.join()
        assert callers.call_here(lambda: "a later caller") == "a later caller"
        return done

    assert asyncio.run(use()) == ["caller", "view"]


def test_closing_waits_for_a_caller_in_another_thread_and_lets_no_other_begin() -> None:
    async def use() -> None:
        callers = Callers()
        called, go_on = threading.Event(), threading.Event()

        def call() -> None:
            called.set()
            go_on.wait()

        caller = threading.Thread(target=callers.call_here, args=(call,))
        caller.start()
        called.wait()
        closing = asyncio.create_task(callers.close())
        await asyncio.sleep(0)
        assert not closing.done()
        go_on.set()
        await closing
        caller.join()
        assert callers.call_here(lambda: "called") is None

    asyncio.run(use())


def test_a_call_that_is_interrupted_is_under_way_no_more() -> None:
    async def use() -> float:
        callers = Callers()

        def interrupt() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            callers.call_here(interrupt)
        started_at = time.monotonic()
        await callers.go_first()
        return time.monotonic() - started_at

    assert asyncio.run(use()) < LONGEST_YIELD

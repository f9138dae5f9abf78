"""Calls for which somebody waits go before those of views."""

from __future__ import annotations

import asyncio
import time

from everword.follow.store_calls import LONGEST_YIELD, Callers


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

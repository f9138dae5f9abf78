"""Titles are written when a conversation is whole: in parts they would say something else."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from fact_talks import NOW

from everword import AsyncMemory, Draft, NotSettled
from everword.follow.claiming import Lease, lags_within_room
from everword.follow.follower import ABANDONED, Follower, settle
from everword.ports import Lag
from everword.testing import FrozenClock
from everword.topics.view import AT_ONCE

SUBJECTS = (
    "The tomato seedlings need compost and a warmer greenhouse bed.",
    "The bicycle chain slips on the steep road to the harbour.",
    "Our choir rehearses the Faure requiem on Thursday evening.",
)


def drafts(count: int) -> list[Draft]:
    times = [NOW - timedelta(minutes=3 * (count - number)) for number in range(count)]
    return [Draft("user", SUBJECTS[number // 9 % 3], time=time) for number, time in enumerate(times)]


async def read_topics_in_part(memory: AsyncMemory) -> dict[str, Follower]:
    """Keep a conversation, and read a part of it for its topics."""
    await memory.conversation("long", user="alex").extend(drafts(AT_ONCE + 40))
    followers = memory.runtime.followers
    await settle([followers["index"]], 60, memory.runtime.calls)
    await followers["topics"].step(expects_work=True)
    return followers


def test_titles_wait_until_all_of_a_conversation_is_read(tmp_path: Path) -> None:
    async def run() -> tuple[int, int]:
        async with AsyncMemory(str(tmp_path / "a.db"), followers=False, clock=FrozenClock(NOW)) as memory:
            followers = await read_topics_in_part(memory)
            count_in_part = await followers["titles"].step(expects_work=True, whole=True)
            await followers["topics"].step(expects_work=True)
            return count_in_part, await followers["titles"].step(expects_work=True, whole=True)

    count_in_part, count = asyncio.run(run())
    assert count_in_part == 0
    assert count > 0


def test_who_settles_writes_titles_also_where_nobody_reads_the_rest(tmp_path: Path) -> None:
    """Topics are not settled here, and no other process reads on: after a while, what is there gets its titles."""

    async def run() -> tuple[int, int]:
        async with AsyncMemory(str(tmp_path / "a.db"), followers=False, clock=FrozenClock(NOW)) as memory:
            followers = await read_topics_in_part(memory)
            set_aside = await settle([followers["titles"]], 60, memory.runtime.calls)
            state = await memory.runtime.read(followers["titles"].state)
            return set_aside, state.behind

    assert asyncio.run(run()) == (0, 0)


def test_titles_wait_while_another_worker_holds_the_topics(tmp_path: Path) -> None:
    """Each would otherwise invalidate what the other has in memory of the topics, and read thousands of them again."""

    async def run() -> int:
        clock = FrozenClock(NOW)
        async with AsyncMemory(str(tmp_path / "a.db"), followers=False, clock=clock) as memory:
            followers = await read_topics_in_part(memory)
            other = Lease("topics", clock, timedelta(minutes=1))
            await memory.runtime.write(lambda tx: other.acquire(tx, [("default", "long")]))
            with pytest.raises(NotSettled):
                await settle([followers["topics"], followers["titles"]], ABANDONED + 0.3, memory.runtime.calls)
            return (await memory.runtime.read(followers["titles"].state)).behind

    assert asyncio.run(run()) == AT_ONCE


def test_a_view_that_reads_conversations_itself_leaves_some_to_others(tmp_path: Path) -> None:
    async def run() -> list[list[int]]:
        async with AsyncMemory(str(tmp_path / "a.db"), followers=False) as memory:
            titles, index = (memory.runtime.followers[name].view for name in ("titles", "index"))
            lags = [Lag("default", f"chat {number}", 0, 600) for number in range(20)]
            few_lags = [Lag("default", f"chat {number}", 599, 600) for number in range(20)]
            return [
                [len([*lags_within_room(view, some_lags, 256)]) for some_lags in (lags, few_lags)]
                for view in (titles, index)
            ]

    assert asyncio.run(run()) == [[4, 20], [1, 20]]

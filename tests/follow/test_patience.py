"""Memory work by a model waits in the background for more messages, and for nobody who settles (F5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory, Draft
from everword.follow.view import Patience
from everword.memory.runtime import FACT_TURNS, FIRST_TURNS
from everword.ports import Lag, Request
from everword.testing import FrozenClock, ScriptedLLM

QUIET = timedelta(minutes=3)


def nothing_found(request: Request) -> str:
    required = (request.schema or {})["required"]
    return json.dumps({"facts": []} if "facts" in required else dict.fromkeys(required, "The talk was about tea."))


def fact_calls(model: ScriptedLLM) -> list[str]:
    """What the model was shown of messages, in each call about facts."""
    return [
        request.messages[-1]["content"] for request in model.requests if "facts" in (request.schema or {})["required"]
    ]


def with_memory(
    tmp_path: Path, use: Callable[[AsyncMemory, ScriptedLLM, FrozenClock], Coroutine[Any, Any, None]], **settings: Any
) -> None:
    async def run() -> None:
        model = ScriptedLLM(default=nothing_found)
        clock = FrozenClock()
        address = str(tmp_path / "memory.db")
        async with AsyncMemory(address, memory=model, clock=clock, followers=False, **settings) as memory:
            await use(memory, model, clock)

    asyncio.run(run())


async def follow(memory: AsyncMemory) -> None:
    """Work as in the background of a process, once."""
    for follower in memory.runtime.followers.values():
        await follower.step(patient=True)


async def begin(memory: AsyncMemory, clock: FrozenClock, user: str = "alex") -> None:
    """Give a person as many messages, in another chat, as must be there before anything is read."""
    drafts = [Draft("user", f"Good morning, it is day {number}.") for number in range(FIRST_TURNS)]
    await memory.conversation("before", user=user).extend(drafts)
    await memory.settle()


async def exchange(memory: AsyncMemory, clock: FrozenClock, number: int) -> None:
    chat = memory.conversation("tea", user="alex")
    await chat.add("user", f"I bought tea number {number} at the shop near the harbour.")
    await chat.add("assistant", "How nice.")
    clock.advance(timedelta(seconds=20))
    await follow(memory)


@pytest.mark.checklist("F5")
def test_facts_are_read_when_many_messages_have_come_in_one_call(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await begin(memory, clock)
        model.requests.clear()
        for number in range(1, FACT_TURNS // 2):
            await exchange(memory, clock, number)
        assert fact_calls(model) == []
        await exchange(memory, clock, FACT_TURNS // 2)
        (shown,) = fact_calls(model)
        assert all(f"tea number {number} at" in shown for number in range(1, FACT_TURNS // 2 + 1))
        await follow(memory)
        assert len(fact_calls(model)) == 1

    with_memory(tmp_path, use)


@pytest.mark.checklist("F5")
def test_facts_are_read_when_the_chat_pauses(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await begin(memory, clock)
        model.requests.clear()
        for number in range(3):
            await exchange(memory, clock, number)
        assert fact_calls(model) == []
        clock.advance(QUIET)
        await follow(memory)
        assert len(fact_calls(model)) == 1

    with_memory(tmp_path, use)


@pytest.mark.checklist("F5")
def test_the_first_messages_of_a_person_wait_for_more(tmp_path: Path) -> None:
    """F5: a call would cost more than so short a chat."""

    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        for number in range(3):
            await exchange(memory, clock, number)
        clock.advance(QUIET)
        await follow(memory)
        assert model.requests == []
        drafts = [Draft("user", f"I bought cup number {number}.") for number in range(FIRST_TURNS - 6)]
        await memory.conversation("tea", user="alex").extend(drafts)
        await follow(memory)
        assert "tea number 0 at" in fact_calls(model)[0]

    with_memory(tmp_path, use)


def test_a_busy_chat_does_not_hold_up_one_that_pauses(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await begin(memory, clock, "kim")
        model.requests.clear()
        await memory.conversation("quiet", user="kim").add("user", "I keep bees on the roof of my house.")
        clock.advance(QUIET)
        await exchange(memory, clock, 1)
        (shown,) = fact_calls(model)
        assert "bees" in shown

    with_memory(tmp_path, use)


@pytest.mark.checklist("F16")
def test_nobody_who_settles_waits(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await exchange(memory, clock, 1)
        await memory.settle()
        assert len(fact_calls(model)) == 1
        assert all(view.behind == 0 for view in (await memory.stats()).views)

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_stats_say_until_when_the_models_work_waits(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await exchange(memory, clock, 1)
        waits = {view.view: view.waits for view in (await memory.stats()).views}
        assert waits["facts"] == (
            "when a conversation has 40 new messages or has been quiet for 180 seconds, "
            "and its person 60 messages in all"
        )
        assert waits["tiers"] == "when a conversation has 60 new messages"
        assert waits["index"] is None
        await memory.settle()
        assert {view.waits for view in (await memory.stats()).views} == {None}

    with_memory(tmp_path, use)


def test_with_no_seconds_nothing_waits(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: ScriptedLLM, clock: FrozenClock) -> None:
        await exchange(memory, clock, 1)
        assert len(fact_calls(model)) == 1

    with_memory(tmp_path, use, batch_seconds=0)


def test_without_a_model_rules_read_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            await memory.conversation("tea", user="alex").add("user", "My name is Alex.")
            await follow(memory)
            assert [fact.value for fact in await memory.facts(user="alex")] == ["Alex"]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("behind", "is_quiet", "enough"),
    [
        (40, False, True),
        (39, False, False),
        (20, True, True),
        (19, True, False),
    ],
)
def test_what_is_enough(behind: int, is_quiet: bool, enough: bool) -> None:
    patience = Patience(40, QUIET, 20)
    assert patience.is_enough(Lag("space", "chat", 100, 100 + behind), is_quiet) == enough

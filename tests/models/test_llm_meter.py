"""Every call is recorded once, however it ends; a ceiling stops before the model is asked."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from call_log import CallLog
from llm_client import request

from everword.errors import (
    InvalidInput,
    ModelBusy,
    ModelError,
    ModelNonsense,
    ModelRefused,
    ModelSpent,
    ModelTimeout,
    NoModel,
)
from everword.models.chat.roles import Ceiling, Cooldowns, MeteredLLM, ModelCall, Role
from everword.ports import LLM, Completion
from everword.testing.doubles import ScriptedLLM, count_words

QUESTION = request("Be kind.", "How are you?")
IN = 2 + 4 + 3 + 4  # words, and the frame of each message


def metered(model: LLM, calls: CallLog, task: str = "") -> MeteredLLM:
    """Between two looks at its clock passes a second."""
    ticks = itertools.count()
    return MeteredLLM(model, "chat", calls, task=task, count=count_words, clock=lambda: float(next(ticks)))


async def ask(model: LLM, streamed: bool) -> str:
    if not streamed:
        return (await model.complete(QUESTION)).text
    return "".join([piece async for piece in model.stream(QUESTION) if isinstance(piece, str)])


streamed = pytest.mark.parametrize("streamed", [False, True])


@streamed
def test_an_answer(streamed: bool) -> None:
    calls = CallLog()
    model = metered(ScriptedLLM([Completion("I am well.", "big-model", 40, 5)]), calls)
    assert asyncio.run(ask(model.for_task("tiers"), streamed)) == "I am well."
    assert calls == [ModelCall("chat", "tiers", "big-model", 40, 5, 1.0, "ok")]


@streamed
@pytest.mark.parametrize(
    ("error", "spent"),
    [
        (NoModel("none"), 0),
        (ModelRefused("no"), 0),
        (ModelBusy("busy"), 0),
        (ModelTimeout("late"), IN),
        (ModelNonsense("odd"), IN),
        (ZeroDivisionError("a bug"), IN),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_failure(error: ModelError, spent: int, streamed: bool) -> None:
    calls = CallLog()
    with pytest.raises(type(error)):
        asyncio.run(ask(metered(ScriptedLLM([error]), calls), streamed))
    assert calls == [ModelCall("chat", "", "scripted", spent, 0, 1.0, type(error).__name__)]


def test_what_was_said_before_a_failure_is_counted() -> None:
    calls = CallLog()
    with pytest.raises(ModelBusy):
        asyncio.run(ask(metered(ScriptedLLM([["I am ", "well", ModelBusy("dropped")]]), calls), True))
    assert calls == [ModelCall("chat", "", "scripted", IN, 3, 1.0, "ModelBusy")]


@streamed
def test_cancelling_is_recorded(streamed: bool) -> None:
    calls = CallLog()

    async def cancel() -> None:
        model = ScriptedLLM([["I am ", asyncio.Event()]])
        task = asyncio.create_task(ask(metered(model, calls), streamed))
        await model.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert calls == [ModelCall("chat", "", "scripted", IN, 2 if streamed else 0, 1.0, "cancelled")]


@pytest.mark.parametrize(("pieces", "outcome"), [(1, "cancelled"), (2, "ok")])
def test_letting_go_of_a_stream_is_recorded(pieces: int, outcome: str) -> None:
    calls = CallLog()

    async def let_go() -> None:
        stream: Any = metered(ScriptedLLM(["whole"]), calls).stream(QUESTION)
        for _ in range(pieces):
            await anext(stream)
        await stream.aclose()

    asyncio.run(let_go())
    assert [call.outcome for call in calls] == [outcome]


@streamed
def test_a_ceiling(streamed: bool) -> None:
    calls = CallLog([ModelCall("memory", "facts", "yes", 900, 99, 0.1, "ok")])

    async def story() -> None:
        model = ScriptedLLM(default="yes")
        ceiling: LLM = Ceiling(model, calls, 1000)
        assert await ask(ceiling, streamed) == "yes"
        calls.append(ModelCall("memory", "facts", "yes", 1, 0, 0.1, "ok"))
        with pytest.raises(
            ModelSpent, match="the 1,000 tokens that daily_tokens allows per day are used up; built-in rules"
        ):
            await ask(ceiling, streamed)
        assert len(model.requests) == 1
        assert ceiling.name == "scripted"
        await ceiling.close()
        assert model.closed

    asyncio.run(story())


@streamed
def test_a_role_counts_every_model_and_all_tasks_know_who_rests(streamed: bool) -> None:
    calls = CallLog()
    first = ScriptedLLM([ModelNonsense("odd")], default="first", name="first")
    second = ScriptedLLM(default="second", name="second")
    role = Role("memory", [first, second], calls, count=count_words, cooldowns=Cooldowns(30, lambda: 0.0))

    async def story() -> list[str]:
        told = [await ask(role.for_task(task), streamed) for task in ("facts", "tiers")]
        await role.close()
        return told

    assert asyncio.run(story()) == ["second", "second"]
    assert [(call.role, call.task, call.model, call.tokens_in, call.outcome) for call in calls] == [
        ("memory", "facts", "first", IN, "ModelNonsense"),
        ("memory", "facts", "second", 5, "ok"),
        ("memory", "tiers", "second", 5, "ok"),
    ]
    assert first.closed
    assert second.closed


def test_a_role_with_a_ceiling() -> None:
    calls = CallLog()

    async def story() -> None:
        role = Role("memory", [ScriptedLLM(default="yes")], calls, limit=10)
        for _ in range(2):
            await ask(role.for_task("facts"), False)
        with pytest.raises(ModelSpent, match="the 10 tokens that daily_tokens allows"):
            await ask(role.for_task("facts"), False)

    asyncio.run(story())
    assert [call.outcome for call in calls] == ["ok", "ok"]


def test_a_role_without_a_model() -> None:
    with pytest.raises(InvalidInput, match="models"):
        Role("memory", [], CallLog())

"""One model after the other: who is asked, who rests, and what is said when nobody answers."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from llm_client import request

from everword.errors import (
    InvalidInput,
    ModelBusy,
    ModelError,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
    NoModel,
)
from everword.models.chat.roles import Chain, Cooldowns, NoModelLLM
from everword.ports import LLM, Completion
from everword.testing.doubles import ScriptedLLM

FAILURES = [ModelTimeout("late"), ModelBusy("busy"), ModelNonsense("odd"), ModelRefused("no")]


class Watch:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


async def ask(model: LLM, streamed: bool) -> str:
    if not streamed:
        return (await model.complete(request())).text
    *pieces, answer = [piece async for piece in model.stream(request())]
    assert isinstance(answer, Completion)
    assert "".join(str(piece) for piece in pieces) == answer.text
    return answer.text


streamed = pytest.mark.parametrize("streamed", [False, True])


@streamed
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_the_next_is_asked(failure: ModelError, streamed: bool, caplog: pytest.LogCaptureFixture) -> None:
    first, second = ScriptedLLM([failure], name="first"), ScriptedLLM(["I am here."], chunk=2, name="second")
    with caplog.at_level(logging.WARNING, "everword.models.chat"):
        assert asyncio.run(ask(Chain([first, second]), streamed)) == "I am here."
    assert first.requests == second.requests == [request()]
    assert caplog.messages == [f"{failure}; asking the next model"]


@streamed
def test_a_model_that_failed_is_passed_over_for_a_while(streamed: bool) -> None:
    watch = Watch()
    first = ScriptedLLM([ModelBusy("busy")], default="first", name="first")
    second = ScriptedLLM(default="second", name="second")
    chain = Chain([first, second], Cooldowns(30, watch))

    async def story() -> list[str]:
        told = []
        for passed in (0.0, 29.0, 1.0, 0.0):
            watch.time += passed
            told.append(await ask(chain, streamed))
        return told

    assert asyncio.run(story()) == ["second", "second", "first", "first"]


@streamed
def test_a_model_that_rests_is_asked_when_nobody_else_answers(streamed: bool) -> None:
    first = ScriptedLLM([ModelBusy("busy"), "first again"], name="first")
    second = ScriptedLLM(["second", ModelTimeout("late")], name="second")
    chain = Chain([first, second], Cooldowns(30, Watch()))

    async def twice() -> list[str]:
        return [await ask(chain, streamed) for _ in range(2)]

    assert asyncio.run(twice()) == ["second", "first again"]


@streamed
def test_an_answer_ends_a_rest(streamed: bool) -> None:
    busy = ModelBusy("busy")
    one, two, three = ScriptedLLM([busy, busy]), ScriptedLLM([busy, "two", "two again"]), ScriptedLLM(["three", busy])
    chain = Chain([one, two, three], Cooldowns(30, Watch()))

    async def thrice() -> list[str]:
        return [await ask(chain, streamed) for _ in range(3)]

    assert asyncio.run(thrice()) == ["three", "two", "two again"]


@streamed
def test_when_all_fail_all_are_named(streamed: bool) -> None:
    models = [ScriptedLLM([ModelBusy("first is busy")]), ScriptedLLM([ModelTimeout("second is late")])]
    with pytest.raises(ModelTimeout, match="no model answered: first is busy; second is late") as caught:
        asyncio.run(ask(Chain(models), streamed))
    assert caught.value.__context__ is None


@streamed
def test_one_alone_speaks_for_itself(streamed: bool) -> None:
    with pytest.raises(ModelBusy, match=r"^busy$"):
        asyncio.run(ask(Chain([ScriptedLLM([ModelBusy("busy")])]), streamed))


@streamed
@pytest.mark.parametrize("other", [NoModel("none"), ZeroDivisionError("a bug")], ids=["NoModel", "bug"])
def test_other_errors_are_not_passed_over(other: Exception, streamed: bool) -> None:
    second = ScriptedLLM()
    with pytest.raises(type(other)):
        asyncio.run(ask(Chain([ScriptedLLM([other]), second]), streamed))
    assert not second.requests


def test_a_stream_that_has_begun_is_not_taken_over() -> None:
    first, second = ScriptedLLM([["Once ", ModelBusy("dropped")]]), ScriptedLLM(default="second")
    heard: list[Any] = []

    async def listen(chain: Chain) -> None:
        async for piece in chain.stream(request()):
            heard.append(piece)

    async def story() -> None:
        chain = Chain([first, second], Cooldowns(30, Watch()))
        with pytest.raises(ModelBusy, match="dropped"):
            await listen(chain)
        assert (await chain.complete(request())).text == "second", "the one that dropped rests"

    asyncio.run(story())
    assert heard == ["Once "]


@streamed
def test_cancelling_asks_nobody_else(streamed: bool) -> None:
    async def cancel() -> None:
        first, second = ScriptedLLM([[asyncio.Event()]]), ScriptedLLM()
        task = asyncio.create_task(ask(Chain([first, second]), streamed))
        await first.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not second.requests

    asyncio.run(cancel())


def test_letting_go_of_a_stream_closes_the_models_own() -> None:
    closed = []

    class Open(ScriptedLLM):
        async def stream(self, request: Any) -> Any:
            try:
                yield "first"
                await asyncio.Event().wait()
            finally:
                closed.append("model")

    async def let_go() -> None:
        pieces: Any = Chain([Open()]).stream(request())
        assert await anext(pieces) == "first"
        await pieces.aclose()
        assert closed == ["model"]

    asyncio.run(let_go())


def test_a_chain_is_a_model_and_closes_all() -> None:
    models = [ScriptedLLM(name="one"), ScriptedLLM(name="two")]
    chain: LLM = Chain(models)
    assert chain.name == "one, then two"
    asyncio.run(chain.close())
    assert all(model.closed for model in models)
    with pytest.raises(InvalidInput, match="models"):
        Chain([])


@streamed
def test_no_model_says_how_to_get_one(streamed: bool) -> None:
    model: LLM = NoModelLLM()
    with pytest.raises(NoModel, match=r"EVERWORD_CHAT_URL.*EVERWORD_CHAT_MODEL.*EVERWORD_CHAT_KEY.*--local"):
        asyncio.run(ask(model, streamed))
    assert model.name == "no model"
    asyncio.run(model.close())

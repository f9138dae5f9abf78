"""The double that programs are tested with keeps its word too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from llm_client import request

from everword.errors import ModelBusy
from everword.ports import LLM, Completion
from everword.testing.doubles import ScriptedLLM


def pieces(model: LLM) -> list[str | Completion]:
    async def listen() -> list[str | Completion]:
        return [piece async for piece in model.stream(request("one two"))]

    return asyncio.run(listen())


def text(model: LLM) -> str:
    return asyncio.run(model.complete(request("one two"))).text


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (None, ["abcdefg"]),
        (3, ["abc", "def", "g"]),
        (7, ["abcdefg"]),
        (100, ["abcdefg"]),
        ((1, 5), ["a", "bcde", "fg"]),
        ((5, 1), ["a", "bcde", "fg"]),
        ((), ["abcdefg"]),
        ((0, 7), ["abcdefg"]),
    ],
)
def test_a_text_is_cut_as_told(chunk: int | Sequence[int] | None, expected: list[str]) -> None:
    whole = Completion("abcdefg", "scripted", 2, 1)
    assert pieces(ScriptedLLM(["abcdefg"], chunk=chunk)) == [*expected, whole]
    assert text(ScriptedLLM(["abcdefg"], chunk=chunk)) == "abcdefg"


def test_replies_in_order_then_the_default() -> None:
    model = ScriptedLLM(
        ["first", ["sec", "ond"], lambda asked: asked.messages[0]["content"], Completion("fourth", "m", 1, 2, False)],
        default=lambda asked: f"{len(asked.messages)} messages",
    )
    assert [text(model) for _ in range(3)] == ["first", "second", "one two"]
    assert model.left == 1
    assert pieces(model) == ["fourth", Completion("fourth", "m", 1, 2, False)]
    assert [text(model) for _ in range(2)] == ["1 messages"] * 2
    assert model.left == 0
    assert model.requests == [request("one two")] * 6


def test_errors_are_raised_where_they_stand() -> None:
    model = ScriptedLLM([ModelBusy("first"), lambda _: ModelBusy("second"), ["said ", ModelBusy("third")]])
    for expected in ("first", "second", "third"):
        with pytest.raises(ModelBusy, match=expected):
            text(model)


def test_a_script_that_runs_out_fails_the_test() -> None:
    model = ScriptedLLM(["only"])
    text(model)
    with pytest.raises(AssertionError, match=r"has only 1 replies, but was asked again: 'one two'"):
        text(model)


def test_it_hangs_until_told() -> None:
    async def story() -> Completion:
        gate = asyncio.Event()
        model = ScriptedLLM([["before ", gate, "after"]])
        task = asyncio.create_task(model.complete(request()))
        await model.waiting.wait()
        assert not task.done()
        gate.set()
        return await task

    assert asyncio.run(story()).text == "before after"

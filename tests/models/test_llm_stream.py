"""Answers in pieces from a real loopback server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llm_client import current_loop, request, stream, with_model
from llm_server import (
    PATIENCE,
    Step,
    drops,
    endless,
    fails,
    falls_silent,
    sends,
    serving,
    stays_open,
    streams,
    unless,
)

from everword.errors import ModelBusy, ModelError, ModelNonsense, ModelTimeout
from everword.models.chat.openai import OpenAIModel
from everword.ports import Completion

pytest.importorskip("openai")

WORDS: dict[str, Any] = {"count": lambda text: len(text.split())}


def broken(kind: type[ModelError], *steps: Step, **options: Any) -> tuple[str, list[str | Completion]]:
    """The error's message, and what was heard before it."""
    heard: list[str | Completion] = []
    with serving(*steps) as service, pytest.raises(kind) as caught:
        stream(service, heard=heard, **{"retries": 0, **options})
    assert type(caught.value) is kind
    return str(caught.value), heard


def test_pieces_then_the_whole() -> None:
    with serving(streams("Hel", "lo, ", "Alex.")) as service:
        assert stream(service) == ["Hel", "lo, ", "Alex.", Completion("Hello, Alex.", "some-model", 11, 7)]
    assert service.requests[0]["stream"] is True
    assert service.requests[0]["stream_options"] == {"include_usage": True}


def test_pieces_come_while_the_model_still_talks() -> None:
    async def first(model: OpenAIModel) -> str | Completion:
        pieces = model.stream(request())
        piece = await anext(pieces)
        await pieces.aclose()  # type: ignore[attr-defined]
        return piece

    with serving(stays_open("first")) as service:
        assert with_model(service, first) == "first"
        assert service.hung_up.wait(PATIENCE)


def test_cancelling_closes_the_connection() -> None:
    async def cancel(model: OpenAIModel) -> bool:
        begun = asyncio.Event()

        async def listen() -> None:
            async for _ in model.stream(request()):
                begun.set()

        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(service.hung_up.wait, PATIENCE)

    with serving(stays_open("first")) as service:
        assert with_model(service, cancel)


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("complaint", ["stream_options is not permitted", "Bad Request"])
def test_a_server_that_does_not_count(status: int, complaint: str) -> None:
    plain = streams("two words", usage=None)

    async def twice(model: OpenAIModel) -> list[str | Completion]:
        return [piece for _ in range(2) async for piece in model.stream(request("one two three"))]

    with serving(unless(lambda asked: "stream_options" not in asked, complaint, plain, status)) as service:
        answer = ["two words", Completion("two words", "some-model", 3 + 4, 2)]
        assert with_model(service, twice, **WORDS) == answer * 2
    assert len(service.requests) == 3, "what it does not take is found out once"


def test_trouble_before_the_stream_is_tried_again() -> None:
    with serving(fails(503, headers={"Retry-After": "0"}), streams("ok then")) as service:
        assert stream(service)[0] == "ok then"


def test_a_drop_in_the_middle() -> None:
    message, heard = broken(ModelBusy, drops("Once ", "upon "))
    assert "broke off" in message
    assert heard == ["Once ", "upon "]


@pytest.mark.parametrize("step", [streams("Once ", finish=None, done=False), sends()])
def test_an_end_without_an_ending_is_a_drop(step: Step) -> None:
    assert "broke off" in broken(ModelBusy, step)[0]


@pytest.mark.parametrize(("finish", "done"), [("stop", False), (None, True)])
def test_either_ending_will_do(finish: str | None, done: bool) -> None:
    with serving(streams("All ", "of it", finish=finish, done=done)) as service:
        assert stream(service)[-1] == Completion("All of it", "some-model", 11, 7)


def test_a_cut_off_answer_says_so() -> None:
    with serving(streams("Once upon a", finish="length")) as service:
        assert stream(service)[-1] == Completion("Once upon a", "some-model", 11, 7, complete=False)


def test_silence_from_the_start() -> None:
    message, heard = broken(ModelTimeout, falls_silent)
    assert "no answer within 60 seconds" in message
    assert not heard


def test_silence_in_the_middle() -> None:
    async def listen(model: OpenAIModel) -> None:
        async for piece in model.stream(request()):
            heard.append(piece)
            if len(heard) == 2:
                # At once, but not before the model is listened to again.
                current_loop().call_soon(current_loop().skip)

    heard: list[str | Completion] = []
    with serving(stays_open("Once ", "upon ")) as service:
        with pytest.raises(ModelTimeout, match="no answer within 60 seconds"):
            with_model(service, listen)
        assert service.hung_up.wait(PATIENCE)
    assert heard == ["Once ", "upon "]


def test_talking_without_end() -> None:
    async def listen(model: OpenAIModel) -> None:
        async for _ in model.stream(request()):
            current_loop().skip(50)

    with serving(endless(b'data: {"choices": [{"delta": {"content": "la "}}]}\n\n')) as service:
        with pytest.raises(ModelTimeout, match="still talking after 600 seconds"):
            with_model(service, listen)
        assert service.hung_up.wait(PATIENCE)


@pytest.mark.parametrize("pieces", [(), ("",), (None, ""), (" ", "\n")])
def test_nothing_is_no_answer(pieces: tuple[object, ...]) -> None:
    assert "nothing" in broken(ModelNonsense, streams(*pieces))[0]


@pytest.mark.parametrize(
    "data",
    [
        b"<html>",
        b"caf\xe9",
        b'{"choices": [{"delta": {"content": "caf\xe9"}}]}',
        b"[]",
        b'{"choices": 1}',
        b'{"choices": [1]}',
        b'{"choices": [{"delta": 1}]}',
        b'{"choices": [{"delta": {"content": 1}}]}',
    ],
)
def test_what_is_not_a_piece(data: bytes) -> None:
    good = b'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\n'
    message, heard = broken(ModelNonsense, sends(good, b"data: " + data + b"\n\n"))
    assert "OpenAI-compatible" in message
    assert heard == ["Hi"]


def test_an_error_in_the_middle() -> None:
    event = b'data: {"error": {"code": 503, "message": "provider down"}}\n\n'
    message, heard = broken(ModelBusy, sends(b'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\n', event))
    assert "failed (HTTP 503)" in message
    assert "provider down" not in message
    assert heard == ["Hi"]


def test_too_much_text_is_not_read_to_its_end() -> None:
    piece = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % (b"x" * 50_000)
    heard: list[str | Completion] = []
    with serving(endless(piece)) as service:
        with pytest.raises(ModelNonsense, match="more than 1 MiB"):
            stream(service, heard=heard)
        assert service.hung_up.wait(PATIENCE)
    assert len(heard) == (1 << 20) // 50_000


def test_an_event_without_end_is_not_read_to_its_end() -> None:
    with serving(endless(b"data: " + b"x" * 65_536)) as service:
        with pytest.raises(ModelNonsense, match="event of more than 2 MiB"):
            stream(service)
        assert service.hung_up.wait(PATIENCE)


def test_a_character_cut_in_two_is_put_together() -> None:
    with serving(streams("a\ud83d", "\ude00b", "\ud83d")) as service:
        *pieces, answer = stream(service)
    assert pieces == ["a", "😀b"]
    assert isinstance(answer, Completion)
    assert answer.text == "a😀b�"

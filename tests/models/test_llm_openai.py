"""Whole answers from a real loopback server: good ones, strange ones, refusals, silence."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any

import pytest
from llm_client import KEY, Waits, complete, request, with_model
from llm_server import (
    PATIENCE,
    Step,
    drops,
    endless,
    fails,
    falls_silent,
    replies,
    says,
    serving,
    waits_for_the_end,
)

from everword.config import Secret
from everword.errors import (
    InvalidInput,
    MissingExtra,
    ModelBusy,
    ModelCutOff,
    ModelError,
    ModelNonsense,
    ModelRefused,
    ModelTimeout,
)
from everword.models.chat.openai import OpenAIModel, retry_after
from everword.ports import LLM, Completion

pytest.importorskip("openai")

MIB = 1 << 20


def refused(kind: type[ModelError], *steps: Step, **options: Any) -> str:
    with serving(*steps) as service, pytest.raises(kind) as caught:
        complete(service, **{"retries": 0, **options})
    assert type(caught.value) is kind
    assert str(caught.value).startswith("some-model at http://127.0.0.1:")
    return str(caught.value)


def test_an_answer_and_what_was_asked() -> None:
    with serving(says("Hello, Alex.")) as service:
        answer = complete(service, request("Be kind.", "hi", temperature=0.0, max_tokens=50))
    assert answer == Completion("Hello, Alex.", "some-model", 11, 7)
    assert service.paths == ["/v1/chat/completions"]
    assert service.keys == {f"Bearer {KEY}"}
    assert service.requests == [
        {
            "model": "some-model",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}],
            "stream": False,
            "temperature": 0.0,
            "max_tokens": 50,
        }
    ]


def test_a_secret_key_is_sent_in_plain() -> None:
    with serving(says("Hello.")) as service:
        complete(service, key=Secret(KEY))
    assert service.keys == {f"Bearer {KEY}"}


def test_half_a_surrogate_pair_is_neither_sent_nor_returned() -> None:
    with serving(says("one \ud83d two \ud83d\ude00")) as service:
        assert complete(service, request("a \udc00 b")).text == "one � two 😀"
    assert service.requests[0]["messages"][0]["content"] == "a ? b"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": "11", "completion_tokens": 7},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10**18, "completion_tokens": 7},
        {"prompt_tokens": True, "completion_tokens": 7},
        [11, 7],
    ],
)
def test_without_usable_usage_tokens_are_counted_here(usage: object) -> None:
    with serving(says("three words here", usage=usage)) as service:
        answer = complete(service, request("you there", "one two"), count=lambda text: len(text.split()))
    assert (answer.tokens_in, answer.tokens_out) == (2 + 4 + 2 + 4, 3)


def test_the_estimate_needs_no_tokenizer() -> None:
    with serving(says("12345678", usage=None)) as service:
        answer = complete(service, request("1234"))
    assert (answer.tokens_in, answer.tokens_out) == (5, 2)


@pytest.mark.parametrize(("finish", "complete_"), [("length", False), ("content_filter", False), (None, True)])
def test_a_cut_off_answer_says_so(finish: str | None, complete_: bool) -> None:
    with serving(says("Once upon a", finish=finish)) as service:
        assert complete(service).complete is complete_


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key(status: int) -> None:
    assert "check the key" in refused(ModelRefused, fails(status), says("never asked again"), retries=2)


def test_an_unknown_model_and_other_refusals() -> None:
    assert "check the model's name" in refused(ModelRefused, fails(404, "no such model"))
    assert "too long" not in refused(ModelRefused, fails(400, " too \n long "))
    assert "account" in refused(ModelRefused, fails(402))
    assert len(refused(ModelRefused, fails(413, "x" * 5000))) < 500


def test_a_redirect_is_not_followed() -> None:
    with serving(says("never asked")) as elsewhere:
        headers = {"Location": f"{elsewhere.url}/chat/completions"}
        for status in (301, 307, 308):
            assert "set the new address" in refused(ModelRefused, fails(status, headers=headers))
    assert not elsewhere.requests


def test_busy_then_an_answer() -> None:
    waits = Waits()
    with serving(fails(429, headers={"Retry-After": "3"}), fails(500), says("At last.")) as service:
        assert complete(service, sleep=waits).text == "At last."
    assert waits[0] == 3.0
    assert 0 < waits[1] <= 1.0
    assert len(service.requests) == 3


def test_a_server_that_always_fails() -> None:
    waits = Waits()
    with serving(fails(500, "out of memory")) as service, pytest.raises(ModelBusy, match=r"HTTP 500.*later"):
        complete(service, retries=3, sleep=waits)
    assert len(service.requests) == 4
    assert len(waits) == 3


def test_a_wait_that_is_too_long_is_not_begun() -> None:
    waits = Waits()
    message = refused(ModelBusy, fails(429, headers={"Retry-After": "3600"}), retries=2, sleep=waits)
    assert "wait 3600 seconds" in message
    assert not waits


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "-3"}, 0.0),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:07 GMT", "date": "Thu, 01 Jan 2026 12:00:00 GMT"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:00 GMT", "date": "Thu, 01 Jan 2026 12:00:07 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:07 GMT"}, None),
        ({"retry-after": "²"}, None),
    ],
)
def test_how_long_a_server_asks_us_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_nobody_there() -> None:
    with serving(says("gone by then")) as service:
        pass
    waits = Waits()
    with pytest.raises(ModelBusy, match=r"cannot be reached.*check the address"):
        complete(service, sleep=waits)
    assert len(waits) == 2


def test_silence_is_not_tried_again() -> None:
    with serving(falls_silent) as service, pytest.raises(ModelTimeout, match="no answer within 60 seconds"):
        complete(service, retries=5)
    assert len(service.requests) == 1


def test_silence_in_the_middle_of_an_answer() -> None:
    def half(exchange: Any) -> None:
        exchange.start("application/json")
        exchange.chunk(b'{"choices": [')
        falls_silent(exchange)

    assert "no answer" in refused(ModelTimeout, half)


def test_an_answer_that_breaks_off() -> None:
    assert "broke off" in refused(ModelBusy, drops())


@pytest.mark.parametrize("content", [None, "", " \n "])
def test_nothing_is_no_answer(content: str | None) -> None:
    assert "nothing" in refused(ModelNonsense, says(content))
    assert "more tokens" in refused(ModelCutOff, says(content, finish="length"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Welcome</html>",
        b'{"choices": [{"message": {"content": "caf\xe9"}}]}',
        b"[" * 100_000,
        b"[]",
        b"null",
        b"{}",
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "text"}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": {"content": ["a"]}}]}',
        b'{"choices": [{"message": {"content": {"text": "a"}}}]}',
    ],
)
def test_what_is_not_an_answer(body: bytes) -> None:
    assert "OpenAI-compatible" in refused(ModelNonsense, replies(body))


def test_an_answer_of_the_largest_size_and_one_above() -> None:
    with serving(says("é" * (MIB // 2))) as service:
        assert len(complete(service).text) == MIB // 2
    assert "more than 1 MiB" in refused(ModelNonsense, says("é" * (MIB // 2) + "x"))


def test_ten_megabytes() -> None:
    assert "more than" in refused(ModelNonsense, says("x" * 10_000_000))


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    with serving(endless(b" " * 65_536, "application/json")) as service:
        with pytest.raises(ModelNonsense, match="more than 8 MiB"):
            complete(service)
        assert service.hung_up.wait(PATIENCE)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 502, "message": "provider down"}, ModelBusy),
        ({"code": 429, "message": "provider down"}, ModelBusy),
        ({"code": 400, "message": "provider down"}, ModelRefused),
        ({"code": "odd", "message": "provider down"}, ModelBusy),
        ("provider down", ModelBusy),
    ],
)
def test_an_error_under_the_status_of_success(error: object, kind: type[ModelError]) -> None:
    assert "provider down" not in refused(kind, replies(json.dumps({"error": error}).encode()))


def test_cancelling_closes_the_connection() -> None:
    async def cancel(model: OpenAIModel) -> bool:
        task = asyncio.create_task(model.complete(request()))
        await asyncio.to_thread(asked.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(service.hung_up.wait, PATIENCE)

    asked = threading.Event()

    def step(exchange: Any) -> None:
        asked.set()
        waits_for_the_end(exchange)

    with serving(step) as service:
        assert with_model(service, cancel)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080/v1",
        "ftp://host/v1",
        "http://host:port/v1",
        "http://ho st/v1",
        "http://host\n/v1",
        "http://user:password@host/v1",
        "http://host/v1?key=secret",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret(url: str) -> None:
    with pytest.raises(InvalidInput, match="base_url") as caught:
        OpenAIModel(url, KEY, "some-model")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"model": ""}, {"timeout": 0}, {"retries": -1}, {"key": "with space"}, {"key": "schlüssel"}]
)
def test_other_wrong_arguments(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIModel(**{"base_url": "http://host/v1", "key": KEY, "model": "some-model", **wrong})
    assert str(wrong.get("key", "no key")) not in str(caught.value)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"a chat model needs.*everword\[openai\]"):
        OpenAIModel("http://host/v1", KEY, "some-model")


def test_it_is_a_model_and_says_where() -> None:
    model: LLM = OpenAIModel("http://host/v1", "", "some-model")
    assert model.name == "some-model at http://host/v1"
    asyncio.run(model.close())

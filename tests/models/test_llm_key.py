"""The key is nowhere: in no message, no repr, no error hung on another, no log, even when the server repeats it."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable

import pytest
from llm_client import KEY, Waits, complete, stream
from llm_server import Exchange, Step, drops, fails, falls_silent, replies, says, sends, serving

from everword.errors import ModelError
from everword.models.chat.answers import Trouble
from everword.models.chat.openai import OpenAIModel

pytest.importorskip("openai")

ECHO = f"the key {KEY} ({KEY[:9]}…, {KEY.upper()}) is not good"
ERROR = json.dumps({"error": {"message": ECHO, "code": 500}}).encode()


def closes(exchange: Exchange) -> None:
    exchange.close_connection = True


STEPS: dict[str, Step] = {
    **{str(status): fails(status, ECHO) for status in (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503)},
    "not JSON": lambda exchange: exchange.send(500, ECHO.encode()),
    "redirect": lambda exchange: exchange.send(302, b"", {"Location": "http://127.0.0.1:9/"}),
    "error in 200": replies(ERROR),
    "error in a stream": sends(b"data: " + ERROR + b"\n\n"),
    "nonsense": replies(ECHO.encode()),
    "nonsense in a stream": sends(b"data: " + ECHO.encode() + b"\n\n"),
    "wrong type": says([ECHO]),
    "silence": falls_silent,
    "closed": closes,
    "dropped": drops(),
}


@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_key_is_in_no_error_and_no_log(
    step: Step, ask: Callable[..., object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(step) as service, pytest.raises(ModelError) as caught:
        ask(service, retries=1, sleep=Waits())
    assert service.keys == {f"Bearer {KEY}"}
    error: BaseException | None = caught.value
    assert error is not None
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join([str(error), repr(error), *traceback.format_exception(error), caplog.text])
    assert KEY[:9] not in shown
    assert KEY.upper() not in shown


@pytest.mark.parametrize("name", ["401", "500", "closed", "dropped"])
def test_the_key_is_in_no_variable_of_a_failed_call(name: str) -> None:
    """Some error reporters show the local variables of every frame."""
    with serving(STEPS[name]) as service, pytest.raises(ModelError) as caught:
        complete(service, retries=0)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    ours = [f"{frame.locals}" for frame in frames if frame.filename.endswith("everword/models/chat/openai.py")]
    assert ours
    assert KEY[:9] not in "".join(ours)


def test_the_key_is_in_no_repr() -> None:
    model = OpenAIModel("http://127.0.0.1:1/v1", KEY, "some-model")
    assert repr(model) == "OpenAIModel('http://127.0.0.1:1/v1', model='some-model')"
    assert KEY not in repr(vars(model))


@pytest.mark.parametrize(
    ("key", "said", "logged"),
    [
        ("", "no luck", True),
        (KEY, "no luck", True),
        (KEY, f"with {KEY}", False),
        (KEY, f"with {KEY[3:11]} in it", False),
        (KEY, f"with {KEY[-8:]}", False),
        (KEY, f"{'x' * 195} {KEY}", False),
        ("abc", "the abc of it", False),
        ("abc", "the ABC of it", False),
        ("abc", "the bc of it", True),
        ("", "you asked: how do I leave my husband", False),
    ],
)
def test_a_servers_words_are_in_the_log_alone_and_without_key_and_request(
    key: str, said: str, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    trouble = Trouble("some-model", key).about([{"role": "user", "content": "How do I? how do I leave my husband"}])
    error = trouble.error_in_answer({"message": said})
    assert said not in str(error)
    assert error.refusal is not None
    assert error.refusal.id in str(error)
    assert error.refusal.id in caplog.text
    assert (said in caplog.text) is logged


@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 503])
def test_the_error_has_an_id_that_finds_the_servers_words_in_the_log(
    status: int, ask: Callable[..., object], caplog: pytest.LogCaptureFixture
) -> None:
    words = "org-4411 on gpu7.internal is over its limit"
    with serving(fails(status, words)) as service, pytest.raises(ModelError) as caught:
        ask(service, retries=1, sleep=Waits())
    refusal = caught.value.refusal
    assert refusal is not None
    assert "org-4411" not in f"{caught.value!r}{refusal}"
    [line] = [record.getMessage() for record in caplog.records if record.name == "everword.models.chat"]
    assert f"id {refusal.id}, saying: " in line
    assert words in line


def test_half_a_character_in_a_servers_words_is_logged_as_an_escape(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble("some-model")
    error = {"message": "the quota \ud83d is used up"}
    trouble.log_words(trouble.refusal(429, error), error)
    assert r"the quota \ud83d is used up" in caplog.text
    assert caplog.text.encode()


def test_a_request_that_is_too_long_keeps_the_code_that_clients_know() -> None:
    body = {"message": "maximum context length is 8192 tokens for org-4411", "code": "x", "param": "org-4411"}
    refusal = Trouble("some-model").refusal(400, body).refusal
    assert refusal is not None
    assert (refusal.code, refusal.param) == ("context_length_exceeded", None)
    assert "too long for the model" in refusal.message

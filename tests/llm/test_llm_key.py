"""The key is nowhere: in no message, no repr, no error hung on another, no log, even when the server repeats it."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from llm_client import KEY, Waits, complete, stream
from llm_server import Exchange, Step, drops, fails, falls_silent, replies, says, sends, serving

from recollect.errors import ModelError
from recollect.llm.openai import OpenAIModel
from recollect.llm.trouble import Trouble

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
    ours = [f"{frame.locals}" for frame in frames if frame.filename.endswith("recollect/llm/openai.py")]
    assert ours
    assert KEY[:9] not in "".join(ours)


def test_the_key_is_in_no_repr() -> None:
    model = OpenAIModel("http://127.0.0.1:1/v1", KEY, "some-model")
    assert repr(model) == "OpenAIModel('http://127.0.0.1:1/v1', model='some-model')"
    assert KEY not in repr(vars(model))


@pytest.mark.parametrize(
    ("key", "said", "quoted"),
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
    ],
)
def test_a_server_is_quoted_only_without_the_key(key: str, said: str, quoted: bool) -> None:
    trouble: Any = Trouble("some-model", key)
    assert bool(trouble.quote(said)) is quoted

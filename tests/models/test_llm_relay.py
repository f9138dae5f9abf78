"""Requests in OpenAI's own words: passed on as they are, by the model that is meant, counted, and believed no further
than they can be read."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from call_log import CallLog
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import delta, fails, says, sends, serving, streams
from sample_sizes import sample

from everword.errors import ModelError, ModelNonsense, ModelRefused
from everword.models.chat.answers import RelayReader, Trouble
from everword.models.chat.openai import OpenAIModel
from everword.models.chat.roles import NoModelLLM, Role
from everword.openai.messages import calls_metadata
from everword.openai.stream import CompleteReply, ReplyStream, sum_usages
from everword.ports import LLM
from everword.testing.doubles import ScriptedLLM

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi?"}]}
FRAME = {"id": "1", "created": 1, "model": "model-x"}


async def relayed(models: list[LLM], name: str, calls: CallLog, **more: Any) -> list[dict[str, Any]]:
    role = Role("chat", models, calls)
    try:
        return [chunk async for chunk in role.relay("reply", name).relay({**ASK, **more})]
    finally:
        await role.close()


def model(url: str, name: str) -> OpenAIModel:
    return OpenAIModel(url, "sk-secret", name, timeout=120)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("name", "asked"), [("", "x"), ("everword", "x"), ("y", "y"), ("z-17", "z-17")])
def test_the_model_that_is_meant_is_asked_and_counted(stream: bool, name: str, asked: str) -> None:
    calls = CallLog()
    with serving(streams("Hi", ".") if stream else says("Hi.")) as service:
        models: list[LLM] = [model(service.url, "x"), model(service.url, "y")]
        chunks = asyncio.run(relayed(models, name, calls, stream=stream, top_k=3))
    assert service.requests[-1]["model"] == asked
    assert service.requests[-1]["top_k"] == 3
    assert {chunk["model"] for chunk in chunks} == {asked}
    [call] = calls
    assert (call.role, call.task, call.model, call.outcome) == ("chat", "reply", asked, "ok")
    assert (call.tokens_in, call.tokens_out) == (11, 7)


def test_the_next_model_takes_over_unless_a_word_was_said_and_nothing_is_tried_twice() -> None:
    calls = CallLog()
    broken = sends(b"data: " + json.dumps(delta("Hi")).encode() + b"\n\n", b"data: {\n\n")
    with serving(fails(500), broken) as first, serving(says("Hi."), streams("Hi.")) as second:
        [answer] = asyncio.run(relayed([model(first.url, "x"), model(second.url, "y")], "", calls))
        assert answer["choices"][0]["message"]["content"] == "Hi."
        with pytest.raises(ModelNonsense):
            asyncio.run(relayed([model(first.url, "x"), model(second.url, "y")], "", calls, stream=True))
    assert (len(first.requests), len(second.requests)) == (2, 1)
    assert [call.outcome for call in calls] == ["ModelBusy", "ok", "ModelNonsense"]
    assert (calls[0].tokens_in, calls[0].model) == (0, f"x at {first.url}"), "a name that nobody accepted is no label"


def test_what_one_client_asks_wrongly_does_not_send_the_model_to_rest_for_others() -> None:
    async def ask(role: Role, **more: Any) -> str:
        [answer] = [chunk async for chunk in role.relay("reply", "").relay({**ASK, **more})]
        return str(answer["model"])

    async def run(first: str, second: str) -> list[str]:
        role = Role("chat", [model(first, "x"), model(second, "y")], CallLog())
        try:
            return [await ask(role, temperature=99), await ask(role), await ask(role), await ask(role)]
        finally:
            await role.close()

    with serving(fails(400), says("Hi."), fails(429), says("Hi.")) as first, serving(says("Hi.")) as second:
        assert asyncio.run(run(first.url, second.url)) == ["y", "x", "y", "y"], "a model that is busy rests"


def test_a_name_that_is_not_ours_falls_over_to_nobody() -> None:
    with serving(fails(404, "no such model")) as first, serving(says("Hi.")) as second:
        models: list[LLM] = [model(first.url, "x"), model(second.url, "y")]
        with pytest.raises(ModelRefused) as raised:
            asyncio.run(relayed(models, "z", CallLog()))
    assert not second.requests
    refusal = raised.value.refusal
    assert refusal is not None
    assert (refusal.status, refusal.kind) == (404, None)
    assert refusal.message.startswith("the model's server knows no such model or path (HTTP 404)")


def test_names_are_those_of_models_that_are_there() -> None:
    role = Role("chat", [model("http://127.0.0.1:9/v1", "x"), ScriptedLLM()], CallLog())
    assert role.names == ("x", "scripted")
    asyncio.run(role.close())
    assert Role("chat", [NoModelLLM()], CallLog()).names == ()


def test_half_a_character_waits_for_its_other_half() -> None:
    relay = RelayReader(Trouble("model-x"))
    said = [relay.read_event(json.dumps(delta(text))) for text in ("a\ud83d", "\ude00b\x00", "\ud83d", "c")]
    assert [one["choices"][0]["delta"]["content"] for one in said] == ["a", "😀b", "", "\ufffdc"]


# -- whatever a server sends

KEYS = ["index", "content", "tool_calls", "function", "arguments", "name", "id", "role", "text", "code", "message"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-9, 9) | st.text("ab<[\ud83d\x00", max_size=4),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inside, max_size=4),
    max_leaves=8,
)
SAID = JSON | st.fixed_dictionaries(
    {},
    optional={
        "content": JSON | st.just("x"),
        "tool_calls": st.lists(JSON, max_size=2),
        "function_call": JSON,
        "refusal": JSON,
        "audio": JSON | st.fixed_dictionaries({}, optional={"id": JSON, "transcript": JSON}),
    },
)
CHOICE = st.fixed_dictionaries({}, optional={"index": JSON, "delta": SAID, "message": SAID, "finish_reason": JSON})
REPLY = st.fixed_dictionaries(
    {}, optional={"choices": JSON | st.lists(CHOICE, max_size=3), "usage": JSON, "error": JSON, "id": JSON}
)


@settings(max_examples=sample(60))
@given(st.lists(REPLY, min_size=1, max_size=3))
def test_whatever_a_server_sends_is_an_answer_or_a_model_error(replies: list[dict[str, Any]]) -> None:
    relay, passing = RelayReader(Trouble("model-x")), ReplyStream(FRAME)
    with suppress(ModelError):
        for reply in replies:
            passing.feed(relay.read_event(json.dumps(reply)))
        passing.finish()
        json.dumps(
            [
                *passing.last_chunks(),
                passing.usage_chunk(sum_usages([one for one in passing.usages if isinstance(one, dict)])),
            ]
        )
        json.dumps(calls_metadata(list(passing.first.calls.values())))
    with suppress(ModelError):
        answer = CompleteReply(RelayReader(Trouble("model-x")).read_body(json.dumps(replies[0]).encode()))
        json.dumps(answer.build_reply(FRAME, {}))

"""What servers take differs: it is found out by asking, and remembered."""

from __future__ import annotations

from typing import Any

import pytest
from llm_client import complete, request, stream, with_model
from llm_server import Step, fails, says, serving, streams, unless

from everword.errors import ModelRefused
from everword.model import ChatMessage
from everword.models.chat.openai import Form, OpenAIModel, is_strict, schema_instruction
from everword.ports import Request

pytest.importorskip("openai")

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
ANSWER = '{"name": "Alex"}'
QUESTION = request("Be kind.", "Be brief.", "Who?", schema=SCHEMA, temperature=0.0)


def takes(*shapes: str | None, then: Step | None = None, status: int = 400) -> Step:
    """A server that takes only these kinds of `response_format`."""

    def understood(asked: dict[str, Any]) -> bool:
        return asked.get("response_format", {}).get("type") in shapes

    return unless(understood, "response_format is not supported", then or says(ANSWER), status)


def ask_twice(*steps: Step) -> list[dict[str, Any]]:
    """What was sent for two questions, both of which were answered."""

    async def twice(model: OpenAIModel) -> list[str]:
        return [(await model.complete(QUESTION)).text for _ in range(2)]

    with serving(*steps) as service:
        assert with_model(service, twice) == [ANSWER, ANSWER]
    return service.requests


def test_a_server_that_takes_the_schema() -> None:
    first, _ = ask_twice(takes("json_schema"))
    assert first["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }
    assert [message["content"] for message in first["messages"]] == ["Be kind.", "Be brief.", "Who?"]


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_server_that_only_promises_json(status: int) -> None:
    _, second, third = ask_twice(takes("json_object", status=status))
    assert second == third, "what it takes is remembered"
    assert second["response_format"] == {"type": "json_object"}
    assert second["messages"][1]["content"] == f"Be brief.\n\n{schema_instruction(SCHEMA)}"


def test_a_server_that_promises_nothing_is_asked_in_words() -> None:
    _, _, third, fourth = ask_twice(takes(None))
    assert third == fourth
    assert "response_format" not in third
    assert [m["content"] for m in third["messages"]] == [
        "Be kind.",
        f"Be brief.\n\n{schema_instruction(SCHEMA)}",
        "Who?",
    ]


def test_without_a_system_message_the_words_become_one() -> None:
    with serving(takes(None)) as service:
        complete(service, request("Who?", schema=SCHEMA))
    assert service.requests[-1]["messages"] == [
        {"role": "system", "content": schema_instruction(SCHEMA)},
        {"role": "user", "content": "Who?"},
    ]


def test_a_stream_learns_both() -> None:
    then = unless(lambda asked: "stream_options" not in asked, "include_usage: unknown", streams(ANSWER, usage=None))
    with serving(takes("json_object", then=then)) as service:
        assert stream(service, QUESTION)[0] == ANSWER
    assert service.requests[-1]["response_format"] == {"type": "json_object"}
    assert len(service.requests) == 3


def test_new_names_and_values_are_learnt() -> None:
    def new(asked: dict[str, Any]) -> bool:
        return "max_tokens" not in asked

    def fixed(asked: dict[str, Any]) -> bool:
        return "temperature" not in asked

    temperature = unless(fixed, "Unsupported value: 'temperature' does not support 0", says("Hello."))
    step = unless(new, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", temperature)
    with serving(step) as service:
        assert complete(service, request("hi", temperature=0.0, max_tokens=9)).text == "Hello."
    last = service.requests[-1]
    assert last["max_completion_tokens"] == 9
    assert "temperature" not in last
    assert len(service.requests) == 3


def test_a_refusal_for_another_reason_is_not_remembered() -> None:
    async def use(model: OpenAIModel) -> None:
        with pytest.raises(ModelRefused, match="HTTP 400"):
            await model.complete(QUESTION)
        await model.complete(QUESTION)

    with serving(*[fails(400, "too long")] * 3, says(ANSWER)) as service:
        with_model(service, use)
    assert [asked.get("response_format", {}).get("type") for asked in service.requests] == [
        "json_schema",
        "json_object",
        None,
        "json_schema",
    ]


@pytest.mark.parametrize("status", [401, 429, 500])
def test_other_refusals_are_not_about_the_form(status: int) -> None:
    with serving(fails(status)) as service, pytest.raises(Exception, match="some-model"):
        complete(service, QUESTION, retries=0)
    assert len(service.requests) == 1


def test_a_plain_question_is_not_asked_twice() -> None:
    with serving(fails(400)) as service, pytest.raises(ModelRefused):
        complete(service)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        (SCHEMA, True),
        ({**SCHEMA, "required": []}, False),
        ({**SCHEMA, "additionalProperties": True}, False),
        ({"type": "object", "properties": {}}, False),
        ({**SCHEMA, "properties": {"name": {"type": "array", "items": SCHEMA}}}, True),
        ({**SCHEMA, "properties": {"name": {"type": "array", "items": {"type": "object"}}}}, False),
        ({**SCHEMA, "properties": {"name": {"anyOf": [{"type": "object"}, {"type": "null"}]}}}, False),
        ({**SCHEMA, "properties": {"name": {"enum": ["object", 1]}}}, True),
    ],
)
def test_only_closed_schemas_are_strict(schema: dict[str, Any], closed: bool) -> None:
    assert is_strict(schema) is closed


TURN = Request(
    [
        ChatMessage(role="system", content="Be kind."),
        ChatMessage(role="user", content="hi"),
        ChatMessage(role="assistant", content="Hello."),
        ChatMessage(role="system", content="Today is Monday."),
        ChatMessage(role="user", content="Which day?"),
    ],
    cache_key="a1b2",
)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "System message must be at the beginning."),
        (500, "jinja: Conversation roles must alternate user/assistant"),
    ],
)
def test_a_server_that_takes_a_system_message_only_first(status: int, words: str) -> None:
    """Then it is the beginning of the message after it, from the second attempt on."""

    def understood(asked: dict[str, Any]) -> bool:
        return all(message["role"] != "system" for message in asked["messages"][1:])

    async def twice(model: OpenAIModel) -> list[str]:
        return [(await model.complete(TURN)).text for _ in range(2)]

    with serving(unless(understood, words, says("Monday."), status)) as service:
        assert with_model(service, twice, retries=0) == ["Monday.", "Monday."]
    first, second, third = service.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant", "system", "user"]
    assert second == third, "it is remembered"
    assert second["messages"][-1] == {"role": "user", "content": "Today is Monday.\n\nWhich day?"}


def test_hints_for_a_cache_of_prompts_go_only_where_they_are_taken() -> None:
    """OpenAI's servers take a key, Anthropic's models marks on what stays; others get neither."""
    form = Form()
    assert form.body("gpt", TURN, False, "api.openai.com")["prompt_cache_key"] == "a1b2"
    plain = form.body("local", TURN, False, "127.0.0.1")
    assert "prompt_cache_key" not in plain
    assert plain["messages"] == TURN.messages
    marked = form.body("anthropic/claude-sonnet", TURN, False, "openrouter.ai")["messages"]
    mark = {"cache_control": {"type": "ephemeral"}}
    assert marked[0] == {"role": "system", "content": [{"type": "text", "text": "Be kind.", **mark}]}
    assert marked[2]["content"] == [{"type": "text", "text": "Hello.", **mark}]
    assert [marked[place] for place in (1, 3, 4)] == [TURN.messages[place] for place in (1, 3, 4)]
    refused = form.simpler_form(TURN, False, 400, "unknown field cache_control")
    assert refused is not None
    assert refused.body("anthropic/claude-sonnet", TURN, False, "openrouter.ai")["messages"] == TURN.messages

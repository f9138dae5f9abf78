"""OpenAI's Responses API and Anthropic's Messages API with their own clients over real sockets: translated to a model's
server of chat completions, and forwarded to one that speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llm_server import Exchange, Step, drops, fails, unless
from model_server import anthropic_events, responses_events
from openai_doubles import BLOCK, World, answers, user, world_of

WEATHER = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"location": "Paris"}'}}
PIXEL = "iVBORw0KGgo="


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(str(tmp_path_factory.mktemp("foreign") / "a.db")) as world:
        yield world


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Before a model's server that speaks both APIs itself."""
    with world_of(str(tmp_path_factory.mktemp("native") / "a.db"), chat_apis="responses,messages") as world:
        yield world


def claude(world: World) -> anthropic.Anthropic:
    """Anthropic's client of the world's user."""
    headers = {"X-Everword-User": world.user}
    url = f"{world.server.url}/anthropic"
    return anthropic.Anthropic(
        base_url=url, api_key="none", max_retries=0, default_headers=headers, http_client=world.wires
    )


def calls(exchange: Exchange) -> None:
    """A call of a tool, whole or streamed."""
    if not exchange.service.requests[-1].get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}
        exchange.send(200, json.dumps({"choices": [{**choice, "finish_reason": "tool_calls"}]}).encode())
        return
    exchange.start()
    function: Any = CALL["function"]
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    pieces = [
        first,
        *(
            {"index": 0, "function": {"arguments": part}}
            for part in (function["arguments"][:9], function["arguments"][9:])
        ),
    ]
    for piece in pieces:
        exchange.event({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]})
    exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    exchange.chunk(b"data: [DONE]\n\n")
    exchange.chunk(b"")


def thinks(exchange: Exchange) -> None:
    """Thoughts, then an answer, whole or streamed."""
    if not exchange.service.requests[-1].get("stream"):
        message = {"role": "assistant", "content": "Four.", "reasoning_content": "Two and two."}
        exchange.send(
            200, json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        )
        return
    exchange.start()
    for delta in ({"reasoning_content": "Two and "}, {"reasoning_content": "two."}, {"content": "Four."}):
        exchange.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    exchange.chunk(b"data: [DONE]\n\n")
    exchange.chunk(b"")


# -- the providers' own examples


@pytest.mark.checklist("G20")
def test_a_response_is_created_and_gone_on_with(world: World) -> None:
    client = world.anew(answers(f"Arr, use isinstance.{BLOCK}"), answers("Utrecht."), answers("Delft."))
    first = client.responses.create(
        model="model-x",
        instructions="You are a coding assistant that talks like a pirate.",
        input="I live in Utrecht. How do I check if a Python object is an instance of a class?",
    )
    assert first.output_text == "Arr, use isinstance."
    assert (first.status, first.usage.input_tokens, first.usage.output_tokens) == ("completed", 11, 7)
    second = client.responses.create(model="model-x", input="Where do I live?", previous_response_id=first.id)
    assert second.output_text == "Utrecht."
    assert second.previous_response_id == first.id
    said = [(message["role"], message["content"]) for message in world.sent if message["role"] != "system"]
    assert said == [
        ("user", "I live in Utrecht. How do I check if a Python object is an instance of a class?"),
        ("assistant", "Arr, use isinstance."),
        ("user", "Where do I live?"),
    ]
    other = client.responses.create(model="model-x", input="Where did I live?", previous_response_id=first.id)
    assert other.output_text == "Delft."
    trunk, branch = world.said()
    assert [text for _, text in trunk[-2:]] == ["Where do I live?", "Utrecht."]
    assert [text for _, text in branch] == ["Where did I live?", "Delft."]
    assert client.responses.retrieve(other.id).output_text == "Delft."


def test_a_response_asked_for_again_can_be_gone_on_with(world: World) -> None:
    client = world.anew(answers("Hello."), answers("Hello."), answers("Bye."))
    ids = [client.responses.create(model="model-x", input="Hi, it is me.").id for _ in range(2)]
    client.responses.create(model="model-x", input="I am off.", previous_response_id=ids[1])
    assert [text for _, text in world.said()[0]] == ["Hi, it is me.", "Hello.", "I am off.", "Bye."]


def test_a_response_is_streamed_with_the_documented_events(world: World) -> None:
    client = world.anew(answers(f"double |bubble{BLOCK}"))
    stream = client.responses.create(
        model="model-x", input=[user("Say 'double bubble bath' ten times fast.")], stream=True
    )
    events = list(stream)
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(10))
    assert events[-1].response.output_text == "double bubble"
    assert events[-1].response.id == events[0].response.id
    assert world.said() == [[("user", "Say 'double bubble bath' ten times fast."), ("assistant", "double bubble")]]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_response_calls_tools(world: World, stream: bool) -> None:
    client = world.anew(calls, answers("It is 14 degrees."))
    tools: Any = [{"type": "function", "name": "get_weather", "description": "Get it.", "parameters": WEATHER}]
    asked: list[Any] = [user("What is the weather like in Paris today?")]
    with client.responses.stream(model="model-x", input=asked, tools=tools) as opened:
        kinds = [event.type for event in opened]
        response = opened.get_final_response()
    assert "response.function_call_arguments.done" in kinds
    [call] = response.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "get_weather", {"location": "Paris"})
    assert world.service.requests[-1]["tools"] == [
        {"type": "function", "function": {"name": "get_weather", "description": "Get it.", "parameters": WEATHER}}
    ]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "14"}
    if stream:  # by the id alone
        more = {"input": [result], "previous_response_id": response.id}
    else:  # with the whole history
        more = {"input": [*asked, call.model_dump(exclude_none=True), result]}
    answer = client.responses.create(model="model-x", tools=tools, **more)
    assert answer.output_text == "It is 14 degrees."
    assert [message["role"] for message in world.sent if message["role"] != "system"] == ["user", "assistant", "tool"]
    [conversation] = world.said()
    assert [role for role, _ in conversation] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.checklist("G20")
def test_a_message_is_created_and_remembered(world: World, stream: bool) -> None:
    world.anew(answers(f"Hello, |Claude fan!{BLOCK}"), answers("In Utrecht."))
    client = claude(world)
    asked: Any = [user("Hello, I live in Utrecht")]
    if stream:
        with client.messages.stream(model="model-x", max_tokens=1024, messages=asked) as opened:
            assert "".join(opened.text_stream) == "Hello, Claude fan!"
            message = opened.get_final_message()
    else:
        message = client.messages.create(model="model-x", max_tokens=1024, messages=asked)
    assert [block.text for block in message.content if block.type == "text"] == ["Hello, Claude fan!"]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 7)
    assert world.service.requests[-1]["max_completion_tokens"] == 1024
    world.server.run(world.server.memory.settle())
    client.messages.create(model="model-x", max_tokens=9, system="Be brief.", messages=[user("Where do I live?")])
    assert "I live in Utrecht" in json.dumps(world.sent)
    assert "Be brief." in world.sent[0]["content"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.checklist("G20")
def test_a_message_uses_tools_and_sees_pictures(world: World, stream: bool) -> None:
    world.anew(calls, answers("It is 14 degrees."))
    client = claude(world)
    tools: Any = [{"name": "get_weather", "description": "Get it.", "input_schema": WEATHER}]
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    asked: Any = [user([{"type": "image", "source": source}, {"type": "text", "text": "What is the weather there?"}])]
    fields: Any = {"model": "model-x", "max_tokens": 99, "tools": tools, "tool_choice": {"type": "any"}}
    if stream:
        with client.messages.stream(messages=asked, **fields) as opened:
            message: Any = opened.get_final_message()
    else:
        message = client.messages.create(messages=asked, **fields)
    [use] = message.content
    assert (message.stop_reason, use.name, use.input) == ("tool_use", "get_weather", {"location": "Paris"})
    assert world.service.requests[-1]["tool_choice"] == "required"
    assert world.sent[-1]["content"][0]["image_url"] == {"url": f"data:image/png;base64,{PIXEL}"}
    result = user([{"type": "tool_result", "tool_use_id": use.id, "content": "14"}])
    history = [*asked, {"role": "assistant", "content": message.content}, result]
    answer = client.messages.create(messages=history, model="model-x", max_tokens=99)
    assert answer.content[0].type == "text"
    assert [message["role"] for message in world.sent if message["role"] != "system"] == ["user", "assistant", "tool"]
    [conversation] = world.said()
    assert [role for role, _ in conversation] == ["user", "assistant", "tool", "assistant"]


def test_what_a_model_thinks_comes_as_thinking(world: World) -> None:
    client = world.anew(thinks)
    whole = claude(world).messages.create(model="model-x", max_tokens=9, messages=[user("What is two and two?")])
    with claude(world).messages.stream(model="model-x", max_tokens=9, messages=[user("And two and two?")]) as opened:
        streamed = opened.get_final_message()
    for message in (whole, streamed):
        assert [block.type for block in message.content] == ["thinking", "text"]
        assert [getattr(block, "thinking", "") for block in message.content] == ["Two and two.", ""]
    response = client.responses.create(model="model-x", input="What are two and two?")
    assert [item.type for item in response.output] == ["reasoning", "message"]
    assert response.output_text == "Four."
    again = [user("What is two and two?"), {"role": "assistant", "content": whole.content}, user("Thank you.")]
    claude(world).messages.create(model="model-x", max_tokens=9, messages=again)
    assert "Two and two" not in json.dumps(world.sent)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.checklist("G20")
def test_a_budget_for_thinking_is_passed_on_and_left_out_where_it_is_refused(world: World, stream: bool) -> None:
    world.anew(answers("Four."))
    asked: Any = {"model": "model-x", "max_tokens": 20_000, "messages": [user("What is two and two?")]}
    efforts = []
    for tokens in (1_024, 8_000, 16_000):
        claude(world).messages.create(**asked, thinking={"type": "enabled", "budget_tokens": tokens})
        efforts.append(world.service.requests[-1]["reasoning_effort"])
    assert efforts == ["low", "medium", "high"]
    complaint = "Unrecognized request argument: reasoning_effort"
    world.anew(unless(lambda request: "reasoning_effort" not in request, complaint, answers("Four.")))
    asked["thinking"] = {"type": "enabled", "budget_tokens": 1_024}
    if stream:
        with claude(world).messages.stream(**asked) as opened:
            message = opened.get_final_message()
    else:
        message = claude(world).messages.create(**asked)
    assert message.content[0].text == "Four."
    assert "reasoning_effort" not in world.service.requests[-1]
    assert world.said() == [[("user", "What is two and two?"), ("assistant", "Four.")]]


def test_tokens_are_counted(world: World) -> None:
    world.anew(answers("Hello."))
    client = claude(world)
    few = client.messages.count_tokens(model="x", messages=[user("Hello, Claude")]).input_tokens
    many = client.messages.count_tokens(model="x", messages=[user("Hello, Claude " * 50)], system="Be brief.")
    assert 0 < few < many.input_tokens
    assert world.log() == {}


def test_what_a_response_is_to_be_like_reaches_the_model(world: World) -> None:
    client = world.anew(answers('{"location": "Paris"}'))
    tools: Any = [{"type": "function", "name": "get_weather", "parameters": WEATHER}]
    form = {"type": "json_schema", "name": "place", "schema": WEATHER, "strict": True}
    client.responses.create(
        model="model-x",
        input="Where?",
        max_output_tokens=64,
        reasoning={"effort": "low"},
        text={"format": form, "verbosity": "low"},
        tools=tools,
        tool_choice={"type": "function", "name": "get_weather"},
    )
    sent = world.service.requests[-1]
    assert sent["max_completion_tokens"] == 64
    assert (sent["reasoning_effort"], sent["verbosity"]) == ("low", "low")
    assert sent["response_format"] == {
        "type": "json_schema", "json_schema": {"name": "place", "schema": WEATHER, "strict": True},
    }  # fmt: skip
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
    assert not {"max_output_tokens", "reasoning", "text"} & sent.keys()
    more: Any = {"text": {"format": {"type": "json_object"}}, "tool_choice": "none"}
    client.responses.create(model="model-x", input="And where?", tools=tools, **more)
    sent = world.service.requests[-1]
    assert (sent["response_format"], sent["tool_choice"]) == ({"type": "json_object"}, "none")


def test_thoughts_calls_and_files_of_a_responses_history_are_translated(world: World) -> None:
    client = world.anew(answers("It is fine."))
    file = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    refusal = {"type": "refusal", "refusal": "I cannot say."}
    client.responses.create(
        model="model-x",
        input=[
            user([{"type": "input_file", **file}, {"type": "input_text", "text": "Does this run?"}]),
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"role": "assistant", "content": [refusal, {"type": "output_text", "text": "Let me look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "call_2", "name": "shell", "input": "ls"},
            {"type": "function_call_output", "call_id": "call_1", "output": "14"},
            {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "a"}]},
        ],
    )
    asked, said, *results = [message for message in world.sent if message["role"] not in ("system", "developer")]
    assert asked["content"][0] == {"type": "file", "file": file}
    assert said["content"] == [refusal, {"type": "text", "text": "Let me look."}]
    assert said["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
        {"id": "call_2", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
    ]
    assert [(result["tool_call_id"], result["content"]) for result in results] == [("call_1", "14"), ("call_2", "a")]


def refuses(exchange: Exchange) -> None:
    """Two choices, of which the first is a refusal, whole or streamed."""
    streamed = exchange.service.requests[-1].get("stream")
    first = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    messages = [first, {"role": "assistant", "content": "Nor I."}]
    kind = "delta" if streamed else "message"
    reply = {"choices": [{"index": n, kind: said, "finish_reason": "stop"} for n, said in enumerate(messages)]}
    if not streamed:
        exchange.send(200, json.dumps(reply).encode())
        return
    exchange.start()
    exchange.event(reply)
    exchange.chunk(b"data: [DONE]\n\n")
    exchange.chunk(b"")


def test_a_refusal_comes_as_one_and_of_two_choices_the_first(world: World) -> None:
    client = world.anew(refuses)
    whole = client.responses.create(model="model-x", input="How do I pick a lock?")
    with client.responses.stream(model="model-x", input="How do I pick that lock?") as opened:
        kinds = [event.type for event in opened]
        streamed = opened.get_final_response()
    for response in (whole, streamed):
        [item] = response.output
        assert [(part.type, part.refusal) for part in item.content] == [("refusal", "I cannot help with that.")]
    assert "response.refusal.done" in kinds


# -- errors, in the client's own shape


def test_errors_have_the_shape_that_the_client_reads(world: World) -> None:
    client = world.anew(fails(429, headers={"Retry-After": "7"}))
    with pytest.raises(anthropic.RateLimitError) as claudes:
        claude(world).messages.create(model="model-x", max_tokens=9, messages=[user("Are you busy?")])
    assert claudes.value.body["error"]["type"] == "rate_limit_error"
    assert claudes.value.response.headers["retry-after"] == "7"
    with pytest.raises(openai.RateLimitError):
        client.responses.create(model="model-x", input="Are you busy?")
    with pytest.raises(openai.BadRequestError) as error:
        client.responses.create(model="model-x", input="Hi", tools=[{"type": "web_search"}])
    assert "EVERWORD_CHAT_APIS=responses" in error.value.message
    with pytest.raises(openai.BadRequestError) as error:
        client.responses.create(model="model-x", input="Hi", previous_response_id="resp_none")
    assert (error.value.code, error.value.param) == ("previous_response_not_found", "previous_response_id")
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_none")


def test_an_error_in_a_stream_is_an_event(world: World) -> None:
    client = world.anew(drops("Hel", "lo"))
    with pytest.raises(openai.APIError, match="broke off"):
        list(client.responses.create(model="model-x", input="Say hello.", stream=True))
    create = claude(world).messages.create
    with pytest.raises(anthropic.APIStatusError, match="broke off"):
        list(create(model="model-x", max_tokens=9, messages=[user("Hello then?")], stream=True))
    assert [conversation[-1] for conversation in world.said()] == [("assistant", "Hello")] * 2


WRONG: list[tuple[str, Any, str]] = [
    ("responses", {}, "input"),
    ("responses", {"input": 7}, "input"),
    ("responses", {"input": [7]}, "input[0]"),
    ("responses", {"input": [{"role": "king", "content": "x"}]}, "input[0].role"),
    ("responses", {"input": [{"role": "user", "content": 7}]}, "input[0].content"),
    ("responses", {"input": [{"type": "function_call_output", "call_id": "c", "output": [7]}]}, "input[0].output[0]"),
    ("responses", {"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
    ("responses", {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}, "input[0]"),
    ("responses", {"input": "x", "tools": "all"}, "tools"),
    ("responses", {"input": "x", "text": [1]}, "text"),
    ("responses", {"input": "x", "tool_choice": {"type": "file_search"}}, "tool_choice"),
    ("responses", {"input": "x", "background": True}, "background"),
    ("messages", {"messages": []}, "messages"),
    ("messages", {"messages": [user("x")]}, "max_tokens"),
    ("messages", {"messages": [user(None)], "max_tokens": 9}, "messages[0].content"),
    ("messages", {"messages": [user([{"type": "tool_result", "content": 7}])], "max_tokens": 9}, "messages[0]"),
    ("messages", {"messages": [user([{"type": "image", "source": {"type": "file"}}])], "max_tokens": 9}, "messages[0]"),
    ("messages", {"messages": [user("x")], "max_tokens": 9, "tools": [{"type": "web_search_20250305"}]}, "tools[0]"),
    ("messages", {"messages": [user("x")], "max_tokens": 9, "system": 7}, "system"),
    ("messages", {"messages": [user("x")], "max_tokens": 9, "system": [None, None]}, "system"),
    ("messages", {"messages": [user("x")], "max_tokens": 9, "system": [{"type": "text", "text": 7}]}, "system[0].text"),
    ("messages", {"messages": [user([{"type": "text", "text": [7]}])], "max_tokens": 9}, "messages[0].content[0].text"),
    ("messages", {"messages": [user("x")], "max_tokens": 9, "tool_choice": "auto"}, "tool_choice"),
]


@pytest.mark.parametrize(("api", "body", "field"), WRONG)
def test_a_request_of_another_shape_is_refused_before_anything_is_kept(
    world: World, api: str, body: Any, field: str
) -> None:
    world.anew(answers("Never."))
    path = "/v1/responses" if api == "responses" else "/anthropic/v1/messages"
    response = world.wires.post(f"{world.server.url}{path}", json=body, headers={"X-Everword-User": world.user})
    assert response.status_code == 400, response.text
    assert response.json()["error"]["message"].startswith(field)
    assert world.log() == {}


# -- whose memory


def test_whose_memory_it_is_follows_the_request(world: World) -> None:
    world.anew(answers("Noted."))
    url, ask = world.server.url, {"model": "m", "max_tokens": 9, "messages": [user("My bicycle is red.")]}
    path = f"{url}/anthropic/v1/messages"
    nobody = world.wires.post(path, json=ask)
    assert (nobody.status_code, nobody.json()["error"]["type"]) == (400, "invalid_request_error")
    name = f"{world.user} by metadata"
    assert world.wires.post(path, json=ask | {"metadata": {"user_id": name}}).status_code == 200
    assert [m.content for kept in world.log(name).values() for m in kept] == ["My bicycle is red.", "Noted."]
    named = world.wires.post(
        f"{url}/v1/responses", json={"input": "It is blue.", "user": name, "conversation": {"id": f"{name} 7"}}
    )
    assert named.headers["x-everword-conversation"] == f"{name} 7"
    off = world.wires.post(path, json=ask | {"everword": {"memory": False}})
    assert off.json()["content"] == [{"type": "text", "text": "Noted."}]


@pytest.mark.checklist("G7")
def test_a_key_is_read_from_where_the_client_puts_it_and_opens_what_it_may(tmp_path: Path) -> None:
    with world_of(str(tmp_path / "keys.db"), auth=True) as world:
        world.does(answers("The vault opens at nine."))
        asked: Any = {"model": "m", "max_tokens": 9, "messages": [user("When does the vault open?")]}
        server, url = world.server, f"{world.server.url}/anthropic"
        allowed = anthropic.Anthropic(
            base_url=url, http_client=world.wires, api_key=server.key(scopes=("read", "write"), user="alex")
        )
        assert allowed.messages.create(**asked).content[0].type == "text"
        allowed.messages.create(**asked, metadata={"user_id": "an opaque id of the program"})  # the key is bound
        [talk] = world.said("alex")
        assert talk == [("user", "When does the vault open?"), ("assistant", "The vault opens at nine.")]
        by_token = anthropic.Anthropic(
            base_url=url, http_client=world.wires, auth_token=server.key(scopes=("read", "write"), user="kim")
        )
        assert by_token.messages.create(**asked).content[0].type == "text"
        for scopes in (("read",), ("write",)):
            client = anthropic.Anthropic(
                base_url=url, http_client=world.wires, api_key=server.key(scopes=scopes, user="alex")
            )
            with pytest.raises(anthropic.PermissionDeniedError) as refused:
                client.messages.create(**asked)
            assert refused.value.body["error"]["type"] == "permission_error"
            assert "nine" not in refused.value.message
        with pytest.raises(anthropic.AuthenticationError):
            anthropic.Anthropic(base_url=url, http_client=world.wires, api_key="rk_wrong").messages.create(**asked)
        both = {"x-api-key": server.key(), "authorization": "Bearer rk_wrong"}
        assert world.wires.post(f"{url}/v1/messages", json=asked, headers=both).status_code == 401


def test_another_users_response_is_not_told(world: World) -> None:
    client = world.anew(answers("The vault opens at nine."))
    mine = client.responses.create(model="model-x", input="When does the vault open?")
    stranger = world.anew(answers("No."))
    with pytest.raises(openai.NotFoundError) as missing:
        stranger.responses.retrieve(mine.id)
    with pytest.raises(openai.BadRequestError) as refused:
        stranger.responses.create(model="model-x", input="And then?", previous_response_id=mine.id)
    assert "nine" not in missing.value.message + refused.value.message


def test_a_response_is_deleted_and_what_the_user_said_stays(world: World) -> None:
    client = world.anew(answers("The vault opens at nine."))
    mine = client.responses.create(model="model-x", input="When does the vault open?")
    owner = world.user
    with pytest.raises(openai.NotFoundError):
        world.anew(answers("No.")).responses.delete(mine.id)  # somebody else's
    assert client.responses.retrieve(mine.id).output_text == "The vault opens at nine."
    client.responses.delete(mine.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(mine.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.delete(mine.id)
    assert world.said(owner) == [[("user", "When does the vault open?")]]


def test_models_are_listed_as_each_client_reads_them(world: World) -> None:
    world.anew()
    models = [model.id for model in claude(world).models.list()]
    assert models == [model.id for model in world.client().models.list()]
    model = claude(world).models.retrieve(models[0])
    assert (model.type, model.id) == ("model", "everword")
    with pytest.raises(anthropic.NotFoundError):
        claude(world).models.retrieve("gpt-none")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_structured_reply_is_asked_for_by_its_schema(world: World, stream: bool) -> None:
    world.anew(answers('{"location": "Paris"}'))
    form = {"format": {"type": "json_schema", "schema": WEATHER}, "effort": "low"}
    asked: Any = {"model": "model-x", "max_tokens": 99, "messages": [user("Where?")], "output_config": form}
    if stream:
        with claude(world).messages.stream(**asked) as events:
            message = events.get_final_message()
    else:
        message = claude(world).messages.create(**asked)
    assert json.loads(message.content[0].text) == {"location": "Paris"}
    sent = world.service.requests[-1]
    assert sent["response_format"]["json_schema"]["schema"] == WEATHER
    assert not {"output_config", "thinking", "reasoning_effort"} & sent.keys()
    asked["output_config"] = {"format": {"type": "json_schema"}}
    with pytest.raises(anthropic.BadRequestError):
        claude(world).messages.create(**asked)


# -- what passes through


def native_answers(text: str) -> Step:
    """An answer of a server that speaks both APIs: whole, or as events."""

    def step(exchange: Exchange) -> None:
        events = (responses_events if exchange.path.endswith("/responses") else anthropic_events)(text)
        if exchange.service.requests[-1].get("stream"):
            exchange.start()
            for name, event in events:
                exchange.chunk(f"event: {name}\ndata: {json.dumps(event)}\n\n".encode())
            exchange.chunk(b"")
        elif exchange.path.endswith("/responses"):
            exchange.send(
                200, json.dumps(events[-1][1]["response"] | {"id": f"resp_{len(exchange.service.paths)}"}).encode()
            )
        else:
            message = events[0][1]["message"] | {"content": [{"type": "text", "text": text}], "new_field": [1]}
            exchange.send(200, json.dumps(message).encode())

    return step


LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("aé🙂 \n", max_size=6)
NAMES = st.text("abc", min_size=1, max_size=3)
JSON = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(NAMES, LEAVES | st.lists(LEAVES), max_size=2)
BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "and so", "cache_control": {"type": "ephemeral"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "14"}]},
        {"type": "of tomorrow", "deep": {"er": [1]}},
    ]
)
THOUGHT = [
    {"type": "thinking", "thinking": "hm", "signature": "s1"},
    {"type": "redacted_thinking", "data": "xx"},
    {"type": "tool_use", "id": "t", "name": "n", "input": {"a": [None]}},
]


def messages_of(blocks: list[Any]) -> list[Any]:
    return [user("go"), {"role": "assistant", "content": THOUGHT}, user([*blocks, {"type": "text", "text": "why?"}])]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(blocks=st.lists(BLOCKS, max_size=3), extra=JSON, tools=st.lists(st.dictionaries(st.just("x"), JSON), max_size=2))
@pytest.mark.checklist("G20")
def test_what_a_message_has_passes_through_unchanged(native: World, blocks: list[Any], extra: Any, tools: Any) -> None:
    native.anew(native_answers("Yes."))
    body = {"model": "m-1", "max_tokens": 9, "messages": messages_of(blocks), "tools": tools, "unknown": extra}
    body |= {"thinking": {"type": "enabled", "budget_tokens": 1024}, "system": "Be brief."}
    url = f"{native.server.url}/anthropic/v1/messages"
    headers = {"X-Everword-User": native.user, "anthropic-beta": "b-1"}
    answer = native.wires.post(url, json=body, headers=headers).json()
    assert answer["new_field"] == [1]
    sent = native.service.requests[-1]
    assert native.service.paths[-1].endswith("/messages")
    assert sent["system"][0] == {"type": "text", "text": "Be brief."}
    assert {**sent, "system": "Be brief."} == body


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extra=JSON, items=st.lists(st.dictionaries(st.sampled_from(["type", "id", "summary"]), JSON), max_size=2))
@pytest.mark.checklist("G20")
def test_what_a_response_has_passes_through_unchanged(native: World, extra: Any, items: list[Any]) -> None:
    native.anew(native_answers("Yes."))
    body = {"model": "m-1", "input": [*items, user([{"type": "input_text", "text": "why?"}])], "unknown": extra}
    body |= {"tools": [{"type": "web_search"}], "reasoning": {"effort": "low"}, "previous_response_id": "resp_up"}
    url = f"{native.server.url}/v1/responses"
    assert native.wires.post(url, json=body, headers={"X-Everword-User": native.user}).status_code == 200
    sent = native.service.requests[-1]
    assert native.service.paths[-1].endswith("/responses")
    added = [item for item in sent["input"] if item.get("role") == "developer"]
    assert len(added) == len(sent["input"]) - len(body["input"])
    assert {**sent, "input": [item for item in sent["input"] if item not in added]} == body


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extra=JSON, schema=st.dictionaries(NAMES, JSON, max_size=3))
@pytest.mark.checklist("G20")
def test_what_is_translated_is_not_changed_otherwise(world: World, extra: Any, schema: Any) -> None:
    world.anew(answers("Yes."))
    headers = {"X-Everword-User": world.user}
    common = {"model": "model-x", "unknown": extra, "temperature": 0.5}
    url = f"https://example.com/{PIXEL}"
    parts = [{"type": "input_image", "image_url": url}, {"type": "input_text", "text": "why?"}]
    tools = [{"type": "function", "name": "f", "parameters": schema}]
    body: Any = common | {"input": [user(parts)], "tools": tools}
    assert world.wires.post(f"{world.server.url}/v1/responses", json=body, headers=headers).status_code == 200
    first = world.service.requests[-1]
    blocks = [{"type": "image", "source": {"type": "url", "url": url}}, {"type": "text", "text": "and why?"}]
    body = common | {"messages": [user(blocks)], "tools": [{"name": "f", "input_schema": schema}], "max_tokens": 9}
    assert world.wires.post(f"{world.server.url}/anthropic/v1/messages", json=body, headers=headers).status_code == 200
    for sent in (first, world.service.requests[-1]):
        assert sent["unknown"] == extra
        assert sent["temperature"] == 0.5
        assert sent["tools"] == [{"type": "function", "function": {"name": "f", "parameters": schema}}]
        assert sent["messages"][-1]["content"][0] == {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_server_that_speaks_the_api_is_asked_in_it_and_remembered(native: World, stream: bool) -> None:
    client = native.anew(native_answers("Nice town!"), native_answers("In Utrecht."))
    first: Any = client.responses.create(model="m-1", input="I live in Utrecht.", stream=stream)
    expected = [event for _, event in responses_events("Nice town!")]
    if stream:
        assert [event.to_dict(exclude_unset=True) for event in first] == expected
    native.server.run(native.server.memory.settle())
    fields: Any = {"model": "m-1", "max_tokens": 9, "messages": [user("Where do I live?")]}
    if stream:
        with claude(native).messages.stream(**fields) as opened:
            assert "".join(opened.text_stream) == "In Utrecht."
    else:
        assert claude(native).messages.create(**fields).content[0].type == "text"
    assert "I live in Utrecht." in json.dumps(native.service.requests[-1]["system"])
    kept = sorted(text for talk in native.said() for _, text in talk)
    assert kept == sorted(["I live in Utrecht.", "Nice town!", "Where do I live?", "In Utrecht."])


def test_a_response_of_the_models_server_is_gone_on_with_in_its_conversation(native: World) -> None:
    client = native.anew(native_answers("Nice town!"), native_answers("Yes, in Utrecht."))
    first = client.responses.create(model="m-1", input="I live in Utrecht.")
    client.responses.create(model="m-1", input="Do I?", previous_response_id=first.id)
    [talk] = native.said()
    assert [text for _, text in talk] == ["I live in Utrecht.", "Nice town!", "Do I?", "Yes, in Utrecht."]
    assert native.service.requests[-1]["previous_response_id"] == first.id


def test_a_stream_of_the_models_server_that_breaks_off_is_kept_as_far_as_it_came(native: World) -> None:
    def breaks(exchange: Exchange) -> None:
        exchange.start()
        for name, event in anthropic_events("Hel")[:3]:
            exchange.chunk(f"event: {name}\ndata: {json.dumps(event)}\n\n".encode())
        exchange.close_connection = True

    native.anew(breaks)
    with pytest.raises(anthropic.APIStatusError):
        list(claude(native).messages.create(model="m", max_tokens=9, messages=[user("Say hello.")], stream=True))
    [(kept,)] = [[m for m in talk if m.role == "assistant"] for talk in native.log().values()]
    assert kept.content == "Hel"
    assert kept.metadata["everword"]["partial"] is True

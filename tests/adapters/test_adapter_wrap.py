"""`everword.wrap`: a program's own client of OpenAI or Anthropic remembers, in this process, and never fails for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import everword
from everword import AsyncMemory, InvalidInput, Memory
from everword.testing import FrozenClock

TOOLS: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
ARGUMENTS = '{"city": "Oslo"}'
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
RESPONSE_CALL: Any = {"type": "function_call", "id": "o2", "call_id": "c1", "name": "weather", "arguments": ARGUMENTS}
ANTHROPIC_CALL: Any = {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}}


class Provider:
    """What stands behind a client's transport: it answers what it was told to, and keeps what it was asked."""

    def __init__(self, *replies: str, calls: bool = False) -> None:
        self.replies = list(replies) or ["Noted."]
        self.calls = calls
        self.requests: list[dict[str, Any]] = []
        self.on_request: Callable[[], None] = lambda: None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.on_request()
        self.requests.append(body)
        text = self.replies[min(len(self.requests), len(self.replies)) - 1]
        calls = self.calls and len(self.requests) == 1
        kind = request.url.path.rsplit("/", 1)[-1]
        if body.get("stream"):
            events = {"completions": chat_events, "responses": response_events, "messages": anthropic_events}[kind]
            content = "".join(events(text, calls))
            return httpx2.Response(200, text=content, headers={"content-type": "text/event-stream"})
        build: Callable[[str, bool], Any] = {
            "completions": chat_reply,
            "responses": response_reply,
            "messages": anthropic_reply,
        }[kind]
        return httpx2.Response(200, json=build(text, calls))

    @property
    def sent(self) -> str:
        """All that the model was last sent."""
        return json.dumps(self.requests[-1], ensure_ascii=False)

    def openai(self) -> OpenAI:
        return OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(self)))

    def async_openai(self) -> AsyncOpenAI:
        return AsyncOpenAI(api_key="k", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self)))

    def anthropic(self) -> Anthropic:
        return Anthropic(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(self)))

    def async_anthropic(self) -> AsyncAnthropic:
        return AsyncAnthropic(api_key="k", http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self)))


def chat_reply(text: str, calls: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": None if calls else text, **({"tool_calls": [CALL]} if calls else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def response_reply(text: str, calls: bool) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    items = [{"type": "message", "id": "o1", "role": "assistant", "status": "completed", "content": [part]}]
    items += [RESPONSE_CALL] if calls else []
    frame = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": []}
    return {**frame, "output": items, "parallel_tool_calls": True, "tool_choice": "auto"}


def anthropic_reply(text: str, calls: bool) -> dict[str, Any]:
    frame = {"id": "a", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    content = [ANTHROPIC_CALL] if calls else [{"type": "text", "text": text}]
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**frame, "content": content, "stop_reason": "tool_use" if calls else "end_turn", "usage": usage}


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def chat_events(text: str, calls: bool) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"content": part} for part in halves(text)]
    if calls:
        start = {"index": 0, **CALL, "function": {"name": "weather", "arguments": ""}}
        rest = [{"index": 0, "function": {"arguments": part}} for part in halves(ARGUMENTS)]
        deltas += [{"tool_calls": [piece]} for piece in (start, *rest)]
    for delta in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


def response_events(text: str, calls: bool) -> Iterator[str]:
    for number, part in enumerate(halves(text)):
        place = {"item_id": "o1", "output_index": 0, "content_index": 0, "logprobs": []}
        event = {"type": "response.output_text.delta", "delta": part, "sequence_number": number, **place}
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
    if calls:
        done = {"type": "response.output_item.done", "sequence_number": 8, "output_index": 1, "item": RESPONSE_CALL}
        yield f"event: {done['type']}\ndata: {json.dumps(done)}\n\n"
    event = {"type": "response.completed", "sequence_number": 9, "response": response_reply(text, calls)}
    yield f"event: response.completed\ndata: {json.dumps(event)}\n\n"


def anthropic_events(text: str, calls: bool) -> Iterator[str]:
    start = {**anthropic_reply("", False), "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for part in halves(text):
        delta = {"type": "text_delta", "text": part}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    if calls:
        events.append({"type": "content_block_start", "index": 1, "content_block": {**ANTHROPIC_CALL, "input": {}}})
        for part in halves(ARGUMENTS):
            delta = {"type": "input_json_delta", "partial_json": part}
            events.append({"type": "content_block_delta", "index": 1, "delta": delta})
        events.append({"type": "content_block_stop", "index": 1})
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 2}})
    events.append({"type": "message_stop"})
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False, clock=FrozenClock()) as opened:
        yield opened


def said(*texts: str) -> Any:
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]


def chat(client: Any, messages: Any, stream: bool = False) -> str:
    result = client.chat.completions.create(model="m", messages=messages, stream=stream)
    if not stream:
        assert result.receipt.tokens > 0
        return str(result.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in result)


def respond(client: Any, messages: Any, stream: bool = False) -> str:
    result = client.responses.create(model="m", input=messages, stream=stream)
    if not stream:
        assert result.receipt.tokens > 0
        return str(result.output_text)
    return "".join(event.delta for event in result if event.type == "response.output_text.delta")


def message(client: Any, messages: Any, stream: bool = False) -> str:
    result = client.messages.create(model="m", max_tokens=99, messages=messages, stream=stream)
    if not stream:
        assert result.receipt.tokens > 0
        return str(result.content[0].text)
    deltas = [event.delta for event in result if event.type == "content_block_delta"]
    return "".join(delta.text for delta in deltas if delta.type == "text_delta")


def managed(client: Any, messages: Any, stream: bool = False) -> str:
    with client.messages.stream(model="m", max_tokens=99, messages=messages) as opened:
        return "".join(opened.text_stream)


WAYS: Any = [
    (chat, Provider.openai),
    (respond, Provider.openai),
    (message, Provider.anthropic),
    (managed, Provider.anthropic),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("ask", "client_of"), WAYS)
@pytest.mark.checklist("G20")
def test_a_second_chat_knows_what_the_first_was_told(memory: Memory, ask: Any, client_of: Any, stream: bool) -> None:
    provider = Provider("Nice town!", "In Utrecht.")
    client = everword.wrap(client_of(provider), memory, user="alex")
    assert ask(client, said("I live in Utrecht and I am allergic to peanuts."), stream) == "Nice town!"
    memory.settle()
    assert ask(client, said("Where do I live?"), stream) == "In Utrecht."
    assert "Utrecht" in provider.sent
    kept = [message.content for found in memory.conversations() for message in memory.conversation(found.id).history()]
    assert sorted(kept) == sorted(
        ["I live in Utrecht and I am allergic to peanuts.", "Nice town!", "Where do I live?", "In Utrecht."]
    )


async def talk_twice(path: Path, client: Any) -> list[str]:
    """Tell something and ask for it in a new chat, streamed; the replies that are kept."""
    async with AsyncMemory(str(path / "memory.db"), followers=False, clock=FrozenClock()) as memory:
        client = everword.wrap(client, memory, user="alex")
        create = client.chat.completions.create if hasattr(client, "chat") else client.messages.create
        fields: Any = {"model": "m"} if hasattr(client, "chat") else {"model": "m", "max_tokens": 9}
        first = await create(messages=said("I live in Utrecht."), **fields)
        assert first.receipt.tokens > 0
        await memory.settle()
        stream = await create(messages=said("Where do I live?"), stream=True, **fields)
        assert [event async for event in stream]
        await memory.settle()
        return [hit.message.content for hit in await memory.search("Utrecht", user="alex", role="assistant")]


@pytest.mark.parametrize("client_of", [Provider.async_openai, Provider.async_anthropic])
@pytest.mark.checklist("G20")
def test_an_asynchronous_client_remembers(tmp_path: Path, client_of: Any) -> None:
    provider = Provider("Nice town!", "In Utrecht.")
    assert "In Utrecht." in asyncio.run(talk_twice(tmp_path, client_of(provider)))
    assert "Utrecht" in provider.sent


@pytest.mark.checklist("G20")
def test_a_history_that_is_sent_again_is_kept_once_and_sent_as_it_is(memory: Memory) -> None:
    provider = Provider("Hello Alex!", "Yes.")
    client = everword.wrap(provider.openai(), memory, user="alex")
    first = said("Hi, I am Alex.")
    chat(client, first)
    history = [{"role": "system", "content": "Be brief."}, *said("Hi, I am Alex.", "Hello Alex!", "Am I Alex?")]
    chat(client, history)
    (found,) = memory.conversations()
    kept = [message.content for message in memory.conversation(found.id).history()]
    assert kept == ["Hi, I am Alex.", "Hello Alex!", "Am I Alex?", "Yes."]
    sent = provider.requests[-1]["messages"]
    assert [message for message in sent if message in history] == history
    assert sent[0] == history[0]
    assert sent[-1] == history[-1]
    assert first == said("Hi, I am Alex."), "what the program holds is not changed"


@pytest.mark.parametrize("client_of", [Provider.openai, Provider.anthropic])
@pytest.mark.checklist("G20")
def test_calls_of_tools_are_passed_on_and_kept(memory: Memory, client_of: Any) -> None:
    provider = Provider("", "It rains in Oslo.", calls=True)
    client: Any = everword.wrap(client_of(provider), memory, user="alex")
    if hasattr(client, "chat"):
        asked = client.chat.completions.create(model="m", messages=said("Weather in Oslo?"), tools=TOOLS)
        call = asked.choices[0].message
        result: Any = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
        answer = client.chat.completions.create(model="m", messages=[*said("Weather in Oslo?"), call, result])
        assert answer.choices[0].message.content == "It rains in Oslo."
    else:
        asked = client.messages.create(model="m", max_tokens=9, messages=said("Weather in Oslo?"))
        results = [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]
        history = [*said("Weather in Oslo?"), {"role": "assistant", "content": asked.content}]
        answer = client.messages.create(
            model="m", max_tokens=9, messages=[*history, {"role": "user", "content": results}]
        )
        assert answer.content[0].text == "It rains in Oslo."
    (found,) = memory.conversations()
    kept = [(message.role, message.content) for message in memory.conversation(found.id).history()]
    assert kept == [
        ("user", "Weather in Oslo?"),
        ("assistant", ""),
        ("tool", "rain"),
        ("assistant", "It rains in Oslo."),
    ]


# What a program sends back of a turn in which the model said "Let me look." and called a tool.
CHAT_TURN = [{"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]}]
CHAT_TURN += [{"role": "tool", "tool_call_id": "c1", "content": "rain"}]
RESPONSE_TURN = [{"type": "reasoning", "id": "o0", "summary": []}, {"role": "assistant", "content": "Let me look."}]
RESPONSE_TURN += [RESPONSE_CALL, {"type": "function_call_output", "call_id": "c1", "output": "rain"}]
ANTHROPIC_TURN = [{"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, ANTHROPIC_CALL]}]
ANTHROPIC_TURN += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "rain"}]}]


@pytest.mark.parametrize(
    ("ask", "client_of", "stream", "turn"),
    [
        (chat, Provider.openai, True, CHAT_TURN),
        (respond, Provider.openai, False, RESPONSE_TURN),
        (respond, Provider.openai, True, RESPONSE_TURN),
        (message, Provider.anthropic, True, ANTHROPIC_TURN),
        (managed, Provider.anthropic, True, ANTHROPIC_TURN),
    ],
    ids=["chat stream", "response", "response stream", "message stream", "managed stream"],
)
@pytest.mark.checklist("G20")
def test_a_turn_with_a_call_is_one_message_that_is_known_when_it_is_sent_again(
    memory: Memory, ask: Any, client_of: Any, stream: bool, turn: Any
) -> None:
    provider = Provider("Let me look.", "It rains in Oslo.", calls=True)
    client = everword.wrap(client_of(provider), memory, user="alex")
    assert ask(client, said("Weather in Oslo?"), stream) == "Let me look."
    assert ask(client, [*said("Weather in Oslo?"), *turn]) == "It rains in Oslo."
    (found,) = memory.conversations()
    kept = memory.conversation(found.id).history()
    assert [(message.role, message.content) for message in kept] == [
        ("user", "Weather in Oslo?"),
        ("assistant", "Let me look."),
        ("tool", "rain"),
        ("assistant", "It rains in Oslo."),
    ]
    assert kept[1].metadata["openai"]["tool_calls"] == [CALL]
    assert kept[2].metadata["openai"]["tool_call_id"] == "c1"


@pytest.mark.checklist("G20")
def test_a_stream_that_is_left_early_is_kept_as_far_as_it_was_read(memory: Memory) -> None:
    with everword.wrap(Provider("Nice town!").openai(), memory, user="alex") as client:
        create = client.chat.completions.create
        with create(model="m", messages=said("I live in Utrecht."), stream=True) as stream:
            assert next(iter(stream)).choices[0].delta.content == "Nice "
            assert stream.response.status_code == 200, "the stream is the client's own"
        assert stream.response.is_closed
    assert client.is_closed()
    assert [message.content for message in memory.export()] == ["I live in Utrecht.", "Nice "]


@pytest.mark.checklist("G20")
def test_an_asynchronous_stream_that_is_left_early_is_kept_as_far_as_it_was_read(tmp_path: Path) -> None:
    async def read_one() -> list[str]:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False, clock=FrozenClock()) as memory:
            async with everword.wrap(Provider("Nice town!").async_openai(), memory, user="alex") as client:
                create = client.chat.completions.create
                async with await create(model="m", messages=said("I live in Utrecht."), stream=True) as stream:
                    assert (await anext(aiter(stream))).choices[0].delta.content == "Nice "
                assert stream.response.is_closed
            assert client.is_closed()
            return [message.content async for message in memory.export()]

    assert asyncio.run(read_one()) == ["I live in Utrecht.", "Nice "]


@pytest.mark.checklist("G20")
def test_an_asynchronous_block_of_a_stream_remembers(tmp_path: Path) -> None:

    async def read_block() -> list[str]:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False, clock=FrozenClock()) as memory:
            client = everword.wrap(Provider("Nice town!").async_anthropic(), memory, user="alex")
            async with client.messages.stream(model="m", max_tokens=9, messages=said("I live in Utrecht.")) as opened:
                assert "".join([text async for text in opened.text_stream]) == "Nice town!"
                assert opened.receipt.tokens > 0
            return [message.content async for message in memory.export()]

    assert asyncio.run(read_block()) == ["I live in Utrecht.", "Nice town!"]


@pytest.mark.checklist("G20")
def test_a_memory_that_fails_does_not_fail_the_call(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider("Hello!")
    client = everword.wrap(provider.openai(), memory, user="alex")
    memory.close()
    result = client.chat.completions.create(model="m", messages=said("Hi, my name is Alex."))
    assert result.choices[0].message.content == "Hello!"
    assert provider.requests[-1]["messages"] == said("Hi, my name is Alex.")
    assert "without the memory" in caplog.text


@pytest.mark.parametrize("is_early", [True, False], ids=["before the call", "during the call"])
@pytest.mark.parametrize(("ask", "client_of"), WAYS)
@pytest.mark.checklist("G20")
def test_a_memory_that_fails_at_any_moment_does_not_fail_a_stream(
    memory: Memory, ask: Any, client_of: Any, is_early: bool, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider("Hello!")
    client = everword.wrap(client_of(provider), memory, user="alex")
    if is_early:
        memory.close()
    else:
        provider.on_request = memory.close
    assert ask(client, said("Hi, my name is Alex."), stream=True) == "Hello!"
    assert "without the memory" in caplog.text


@pytest.mark.parametrize(("ask", "client_of"), WAYS[:3])
@pytest.mark.checklist("G20")
def test_a_memory_that_fails_after_the_call_does_not_fail_it(
    memory: Memory, ask: Any, client_of: Any, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider("Hello!")
    provider.on_request = memory.close
    client = everword.wrap(client_of(provider), memory, user="alex")
    assert ask(client, said("Hi, my name is Alex.")) == "Hello!"
    assert "without the memory" in caplog.text


@pytest.mark.parametrize("client_of", [Provider.async_openai, Provider.async_anthropic])
@pytest.mark.checklist("G20")
def test_a_memory_that_fails_does_not_fail_an_asynchronous_call(tmp_path: Path, client_of: Any) -> None:
    provider = Provider("Hello!")

    async def ask() -> None:
        memory = AsyncMemory(str(tmp_path / "memory.db"), followers=False)
        async with memory:
            client = everword.wrap(client_of(provider), memory, user="alex")
        create = client.chat.completions.create if hasattr(client, "chat") else client.messages.create
        for stream in (False, True):
            answer = await create(model="m", max_tokens=9, messages=said("Hi, my name is Alex."), stream=stream)
            assert "Hello!" in str(answer) or [event async for event in answer]

    asyncio.run(ask())
    assert [request["messages"] for request in provider.requests] == [said("Hi, my name is Alex.")] * 2


@pytest.mark.checklist("G20")
def test_messages_and_tools_may_come_from_a_generator(memory: Memory) -> None:
    provider = Provider("Hello!")
    client = everword.wrap(provider.openai(), memory, user="alex")
    messages, tools = said("Hi, my name is Alex."), iter(TOOLS)
    client.chat.completions.create(model="m", messages=(message for message in messages), tools=tools)
    assert provider.requests[-1]["messages"][-1] == messages[-1]
    assert provider.requests[-1]["tools"] == TOOLS
    assert [message.content for message in memory.export()] == ["Hi, my name is Alex.", "Hello!"]


@pytest.mark.checklist("G20")
def test_an_event_of_another_shape_reaches_the_program(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    strange = {"index": 0, "delta": {"tool_calls": 5, "content": {"deep": [1]}}, "finish_reason": None}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [strange]}

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200, text=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", headers={"content-type": "text/event-stream"}
        )

    inner = OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    client = everword.wrap(inner, memory, user="alex")
    (event,) = client.chat.completions.create(model="m", messages=said("Hi, my name is Alex."), stream=True)
    assert event.choices[0].delta.tool_calls == 5
    assert "without the memory" in caplog.text


def test_everything_else_is_the_clients_own(memory: Memory) -> None:
    inner = Provider().openai()
    client = everword.wrap(inner, memory, user="alex")
    assert client.api_key == inner.api_key
    assert client.models is inner.models
    assert client.chat.completions.with_raw_response is inner.chat.completions.with_raw_response


def test_what_cannot_remember_is_told_at_once(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="must be a client of `openai` or `anthropic`"):
        everword.wrap(object(), memory, user="alex")
    with pytest.raises(InvalidInput, match="give a Memory"):
        everword.wrap(Provider().openai(), AsyncMemory("memory.db"), user="alex")
    with pytest.raises(InvalidInput, match="user"):
        everword.wrap(Provider().openai(), memory, user="")

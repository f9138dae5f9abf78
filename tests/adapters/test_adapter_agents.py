"""The OpenAI Agents SDK's session on a memory: its own runner keeps its turns there, and takes them back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from everword import AsyncMemory, InvalidInput, Memory
from everword.adapters.agents import EverwordSession

set_tracing_disabled(True)

ITEMS: list[Any] = [
    {"role": "user", "content": "Wie ist das Wetter? ☔️"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}', "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "rain"},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "thinking"}]},
    {
        "type": "message",
        "id": "a1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It rains.", "annotations": []}],
    },
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": ""},
    {"role": "assistant", "content": "ok"},
]
OTHERS: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "custom_tool_call", "call_id": "k", "name": "grep", "input": "needle"}, "assistant", "grep(needle)"),
    ({"type": "custom_tool_call_output", "call_id": "k", "output": "found it"}, "tool", "found it"),
    ({"type": "local_shell_call_output", "id": "l", "output": "a file"}, "tool", "a file"),
    (
        {"type": "shell_call_output", "call_id": "s", "output": [{"stdout": "out", "stderr": "err", "outcome": {}}]},
        "tool",
        "out\nerr",
    ),
    ({"type": "function_call_output", "call_id": "f", "output": [{"type": "input_text", "text": "x"}]}, "tool", "x"),
    (
        {"type": "message", "role": "assistant", "id": "a", "content": [{"type": "refusal", "refusal": "I may not"}]},
        "assistant",
        "I may not",
    ),
    ({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}, "assistant", ""),
    ({"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}, "assistant", ""),
    ({"type": "item_reference", "id": "i"}, "assistant", ""),
    ({"role": "tool", "content": "of another API"}, "tool", "of another API"),
    ({"role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image"}]}, "user", "look"),
]


class Scripted(Model):
    """A model that says what it was told to, and notes what it was given."""

    def __init__(self, *outputs: list[Any]) -> None:
        self.outputs, self.seen = list(outputs), list[list[Any]]()
        self.instructions: list[str | None] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.seen.append(input if isinstance(input, list) else [{"role": "user", "content": input}])
        self.instructions.append(system_instructions)
        return ModelResponse(output=self.outputs.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def says(text: str) -> list[Any]:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])]


@function_tool
def weather(city: str) -> str:
    """What the weather is."""
    return f"rain in {city}"


def test_items_come_back_as_they_were_given(store_url: str) -> None:
    async def use() -> None:
        async with AsyncMemory(store_url, followers=False) as memory:
            session = EverwordSession(memory, "chat", user="alex")
            assert isinstance(session, Session)
            assert await session.get_items() == []
            await session.add_items([])
            await session.add_items(ITEMS)
            assert await session.get_items() == ITEMS
            assert await session.get_items(2) == ITEMS[-2:]
            assert await session.get_items(0) == []
            limited = EverwordSession(memory, "chat", user="alex", session_settings=SessionSettings(limit=3))
            assert await limited.get_items() == ITEMS[-3:]
            assert await limited.get_items(100) == ITEMS
            roles = [message.role for message in await memory.conversation("chat", user="alex").history()]
            assert roles == ["user", "assistant", "tool", "assistant", "assistant", "system", "user", "assistant"]
            with pytest.raises(InvalidInput):
                await session.add_items([{"role": "user", "content": "nul \x00"}])

    asyncio.run(use())


def test_every_kind_of_item_is_kept_as_said_by_who_said_it(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            session = EverwordSession(memory, "chat", user="alex")
            given: list[Any] = [item for item, _, _ in OTHERS]
            await session.add_items(given)
            assert await session.get_items() == given
            kept = await memory.conversation("chat", user="alex").history()
            assert [(message.role, message.content) for message in kept] == [(who, text) for _, who, text in OTHERS]

    asyncio.run(use())


def test_a_limit_means_what_it_means_to_the_sdks_own_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            for settings in (None, {"limit": 2}, SessionSettings(limit=3)):
                ours = EverwordSession(memory, f"chat {settings}", session_settings=settings)
                theirs = SQLiteSession("chat", session_settings=settings)
                try:
                    for session in (ours, theirs):
                        await session.add_items(ITEMS)
                    for limit in (None, -1, 0, 1, 5, 100):
                        assert await ours.get_items(limit) == await theirs.get_items(limit), (settings, limit)
                finally:
                    theirs.close()

    asyncio.run(use())


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_who_is_interrupted_while_adding_knows_what_the_session_holds(tmp_path: Path, kind: Any) -> None:
    """As with the SDK's own sessions: its runner takes items back after an interruption, and none may come later."""
    items: list[Any] = [{"role": "user", "content": "x" * 1000} for _ in range(200)]

    async def interrupted(memory: Any) -> None:
        for number in range(8):
            session = EverwordSession(memory, f"chat {number}", user="alex")
            adding = asyncio.create_task(session.add_items(items))
            for _ in range(number):
                await asyncio.sleep(0)
            adding.cancel()
            with suppress(asyncio.CancelledError):
                await adding
            now = len(await session.get_items())
            await EverwordSession(memory, f"other {number}", user="alex").add_items(items[:1])  # behind it in the queue
            assert len(await session.get_items()) == now

    async def both() -> None:
        memory = kind(str(tmp_path / "m.db"), followers=False)
        if isinstance(memory, Memory):
            with memory:
                await interrupted(memory)
            return
        async with memory:
            await interrupted(memory)

    asyncio.run(both())


def test_popping_and_clearing_do_to_the_session_what_the_sdks_own_does_and_nothing_to_the_log(store_url: str) -> None:
    async def use() -> None:
        async with AsyncMemory(store_url, followers=False) as memory:
            ours, theirs = EverwordSession(memory, "chat", user="alex"), SQLiteSession("chat")
            try:
                for session in (ours, theirs):
                    await session.add_items(ITEMS)
                for step in ("pop", "pop", "add", "pop", "clear", "pop", "add", "pop", "pop", "clear", "add"):
                    answers = []
                    for session in (ours, theirs):
                        if step == "pop":
                            answers.append(await session.pop_item())
                        elif step == "clear":
                            await session.clear_session()
                        else:
                            await session.add_items(ITEMS[:2])
                    assert answers[:1] == answers[1:], step
                    assert await ours.get_items() == await theirs.get_items(), step
                    assert await ours.get_items(1) == await theirs.get_items(1), step
            finally:
                theirs.close()
            kept = [message async for message in memory.export(user="alex")]
            assert len(kept) == len(ITEMS) + 3 * 2
            assert (await memory.verify()).ok

    asyncio.run(use())


def test_many_who_pop_at_once_get_each_item_once(store_url: str) -> None:
    async def use() -> None:
        async with AsyncMemory(store_url, followers=False) as memory:
            await EverwordSession(memory, "chat").add_items([{"role": "user", "content": str(n)} for n in range(6)])
            sessions = [EverwordSession(memory, "chat") for _ in range(8)]
            popped = await asyncio.gather(*(session.pop_item() for session in sessions))
            assert sorted(str(item["content"]) for item in popped if item) == [str(n) for n in range(6)]

    asyncio.run(use())


def test_the_sdks_runner_keeps_its_turns_in_the_memory(store_url: str) -> None:
    call = ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="weather", arguments='{"city": "Oslo"}', id="f1"
    )
    model = Scripted([call], says("It rains in Oslo."), says("You asked about Oslo."))
    agent = Agent(name="Assistant", instructions="Be brief.", model=model, tools=[weather])

    async def use() -> None:
        with Memory(store_url) as memory:
            session = EverwordSession(memory, "chat", user="alex")
            first = await Runner.run(agent, "What is the weather in Oslo?", session=session)
            assert first.final_output == "It rains in Oslo."
            second = await Runner.run(agent, "What did I ask?", session=session)
            assert second.final_output == "You asked about Oslo."
            given = [item.get("content") or item.get("output") or item.get("name") for item in model.seen[-1]]
            assert given[0] == "What is the weather in Oslo?"
            assert "rain in Oslo" in given
            assert given[-1] == "What did I ask?"
            found = memory.search("weather Oslo", user="alex")
            assert "What is the weather in Oslo?" in [hit.message.content for hit in found]

    asyncio.run(use())


def talk(
    memory: Any, session_id: str, model: Scripted, text: str, user: str = "alex", budget: int | None = None
) -> str:
    """One run of the SDK's own runner, in a session with memory and tools."""
    session = EverwordSession(memory, session_id, user=user, budget=budget)
    agent = Agent(name="Assistant", instructions="Be brief.", model=model, tools=session.tools())
    config = RunConfig(call_model_input_filter=session.add_memory)
    return str(asyncio.run(Runner.run(agent, text, session=session, run_config=config)).final_output)


def tool_call(id: str, name: str, arguments: str) -> list[Any]:
    return [ResponseFunctionToolCall(type="function_call", call_id=id, name=name, arguments=arguments, id=id)]


@pytest.mark.checklist("G20")
def test_a_second_session_knows_what_the_first_was_told_and_nobody_else_s(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        model = Scripted(says("Tasty!"), says("Noted."), says("Ramen."), says("You like ramen."))
        talk(memory, "one", model, "The dish I like most is ramen.")
        talk(memory, "two", model, "The dish I like most is haggis.", user="sam")
        memory.settle()
        assert talk(memory, "three", model, "What dish do I like?") == "Ramen."
        told = model.instructions[-1] or ""
        assert told.startswith("Be brief.\n\n")
        assert "ramen" in told
        assert "haggis" not in told
        assert [item["content"] for item in model.seen[-1]] == ["What dish do I like?"]
        talk(memory, "one", model, "What dish do I like?")
        assert "The dish I like most is ramen." not in (model.instructions[-1] or ""), "the session shows it already"
        kept = [message.content for message in memory.conversation("three", user="alex").history()]
        assert kept == ["What dish do I like?", "Ramen."]


@pytest.mark.checklist("G20")
def test_the_model_searches_and_remembers_by_tools(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        remember = tool_call("c1", "remember", '{"statement": "I keep bees."}')
        nonsense = tool_call("c2", "remember", '{"statement": ""}')
        search = tool_call("c3", "search_memory", '{"query": "bees"}')
        model = Scripted(says("Nice!"), remember, nonsense, search, says("Bees."))
        talk(memory, "zero", model, "I bought two hives for my bees.")
        memory.settle()
        assert talk(memory, "one", model, "Remember that I keep bees.") == "Bees."
        outputs = [str(item["output"]) for item in model.seen[-1] if item.get("type") == "function_call_output"]
        assert len(outputs) == 3
        assert "bees" in outputs[0]
        assert "says nothing that can be remembered" in outputs[1]
        assert "I bought two hives" in outputs[2]


@pytest.mark.checklist("G20")
def test_a_memory_that_cannot_add_anything_does_not_fail_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        model = Scripted(says("Hello!"))
        assert talk(memory, "one", model, "Hello, what do you know of me?", budget=1) == "Hello!"
        assert model.instructions == ["Be brief."]
        assert "without the memory" in caplog.text
        with pytest.raises(InvalidInput, match="give the ID of the user"):
            EverwordSession(memory, "one").tools()

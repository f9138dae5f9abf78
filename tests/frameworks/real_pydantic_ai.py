"""Pydantic AI itself, through two runs: `make test-adapters`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from documented import run_example
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from everword import AsyncMemory, Memory
from everword.adapters.pydantic_ai import EverwordCapability


class Script:
    """Pydantic AI's own model of a function: it says what it was told to, and notes what it was sent."""

    def __init__(self, *replies: ModelResponse | str) -> None:
        self.replies = list(replies)
        self.instructions: list[str] = []
        self.messages: list[list[ModelMessage]] = []
        self.model = FunctionModel(self.answer, stream_function=self.stream)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions.append(info.instructions or "")
        self.messages.append(list(messages))
        reply = self.replies.pop(0)
        return ModelResponse([TextPart(reply)]) if isinstance(reply, str) else reply

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for part in self.answer(messages, info).parts:
            assert isinstance(part, TextPart)
            yield part.content[:3]
            yield part.content[3:]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def test_a_second_run_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory) -> None:
    script = Script("Tasty!", "Noted.", "Ramen.", "Yes.")
    agent = Agent(script.model, instructions="Be brief.")
    alex = EverwordCapability(memory, "alex")
    agent.run_sync("The dish I like most is ramen.", capabilities=[alex])
    agent.run_sync("The dish I like most is haggis.", capabilities=[EverwordCapability(memory, "sam")])
    memory.settle()
    second = agent.run_sync("What dish do I like?", capabilities=[alex], conversation_id="two")
    assert second.output == "Ramen."
    told = script.instructions[-1]
    assert told.startswith("Be brief.")
    assert "ramen" in told
    assert "haggis" not in told
    assert len(script.messages[-1]) == 1
    third = agent.run_sync("Sure?", message_history=second.all_messages(), capabilities=[alex])
    kept = [message.content for message in memory.conversation("two", user="alex").history()]
    assert kept == ["What dish do I like?", "Ramen.", "Sure?", "Yes."], "a history that is sent again is kept once"
    first = third.all_messages()[0]
    assert isinstance(first, ModelRequest)
    assert first.instructions == "Be brief.", "what the memory adds is not in the history"


def test_a_streamed_run_remembers_with_an_asynchronous_memory(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            script = Script("Tasty!", "Ramen.")
            agent = Agent(script.model, capabilities=[EverwordCapability(memory, "alex")])
            for text in ("The dish I like most is ramen.", "What dish do I like?"):
                async with agent.run_stream(text) as run:
                    pieces = [piece async for piece in run.stream_text(delta=True)]
                await memory.settle()
            assert "".join(pieces) == "Ramen."
            assert "most is ramen" in script.instructions[-1]
            replies = await memory.search("Ramen", user="alex", role="assistant")
            assert "Ramen." in [hit.message.content for hit in replies]

    asyncio.run(use())


def test_the_model_searches_and_remembers_by_tools(memory: Memory) -> None:
    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    search = ToolCallPart("search_memory", {"query": "bees"}, "c1")
    remember = ToolCallPart("remember", {"statement": "I keep bees."}, "c2")
    script = Script(ModelResponse([search, remember]), "You keep bees.")
    agent = Agent(script.model, capabilities=[EverwordCapability(memory, "alex")])
    assert agent.run_sync("Which animals do I keep?", conversation_id="one").output == "You keep bees."
    results = [part for message in script.messages[-1] for part in message.parts if isinstance(part, ToolReturnPart)]
    assert "I bought two hives" in results[0].model_response_str()
    assert "bees" in memory.profile(user="alex").text
    history = memory.conversation("one", user="alex").history()
    assert [message.role for message in history] == ["user", "assistant", "tool", "tool", "assistant"]


def test_a_memory_that_fails_does_not_fail_the_run(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    script = Script("Hello!")
    agent = Agent(script.model, capabilities=[EverwordCapability(memory, "alex")])
    memory.close()
    assert agent.run_sync("Hello").output == "Hello!"
    assert "without the memory" in caplog.text


def test_the_example_remembers(memory: Memory) -> None:
    script = Script("Tasty!", "Ramen.")
    agent = run_example("Pydantic AI", memory=memory, model=script.model)["agent"]
    memory.settle()
    agent.run_sync("What do I like?", capabilities=[EverwordCapability(memory, "kim")])
    assert "ramen" in script.instructions[-1]

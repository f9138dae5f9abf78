"""LlamaIndex itself, through two sessions of its own agent and chat engine: `make test-adapters`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from documented import run_example
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as SessionMemory

from everword import AsyncMemory, Memory
from everword.adapters.llamaindex import EverwordMemoryBlock


class Script:
    """LlamaIndex's own model for tests: it says what it was told to, and notes what it was sent."""

    def __init__(self, *replies: str | list[Any]) -> None:
        self.replies = list(replies)
        self.seen: list[list[ChatMessage]] = []
        self.model = MockFunctionCallingLLM(response_generator=self.answer, is_chat_model=True)

    def answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.seen.append(list(messages))
        reply = self.replies.pop(0)
        return ChatMessage(role="assistant", blocks=[TextBlock(text=reply)] if isinstance(reply, str) else reply)

    @property
    def sent(self) -> str:
        """All that it was last sent."""
        return "\n".join(message.content or "" for message in self.seen[-1])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def session(memory: Any, id: str, user: str = "alex") -> SessionMemory:
    return SessionMemory.from_defaults(session_id=id, memory_blocks=[EverwordMemoryBlock(memory, user=user)])


def say(script: Script, history: SessionMemory, text: str, tools: Any = ()) -> str:
    async def use() -> str:
        agent = FunctionAgent(llm=script.model, tools=list(tools), system_prompt="Be brief.", streaming=False)
        return str(await agent.run(text, memory=history))

    return asyncio.run(use())


def kept(memory: Memory, id: str) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in memory.conversation(id, user="alex").history()]


def test_a_second_session_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory) -> None:
    script = Script("Tasty!", "Noted.", "Ramen.", "Yes.")
    say(script, session(memory, "one"), "The dish I like most is ramen.")
    say(script, session(memory, "sam's", "sam"), "The dish I like most is haggis.")
    memory.settle()
    history = session(memory, "two")
    assert say(script, history, "What dish do I like?") == "Ramen."
    assert "ramen" in script.sent
    assert "haggis" not in script.sent
    assert script.seen[-1][-1].content == "What dish do I like?"
    turns = [("user", "What dish do I like?"), ("assistant", "Ramen.")]
    assert kept(memory, "two") == turns
    say(script, history, "Sure?")
    assert kept(memory, "two") == [*turns, ("user", "Sure?"), ("assistant", "Yes.")], "and each of them once"


def test_a_streaming_chat_engine_remembers_with_an_asynchronous_memory(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            script = Script("Tasty!", "Ramen.")
            for id, text in (("one", "The dish I like most is ramen."), ("two", "What dish do I like?")):
                history = session(memory, id)
                engine = SimpleChatEngine.from_defaults(llm=script.model, memory=history)
                stream = await engine.astream_chat(text)
                pieces = [piece async for piece in stream.async_response_gen()]
                await history.memory_blocks[0].aput(await history.aget_all(), session_id=id)
                await memory.settle()
            assert "".join(pieces) == "Ramen."
            assert "most is ramen" in script.sent
            replies = await memory.search("Ramen", user="alex", role="assistant")
            assert "Ramen." in [hit.message.content for hit in replies]

    asyncio.run(use())


def test_the_model_searches_and_remembers_by_tools(memory: Memory) -> None:
    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    search = ToolCallBlock(tool_call_id="c1", tool_name="search_memory", tool_kwargs={"query": "bees"})
    remember = ToolCallBlock(tool_call_id="c2", tool_name="remember", tool_kwargs={"statement": "I keep bees."})
    script = Script([search, remember], "You keep bees.")
    tools = EverwordMemoryBlock(memory, user="alex").tools()
    assert say(script, session(memory, "one"), "Which animals do I keep?", tools) == "You keep bees."
    assert "I bought two hives" in "".join(m.content or "" for m in script.seen[-1] if m.role == "tool")
    assert "bees" in memory.profile(user="alex").text
    assert [role for role, _ in kept(memory, "one")] == ["user", "assistant", "tool", "tool", "assistant"]


def test_a_memory_that_fails_does_not_fail_the_agent(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    script = Script("Hello!")
    history = session(memory, "one")
    memory.close()
    assert say(script, history, "Hello") == "Hello!"
    assert "without the memory" in caplog.text


def test_the_example_remembers(memory: Memory) -> None:
    script = Script("Tasty!", "Ramen.")
    example = run_example("LlamaIndex", memory=memory, model=script.model)
    script.model.is_chat_model = True
    asyncio.run(example["say"]("I like ramen."))
    memory.settle()
    say(script, session(memory, "two", "kim"), "What do I like?")
    assert "ramen" in script.sent

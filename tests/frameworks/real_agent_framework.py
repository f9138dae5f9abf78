"""Microsoft's Agent Framework itself, through two sessions: `make test-adapters`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from documented import run_example

from everword import AsyncMemory, InvalidInput, Memory
from everword.adapters.agent_framework import EverwordContextProvider


class Script(FunctionInvocationLayer, BaseChatClient):
    """A client of the framework's own kind: it says what it was told to, and notes what it was sent."""

    def __init__(self, *replies: str | list[Any]) -> None:
        super().__init__()
        self.replies = list(replies)
        self.seen: list[str] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        told = [str(options.get("instructions") or ""), *(text_of(message) for message in messages)]
        self.seen.append("\n".join(told))
        reply = self.replies.pop(0)
        contents = [Content.from_text(reply)] if isinstance(reply, str) else reply
        if stream:
            return ResponseStream(self.pieces(contents), finalizer=ChatResponse.from_updates)
        return self.whole(contents)

    async def whole(self, contents: list[Any]) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", contents)])

    async def pieces(self, contents: list[Any]) -> AsyncIterator[ChatResponseUpdate]:
        for content in contents:
            for text in (content.text[:3], content.text[3:]):
                yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)], message_id="m")


def text_of(message: Message) -> str:
    return str(message.text) + "".join(str(content.result or "") for content in message.contents)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def agent(memory: Any, client: Script, user: str | None = "alex") -> Any:
    return Agent(client, instructions="Be brief.", context_providers=[EverwordContextProvider(memory, user=user)])


def kept(memory: Memory, id: str) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in memory.conversation(id, user="alex").history()]


def test_a_second_session_knows_what_the_first_was_told_and_nobody_else_s(memory: Memory) -> None:
    client = Script("Tasty!", "Noted.", "Ramen.", "Yes.")

    async def use() -> None:
        alex = agent(memory, client)
        await alex.run("The dish I like most is ramen.", session=alex.create_session(session_id="one"))
        many = agent(memory, client, None)
        session = many.create_session(session_id="sam's")
        with pytest.raises(InvalidInput, match="user"):
            await many.run("Hello", session=session)
        session.state["user"] = "sam"
        await many.run("The dish I like most is haggis.", session=session)
        memory.settle()
        session = alex.create_session(session_id="two")
        assert (await alex.run("What dish do I like?", session=session)).text == "Ramen."
        assert client.seen[-1].startswith("Be brief.")
        assert "most is ramen" in client.seen[-1]
        assert "haggis" not in client.seen[-1]
        await alex.run("Sure?", session=session)

    asyncio.run(use())
    turns = [("user", "What dish do I like?"), ("assistant", "Ramen."), ("user", "Sure?"), ("assistant", "Yes.")]
    assert kept(memory, "two") == turns
    assert client.seen[-1].count("What dish do I like?") == 1, "what the session shows is not shown once more"


def test_a_streamed_run_remembers_with_an_asynchronous_memory(tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncMemory(str(tmp_path / "m.db"), followers=False) as memory:
            client = Script("Tasty!", "Ramen.")
            alex = agent(memory, client)
            for text in ("The dish I like most is ramen.", "What dish do I like?"):
                stream = alex.run(text, session=alex.create_session(), stream=True)
                assert [update.text async for update in stream]
                await memory.settle()
            assert "most is ramen" in client.seen[-1]
            replies = await memory.search("Ramen", user="alex", role="assistant")
            assert "Ramen." in [hit.message.content for hit in replies]

    asyncio.run(use())


def test_the_model_searches_and_remembers_by_tools(memory: Memory) -> None:
    memory.conversation("past", user="alex").add("user", "I bought two hives for my bees.")
    memory.settle()
    search = Content.from_function_call("c1", "search_memory", arguments='{"query": "bees"}')
    remember = Content.from_function_call("c2", "remember", arguments='{"statement": "I keep bees."}')
    client = Script([search, remember], "You keep bees.")
    alex = agent(memory, client)
    run = alex.run("Which animals do I keep?", session=alex.create_session(session_id="one"))
    assert asyncio.run(run).text == "You keep bees."
    assert "I bought two hives" in client.seen[-1]
    assert "bees" in memory.profile(user="alex").text
    assert [role for role, _ in kept(memory, "one")] == ["user", "assistant", "tool", "tool", "assistant"]


def test_a_memory_that_fails_does_not_fail_the_run(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    alex = agent(memory, Script("Hello!"))
    memory.close()
    assert asyncio.run(alex.run("Hello", session=alex.create_session())).text == "Hello!"
    assert "without the memory" in caplog.text


def test_the_example_remembers(memory: Memory) -> None:
    client = Script("Tasty!", "Ramen.")
    example = run_example("Microsoft Agent Framework", memory=memory, client=client)
    asyncio.run(example["say"]("I like ramen."))
    memory.settle()
    kim = agent(memory, client, "kim")
    asyncio.run(kim.run("What do I like?", session=kim.create_session()))
    assert "ramen" in client.seen[-1]

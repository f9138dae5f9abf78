"""LangChain's chat history on a memory: every kind of message comes back as it was, and clearing begins anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
)

from recollect import AsyncMemory, InvalidInput, Memory, RecollectError
from recollect.adapters.langchain import RecollectChatMessageHistory

CALL = {"name": "weather", "args": {"city": "Oslo"}, "id": "call-1", "type": "tool_call"}
EVERY: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("Wie ist das Wetter in Oslo? ☔️", id="m1"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage('{"rain": true}', tool_call_id="call-1", status="error"),
    AIMessage("It rains.", usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}),
    HumanMessage([{"type": "text", "text": "And here?"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]),
    ChatMessage(content="aside", role="narrator"),
    HumanMessage("named", name="Kim", additional_kwargs={"x": 1}),
]


def shown(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    return [message_to_dict(message) for message in messages]


def test_every_kind_of_message_comes_back_as_it_was(store_url: str) -> None:
    with Memory(store_url) as memory:
        history = RecollectChatMessageHistory(memory, "chat", user="alex")
        assert history.messages == []
        history.add_messages(EVERY)
        history.add_user_message("thanks")
        history.add_ai_message("You are welcome.")
        assert shown(history.messages) == shown([*EVERY, HumanMessage("thanks"), AIMessage("You are welcome.")])
        assert [message.role for message in memory.conversation("chat", user="alex").history()][:5] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert memory.search("weather in Oslo", user="alex")[0].message.content == EVERY[1].content
    with Memory(store_url) as memory:
        assert len(RecollectChatMessageHistory(memory, "chat", user="alex").messages) == len(EVERY) + 2
        assert "Human: thanks" in str(RecollectChatMessageHistory(memory, "chat", user="alex"))


def test_a_message_with_an_id_is_kept_once(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        history = RecollectChatMessageHistory(memory, "chat")
        for _ in range(3):
            history.add_messages([HumanMessage("hello", id="m1"), HumanMessage("hello")])
        assert [message.id for message in history.messages] == ["m1", None, None, None]


def test_clearing_begins_anew_and_the_log_keeps_all(store_url: str) -> None:
    with Memory(store_url) as memory:
        history = RecollectChatMessageHistory(memory, "chat", user="alex")
        history.clear()
        history.add_messages([HumanMessage("The zebra is called Otto.", id="m1")])
        history.clear()
        history.clear()
        assert history.messages == []
        history.add_messages([HumanMessage("again", id="m1")])
        assert [message.content for message in history.messages] == ["again"]
        assert [one.id for one in memory.conversations()] == ["chat", "chat~2"]
        assert memory.search("zebra", user="alex")[0].message.content == "The zebra is called Otto."
        assert [m.content for m in memory.export(user="alex")] == ["The zebra is called Otto.", "again"]
        assert memory.verify().ok
        memory.erase(user="alex")
        assert memory.documents().search() == []
        assert RecollectChatMessageHistory(memory, "chat", user="alex").messages == []


def test_what_cannot_be_kept_is_refused_whole(tmp_path: Any) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        history = RecollectChatMessageHistory(memory, "chat")
        with pytest.raises(InvalidInput):
            history.add_messages([HumanMessage("fine"), HumanMessage("nul \x00")])
        assert history.messages == []
        with pytest.raises(InvalidInput, match="session"):
            RecollectChatMessageHistory(memory, "x" * 300)


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_the_asynchronous_methods_work_with_both_memories(tmp_path: Any, kind: type[Any]) -> None:
    async def use(memory: Any) -> None:
        history = RecollectChatMessageHistory(memory, "chat", user="alex")
        await history.aadd_messages(EVERY)
        assert shown(await history.aget_messages()) == shown(EVERY)
        await history.aclear()
        assert await history.aget_messages() == []

    async def both() -> None:
        memory = kind(str(tmp_path / "m.db"), followers=False)
        if isinstance(memory, Memory):
            with memory:
                await use(memory)
            return
        async with memory:
            await use(memory)
            with pytest.raises(RecollectError, match="asynchronous methods"):
                RecollectChatMessageHistory(memory, "chat", user="alex").clear()

    asyncio.run(both())

"""LangChain's chat history on a memory: every kind of message comes back as it was, and clearing begins anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
    message_to_dict,
)
from langchain_core.runnables.history import RunnableWithMessageHistory

from everword import AsyncMemory, EverwordError, InvalidInput, Memory
from everword.adapters.langchain import EverwordChatMessageHistory

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
        history = EverwordChatMessageHistory(memory, "chat", user="alex")
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
        assert len(EverwordChatMessageHistory(memory, "chat", user="alex").messages) == len(EVERY) + 2
        assert "Human: thanks" in str(EverwordChatMessageHistory(memory, "chat", user="alex"))


SPEAKERS: list[tuple[BaseMessage, str]] = [
    (AIMessageChunk(content="streamed"), "assistant"),
    (HumanMessageChunk(content="streamed"), "user"),
    (SystemMessageChunk(content="streamed"), "system"),
    (ToolMessageChunk(content="streamed", tool_call_id="call-1"), "tool"),
    (ChatMessageChunk(content="streamed", role="assistant"), "assistant"),
    (FunctionMessage(content="answered", name="weather"), "tool"),
    (ChatMessage(content="I am the model", role="assistant"), "assistant"),
    (ChatMessage(content="I am the user", role="user"), "user"),
    (ChatMessage(content="Be brief", role="developer"), "system"),
    (ChatMessage(content="aside", role="narrator"), "user"),
    (AIMessage("an empty id is none", id=""), "assistant"),
    (
        AIMessage([{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]),
        "assistant",
    ),
]


def test_whoever_spoke_is_kept_as_the_one_who_spoke(tmp_path: Any) -> None:
    """Else what a model said, streamed, would be learned as said by its user."""
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        history = EverwordChatMessageHistory(memory, "chat", user="alex")
        history.add_messages([message for message, _ in SPEAKERS])
        assert shown(history.messages) == shown([message for message, _ in SPEAKERS])
        kept = memory.conversation("chat", user="alex").history()
        assert [message.role for message in kept] == [role for _, role in SPEAKERS]


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory")
def test_a_streamed_run_of_langchain_is_kept_with_both_speakers(tmp_path: Any) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        model = GenericFakeChatModel(messages=iter([AIMessage("I live in Oslo, said the model")]))
        chain = RunnableWithMessageHistory(model, lambda id: EverwordChatMessageHistory(memory, id, user="alex"))
        said = "".join(
            str(chunk.content)
            for chunk in chain.stream([HumanMessage("hello")], {"configurable": {"session_id": "chat"}})
        )
        assert said == "I live in Oslo, said the model"
        kept = memory.conversation("chat", user="alex").history()
        assert [(message.role, message.content) for message in kept] == [("user", "hello"), ("assistant", said)]


def test_one_session_is_never_anothers_however_they_are_called(store_url: str) -> None:
    names = ["chat", "chat~2", "chat~1", "chat~2~1", "chat~", "~2", "chat~02"]
    with Memory(store_url, followers=False) as memory:
        histories = {name: EverwordChatMessageHistory(memory, name, user="alex") for name in names}
        for turn in ("first", "second", "third"):
            for name, history in histories.items():
                history.clear()
                assert history.messages == [], (turn, name)
                history.add_messages([HumanMessage(f"{turn} of {name}")])
            for name, history in histories.items():
                assert [message.content for message in history.messages] == [f"{turn} of {name}"]


def test_a_message_that_could_not_be_read_back_is_refused(tmp_path: Any) -> None:
    class Odd(BaseMessage):
        type: str = "odd"

    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        history = EverwordChatMessageHistory(memory, "chat")
        with pytest.raises(InvalidInput, match=r"messages: .*odd"):
            history.add_messages([HumanMessage("fine"), Odd(content="no")])
        assert history.messages == []


def test_a_message_with_an_id_is_kept_once(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        history = EverwordChatMessageHistory(memory, "chat")
        for _ in range(3):
            history.add_messages([HumanMessage("hello", id="m1"), HumanMessage("hello")])
        assert [message.id for message in history.messages] == ["m1", None, None, None]


def test_clearing_begins_anew_and_the_log_keeps_all(store_url: str) -> None:
    with Memory(store_url) as memory:
        history = EverwordChatMessageHistory(memory, "chat", user="alex")
        history.clear()
        history.add_messages([HumanMessage("The zebra is called Otto.", id="m1")])
        history.clear()
        history.clear()
        assert history.messages == []
        history.add_messages([HumanMessage("again", id="m1")])
        assert [message.content for message in history.messages] == ["again"]
        assert [one.id for one in memory.conversations()] == ["chat~2", "chat"]
        assert memory.search("zebra", user="alex")[0].message.content == "The zebra is called Otto."
        assert [m.content for m in memory.export(user="alex")] == ["The zebra is called Otto.", "again"]
        assert memory.verify().ok
        memory.erase(user="alex")
        assert memory.documents().search() == []
        assert EverwordChatMessageHistory(memory, "chat", user="alex").messages == []


def test_what_cannot_be_kept_is_refused_whole(tmp_path: Any) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        history = EverwordChatMessageHistory(memory, "chat")
        with pytest.raises(InvalidInput):
            history.add_messages([HumanMessage("fine"), HumanMessage("nul \x00")])
        assert history.messages == []
        with pytest.raises(InvalidInput, match="session"):
            EverwordChatMessageHistory(memory, "x" * 300)


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_the_asynchronous_methods_work_with_both_memories(tmp_path: Any, kind: type[Any]) -> None:
    async def use(memory: Any) -> None:
        history = EverwordChatMessageHistory(memory, "chat", user="alex")
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
            with pytest.raises(EverwordError, match="asynchronous methods"):
                EverwordChatMessageHistory(memory, "chat", user="alex").clear()

    asyncio.run(both())

"""A chat model of LangChain that says what it was told to, and notes what it was sent."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class ScriptedChat(BaseChatModel):
    replies: list[AIMessage]
    seen: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def sent(self) -> str:
        """All that it was last sent."""
        return "\n".join(str(message.content) for message in self.seen[-1])

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.replies[len(self.seen) - 1])])


def scripted(*replies: str | AIMessage) -> ScriptedChat:
    messages = [AIMessage(reply) if isinstance(reply, str) else reply for reply in replies]
    return ScriptedChat(replies=messages, seen=[])

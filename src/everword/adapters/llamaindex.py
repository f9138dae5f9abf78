"""Memory for agents and chat engines of LlamaIndex: a block of its `Memory`.

The block is asked for its content before each call of a model: then it keeps what is new of the history, and gives what
the memory adds. The `session_id` of LlamaIndex's `Memory` is the conversation. Its agents ask once more after a reply;
a chat engine's last reply is kept with the message after it, or by `aput`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory, TurnMemory, call_fields, check_local, result_fields
from everword.errors import MissingExtra
from everword.openai.request_layouts import Fields

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.tools import FunctionTool
except ImportError:
    raise MissingExtra("llamaindex", "the memory block for LlamaIndex") from None

CALLS = "tool_calls"  # where models of OpenAI's kind keep their calls
CALL_ID = "tool_call_id"


class EverwordMemoryBlock(BaseMemoryBlock[str]):
    """A memory in LlamaIndex's.

    block = EverwordMemoryBlock(memory, user="alex")
    history = Memory.from_defaults(session_id="chat-1", memory_blocks=[block])
    await FunctionAgent(llm=llm, tools=block.tools()).run("Where do I live?", memory=history)
    """

    _turns: TurnMemory = PrivateAttr()

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user: str,
        conversation: str | None = None,
        space: str | None = None,
        budget: int | None = None,
        name: str = "everword",
    ) -> None:
        super().__init__(name=name, accept_short_term_memory=False)  # it has kept what leaves the short-term memory
        check_local(memory)
        self._turns = TurnMemory(memory, user, conversation, space, budget)

    def tools(self) -> list[FunctionTool]:
        """Tools for the model: search the memory of the user, and remember something for good."""
        return [FunctionTool.from_defaults(async_fn=work) for work in (self._turns.search_memory, self._turns.remember)]

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        turns = self._turns_of(block_kwargs.get("session_id"))
        messages = messages or []
        if messages[-1:] == messages[-2:-1]:  # after tools, LlamaIndex's agents give the question of the turn once more
            messages = messages[:-1]
        if not messages or messages[-1].role == "assistant":
            await turns.akeep(partial(openai_fields, messages))
            return ""
        turn = await turns.abegin(partial(openai_fields, messages))
        return "\n\n".join(turn.texts) if turn else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        session = next((message.additional_kwargs.get("session_id") for message in messages), None)
        await self._turns_of(session).akeep(partial(openai_fields, messages))

    def _turns_of(self, session: str | None) -> TurnMemory:
        known = self._turns
        return TurnMemory(known.memory, known.user, known.conversation or session, known.space, known.budget)


def openai_fields(messages: Sequence[ChatMessage]) -> list[Fields]:
    """Messages of LlamaIndex in OpenAI's shape."""
    return [message_fields(message) for message in messages]


def message_fields(message: ChatMessage) -> Fields:
    role = str(message.role.value)
    if role in ("tool", "function"):
        return result_fields(str(message.additional_kwargs.get(CALL_ID) or ""), message.content or "")
    if role in ("assistant", "chatbot", "model"):
        return call_fields(message.content or "", [*block_calls(message), *openai_calls(message)])
    parts = [part for block in message.blocks if (part := content_part(block))]
    return {"role": role if role in ("system", "developer") else "user", "content": parts}


def block_calls(message: ChatMessage) -> list[tuple[str, str, str]]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    return [(block.tool_call_id or "", block.tool_name, as_json(block.tool_kwargs)) for block in blocks]


def openai_calls(message: ChatMessage) -> list[tuple[str, str, str]]:
    calls = [call for call in message.additional_kwargs.get(CALLS) or () if hasattr(call, "function")]
    return [(str(call.id or ""), str(call.function.name), str(call.function.arguments)) for call in calls]


def content_part(block: Any) -> Fields:
    """A part of a user's message: text, or that there is something else."""
    return {"type": "text", "text": block.text} if isinstance(block, TextBlock) else {"type": block.block_type}


def as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

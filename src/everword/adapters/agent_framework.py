"""Memory for agents of Microsoft's Agent Framework: a context provider.

Before a run it keeps what the user says, and adds what the memory knows to the instructions, and tools. After it,
what the agent said and did is kept. The session's id is the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from everword.adapters.blocking_or_async import (
    AnyMemory,
    Thread,
    TurnMemory,
    attempt_async,
    call_fields,
    check_local,
    result_fields,
    run_shielded,
)
from everword.errors import MissingExtra
from everword.memory.memory import MemoryFace
from everword.openai.messages import as_draft
from everword.openai.request_layouts import Fields

try:
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun
except ImportError:
    raise MissingExtra("agent-framework", "the context provider for Agent Framework") from None


class EverwordContextProvider(ContextProvider):
    """A memory for an agent: `Agent(client, context_providers=[EverwordContextProvider(memory, user="alex")])`.

    An agent that serves many people has the user in the state of the session: `session.state["user"] = "alex"`.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user: str | None = None,
        space: str | None = None,
        budget: int | None = None,
        with_tools: bool = True,
        source_id: str = "everword",
    ) -> None:
        super().__init__(source_id)
        check_local(memory)
        self._memory, self._user, self._space, self._budget = memory, user, space, budget
        self._with_tools = with_tools

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        turns = self._turns(session)
        thread = Thread(session.session_id, turns.user, self._space)
        await self._keep(thread, context.input_messages)
        users_texts = [message.text for message in context.input_messages if message.role == "user"]
        texts = await turns.arecall(users_texts[-1] if users_texts else "", thread)
        context.extend_instructions(self.source_id, texts)
        if self._with_tools:
            context.extend_tools(self.source_id, [turns.search_memory, turns.remember])

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        thread = Thread(session.session_id, self._turns(session).user, self._space)
        await self._keep(thread, context.response.messages if context.response else [])

    async def _keep(self, thread: Thread, messages: Sequence[Message]) -> None:
        async def add(memory: MemoryFace) -> None:
            drafts = [as_draft(fields) for message in messages for fields in openai_fields(message)]
            await thread.add(drafts, memory)

        await attempt_async(lambda: run_shielded(self._memory, add))

    def _turns(self, session: AgentSession) -> TurnMemory:
        user = self._user or session.state.get("user") or ""
        return TurnMemory(self._memory, user, None, self._space, self._budget)


def openai_fields(message: Message) -> list[Fields]:
    """A message of Agent Framework in OpenAI's shape, where each result of a tool is a message of its own."""
    results = [content for content in message.contents if content.type == "function_result"]
    if results:
        return [result_fields(str(content.call_id or ""), as_text(content.result)) for content in results]
    calls = [content for content in message.contents if content.type == "function_call"]
    if calls or message.role == "assistant":
        told = [(str(call.call_id or ""), str(call.name or ""), as_text(call.arguments)) for call in calls]
        return [call_fields(message.text, told)] if calls or message.text.strip() else []
    parts = [part for content in message.contents if (part := content_part(content))]
    role = "system" if message.role == "system" else "user"
    return [{"role": role, "content": parts}] if parts else []


def content_part(content: Any) -> Fields:
    """A part of a user's message: text, or that there is something else."""
    return {"type": "text", "text": content.text} if content.type == "text" else {"type": str(content.type)}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value or {}, ensure_ascii=False, default=str)

"""Memory for graphs of LangGraph and chat models of LangChain: what it knows before a model is asked, the turn after.

`EverwordNodes` has a hook before the model (`recall`), one after it (`keep`), and tools. The user and the conversation
are the `user_id` and `thread_id` of the run's configuration. A history that is sent again is kept once. What the memory
adds is in the instructions, since some models take no others. If the memory fails, the graph goes on without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory, TurnMemory, blocking_tool, check_local, with_texts
from everword.errors import InvalidInput, MissingExtra
from everword.memory.openai_relay import ProgramTurn
from everword.openai.request_layouts import Fields

try:
    from langchain_core.messages import BaseMessage, SystemMessage, convert_to_openai_messages
    from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
    from langchain_core.tools import BaseTool, StructuredTool
except ImportError:
    raise MissingExtra("langgraph", "memory in the nodes of a graph") from None


class EverwordNodes:
    """Hooks, nodes and tools with a memory.

    nodes = EverwordNodes(memory)
    agent = create_react_agent(model, nodes.tools("alex"), pre_model_hook=nodes.recall, post_model_hook=nodes.keep)
    agent.invoke({"messages": [...]}, {"configurable": {"thread_id": "chat-1", "user_id": "alex"}})

    In a graph of your own, `nodes.recalled(state["messages"], config)` is what to send to the model, and `keep` is a
    node after it. With a `Memory` graphs run either way; with an `AsyncMemory` asynchronously.
    """

    def __init__(
        self, memory: AnyMemory, *, user: str | None = None, space: str | None = None, budget: int | None = None
    ) -> None:
        check_local(memory)
        self._memory, self._user, self._space, self._budget = memory, user, space, budget
        self.recall: Runnable[Any, Any] = RunnableLambda(self._recall, self._arecall, name="recall")
        self.keep: Runnable[Any, Any] = RunnableLambda(self._keep, self._akeep, name="keep")

    def recalled(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> list[BaseMessage]:
        """Keep what is new of the messages; the same messages with what the memory adds."""
        return add_instructions(messages, self.turns(config).begin(partial(openai_fields, messages)))

    async def arecalled(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> list[BaseMessage]:
        return add_instructions(messages, await self.turns(config).abegin(partial(openai_fields, messages)))

    def tools(self, user: str) -> list[BaseTool]:
        """Tools of one user: search the memory, and remember something for good."""
        turns = TurnMemory(self._memory, user, None, self._space)
        return [
            StructuredTool.from_function(blocking_tool(self._memory, work), work)
            for work in (turns.search_memory, turns.remember)
        ]

    def turns(self, config: Mapping[str, Any]) -> TurnMemory:
        """The memory of a run, by its configuration."""
        fields = config.get("configurable") or {}
        user, thread = self._user or fields.get("user_id"), fields.get("thread_id")
        if user is None:
            raise InvalidInput(
                "user",
                'is missing; give the ID of the user: {"configurable": {"user_id": …}} or EverwordNodes(…, user=…)',
            )
        return TurnMemory(self._memory, str(user), None if thread is None else str(thread), self._space, self._budget)

    def _recall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {"llm_input_messages": self.recalled(messages_of(state), config)}

    async def _arecall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {"llm_input_messages": await self.arecalled(messages_of(state), config)}

    def _keep(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        self.turns(config).keep(partial(openai_fields, messages_of(state)))
        return {}

    async def _akeep(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        await self.turns(config).akeep(partial(openai_fields, messages_of(state)))
        return {}


def messages_of(state: Any) -> list[BaseMessage]:
    return list(state["messages"] if isinstance(state, Mapping) else state.messages)


def openai_fields(messages: Sequence[BaseMessage]) -> list[Fields]:
    """Messages of LangChain in OpenAI's shape."""
    return [dict(message) for message in convert_to_openai_messages(list(messages))]


def add_instructions(messages: Sequence[BaseMessage], turn: ProgramTurn | None) -> list[BaseMessage]:
    """Messages with what the memory adds to the instructions at their beginning."""
    if turn is None or not turn.texts:
        return list(messages)
    own = messages[0] if messages and isinstance(messages[0], SystemMessage) else None
    return [system_message(own, turn), *messages[0 if own is None else 1 :]]


def system_message(own: SystemMessage | None, turn: ProgramTurn) -> SystemMessage:
    if own is not None and not isinstance(own.content, str):
        return SystemMessage([*own.content, *({"type": "text", "text": text} for text in turn.texts)])
    return SystemMessage(with_texts(None if own is None else str(own.content), turn.texts) or "")

"""Memory for agents of LangChain: a middleware around each call of the model, with tools to search and remember."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory
from everword.adapters.langgraph_nodes import EverwordNodes, openai_fields, system_message
from everword.errors import MissingExtra
from everword.memory.openai_relay import ProgramTurn
from everword.openai.request_layouts import Fields

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langgraph.config import get_config
except ImportError:
    raise MissingExtra("langchain", "the middleware for LangChain's agents") from None


class EverwordMiddleware(AgentMiddleware[Any, Any, Any]):
    """A memory for an agent of LangChain: `create_agent(model, middleware=[EverwordMiddleware(memory)])`.

    The user and the conversation are the `user_id` and `thread_id` of the run's configuration. With a `user`, the agent
    is that user's, and the model has tools to search and remember.
    """

    def __init__(
        self, memory: AnyMemory, *, user: str | None = None, space: str | None = None, budget: int | None = None
    ) -> None:
        super().__init__()
        self._nodes = EverwordNodes(memory, user=user, space=space, budget=budget)
        self.tools = [] if user is None else self._nodes.tools(user)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        turns = self._nodes.turns(get_config())
        turn = turns.begin(partial(openai_fields, request.messages))
        response = handler(with_memory(request, turn))
        turns.end(turn, partial(reply_fields, response))
        return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        turns = self._nodes.turns(get_config())
        turn = await turns.abegin(partial(openai_fields, request.messages))
        response = await handler(with_memory(request, turn))
        await turns.aend(turn, partial(reply_fields, response))
        return response


def with_memory(request: ModelRequest[Any], turn: ProgramTurn | None) -> ModelRequest[Any]:
    if turn is None or not turn.texts:
        return request
    return request.override(system_message=system_message(request.system_message, turn))


def reply_fields(response: ModelResponse[Any]) -> Fields:
    return openai_fields(response.result)[0]

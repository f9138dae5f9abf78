"""Memory for agents of Pydantic AI: a capability that adds what it knows to each request, with tools; turns are kept.

Its `before_model_request` is what a history processor is: it sees the history of the run, and what it adds goes to the
model and not into that history. The run's `conversation_id` says which conversation it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory, TurnMemory, call_fields, check_local, result_fields
from everword.errors import MissingExtra
from everword.memory.openai_relay import ProgramTurn
from everword.openai.request_layouts import Fields

try:
    from pydantic_ai import FunctionToolset, RunContext, messages
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import ModelRequestContext
except ImportError:
    raise MissingExtra("pydantic-ai", "the capability for Pydantic AI") from None


@dataclass
class EverwordCapability(AbstractCapability[Any]):
    """A memory for an agent, or for one run of it.

    Agent(model, capabilities=[EverwordCapability(memory, "alex")])
    agent.run_sync("Where do I live?", capabilities=[EverwordCapability(memory, "alex")])
    """

    memory: AnyMemory
    user: str
    conversation: str | None = None
    space: str | None = None
    budget: int | None = None
    with_tools: bool = True

    def __post_init__(self) -> None:
        check_local(self.memory)
        self._turn: ProgramTurn | None = None

    async def for_run(self, ctx: RunContext[Any]) -> EverwordCapability:
        """Another one for each run, since a run has turns of its own."""
        return copy(self)

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Tools for the model: search the memory of the user, and remember something for good."""
        turns = self._turns(None)
        return FunctionToolset([turns.search_memory, turns.remember]) if self.with_tools else None

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        turns = self._turns(self.conversation or ctx.conversation_id)
        self._turn = await turns.abegin(partial(openai_fields, request_context.messages))
        return request_context

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add what the memory adds to this request; the history of the run does not keep it."""
        parameters = request_context.model_request_parameters
        added = [messages.InstructionPart(text, dynamic=True) for text in (self._turn.texts if self._turn else ())]
        parts = [*(parameters.instruction_parts or ()), *added]
        return replace(request_context, model_request_parameters=replace(parameters, instruction_parts=parts))

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: messages.ModelResponse
    ) -> messages.ModelResponse:
        await self._turns(None).aend(self._turn, partial(reply_fields, response))
        return response

    def _turns(self, conversation: str | None) -> TurnMemory:
        return TurnMemory(self.memory, self.user, conversation, self.space, self.budget)


def openai_fields(history: Sequence[messages.ModelMessage]) -> list[Fields]:
    """Messages of Pydantic AI in OpenAI's shape, without instructions."""
    return [
        fields
        for message in history
        for fields in (
            request_fields(message) if isinstance(message, messages.ModelRequest) else [reply_fields(message)]
        )
    ]


def request_fields(request: messages.ModelRequest) -> Iterator[Fields]:
    for part in request.parts:
        if isinstance(part, messages.UserPromptPart):
            yield {"role": "user", "content": [content_part(item) for item in as_list(part.content)]}
        elif isinstance(part, messages.ToolReturnPart):
            yield result_fields(part.tool_call_id, part.model_response_str())
        elif isinstance(part, messages.RetryPromptPart):
            text = part.model_response()
            yield result_fields(part.tool_call_id, text) if part.tool_name else {"role": "user", "content": text}


def reply_fields(response: messages.ModelResponse) -> Fields:
    text = "".join(part.content for part in response.parts if isinstance(part, messages.TextPart))
    calls = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
    return call_fields(text, [(call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in calls])


def content_part(item: Any) -> Fields:
    """A part of a user's message: text, or that there is something else."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": str(getattr(item, "kind", "other")), "id": str(getattr(item, "identifier", ""))}


def as_list(content: Any) -> list[Any]:
    return [content] if isinstance(content, str) else list(content)

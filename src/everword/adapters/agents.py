"""The OpenAI Agents SDK's `Session`: a conversation of the memory, whose items come back as they were given.

`add_memory` adds what the memory knows from other sessions to the instructions of each call, and `tools` lets the model
search and remember. A message is kept as a message; a tool's call and its output are kept as text that can be found,
with the item itself in the metadata. `pop_item` and `clear_session` change what the session shows, and nothing in the
log; see `bridge`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from everword.adapters.blocking_or_async import AnyMemory, Thread, TurnMemory, run_async, run_shielded, with_texts
from everword.errors import InvalidInput, MissingExtra
from everword.memory.memory import MemoryFace
from everword.model import Draft, Message, Role

try:
    from agents import Tool, function_tool
    from agents.memory import SessionSettings
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.run_config import CallModelData, ModelInputData
except ImportError:
    raise MissingExtra("agents", "the session for the OpenAI Agents SDK") from None

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

ORIGINAL = "agents"  # the metadata key that holds the item as the SDK gave it
ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "developer": "system",
}
PLAIN_ROLES = ("user", "assistant", "system")  # roles whose messages are only a role and a text
TEXT_FIELDS = ("text", "refusal", "stdout", "stderr")  # the fields of an item's part that hold text


class EverwordSession(SessionABC):
    """A session in a memory.

    session = EverwordSession(memory, "chat-1", user="alex")
    config = RunConfig(call_model_input_filter=session.add_memory)
    await Runner.run(Agent(name="Assistant", tools=session.tools()), "Hello", session=session, run_config=config)
    """

    def __init__(
        self,
        memory: AnyMemory,
        session_id: str,
        *,
        user: str | None = None,
        space: str | None = None,
        budget: int | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._memory = memory
        self._thread = Thread(session_id, user, space)
        self._user, self._space, self._budget = user, space, budget

    async def add_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """What a model is sent, with what the memory adds to its instructions: for `call_model_input_filter`."""
        users_items = (item for item in reversed(data.model_data.input) if item.get("role") == "user")
        texts = await self._turns.arecall(item_text(next(users_items, {})), self._thread)
        return ModelInputData(data.model_data.input, with_texts(data.model_data.instructions, texts))

    def tools(self) -> list[Tool]:
        """Tools for the model: search the memory of the session's user, and remember something for good."""
        return [function_tool(self._turns.search_memory), function_tool(self._turns.remember)]

    @property
    def _turns(self) -> TurnMemory:
        if self._user is None:
            raise InvalidInput("user", 'is missing; give the ID of the user, as in EverwordSession(…, user="alex")')
        return TurnMemory(self._memory, self._user, None, self._space, self._budget)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The session's items, oldest first; with a limit, the last ones. A limit below 0 is no limit."""
        max_items = resolve_session_limit(limit, self.session_settings)
        count = None if max_items is None or max_items < 0 else max_items
        return await run_async(self._memory, partial(self._read, count))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, all of them or none."""
        drafts = [draft_from_item(cast("Mapping[str, Any]", item)) for item in items]
        await run_shielded(self._memory, partial(self._thread.add, drafts))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item from the session. The log keeps it."""
        message = await run_shielded(self._memory, self._thread.pop)
        return None if message is None else restore_item(message)

    async def clear_session(self) -> None:
        """Empty the session. The log keeps its messages; `memory.erase` removes them for good."""
        await run_shielded(self._memory, self._thread.clear)

    async def _read(self, limit: int | None, memory: MemoryFace) -> list[TResponseInputItem]:
        return [restore_item(message) for message in await self._thread.messages(limit, memory)]


def draft_from_item(item: Mapping[str, Any]) -> Draft:
    if not isinstance(item, Mapping):
        raise InvalidInput("items", f"contains a {type(item).__name__}; each item must be a dictionary")
    role = ROLES.get(str(item.get("role")))
    if role is None:
        role = "tool" if str(item.get("type")).endswith("_output") else "assistant"
    text = item_text(item)
    is_plain = item.get("role") in PLAIN_ROLES and dict(item) == {"role": role, "content": text}
    return Draft(role, text, metadata={} if is_plain and text.strip() else {ORIGINAL: dict(item)})


def item_text(item: Mapping[str, Any]) -> str:
    """The text of an item: of a message, of a tool's call, or of a tool's output."""
    if item.get("type") in ("function_call", "custom_tool_call"):
        return f"{item.get('name')}({item.get('arguments', item.get('input', ''))})"
    content = item.get("content", item.get("output"))
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get(name) for part in content if isinstance(part, Mapping) for name in TEXT_FIELDS]
        return "\n".join(part for part in parts if part and isinstance(part, str))
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)


def restore_item(message: Message) -> TResponseInputItem:
    original = message.metadata.get(ORIGINAL)
    item = {"role": message.role, "content": message.content} if original is None else original
    return cast("TResponseInputItem", item)

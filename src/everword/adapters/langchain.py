"""LangChain's chat message history: a session is a conversation of the memory, kept word for word.

Each message comes back as it was given, tool calls and all: what a role and a text do not say is in its metadata. A
message with an id is kept once, however often it is added. `clear` begins a new conversation; see `bridge`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from everword.adapters.blocking_or_async import AnyMemory, Thread, run_async, run_blocking, run_shielded
from everword.errors import InvalidInput, MissingExtra
from everword.memory.memory import MemoryFace
from everword.model import Draft, Message, Role

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, message_chunk_to_message
    from langchain_core.messages import message_to_dict as as_dict
    from langchain_core.messages import messages_from_dict as from_dicts
except ImportError:
    raise MissingExtra("langchain", "the chat history for LangChain") from None

ORIGINAL = "langchain"  # the metadata key that holds the message as LangChain writes it
KINDS: dict[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
ROLES = KINDS | {"user": "user", "assistant": "assistant", "developer": "system"}  # roles a ChatMessage may have
PLAIN_CLASSES: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage, "system": SystemMessage}


class EverwordChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, such as `RunnableWithMessageHistory` asks for.

    With a `Memory` both the blocking and the asynchronous methods work; with an `AsyncMemory` the asynchronous ones.
    """

    def __init__(
        self, memory: AnyMemory, session_id: str, *, user: str | None = None, space: str | None = None
    ) -> None:
        self._memory = memory
        self._thread = Thread(session_id, user, space)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The session's messages, oldest first."""
        return run_blocking(self._memory, self._read)

    async def aget_messages(self) -> list[BaseMessage]:
        return await run_async(self._memory, self._read)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Keep messages, all of them or none."""
        run_blocking(self._memory, partial(self._thread.add, drafts_from(messages)))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        await run_shielded(self._memory, partial(self._thread.add, drafts_from(messages)))

    def clear(self) -> None:
        """Empty the session. The log keeps its messages; `memory.erase` removes them for good."""
        run_blocking(self._memory, self._thread.clear)

    async def aclear(self) -> None:
        await run_shielded(self._memory, self._thread.clear)

    async def _read(self, memory: MemoryFace) -> list[BaseMessage]:
        return [restore_message(message) for message in await self._thread.messages(None, memory)]


def drafts_from(messages: Sequence[BaseMessage]) -> list[Draft]:
    return [draft_from_message(message) for message in messages]


def draft_from_message(message: BaseMessage) -> Draft:
    role = KINDS.get(message_chunk_to_message(message).type) or ROLES.get(str(getattr(message, "role", "")), "user")
    text = message.content if isinstance(message.content, str) else str(message.text)
    kind = PLAIN_CLASSES.get(role)
    metadata = dict[str, Any]()
    if kind is None or not text.strip() or as_dict(kind(content=text, id=message.id or None)) != as_dict(message):
        metadata = {ORIGINAL: as_dict(message)}
        check_restorable(message, metadata)
    return Draft(role, text, platform_id=message.id or None, metadata=metadata)


def check_restorable(message: BaseMessage, metadata: dict[str, Any]) -> None:
    """Refuse a message that LangChain cannot restore: the session could not be read with it."""
    try:
        from_dicts([metadata[ORIGINAL]])
    except ValueError:
        raise InvalidInput(
            "messages", f"contains a message of type {message.type!r}, which LangChain cannot restore"
        ) from None


def restore_message(message: Message) -> BaseMessage:
    serialized_message = message.metadata.get(ORIGINAL)
    if serialized_message is not None:
        original: BaseMessage = from_dicts([serialized_message])[0]
        return original
    kind = PLAIN_CLASSES.get(message.role, SystemMessage)
    return kind(content=message.content, id=message.platform_id)

"""Follows the platform where a message was edited or deleted there: an edit is a new version, a deleted text goes."""

from __future__ import annotations

from recollect.engine.conversation import AsyncConversation
from recollect.errors import NotFound
from recollect.wiring import AsyncMemory


async def edit_message(chat: AsyncConversation, id: str, text: str) -> bool:
    """Give the message with this id of the platform another text; False if it is not in the log."""
    try:
        await chat.edit(id, text)
    except NotFound:
        return False
    return True


async def delete_message(chat: AsyncConversation, id: str) -> bool:
    """Remove the message with this id of the platform; False if it is not in the log."""
    try:
        await chat.delete(id)
    except NotFound:
        return False
    return True


async def delete_channel(memory: AsyncMemory, conversation: str) -> bool:
    """Remove all that was said in a channel; False if nothing of it is in the log."""
    try:
        await memory.delete_conversation(conversation)
    except NotFound:
        return False
    return True

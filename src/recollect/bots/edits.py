"""Follows the platform where a message was edited or deleted there: an edit is a new version, a deleted text goes.

A platform says so once. So what the store refuses is postponed, and done in order when the store takes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from recollect.bots.events import ChannelDeletion, MessageDeletion, MessageEdit, place_of
from recollect.errors import NotFound, RecollectError, StoreError
from recollect.masking import masked_logger
from recollect.memory.conversation import AsyncConversation
from recollect.wiring import AsyncMemory

logger = masked_logger("recollect.bots")

MOST_POSTPONED = 1_000  # edits and deletions

Change = MessageEdit | MessageDeletion | ChannelDeletion


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


class PostponedChanges:
    """Edits and deletions that a store refused, in the order in which they came."""

    def __init__(self, carry_out: Callable[[Change], Awaitable[None]]) -> None:
        self._carry_out = carry_out
        self._changes: dict[str, deque[Change]] = {}  # by chat

    @property
    def count(self) -> int:
        return sum(map(len, self._changes.values()))

    @property
    def chats(self) -> list[str]:
        return [*self._changes]

    async def follow(self, change: Change) -> None:
        """Carry out a change, or postpone it behind those of the same chat."""
        key = place_of(change).key
        await self.retry(key)
        if key not in self._changes:
            try:
                await self._carry_out(change)
                return
            except StoreError as error:
                logger.warning("an edit or a deletion is postponed: %s", error)
        if self.count < MOST_POSTPONED:
            self._changes.setdefault(key, deque()).append(change)
        else:
            logger.error("an edit or a deletion is lost: %d wait already", MOST_POSTPONED)

    async def retry(self, key: str) -> None:
        """Carry out what was postponed in a chat, as far as its store takes it."""
        changes = self._changes.get(key)
        while changes:
            try:
                await self._carry_out(changes[0])
            except StoreError:
                return
            except RecollectError as error:
                logger.warning("an edit or a deletion is refused: %s", error)
            changes.popleft()
        self._changes.pop(key, None)

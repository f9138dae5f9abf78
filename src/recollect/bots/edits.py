"""Follows the platform where a message was edited or deleted there: an edit is a new version, a deleted text goes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from recollect.engine.conversation import AsyncConversation
from recollect.errors import NotFound

LOOKED_BACK = 1_000  # messages among which one that was edited is looked for


async def edit_message(chat: AsyncConversation, id: str, text: str, now: datetime) -> bool:
    """Give the message with this id of the platform another text; False if it is not in the log."""
    edit: Any = getattr(chat, "edit", None) or EditByReplacement(chat, now).edit
    try:
        await edit(id, text)
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


class EditByReplacement:
    """Edits until conversations have `edit`: the new text is added, and the old message removed."""

    def __init__(self, chat: AsyncConversation, now: datetime) -> None:
        self._chat = chat
        self._now = now

    async def edit(self, id: str, text: str) -> None:
        recent = await self._chat.history(limit=LOOKED_BACK)
        versions = [message for message in recent if (message.platform_id or "").split(" ")[0] == id]
        if not versions or versions[-1].platform_id is None:
            raise NotFound(f"there is no message {id!r}")
        old = versions[-1]
        version = f"{id} edited {self._now.isoformat()}"
        metadata = {**old.metadata, "edited": self._now.isoformat()}
        await self._chat.add(
            old.role, text, author=old.author, user=old.user, time=old.time, platform_id=version, metadata=metadata
        )
        await self._chat.delete(old.id)

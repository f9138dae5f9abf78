"""Editing a message: finding it by its id, its turn or its platform's id, and whether the caller may.

Whoever may delete a message may edit it: a user's key what is that user's, all others what is in their space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everword.changes.edits import put_version
from everword.changes.removal import lock_conversations
from everword.errors import NotFound
from everword.log.access import ConversationScope
from everword.log.rules import check_metadata, check_text
from everword.memory.deletion import check_name, may_delete, with_id
from everword.memory.runtime import Runtime
from everword.model import Filter, Message
from everword.ports import Tx


class Edits:
    """Edits messages, over a runtime, and notes who did it."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def edit_message(
        self, scope: ConversationScope, message: str | int, text: str, metadata: Mapping[str, Any] | None = None
    ) -> Message:
        """Give a message of a conversation a new text, and new metadata if there are any."""
        name = check_name(message)
        check_text("text", text)
        new_metadata = None if metadata is None else check_metadata(metadata)
        runtime = self.runtime
        now = runtime.parts.clock.now()
        views = [follower.view for follower in runtime.followers.values()]

        def edit(tx: Tx) -> Message:
            find_message(tx, scope, name)
            lock_conversations(tx, scope.space, [scope.id], now)
            old = find_message(tx, scope, name)  # again, now that nobody else can change it
            kept_metadata = old.as_said.metadata if new_metadata is None else new_metadata
            key = scope.access.key_id
            return put_version(tx, old, text, kept_metadata, now, key, views, runtime.parts.secrets).as_said

        await runtime.held.write_all()
        edited = await runtime.write(edit)
        runtime.held.forget()
        runtime.digests.clear()
        runtime.wake()
        return edited

    async def read_message(self, scope: ConversationScope, id: str) -> Message:
        """A message that was edited, as it is now."""
        return await self.runtime.read(lambda tx: find_message(tx, scope, id).as_said)


def find_message(tx: Tx, scope: ConversationScope, name: str | int) -> Message:
    """The message that may be edited in this scope; raises NotFound if there is none."""
    if isinstance(name, int):
        where = Filter(scope.space, conversation=scope.id)
        found = tx.messages(where, after=(scope.id, name - 1), upto=name)
    else:
        found = with_id(tx, scope, name)
    for message in found:
        if may_delete(tx, scope, message):
            return message
    raise NotFound(f"there is no message {name!r} in conversation {scope.id!r}; nothing was edited")

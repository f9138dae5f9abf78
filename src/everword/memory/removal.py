"""Deleting: one message, a conversation, or what fits some words, a time and a person; with a preview of what would go.
And editing a message, which whoever may delete it may do: a user's key what is that user's, others all of their space.

A message is found by its id, its turn or the id that a platform gave it. Words are matched as a phrase in what was
said, whatever its case and spaces, and not by meaning: what goes for good should be what was named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from everword.changes import removal
from everword.changes.edits import put_version
from everword.errors import DamagedMessage, InvalidInput, NotFound
from everword.log import audit, rules
from everword.log.access import ConversationScope, scope_for
from everword.log.operations import operation
from everword.log.tables import unreadable_message
from everword.memory.runtime import MemoryPart, Runtime
from everword.model import AuditLine, Deletion, Erasure, Filter, Message, Retained
from everword.ports import Tx
from everword.text.words import contains_phrase

MAX_QUERY = 1 << 20  # bytes
MAX_LINES = 1_000  # of the audit in one answer


class Removal(MemoryPart):
    """Removes what somebody wants gone, and says for the audit who that was."""

    @operation("DELETE /v1/conversations/{id}", right="admin", by_hand=True, once="names")
    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        """Remove all messages of a conversation and all that was derived from them, for good. On a `dry_run`, say only
        what would go from which view."""
        scope = scope_for(self.access, self.runtime.resolve_space(space), id, None)
        return await remove_conversation(self.runtime, scope, dry_run=dry_run)

    @operation("POST /v1/delete", right="admin", once="names")
    async def delete(
        self,
        *,
        before: datetime | None = None,
        user: str | None = None,
        query: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Deletion:
        """Remove the messages that fit all that is given, and all that was derived from them, for good.

        Those of before a time, of one user as `erase` means it, and with a phrase in them: `query` is matched word for
        word, whatever its case, and not by meaning. On a `dry_run`, say only what would go from which view.
        """
        space_id = self.runtime.resolve_space(space)
        time = None if before is None else rules.check_time("before", before)
        person = None if user is None else rules.check_id("user", user)
        phrase = None if query is None else rules.check_text("query", query, limit=MAX_QUERY)
        if phrase is not None and not phrase.strip():
            raise InvalidInput("query", "is empty")
        if time is None and person is None and phrase is None:
            raise InvalidInput("before", "is missing, as are user and query: say what to delete")

        def select(tx: Tx) -> Iterator[Message]:
            found = (
                removal.readable_or_not(tx, Filter(space_id, before=time))
                if person is None
                else removal.messages_of(tx, space_id, person, time)
            )
            return (message for message in found if phrase is None or says(message, phrase))

        by = self.access.key_id
        missing = "no message fits; nothing was deleted"
        return await delete_selected(self.runtime, space_id, select, "messages", by, dry_run, missing)

    @operation("POST /v1/users/{user as id}/erase", right="admin", tells="nothing", once="nothing")
    async def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Remove a person's messages and all that was derived from them, for good."""
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        now = self.runtime.parts.clock.now()
        await self.runtime.held.write_all()
        by = self.access.key_id
        erasure = await self.runtime.write(lambda tx: removal.erase_person(tx, space_id, user_id, now, by))
        return replace(erasure, left=await self.runtime.clear_removed())

    @operation("POST /v1/retain", right="admin", about_all=True, once="nothing")
    async def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Say what has expired and what the settings `retain_…` no longer keep, in all spaces or one. If not `dry_run`,
        remove it."""
        now = self.runtime.parts.clock.now()
        space_id = None if space is None else rules.check_id("space", space)
        if dry_run:
            return await self.runtime.retention.plan(now, space_id)
        result = await self.runtime.retention.apply(now, space_id, self.access.key_id)
        leftovers = await self.runtime.scrub()
        self.runtime.wake()
        return replace(result, left=leftovers)

    @operation("GET /v1/audit", right="admin", about_all=True)
    async def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        """Who removed or moved something in a space, when, of what kind and how many: the last ones, the newest
        first."""
        space_id = self.runtime.resolve_space(space)
        count = rules.check_number("limit", limit, MAX_LINES)
        return await self.runtime.read(lambda tx: audit.lines_of(tx, space_id, count))


async def remove_conversation(runtime: Runtime, scope: ConversationScope, *, dry_run: bool) -> Deletion:
    """Remove all messages of the conversation of a scope."""

    def select(tx: Tx) -> Iterable[Message]:
        conversation = scope.find(tx)
        if conversation is None or (scope.access.is_bound and conversation.user != scope.access.user):
            return []
        return removal.readable_or_not(tx, Filter(scope.space, conversation=scope.id))

    missing = f"there is nothing in conversation {scope.id!r}; nothing was deleted"
    return await delete_selected(runtime, scope.space, select, "conversation", scope.access.key_id, dry_run, missing)


async def remove_message(runtime: Runtime, scope: ConversationScope, message: str | int, *, dry_run: bool) -> Deletion:
    """Remove one message of the conversation of a scope."""
    name = check_name(message)

    def select(tx: Tx) -> list[Message]:
        found = at_turn(tx, scope, name) if isinstance(name, int) else with_id(tx, scope, name)
        return [message for message in found if may_delete(tx, scope, message)]

    missing = f"there is no message {message!r} in conversation {scope.id!r}; nothing was deleted"
    return await delete_selected(runtime, scope.space, select, "messages", scope.access.key_id, dry_run, missing)


async def delete_selected(
    runtime: Runtime, space: str, select: removal.Select, what: str, by: str, dry_run: bool, missing: str
) -> Deletion:
    now = runtime.parts.clock.now()
    order = removal.make_order(now, "delete", what, by)
    await runtime.held.write_all()  # what is not in the store cannot be removed from it
    selection: removal.Selection = (
        await runtime.read(lambda tx: removal.preview_messages(tx, space, select))
        if dry_run
        else await runtime.write(lambda tx: removal.delete_messages(tx, space, select, order))
    )
    if not selection.messages:
        raise NotFound(missing)
    conversations = dict(Counter(message.conversation for message in selection.messages))
    count = len(selection.messages)
    deletion = Deletion("" if dry_run else order.id, space, now, dry_run, count, conversations, selection.views)
    return deletion if dry_run else replace(deletion, left=await runtime.clear_removed())


async def edit_message(
    runtime: Runtime, scope: ConversationScope, message: str | int, text: str, metadata: Mapping[str, Any] | None
) -> Message:
    """Give a message a new text, and new metadata if there are any. Whoever may delete a message may edit it."""
    name = check_name(message)
    rules.check_text("text", text)
    new_metadata = None if metadata is None else rules.check_metadata(metadata)
    now = runtime.parts.clock.now()
    views = [follower.view for follower in runtime.followers.values()]

    def edit(tx: Tx) -> Message:
        find_message(tx, scope, name)
        removal.lock_conversations(tx, scope.space, [scope.id], now)
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


async def read_message(runtime: Runtime, scope: ConversationScope, id: str) -> Message:
    """A message that was edited, as it is now."""
    return await runtime.read(lambda tx: find_message(tx, scope, id).as_said)


# -- finding a message


def check_name(message: object) -> str | int:
    """What names a message: a turn, its id, or the id that a platform gave it."""
    if isinstance(message, int):
        return rules.check_number("message", message, rules.MAX_TURN)
    return rules.check_id("message", message)


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


def at_turn(tx: Tx, scope: ConversationScope, turn: int) -> list[Message]:
    """The message at a turn, also one that cannot be read."""
    errors: list[DamagedMessage] = []
    where = Filter(scope.space, conversation=scope.id)
    found = tx.messages(where, after=(scope.id, turn - 1), upto=turn, damaged=errors.append)
    return [unreadable_message(error) for error in errors] or found


def with_id(tx: Tx, scope: ConversationScope, id: str) -> list[Message]:
    """The message with this id, or else the one with this id of a platform."""
    own = [message for message in tx.find_messages(scope.space, ids=[id]) if message.conversation == scope.id]
    return own or tx.find_messages(scope.space, conversation=scope.id, platform_ids=[id])


def may_delete(tx: Tx, scope: ConversationScope, message: Message) -> bool:
    """Whether a message may be deleted in this scope: by a user's key, what `erase` would remove of that user."""
    if message.erased:
        return False
    if not scope.access.is_bound:
        return scope.find(tx) is not None
    conversation = tx.conversation(scope.space, scope.id)
    owner = None if conversation is None else conversation.user
    return scope.access.user in (owner, message.author, message.user)


def says(message: Message, phrase: str) -> bool:
    """Whether a phrase is in what a message says, or in its metadata."""
    message = message.as_said
    metadata = json.dumps(dict(message.metadata), ensure_ascii=False) if message.metadata else ""
    return contains_phrase(message.content, phrase) or contains_phrase(metadata, phrase)

"""Deleting: one message, a conversation, or what fits some words, a time and a person; with a preview of what would go.
And editing a message, which whoever may delete it may do: a user's key what is that user's, others all of their space.

A message is found by its id, its turn or the id that a platform gave it. Words are matched as a phrase in what was
said, whatever its case and spaces, and not by meaning: what goes for good should be what was named.

A redaction replaces secrets by placeholders: it is an edit that leaves no older version behind. The words, the older
versions of the message and the salt of its seal go, so that nothing can be found out from what stays. The chain still
holds: a change that is erased stands for what was said, and one that is sealed proves what the message says now. What
was derived from it is made anew, as after any edit. What is looked for is what the detector finds today, and what was
marked before.

Moves are here too: a conversation gets another name or another owner, two ids of one person become one, and back. Each
is one transaction over the log and all that was derived from it. Nothing is removed: what a move changed is noted in
the chain of changes of each conversation, so `verify` proves every message, and `undo_move` can take it back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from everword.changes import removal
from everword.changes.edits import put_version, store_version
from everword.changes.moves import (
    MovePlan,
    apply_plan,
    check_movable,
    check_new_name,
    documents_of,
    plan_move,
    plan_people,
    plan_undo,
    step_conversations,
)
from everword.changes.removal import (
    OF_PEOPLE,
    facts_resting_on,
    lock_conversations,
    make_order,
    statements_resting_on,
    tell_again,
    withdraw_knowledge,
)
from everword.errors import DamagedMessage, Forbidden, InvalidInput, NotFound
from everword.facts import stored_facts as profiles
from everword.facts.stored_facts import facts_of
from everword.facts.view import command_of
from everword.follow.view import View
from everword.log import append_and_read, checks_and_seals
from everword.log.access import ConversationScope, scope_for
from everword.log.append_and_read import (
    Order,
    append_change,
    append_erased_change,
    changes_of,
    erase_edits,
    every_conversation,
    every_message,
    unreadable_message,
    warn_of_damage,
)
from everword.log.checks_and_seals import edited_fields
from everword.log.operation_declarations import operation
from everword.log.secret_policy import find_in_message, placeholder_marks
from everword.memory.runtime import MemoryPart, Runtime
from everword.model import AuditLine, Deletion, Erasure, Filter, LogChange, Message, Move, MoveKind, Redaction, Retained
from everword.ports import Tx
from everword.secrets import mask_parts
from everword.text.word_weights import contains_phrase

MAX_QUERY = 1 << 20  # bytes
PAGE = 500  # messages looked at in one transaction
MAX_LINES = 1_000  # of the audit in one answer


@dataclass(frozen=True, slots=True)
class SecretsFound:
    """A message that holds secrets now, or did before it was edited; and of which kinds."""

    conversation: str
    turn: int
    kinds: tuple[str, ...]


class Changes(MemoryPart):
    """Removes what somebody wants gone, and says for the audit who that was; moves conversations and people to other
    names. A user's key may rename what is that user's."""

    @operation("DELETE /v1/conversations/{id}", right="admin", by_hand=True, once="names")
    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        """Permanently remove all messages of a conversation and everything derived from them. With `dry_run`, nothing
        is removed: the result says what would be removed from the log and from each view (derived data)."""
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
        """Permanently remove the messages that match all given arguments, and everything derived from these messages.

        `before` matches messages from before a time. `user` matches the messages that `erase` would remove for this
        user. `query` matches messages that contain this phrase, in upper or lower case. With `dry_run`, nothing is
        removed: the result says what would be removed from the log and from each view (derived data).
        """
        space_id = self.runtime.resolve_space(space)
        time = None if before is None else checks_and_seals.check_time("before", before)
        person = None if user is None else checks_and_seals.check_id("user", user)
        phrase = None if query is None else checks_and_seals.check_text("query", query, limit=MAX_QUERY)
        if phrase is not None and not phrase.strip():
            raise InvalidInput("query", "is empty")
        if time is None and person is None and phrase is None:
            raise InvalidInput("before", "is missing, as are `user` and `query`; give at least one of the three")

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
        """Permanently remove a person's messages and everything derived from them."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        now = self.runtime.parts.clock.now()
        by = self.access.key_id
        erasure = await self.runtime.write(lambda tx: removal.erase_person(tx, space_id, user_id, now, by))
        return replace(erasure, left=await self.runtime.clear_removed())

    @operation("POST /v1/retain", right="admin", about_all=True, once="nothing")
    async def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in
        one space. With `dry_run`, the default, nothing is removed: the result lists what would be removed."""
        now = self.runtime.parts.clock.now()
        space_id = None if space is None else checks_and_seals.check_id("space", space)
        if dry_run:
            return await self.runtime.retention.plan(now, space_id)
        result = await self.runtime.retention.apply(now, space_id, self.access.key_id)
        leftovers = await self.runtime.scrub()
        self.runtime.wake()
        return replace(result, left=leftovers)

    @operation("GET /v1/audit", right="admin", about_all=True)
    async def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        """List the last removals and moves in a space, newest first. Each entry says who removed or moved which
        kind of data, when, and how many items."""
        space_id = self.runtime.resolve_space(space)
        count = checks_and_seals.check_number("limit", limit, MAX_LINES)
        return await self.runtime.read(lambda tx: append_and_read.audit_lines(tx, space_id, count))

    @operation("POST /v1/redact", right="admin", about_all=True, once="names")
    async def redact(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        """Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. By
        default, everword redacts all messages of the space; `user` or `conversation` limits the redaction. If everword
        replaces secrets in a message, everword removes the message's older versions. With `dry_run`, nothing changes:
        the result says how many messages contain secrets."""
        runtime = self.runtime
        space_id = runtime.resolve_space(space)
        where = Filter(
            space_id,
            user=None if user is None else checks_and_seals.check_id("user", user),
            conversation=None if conversation is None else checks_and_seals.check_id("conversation", conversation),
        )
        now = runtime.parts.clock.now()
        order = make_order(now, "redact", "messages", self.access.key_id)
        await runtime.run(runtime.store.flush)
        kinds = Counter[str]()
        conversations = Counter[str]()
        views = [] if dry_run else [follower.view for follower in runtime.followers.values()]
        place: tuple[str, int] | None = (where.conversation or "", 0)
        while place is not None:
            page, place = await runtime.read(partial(find_page, where, place))
            for secrets in page:
                if dry_run or await runtime.write(partial(redact_message, space_id, secrets, order, views)):
                    kinds.update(secrets.kinds)
                    conversations[secrets.conversation] += 1
        id = "" if dry_run or not conversations else order.id
        redaction = Redaction(id, space_id, now, dry_run, conversations.total(), dict(conversations), dict(kinds))
        return replace(redaction, left=await runtime.clear_removed()) if id else redaction

    @operation("POST /v1/conversations/{id}/move", right="admin", once="names")
    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        """Rename a conversation (`to`), give the conversation to another user (`user`), or both, for example when a
        guest signs in.

        With the conversation, the new user receives the old user's messages in it, and the facts and statements made
        from these messages. If the old user has said nothing outside the conversation, all data of the old user moves,
        as with `merge_users`. A move deletes nothing; `undo_move` reverses the move. If the move would change nothing,
        the `id` of the returned move is empty. With `dry_run`, nothing is moved: the result says what would move.
        """
        scope = scope_for(self.access, self.runtime.resolve_space(space), id, None)
        check_movable(scope.id)
        new_id = None if to is None else check_new_name(to)
        new_user = None if user is None else checks_and_seals.check_id("user", user)
        if new_id is None and new_user is None:
            raise InvalidInput("to", "is missing, as is `user`; give a new ID, a new owner or both")
        if self.access.is_bound and new_user not in (None, self.access.user):
            raise Forbidden(
                "not_you", f"this {self.access.noun} is for one user, so it cannot give a conversation to another user"
            )

        def build(tx: Tx, lock: Lock) -> MovePlan | None:
            conversation = scope.find(tx)
            if conversation is None or (self.access.is_bound and conversation.user != self.access.user):
                raise NotFound(f"there is no conversation {id!r} in space {scope.space!r}; nothing was moved")
            return plan_move(tx, scope.space, id, new_id, new_user, lock)

        return await move(self.runtime, scope.space, "move", build, self.access.key_id, dry_run)

    @operation("POST /v1/users/{user as id}/merge", right="admin", about_all=True, once="names")
    async def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        """Merge two users who are the same person: everything of one user is given to the other user.

        After the merge, all conversations, channel messages, facts, statements, names and documents of `user` belong to
        `into`. A merge does not change API keys. A merge deletes nothing; `undo_move` reverses the merge. With
        `dry_run`, nothing is moved: the result says what would move.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        other_id = checks_and_seals.check_id("into", into)
        if user_id == other_id:
            raise InvalidInput("into", f"is {other_id!r}, the user who is to be merged; give another user")

        def build(tx: Tx, lock: Lock) -> MovePlan:
            if not has_anything(tx, space_id, user_id):
                raise NotFound(f"user {user_id!r} has no data in space {space_id!r}; nothing was merged")
            return plan_people(tx, space_id, "merge", user_id, other_id, lock)

        return await move(self.runtime, space_id, "merge", build, self.access.key_id, dry_run)

    @operation("POST /v1/moves/{id}/undo", right="admin", about_all=True, in_query=True, once="names")
    async def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        """Reverse the move of a conversation or the merge of two users. A move or merge cannot be reversed after some
        of the moved data was removed or moved again.

        If `undo_move` returns a chat to the old owner, the chat keeps the messages added since the move. With
        `dry_run`, nothing is moved: the result says what would move.
        """
        space_id = self.runtime.resolve_space(space)
        move_id = checks_and_seals.check_id("id", id)

        def build(tx: Tx, lock: Lock) -> MovePlan:
            return plan_undo(tx, space_id, move_id, lock)

        return await move(self.runtime, space_id, "undo", build, self.access.key_id, dry_run)


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
    await runtime.run(runtime.store.flush)  # what is not in the store cannot be counted there
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
    checks_and_seals.check_text("text", text)
    new_metadata = None if metadata is None else checks_and_seals.check_metadata(metadata)
    now = runtime.parts.clock.now()
    views = [follower.view for follower in runtime.followers.values()]

    def edit(tx: Tx) -> Message:
        find_message(tx, scope, name)
        removal.lock_conversations(tx, scope.space, [scope.id], now)
        old = find_message(tx, scope, name)  # again, now that nobody else can change it
        kept_metadata = old.as_said.metadata if new_metadata is None else new_metadata
        key = scope.access.key_id
        return put_version(tx, old, text, kept_metadata, now, key, views, runtime.parts.secrets).as_said

    edited = await runtime.write(edit)
    runtime.digests.clear()
    runtime.wake(scope.space)
    return edited


async def read_message(runtime: Runtime, scope: ConversationScope, id: str) -> Message:
    """A message that was edited, as it is now."""
    return await runtime.read(lambda tx: find_message(tx, scope, id).as_said)


# -- finding a message


def check_name(message: object) -> str | int:
    """What names a message: a turn, its id, or the id that a platform gave it."""
    if isinstance(message, int):
        return checks_and_seals.check_number("message", message, checks_and_seals.MAX_TURN)
    return checks_and_seals.check_id("message", message)


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


# -- finding secrets


def look_for_secrets(tx: Tx) -> Iterator[tuple[str, bool]]:
    """For each message of a store, its space and whether it holds a secret that is not marked: it was kept before
    secrets were looked for, or by a memory that does not, or the detector knows more now."""
    for conversation in every_conversation(tx):
        where = Filter(conversation.space, conversation=conversation.id)
        for message in every_message(tx, where, warn_of_damage):
            yield message.space, bool(find_in_message(message.content, message.metadata))


def find_page(where: Filter, after: tuple[str, int], tx: Tx) -> tuple[list[SecretsFound], tuple[str, int] | None]:
    """The messages with secrets among the next ones, and where to go on (None at the end)."""
    page = tx.messages(where, after=after, limit=PAGE, damaged=warn_of_damage)
    places: list[SecretsFound] = []
    for id in dict.fromkeys(message.conversation for message in page):
        messages = [message for message in page if message.conversation == id and not message.erased]
        places += find_in_conversation(tx, where.space, id, messages)
    end = (page[-1].conversation, page[-1].turn) if len(page) == PAGE else None
    return places, end


def find_in_conversation(tx: Tx, space: str, id: str, messages: Sequence[Message]) -> Iterator[SecretsFound]:
    conversation = tx.conversation(space, id)
    changes = [] if conversation is None else changes_of(tx, conversation)
    for message in messages:
        kinds = {*kinds_in(message), *kinds_in_versions(message, changes)}
        if kinds:
            yield SecretsFound(id, message.turn, tuple(sorted(kinds)))


def kinds_in(message: Message) -> set[str]:
    """The kinds of the secrets that a message holds: those marked before, but for placeholders, and those found now."""
    original = message.as_said
    old_kinds = set() if is_bare(message) else {mark.kind for mark in original.secrets}
    return old_kinds | {mark.kind for mark in find_in_message(original.content, original.metadata)}


def is_bare(message: Message) -> bool:
    """Whether nothing but placeholders is marked in a message."""
    return edited_fields(message.without_secrets) == edited_fields(message)


def kinds_in_versions(message: Message, changes: Iterable[LogChange]) -> Iterator[str]:
    for change in changes:
        if change.kind == "edit" and change.turn == message.turn and not change.erased:
            for fields in (change.before, change.after):
                yield from (mark.kind for mark in find_in_message(fields["content"], fields["metadata"]))


# -- replacing secrets


def redact_message(space: str, secrets: SecretsFound, order: Order, views: Sequence[View[Any]], tx: Tx) -> bool:
    """Replace the secrets of one message and drop its older versions; False if there are none any more."""
    id = secrets.conversation
    conversation = lock_conversations(tx, space, [id], order.at)[id]
    where = Filter(space, conversation=id)
    page = tx.messages(where, after=(id, secrets.turn - 1), upto=secrets.turn, damaged=warn_of_damage)
    messages = [message for message in page if not message.erased]
    if not [*find_in_conversation(tx, space, id, messages)]:
        return False
    message = messages[0]
    new_message = redact(message)
    fields = edited_fields(new_message)
    change = LogChange(space, id, 0, "edit", message.turn, order.at, order.by, fields, fields)
    erase_edits(tx, space, [message], order.id)
    conversation = append_erased_change(tx, conversation, change, order.id)
    conversation = append_change(tx, conversation, change)
    persons = persons_told_of(tx, message)
    store_version(tx, conversation, new_message, order.at, views)
    withdraw_knowledge(tx, space, [message], order.at)
    for person in persons:
        tell_again(tx, person, new_message)
    append_and_read.note_removal(tx, space, order, 1)
    return True


def redact(message: Message) -> Message:
    """The message with placeholders for good, and without the salt by which its digest could be tried."""
    bare = message.without_secrets
    content, metadata, _ = mask_parts(bare.content, bare.metadata, find_in_message(bare.content, bare.metadata))
    seal = replace(message.seal, salt=b"")
    marks = placeholder_marks(content, metadata)
    return replace(bare, content=content, metadata=metadata, secrets=marks, seal=seal)


def persons_told_of(tx: Tx, message: Message) -> list[str]:
    """The people of whom a message asked to remember something."""
    if command_of(message) != "remember" or message.role != "user":
        return []
    rows = statements_resting_on(tx, message.space, [message])
    return sorted({row["user_id"] for row in rows if row["kind"] == profiles.SAID})


# -- moves

Lock = Callable[[Iterable[str]], None]
Build = Callable[[Tx, Lock], MovePlan | None]


async def move(runtime: Runtime, space: str, kind: MoveKind, build: Build, by: str, dry_run: bool) -> Move:
    """Carry out a plan, or say what it would do."""
    order = make_order(runtime.parts.clock.now(), kind, "messages", by)
    if dry_run:
        return await runtime.read(lambda tx: preview(tx, build, space, order))
    result = await runtime.write(lambda tx: carry_out(tx, build, space, order))
    if result.id:
        runtime.digests.clear()
        runtime.wake()
    return result


def carry_out(tx: Tx, build: Build, space: str, order: Order) -> Move:
    def lock(ids: Iterable[str]) -> None:
        lock_conversations(tx, space, (id for id in ids if tx.conversation(space, id) is not None), order.at)

    plan = build(tx, lock)
    if plan is None:
        return describe(None, space, order, {}, dry_run=False)
    moved = count_by_kind(tx, plan)
    apply_plan(tx, plan, order)
    return describe(plan, space, order, moved, dry_run=False)


def preview(tx: Tx, build: Build, space: str, order: Order) -> Move:
    """What a move would do now."""
    plan = build(tx, lambda ids: None)
    return describe(plan, space, order, {} if plan is None else count_by_kind(tx, plan), dry_run=True)


def describe(plan: MovePlan | None, space: str, order: Order, moved: dict[str, int], *, dry_run: bool) -> Move:
    kind: MoveKind = "move" if plan is None else plan.kind
    if plan is None:
        return Move("", space, order.at, kind, dry_run, None, None, {}, {})
    id = "" if dry_run else order.id
    return Move(id, space, order.at, kind, dry_run, plan.user, plan.into, step_conversations(plan.steps), moved)


def count_by_kind(tx: Tx, plan: MovePlan) -> dict[str, int]:
    """How much a plan would move."""
    messages = plan.messages
    counts = {"messages": len(messages)}
    if plan.undoes is not None:
        counts |= {kind: len(plan.record.get(kind, ())) for kind in ("statements", "names", "documents")}
    if plan.user is not None:
        ids = frozenset(message.id for message in messages)
        is_whole = plan.whole
        facts = facts_of(tx, plan.space, plan.user) if is_whole else facts_resting_on(tx, plan.space, messages)
        counts["facts"] = len(facts)
    if plan.user is not None and plan.undoes is None:
        statements = tx.rows("statements", where={"space": plan.space, "user_id": plan.user})
        counts["statements"] = sum(plan.whole or not ids.isdisjoint(row["sources"]) for row in statements)
    if plan.user is not None and plan.whole:
        counts["names"] = len(tx.rows("people", where={"space": plan.space, "user_id": plan.user}))
        counts["documents"] = len(documents_of(tx, plan.space, plan.user))
    return {kind: count for kind, count in counts.items() if count or kind == "messages"}


def has_anything(tx: Tx, space: str, user: str) -> bool:
    """Whether anything in a space is of a user: messages, or something that was told, kept or found."""
    tables = [("messages", "user_id"), ("messages", "author"), ("conversations", "user_id"), *OF_PEOPLE]
    is_found = any(
        tx.rows(table, limit=1, where={"space": space, column: user}) for table, column in tables if table != "api_keys"
    )
    return is_found or bool(documents_of(tx, space, user))

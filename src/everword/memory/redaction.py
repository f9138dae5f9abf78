"""Replaces secrets in the log by placeholders, for good, and finds those that are there.

A redaction is an edit that leaves no older version behind: the words, the older versions of the message and the salt of
its seal go, so that nothing can be found out from what stays. The chain still holds: a change that is erased stands for
what was said, and one that is sealed proves what the message says now. What was derived from it is made anew, as after
any edit. What is looked for is what the detector finds today, and what was marked before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from everword.changes.edits import store_version
from everword.changes.removal import lock_conversations, make_order
from everword.changes.removed_knowledge import statements_resting_on, tell_again, withdraw_knowledge
from everword.facts import tables as profiles
from everword.facts.view import command_of
from everword.follow.view import View
from everword.log import audit, rules
from everword.log.audit import Order
from everword.log.operations import operation
from everword.log.rules import edited_fields
from everword.log.secret_policy import find_in_message, placeholder_marks
from everword.log.tables import (
    append_change,
    append_erased_change,
    changes_of,
    erase_edits,
    every_conversation,
    every_message,
    warn_of_damage,
)
from everword.memory.runtime import MemoryPart
from everword.model import Filter, LogChange, Message, Redaction
from everword.ports import Tx
from everword.secrets.marks import mask_parts

PAGE = 500  # messages looked at in one transaction


@dataclass(frozen=True, slots=True)
class SecretsFound:
    """A message that holds secrets now, or did before it was edited; and of which kinds."""

    conversation: str
    turn: int
    kinds: tuple[str, ...]


class Redactions(MemoryPart):
    """Finds and replaces secrets in the log, and notes for the audit who did."""

    @operation("POST /v1/redact", right="admin", about_all=True, once="names")
    async def redact(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        """Replace the secrets in messages that are in the log (API keys, passwords, cards) by placeholders, for good:
        in all of a space, in one user's memory or in one conversation. Older versions of these messages go, too. On a
        `dry_run`, say only how many there are."""
        runtime = self.runtime
        space_id = runtime.resolve_space(space)
        where = Filter(
            space_id,
            user=None if user is None else rules.check_id("user", user),
            conversation=None if conversation is None else rules.check_id("conversation", conversation),
        )
        now = runtime.parts.clock.now()
        order = make_order(now, "redact", "messages", self.access.key_id)
        await runtime.held.write_all()
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


# -- finding


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


# -- replacing


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
    audit.note_removal(tx, space, order, 1)
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

"""A new version of a message, as a transaction: the log keeps the old one, and everything else follows the new one.

The row of a message has its newest version, and the chain of changes has what it was before. What was derived from the
old version goes in the same transaction: entries and tiers, the views of the conversation, digests that may mention it,
answers kept for repeated requests, facts and statements that rest on it. Views that follow a conversation in order make
it anew; the others are asked to read this one message again, by a row that is stored with the change.

If the message was a command, what "remember that …" told goes with the old text, and the new text is told in its place,
if it asks to remember something of the same person; if it is no command any more, it is read as talk. What was
forgotten, and a fact that was changed by hand, do not follow an edit: what they did may have been built on since, and
`undo` takes it back by name. So such an edit is refused. What the memory answered to a command stays as it was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from everword.changes.removal import (
    NAMES,
    drop_answers,
    drop_digests,
    drop_receipts,
    lock_conversations,
    statements_resting_on,
    tell_again,
    withdraw_knowledge,
)
from everword.errors import InvalidInput
from everword.facts import stored_facts as profiles
from everword.facts.findings import COMMANDS
from everword.facts.rules.commands import Command, parse_command
from everword.facts.view import command_of
from everword.follow.faults import request_reading
from everword.follow.view import View
from everword.log.append_and_read import after_conversation, append_change, cursor_of
from everword.log.checks_and_seals import (
    PROFILE_PREFIX,
    check_metadata,
    check_text,
    edited_fields,
    edited_metadata,
    may_be_version,
)
from everword.log.secret_policy import SecretPolicy
from everword.model import Added, Batch, Conversation, Draft, Kept, LogChange, Message
from everword.model.log import notes_key
from everword.ports import Tx

LASTING = ("forget", *COMMANDS.values())  # commands that an edit does not take back
DONE = "is a command that was carried out, and an edit would not undo it: undo the command, and send a new message"
UNCLEAR = "is a command to remember something about a person, but the new text says nothing to remember, or is about "
UNCLEAR += "somebody else: delete the message, and send a new one"
EDITED = "it was edited"  # why a view is to read a message again


def still_command(edited: Message, message: Message) -> Message:
    """The edited message; without the mark of a command if its text is no such command any more."""
    command = command_of(message)
    if (
        command is None
        or message.role != "user"
        or message.conversation.startswith(PROFILE_PREFIX)
        or command in LASTING
    ):
        return edited
    if read_command(edited).kind == command:
        return edited
    original = edited.as_said
    notes = notes_key(original.metadata)
    metadata = {name: value for name, value in original.metadata.items() if name != notes}
    marks = tuple(mark for mark in original.secrets if not mark.path.startswith(f"/{notes}/"))
    return replace(original, metadata=metadata, secrets=marks).masked


def refuse_change(tx: Tx, message: Message, edited: Message) -> list[str]:
    """Raise if a command cannot be changed. Returns the people of whom the new version tells something."""
    rows = statements_resting_on(tx, message.space, [message])
    has_lasting_effect = any(row["kind"] != profiles.SAID and row["active"] for row in rows)
    if has_lasting_effect or (message.role == "user" and command_of(message) in LASTING):
        raise InvalidInput("message", DONE)
    if command_of(edited) != "remember" or message.role != "user":
        return []
    persons = sorted({row["user_id"] for row in rows if row["kind"] == profiles.SAID})
    is_of_author = message.conversation.startswith(PROFILE_PREFIX) or _subject_after(message, edited) == "me"
    return persons or ([message.author] if is_of_author else [])


def _subject_after(message: Message, edited: Message) -> str | None:
    """Whom a request to remember is about; raises if the new version asks for something else."""
    old = read_command(message)
    new = read_command(edited)
    if not new.text or old.kind != new.kind or subject_of(old) != subject_of(new):
        raise InvalidInput("message", UNCLEAR)
    return subject_of(new)


def read_command(message: Message) -> Command:
    """The command in a message that is known to be one, by rules."""
    return parse_command(message.content, NAMES, for_bot=True)


def subject_of(command: Command) -> str:
    """Of whom a command is, as it says: "me" for who speaks."""
    return (command.about or "me").casefold()


def put_version(
    tx: Tx,
    message: Message,
    content: str,
    metadata: Mapping[str, Any],
    now: datetime,
    by: str,
    views: Iterable[View[Any]],
    secrets: SecretPolicy,
) -> Message:
    """Store a new version of a message, which is not erased. The same content and metadata are no new version."""
    text = check_text("content", content)
    new_metadata = edited_metadata(message, check_metadata(metadata))
    policy = after_conversation(tx, message.space, message.conversation, secrets)
    draft, marks = policy.guard_draft(Draft(message.role, text, metadata=new_metadata))
    if not text.strip() and not new_metadata:
        raise InvalidInput(
            "content", "is empty, and the message has no metadata; delete the message instead of editing it"
        )
    new = replace(message, content=draft.content, metadata=draft.metadata, secrets=marks, original=None)
    edited = still_command(new.masked, message)
    if edited_fields(edited) == edited_fields(message):
        return message
    persons = refuse_change(tx, message, edited)
    replace_message(tx, message, edited, now, by, views)
    withdraw_knowledge(tx, message.space, [message], now)
    for person in persons:
        tell_again(tx, person, edited)
    return edited


def replace_message(
    tx: Tx, message: Message, edited: Message, now: datetime, by: str, views: Iterable[View[Any]]
) -> None:
    """Write down a change, replace the message, and drop what was derived from it, but for facts and statements."""
    space, id = message.space, message.conversation
    conversation = lock_conversations(tx, space, [id], now)[id]
    before = edited_fields(message)
    change = LogChange(space, id, 0, "edit", message.turn, now, by, before, edited_fields(edited))
    store_version(tx, append_change(tx, conversation, change), edited, now, views)


def store_version(
    tx: Tx, conversation: Conversation, edited: Message, now: datetime, views: Iterable[View[Any]]
) -> None:
    """Replace a message of a conversation that is locked, whose change is written down."""
    space, id, turn = edited.space, edited.conversation, edited.turn
    drop_answers(tx, space)
    drop_digests(tx, space, [(id, turn)])
    drop_receipts(tx, space, [edited])
    tx.rewrite_messages([edited])
    tx.save_conversation(replace(conversation, changed_at=now))
    for view in views:
        is_followed = view.read_after(turn - 1, conversation.turns) < turn
        if not view.ordered and is_followed and cursor_of(tx, view.name, space, id) >= turn:
            request_reading(tx, view.name, [edited], now, EDITED)


def take_versions(
    tx: Tx,
    batch: Batch,
    additions: Sequence[Added],
    now: datetime,
    views: Iterable[View[Any]],
    secrets: SecretPolicy,
) -> list[Added]:
    """What was added, where each other text for a known message has become a version of it."""
    newest: dict[str, Message] = {}
    results: list[Added] = []
    view_list = list(views)
    for draft, addition in zip(batch.drafts, additions, strict=True):
        if not addition.new:
            draft = secrets.guard_draft(draft)[0]
        message = newest.get(addition.message.id, addition.message)
        kept: Kept = addition.kept if message is addition.message else "known"
        if may_be_version(draft, message):
            try:
                metadata = draft.metadata or message.as_said.metadata
                message = put_version(tx, message, draft.content, metadata, now, batch.by, view_list, secrets)
                newest[message.id] = message
                kept = "edited"
            except InvalidInput:  # nothing was written: it is a command that cannot be changed
                kept = "refused"
        results.append(Added(replace(message, kept=kept), addition.new, kept))
    return results

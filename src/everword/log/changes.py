"""Reads and writes the changes made to the log, as transactions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from everword.errors import StoreError
from everword.log import rules as log_rules
from everword.log import sealed_changes as rules
from everword.log.message_versions import older_versions
from everword.model import Conversation, Fault, LogChange, Message, Seal
from everword.ports import Tx

TABLE = "changes"
OnDamage = Callable[[StoreError, Mapping[str, Any]], None]


def changes_of(tx: Tx, conversation: Conversation, damaged: OnDamage | None = None) -> list[LogChange]:
    """The changes made to a conversation, the oldest first. One that cannot be read raises an error, unless `damaged`
    is called with it."""
    if not conversation.changes:
        return []
    where = {"space": conversation.space, "conversation": conversation.id}
    return [to_change(row) for row in tx.rows(TABLE, where=where, damaged=damaged)]


def add_versions(tx: Tx, conversation: Conversation, messages: Iterable[Message]) -> list[Message]:
    """Messages of a conversation, each with its older versions."""
    changes_by_turn: dict[int, list[LogChange]] = {}
    for change in changes_of(tx, conversation):
        changes_by_turn.setdefault(change.turn, []).append(change)
    return [
        replace(message, versions=older_versions(message, changes_by_turn.get(message.turn, ())))
        for message in messages
    ]


def append_change(tx: Tx, conversation: Conversation, change: LogChange) -> Conversation:
    """Add a change to the end of a conversation's changes, and return the conversation, which must be locked, with its
    new head; the caller saves it."""
    numbered = replace(change, number=conversation.changes + 1)
    sealed = rules.seal_change(numbered, conversation.changes_head, os.urandom(16))
    tx.put(TABLE, [to_row(sealed)])
    return replace(conversation, changes=sealed.number, changes_head=sealed.seal.link)


def append_erased_change(tx: Tx, conversation: Conversation, change: LogChange, erasure: str) -> Conversation:
    """The same for a change that is erased from the start: it stands for words that are gone."""
    longer = append_change(tx, conversation, change)
    (row,) = tx.rows(TABLE, where={"space": longer.space, "conversation": longer.id, "number": longer.changes})
    tx.put(TABLE, [to_row(rules.erase_change(to_change(row)), erasure)])
    return longer


def erase_edits(tx: Tx, space: str, messages: Sequence[Message], erasure: str) -> None:
    """Remove what erased messages said before they were edited."""
    turns_by_conversation: dict[str, set[int]] = {}
    for message in messages:
        turns_by_conversation.setdefault(message.conversation, set()).add(message.turn)
    for id, turns in turns_by_conversation.items():
        conversation = tx.conversation(space, id)
        changes = [] if conversation is None else changes_of(tx, conversation)
        edits = [change for change in changes if change.kind == "edit" and change.turn in turns and not change.erased]
        tx.put(TABLE, [to_row(rules.erase_change(change), erasure) for change in edits])


def to_change(row: Mapping[str, Any]) -> LogChange:
    return LogChange(
        space=row["space"],
        conversation=row["conversation"],
        number=row["number"],
        kind=row["kind"],
        turn=row["turn"],
        at=row["at"],
        by=row["by"],
        before=row["before"],
        after=row["after"],
        erased=row["erasure"] is not None,
        seal=Seal(bytes(row["salt"]), bytes(row["digest"]), bytes(row["link"])),
    )


def to_row(change: LogChange, erasure: str | None = None) -> dict[str, Any]:
    return {
        "space": change.space,
        "conversation": change.conversation,
        "number": change.number,
        "kind": change.kind,
        "turn": change.turn,
        "at": change.at,
        "by": change.by,
        "before": change.before,
        "after": change.after,
        "erasure": erasure,
        "salt": change.seal.salt,
        "digest": change.seal.digest,
        "link": change.seal.link,
    }


def find_change_faults(conversation: Conversation, changes: Sequence[LogChange]) -> list[Fault]:
    """What is wrong with the chain of a conversation's changes."""
    faults = []
    link = b""
    for number, change in enumerate(changes, 1):
        problem = rules.change_problem(change, number, link)
        if problem is not None:
            faults.append(log_rules.fault(conversation, change.turn, problem))
        link = change.seal.link
    problem = rules.changes_end_problem(conversation, changes)
    return faults if problem is None else [*faults, log_rules.fault(conversation, 0, problem)]

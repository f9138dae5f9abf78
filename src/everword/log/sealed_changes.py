"""Changes of the log: how they are sealed, how a message was before them, and what can be wrong with them.

Every conversation has a second chain, of the changes made to it. A message is stored as it is now; its own seal proves
what it was when it was said, and each change proves what it made of that. So nothing can be altered without a trace,
although people may edit what they said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from everword.log.rules import EPOCH, MICROSECOND, canonical_json, compute_link
from everword.model import Conversation, LogChange, Message, Seal
from everword.model.notes import notes_key, own_notes

Ranges = Sequence[Sequence[int]]  # turns, as pairs of the first and the last


def compute_change_digest(change: LogChange, salt: bytes) -> bytes:
    """A digest of all fields but the conversation's name: that may be changed later."""
    fields = [
        change.space,
        change.number,
        change.kind,
        change.turn,
        (change.at - EPOCH) // MICROSECOND,
        change.by,
        canonical_json(change.before),
        canonical_json(change.after),
    ]
    return hashlib.sha256(salt + json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()).digest()


def seal_change(change: LogChange, previous_link: bytes, salt: bytes) -> LogChange:
    digest = compute_change_digest(change, salt)
    return replace(change, seal=Seal(salt, digest, compute_link(previous_link, digest)))


def is_sealed(change: LogChange) -> bool:
    """Whether a change is what its seal proves; an erased one is proved by its place alone."""
    return change.erased or compute_change_digest(change, change.seal.salt) == change.seal.digest


def erase_change(change: LogChange, unproved: Iterable[int] = ()) -> LogChange:
    """A change with only its place and its chain. Of a move, the turns stay of messages that nothing proves without the
    names that are gone: they are still in their chain."""
    turns = to_ranges(unproved)
    before: dict[str, Any] = {"turns": turns} if turns else {}
    return replace(change, by="", before=before, after={}, erased=True, seal=replace(change.seal, salt=b""))


def is_emptied(change: LogChange) -> bool:
    """Whether an erased change holds nothing that was said, and no name."""
    if change.by or change.after or change.seal.salt:
        return False
    turns = change.before.get("turns", [])
    is_numbers = all(len(pair) == 2 and all(type(turn) is int for turn in pair) for pair in turns)
    return set(change.before) <= {"turns"} and (not turns or (change.kind == "move" and is_numbers))


# -- what a message was


def edited_fields(message: Message) -> dict[str, Any]:
    """What an edit can change of a message."""
    message = message.as_said
    return {"content": message.content, "metadata": dict(message.metadata)}


def contains_turn(ranges: Ranges, turn: int) -> bool:
    return any(first <= turn <= last for first, last in ranges)


def to_ranges(turns: Iterable[int]) -> list[list[int]]:
    """Turns as pairs of the first and the last of each run."""
    ranges: list[list[int]] = []
    for turn in sorted(turns):
        if ranges and ranges[-1][1] == turn - 1:
            ranges[-1][1] = turn
        else:
            ranges.append([turn, turn])
    return ranges


def undo_change(message: Message, change: LogChange) -> Message:
    """The message as it was before a change."""
    before = change.before
    if change.kind == "edit":
        if change.turn != message.turn:
            return message
        return replace(message, content=before["content"], metadata=before["metadata"])
    return give_names(message, change, change.before)


def give_names(message: Message, change: LogChange, names: Mapping[str, Any]) -> Message:
    """The message with the names that a move gave it, or took from it: those of `names`."""
    before = change.before
    if message.turn > before["upto"]:
        return message
    if message.original is not None:
        return give_names(message.as_said, change, names).masked
    return replace(
        message,
        conversation=names.get("conversation", message.conversation),
        user=names["person"] if contains_turn(before["owned"], message.turn) else message.user,
        author=names["person"] if contains_turn(before["written"], message.turn) else message.author,
        metadata=with_audience(message.metadata, names["channel"])
        if contains_turn(before.get("heard", ()), message.turn)
        else message.metadata,
    )


def with_audience(metadata: Mapping[str, Any], channel: str) -> dict[str, Any]:
    """The metadata of a change of a fact, for another name of the channel that sees it."""
    return {**metadata, notes_key(metadata): {**own_notes(metadata), "audience": channel}}


def concerns(change: LogChange, turn: int) -> bool:
    """Whether a change may have changed the message at a turn."""
    if change.kind == "edit":
        return change.turn == turn
    return contains_turn(change.before.get("turns", ()), turn) if change.erased else True


def original_message(message: Message, changes: Sequence[LogChange]) -> Message | None:
    """The message as it was said, which its seal proves; None if what it was is erased."""
    message = message.as_said
    for change in reversed(changes):
        if not concerns(change, message.turn):
            continue
        if change.erased:
            return None
        message = undo_change(message, change)
    return message


# -- what can be wrong


def change_problem(change: LogChange, number: int, previous_link: bytes) -> str | None:
    """What is wrong with a change that should have this number and follow this link."""
    if change.number != number:
        return f"change {number} is missing"
    if change.erased and not is_emptied(change):
        return f"change {number} is marked as erased and is not empty"
    if not is_sealed(change):
        return f"change {number} was changed"
    if compute_link(previous_link, change.seal.digest) != change.seal.link:
        return f"change {number} does not follow from the change before it"
    return None


def changes_end_problem(conversation: Conversation, changes: Sequence[LogChange]) -> str | None:
    """What is wrong with the end of a conversation's changes."""
    if len(changes) != conversation.changes:
        return f"a change is missing: the conversation counts {conversation.changes} changes"
    last_link = changes[-1].seal.link if changes else b""
    return None if last_link == conversation.changes_head else "the last change is not the one it ended with"


def is_as_changed(message: Message, changes: Sequence[LogChange]) -> bool:
    """Whether a message is what its last change made of it, and each change began with what the one before had made."""
    message = message.as_said
    for change in reversed(changes):
        if not concerns(change, message.turn):
            continue
        if change.erased:
            return True  # what it was before that is not known
        if not is_result(message, change):
            return False
        message = undo_change(message, change)
    return True


def is_result(message: Message, change: LogChange) -> bool:
    """Whether a message is what a change made of it."""
    if change.kind == "edit":
        return edited_fields(message) == dict(change.after)
    return give_names(message, change, change.after) == message

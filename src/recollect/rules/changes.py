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

from recollect.model import Conversation, Draft, Kept, LogChange, Message, Seal, Version
from recollect.rules.log import EPOCH, MICROSECOND, ONCE, canonical_json, compute_link

OWN_NOTES = "recollect"  # the key of what the memory notes in the metadata of a message
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


def erase_change(change: LogChange) -> LogChange:
    """A change with only its place and its chain."""
    return replace(change, by="", before={}, after={}, erased=True, seal=replace(change.seal, salt=b""))


# -- what a message was


def edited_fields(message: Message) -> dict[str, Any]:
    """What an edit can change of a message."""
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
    if message.turn > before["upto"]:
        return message
    return replace(
        message,
        conversation=before["conversation"],
        user=before["person"] if contains_turn(before["owned"], message.turn) else message.user,
        author=before["person"] if contains_turn(before["written"], message.turn) else message.author,
    )


def concerns(change: LogChange, turn: int) -> bool:
    """Whether a change may have changed the message at a turn."""
    return change.turn == turn if change.kind == "edit" else True


def original_message(message: Message, changes: Sequence[LogChange]) -> Message | None:
    """The message as it was said, which its seal proves; None if what it was is erased."""
    for change in reversed(changes):
        if not concerns(change, message.turn):
            continue
        if change.erased:
            return None
        message = undo_change(message, change)
    return message


def older_versions(message: Message, changes: Iterable[LogChange]) -> tuple[Version, ...]:
    """What a message said before it was edited, the oldest first."""
    versions: list[Version] = []
    for change in changes:
        if change.kind == "edit" and change.turn == message.turn and not change.erased:
            since = versions[-1].until if versions else message.time
            before = change.before
            versions.append(Version(before["content"], before["metadata"], since, change.at, change.by))
    return tuple(versions)


# -- another text for a message that is known


def says_same(draft: Draft, message: Message) -> bool:
    """Whether a draft says what a message says that is known by its id."""
    return (draft.role, draft.content) == (message.role, message.content)


def kept_as(draft: Draft, message: Message, versions: Iterable[Version]) -> Kept:
    """What became of a draft whose message was known before. A text that the message once had is known too."""
    if message.erased:
        return "erased"
    is_older = draft.role == message.role and any(version.content == draft.content for version in versions)
    return "known" if is_older or says_same(draft, message) else "refused"


def may_be_version(draft: Draft, message: Message) -> bool:
    """Whether a draft can be a new version of a known message. One that is named by the key of its request is the same
    request again, from before the message was edited."""
    is_repeated = (draft.platform_id or "").startswith(ONCE)
    return not (message.erased or is_repeated or says_same(draft, message)) and draft.role == message.role


def edited_metadata(message: Message, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a new version. What the memory itself noted there stays."""
    notes = {name: value for name, value in message.metadata.items() if name == OWN_NOTES}
    return {**metadata, **notes}


# -- what can be wrong


def change_problem(change: LogChange, number: int, previous_link: bytes) -> str | None:
    """What is wrong with a change that should have this number and follow this link."""
    if change.number != number:
        return f"change {number} is missing"
    if change.erased and (change.by or change.before or change.after or change.seal.salt):
        return f"change {number} is marked as erased and is not empty"
    if not change.erased and compute_change_digest(change, change.seal.salt) != change.seal.digest:
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
    """Whether a message says what its last edit made of it, and each edit began with what the one before had made."""
    edits = [change for change in changes if change.kind == "edit" and change.turn == message.turn]
    if not edits or any(change.erased for change in edits):
        return True
    states: list[Mapping[str, Any]] = [change.before for change in edits[1:]]
    return all(
        dict(change.after) == dict(state)
        for change, state in zip(edits, [*states, edited_fields(message)], strict=True)
    )

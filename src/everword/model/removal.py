"""What was removed from the memory, or would be, and the line that is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

RemovalKind = Literal["erase", "delete", "retention", "move", "merge", "undo", "redact"]
REMOVAL_KINDS: tuple[RemovalKind, ...] = get_args(RemovalKind)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What `delete` removed, or on a dry run would remove.

    `conversations` says how many messages of each, `views` how much of each view rests on them: that goes, and what
    else is left to say is made anew. `left` is as that of an erasure. `id` is empty on a dry run.
    """

    id: str
    space: str
    at: datetime
    dry_run: bool
    messages: int
    conversations: Mapping[str, int]
    views: Mapping[str, int]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redaction:
    """What `redact` replaced by placeholders, or on a dry run would replace: in how many messages, how many of each
    conversation, and in how many of them each kind of secret. `left` is as that of an erasure. `id` is empty if nothing
    was replaced."""

    id: str
    space: str
    at: datetime
    dry_run: bool
    messages: int
    conversations: Mapping[str, int]
    kinds: Mapping[str, int]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One removal: by whom (the id of a key, or "program"), when, of what kind, and how many. There is a line for moves
    and merges too, although nothing goes.

    `what` is "messages", "conversation" (its messages are counted), or a kind of memory that expired. What it said, and
    of whom it was, is not kept: that was removed.
    """

    space: str
    id: str
    at: datetime
    kind: RemovalKind
    by: str
    what: str
    count: int

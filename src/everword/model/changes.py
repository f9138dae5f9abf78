"""What was changed in the log after it was said, moved to another name, or removed; and the line that is kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from everword.model.log import Seal

ChangeKind = Literal["edit", "move"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class LogChange:
    """One change of a conversation: the number it has there, what it changed, when and by whom (the id of a key, or
    "program").

    An edit is of one `turn`, and `before` and `after` are the message's content and metadata. A move is of the whole
    conversation (`turn` is 0), and they are the names: of the conversation, of its owner, of a person; `before` says of
    which turns the person was the user (`owned`) and the author (`written`), and `after` of which move it is a part. A
    change whose message or person was erased keeps its place and its seal, and nothing that was said.
    """

    space: str
    conversation: str
    number: int
    kind: ChangeKind
    turn: int
    at: datetime
    by: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    erased: bool = False
    seal: Seal = field(default=Seal(b"", b"", b""), repr=False, compare=False)


MoveKind = Literal["move", "merge", "undo"]


@dataclass(frozen=True, slots=True)
class Move:
    """What `move_conversation`, `merge_users` or `undo_move` did, or on a dry run would do.

    Messages of `user` became those of `into`; both are None if a conversation was only renamed. `conversations` are
    those in which something changed, by the names they had before, with the names they have now. `moved` says how many
    messages, facts, statements, names and documents went along. `id` is for `undo_move`; it is empty on a dry run, and
    if everything was so already.
    """

    id: str
    space: str
    at: datetime
    kind: MoveKind
    dry_run: bool
    user: str | None
    into: str | None
    conversations: Mapping[str, str]
    moved: Mapping[str, int]


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

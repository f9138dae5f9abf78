"""What was moved to another name, or would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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

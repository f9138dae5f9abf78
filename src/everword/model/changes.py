"""What was changed in the log after it was said."""

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

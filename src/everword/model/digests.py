"""Digests: what a day in a space was for a member, and their last week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

DigestKind = Literal["day", "week"]


@dataclass(frozen=True, slots=True)
class Span:
    """Messages of a conversation, from a turn to a turn: where a digest comes from."""

    conversation: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Digest:
    """What a member of a space did on a day, or (kind "week") in the six days before the day after `last`.

    `made_by` is "model" or "offline". While `pending`, the built-in writer's text stands in until a model has written
    it. `sources` are the messages of the day in which the member spoke, by channel; a week has those of its days.
    """

    space: str
    user: str
    kind: DigestKind
    first: date
    last: date
    text: str
    made_by: str
    made_at: datetime
    pending: bool = False
    sources: tuple[Span, ...] = ()

    @property
    def day(self) -> date:
        """The day it is of, or its last."""
        return self.last

    def __str__(self) -> str:
        return self.text

"""Documents: what a program keeps under a key of its own choosing, and takes away again when it wants to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object under a key in a namespace. `user` is whose it is, if anybody's; `score` of a search. It is gone at
    `expires_at`, if that is set."""

    space: str
    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] = field(hash=False)
    user: str | None
    created_at: datetime
    updated_at: datetime
    score: float | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A document to be kept, in the place of the one that was there; without a `value`, to be removed.

    `texts` is what it is found by, in place of all that its value says; if they are empty, no search ranks it.
    It is gone at `expires_at`: a moment, or a span of time from now.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any] | None = field(hash=False)
    user: str | None = None
    texts: tuple[str, ...] | None = None
    expires_at: datetime | timedelta | None = None

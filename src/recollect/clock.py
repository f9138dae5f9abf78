"""The time of day, from the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Says what the machine says."""

    def now(self) -> datetime:
        return datetime.now(UTC)

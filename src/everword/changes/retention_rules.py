"""How long each kind of memory is kept, and what of it has expired. By default everything is kept for ever.

The age of something counts from the time it is about, not from when it was stored: an old chat imported today is old.
Facts and statements that are active are kept, however long ago they were said: only retired ones can expire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

KINDS = {
    "messages": "messages, with their place in search and their tiers",
    "episodes": "summaries of what left the window",
    "facts": "facts and statements that no longer hold, and what they were read from",
    "digests": "digests of days",
    "topics": "topics that have faded, with all that is kept of them",
    "usage": "counts of calls",
}
"""Each kind of memory, and what goes with it."""
EXPIRED_KINDS = {
    "messages": "expired messages",
    "statements": "expired statements",
    "documents": "expired documents",
}
"""What can expire at a time of its own, by table; this goes whatever the settings keep."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many days each kind is kept (0: for ever), and hours between scheduled clean-ups (`every`, 0: none)."""

    messages: int = 0
    episodes: int = 0
    facts: int = 0
    digests: int = 0
    topics: int = 0
    usage: int = 0
    every: int = 0

    def cutoff(self, kind: str, now: datetime) -> datetime | None:
        """The time before which a kind has expired; None if it is kept for ever."""
        days: int = getattr(self, kind)
        try:
            return now - timedelta(days=days) if days else None
        except OverflowError:  # before the year 1
            return None

    @property
    def limits(self) -> dict[str, int]:
        """The kinds that are not kept for ever, each with its number of days."""
        return {kind: days for kind in KINDS if (days := getattr(self, kind))}

    def is_due(self, last: datetime | None, now: datetime) -> bool:
        """Whether a scheduled clean-up is due after the last one. If the clock was set back, it is not."""
        if not self.every:
            return False
        return last is None or now - last >= timedelta(hours=self.every)


def day_is_over(day: str, before: datetime) -> bool:
    """Whether a day, in ISO format, ended before a time in every time zone."""
    return before.date() > date.min and day < (before - DAY).date().isoformat()


def episode_is_over(row: Mapping[str, Any], before: datetime) -> bool:
    """Whether an episode ended before a time: a summary of many episodes is kept as long as the last of them."""
    return bool(row["ended"] < before)


def is_history(row: Mapping[str, Any], before: datetime) -> bool:
    """Whether a fact or statement was retired before a time."""
    return not row["active"] and row["retired_at"] is not None and bool(row["retired_at"] < before)


def digest_is_over(row: Mapping[str, Any], before: datetime) -> bool:
    """Whether a digest expired: by its day, or, if it has none (as a merge), by when it was made."""
    return day_is_over(row["day"], before) if row["day"] else bool(row["made_at"] < before)


def row_day_is_over(row: Mapping[str, Any], before: datetime) -> bool:
    return day_is_over(row["day"], before)


def find_expired_topics(rows: Sequence[Mapping[str, Any]], before: datetime) -> list[Mapping[str, Any]]:
    """The expired topics of a conversation: those that have faded, if neither they nor the topics merged into them
    were active since."""
    into = {row["first"]: row["merged_into"] for row in rows}

    def root(first: int) -> int:
        while (parent := into.get(first)) is not None:
            first = parent
        return first

    kept_roots = {root(row["first"]) for row in rows if row["active"] or row["last_active_at"] >= before}
    return [row for row in rows if root(row["first"]) not in kept_roots]


OVER: dict[str, Callable[[Mapping[str, Any], datetime], bool]] = {
    "episodes": episode_is_over,
    "facts": is_history,
    "statements": is_history,
    "digests": digest_is_over,
    "days": row_day_is_over,
    "usage": row_day_is_over,
}
"""For each table whose rows expire one by one, the check whether a row has."""

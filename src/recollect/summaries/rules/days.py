"""The days of a space: when a day begins and ends, how old a digest of today may be, and how a long day is split.

A day follows the calendar of the space's time zone: with a clock change it has 23 or 25 hours, and a day that the
calendar left out has none. Today's digest is valid for the hour it was made in, and longer if nothing was said since. A
merge is identified by a hash of its inputs: the same inputs give the same merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from recollect.errors import InvalidInput

HISTORY = 6
"""Days before today that become one history: with today a week."""
LATE = 4  # a long day is split at a pause in the last 1/LATE of what fits
DAY = timedelta(days=1)


def parse_time_zone(name: str) -> tzinfo:
    """The time zone with this name; raises InvalidInput if there is none. UTC needs no system data."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError, RecursionError):  # an odd name, one of a folder, an unknown one
        example = "an IANA name such as Europe/Berlin; a system without time zones needs the package `tzdata`"
        raise InvalidInput("time_zone", f"is {name!r}, which is no known time zone: use {example}") from None


def day_of(moment: datetime, zone: tzinfo) -> date:
    """The day on the space's calendar. In the first and last hours of the calendar there is only UTC."""
    try:
        return moment.astimezone(zone).date()
    except OverflowError:
        return moment.astimezone(UTC).date()


def day_bounds(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """When a day begins, and when the next does."""
    return _day_start(day, zone), _day_start(day + DAY, zone) if day < date.max else datetime.max.replace(tzinfo=UTC)


def _day_start(day: date, zone: tzinfo) -> datetime:
    try:
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time(), UTC)


def hour_bucket(moment: datetime, zone: tzinfo) -> str:
    """The hour on the space's clock. An hour that comes twice, when clocks are set back, gives two values."""
    return moment.astimezone(zone).strftime("%Y-%m-%dT%H%z")


def history_days(today: date) -> tuple[date, ...]:
    """The days of a history, oldest first: yesterday and those before it."""
    return tuple(today - DAY * back for back in range(HISTORY, 0, -1) if today - date.min >= DAY * back)


# -- what a digest is made of


@dataclass(frozen=True, slots=True)
class Participation:
    """What a member said on a day in a channel: how many messages, and the turns of the first and the last."""

    conversation: str
    user: str
    first: int
    last: int
    messages: int


def fingerprint(spoke: Iterable[Participation]) -> str:
    """A short hash of what was said on a day: one more message, earlier or later, changes it."""
    rows = sorted((entry.conversation, entry.user, entry.first, entry.last, entry.messages) for entry in spoke)
    return content_hash(*(str(value) for row in rows for value in row))


def extend_participation(
    spoke: Participation | None, conversation: str, user: str, turns: Sequence[int]
) -> Participation:
    """The participation of a member on a day, with these turns added."""
    first = min(turns)
    last = max(turns)
    if spoke is None:
        return Participation(conversation, user, first, last, len(turns))
    return Participation(
        conversation, user, min(first, spoke.first), max(last, spoke.last), spoke.messages + len(turns)
    )


def content_hash(*parts: str) -> str:
    """A hash of texts, each with its length: the same characters cut in another way give another hash."""
    texts = [part.encode("utf-8", "surrogatepass") for part in parts]
    return sha256(b"".join(len(text).to_bytes(8, "big") + text for text in texts)).hexdigest()[:32]


# -- whether a digest is still valid


def is_current(row: Mapping[str, Any], *, inputs: str, hour: str, asking: bool) -> bool:
    """Whether a stored digest is as good as a new one.

    It is if nothing was said since, or if it is of this hour; a day that has ended has no `hour`. A digest by the
    built-in writer in place of a model is not, as soon as a model can be asked.
    """
    return not (row["pending"] and asking) and (row["inputs"] == inputs or (hour != "" and row["bucket"] == hour))


# -- a day that is too long


def split_day(sizes: Sequence[int], times: Sequence[datetime], limit: int) -> list[tuple[int, int]]:
    """Split a day's messages into runs of at most `limit` in total size, at pauses if possible.

    A run is the index of its first message and the index after its last. A message that is too large is its own run.
    """
    runs = list[tuple[int, int]]()
    start = 0
    while start < len(sizes):
        end = start
        size = 0
        while end < len(sizes) and (end == start or size + sizes[end] <= limit):
            size += sizes[end]
            end += 1
        if end < len(sizes):
            earliest = max(end - max((end - start) // LATE, 1), start + 1)
            end = max(range(earliest, end + 1), key=lambda place: (times[place] - times[place - 1], place))
        runs.append((start, end))
        start = end
    return runs


# -- without a model


def merge_sources(profile: str, today: str, history: str) -> list[tuple[str, str]]:
    """The texts to merge that are not empty, with their names, the most important first."""
    pairs = (("profile", profile), ("today", today), ("history", history))
    return [(name, text.strip()) for name, text in pairs if text.strip()]


def join_sources(profile: str, today: str, history: str, names: Mapping[str, str]) -> str:
    """All the texts, one after the other, without a model: the profile first, then today, then the days before."""
    texts = merge_sources(profile, today, history)
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"{names[name]}: {text}" if name in names else text for name, text in texts)

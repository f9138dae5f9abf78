"""A space's days: when one begins and ends on its clock, how old a digest of today may be, and how a long day is split.

A day is what the space's calendar says, so on days with a clock change it has 23 or 25 hours; one that a calendar left
out has none. Today's digest holds for the hour it was made in, and longer if nothing was said since. What is merged is
known by a hash of what it is made of: the same inputs are the same merge.
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
LATE = 4  # a long day is split in a pause within the last part of this many of what fits
DAY = timedelta(days=1)


def zone_named(name: str) -> tzinfo:
    """The time zone of a name; InvalidInput if there is none. UTC needs no data of the system."""
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


def bounds(day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """When a day begins, and when the next does."""
    return _begin(day, zone), _begin(day + DAY, zone) if day < date.max else datetime.max.replace(tzinfo=UTC)


def _begin(day: date, zone: tzinfo) -> datetime:
    try:
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except OverflowError:
        return datetime.combine(day, time(), UTC)


def bucket(moment: datetime, zone: tzinfo) -> str:
    """The hour on the space's clock. One that comes twice, when clocks are set back, is two."""
    return moment.astimezone(zone).strftime("%Y-%m-%dT%H%z")


def before(today: date) -> tuple[date, ...]:
    """The days of a history, oldest first: yesterday and those before it."""
    return tuple(today - DAY * back for back in range(HISTORY, 0, -1) if today - date.min >= DAY * back)


# -- what a digest is made of


@dataclass(frozen=True, slots=True)
class Spoke:
    """What a member said on a day in a channel: so many messages, the first and the last of them at these turns."""

    conversation: str
    user: str
    first: int
    last: int
    messages: int


def fingerprint(spoke: Iterable[Spoke]) -> str:
    """What a day consists of, in a few characters: another message, earlier or later, gives another."""
    rows = sorted((one.conversation, one.user, one.first, one.last, one.messages) for one in spoke)
    return content_hash(*(str(value) for row in rows for value in row))


def noted(spoke: Spoke | None, conversation: str, user: str, turns: Sequence[int]) -> Spoke:
    """What a member said on a day, with these turns more."""
    first, last = min(turns), max(turns)
    if spoke is None:
        return Spoke(conversation, user, first, last, len(turns))
    return Spoke(conversation, user, min(first, spoke.first), max(last, spoke.last), spoke.messages + len(turns))


def content_hash(*parts: str) -> str:
    """A hash of texts, each with its length: no two ways to cut them give the same."""
    texts = [part.encode("utf-8", "surrogatepass") for part in parts]
    return sha256(b"".join(len(text).to_bytes(8, "big") + text for text in texts)).hexdigest()[:32]


# -- whether it still holds


def holds(row: Mapping[str, Any], *, inputs: str, hour: str, asking: bool) -> bool:
    """Whether a stored digest is as good as a new one.

    It is if nothing was said since, or if it is of this hour; a day that is over has no `hour`. What the built-in
    writer made in a model's place is not, as soon as a model can be asked.
    """
    return not (row["pending"] and asking) and (row["inputs"] == inputs or (hour != "" and row["bucket"] == hour))


# -- a day that is too long


def split(sizes: Sequence[int], times: Sequence[datetime], limit: int) -> list[tuple[int, int]]:
    """Cuts a day's messages into runs of at most `limit` together, in a pause where there is one; each run as its
    first place and the place after its last. A message too large by itself is a run of its own."""
    runs, start = list[tuple[int, int]](), 0
    while start < len(sizes):
        end, size = start, 0
        while end < len(sizes) and (end == start or size + sizes[end] <= limit):
            size += sizes[end]
            end += 1
        if end < len(sizes):
            earliest = max(end - max((end - start) // LATE, 1), start + 1)
            end = max(range(earliest, end + 1), key=lambda place: (times[place] - times[place - 1], place))
        runs.append((start, end))
        start = end
    return runs


# -- what is left when a model fails


def sources(profile: str, today: str, history: str) -> list[tuple[str, str]]:
    """What there is to merge, in the order in which it counts."""
    named = (("profile", profile), ("today", today), ("history", history))
    return [(name, text.strip()) for name, text in named if text.strip()]


def composed(profile: str, today: str, history: str, names: Mapping[str, str]) -> str:
    """All there is, one after the other, without a model: what is known first, then today, then the days before."""
    there = sources(profile, today, history)
    if len(there) == 1:
        return there[0][1]
    return "\n".join(f"{names[name]}: {text}" if name in names else text for name, text in there)

"""When something expires: the moment that is given, or a span of time from now.

What expires is shown until that moment and not at it. Over HTTP and on the command line a moment is an ISO 8601 time
with its offset, and a span a number with its unit, as in `10m`, `2h` or `7d`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from everword.errors import InvalidInput
from everword.log.rules import check_time

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
SPAN = re.compile(r"(?P<count>\d{1,12}(?:\.\d{1,6})?)(?P<unit>[smhdw])", re.ASCII)


def parse_expiry(field: str, text: str | None) -> datetime | timedelta | None:
    """What a text says about when something expires; None if there is none."""
    if text is None:
        return None
    span = SPAN.fullmatch(text.strip())
    if span is not None:
        try:
            return timedelta(seconds=float(span["count"]) * SECONDS[span["unit"]])
        except OverflowError:
            raise InvalidInput(field, f"is {text!r}, which is too long") from None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            field, f"is {text!r}; write a span such as 10m, 2h or 7d, or a time such as 2026-05-31T09:00:00Z"
        ) from None
    return check_time(field, moment)


def format_expiry(field: str, value: object) -> str:
    """The text by which a server is told when something expires."""
    if isinstance(value, timedelta):
        return f"{value / timedelta(seconds=1):.6f}s"
    return check_time(field, value).isoformat()


def first_expiry(*moments: datetime | None) -> datetime | None:
    """The first of some moments; None if none is given."""
    return min((moment for moment in moments if moment is not None), default=None)


def has_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Whether something that expires at a moment, or never, is gone now."""
    return expires_at is not None and expires_at <= now

"""When something expires: what texts and values mean, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.log.checks_and_seals import check_expiry, first_expiry, format_expiry, has_expired, parse_expiry

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90s", timedelta(seconds=90)),
        ("10m", timedelta(minutes=10)),
        ("1.5h", timedelta(minutes=90)),
        (" 7d ", timedelta(days=7)),
        ("2w", timedelta(days=14)),
        ("2026-12-01T09:30:00+02:00", datetime(2026, 12, 1, 7, 30, tzinfo=UTC)),
        ("2026-12-01T09:30:00.000001Z", datetime(2026, 12, 1, 9, 30, 0, 1, tzinfo=UTC)),
        (None, None),
    ],
)
@pytest.mark.checklist("F13")
def test_a_span_or_a_time(text: str | None, meant: datetime | timedelta | None) -> None:
    assert parse_expiry("expires", text) == meant


@pytest.mark.parametrize(
    "text", ["", "soon", "10", "m", "-5m", "5 m", "1y", "١m", "2026-12-01", "2026-12-01T09:30:00", "9" * 12 + "w"]
)
@pytest.mark.checklist("F13")
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="expires"):
        parse_expiry("expires", text)


@given(st.timedeltas(min_value=TICK, max_value=timedelta(days=60_000)))
@pytest.mark.checklist("F13")
def test_what_a_client_sends_is_what_was_meant(span: timedelta) -> None:
    meant = parse_expiry("expires", format_expiry("expires", span))
    assert isinstance(meant, timedelta)
    assert abs(meant - span) <= TICK
    moment = NOW + span
    assert parse_expiry("expires", format_expiry("expires", moment)) == moment


@pytest.mark.checklist("F13")
def test_it_is_gone_at_its_moment_and_not_before() -> None:
    moment = check_expiry("expires", NOW.astimezone(timezone(timedelta(hours=9))) + TICK, NOW)
    assert moment == check_expiry("expires", TICK, NOW) == NOW + TICK
    assert [has_expired(moment, NOW + ticks * TICK) for ticks in range(3)] == [False, True, True]
    assert not has_expired(None, NOW)
    assert first_expiry(None, moment, NOW) == NOW
    assert first_expiry(None, None) is None

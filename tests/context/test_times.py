"""Days and times as a context shows them (F3)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.context.render import MANY_SPANS, Calendar, span_texts

EVENING = datetime(2022, 2, 2, 23, 30, tzinfo=UTC)


@pytest.mark.checklist("F3")
def test_the_day_is_that_of_the_time_zone() -> None:
    assert Calendar(EVENING).today == "Today is Wednesday, 2 February 2022."
    assert Calendar(EVENING, ZoneInfo("Europe/Berlin")).today == "Today is Thursday, 3 February 2022."
    assert Calendar().today == ""
    assert Calendar(EVENING).day(EVENING) == "Wed 2 Feb 2022"


@pytest.mark.checklist("F3")
def test_the_day_is_said_once_and_a_pause_begins_anew() -> None:
    minutes = (0, 20, 300, 310, 1500)
    messages = [(f"m{n}", datetime(2022, 2, 2, 9, tzinfo=UTC) + timedelta(minutes=m)) for n, m in enumerate(minutes, 1)]
    assert span_texts(messages, UTC) == [
        "m1 to m2: Wed 2 Feb 2022, 09:00 to 09:20",
        "m3 to m4: 14:00 to 14:10",
        "m5: Thu 3 Feb 2022, 10:00",
    ]


def test_the_ends_of_the_calendar_are_shown_too() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    assert Calendar(last, ZoneInfo("Asia/Tokyo")).today.endswith("31 December 9999.")
    assert span_texts([("m1", datetime.min.replace(tzinfo=UTC))], ZoneInfo("America/New_York"))


@given(st.lists(st.integers(0, 60 * 24 * 40), max_size=60))
def test_pauses_count_only_where_spans_are_few(minutes: list[int]) -> None:
    start = datetime(2022, 2, 2, tzinfo=UTC)
    messages = [(f"m{n}", start + timedelta(minutes=minute)) for n, minute in enumerate(sorted(minutes))]
    spans = span_texts(messages, UTC)
    days = {moment.date() for _, moment in messages}
    assert len(days) <= len(spans) <= max(MANY_SPANS, len(days))


@pytest.mark.checklist("F3")
def test_the_day_is_said_briefly_beside_a_short_message() -> None:
    assert Calendar(EVENING).short_today == "2Feb2022 Wed"
    assert Calendar().short_today == ""


@pytest.mark.checklist("F3")
def test_what_was_said_in_the_last_minutes_is_just_now() -> None:
    calendar = Calendar(EVENING)
    assert calendar.is_just_now(EVENING - timedelta(minutes=10))
    assert not calendar.is_just_now(EVENING - timedelta(minutes=11))
    assert not Calendar().is_just_now(EVENING)

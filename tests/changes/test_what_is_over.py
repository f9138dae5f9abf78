"""What is over, by kind, and when a schedule asks: for ever unless somebody says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.changes.retention_rules import KINDS, OVER, Retention, day_is_over, find_expired_topics

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.checklist("C12")
def test_everything_is_kept_for_ever_unless_said_otherwise() -> None:
    assert [Retention().cutoff(kind, NOW) for kind in KINDS] == [None] * len(KINDS)
    assert not Retention().limits
    assert not Retention().is_due(None, NOW)
    assert Retention(every=1).is_due(None, NOW), "what has a time of its own at which it expires goes then"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.checklist("C12")
def test_each_kind_has_a_limit_of_its_own(kind: str) -> None:
    policy = Retention(**{kind: 30})
    assert policy.limits == {kind: 30}
    assert {one: policy.cutoff(one, NOW) for one in KINDS if policy.cutoff(one, NOW)} == {kind: NOW - 30 * DAY}


@given(st.integers(min_value=1, max_value=10**9))
@pytest.mark.checklist("C12")
def test_a_limit_beyond_all_dates_is_none(days: int) -> None:
    before = Retention(messages=days).cutoff("messages", NOW)
    assert before is None or before == NOW - timedelta(days=days)


@given(st.integers(min_value=0, max_value=72 * 60))
@pytest.mark.checklist("C12")
def test_a_schedule_asks_once_in_its_time(minutes: int) -> None:
    policy, last = Retention(messages=30, every=24), NOW - timedelta(minutes=minutes)
    assert policy.is_due(last, NOW) == (minutes >= 24 * 60)
    assert policy.is_due(None, NOW)
    assert not policy.is_due(NOW + DAY, NOW)  # a clock that was set back


@given(st.integers(min_value=-14 * 60, max_value=12 * 60), st.integers(min_value=0, max_value=10 * 24))
@pytest.mark.checklist("C12")
def test_no_day_is_over_while_an_hour_of_it_is_kept(minutes: int, hours: int) -> None:
    """`minutes` is how far the day's zone is from UTC."""
    before = NOW - timedelta(hours=hours)
    day = (before + timedelta(minutes=minutes)).date()
    assert not day_is_over(day.isoformat(), before)
    assert day_is_over((day - 3 * DAY).isoformat(), before)


@pytest.mark.parametrize(
    ("table", "row", "is_over"),
    [
        ("episodes", {"began": NOW - 60 * DAY, "ended": NOW - 31 * DAY}, True),
        ("episodes", {"began": NOW - 60 * DAY, "ended": NOW - 29 * DAY}, False),
        ("facts", {"active": 0, "retired_at": NOW - 31 * DAY, "said_at": NOW - 99 * DAY}, True),
        ("facts", {"active": 0, "retired_at": NOW - 29 * DAY, "said_at": NOW - 99 * DAY}, False),
        ("facts", {"active": 1, "retired_at": None, "said_at": NOW - 999 * DAY}, False),
        ("statements", {"active": 0, "retired_at": None}, False),
        ("digests", {"day": "2026-10-10", "made_at": NOW}, True),
        ("digests", {"day": "2026-10-16", "made_at": NOW - 90 * DAY}, False),
        ("digests", {"day": "", "made_at": NOW - 31 * DAY}, True),
        ("digests", {"day": "", "made_at": NOW}, False),
        ("usage", {"day": "2026-10-10"}, True),
        ("usage", {"day": "2026-10-16"}, False),
    ],
)
@pytest.mark.checklist("C12")
def test_what_is_over_by_table(table: str, row: dict[str, Any], is_over: bool) -> None:
    assert OVER[table](row, NOW - 30 * DAY) is is_over


def topic(first: int, *, active: bool = False, age: int = 60, into: int | None = None) -> dict[str, Any]:
    return {"first": first, "active": int(active), "last_active_at": NOW - age * DAY, "merged_into": into}


@pytest.mark.parametrize(
    ("rows", "over"),
    [
        ([topic(1), topic(2, active=True), topic(3, age=29)], [1]),
        ([topic(1), topic(4, into=1), topic(5, into=4)], [1, 4, 5]),  # with all that became part of it
        ([topic(1), topic(4, into=1), topic(5, into=4, age=2)], []),  # of a part of it was talked
        ([topic(1, active=True), topic(4, into=1)], []),
        ([], []),
    ],
)
@pytest.mark.checklist("C12")
def test_a_topic_is_over_as_a_whole_or_not(rows: list[dict[str, Any]], over: list[int]) -> None:
    assert [row["first"] for row in find_expired_topics(rows, NOW - 30 * DAY)] == over

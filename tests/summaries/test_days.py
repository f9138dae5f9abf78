"""A space's days: its calendar, its hours, what is made anew, and how a long day is split (C3 to C7)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import InvalidInput
from everword.summaries.rules import days
from everword.summaries.rules.days import Participation

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Beirut", "Pacific/Apia", "America/Havana",
     "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"]
).map(days.parse_time_zone)  # fmt: skip
BEGIN = datetime(1980, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 55 * 365 * 86_400 * 1_000_000).map(lambda passed: BEGIN + timedelta(microseconds=passed))


@given(MOMENTS, ZONES)
@pytest.mark.checklist("C4")
def test_every_moment_is_in_one_day_and_days_follow_each_other(moment: datetime, zone: ZoneInfo) -> None:
    day = days.day_of(moment, zone)
    begin, end = days.day_bounds(day, zone)
    assert begin <= moment < end
    assert days.day_bounds(day - days.DAY, zone)[1] == begin
    assert days.day_of(begin, zone) == day
    assert days.day_of(begin - timedelta(microseconds=1), zone) < day
    assert HOUR * 22 <= end - begin <= HOUR * 26


@pytest.mark.checklist("C4")
def test_days_with_a_clock_change_are_shorter_and_longer() -> None:
    spring, autumn = date(2026, 3, 29), date(2026, 10, 25)
    for day, hours in ((spring, 23), (autumn, 25), (date(2026, 6, 1), 24)):
        begin, end = days.day_bounds(day, BERLIN)
        assert end - begin == hours * HOUR
    begin, end = days.day_bounds(autumn, BERLIN)
    hours_of = [days.hour_bucket(begin + n * HOUR, BERLIN) for n in range(25)]
    assert len({*hours_of}) == 25, "the hour that comes twice is two"
    assert hours_of[2:4] == ["2026-10-25T02+0200", "2026-10-25T02+0100"]
    assert days.day_of(datetime(2026, 10, 25, 22, 59, tzinfo=UTC), BERLIN) == autumn
    assert days.day_of(datetime(2026, 10, 25, 23, 0, tzinfo=UTC), BERLIN) == autumn + days.DAY


def test_a_day_that_a_calendar_left_out_has_no_time() -> None:
    apia = ZoneInfo("Pacific/Apia")  # it went from the 29th to the 31st
    begin, end = days.day_bounds(date(2011, 12, 30), apia)
    assert end - begin <= timedelta(0) or days.day_of(begin, apia) != date(2011, 12, 30)


def test_the_ends_of_the_calendar_are_days_too() -> None:
    for name in ("Pacific/Kiritimati", "America/Adak", "UTC"):
        zone = days.parse_time_zone(name)
        for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
            day = days.day_of(moment, zone)
            begin, end = days.day_bounds(day, zone)
            assert begin <= end
    assert days.history_days(date.min) == ()
    assert days.history_days(date(2026, 3, 8)) == tuple(date(2026, 3, n) for n in range(2, 8))


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "", "../etc/passwd", "/etc/localtime", "Europe", "a" * 300, "Berlin\0"]
)
def test_an_unknown_zone_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(InvalidInput, match="Europe/Berlin"):
        days.parse_time_zone(name)
    assert days.parse_time_zone("utc") is UTC


# -- what a digest is made of

SPOKE = st.builds(
    Participation, st.sampled_from("cd"), st.sampled_from(["a", "b", "a\0b", "日"]), st.integers(1, 9),
    st.integers(9, 20), st.integers(1, 20),
)  # fmt: skip


@given(st.lists(SPOKE, max_size=5), st.randoms())
@pytest.mark.checklist("C4")
def test_a_fingerprint_tells_days_apart_and_knows_no_order(spoke: list[Participation], chance: object) -> None:
    again = [*reversed(spoke)]
    assert days.fingerprint(spoke) == days.fingerprint(again)
    more = days.extend_participation(None, "c", "late", [3])
    assert days.fingerprint([*spoke, more]) != days.fingerprint(spoke)
    for one in spoke:
        others = [other for other in spoke if other is not one]
        grown = days.extend_participation(one, one.conversation, one.user, [one.first + 1])
        assert days.fingerprint([*others, grown]) != days.fingerprint(spoke)


@pytest.mark.checklist("C6")
def test_a_hash_of_parts_cannot_be_reached_by_cutting_them_elsewhere() -> None:
    assert days.content_hash("ab", "c") != days.content_hash("a", "bc") != days.content_hash("abc", "")
    assert days.content_hash("\ud800", "🎂") == days.content_hash("\ud800", "🎂")


@pytest.mark.parametrize(
    ("pending", "inputs", "bucket", "hour", "asking", "holds"),
    [
        (0, "same", "", "", True, True),
        (0, "other", "", "", True, False),
        (0, "other", "T12", "T12", True, True),
        (0, "other", "T11", "T12", True, False),
        (0, "same", "T11", "T12", True, True),
        (1, "same", "T12", "T12", True, False),
        (1, "same", "T12", "T12", False, True),
    ],
)
@pytest.mark.checklist("C4")
def test_a_digest_holds_while_nothing_was_said_or_for_an_hour(
    pending: int, inputs: str, bucket: str, hour: str, asking: bool, holds: bool
) -> None:
    row = {"pending": pending, "inputs": inputs, "bucket": bucket}
    assert days.is_current(row, inputs="same", hour=hour, asking=asking) is holds


# -- long days


@settings(max_examples=sample(40))
@given(st.lists(st.integers(1, 50), max_size=40), st.integers(10, 200), st.lists(st.integers(0, 90), min_size=40))
@pytest.mark.checklist("C3")
def test_a_long_day_is_split_in_order_and_each_part_fits(sizes: list[int], limit: int, gaps: list[int]) -> None:
    times, now = list[datetime](), datetime(2026, 1, 1, tzinfo=UTC)
    for gap, _ in zip(gaps, sizes, strict=False):
        now += timedelta(minutes=gap)
        times.append(now)
    runs = days.split_day(sizes, times, limit)
    assert [place for first, end in runs for place in range(first, end)] == list(range(len(sizes)))
    assert all(end - first == 1 or sum(sizes[first:end]) <= limit for first, end in runs)


def test_a_long_day_is_split_in_its_pause() -> None:
    times = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (8, 9, 10, 11, 17, 18, 19, 20)]
    assert days.split_day([10] * 8, times, 50) == [(0, 4), (4, 8)]


# -- without a model


@pytest.mark.checklist("C6", "C7")
def test_what_is_known_comes_first_and_one_alone_is_what_it_is() -> None:
    names = {"today": "Today", "history": "Lately"}
    assert days.join_sources("likes tea", "", "  ", names) == "likes tea"
    assert days.join_sources("", " was here ", "", names) == "was here"
    assert (
        days.join_sources("likes tea", "was here", "was away", names) == "likes tea\nToday: was here\nLately: was away"
    )
    assert days.join_sources("", "", "", names) == ""

"""The times a text speaks of: relative and absolute, careful with words that only look like one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.text.dates import TimeSpan, spans

NOW = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday


def days(text: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """The first and the last day of each span."""
    return [(f"{s.start:%Y-%m-%d}", f"{s.end - timedelta(microseconds=1):%Y-%m-%d}") for s in spans(text, now)]


def day(text: str) -> str:
    [(first, last)] = days(text)
    assert first == last, text
    return first


DAYS = {
    "What did I eat today?": "2024-05-15",
    "yesterday's lunch": "2024-05-14",
    "the day before yesterday": "2024-05-13",
    "see you tomorrow": "2024-05-16",
    "last Saturday": "2024-05-11",
    "Who came on Monday?": "2024-05-13",
    "on wednesday": "2024-05-15",
    "last Wednesday": "2024-05-08",
    "next Wednesday": "2024-05-22",
    "this Friday": "2024-05-17",
    "Friday": "2024-05-10",
    "three days ago": "2024-05-12",
    "1 day ago": "2024-05-14",
    "in 2 days": "2024-05-17",
    "five days from now": "2024-05-20",
    "on May 3, 2023": "2023-05-03",
    "on May 3rd": "2024-05-03",
    "May 20": "2023-05-20",
    "16 August, 2023": "2023-08-16",
    "the 5th of March": "2024-03-05",
    "Sept. 3, 2021": "2021-09-03",
    "Feb 29, 2024": "2024-02-29",
    "2023-05-05": "2023-05-05",
    "2023/5/5": "2023-05-05",
    "24.12.2022": "2022-12-24",
    "7/22/2023": "2023-07-22",
    "22/7/2023": "2023-07-22",
    "4/4/24": "2024-04-04",
    "it rained on 7/22": "2023-07-22",
    "on Valentine\u2019s Day": "2024-02-14",
    "Christmas 2021": "2021-12-25",
    "New Year's Eve": "2023-12-31",
}

SPANS = {
    "last week": ("2024-05-06", "2024-05-12"),
    "this week": ("2024-05-13", "2024-05-19"),
    "next week": ("2024-05-20", "2024-05-26"),
    "last weekend": ("2024-05-11", "2024-05-12"),
    "over the weekend": ("2024-05-11", "2024-05-12"),
    "last month": ("2024-04-01", "2024-04-30"),
    "last year": ("2023-01-01", "2023-12-31"),
    "in the last month": ("2024-04-15", "2024-05-15"),
    "over the past two weeks": ("2024-05-01", "2024-05-15"),
    "the last 3 months": ("2024-02-14", "2024-05-15"),
    "the past few days": ("2024-05-10", "2024-05-15"),
    "two weeks ago": ("2024-04-28", "2024-05-05"),
    "in April last year": ("2023-04-01", "2023-04-30"),
    "on the 17th": ("2024-04-17", "2024-04-17"),
    "from 10 to 14 March": ("2024-03-10", "2024-03-14"),
    "two summers ago": ("2022-06-01", "2022-08-31"),
    "at the end of the month": ("2024-05-21", "2024-05-31"),
    "in the nineties": ("1990-01-01", "1999-12-31"),
    "a couple of days ago": ("2024-05-12", "2024-05-13"),
    "in May 2023": ("2023-05-01", "2023-05-31"),
    "in May": ("2024-05-01", "2024-05-31"),
    "in June": ("2023-06-01", "2023-06-30"),
    "last March": ("2024-03-01", "2024-03-31"),
    "last May": ("2023-05-01", "2023-05-31"),
    "this December": ("2024-12-01", "2024-12-31"),
    "next March": ("2025-03-01", "2025-03-31"),
    "December": ("2023-12-01", "2023-12-31"),
    "early May 2023": ("2023-05-01", "2023-05-11"),
    "late June 2023": ("2023-06-21", "2023-06-30"),
    "at the end of February": ("2024-02-20", "2024-02-29"),
    "in 2022": ("2022-01-01", "2022-12-31"),
    "last summer": ("2023-06-01", "2023-08-31"),
    "this summer": ("2024-06-01", "2024-08-31"),
    "last winter": ("2023-12-01", "2024-02-29"),
    "the summer of 2022": ("2022-06-01", "2022-08-31"),
    "since May 2023": ("2023-05-01", "2024-05-15"),
    "since Monday": ("2024-05-13", "2024-05-15"),
    "between May 3 and May 9": ("2024-05-03", "2024-05-09"),
    "from 2020-01-01 to 2020-02-01": ("2020-01-01", "2020-02-01"),
    "two weeks before August 11, 2023": ("2023-07-24", "2023-07-31"),
    "the week before August 3, 2023": ("2023-07-27", "2023-08-02"),
    "the weekend after 3 June, 2023": ("2023-06-10", "2023-06-11"),
    "last weekend before April 10, 2023": ("2023-04-08", "2023-04-09"),
}

NO_TIME = (
    "",
    "May I ask you something?",
    "you may go",
    "this may be it",
    "may 2 people come?",
    "they march on",
    "next march of the penguins",
    "June said hello to April and August",
    "wait a second",
    "the second try",
    "on Mondays I run",
    "every Tuesdays",
    "How many days ago did I buy it?",
    "weeks ago",
    "open 24/7",
    "3/4/2023",
    "a 1/72 scale model",
    "version 2.10.2023a",
    "February 30",
    "2023-13-45",
    "the year is long",
    "1234567890",
    "a one-year-old child",
)


@pytest.mark.parametrize(("text", "expected"), DAYS.items())
def test_a_day_is_read(text: str, expected: str) -> None:
    assert day(text) == expected


@pytest.mark.parametrize(("text", "expected"), SPANS.items())
def test_a_span_is_read(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize("text", NO_TIME)
def test_what_is_no_time_gives_none(text: str) -> None:
    assert spans(text, NOW) == ()


def test_several_times_come_in_the_order_of_the_words() -> None:
    found = spans("Was it last Tuesday, in May 2023 or yesterday?", NOW)
    assert [span.text for span in found] == ["last Tuesday", "May 2023", "yesterday"]
    text = "Was it last Tuesday?"
    [one] = spans(text, NOW)
    assert text[one.at : one.at + len(one.text)] == "last Tuesday"


def test_hours_are_counted_by_the_hour() -> None:
    [span] = spans("two hours ago", NOW)
    assert span.start <= NOW - timedelta(hours=2) < span.end
    assert span.end - span.start == timedelta(hours=1)


def test_last_night_is_one_night() -> None:
    [span] = spans("what did we say last night?", NOW)
    assert span == TimeSpan(
        datetime(2024, 5, 14, 18, tzinfo=UTC), datetime(2024, 5, 15, 6, tzinfo=UTC), "last night", 16
    )


def test_days_are_those_of_the_time_zone_that_asks() -> None:
    east = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=9)))
    [span] = spans("yesterday", east)
    assert span.start == datetime(2023, 12, 31, tzinfo=east.tzinfo)
    assert days("last month", east) == [("2023-12-01", "2023-12-31")]


def test_the_end_of_the_calendar_is_no_error() -> None:
    assert spans("999 years ago", datetime(500, 1, 1, tzinfo=UTC)) == ()
    assert spans("next year", datetime(9999, 6, 1, tzinfo=UTC)) == ()
    assert spans("tomorrow", datetime(9999, 12, 31, tzinfo=UTC)) == ()


@settings(deadline=None, max_examples=sample(50))
@given(
    st.lists(
        st.sampled_from(
            re.findall(
                r"\S+",
                "last this next in on the May march 3 2023 of Monday weeks two ago few past day before after since "
                "7/22 from to and between year summer , . ' / - 31st early",
            )
        ),
        max_size=14,
    ),
    st.datetimes(timezones=st.just(UTC)),
)
def test_whatever_is_said_spans_have_a_length_and_their_words(words: list[str], now: datetime) -> None:
    text = " ".join(words)
    end = 0
    for span in spans(text, now):
        assert span.start < span.end
        assert text[span.at : span.at + len(span.text)] == span.text
        assert span.at >= end
        end = span.at + len(span.text)


def test_a_long_text_takes_no_longer_than_its_beginning() -> None:
    assert len(spans("two weeks ago, " * 5_000, NOW)) < 2_000

"""The day that a statement names: taken out of its text, as the first day of the time that is meant.

"Last Friday" is a day; of a week, a month or a year it is the first day. Of a plan the time lies ahead, of what was
done it lies behind: the words alone do not always say which Saturday is meant.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from recollect.facts.english.third_person_retelling import Predicate
from recollect.facts.english.words import load_patterns
from recollect.text.calendar_words import MONTHS
from recollect.text.dates import TimeSpan, spans
from recollect.text.since_until import parse_date, parse_times
from recollect.text.word_runs import words_before

_DAYS = load_patterns(__package__, "days")


def take_time(text: str, predicate: Predicate, today: date | None) -> tuple[str, date | None]:
    """The text without the time it names, and the day on which that time begins."""
    if today is None:
        return text, None
    times = parse_times(text, today)
    if times.since and (predicate.tense in ("perfect", "present", "progressive") or times.until):
        return times.rest, times.since
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    times_named = spans(text, now)
    if len(times_named) > 1:  # "two weeks ago, on a Saturday"
        times_named = tuple(span for span in times_named if not _is_name_part(text, span))
    if not times_named or not all(_is_time(text, span, predicate) for span in times_named[:2]):
        return text, None
    span = min(times_named[:2], key=lambda time: (time.end - time.start, time.text.isalpha()))
    if predicate.tense == "past" and _DAYS.ahead.match(span.text) and span.start.date() > today:
        # "Signed up for a race next Sunday": the race is then, the signing was before.
        name = _name_time(span)
        is_governed = _DAYS.governs_time.search(text[: span.at]) is not None
        return text.replace(span.text, name.partition(" ")[2] if is_governed else name, 1), None
    start = _first_day(span, predicate, today)
    if start is None or _DAYS.inner_deed.search(text[: span.at].partition(predicate.verb)[2]):
        return text, None  # "the boat I bought last week": the time is of the inner clause
    if len(times_named) > 1 and _DAYS.several.search(text[times_named[0].at : times_named[1].at]):
        return text, _first_day(times_named[0], predicate, today)
    for time in reversed(times_named[:2]):  # "last month, on 15 May": the closer one counts
        text = _cut_time(text, time, text[time.at + len(time.text) :])
    return text, start


def _is_time(text: str, span: TimeSpan, predicate: Predicate) -> bool:
    """Whether a time is when it was, rather than part of a name, one of several, or a habit."""
    after = text[span.at + len(span.text) :]
    if predicate.tense != "past" and after.lstrip().startswith(","):
        return False
    return not (
        _DAYS.no_time.search(words_before(text, span.at)) or _DAYS.habit.match(after) or _is_name_part(text, span)
    )


def _cut_time(text: str, span: TimeSpan, after: str) -> str:
    before = (_DAYS.before_day if _DAYS.day_word.match(span.text) else _DAYS.before_time).sub("", text[: span.at])
    if _DAYS.part_of_day.match(after):
        return text
    return " ".join(f"{before} {after}".split()).replace(" ,", ",").replace(",,", ",")


def _name_time(span: TimeSpan) -> str:
    """A time in words that stay true: "on 3 May 2024", "in May 2024"; unchanged if it is no day, month or year."""
    day = span.start.date()
    length = (span.end - span.start).days
    month = f"{MONTHS[day.month - 1].capitalize()} {day.year}"
    if length <= 1:
        return f"on {day.day} {month}"
    is_whole_year = length > 360
    is_whole_month = 28 <= length <= 31
    return f"in {day.year}" if is_whole_year else f"in {month}" if is_whole_month else span.text


def _first_day(span: TimeSpan, predicate: Predicate, today: date) -> date | None:
    """The first day of a time; of a plan, None if it has begun."""
    start = parse_date(span.text, today) if span.text.endswith("ago") else None
    start = (
        start
        or _start_of_several(span)
        or (span.start + (span.end - span.start) / 2 if _DAYS.few.search(span.text) else span.start).date()
    )
    if predicate.tense == "past":  # "this weekend" is then the last one
        return start if start <= today else start - timedelta(days=7)
    if start >= today:
        return start
    if _DAYS.weekday.search(span.text) and span.end.date() <= today:
        return start + timedelta(days=7)
    return start if predicate.tense == "perfect" else None


def _start_of_several(span: TimeSpan) -> date | None:
    """The year or the month of "a few years ago": nobody means a day."""
    middle = (span.start + (span.end - span.start) / 2).date()
    if not _DAYS.few.search(span.text) or "day" in span.text or "week" in span.text:
        return None
    return middle.replace(month=1, day=1) if "year" in span.text else middle.replace(day=1)


def _is_name_part(text: str, span: TimeSpan) -> bool:
    """Whether a time is part of a name: "their Saturday class", "Black Friday"."""
    if _DAYS.day_word.match(span.text):
        return False
    before = words_before(text, span.at)
    if _DAYS.article.search(before):
        return True
    is_bare_name = span.text.isalpha() and span.text.istitle()
    return is_bare_name and (
        _DAYS.name_before.search(before) is not None
        or _DAYS.name_after.match(text, span.at + len(span.text)) is not None
    )


def date_periods(text: str, today: date | None) -> str:
    """The text with the month or the year that is meant: "this month" is another one when it is read."""
    if today is None:
        return text
    name = f"{MONTHS[today.month - 1].capitalize()} {today.year}"
    return _DAYS.this_period.sub(lambda period: f"in {name if period[1].casefold() == 'month' else today.year}", text)


def tells_stale_time(text: str) -> bool:
    """Whether a text names a time that only the day of its message explains: "yesterday"."""
    return _DAYS.stale.search(text) is not None

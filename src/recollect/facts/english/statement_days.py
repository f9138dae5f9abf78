"""The day that a statement names: taken out of its text, as the first day of the time that is meant.

"Last Friday" is a day; of a week, a month or a year it is the first day. Of a plan the time lies ahead, of what was
done it lies behind: the words alone do not always say which Saturday is meant.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from recollect.facts.english import statement_words as words
from recollect.facts.english.third_person_retelling import Predicate
from recollect.facts.english.words import any_of
from recollect.text.dates import MONTHS, WEEKDAYS, TimeSpan, parse_date, parse_times, spans
from recollect.text.english import PAST_FORMS
from recollect.text.packs import lazy_pattern
from recollect.text.tokens import words_before

_DAY_WORD = lazy_pattern(r"(?:last|this|next|yesterday|today|tomorrow|tonight)\b|.*\bago$", re.IGNORECASE)
_BEFORE_DAY = lazy_pattern(rf"(?:\s*(?<!\btheir\s)(?<!\bmy\s)\b{any_of(words.BEFORE_DAY)})+\s*$", re.IGNORECASE)
_BEFORE_TIME = lazy_pattern(rf"(?:\s*(?<!\btheir\s)(?<!\bmy\s)\b{any_of(words.BEFORE_TIME)})+\s*$", re.IGNORECASE)
_WEEKDAY = lazy_pattern(any_of(WEEKDAYS), re.IGNORECASE)
_FEW = lazy_pattern(r"\b(?:few|several|couple)\b", re.IGNORECASE)


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
    if predicate.tense == "past" and _AHEAD.match(span.text) and span.start.date() > today:
        # "Signed up for a race next Sunday": the race is then, the signing was before.
        name = _name_time(span)
        is_governed = _GOVERNS_TIME.search(text[: span.at]) is not None
        return text.replace(span.text, name.partition(" ")[2] if is_governed else name, 1), None
    start = _first_day(span, predicate, today)
    if start is None or _INNER_DEED.search(text[: span.at].partition(predicate.verb)[2]):
        return text, None  # "the boat I bought last week": the time is of the inner clause
    if len(times_named) > 1 and _SEVERAL.search(text[times_named[0].at : times_named[1].at]):
        return text, _first_day(times_named[0], predicate, today)
    for time in reversed(times_named[:2]):  # "last month, on 15 May": the closer one counts
        text = _cut_time(text, time, text[time.at + len(time.text) :])
    return text, start


def _is_time(text: str, span: TimeSpan, predicate: Predicate) -> bool:
    """Whether a time is when it was, rather than part of a name, one of several, or a habit."""
    after = text[span.at + len(span.text) :]
    if predicate.tense != "past" and after.lstrip().startswith(","):
        return False
    return not (_NO_TIME.search(words_before(text, span.at)) or _HABIT.match(after) or _is_name_part(text, span))


def _cut_time(text: str, span: TimeSpan, after: str) -> str:
    before = (_BEFORE_DAY if _DAY_WORD.match(span.text) else _BEFORE_TIME).sub("", text[: span.at])
    if _PART_OF_DAY.match(after):
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
        or (span.start + (span.end - span.start) / 2 if _FEW.search(span.text) else span.start).date()
    )
    if predicate.tense == "past":  # "this weekend" is then the last one
        return start if start <= today else start - timedelta(days=7)
    if start >= today:
        return start
    if _WEEKDAY.search(span.text) and span.end.date() <= today:
        return start + timedelta(days=7)
    return start if predicate.tense == "perfect" else None


def _start_of_several(span: TimeSpan) -> date | None:
    """The year or the month of "a few years ago": nobody means a day."""
    middle = (span.start + (span.end - span.start) / 2).date()
    if not _FEW.search(span.text) or "day" in span.text or "week" in span.text:
        return None
    return middle.replace(month=1, day=1) if "year" in span.text else middle.replace(day=1)


def _is_name_part(text: str, span: TimeSpan) -> bool:
    """Whether a time is part of a name: "their Saturday class", "Black Friday"."""
    if _DAY_WORD.match(span.text):
        return False
    before = words_before(text, span.at)
    if _ARTICLE.search(before):
        return True
    is_bare_name = span.text.isalpha() and span.text.istitle()
    return is_bare_name and (
        _NAME_BEFORE.search(before) is not None or _NAME_AFTER.match(text, span.at + len(span.text)) is not None
    )


_THIS_PERIOD = lazy_pattern(r"\b(?:later\s|earlier\s)?this\s(month|year)\b", re.IGNORECASE)
_STALE = lazy_pattern(
    rf"\b(?:yesterday|today|tomorrow|tonight|(?:\w+\s){{1,2}}ago"
    rf"|(?:last|this|next|past)\s{any_of(words.STRONG_TIME_WORDS, MONTHS, WEEKDAYS, ('weekend', 'fall'))})\b",
    re.IGNORECASE,
)


def date_periods(text: str, today: date | None) -> str:
    """The text with the month or the year that is meant: "this month" is another one when it is read."""
    if today is None:
        return text
    name = f"{MONTHS[today.month - 1].capitalize()} {today.year}"
    return _THIS_PERIOD.sub(lambda period: f"in {name if period[1].casefold() == 'month' else today.year}", text)


def tells_stale_time(text: str) -> bool:
    """Whether a text names a time that only the day of its message explains: "yesterday"."""
    return _STALE.search(text) is not None


_INNER_DEED = lazy_pattern(rf"\b(?:they|I)\s(?:{any_of(sorted(PAST_FORMS))}|\w+ed)\b[^,]*$")
_GOVERNS_TIME = lazy_pattern(r"\b(?:for|from|until|by|of|in|on)\s+$", re.IGNORECASE)
_AHEAD = lazy_pattern(r"(?:next|tomorrow|following)\b", re.IGNORECASE)
_SEVERAL = lazy_pattern(r"\band\b", re.IGNORECASE)
_NO_TIME = lazy_pattern(rf"\b{any_of(words.BEFORE_NO_TIME)}\s+(?:the\s)?$", re.IGNORECASE)
_HABIT = lazy_pattern(r"\s(?:mornings|afternoons|evenings|nights)\b|s\b", re.IGNORECASE)
_NAME_BEFORE = lazy_pattern(r"\b(?!I\b)[A-Z][\w'’-]*\s+$")
_NAME_AFTER = lazy_pattern(r"\s+(?!I\b)[A-Z]\w")
_ARTICLE = lazy_pattern(r"\b(?:an?(?:\s+\w+)?|their|the)\s+$", re.IGNORECASE)
_PART_OF_DAY = lazy_pattern(r"\s(?:morning|afternoon|evening|night)\b", re.IGNORECASE)

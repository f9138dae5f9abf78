"""The day that a statement names: taken out of its text, as the first day of the time that is meant.

"Last Friday" is a day; of a week, a month or a year it is the first day. Of a plan the time lies ahead, of what was
done it lies behind: the words alone do not always say which Saturday is meant.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from recollect.language.calendar_words import WEEKDAYS
from recollect.language.dates import TimeSpan, spans
from recollect.language.since_until import parse_date, parse_times
from recollect.rules.facts_english import statement_words as words
from recollect.rules.facts_english.retelling import Predicate
from recollect.rules.facts_english.words import any_of

_DAY_WORD = re.compile(r"(?:last|this|next|yesterday|today|tomorrow|tonight)\b|.*\bago$", re.IGNORECASE)
_BEFORE_DAY = re.compile(rf"(?:\s*\b{any_of(words.BEFORE_DAY)})+\s*$", re.IGNORECASE)
_BEFORE_TIME = re.compile(rf"(?:\s*\b{any_of(words.BEFORE_TIME)})+\s*$", re.IGNORECASE)
_WEEKDAY = re.compile(any_of(WEEKDAYS), re.IGNORECASE)
_FEW = re.compile(r"\b(?:few|several|couple)\b", re.IGNORECASE)


def take_time(text: str, predicate: Predicate, today: date | None) -> tuple[str, date | None]:
    """The text without the time it names, and the day on which that time begins."""
    if today is None:
        return text, None
    if predicate.tense in ("perfect", "present", "progressive"):
        times = parse_times(text, today)
        if times.since:
            return times.rest, times.since
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    for span in spans(text, now)[:1]:
        after = text[span.at + len(span.text) :]
        if predicate.tense != "past" and after.lstrip().startswith(","):
            return text, None  # the time of one thing of several
        return _cut_time(text, span, after), _first_day(span, predicate, today)
    return text, None


def _cut_time(text: str, span: TimeSpan, after: str) -> str:
    before = (_BEFORE_DAY if _DAY_WORD.match(span.text) else _BEFORE_TIME).sub("", text[: span.at])
    if _PART_OF_DAY.match(after) or (_ARTICLE.search(text[: span.at]) and not _DAY_WORD.match(span.text)):
        return text
    return " ".join(f"{before} {after}".split()).replace(" ,", ",")


def _first_day(span: TimeSpan, predicate: Predicate, today: date) -> date | None:
    """The first day of a time; of a plan, None if it has begun."""
    start = parse_date(span.text, today) if span.text.endswith("ago") else None
    start = start or (span.start + (span.end - span.start) / 2 if _FEW.search(span.text) else span.start).date()
    if predicate.tense == "past":
        return start if start <= today else start - timedelta(days=7)  # "this weekend" is then the last one
    if start >= today:
        return start
    if _WEEKDAY.search(span.text) and span.end.date() <= today:
        return start + timedelta(days=7)
    return start if predicate.tense == "perfect" else None


_ARTICLE = re.compile(r"\b(?:an?(?:\s+\w+)?|their)\s+$", re.IGNORECASE)
_PART_OF_DAY = re.compile(r"\s(?:morning|afternoon|evening|night)\b", re.IGNORECASE)

"""When something was true, as a phrase says it: "since May", "for three years", "from 2010 to 2014", "until 2019".

Times are relative to the day the phrase was said. A month without a year is the last one that has come. A time that
is given only as a year or a month begins on its first day. Words that cannot be read give no date, never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from recollect.text.calendar_words import MONTH_PATTERN, MONTHS
from recollect.text.lazy_patterns import lazy_pattern

_MONTH = f"(?:{MONTH_PATTERN})"
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25, "decade": 3652.5}

_COUNT = rf"(?:\d{{1,3}}|{'|'.join(_NUMBERS)}|a\scouple\sof)"
_AGO = rf"(?:(?:about|around|almost|nearly|over)\s)?{_COUNT}\s(?:day|week|month|year|decade)s?"
_POINT = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b(?:,?\s\d{{4}})?"
    rf"|{_MONTH}\b\s\d{{1,2}}(?:st|nd|rd|th)?\b(?!\d)(?:,?\s\d{{4}})?|{_MONTH}\b(?:\s\d{{4}})?|(?:19|20)\d\d\b"
    rf"|last\s(?:year|month|week|{_MONTH}\b)|yesterday|{_AGO}\sago)"
)
_BETWEEN = lazy_pattern(rf"\bfrom\s({_POINT})\s(?:to|until|till)\s({_POINT})", re.IGNORECASE)
_SINCE = lazy_pattern(rf"\b(?:ever\s)?since\s(?:about\s|early\s|late\s|the\s)?({_POINT})", re.IGNORECASE)
_FOR = lazy_pattern(rf"\bfor\s(?:the\s(?:last|past)\s)?({_AGO})(?:\snow)?(?=[\s,.!]|$)", re.IGNORECASE)
_UNTIL = lazy_pattern(rf"\b(?:until|till|up\sto)\s(?:about\s|early\s|late\s|the\s)?({_POINT})", re.IGNORECASE)
_THEN = lazy_pattern(rf"\b(?:(?:back\s)?in\s)?({_POINT})(?=[\s,.!]|$)", re.IGNORECASE)
_ISO = lazy_pattern(r"(\d{4})-(\d\d)-(\d\d)")
_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
_DAY = lazy_pattern(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?(?!\d)")
_MONTH_IN = lazy_pattern(rf"\b{_MONTH}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimedPhrase:
    """The times in a phrase, and `rest`, the phrase without them. `then` is a time that is neither start nor end."""

    rest: str
    since: date | None = None
    until: date | None = None
    then: date | None = None
    lasted: bool = False


def parse_times(text: str, today: date | None) -> TimedPhrase:
    """Find the times in a phrase. `lasted`: the phrase says how long; if that is over, its start is unknown."""
    since = until = then = None
    has_duration = False
    between = _BETWEEN.search(text)
    if between:
        since = parse_date(between[1], today)
        until = parse_date(between[2], today)
        text = _cut_match(text, between)
    duration = _FOR.search(text)
    if duration:
        since = since or parse_date(f"{duration[1]} ago", today)
        has_duration = True
        text = _cut_match(text, duration)
    begin = _SINCE.search(text)
    end = _UNTIL.search(text)
    if begin:
        since = since or parse_date(begin[1], today)
    if end:
        until = until or parse_date(end[1], today)
    for edge in sorted(filter(None, (begin, end)), key=lambda edge: -edge.start()):
        text = _cut_match(text, edge)
    moment = _THEN.search(text) if not (begin or end or between or duration) else None
    if moment:
        then = parse_date(moment[1], today)
    return TimedPhrase(" ".join(text.split()), since, until, then, has_duration)


def strip_final_time(text: str) -> str:
    """A phrase without a time at its end: "Globex in March" becomes "Globex"."""
    matches = [match for match in _THEN.finditer(text) if match.end() >= len(text.rstrip(" .,!"))]
    return text[: matches[0].start()].rstrip(" ,") if matches else text


def parse_date(text: str, today: date | None) -> date | None:
    """The first day of the time that a text names."""
    text = text.casefold().strip()
    iso = _ISO.search(text)
    if iso:
        return _date(int(iso[1]), int(iso[2]), int(iso[3]))
    year = _YEAR.search(text)
    month = _MONTH_IN.search(text)
    if month is None and year:
        return _date(int(year[0]), 1, 1)
    if month:
        number = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(month[0][:3]))
        day = _DAY.search(text)
        if year:
            return _date(int(year[0]), number, int(day[1]) if day else 1)
        return _latest(number, int(day[1]) if day else 1, today)
    return _ago(text, today) if today else None


def _ago(text: str, today: date) -> date | None:
    words = text.removesuffix(" ago").replace("a couple of", "two").split()
    if text == "yesterday":
        return _days_before(today, 1)
    if words[:1] == ["last"]:
        return {
            "year": date(max(today.year - 1, 1), 1, 1),
            "month": _date(today.year - (today.month == 1), (today.month - 2) % 12 + 1, 1),
            "week": _days_before(today, 7),
        }.get(words[-1])
    if len(words) < 2:
        return None
    count = _NUMBERS.get(words[-2]) or (int(words[-2]) if words[-2].isdecimal() else None)
    unit = _DAYS.get(words[-1].removesuffix("s"))
    if count is None or unit is None:
        return None
    day = _days_before(today, round(count * unit))
    if day is None:
        return None
    # Nobody who says "three years" means a day.
    return day.replace(day=1, month=1) if unit > 300 else day.replace(day=1) if unit > 30 else day


def _days_before(today: date, days: int) -> date | None:
    """None if the calendar has no such day."""
    return today - timedelta(days=days) if days < today.toordinal() else None


def _latest(month: int, day: int, today: date | None) -> date | None:
    """The last date that is this day of this month."""
    if today is None:
        return None
    candidate = _date(today.year, month, day)
    return candidate if candidate is None or candidate <= today else _date(today.year - 1, month, day)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _cut_match(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()].rstrip(' ,')}{text[match.end() :]}"

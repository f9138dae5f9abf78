"""The times that an English text mentions: "last Tuesday", "in May 2023", "since May", "from 2010 to 2014".

`spans` gives them as spans of the calendar, relative to the moment the text was said (or asked), in that moment's time
zone. A span means the past where the words leave it open: "in March" is the last March that has begun. A vague time
gets a wide span: "two weeks ago" is a week around that day, "a few months ago" is four months. A word that may be a
time counts only if the words around it say so: "may", "march" and the names June, April and August need a day, a year
or a preposition; "second" is never a time, and "on Mondays" is a habit. `parse_times` says since when and until when a
phrase is true; a time that is given only as a year or a month begins on its first day. Words that no rule knows give no
time, never a guess and never an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from everword.word_lists import Patterns, lazy_pattern, read_list

MONTHS = read_list("months", "calendar")
WEEKDAYS = read_list("weekdays", "calendar")

MONTH_ABBREVIATIONS = (*(month[:3] for month in MONTHS if month != "may"), "sept")
WEEKDAY_ABBREVIATIONS = tuple(day[:3] for day in WEEKDAYS)


def _month_pattern(month: str) -> str:
    if month == "may":
        return month
    return f"{month[:3]}(?:{month[3:]})?" if month != "september" else "sept?(?:ember)?"


MONTH_PATTERN = "|".join(map(_month_pattern, MONTHS))
"""A regular expression for a month, in full or abbreviated without a full stop. It has no group around it."""


MAX_CHARACTERS = 20_000
"""Characters of a text that are looked at."""

OPENING = 8  # characters of a time's own words that may be "from" or "between"

Bounds = tuple[datetime, datetime]
Rule = Callable[[re.Match[str], datetime], Bounds | None]


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time from `start` up to, not including, `end`. `text` is the words that name it, at `at` in the text."""

    start: datetime
    end: datetime
    text: str
    at: int = 0


def spans(text: str, now: datetime) -> tuple[TimeSpan, ...]:
    """The times that a text mentions, in the order of its words; none lies inside another."""
    text = text[:MAX_CHARACTERS].replace("\u2019", "'")
    times: list[TimeSpan] = []
    end = 0
    for match, rule in sorted(_matches(text), key=lambda pair: (pair[0].start(), -pair[0].end())):
        if match.start() < end:
            continue
        try:
            bounds = rule(match, now)
        except (OverflowError, ValueError):  # a day or a year that does not exist
            continue
        if bounds is not None:
            times.append(TimeSpan(*bounds, text=match[0], at=match.start()))
            end = match.end()
    return tuple(_join_ranges(text, times))


def _matches(text: str) -> Iterator[tuple[re.Match[str], Rule]]:
    if _may_name_time(text):
        for pattern, rule in _RULES:
            for match in pattern.finditer(text):
                yield match, rule


def _may_name_time(text: str) -> bool:
    """Whether a text has a digit or a part of a word that every time has. Plain text is asked for each part, which
    takes a tenth of the time."""
    if not text.isascii():
        return _HINT.search(text) is not None
    return any(map(text.lower().__contains__, _HINTS)) or _DIGIT.search(text) is not None


def _join_ranges(text: str, times: list[TimeSpan]) -> Iterator[TimeSpan]:
    """Join two times that are the ends of one: "between May 3 and May 9", "from Monday to Friday"."""
    pending: TimeSpan | None = None
    opening = _FROM.search(text)
    opening_end = len(text) if opening is None else opening.end()
    for span in times:
        if pending is not None:
            between = text[pending.at + len(pending.text) : span.at]
            latest_opening = pending.at + min(len(pending.text), OPENING)
            if opening_end <= latest_opening and _TO.fullmatch(between) and pending.start <= span.start:
                words = text[pending.at : span.at + len(span.text)]
                pending = TimeSpan(pending.start, max(pending.end, span.end), words, pending.at)
                continue
            yield pending
        pending = span
    if pending is not None:
        yield pending


# -- the calendar


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _days(first: datetime, count: int = 1) -> Bounds:
    return _midnight(first), _midnight(first) + timedelta(days=count)


def _month(now: datetime, year: int, month: int, count: int = 1) -> Bounds:
    """Whole months; the number may lie outside 1 to 12 and then means another year."""
    first = year * 12 + month - 1
    last = first + count
    day = _midnight(now).replace(day=1)
    return (
        day.replace(year=first // 12, month=first % 12 + 1),
        day.replace(year=last // 12, month=last % 12 + 1),
    )


def _year(now: datetime, year: int) -> Bounds:
    return _month(now, year, 1, 12)


def _moment_ago(now: datetime, count: float, unit: str) -> datetime:
    """The moment `count` units ago; a month is 30.44 days, a year 365.25."""
    return now - timedelta(days=count * _UNIT_DAYS[unit])


def _range_ago(now: datetime, high: float, low: float, unit: str) -> Bounds:
    """From `high` to `low` units ago, with half a unit of slack at both ends; days are whole days."""
    if unit == "hour":
        return _moment_ago(now, high + 0.5, unit), _moment_ago(now, low - 0.5, unit)
    if unit == "day":
        return _midnight(_moment_ago(now, high, unit)), _midnight(_moment_ago(now, low, unit)) + timedelta(days=1)
    return _moment_ago(now, high + 0.5, unit), _moment_ago(now, low - 0.5, unit)


# -- words

_UNIT_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 30.44, "year": 365.25}
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
# Months whose names are also ordinary words or the names of people.
_AMBIGUOUS_MONTHS = ("march", "april", "may", "june", "august")
_SEASONS = {"spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "fall": (9, 3), "winter": (12, 3)}
_FEASTS = {"christmas": (12, 25), "halloween": (10, 31), "valentine": (2, 14), "new year's eve": (12, 31)}
_FEASTS |= {"new year's day": (1, 1), "christmas eve": (12, 24)}

_HINTS = (
    *("day", "night", "week", "month", "year", "ago", "last", "past", "this", "next", "hour", "morrow"),
    *("christmas", "halloween", *MONTHS, *_SEASONS),
)
_HINT = lazy_pattern(rf"(?i)\d|{'|'.join(_HINTS)}")
_DIGIT = lazy_pattern(r"\d")
_FROM = lazy_pattern(r"(?i)\b(?:from|between)\b")
_TO = lazy_pattern(r"(?i)\s*(?:and|to|until|till|through|-|–)\s*(?:on\s+|the\s+)?")

_UNIT = r"(?P<unit>hour|day|week|fortnight|month|year)s?"
_COUNT = r"(?P<count>\d{1,3}|an?|" + "|".join(_NUMBERS) + r"|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|half\s+a)"
_MONTH = r"(?P<month>" + "|".join(MONTHS) + r")"
_SHORT_MONTH = r"(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]}|\\.)?" if name != "may" else name for name in MONTHS)
_SHORT_MONTH = _SHORT_MONTH.replace("sep(", "sept?(") + ")"
_CLEAR_MONTH = "(?P<month>" + "|".join(month for month in MONTHS if month not in _AMBIGUOUS_MONTHS) + ")"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_IN_YEAR = r"(?:,?\s+(?:of\s+|in\s+)?(?P<year>(?:19|20)\d\d))"
_WEEKDAY = r"(?P<weekday>" + "|".join(WEEKDAYS) + r")"
_PART = r"(?P<part>early|mid|late|(?:beginning|start|middle|end)\s+of)"
_WHICH = r"(?P<which>last|past|this|next|previous|following)"
# One of these stands before a month whose name is also a word or a person's name.
_PREPOSITION = r"(?:in|during|since|until|till|by|of|before|after|from|between|through|around|throughout|back\s+in)"


def _count(text: str) -> tuple[float, float]:
    """The lowest and the highest number that a number word means."""
    text = re.sub(r"\s+", " ", text.lower())
    if text.isdecimal():
        return float(text), float(text)
    if text in _NUMBERS:
        return _NUMBERS.index(text) + 1.0, _NUMBERS.index(text) + 1.0
    if "couple" in text:
        return 2.0, 3.0
    if text in ("few", "a few", "several"):
        return 2.0, 5.0
    return (0.5, 0.5) if "half" in text else (1.0, 1.0)


def _number_of_month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))


# -- rules


def _ago(match: re.Match[str], now: datetime) -> Bounds:
    low, high = _count(match["count"])
    return _range_ago(now, high, low, match["unit"].lower())


def _weekends_ago(match: re.Match[str], now: datetime) -> Bounds:
    low, high = _count(match["count"])
    first = _days(now + timedelta(days=5 - now.weekday() - 7 * int(high)), 2)
    return first[0], _days(now + timedelta(days=5 - now.weekday() - 7 * int(low)), 2)[1]


def _from_now(match: re.Match[str], now: datetime) -> Bounds:
    low, high = _count(match["count"])
    return _range_ago(now, -low, -high, match["unit"].lower())


def _rolling(match: re.Match[str], now: datetime) -> Bounds:
    count = _count(match["count"])[1] if match["count"] else 1.0
    return _moment_ago(now, count, match["unit"].lower()), now


def _day_word(match: re.Match[str], now: datetime) -> Bounds:
    word = re.sub(r"\s+", " ", match[0].lower())
    if word == "last night":
        return _midnight(now) - timedelta(hours=6), _midnight(now) + timedelta(hours=6)
    ahead = {"the day before yesterday": -2, "yesterday": -1, "tomorrow": 1, "the day after tomorrow": 2}
    return _days(now + timedelta(days=ahead.get(word, 0)))


def _relative_unit(match: re.Match[str], now: datetime) -> Bounds:
    step = {"last": -1, "previous": -1, "past": -1, "this": 0}.get(match["which"].lower(), 1)
    unit = match["unit"].lower()
    if unit == "week":
        return _days(now - timedelta(days=now.weekday() - 7 * step), 7)
    if unit == "weekend":
        return _days(now + timedelta(days=5 - now.weekday() + 7 * step), 2)
    if unit == "month":
        return _month(now, now.year, now.month + step)
    return _year(now, now.year + step)


def _the_weekend(match: re.Match[str], now: datetime) -> Bounds:
    return _days(now - timedelta(days=(now.weekday() - 5) % 7), 2)


def _weekday(match: re.Match[str], now: datetime) -> Bounds:
    which = (match["which"] or "").lower()
    ahead = WEEKDAYS.index(match["weekday"].lower()) - now.weekday()
    if which in ("last", "past", "previous"):
        ahead = ahead % 7 - 7
    elif which in ("next", "following"):
        ahead = (ahead - 1) % 7 + 1
    elif which != "this" and ahead > 0:
        ahead -= 7
    return _days(now + timedelta(days=ahead))


def _months(match: re.Match[str], now: datetime) -> Bounds | None:
    """A month, with or without its year, or a part of it. "This may" and "next march" can mean other things."""
    fields = match.groupdict()
    if (fields.get("which") or "").lower() in ("this", "next") and fields["month"] in ("may", "march"):
        return None
    month = _number_of_month(fields["month"])
    which = (fields.get("which") or "").lower()
    year = now.year - (month > now.month)
    if fields.get("year"):
        year = int(fields["year"])
    elif which in ("last", "past", "previous"):
        year = now.year - (month >= now.month)
    elif which in ("next", "following"):
        year = now.year + (month <= now.month)
    elif which == "this":
        year = now.year
    start, end = _month(now, year, month)
    return _third(fields.get("part"), start, end)


def _third(part: str | None, start: datetime, end: datetime) -> Bounds:
    if not part:
        return start, end
    word = part.lower().split()[0]
    third = (end - start) / 3
    number = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(word, 2)
    return start + number * third, start + (number + 1) * third


def _date(match: re.Match[str], now: datetime) -> Bounds | None:
    """A day of a month; without a year, the last such day that has come. "They may 2" is none."""
    fields = match.groupdict()
    if fields.get("month") in ("may", "march", "mar", "dec", "sep") and not fields.get("year"):
        return None  # in small letters, and with no year: a word
    month = int(fields["number"]) if fields.get("number") else _number_of_month(fields["month"])
    return _day_of(now, fields.get("year"), month, int(fields["day"]))


def _day_of(now: datetime, year: str | None, month: int, day: int) -> Bounds:
    if year is not None:
        return _days(_midnight(now).replace(year=int(year), month=month, day=day))
    this_year = _days(_midnight(now).replace(day=1).replace(month=month).replace(day=day))
    return this_year if this_year[0] <= now else _days(this_year[0].replace(year=now.year - 1))


def _slashes(match: re.Match[str], now: datetime) -> Bounds | None:
    """7/22/2023 and 22/7/2023 can be read in one way only; 3/4/2023 cannot, and is not read."""
    first = int(match["first"])
    second = int(match["second"])
    if first <= 12 and second <= 12 and first != second:
        return None
    month, day = (first, second) if first <= 12 else (second, first)
    year = match["year"]
    return _day_of(now, "20" + year if year and len(year) == 2 else year, month, day)


def _season(match: re.Match[str], now: datetime) -> Bounds:
    month, count = _SEASONS[match["season"].lower()]
    which = (match.groupdict().get("which") or "").lower()
    if match.groupdict().get("year"):
        return _month(now, int(match["year"]), month, count)
    start, end = _month(now, now.year, month, count)
    if which == "next":
        return (start, end) if start > now else _month(now, now.year + 1, month, count)
    if which == "this":
        before = _month(now, now.year - 1, month, count)
        return before if before[1] > now else (start, end)
    return (start, end) if end <= now else _month(now, now.year - 1, month, count)


def _feast(match: re.Match[str], now: datetime) -> Bounds:
    name = re.sub(r"\s+", " ", match["feast"].lower())
    month, day = next(_FEASTS[key] for key in sorted(_FEASTS, key=len, reverse=True) if name.startswith(key))
    return _day_of(now, match["year"], month, day)


def _plain_year(match: re.Match[str], now: datetime) -> Bounds:
    return _year(now, int(match["year"]))


def _since(match: re.Match[str], now: datetime) -> Bounds | None:
    """From the time that follows until now."""
    inner = spans(match["rest"], now)
    if not inner or inner[0].at or inner[0].start >= now:
        return None
    return inner[0].start, now


def _before(match: re.Match[str], now: datetime) -> Bounds | None:
    """A time before or after a date: "two weeks before May 9", "the weekend after 3 June"."""
    inner = spans(match["rest"], now)
    if not inner or inner[0].at:
        return None
    day = inner[0].start
    unit = match["unit"].lower()
    step = -1 if match["way"].lower() == "before" else 1
    if unit == "weekend":
        day += timedelta(days=step * 1)
        return _days(day + timedelta(days=((5 - day.weekday()) % 7 if step > 0 else -((day.weekday() - 5) % 7))), 2)
    if match["count"] is None:
        edge = _moment_ago(day, -step, unit)
        return (edge, day) if step < 0 else (inner[0].end, edge + (inner[0].end - inner[0].start))
    low, high = _count(match["count"])
    return _range_ago(day, high, low, unit) if step < 0 else _range_ago(day, -low, -high, unit)


def _rule(pattern: str, rule: Rule) -> tuple[re.Pattern[str], Rule]:
    return lazy_pattern(r"(?i)(?<![\w/.-])" + pattern.replace(" ", r"\s+") + r"(?![\w])(?!-\w)(?!/\d)"), rule


_DATED = r"(?P<rest>(?:[\w,./-]+\s?){1,4})"
_LENGTH = "(?:the |last )?(?:" + _COUNT + " )?(?P<unit>day|week|weekend|month|year)s?"
_RULES = (
    _rule(_COUNT + " " + _UNIT + " (?:ago|back|earlier)", _ago),
    _rule(_COUNT + " weekends? ago", _weekends_ago),
    _rule("in " + _COUNT + " " + _UNIT + "(?: time)?(?! ago)", _from_now),
    _rule(_COUNT + " " + _UNIT + " from now", _from_now),
    _rule(r"(?:in|over|during|within|for) the (?:last|past) (?:" + _COUNT + " )?" + _UNIT, _rolling),
    _rule(r"(?:the )?past (?:" + _COUNT + " )?" + _UNIT, _rolling),
    _rule(r"(?:the )?last " + _COUNT + " " + _UNIT, _rolling),
    _rule("(?:the day before yesterday|the day after tomorrow|yesterday|tomorrow|today|tonight)", _day_word),
    _rule("last night", _day_word),
    _rule("this (?:morning|afternoon|evening)", _day_word),
    _rule(_WHICH + " (?P<unit>week|weekend|month|year)", _relative_unit),
    _rule("(?:on|over|at) the weekend", _the_weekend),
    _rule("(?:" + _WHICH + " )?" + _WEEKDAY, _weekday),
    _rule(_WHICH + " " + _MONTH, _months),
    _rule("(?:" + _PART + "[ -])?" + _SHORT_MONTH + _IN_YEAR, _months),
    _rule(_PREPOSITION + " (?:the )?(?:" + _PART + "[ -])?" + _MONTH + "(?! " + r"\d)", _months),
    _rule(_PART + "[ -]" + _MONTH, _months),
    _rule(_CLEAR_MONTH + "(?! " + r"\d)", _months),
    _rule(_SHORT_MONTH + " (?:the )?" + _DAY + _IN_YEAR + "?", _date),
    _rule(r"(?:the )?" + _DAY + "(?: of)? " + _SHORT_MONTH + _IN_YEAR + "?", _date),
    _rule(r"(?P<year>(?:19|20)\d\d)[-/](?P<number>0?[1-9]|1[0-2])[-/](?P<day>[12]\d|3[01]|0?[1-9])", _date),
    _rule(r"(?P<day>[12]\d|3[01]|0?[1-9])\.(?P<number>0?[1-9]|1[0-2])\.(?P<year>(?:19|20)\d\d)", _date),
    _rule(r"(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>(?:19|20)\d\d|\d\d)", _slashes),
    _rule(r"(?:on|since|until|by) (?P<first>\d\d?)/(?P<second>\d\d?)(?P<year>(?!))?", _slashes),
    _rule("(?P<which>last|past|this|next) (?P<season>" + "|".join(_SEASONS) + ")", _season),
    _rule("(?P<season>" + "|".join(_SEASONS) + ")" + _IN_YEAR, _season),
    _rule("(?P<feast>christmas(?: eve)?|halloween|valentine's day|new year's (?:eve|day))" + _IN_YEAR + "?", _feast),
    _rule("(?:" + _PREPOSITION + "|early|late|mid|year)(?: the year)?[ -]" + r"(?P<year>(?:19|20)\d\d)", _plain_year),
    _rule("since " + _DATED, _since),
    _rule(_LENGTH + " (?P<way>before|after) " + _DATED, _before),
)  # fmt: skip


_PATTERNS = Patterns("dates")

_NUMBERS_IN_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30.44, "year": 365.25, "decade": 3652.5}

_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
_DAY_NUMBER = lazy_pattern(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?(?!\d)")


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
    between = _PATTERNS.between.search(text)
    if between:
        since = parse_date(between[1], today)
        until = parse_date(between[2], today)
        text = _cut_match(text, between)
    duration = _PATTERNS.lasting.search(text)
    if duration:
        since = since or parse_date(f"{duration[1]} ago", today)
        has_duration = True
        text = _cut_match(text, duration)
    begin = _PATTERNS.since.search(text)
    end = _PATTERNS.until.search(text)
    if begin:
        since = since or parse_date(begin[1], today)
    if end:
        until = until or parse_date(end[1], today)
    for edge in sorted(filter(None, (begin, end)), key=lambda edge: -edge.start()):
        text = _cut_match(text, edge)
    moment = _PATTERNS.then.search(text) if not (begin or end or between or duration) else None
    if moment:
        then = parse_date(moment[1], today)
    return TimedPhrase(" ".join(text.split()), since, until, then, has_duration)


def strip_final_time(text: str) -> str:
    """A phrase without a time at its end: "Globex in March" becomes "Globex"."""
    matches = [match for match in _PATTERNS.then.finditer(text) if match.end() >= len(text.rstrip(" .,!"))]
    return text[: matches[0].start()].rstrip(" ,") if matches else text


def parse_date(text: str, today: date | None) -> date | None:
    """The first day of the time that a text names."""
    text = text.casefold().strip()
    iso = _PATTERNS.iso.search(text)
    if iso:
        return _valid_date(int(iso[1]), int(iso[2]), int(iso[3]))
    year = _YEAR.search(text)
    month = _PATTERNS.month_in.search(text)
    if month is None and year:
        return _valid_date(int(year[0]), 1, 1)
    if month:
        number = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(month[0][:3]))
        day = _DAY_NUMBER.search(text)
        if year:
            return _valid_date(int(year[0]), number, int(day[1]) if day else 1)
        return _latest(number, int(day[1]) if day else 1, today)
    return _date_ago(text, today) if today else None


def _date_ago(text: str, today: date) -> date | None:
    words = text.removesuffix(" ago").replace("a couple of", "two").split()
    if text == "yesterday":
        return _days_before(today, 1)
    if words[:1] == ["last"]:
        return {
            "year": date(max(today.year - 1, 1), 1, 1),
            "month": _valid_date(today.year - (today.month == 1), (today.month - 2) % 12 + 1, 1),
            "week": _days_before(today, 7),
        }.get(words[-1])
    if len(words) < 2:
        return None
    count = _NUMBERS_IN_WORDS.get(words[-2]) or (int(words[-2]) if words[-2].isdecimal() else None)
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
    candidate = _valid_date(today.year, month, day)
    return candidate if candidate is None or candidate <= today else _valid_date(today.year - 1, month, day)


def _valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _cut_match(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()].rstrip(' ,')}{text[match.end() :]}"

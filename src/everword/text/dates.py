"""The times that a text mentions: "last Tuesday", "in May 2023", "since May", "from 2010 to 2014".

`spans` gives them as spans of the calendar, relative to the moment the text was said (or asked), in that moment's time
zone. Where the words leave open which one is meant, as in "in March", "on the 17th" and "on Friday", a span is the last
one that has begun, and `next_after` gives the one to come: the tense of the sentence decides, which only its reader
knows. Two times that stand together are one: "in April last year". A vague time gets a wide span: "two weeks ago" is a
week around that day, "a few months ago" is four months. A word that may be a time counts only if the words around it
say so: "may", "march" and the names June, April and August need a day, a year or a preposition; "second" is never a
time, and "on Mondays" is a habit. `parse_times` says since when and until when a phrase is true; a time that is given
only as a year or a month begins on its first day. In other languages the calendar of a language pack says in English
what the words mean, and that is read. Words that no rule knows give no time, never a guess and never an error.

A calendar (`text/packs/CODE/calendar.txt`) is a table of wordings and what each says in English: "vor {count} {unit} =
{count} {unit} ago". So there is one engine for all languages. What English says in several words has a short form
there: "week -2" is the week before the last, "friday of +1" the Friday of next week, "day +2" the day after
tomorrow.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from typing import Literal

from everword.text.detect import DEFAULT, detect_written
from everword.text.language_packs import Wordings, fold_letters, packs_with
from everword.word_lists import Patterns, lazy_pattern, read_list

FILE = "calendar"
MONTHS = read_list("months", FILE)
WEEKDAYS = read_list("weekdays", FILE)

MONTH_ABBREVIATIONS = (*(month[:3] for month in MONTHS if month != "may"), "sept")
WEEKDAY_ABBREVIATIONS = tuple(day[:3] for day in WEEKDAYS)


MAX_CHARACTERS = 20_000
"""Characters of a text that are looked at."""

OPENING = 8  # characters of a time's own words that may be "from" or "between"

Bounds = tuple[datetime, datetime]
Period = Literal["", "two days", "four days", "week", "month", "year"]
Rule = Callable[[re.Match[str], datetime], Bounds | None]
Rules = Sequence[tuple[re.Pattern[str], Rule]]


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time from `start` up to, not including, `end`. `text` is the words that name it, at `at` in the text. If they
    leave open which one is meant, `every` is the period after which there is another. `english` says the same in
    English if the words are of another language."""

    start: datetime
    end: datetime
    text: str
    at: int = 0
    every: Period = ""
    english: str = ""


Reading = tuple[int, int, Callable[[], TimeSpan | None]]
"""From where to where words may name a time, and how that is read."""


def spans(text: str, now: datetime, language: str = "") -> tuple[TimeSpan, ...]:
    """The times that a text mentions, in the order of its words; none lies inside another. `language` is the text's, if
    that is known."""
    text = text[:MAX_CHARACTERS].replace("\u2019", "'")
    readings = [*_english_readings(text, now, _RULES)]
    readings += [
        (time.start, time.end, partial(_read_named_time, time, text, now)) for time in times_in_packs(text, language)
    ]
    return tuple(_join_times(text, [*_longest_spans(readings)]))


def _english_readings(text: str, now: datetime, rules: Rules) -> Iterator[Reading]:
    for match, rule in _matches(text, rules):
        yield match.start(), match.end(), partial(_read_match, match, rule, now)


def _longest_spans(readings: Iterable[Reading]) -> Iterator[TimeSpan]:
    """The times in their order, of several that begin together the longest; none lies inside another."""
    last_end = 0
    for start, end, read in sorted(readings, key=lambda reading: (reading[0], -reading[1])):
        if start >= last_end and (span := read()) is not None:
            yield span
            last_end = end


def _read_match(match: re.Match[str], rule: Rule, now: datetime) -> TimeSpan | None:
    try:
        bounds = rule(match, now)
    except (OverflowError, ValueError):  # a day or a year that does not exist
        return None
    return bounds and TimeSpan(*bounds, text=match[0], at=match.start(), every=_period(match, rule))


def _read_named_time(time: NamedTime, text: str, now: datetime) -> TimeSpan | None:
    """The time that words of another language name: their English is read."""
    english = _join_times(time.english, [*_longest_spans(_english_readings(time.english, now, _ALL_RULES))])
    span = next(english, None)
    if span is None:
        return None
    span = replace(span, text=text[time.start : time.end], at=time.start, english=time.english)
    if time.is_since and span.start < now:
        start = span.start + (span.end - span.start) / 2 if time.english.endswith("ago") else span.start
        return replace(span, start=start, end=now, every="", english=f"since {time.english}")
    return span


def next_after(span: TimeSpan, now: datetime) -> TimeSpan:
    """The same time, or the next such one if it has passed and the words leave open which one is meant."""
    return span if span.end > now or not span.every else next(_others_like(span, 1), span)


def _others_like(span: TimeSpan, step: int) -> Iterator[TimeSpan]:
    """The times that the words of a span may mean too, the nearest first: later ones, earlier ones if `step` is -1."""
    length = span.end - span.start
    for count in range(1, 54 if span.every == "week" else 9):  # a 29 February comes again after eight years at most
        try:
            if span.every in _PERIOD_STEPS:
                start: datetime | None = span.start + timedelta(days=_PERIOD_STEPS[span.every] * step * count)
                end = None
            else:
                months = step * count * (12 if span.every == "year" else 1)
                start = _add_months(span.start, months)
                end = _add_months(span.end, months) if length.days > 7 else None
            if start is not None:
                yield replace(span, start=start, end=end or start + length)
        except OverflowError:  # the calendar ends
            return


def _add_months(moment: datetime, count: int) -> datetime | None:
    """The same day of another month; None if that month has no such day."""
    number = moment.year * 12 + moment.month - 1 + count
    try:
        return moment.replace(year=number // 12, month=number % 12 + 1)
    except ValueError:
        return None


def _matches(text: str, rules: Rules) -> Iterator[tuple[re.Match[str], Rule]]:
    if _may_name_time(text):
        for pattern, rule in rules:
            for match in pattern.finditer(text):
                yield match, rule


def _may_name_time(text: str) -> bool:
    """Whether a text has a digit or a part of a word that every time has. Plain text is asked for each part, which
    takes a tenth of the time."""
    if not text.isascii():
        return _HINT.search(text) is not None
    return any(map(text.lower().__contains__, _HINTS)) or _DIGIT.search(text) is not None


def _join_times(text: str, times: list[TimeSpan]) -> Iterator[TimeSpan]:
    """Join two times that are the ends of one ("between May 3 and May 9"), or that say together which one is meant:
    "in April last year"."""
    pending: TimeSpan | None = None
    opening = _FROM.search(text)
    opening_end = len(text) if opening is None else opening.end()
    for span in times:
        if pending is not None:
            between = text[pending.at + len(pending.text) : span.at]
            words = text[pending.at : span.at + len(span.text)]
            latest_opening = pending.at + min(len(pending.text), OPENING)
            if opening_end <= latest_opening and _TO.fullmatch(between) and pending.start <= span.start:
                pending = TimeSpan(pending.start, max(pending.end, span.end), words, pending.at)
                continue
            within = _time_within(pending, span) if _BESIDE.fullmatch(between) else None
            if within is not None:
                pending = replace(within, text=words, at=pending.at, every="")
                continue
            yield pending
        pending = span
    if pending is not None:
        yield pending


def _time_within(first: TimeSpan, second: TimeSpan) -> TimeSpan | None:
    """Of two times that stand together the one in the other: the Friday of a week, the April of a year."""
    inner, frame = (first, second) if first.every else (second, first)
    if frame.every or not inner.every or (frame.end - frame.start).days > _PERIOD_DAYS[inner.every]:
        return None
    candidates = (inner, *_others_like(inner, 1), *_others_like(inner, -1))
    return next((span for span in candidates if frame.start <= span.start < frame.end), None)


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
_UNIT_DAYS |= {"decade": 3652.5}
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip
# Months whose names are also ordinary words or the names of people.
_AMBIGUOUS_MONTHS = ("march", "april", "may", "june", "august")
_SEASONS = {"spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "fall": (9, 3), "winter": (12, 3)}
_FEASTS = {"christmas": (12, 25), "halloween": (10, 31), "valentine": (2, 14), "new year's eve": (12, 31)}
_FEASTS |= {"new year's day": (1, 1), "christmas eve": (12, 24)}

_PERIOD_DAYS = {"two days": 2, "four days": 4, "week": 7, "month": 31, "year": 366}
_PERIOD_STEPS = {"two days": 2, "four days": 4, "week": 7}
_TENS = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}

_PARTS_OF_TIMES = "day night week month year ago last past this next hour morrow ties decade christmas halloween"
_HINTS = (*_PARTS_OF_TIMES.split(), *MONTHS, *_SEASONS)
_HINT = lazy_pattern(rf"(?i)\d|{'|'.join(_HINTS)}")
_DIGIT = lazy_pattern(r"\d")
_FROM = lazy_pattern(r"(?i)\b(?:from|between)\b")
_BESIDE = lazy_pattern(r"(?i)[\s,]*(?:(?:of|in|on|the)\s+)*")
_TO = lazy_pattern(r"(?i)\s*(?:and|to|until|till|through|-|–)\s*(?:on\s+|the\s+)?")

_UNIT = r"(?P<unit>hour|day|week|fortnight|month|year|decade)s?"
_COUNT = r"(?P<count>\d{1,3}|an?|" + "|".join(_NUMBERS) + r"|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|half\s+a)"
_MONTH = r"(?P<month>" + "|".join(MONTHS) + r")"
_SHORT_MONTH = r"(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]}|\\.)?" if name != "may" else name for name in MONTHS)
_SHORT_MONTH = _SHORT_MONTH.replace("sep(", "sept?(") + ")"
_CLEAR_MONTH = "(?P<month>" + "|".join(month for month in MONTHS if month not in _AMBIGUOUS_MONTHS) + ")"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_IN_YEAR = r"(?:,?\s+(?:of\s+|in\s+)?(?P<year>(?:19|20)\d\d))"
_WEEKDAY = r"(?P<weekday>" + "|".join(WEEKDAYS) + r")"
_PART = r"(?P<part>early|mid|late|(?:beginning|start|middle|end)\s+of)"
_WHICH = r"(?P<which>last|past|(?:this )?coming|this|next|previous|following|upcoming)"
# One of these stands before a month whose name is also a word or a person's name.
_PREPOSITION = r"(?:in|during|since|until|till|by|of|before|after|from|between|through|around|throughout|back\s+in)"


def _count(text: str) -> tuple[float, float]:
    """The lowest and the highest number that a number word means."""
    text = re.sub(r"\s+", " ", text.lower())
    if text.isdecimal():
        return float(text), float(text)
    if text in _NUMBERS:
        return float(_NUMBERS[text]), float(_NUMBERS[text])
    if "couple" in text:
        return 2.0, 3.0
    if text in ("few", "a few", "several"):
        return 2.0, 5.0
    return (0.5, 0.5) if "half" in text else (1.0, 1.0)


def _step(match: re.Match[str]) -> int | None:
    """Whether the last, this or the next one is meant: -1, 0 or 1; None if the words leave it open."""
    which = (match.groupdict().get("which") or "").lower()
    return {"": None, "last": -1, "past": -1, "previous": -1, "this": 0, "the": 0}.get(which, 1)


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
    step = _step(match) or 0
    unit = match["unit"].lower()
    if unit == "week":  # on a Sunday, for some the week that ends is the last one already
        is_either = step == -1 and now.weekday() == 6
        return _days(now - timedelta(days=now.weekday() - 7 * step), 13 if is_either else 7)
    if unit == "weekend":
        return _days(now + timedelta(days=5 - now.weekday() + 7 * step), 2)
    if unit == "month":
        return _month(now, now.year, now.month + step)
    return _year(now, now.year + step)


def _part_of_unit(match: re.Match[str], now: datetime) -> Bounds:
    return _third(match["part"], *_relative_unit(match, now))


def _the_weekend(match: re.Match[str], now: datetime) -> Bounds:
    return _days(now - timedelta(days=(now.weekday() - 5) % 7), 2)


def _weekday(match: re.Match[str], now: datetime) -> Bounds:
    step = _step(match)
    ahead = WEEKDAYS.index(match["weekday"].lower()) - now.weekday()
    if step == -1:
        ahead = ahead % 7 - 7
    elif step == 1:
        ahead = (ahead - 1) % 7 + 1
    elif step is None and ahead > 0:
        ahead -= 7
    return _days(now + timedelta(days=ahead))


def _months(match: re.Match[str], now: datetime) -> Bounds | None:
    """A month, with or without its year, or a part of it. "This may" and "next march" can mean other things."""
    fields = match.groupdict()
    if (fields.get("which") or "").lower() in ("this", "next") and fields["month"] in ("may", "march"):
        return None
    month = _number_of_month(fields["month"])
    step = _step(match)
    year = now.year - (month > now.month)
    if fields.get("year"):
        year = int(fields["year"])
    elif step is not None:
        year = now.year + {-1: -(month >= now.month), 0: 0, 1: month <= now.month}[step]
    return _third(fields.get("part"), *_month(now, year, month))


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


def _day_range(match: re.Match[str], now: datetime) -> Bounds:
    month = _number_of_month(match["month"])
    first = _day_of(now, match["year"], month, int(match["day"]))[0]
    return first, _days(first.replace(day=int(match["last"])))[1]


def _day_number(match: re.Match[str], now: datetime) -> Bounds:
    """A day of no month: the last such day that has come."""
    day = _midnight(now).replace(day=1)
    months = (_add_months(day, -count) for count in range(3))
    days = (month.replace(day=int(match["day"])) for month in months if month and _has_day(month, int(match["day"])))
    return _days(next(day for day in days if day <= now))


def _has_day(month: datetime, day: int) -> bool:
    return (month + timedelta(days=day - 1)).month == month.month


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
    fields = match.groupdict()
    month, count = _SEASONS[match["season"].lower()]
    step = _step(match)
    year = now.year
    if fields.get("year"):
        year = int(fields["year"])
    elif fields.get("count"):
        year -= int(_count(match["count"])[0])
    else:
        start, end = _month(now, now.year, month, count)
        before = _month(now, now.year - 1, month, count)
        if step == 1:
            year += start <= now
        elif before[1] > now if step == 0 else (start > now if step is None else end > now):
            year -= 1
    return _third(fields.get("part"), *_month(now, year, month, count))


def _decade(match: re.Match[str], now: datetime) -> Bounds:
    words = match["decade"].lower()
    digits = re.sub(r"\D", "", words)
    year = _TENS[words] if not digits else int(digits) if len(digits) == 4 else 1900 + int(digits)
    return _third(match["part"], *_month(now, year, 1, 120))


def _feast(match: re.Match[str], now: datetime) -> Bounds:
    name = re.sub(r"\s+", " ", match["feast"].lower())
    month, day = next(_FEASTS[key] for key in sorted(_FEASTS, key=len, reverse=True) if name.startswith(key))
    return _day_of(now, match["year"], month, day)


def _plain_year(match: re.Match[str], now: datetime) -> Bounds:
    return _year(now, int(match["year"]))


def _year_range(match: re.Match[str], now: datetime) -> Bounds | None:
    start, end = _year(now, int(match["first"]))[0], _year(now, int(match["last"]))[1]
    return (start, end) if start < end else None


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


_DATED = r"(?P<rest>(?:[\w,./-]+\s?){1,4})(?<![.,\s])"
_SEASON = "(?P<season>" + "|".join(_SEASONS) + ")"
_AFTER_NUMBER = (
    r"(?=\W*$|[.,;:!?)]| (?:and|at|of|for|to|with|in|from|because|so|but|until|till|through|when|after|before)\b)"
)
_WHOLE = "(?P<unit>week|month|year)"
_DECADE = r"(?P<decade>(?:19|20)\d0'?s|'\d0s|[6-9]0'?s|" + "|".join(_TENS) + ")"
_RANGE = r"\s*(?:to|until|till|through|and|-|–)\s*(?:the )?(?P<last>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
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
    _rule("(?:(?:at|by|in) )?(?:the )?" + _PART + " (?P<which>the|this|last|next) " + _WHOLE, _part_of_unit),
    _rule("(?P<part>early|late) (?P<which>this|last|next) " + _WHOLE, _part_of_unit),
    _rule("(?:on|over|at) the weekend", _the_weekend),
    _rule("(?:" + _WHICH + " )?" + _WEEKDAY, _weekday),
    _rule(_WHICH + " " + _MONTH, _months),
    _rule("(?:" + _PART + "[ -])?" + _SHORT_MONTH + _IN_YEAR, _months),
    _rule(_PREPOSITION + " (?:the )?(?:" + _PART + "[ -])?" + _MONTH + "(?! " + r"\d)", _months),
    _rule(_PART + "[ -]" + _MONTH, _months),
    _rule(_CLEAR_MONTH + "(?! " + r"\d)", _months),
    _rule(_SHORT_MONTH + " (?:the )?" + _DAY + _IN_YEAR + "?", _date),
    _rule(r"(?:the )?" + _DAY + "(?: of)? " + _SHORT_MONTH + _IN_YEAR + "?", _date),
    _rule(r"(?:from |between )?(?:the )?" + _DAY + _RANGE + "(?: of)? " + _SHORT_MONTH + _IN_YEAR + "?", _day_range),
    _rule(r"(?:from |between )?" + _SHORT_MONTH + " (?:the )?" + _DAY + _RANGE + _IN_YEAR + "?", _day_range),
    _rule("(?:on|by|until|till|since|from|for|before|after|around|of|" + "|".join(WEEKDAYS) + ") the "
        + "(?P<day>[12]\\d|3[01]|0?[1-9])(?:st|nd|rd|th)" + _AFTER_NUMBER, _day_number),
    _rule(r"(?P<year>(?:19|20)\d\d)[-/](?P<number>0?[1-9]|1[0-2])[-/](?P<day>[12]\d|3[01]|0?[1-9])", _date),
    _rule(r"(?P<day>[12]\d|3[01]|0?[1-9])\.(?P<number>0?[1-9]|1[0-2])\.(?P<year>(?:19|20)\d\d)", _date),
    _rule(r"(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>(?:19|20)\d\d|\d\d)", _slashes),
    _rule(r"(?:on|since|until|by) (?P<first>\d\d?)/(?P<second>\d\d?)(?P<year>(?!))?", _slashes),
    _rule(_WHICH + " " + _SEASON, _season),
    _rule(_SEASON + _IN_YEAR, _season),
    _rule(_PREPOSITION + " (?:the )?(?:" + _PART + "[ -](?:the )?)?" + _SEASON, _season),
    _rule(_COUNT + " " + _SEASON + "s? ago", _season),
    _rule("the (?:" + _PART + "[ -](?:the )?)?" + _DECADE, _decade),
    _rule("(?P<feast>christmas(?: eve)?|halloween|valentine's day|new year's (?:eve|day))" + _IN_YEAR + "?", _feast),
    _rule("(?:" + _PREPOSITION + "|early|late|mid|year)(?: the year)?[ -]" + r"(?P<year>(?:19|20)\d\d)", _plain_year),
    _rule(r"(?:from|between) (?P<first>(?:19|20)\d\d)\s*(?:to|until|till|through|and|-|–)\s*(?P<last>(?:19|20)\d\d)",
        _year_range),
    _rule("since " + _DATED, _since),
    _rule(_LENGTH + " (?P<way>before|after) " + _DATED, _before),
)  # fmt: skip


def _offset_unit(match: re.Match[str], now: datetime) -> Bounds:
    """So many whole days, weeks, months or years from this one; or a day of that month."""
    offset = int(match["offset"])
    unit = match["unit"]
    if match["day"]:
        first = _month(now, now.year, now.month + offset)[0]
        return _days(first.replace(day=int(match["day"])))
    if unit == "day":
        return _days(now + timedelta(days=offset))
    if unit in ("week", "weekend"):
        monday = now + timedelta(days=7 * offset - now.weekday())
        return _days(monday, 7) if unit == "week" else _days(monday + timedelta(days=5), 2)
    return _month(now, now.year, now.month + offset) if unit == "month" else _year(now, now.year + offset)


def _weekday_of_week(match: re.Match[str], now: datetime) -> Bounds:
    ahead = WEEKDAYS.index(match["weekday"].lower()) - now.weekday()
    return _days(now + timedelta(days=ahead + 7 * int(match["offset"])))


def _season_of_year(match: re.Match[str], now: datetime) -> Bounds:
    return _month(now, now.year + int(match["offset"]), *_SEASONS[match["season"].lower()])


def _day_either_way(match: re.Match[str], now: datetime) -> Bounds:
    """Hindi has one word for yesterday and tomorrow, and one for the days beyond them."""
    return _days(now - timedelta(days=2 if match["two"] else 1))


_OFFSET = r"(?P<offset>[+-]\d)"
_SHORT_FORMS = (
    _rule(r"(?P<unit>day|week|weekend|month|year) (?P<offset>[+-]\d{1,2})(?: day (?P<day>\d\d?))?", _offset_unit),
    _rule(_WEEKDAY + " of " + _OFFSET, _weekday_of_week),
    _rule(_SEASON + " of " + _OFFSET, _season_of_year),
    _rule("today(?P<two> twice)? either way", _day_either_way),
)
"""The forms in which calendars of other languages say what takes English several words."""
_ALL_RULES = (*_SHORT_FORMS, *_RULES)


_OPEN: dict[Rule, Period] = {
    _day_either_way: "two days",
    **dict.fromkeys((_the_weekend, _weekday), "week"),
    _day_number: "month",
    **dict.fromkeys((_months, _date, _day_range, _slashes, _season, _feast), "year"),
}
"""The rules whose words may leave open which one is meant, with the time after which there is another."""


def _period(match: re.Match[str], rule: Rule) -> Period:
    fields = match.groupdict()
    if fields.get("two"):
        return "four days"
    return "" if any(fields.get(name) for name in ("which", "year", "count")) else _OPEN.get(rule, "")


_PATTERNS = Patterns("dates")

_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
_AMOUNT = lazy_pattern("(?i)" + f"{_COUNT} {_UNIT}".replace(" ", r"\s+") + r"\b")


@dataclass(frozen=True, slots=True)
class TimedPhrase:
    """The times in a phrase, and `rest`, the phrase without them. `then` is a time that is neither start nor end."""

    rest: str
    since: date | None = None
    until: date | None = None
    then: date | None = None
    lasted: bool = False


def parse_times(text: str, today: date | None, *, ahead: bool = False) -> TimedPhrase:
    """Find the times in a phrase. `lasted`: the phrase says how long; if that is over, its start is unknown. `ahead`:
    it is so now, and an end that leaves open which year is meant is still to come."""
    since = until = then = None
    has_duration = False
    between = _PATTERNS.between.search(text)
    if between:
        since, until = _parse_edges(between[1], between[2], today, ahead=ahead)
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
        until = until or parse_date(end[1], today, ahead=ahead)
    for edge in sorted(filter(None, (begin, end)), key=lambda edge: -edge.start()):
        text = _cut_match(text, edge)
    moment = _PATTERNS.then.search(text) if not (begin or end or between or duration) else None
    if moment:
        then = parse_date(moment[1], today)
    return TimedPhrase(" ".join(text.split()), since, until, then, has_duration)


def _parse_edges(first: str, last: str, today: date | None, *, ahead: bool) -> tuple[date | None, date | None]:
    """The days of "between `first` and `last`", in this order."""
    until = parse_date(last, today, ahead=ahead)
    since = parse_date(first, today, ahead=ahead)
    return parse_date(first, today) if since and until and since > until else since, until


def strip_final_time(text: str) -> str:
    """A phrase without a time at its end: "Globex in March" becomes "Globex"."""
    matches = [match for match in _PATTERNS.then.finditer(text) if match.end() >= len(text.rstrip(" .,!"))]
    return text[: matches[0].start()].rstrip(" ,") if matches else text


def parse_date(text: str, today: date | None, *, ahead: bool = False) -> date | None:
    """The first day of the time that a text names; of one that leaves open which is meant the last, or the next."""
    year = _YEAR.search(text)
    month = _PATTERNS.iso_month.fullmatch(text.strip())
    if today is None and year is None:
        return None
    moment = noon(today or date(int(year[0]) if year else 1, 12, 31))
    span = next(iter(spans(f"in {text.strip()}", moment)), None)
    if month or span is None:
        return date(int(year[0]), int(month[1]) if month else 1, 1) if year else None
    days = days_of(next_after(span, moment) if ahead else span)
    return days[0] if days else None


def days_of(span: TimeSpan) -> tuple[date, date] | None:
    """The first and the last day of a time, as closely as people mean it: "three years ago" is a year, and "a few years
    ago" no time at all."""
    words = span.english or span.text
    amount = _AMOUNT.search(words)
    is_short = span.end - span.start < timedelta(days=1)  # "last night" is of the day on which it begins
    last = span.start if is_short else span.end - timedelta(microseconds=1)
    if amount is None or words.casefold().startswith(_ROLLING) or words.startswith("since "):
        return span.start.date(), last.date()
    low, high = _count(amount["count"])
    if low != high:
        return None
    day = (span.start + (last - span.start) / 2).date()
    if amount["unit"].lower() in ("year", "decade"):
        return day.replace(month=1, day=1), day.replace(month=12, day=31)
    return (day.replace(day=1), _month_end(day)) if amount["unit"].lower() == "month" else (day, day)


_ROLLING = ("in the ", "over ", "during ", "within ", "for the ", "the ", "past ", "last ")


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def month_name(month: int) -> str:
    """In English, whatever language the program's locale is."""
    return MONTHS[month - 1].capitalize()


def format_days(first: date, last: date) -> str:
    """A time as closely as it is known: "on 3 May 2024", "in May 2024", "in 2024", "3–9 May 2024"."""
    is_whole = first.day == 1 and last == _month_end(last)
    if is_whole and (first.month, last.month) == (1, 12):
        return f"in {first.year}" if first.year == last.year else f"{first.year}–{last.year}"
    start, end = (month_name(day.month) if is_whole else f"{day.day} {month_name(day.month)}" for day in (first, last))
    if first.year != last.year:
        return f"{start} {first.year} – {end} {last.year}"
    if start == end:
        return f"{'in' if is_whole else 'on'} {start} {last.year}"
    if first.month == last.month:
        return f"{first.day}–{end} {last.year}"
    return f"{start}–{end} {last.year}" if is_whole else f"{start} – {end} {last.year}"


def noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def _cut_match(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()].rstrip(' ,')}{text[match.end() :]}"


# -- times in other languages, said in English

_LANGUAGES = frozenset(packs_with(FILE)) - {DEFAULT}
_SLOT = lazy_pattern(r"\{([a-z]+(?:_[a-z]+)?)(\d?)\}")
_NUMBER_WORDS = {
    "day": "[12][0-9]|3[01]|0?[1-9]",
    "last": "[12][0-9]|3[01]|0?[1-9]",
    "number": "1[0-2]|0?[1-9]",
    "year": "(?:19|20)[0-9][0-9]",
    "last_year": "(?:19|20)[0-9][0-9]",
}
_MONTHS = [month.capitalize() for month in MONTHS]
_START = r"(?<![\w/\u0900-\u0963])"
_END = r"(?![\w\u0900-\u0963])"


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Words of a text that name a time, from `start` to `end`, and the same in English. With `is_since` they say that
    something is so from then on."""

    start: int
    end: int
    english: str
    is_since: bool = False


def times_in_packs(text: str, language: str = "") -> Iterator[NamedTime]:
    """The times that a text names in a language or, if none is given, in its own, if that is not English; some may lie
    inside others."""
    language = language or detect_written(text)
    if language in _LANGUAGES:
        folded = fold_letters(text)
        calendar = _calendar(language)
        if calendar.hint.search(folded):
            yield from calendar.times(folded)


@cache
def _calendar(language: str) -> _Calendar:
    return _Calendar(language)


class _Calendar(Wordings):
    """The calendar of one language."""

    def __init__(self, language: str) -> None:
        super().__init__(language, FILE)
        self._tables = {
            name: self.table(name) for name, text in self.entries.items() if name != "times" and ": " in text
        }
        pairs = [line.rpartition(" = ") for line in self.rows("times")]
        names = [word for table in self._tables.values() for word in table.values()]
        names += [line for line, _, _ in pairs if not _SLOT.search(line)]
        # Finds something in every text that names a time: a digit, or the first letters of a line.
        self.hint = lazy_pattern("|".join((r"\d", *map(self.fill, names))), re.IGNORECASE)
        self._times = [(self._compile(line), english) for line, _, english in pairs]
        start = r"(?<!\w)" if self.is_spaced else ""
        since = self.pattern("since_before").pattern
        self._since_before = lazy_pattern(rf"{start}{since}(?:\s*$|(?=\W)|(?<='))", re.IGNORECASE)
        since = self.pattern("since_after").pattern
        self._since_after = lazy_pattern(
            rf"(?:^['\s]?|['\s]|(?<=[\w])){since}(?:$|(?=\W)|(?<=[\u3041-\ud7ff]))", re.IGNORECASE
        )

    def _compile(self, line: str) -> re.Pattern[str]:
        taken: set[str] = set()

        def slot_source(slot: re.Match[str]) -> str:
            name = slot[1]
            group = f"{name}{slot[2]}"
            if name not in _NUMBER_WORDS and name not in self._tables:
                return str(slot[0])
            digits = r"\d{1,3}|" if name == "count" else ""
            source = digits + (_NUMBER_WORDS.get(name) or "|".join(self._tables[name].values()))
            if group in taken:
                return f"(?:{source})"
            taken.add(group)
            return f"(?P<{group}>{source})"

        source = self.fill(_SLOT.sub(slot_source, line))
        return lazy_pattern(rf"{_START}(?:{source}){_END}" if self.is_spaced else source, re.IGNORECASE)

    def times(self, folded: str) -> Iterator[NamedTime]:
        for pattern, english in self._times:
            for match in pattern.finditer(folded):
                if match[0].strip():
                    yield self._named_time(match, english, folded)

    def _named_time(self, match: re.Match[str], english: str, folded: str) -> NamedTime:
        text = _SLOT.sub(lambda slot: self._translate(slot, match), english)
        start, end = match.span()
        is_since = english.startswith("since ")
        if not is_since and " to " not in english and not english.endswith("ago"):
            # The word for "since" is before or after the time, or one of the words that name it.
            is_since = bool(
                self._since_before.search(folded[max(0, start - 20) : start])
                or self._since_before.match(match[0])
                or self._since_after.match(folded[end : end + 20])
                or self._since_after.search(match[0])
            )
        return NamedTime(start, end, " ".join(text.removeprefix("since ").split()), is_since)

    def _translate(self, slot: re.Match[str], match: re.Match[str]) -> str:
        """The English word for what stands in a slot; nothing if it is left out."""
        if slot[1] == "number_month":
            return _MONTHS[int(match["number"]) - 1]
        groups = match.groupdict()
        words = groups.get(f"{slot[1]}{slot[2]}")
        if not words:
            return ""
        if words.isdecimal() and slot[1] != "month":
            return words
        table = self._tables.get(slot[1], {})
        forms = ((english, self.fill(form)) for english, form in table.items())
        english = next((english for english, form in forms if re.fullmatch(form, words, re.IGNORECASE)), words)
        return english.capitalize() if slot[1] == "month" else english

"""How times stand in a context: the day once, with its weekday, and the clock only where it helps.

All of it is in the space's time zone. A day is `Wed 2 Feb 2022`; a time of the day is `18:05`. When the messages of a
conversation were said is in one line, by their labels, so that no text of a message carries a time that a model would
imitate: `m7 to m10: Tue 1 Feb 2022, 09:00; m11 to m14: Wed 2 Feb 2022, 18:00 to 18:20`. While all of them are of the
last ten minutes there is no such line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

from recollect.text.dates import MONTHS, WEEKDAYS

PAUSE = timedelta(hours=1)  # between two messages, after which the clock is said anew
SHORT = 3  # letters of a shortened weekday or month
JUST_NOW = timedelta(minutes=10)
MANY = 8  # spans from which on pauses within a day do not count


def local_time(moment: datetime, zone: tzinfo) -> datetime:
    """A moment on the space's clock. In the first and last hours of the calendar there is only UTC."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.astimezone(UTC)


@lru_cache(maxsize=4096)
def day_text(day: date) -> str:
    """A day with its weekday: `Wed 2 Feb 2022`."""
    weekday = WEEKDAYS[day.weekday()][:SHORT].capitalize()
    return f"{weekday} {day.day} {MONTHS[day.month - 1][:SHORT].capitalize()} {day.year}"


def clock_text(moment: datetime) -> str:
    """The time of the day: `18:05`."""
    return f"{moment:%H:%M}"


@dataclass(frozen=True, slots=True)
class Calendar:
    """Times as they are shown: what day it is now, if that is known, and the time zone."""

    now: datetime | None = None
    zone: tzinfo = UTC

    def day(self, moment: datetime) -> str:
        return day_text(local_time(moment, self.zone).date())

    @property
    def today(self) -> str:
        """The line that says which day it is; empty if that is not known."""
        if self.now is None:
            return ""
        day = local_time(self.now, self.zone).date()
        month = MONTHS[day.month - 1].capitalize()
        return f"Today is {WEEKDAYS[day.weekday()].capitalize()}, {day.day} {month} {day.year}."

    @property
    def short_today(self) -> str:
        """The day as briefly as it can be said, `2Feb2022 Wed`: where all else is one short message, the line above
        would cost half as much as the message. Without its spaces it has five tokens, and with them seven."""
        if self.now is None:
            return ""
        weekday, *day = day_text(local_time(self.now, self.zone).date()).split()
        return f"{''.join(day)} {weekday}"

    def is_just_now(self, moment: datetime) -> bool:
        """Whether a moment is so near that the clock need not be said."""
        return self.now is not None and abs(self.now - moment) <= JUST_NOW


def span_texts(labelled_moments: Iterable[tuple[str, datetime]], zone: tzinfo) -> list[str]:
    """When labelled messages were said, in order, the day once. A pause begins a new span, unless there are many."""
    local_times = [(label, local_time(moment, zone)) for label, moment in labelled_moments]
    runs = list(split_runs(local_times, PAUSE))
    if len(runs) > MANY:
        runs = list(split_runs(local_times, timedelta(days=1)))
    spans: list[str] = []
    last_day: date | None = None
    for run in runs:
        day = run[0][1].date()
        labels = unique_ends([label for label, _ in run])
        clocks = unique_ends([clock_text(time) for _, time in run])
        spans.append(f"{labels}: {clocks}" if day == last_day else f"{labels}: {day_text(day)}, {clocks}")
        last_day = day
    return spans


def split_runs(local_times: Iterable[tuple[str, datetime]], pause: timedelta) -> Iterator[list[tuple[str, datetime]]]:
    """The messages in runs: each of one day, without a longer pause."""
    run: list[tuple[str, datetime]] = []
    for label, time in local_times:
        if run and (time.date() != run[-1][1].date() or abs(time - run[-1][1]) > pause):
            yield run
            run = []
        run.append((label, time))
    if run:
        yield run


def unique_ends(texts: Sequence[str]) -> str:
    """The first and the last of some texts; only one if they are the same."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

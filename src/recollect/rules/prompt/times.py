"""How times stand in a context: the day once, with its weekday, and the clock only where it helps.

All of it is in the space's time zone. A day is `Wed 2 Feb 2022`; a time of the day is `18:05`. Messages that follow each
other within an hour of one day share a heading; messages of today and yesterday have the clock on their line, since one
asks of them "this morning", and of older ones "last week".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import groupby

from recollect.language.calendar_words import MONTHS, WEEKDAYS

PAUSE = timedelta(hours=1)  # between two messages, after which the clock is said again
SHORT = 3  # letters of a shortened weekday or month
NEAR = timedelta(days=1)  # days back for which the clock of a message is worth its tokens


def local_time(moment: datetime, zone: tzinfo) -> datetime:
    """A moment on the space's clock. In the first and last hours of the calendar there is only UTC."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment.astimezone(UTC)


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

    def near_clock(self, moment: datetime) -> str:
        """The time of the day of a moment of today or yesterday; empty for any other."""
        if self.now is None:
            return ""
        time = local_time(moment, self.zone)
        is_near = timedelta() <= local_time(self.now, self.zone).date() - time.date() <= NEAR
        return clock_text(time) if is_near else ""

    @property
    def today(self) -> str:
        """The line that says which day it is; empty if that is not known."""
        if self.now is None:
            return ""
        day = local_time(self.now, self.zone).date()
        month = MONTHS[day.month - 1].capitalize()
        return f"Today is {WEEKDAYS[day.weekday()].capitalize()}, {day.day} {month} {day.year}."


def run_headings(moments: Sequence[datetime], zone: tzinfo) -> list[str]:
    """For each of some messages in order the heading it stands under: the day and the clock at which its run began. A
    run ends with the day, or with a pause."""
    headings: list[str] = []
    last_time: datetime | None = None
    for moment in moments:
        time = local_time(moment, zone)
        if last_time is None or time.date() != last_time.date() or abs(time - last_time) > PAUSE:
            headings.append(f"{day_text(time.date())}, {clock_text(time)}")
        else:
            headings.append(headings[-1])
        last_time = time
    return headings


def span_texts(labelled_moments: Iterable[tuple[str, datetime]], zone: tzinfo) -> list[str]:
    """When labelled messages were said, the day once: `m12 to m15: Wed 2 Feb 2022, 18:00 to 18:20`."""
    local_times = ((label, local_time(moment, zone)) for label, moment in labelled_moments)
    spans = []
    for day, group in groupby(local_times, key=lambda pair: pair[1].date()):
        messages = list(group)
        labels = unique_ends([label for label, _ in messages])
        clocks = unique_ends([clock_text(time) for _, time in messages])
        spans.append(f"{labels}: {day_text(day)}, {clocks}")
    return spans


def unique_ends(texts: Sequence[str]) -> str:
    """The first and the last of some texts; only one if they are the same."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

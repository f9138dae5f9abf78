"""The English names of months and weekdays: the only table of them."""

from __future__ import annotations

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTH_ABBREVIATIONS = (*(month[:3] for month in MONTHS if month != "may"), "sept")
WEEKDAY_ABBREVIATIONS = tuple(day[:3] for day in WEEKDAYS)


def _month_pattern(month: str) -> str:
    if month == "may":
        return month
    return f"{month[:3]}(?:{month[3:]})?" if month != "september" else "sept?(?:ember)?"


MONTH_PATTERN = "|".join(map(_month_pattern, MONTHS))
"""A regular expression for a month, in full or abbreviated without a full stop. It has no group around it."""

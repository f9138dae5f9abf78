"""The words in the patterns of facts, and where these patterns are. See docs/patterns.md for how to add one."""

from __future__ import annotations

from collections.abc import Iterable

from everword.text.dates import MONTHS, WEEKDAYS
from everword.text.english import COMMON_VERBS, PAST_FORMS, PETS, RELATIONS
from everword.word_lists import WordLists

DATA = "facts/english/data"


def longest_first(words: Iterable[str]) -> list[str]:
    """The words of a list that has no order of its own, so that none hides a longer one."""
    return sorted(words, key=lambda word: (-len(word), word))


WORDS = WordLists(
    "words",
    "statement_words",
    folder=DATA,
    MONTHS=MONTHS,
    MONTH_NAMES=map(str.capitalize, MONTHS),
    WEEKDAYS=WEEKDAYS,
    WEEKDAY_NAMES=map(str.capitalize, WEEKDAYS),
    RELATIONS=longest_first(RELATIONS),
    PETS=longest_first(PETS),
    PAST_FORMS=sorted(PAST_FORMS),
    COMMON_VERBS=sorted(COMMON_VERBS),
)

"""Facts read from English by its wording, pure. Here are the words in all its patterns, which are data: see
docs/patterns.md for how to add one.
"""

from __future__ import annotations

from collections.abc import Iterable

from everword.text.dates import MONTHS, WEEKDAYS
from everword.text.english import COMMON_VERBS, PAST_FORMS, PETS, RELATIONS
from everword.word_lists import WordLists, read_list

DATA = "facts/english/data"


def longest_first(words: Iterable[str]) -> list[str]:
    """The words of a list that has no order of its own, so that none hides a longer one."""
    return sorted(words, key=lambda word: (-len(word), word))


_NOT_BY_NAME = {"ex", "child", "baby", "kid", "fish", "bird", "mouse", "rat"}  # what follows them is rarely a name
WORDS = WordLists(
    "words",
    "statement_words",
    "values",
    folder=DATA,
    MONTHS=MONTHS,
    MONTH_NAMES=map(str.capitalize, MONTHS),
    WEEKDAYS=WEEKDAYS,
    WEEKDAY_NAMES=map(str.capitalize, WEEKDAYS),
    RELATIONS=longest_first(RELATIONS),
    PETS=longest_first(PETS),
    KIN=longest_first({*RELATIONS, *PETS} - _NOT_BY_NAME),
    PAST_FORMS=sorted(PAST_FORMS),
    FOODS=read_list("foods", "facts"),
    COMMON_VERBS=sorted(COMMON_VERBS),
)

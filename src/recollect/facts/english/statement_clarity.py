"""Whether a clause is clear by itself: it speaks to nobody, supposes nothing, and names all it is about.

"We did that there" tells nothing to who did not hear what came before; neither does "I have rowed more since then", nor
a clause that was cut in its middle. A pronoun is clear if what it stands for was named before it, in the same clause.
"""

from __future__ import annotations

import re

from recollect.facts.english import statement_words as words
from recollect.facts.english.words import NUMBERS_TO_SIX, any_of, longest_first
from recollect.text.calendar_words import MONTHS, WEEKDAYS
from recollect.text.fact_words import RELATIONS
from recollect.text.lazy_patterns import lazy_pattern

_UNREAL = lazy_pattern(rf"\b{any_of(words.UNREAL_WORDS)}\b")
_TALK = lazy_pattern(rf"\b{any_of(words.YOU_WORDS, words.TALK_WORDS)}\b", re.IGNORECASE)
_SO_THAT = lazy_pattern(r"\b(?:so|such)\s(?:\w+\s){1,6}that\b", re.IGNORECASE)
_THEN = lazy_pattern(
    r"\b(?:(?:since|by|until|before|after)\sthen|the\s(?:same|whole)\s\w+$|a\ssimilar|got\sthe\s\w+(?:$|\sand\b)"
    r"|the\smain\s\w+(?!\s(?:of|in|at|for)\b)|(?<!for\s)the\s(?:first|second|last)\stime$)",
    re.IGNORECASE,
)
_SOMETHING = lazy_pattern(r"(?<!,\s)\b(?:something|somewhere|somehow)\b", re.IGNORECASE)
_CUT_SHORT = lazy_pattern(rf"\b(?:the|a)\s{any_of(words.NOUNS_THAT_LEAD)}$|\bgo-to$", re.IGNORECASE)

_WHICH_ONE = lazy_pattern(
    rf"\bthe\s{any_of(words.NOUNS_THAT_POINT)}(?:$|,|\s(?:and|to|for|from|with)\b)", re.IGNORECASE
)


_UNCLEAR = (_TALK, _UNREAL, _SO_THAT, _THEN, _SOMETHING, _CUT_SHORT, _WHICH_ONE)


def is_unclear(unit: str) -> bool:
    """Whether a clause speaks to somebody, supposes something, or points at what it does not name."""
    for pattern in _UNCLEAR:
        if pattern.search(unit):
            return True
    return _points_away(unit)


_POINTER = lazy_pattern(rf"\b{any_of(words.POINTERS)}\b", re.IGNORECASE)
_PERSON = lazy_pattern(
    rf"\b(?:{any_of(longest_first(RELATIONS))}|{any_of(words.PERSON_NOUNS)})s?\b|(?<=\s)(?!I\b)[A-Z][a-z]+"
)
_SEVERAL = lazy_pattern(
    rf"\b(?:{any_of(words.NEW_SEVERAL, NUMBERS_TO_SIX)}\s(?:[\w'’-]+\s){{0,3}}?\w+s\b|{any_of(words.GROUPS)}\b)",
    re.IGNORECASE,
)
_RELATIVE = lazy_pattern(rf"\s(?:{any_of(words.AFTER_RELATIVE)}|\w+s|\w+ed)\b", re.IGNORECASE)
_NEW_THING = lazy_pattern(r"\ban?\s+\w{2,}", re.IGNORECASE)
_THIS_TIME = lazy_pattern(rf"\s{any_of(words.STRONG_TIME_WORDS, WEEKDAYS, MONTHS)}", re.IGNORECASE)
_THOSE_WHO = lazy_pattern(r"\s(?:in\sneed|who|with|an?)\b", re.IGNORECASE)
_ONE_OF = lazy_pattern(r"\s(?:of(?!\smy\sown)|day|year|week|month|time|night)\b", re.IGNORECASE)
_ABOUT = lazy_pattern(r"\b(?:about|of|from|with)\s$", re.IGNORECASE)
_POINTS_BACK = lazy_pattern(rf"(?:\b{any_of(words.BEFORE_POINTER)}|^\w+\s\w+)\s*$", re.IGNORECASE)


def _points_away(unit: str) -> bool:
    """Whether a clause points at somebody or something that it does not name."""
    for pointer in _POINTER.finditer(unit):
        word = pointer[0].casefold()
        if word in ("he", "she", "him", "his", "her"):
            is_named = _PERSON.search(unit, 0, pointer.start()) is not None
        elif word in ("they", "them", "their"):
            is_named = _SEVERAL.search(unit, 0, pointer.start()) is not None and not unit[: pointer.start()].endswith(
                "of "
            )
        elif word in ("it", "its"):
            is_new = _NEW_THING.search(unit, 0, pointer.start()) is not None
            is_named = is_new and not _ABOUT.search(unit[: pointer.start()])
        elif word == "that":
            is_relative = _RELATIVE.match(unit, pointer.end()) is not None
            is_named = is_relative and not _POINTS_BACK.search(unit[: pointer.start()])
        elif word == "this":
            is_named = _THIS_TIME.match(unit, pointer.end()) is not None
        elif word in ("those", "such"):
            is_named = _THOSE_WHO.match(unit, pointer.end()) is not None
        elif word == "one":
            is_named = _ONE_OF.match(unit, pointer.end()) is not None
        else:
            is_named = False
        if not is_named:
            return True
    return False

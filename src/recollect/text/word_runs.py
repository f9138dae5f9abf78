"""The runs of word characters in a text, as `\\w+` finds them, in a quarter of its time where the text is plain ASCII.

Every view asks for the words of every sentence. A table that turns all other characters into spaces, and a split at
spaces, give the same words as the pattern; other texts are read by the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

BEFORE_PLACE = 120  # characters of the words before a place: more than the longest phrase of a pattern

_WORDS = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")


def _ascii_table(is_kept: Callable[[str], bool]) -> str:
    """A table for `str.translate`: characters that are kept in lower case, a space for each of the others."""
    return "".join(character.lower() if is_kept(character) else " " for character in map(chr, range(128)))


_WORD_TABLE = _ascii_table(lambda character: character.isalnum() or character == "_")
_LETTER_TABLE = _ascii_table(str.isalpha)


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case, with digits and underscores."""
    return text.translate(_WORD_TABLE).split() if text.isascii() else _WORDS.findall(text.lower())


def lower_letter_runs(text: str) -> list[str]:
    """The runs of letters of a text in lower case."""
    return text.translate(_LETTER_TABLE).split() if text.isascii() else _LETTERS.findall(text.lower())


def words_before(text: str, place: int) -> str:
    """The last words before a place in a text, with what separates them: all that a pattern that ends there can need.
    To search all that is before each of many places would take the square of the text's length."""
    start = place - BEFORE_PLACE
    if start <= 0:
        return text[:place]
    return text[max(text.find(" ", start, place), start) : place]


def has_word_of(words: Iterable[str]) -> Callable[[str], bool]:
    """A test whether a text has one of some words in lower case."""
    word_list = frozenset(words)

    def has_word(text: str) -> bool:
        return not word_list.isdisjoint(lower_words(text))

    return has_word

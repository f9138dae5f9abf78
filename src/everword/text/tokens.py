"""The words of a text: the one tokeniser of the rules.

`lower_words` gives the runs of word characters and `lower_letter_runs` those of letters: all other characters become
spaces. `JOINED_WORD` finds words with what joins their parts. `spelt_tokens` gives the words and marks of an English
sentence; what is after an apostrophe is a word of its own. The index has terms of its own (`terms`).
"""

from __future__ import annotations

from collections.abc import Sequence

from everword.text.doc import read_once
from everword.word_lists import lazy_pattern

BEFORE_PLACE = 120  # characters of the words before a place: more than the longest phrase of a pattern

JOINED_WORD = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*")
"""Finds a word with its apostrophes and hyphens: "mother-in-law's"."""


def spoken_words(text: str) -> list[str]:
    """The words of a text with their apostrophes: what a hyphen joins is two words."""
    return [word for joined in JOINED_WORD.findall(text) for word in joined.split("-")]


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case, with digits and underscores."""
    return "".join([char if char.isalnum() or char == "_" else " " for char in text.lower()]).split()


def lower_letter_runs(text: str) -> list[str]:
    """The runs of letters of a text in lower case."""
    return "".join([char if char.isalnum() and not char.isdecimal() else " " for char in text.lower()]).split()


def words_before(text: str, place: int) -> str:
    """The last words before a place in a text, with what separates them: all that a pattern that ends there can need.
    To search all that is before each of many places would take the square of the text's length."""
    start = place - BEFORE_PLACE
    if start <= 0:
        return text[:place]
    return text[max(text.find(" ", start, place), start) : place]


MARKS = frozenset('.,;:!?…–—()-"“”')
_TOKEN = lazy_pattern(r"[^\W_]+(?:[-.,&/][^\W_]+)*%?|['’](?:s|re|m|ve|ll|d|t)\b|[\"“”]|[.,;:!?…–—()]|-(?=\s)")
_CAPITAL_END = lazy_pattern(r"'[A-Z]")


def lower_tokens(text: str) -> tuple[str, ...]:
    """The words and marks of a text without capitals; what is after an apostrophe is a word of its own."""
    if text.isascii() and ("'" not in text or not _CAPITAL_END.search(text)):
        return folded_tokens(text)
    return spelt_tokens(text.casefold())


@read_once
def folded_tokens(text: str) -> tuple[str, ...]:
    """The tokens as they are written, each without capitals: of "IT'S" these are "it" and "s", and not "'s"."""
    return tuple([token.casefold() for token in spelt_tokens(text)])


def spelt_tokens(text: str) -> tuple[str, ...]:
    """The tokens as they are written."""
    return tuple(_TOKEN.findall(text.replace("’", "'")))


def begins_with(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Whether the first two or three words are one of the phrases."""
    return " ".join(words[:2]) in phrases or " ".join(words[:3]) in phrases

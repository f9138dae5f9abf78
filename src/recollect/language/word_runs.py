"""The runs of word characters in a text, as `\\w+` finds them, in a quarter of its time where the text is plain ASCII.

Every view asks for the words of every sentence. A table that turns all other characters into spaces, and a split at
spaces, give the same words as the pattern; other texts are read by the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WORDS = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")


def _ascii_table(is_kept: Callable[[str], bool]) -> str:
    """A table for `str.translate`: characters that are kept in lower case, a space for each of the others."""
    return "".join(character.lower() if is_kept(character) else " " for character in map(chr, range(128)))


_WORD_TABLE = _ascii_table(lambda character: character.isalnum() or character == "_")
_CASED_TABLE = "".join(
    character if character.isalnum() or character == "_" else " " for character in map(chr, range(128))
)
_LETTER_TABLE = _ascii_table(str.isalpha)


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case, with digits and underscores."""
    return text.translate(_WORD_TABLE).split() if text.isascii() else _WORDS.findall(text.lower())


def plain_words(text: str) -> list[str]:
    """The words of an ASCII text as they are written, with digits and underscores."""
    return text.translate(_CASED_TABLE).split()


def lower_letter_runs(text: str) -> list[str]:
    """The runs of letters of a text in lower case."""
    return text.translate(_LETTER_TABLE).split() if text.isascii() else _LETTERS.findall(text.lower())

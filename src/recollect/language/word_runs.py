"""The runs of word characters in a text, as `\\w+` finds them, in a quarter of its time where the text is plain ASCII.

Every view asks for the words of every sentence. A table that turns all other characters into spaces, and a split at
spaces, give the same words as the pattern; other texts are read by the pattern.

An import asks of every sentence whether it has one of the words that a pattern needs, for a hundred patterns. Each such
list of words gets a bit. A word has the bits of all lists that it is in, and a text those of all its words: they are
put together once, and to ask for a list is then to look at its bit, in a third of the time of a comparison of sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from threading import Lock

PREFIX = 3
"""Characters of the beginning of a word, which a list may have in place of it."""
DIGIT = "\x03"
"""Stands in a list for any word with a digit."""
BEFORE_PLACE = 120  # characters of the words before a place: more than the longest phrase of a pattern
ALL_LISTS = -1  # every bit
LONG = 1_000  # characters of a text that is not kept for long
REMEMBERED = 1_000  # short texts whose bits are kept
REMEMBERED_LONG = 16
REMEMBERED_WORDS = 20_000

_DIGITS = re.compile(r"\d")
_ODD_CASES = re.compile("[\u0130\u0131\u017f]")  # letters that a pattern without case takes for i and s
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


def words_before(text: str, place: int) -> str:
    """The last words before a place in a text, with what separates them: all that a pattern that ends there can need.
    To search all that is before each of many places would take the square of the text's length."""
    start = place - BEFORE_PLACE
    if start <= 0:
        return text[:place]
    return text[max(text.find(" ", start, place), start) : place]


# -- lists of words

_lock = Lock()


class _WordMasks(dict[str, int]):
    """The bits of words, as the lists are now."""

    def __init__(self, lists: dict[str, int]) -> None:
        super().__init__()
        self._lists = lists

    def __missing__(self, word: str) -> int:
        mask = self._lists.get(word, 0) | self._lists.get(word[:PREFIX], 0)
        if _DIGITS.search(word):
            mask |= self._lists.get(DIGIT, 0)
        if len(self) >= REMEMBERED_WORDS:
            self.clear()
        self[word] = mask
        return mask


class TextMasks(dict[str, int]):
    """The bits of the last texts. All of them if a text has letters for which upper and lower case are not plain."""

    def __init__(self) -> None:
        super().__init__()
        self._bits_by_word: dict[str, int] = {}
        self._bits_by_list: dict[frozenset[str], int] = {}
        self._word_masks = _WordMasks(self._bits_by_word)
        self._long_texts: dict[str, int] = {}

    def add_list(self, words: Iterable[str]) -> int:
        """The bit of a list of words in lower case, or beginnings of them."""
        word_list = frozenset(words)
        with _lock:
            if word_list in self._bits_by_list:
                return self._bits_by_list[word_list]
            bit = self._bits_by_list[word_list] = 1 << len(self._bits_by_list)
            for word in word_list:
                self._bits_by_word[word] = self._bits_by_word.get(word, 0) | bit
            self._word_masks = _WordMasks(self._bits_by_word)
            self._long_texts = {}
            self.clear()
        return bit

    def __missing__(self, text: str) -> int:
        word_masks = self._word_masks
        is_long = len(text) > LONG
        if is_long and (known_mask := self._long_texts.get(text)) is not None:
            return known_mask
        mask = _read_mask(text, word_masks)
        with _lock:
            if word_masks is self._word_masks:  # else it may lack a list that another thread has added
                texts = self._long_texts if is_long else self
                if len(texts) >= (REMEMBERED_LONG if is_long else REMEMBERED):
                    texts.clear()  # another thread may use it too, so entries are not removed one by one
                texts[text] = mask
        return mask


def _read_mask(text: str, word_masks: _WordMasks) -> int:
    if not text.isascii() and _ODD_CASES.search(text):
        return ALL_LISTS
    return reduce(or_, map(word_masks.__getitem__, lower_words(text)), 0)


text_masks = TextMasks()


def has_word_of(words: Iterable[str]) -> Callable[[str], bool]:
    """A test whether a text has one of some words in lower case, or a word that begins as one of three characters."""
    bit = text_masks.add_list(words)

    def has_word(text: str) -> bool:
        return text_masks[text] & bit != 0

    return has_word

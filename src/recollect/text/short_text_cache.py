"""Remembers what rules say of short texts.

A message is read by several views, and its sentences again whenever a summary of them grows. Long texts are not
remembered: they are rare, and would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper, wraps
from inspect import signature
from typing import Any, TypeVar

T = TypeVar("T")

SHORT = 1_000
"""Characters of a text that is remembered, at most."""
REMEMBERED = 24_000
"""Texts that are remembered for each rule."""
GENERATION = REMEMBERED // 2
REMEMBERED_WORDS = 20_000
"""Words of one language that are remembered for each rule."""
LANGUAGES = 8
"""Languages whose words are remembered for each rule."""


def remember_short_texts(rule: Callable[..., T]) -> Callable[..., T]:
    """A rule that reads a text, its first argument, and gives something that cannot be changed."""
    if len(signature(rule).parameters) == 1:
        return ShortTexts(rule)
    remembered = lru_cache(maxsize=REMEMBERED)(rule)

    @wraps(rule)
    def read_text(text: str, *options: Any) -> T:
        return remembered(text, *options) if len(text) <= SHORT else rule(text, *options)

    return read_text


class ShortTexts(dict[str, T]):
    """What a rule says of each text it has read. It is called as the rule is, and a text that is known is found without
    a step of Python. When there are many, a new generation begins: what is not asked for in it goes with the next."""

    def __init__(self, rule: Callable[[str], T]) -> None:
        super().__init__()
        self._rule = rule
        self._older: dict[str, T] = {}
        update_wrapper(self, rule)

    def __missing__(self, text: str) -> T:
        older = self._older
        reading = older[text] if text in older else self._rule(text)
        if len(text) <= SHORT:
            if len(self) >= GENERATION:
                self._older = dict(self)
                self.clear()  # another thread may use it too, so entries are not removed one by one
            self[text] = reading
        return reading

    __call__ = dict.__getitem__
    # To those who hold it, it is a function and no dictionary.
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__
    __repr__ = object.__repr__

    def __bool__(self) -> bool:
        return True


class WordReadings(dict[str, T]):
    """What a rule says of each word in one language: a word that is known is found without a step of Python."""

    def __init__(self, rule: Callable[[str, str], T], language: str) -> None:
        super().__init__()
        self._rule = rule
        self._language = language

    def __missing__(self, word: str) -> T:
        reading = self._rule(word, self._language)
        if len(word) <= SHORT:
            if len(self) >= REMEMBERED_WORDS:
                self.clear()  # another thread may use it too, so entries are not removed one by one
            self[word] = reading
        return reading


def remember_words(rule: Callable[[str, str], T]) -> Callable[[str], WordReadings[T]]:
    """A rule that reads a word in a language, as a function of the language that gives what it says of each word."""

    @lru_cache(maxsize=LANGUAGES)
    @wraps(rule)
    def read_words(language: str) -> WordReadings[T]:
        return WordReadings(rule, language)

    return read_words

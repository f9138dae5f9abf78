"""A text as the rules have read it: each rule reads a text once, while the text is among those worked on lately.

A message is read by several views, and its sentences again whenever a summary of them grows. `doc_of` gives the `Doc`
of a text; what a rule says of it is kept there. This is the only place where readings of texts are kept: a bounded
number of short ones. Long texts are rare, and would fill the memory; their `Doc` is as good, and is not kept.

Here is also the one tokeniser of the rules. `lower_words` gives the runs of word characters and `lower_letter_runs`
those of letters: all other characters become spaces. `JOINED_WORD` finds words with what joins their parts.
`spelt_tokens` gives the words and marks of an English sentence; what is after an apostrophe is a word of its own. The
index has terms of its own (`terms`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from everword.word_lists import lazy_pattern

T = TypeVar("T")
P = ParamSpec("P")

SHORT = 1_000
"""Characters of a text that is kept, at most."""
KEPT = 24_000
"""Texts that are kept, at most: those of the last few thousand messages and their sentences."""


class Doc:
    """One text, and what rules have said of it."""

    __slots__ = ("_readings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._readings: dict[object, Any] = {}

    def read(self, rule: Callable[..., T], *options: object) -> T:
        """What a rule says of the text, read when it is first asked for. It is something that cannot be changed."""
        key = (rule, *options) if options else rule
        try:
            reading: T = self._readings[key]
        except KeyError:
            reading = self._readings[key] = rule(self.text, *options)
        return reading


_languages: ContextVar[str] = ContextVar("languages", default="")


def languages_read() -> str:
    """The codes of the languages that texts may be in, with commas; empty: all."""
    return _languages.get()


@contextmanager
def reading_in(languages: str) -> Iterator[None]:
    """Within it, texts are taken to be in one of these languages."""
    token = _languages.set(languages)
    try:
        yield
    finally:
        _languages.reset(token)


_docs: dict[str, Doc] = {}
_older_docs: dict[str, Doc] = {}


def doc_of(text: str) -> Doc:
    """The reading of a text that may have been read before. When many are kept, a new generation begins: what is not
    asked for in it goes with the next."""
    languages = _languages.get()
    key = f"{languages}\0{text}" if languages else text
    doc = _docs.get(key)
    if doc is None:
        doc = _older_docs.get(key) or Doc(text)
        if len(text) <= SHORT:
            if len(_docs) >= KEPT // 2:
                _older_docs.clear()
                _older_docs.update(_docs)
                _docs.clear()  # another thread may use it too, so entries are not removed one by one
            _docs[key] = doc
    return doc


def read_once(rule: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """The same rule, which reads each text once while the text is among those worked on lately."""

    @wraps(rule)
    def read(text: str, /, *options: P.args, **named_options: P.kwargs) -> T:
        return doc_of(text).read(rule, *options, *named_options.values())

    return read


BEFORE_PLACE = 120  # characters of the words before a place: more than the longest phrase of a pattern

JOINED_WORD = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*")
"""Finds a word with its apostrophes and hyphens: "mother-in-law's"."""


def spoken_words(text: str) -> list[str]:
    """The words of a text with their apostrophes: what a hyphen joins is two words."""
    return [word for joined in JOINED_WORD.findall(text) for word in joined.split("-")]


def lower_words(text: str) -> list[str]:
    """The words of a text in lower case, with digits and underscores."""
    text = text.lower()
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return "".join([char if char.isalnum() or char == "_" else " " for char in text]).split()


def lower_letter_runs(text: str) -> list[str]:
    """The runs of letters of a text in lower case."""
    text = text.lower()
    if text.isascii():
        return text.translate(_ASCII_LETTERS).split()
    return "".join([char if char.isalnum() and not char.isdecimal() else " " for char in text]).split()


_ASCII_WORDS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "_"}
_ASCII_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
"""In place of all that is no part of a word, and no letter, there is a space."""


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

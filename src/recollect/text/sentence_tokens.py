"""The words and marks of a sentence, as the rules of English read it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from recollect.text.lazy_patterns import lazy_pattern

MARKS = frozenset('.,;:!?…–—()-"“”')
_TOKEN = lazy_pattern(r"[^\W_]+(?:[-.,&/][^\W_]+)*%?|['’](?:s|re|m|ve|ll|d|t)\b|[\"“”]|[.,;:!?…–—()]|-(?=\s)")
_ASCII_TOKEN = lazy_pattern(  # finds the same in plain text, in two thirds of the time
    r"[A-Za-z0-9]+(?:[-.,&/][A-Za-z0-9]+)*%?|'(?:s|re|m|ve|ll|d|t)\b|[\".,;:!?()]|-(?=\s)"
)
_CAPITAL_END = lazy_pattern(r"'[A-Z]")
_REMEMBERED = 2_000  # sentences: several rules ask for their tokens, one after the other


def lower_tokens(text: str) -> tuple[str, ...]:
    """The words and marks of a text without capitals; what is after an apostrophe is a word of its own."""
    if text.isascii() and ("'" not in text or not _CAPITAL_END.search(text)):
        return folded_tokens(text)
    return spelt_tokens(text.casefold())


@lru_cache(maxsize=_REMEMBERED)
def folded_tokens(text: str) -> tuple[str, ...]:
    """The tokens as they are written, each without capitals: of "IT'S" these are "it" and "s", and not "'s"."""
    return tuple([token.casefold() for token in spelt_tokens(text)])


@lru_cache(maxsize=_REMEMBERED)
def spelt_tokens(text: str) -> tuple[str, ...]:
    """The tokens as they are written."""
    text = text.replace("’", "'")
    return tuple(_ASCII_TOKEN.findall(text) if text.isascii() else _TOKEN.findall(text))


def begins_with(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Whether the first two or three words are one of the phrases."""
    return " ".join(words[:2]) in phrases or " ".join(words[:3]) in phrases

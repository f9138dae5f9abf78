"""Whether two facts have the same value, and which values exclude each other.

Names are compared letter for letter, everything else by its words, whatever form they are in. Where a key holds several
values, two that nearly say the same are one: most of their words are the same, and neither has a name or a number that
the other lacks. Kinds of diet exclude each other: who is pescatarian is no vegetarian any more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from recollect.facts.rules.keys import holds_several_values, is_known
from recollect.model import Fact, FoundFact
from recollect.text.fact_words import species
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.terms import analyse
from recollect.text.word_weights import is_content, stem

NEAR = 0.6
"""The least share of common words of two values that nearly say the same."""

_ARTICLE = lazy_pattern(r"^(?:the|an?|some|any)\s+(?=\S)")
_MARKS = " .,;:!?\"'“”«»()[]"
_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)*")
_NEGATIONS = frozenset({"no", "not", "never", "without", "nothing", "none", "neither", "nor", "stopped", "quit"})
_LETTER_FOR_LETTER = frozenset({"email", "phone", "name", "nickname", "surname"})

_DIET_KIND = lazy_pattern(
    r"\b(?:vegan|vegetarian|pesc[ae]tarian|flexitarian|fruitarian|omnivore|carnivore|meat.eater)s?\b|\beats?\smeat\b",
    re.IGNORECASE,
)


def fold(text: str) -> str:
    """A value as it is compared: no case, no variants of characters, no article, no marks around it."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())
    return _ARTICLE.sub("", plain.strip(_MARKS)) or plain


def sense(fact: FoundFact | Fact) -> tuple[str, ...]:
    """What a value means: names letter for letter, everything else by its words, whatever form they are in."""
    if fact.category == "identity" and (fact.key != "pets" and not _is_free_text(fact)):
        return (fold(fact.value),)
    return _value_terms(fact.value)


def _value_terms(text: str) -> tuple[str, ...]:
    value = fold(text)
    return analyse(value, "en").terms or (value,)


def value_texts(text: str) -> tuple[object, ...]:
    """What of a value must be equal for two values to have the same sense."""
    return fold(text), _value_terms(text)


def value_stems(text: str) -> Collection[str]:
    """The stems of the words by which it is decided whether two values nearly say the same."""
    return _words_by_stem(text).keys()


def has_same_value(fact: Fact, other: FoundFact | Fact) -> bool:
    """Whether a fact has this value already; the kind of an animal alone means the one that is known by name."""
    if sense(fact) == sense(other):
        return True
    if other.key == "pets":
        animal = species(other.value)
        return bool(animal) and f"({animal})" in fact.value
    return _is_free_text(fact) and says_nearly_the_same(fact.value, other.value) and not _have_other_days(fact, other)


def says_nearly_the_same(first: str, second: str) -> bool:
    """Whether most words of two values are the same, and the other words are neither names nor numbers."""
    first_words = _words_by_stem(first)
    second_words = _words_by_stem(second)
    common = first_words.keys() & second_words.keys()
    if len(common) < 2 or len(common) < NEAR * len(first_words.keys() | second_words.keys()):
        return False
    extra_first = {word for root, word in first_words.items() if root not in common}
    extra_second = {word for root, word in second_words.items() if root not in common}
    if any(word.casefold() in _NEGATIONS for word in extra_first | extra_second):
        return False
    # What only one of the two adds makes it more exact; if both add names or numbers, they tell of two things.
    return not (extra_first and extra_second and any(map(_is_exact, extra_first | extra_second)))


def fuller_value(first: str, second: str) -> str:
    """Of two values that nearly say the same, the one with more words."""
    return second if len(_words_by_stem(second)) >= len(_words_by_stem(first)) else first


def excludes_value(fact: Fact, other: FoundFact) -> bool:
    """Whether both cannot be so at once, although the key holds several values."""
    if fact.key != "diet" or other.key != "diet":
        return False
    return bool(_DIET_KIND.search(fact.value) and _DIET_KIND.search(other.value)) and not has_same_value(fact, other)


def _is_free_text(fact: FoundFact | Fact) -> bool:
    """Whether a value is in free words: of a key that holds several, and is no name of somebody."""
    if not holds_several_values(fact.category, fact.key) or fact.key in _LETTER_FOR_LETTER:
        return False
    return fact.category != "identity" or not is_known("identity", fact.key)


def _have_other_days(fact: Fact, other: FoundFact | Fact) -> bool:
    """Whether two events are told of different days: the same run of another year is another run."""
    if fact.category not in ("event", "plan") or fact.valid_from is None:
        return False
    if isinstance(other, Fact):
        return other.valid_from is not None and other.valid_from.date() != fact.valid_from.date()
    was_dated = fact.valid_from not in (fact.recorded_at, fact.said_at)
    return fact.category == "event" and was_dated and other.since is not None and other.since != fact.valid_from.date()


def _is_exact(word: str) -> bool:
    return word[0].isupper() or any(map(str.isdigit, word))


def _words_by_stem(text: str) -> dict[str, str]:
    """The words of a value by their stems; negations too, though they are no content words."""
    words: dict[str, str] = {}
    for word in _WORD.findall(text):
        if is_content(word.casefold(), "en") or word.casefold() in _NEGATIONS:
            words.setdefault(stem(word, "en"), word)
    return words

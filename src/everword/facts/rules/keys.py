"""The keys of facts: one key for one thing, however it was called.

"favourite language" and "preferred language" must not both exist, so a key is brought to one form before it is stored:
small letters, one spelling, singular, no words that say nothing; then it is looked up by its stems among the aliases of
the known keys. An unknown key keeps its own plain form. Normalising twice is the same as once.

A known key has one category, whatever category a model files it under: an employer is "identity", also if it came as
"work". Of the known keys some hold one value, as a name does; all others hold several, as allergies do: a second goal
does not replace the first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

from everword.model import FACT_CATEGORIES, FactCategory
from everword.text.english import PROGRAMMING, RELATIONS
from everword.text.terms import word_terms
from everword.word_lists import WordLists, lazy_pattern, read_table

IDENTITY: FactCategory = "identity"
MAX_KEY = 40
"""Characters of a key; what is longer is a sentence, not a key."""

_DATA = "facts/rules/data"
_WORDS = WordLists("keys", folder=_DATA)


def _read_phrases(entry: str) -> dict[str, frozenset[str]]:
    """A table of `data/keys.txt` with phrases after each name."""
    return {name: frozenset(phrases.split("; ")) for name, phrases in read_table(entry, "keys", _DATA).items()}


_CATEGORIES: tuple[FactCategory, ...] = ("identity", "preference", "constraint", "health", "instruction")
_KEYS = {category: _read_phrases(category) for category in _CATEGORIES}
"""Each known key with the other names it goes by, in the category it belongs to."""
_SEVERAL = _read_phrases("several")
_SEVERAL["identity"] |= _WORDS.people
_ALSO_IN = _read_phrases("also_in")
_ALSO_IN["relationship"] |= {*RELATIONS.values()}
_SPELLINGS = {
    variant: word for word, variants in read_table("spellings", "keys", _DATA).items() for variant in variants.split()
}

# Whose keys a category may use for its own: what a model calls work, a place or health is often a known key. A plan to
# move is no home, a favourite place is none either: plans, events, preferences and instructions keep their keys.
_BORROWS: dict[FactCategory, tuple[FactCategory, ...]] = {
    "identity": ("constraint", "preference", "health"),
    "relationship": ("identity",),
    "work": ("identity",),
    "place": ("identity",),
    "health": ("constraint", "identity"),
    "possession": ("identity",),
    "constraint": ("health",),
    "other": ("identity", "constraint", "health"),
}
_ONLY: dict[FactCategory, frozenset[str]] = {"possession": frozenset({"pets"})}
"""The keys that a category borrows, if not all."""

_HUMP = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)*")


def category_of(name: str) -> FactCategory:
    """The category a name means; "other" if there is no such category. Plurals and capitals are accepted."""
    plain = name.strip().casefold()
    for category in FACT_CATEGORIES:
        if plain in (category, f"{category}s") or (plain, category) == ("identities", "identity"):
            return category
    return "other"


def find_home(category: FactCategory, key: str, value: str = "") -> tuple[FactCategory, str]:
    """The category and the normalised key under which a fact is kept, whatever it was filed under."""
    if key == category:  # a statement, which has no key but its category
        return category, category
    own_key = normalise_key(category, key, value)
    if not own_key or is_known(category, own_key):
        return category, own_key
    for lender in _BORROWS.get(category, ()):
        lent_key = normalise_key(lender, key, value)
        if is_known(lender, lent_key) and lent_key in _ONLY.get(category, {lent_key}):
            return lender, lent_key
    return category, own_key


def home_of_planned(key: str) -> FactCategory | None:
    """The category of a known key that a plan is about: who plans a new "location" will have it one day."""
    return next((category for category in ("identity", "constraint", "health") if is_known(category, key)), None)


def normalise_key(category: FactCategory, key: str, value: str = "") -> str:
    """The one form of a key in its category; empty if there is nothing in it. The value tells what a "language" is."""
    words = _plain_words(key)
    if category == "preference":
        # A preference needs no word that says so: "favourite colour" is "colour".
        topic_words = tuple(word for word in words if word not in _WORDS.choice)
        words = topic_words or words
    canonical = _keys_by_stems().get(category, {}).get(_key_stems(words))
    if canonical is None:
        canonical = " ".join(_singular(word) for word in words)[:MAX_KEY].strip()
        if category == "identity" and canonical in RELATIONS:
            canonical = RELATIONS[canonical]
    if category == "preference" and canonical in ("language", "prefers") and value.strip().casefold() in PROGRAMMING:
        return "programming language"
    return canonical


def keys_named(word: str) -> tuple[str, Mapping[str, str]]:
    """What `normalise_key` makes of a word that has no value: in most categories the first, in some of them others."""
    words = _plain_words(word)
    knowing: Sequence[FactCategory] = [
        category for category, keys in _keys_by_stems().items() if _key_stems(words) in keys
    ]
    usual = " ".join(_singular(part) for part in words)[:MAX_KEY].strip()
    if len(words) == 1 and not knowing:  # as most words: no category has a key with its stem
        return usual, {IDENTITY: RELATIONS[usual]} if RELATIONS.get(usual, usual) != usual else {}
    categories = FACT_CATEGORIES if len(words) > 1 else (*knowing, IDENTITY)
    others = {category: normalise_key(category, word) for category in categories}
    return usual, {category: key for category, key in others.items() if key != usual}


def is_known(category: FactCategory, key: str) -> bool:
    """Whether a normalised key is one of those that a category is known to have."""
    return key in _KEYS.get(category, {}) or (category == "identity" and key in _RELATION_KEYS)


def is_in_category(category: FactCategory, key: str, wanted: FactCategory) -> bool:
    """Whether a fact is meant by who asks for a category: it is in it, or it has a known key that belongs there too."""
    return category == wanted or (key in _ALSO_IN.get(wanted, ()) and is_known(category, key))


def holds_several_values(category: FactCategory, key: str) -> bool:
    """Whether a normalised key holds several values at once: all do, but for those known to have one."""
    return not is_known(category, key) or key in _SEVERAL.get(category, ())


_RELATION_KEYS = frozenset(RELATIONS.values())


def _plain_words(key: str) -> tuple[str, ...]:
    if key.isalpha() and key.isascii() and key.islower() and len(key) <= MAX_KEY:  # there is nothing to normalise
        return tuple(_SPELLINGS.get(key, key).split())
    text = (
        unicodedata.normalize("NFKC", _HUMP.sub(" ", key[: 4 * MAX_KEY]))
        .casefold()
        .replace("’", "'")
        .replace("'s", "")
        .replace("'", "")
    )
    spellings = [_SPELLINGS.get(word, word) for word in _WORD.findall(text)]
    words = tuple(word for spelling in spellings for word in spelling.split())
    return tuple(word for word in words if word not in _WORDS.noise) or words


def _key_stems(words: tuple[str, ...]) -> tuple[str, ...]:
    """What keys are compared by: stems, in any order. Function words count here ("born in"), so each is taken alone."""
    return tuple(sorted(term for word in words for term in word_terms(word, "en") or (word,)))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


@cache
def _keys_by_stems() -> dict[FactCategory, dict[tuple[str, ...], str]]:
    """The keys of each category by the stems of every name they have."""
    by_stems: dict[FactCategory, dict[tuple[str, ...], str]] = {}
    for category, aliases_by_key in _KEYS.items():
        keys = by_stems.setdefault(category, {})
        for key, aliases in aliases_by_key.items():
            keys[_key_stems(_plain_words(key))] = key
            for alias in aliases:
                words = _plain_words(alias)
                if category == "preference":
                    words = tuple(word for word in words if word not in _WORDS.choice) or words
                keys.setdefault(_key_stems(words), key)
    return by_stems

"""The keys and values of facts: one key for one thing, however it was called; and whether two values are the same.

"favourite language" and "preferred language" must not both exist, so a key is brought to one form before it is stored:
small letters, one spelling, singular, no words that say nothing; then it is looked up by its stems among the aliases of
the known keys. An unknown key keeps its own plain form. Normalising twice is the same as once.

A known key has one category, whatever category a model files it under: an employer is "identity", also if it came as
"work". Of the known keys some hold one value, as a name does; all others hold several, as allergies do: a second goal
does not replace the first.

Names are compared letter for letter, everything else by its words, whatever form they are in. Where a key holds several
values, two that nearly say the same are one: most of their words are the same, and neither has a name or a number that
the other lacks. Kinds of diet exclude each other: who is pescatarian is no vegetarian any more.

Somebody who tells of ten thousand things that happened has ten thousand facts with one key: so the facts of a slot are
kept by their words, and a found fact is compared only with those that may say the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Generic, TypeVar

from everword.log.access import is_claim
from everword.model import FACT_CATEGORIES, Fact, FactCategory, FoundFact
from everword.text.doc import read_once, spoken_words
from everword.text.english import PROGRAMMING, RELATIONS, is_past, species
from everword.text.terms import analyse, word_terms
from everword.text.word_weights import SPELT_NUMBERS, is_content, stem
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
_ES_PLURALS = ("sses", "shes", "ches", "xes")
_SINGULARS = {plural: word for word, plural in read_table("singulars", "keys", _DATA).items()}
_SINGULARS |= {word: word for word in _WORDS.no_plural}
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

NUMBER_OF = "number of "
"""How a key begins that holds how many of a thing somebody has."""

_HUMP = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")


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
        if canonical.startswith("number "):
            canonical = f"{NUMBER_OF}{_plural(canonical.removeprefix('number '))}"
        if category == "identity" and canonical in RELATIONS:
            canonical = RELATIONS[canonical]
    if category == "preference" and canonical in ("language", "prefers") and value.strip().casefold() in PROGRAMMING:
        return "programming language"
    return canonical


def keys_named(word: str) -> tuple[str, Mapping[str, str]]:
    """What `normalise_key` makes of a word that has no value: in most categories the first, in some of them others."""
    words = _plain_words(word)
    stems = _key_stems(words)
    knowing: Sequence[FactCategory] = [category for category, keys in _keys_by_stems().items() if stems in keys]
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
    """Whether a normalised key holds several values at once: all do, but for numbers and those known to have one."""
    return not key.startswith(NUMBER_OF) and (not is_known(category, key) or key in _SEVERAL.get(category, ()))


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
    spellings = [_SPELLINGS.get(word, word) for word in spoken_words(text)]
    words = tuple(word for spelling in spellings for word in spelling.split())
    return tuple(word for word in words if word not in _WORDS.noise) or words


def _key_stems(words: tuple[str, ...]) -> tuple[str, ...]:
    """What keys are compared by: stems, in any order. Function words count here ("born in"), so each is taken alone."""
    return tuple(sorted(term for word in words for term in word_terms(word, "en") or (word,)))


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def _singular(word: str) -> str:
    if word in _SINGULARS or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return _SINGULARS.get(word, word)
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_ES_PLURALS) and not word.endswith("aches") else word[:-1]


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


NEAR = 0.6
"""The least share of common words of two values that nearly say the same."""

_ARTICLE = lazy_pattern(r"^(?:the|an?|some|any)\s+(?=\S)")
_MARKS = " .,;:!?\"'“”«»()[]"
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
    if fact.key == other.key == "pets":
        kinds = [species(words[-1]) for words in (fact.value.split(), other.value.split()) if len(words) <= 2]
        return len(kinds) == 2 and kinds[0] == kinds[1] != "" and fold(fact.value) != fold(other.value)
    if fact.key == other.key in _RENEWED and other.corrects:
        return True  # "my new number is"
    if fact.key != "diet" or other.key != "diet":
        is_state = fact.key == fact.category == other.category and fact.category not in ("event", "plan")
        return is_state and differs_in_number(fact.value, other.value)
    return bool(_DIET_KIND.search(fact.value) and _DIET_KIND.search(other.value)) and not has_same_value(fact, other)


def exchanged_value(fact: Fact, new: FoundFact) -> str:
    """The value of a fact with what takes the place of something in it; empty if it does not hold that now."""
    old = new.instead_of or ""
    if fact.category == IDENTITY:
        return new.value if fold(fact.value) == fold(old) else ""
    held = re.fullmatch(rf"(\S+\s(?:\S+\s){{0,3}}?)((?:an?|the|their)\s(?:\w+\s)?)?{re.escape(old)}", fact.value)
    is_alike = held is not None and (held[2] is not None) == (_ARTICLE.match(new.value) is not None)
    if held is None or not is_alike or is_past(held[1].split()[0]) or (held[2] is None and old.islower()):
        return ""
    return f"{held[1]}{new.value}"


def differs_in_number(first: str, second: str) -> bool:
    """Whether two sentences of what is so say the same but for one number: "goes to the gym twice a week"."""
    (first_words, first_numbers), (second_words, second_numbers) = map(_split_numbers, (first, second))
    if len(first_words) < COMMON_STEMS or first_words != second_words or is_past(first_words[0]):
        return False
    pairs = list(zip(first_numbers, second_numbers, strict=False))
    return len(first_numbers) == len(second_numbers) and len([pair for pair in pairs if pair[0] != pair[1]]) == 1


def _split_numbers(text: str) -> tuple[list[str], list[str]]:
    words = [word.casefold() for word in spoken_words(text) if word.casefold() not in _WITH_NUMBERS]
    numbers = [word for word in words if word[0].isdigit() or word in SPELT_NUMBERS or word in ("one", "once")]
    return [word for word in words if word not in numbers], numbers


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


@read_once
def _words_by_stem(text: str) -> Mapping[str, str]:
    """The words of a value by their stems; negations too, though they are no content words."""
    words: dict[str, str] = {}
    for word in spoken_words(text):
        if is_content(word.casefold(), "en") or word.casefold() in _NEGATIONS:
            words.setdefault(stem(word, "en"), word)
    return words


_RENEWED = frozenset({"email", "phone"})
_WITH_NUMBERS = frozenset({"now", "so", "far", "already", "currently", "times", "about", "around", "almost"})
UNDONE_BY = {"likes": "dislikes", "dislikes": "likes"}


def is_answered(claim: Fact, own_fact: FoundFact | Fact) -> bool:
    """Whether a person's own fact answers a claim: it says the same, or gives another value of a single-value key."""
    if not has_same_subject(claim, own_fact) or claim.category != own_fact.category:
        return False
    if claim.key != own_fact.key:
        return UNDONE_BY.get(claim.key) == own_fact.key and sense(claim) == sense(own_fact)
    return not holds_several_values(own_fact.category, own_fact.key) or has_same_value(claim, own_fact)


def without_answered_claims(facts: Sequence[Fact]) -> list[Fact]:
    """The facts of one person without the claims that the person's own facts answer."""
    own_facts = [fact for fact in facts if not is_claim(fact)]
    return [fact for fact in facts if not (is_claim(fact) and any(is_answered(fact, answer) for answer in own_facts))]


def has_same_subject(fact: Fact, other: FoundFact | Fact) -> bool:
    """Whether two facts of one person's memory are about the same."""
    return is_same_name(fact.subject, other.subject)


def is_same_name(first: str | None, second: str | None) -> bool:
    return (fold(first) if first else None) == (fold(second) if second else None)


COMPARED_IN_FULL = frozenset({"pets", "diet"})
"""Keys whose values are compared by more than their words."""
FEW = 8
"""Facts of a slot that are compared one by one."""
COMMON_STEMS = 2
"""Words that two values that nearly say the same have in common, at least."""


T = TypeVar("T", int, str)


class ValuesByWords(Generic[T]):
    """Names of values by the words of the values, to find those that may say the same."""

    def __init__(self) -> None:
        self._by_text: dict[object, set[T]] = {}
        self._by_stem: dict[str, set[T]] = {}

    def add(self, name: T, value: str) -> None:
        for text in value_texts(value):
            self._by_text.setdefault(text, set()).add(name)
        for root in value_stems(value):
            self._by_stem.setdefault(root, set()).add(name)

    def with_same_text(self, value: str) -> set[T]:
        """The names of the values that have the same sense."""
        return {name for text in value_texts(value) for name in self._by_text.get(text, ())}

    def with_common_stems(self, value: str) -> dict[T, int]:
        """The names of the values that may nearly say the same, each with how many words they have in common."""
        counts = Counter(name for root in value_stems(value) for name in self._by_stem.get(root, ()))
        return {name: count for name, count in counts.items() if count >= COMMON_STEMS}


class SlotFacts:
    """The facts of a slot by id."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self.by_id: dict[str, Fact] = {}
        self._ids = ValuesByWords[str]()
        for fact in facts:
            self.put(fact)

    def put(self, fact: Fact) -> None:
        """Add a fact, or a newer version of it."""
        known_fact = self.by_id.get(fact.id)
        self.by_id[fact.id] = fact
        if known_fact is None or known_fact.value != fact.value:
            self._ids.add(fact.id, fact.value)

    def remove(self, id: str) -> None:
        """Take a fact out; its words may still lead to its id, where nothing is then."""
        self.by_id.pop(id, None)

    def facts_like(self, found_fact: FoundFact) -> Collection[Fact]:
        """The facts that a found fact may change, or that change what becomes of it; in the order in which they were
        first said, so that it does not matter in which order they were read."""
        if len(self.by_id) <= FEW or not is_compared_by_words(found_fact):
            return self._in_order(self.by_id)
        ids = self._ids.with_same_text(found_fact.value)
        return self._in_order(ids.union(self._ids.with_common_stems(found_fact.value)))

    def _in_order(self, ids: Iterable[str]) -> list[Fact]:
        def order(fact: Fact) -> tuple[datetime, str]:
            return fact.recorded_at, fact.id

        return sorted([self.by_id[id] for id in ids if id in self.by_id], key=order)


class ConnectedValues:
    """Values by their words, to find those that are connected with others: all that have the same sense or nearly say
    the same (`values`), and all that are connected with these. A group of connected values is found once, and grows
    with what is added."""

    def __init__(self) -> None:
        self._values: list[str] = []
        self._numbers = ValuesByWords[int]()
        self._groups: dict[int, set[int]] = {}

    def add(self, value: str) -> None:
        """Add a value; its number is how many were there before."""
        number = len(self._values)
        if self._groups:
            self._join_groups(number, value)
        self._values.append(value)
        self._numbers.add(number, value)

    def connected_with(self, values: Iterable[str]) -> list[int]:
        """The numbers of the values that are connected with some values, in order."""
        numbers: set[int] = set()
        for value in dict.fromkeys(values):
            for number in self._like(value):
                if number not in numbers:
                    numbers |= self._group_of(number)
        return sorted(numbers)

    def _group_of(self, number: int) -> set[int]:
        """The numbers of the values that are connected with one, and its own."""
        group = self._groups.get(number)
        if group is None:
            group = {number}
            waiting = [number]
            while waiting:
                others = set(self._like(self._values[waiting.pop()])) - group
                group |= others
                waiting += others
            self._groups |= dict.fromkeys(group, group)
        return group

    def _join_groups(self, number: int, value: str) -> None:
        """Take a value that is about to be added into the groups that are known of values like it: they are one now."""
        like_numbers = set(self._like(value))
        if not self._groups.keys().isdisjoint(like_numbers):
            group = {number}.union(*map(self._group_of, like_numbers))
            self._groups |= dict.fromkeys(group, group)

    def _like(self, value: str) -> Iterator[int]:
        """The numbers of the values that may say the same as a value; some of them twice."""
        yield from self._numbers.with_same_text(value)
        stems = value_stems(value)
        for number, common in self._numbers.with_common_stems(value).items():
            all_stems = len(stems) + len(value_stems(self._values[number])) - common
            if common >= NEAR * all_stems:
                yield number


def is_compared_by_words(fact: FoundFact) -> bool:
    """Whether only facts that may say the same count for what becomes of a found fact."""
    if fact.retracts or fact.instead_of or fact.until is not None or fact.key in COMPARED_IN_FULL:
        return False
    return holds_several_values(fact.category, fact.key) and not (fact.category == "plan" and fact.corrects)

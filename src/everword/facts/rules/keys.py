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
from everword.word_lists import lazy_pattern

IDENTITY: FactCategory = "identity"
MAX_KEY = 40
"""Characters of a key; what is longer is a sentence, not a key."""

# Each key with the other names it goes by, in the category it belongs to.
_KEYS: dict[FactCategory, dict[str, str]] = {
    "identity": {
        "name": "full name; first name; given name; real name; user name; called; who",
        "surname": "last name; family name; second name",
        "nickname": "nick; alias; known as; screen name",
        "gender": "sex; gender identity",
        "pronouns": "gender pronouns; preferred pronouns",
        "age": "years old; how old",
        "birthday": "date of birth; birth date; dob; born on; bday",
        "birth year": "year of birth; born",
        "birthplace": "place of birth; born in",
        "location": "lives in; city; home; home city; current city; current location; residence; address; country; "
        "place; town; town of residence; place of residence; moved to; living in; based in; country of residence",
        "origin": "from; hometown; home town; home country; country of origin; grew up in; comes from; native country",
        "nationality": "citizenship; citizen of; passport",
        "job": "job title; occupation; profession; works as; role; career; position; current job",
        "employer": "company; works at; works for; workplace; current employer; place of work; firm",
        "school": "university; college; studies at",
        "studies": "study; major; field of study; degree; subject of study; studying",
        "languages": "language; spoken language; languages spoken; speaks; fluent in",
        "native language": "mother tongue; first language; native tongue",
        "time zone": "timezone; tz; utc offset; local time zone",
        "pets": "pet; animals; pet name; pets owned; dog; cat; dog name; cat name; name of dog; name of cat",
        "marital status": "relationship status; family status; civil status; status; married",
        "number of children": "children; kids; number of kids; child count",
        "anniversary": "wedding anniversary; wedding date; wedding day",
        "email": "email address; e-mail; mail; mail address; e-mail address",
        "phone": "phone number; telephone; telephone number; mobile; mobile number; cell",
        "height": "body height; how tall",
        "religion": "faith; religious belief",
    },
    "preference": {
        "likes": "like; loves; enjoys; interests; interest; interested in; hobbies; hobby; fan of; passions; "
        "favourites; "
        "favourite things; favourite hobby; favourite activity",
        "dislikes": "dislike; hates; does not like; cannot stand; pet peeves",
        "prefers": "preference; preferences; prefer",
        "programming language": "coding language; language of choice for programming; code language; coding",
        "colour": "",
        "coding style": "code style; programming style; formatter; code formatting",
    },
    "constraint": {
        "allergies": "allergy; allergic to; food allergies; allergens; allergen; allergic",
        "diet": "dietary restriction; dietary restrictions; diet type; dietary preference; eating habits; food "
        "restriction; "
        "dietary; intolerance; food intolerance; dietary need; dietary requirement",
        "avoids": "avoid; does not eat; does not drink; cannot eat; must not eat; not allowed",
        "conditions": "condition; medical condition; health condition; illness; disability; health; diagnosis; "
        "impairment",
        "budget": "spending limit; price limit",
    },
    "health": {"blood type": "blood group; bloodtype"},
    "instruction": {
        "reply language": "language; answer language; response language; language of answers; reply in; answer in; "
        "respond in; preferred language; output language",
        "call me": "address; form of address; address as; name to use; preferred name; how to address; called",
        "emojis": "emoji; emoji use; use of emojis; smileys",
        "answer length": "length; response length; reply length; verbosity; brevity; answer size; conciseness",
        "tone": "style; answer style; response style; tone of voice; formality; register",
        "units": "unit; unit system; measurement units; measurement system; metric",
        "format": "answer format; response format; output format; formatting; layout",
        "always": "rule; rules; standing rule; must; do; guideline",
        "never": "do not; must not; forbidden; prohibited; avoid; banned",
    },
}

_PEOPLE = """
    brother sister son daughter child friend cousin aunt uncle niece nephew grandson granddaughter colleague neighbour
    roommate twin stepson stepdaughter stepbrother stepsister grandmother grandfather teacher doctor coach mentor tutor
    therapist ex godmother godfather
"""
_SEVERAL: dict[FactCategory, frozenset[str]] = {
    "identity": frozenset({"languages", "pets", "nationality", "nickname", "email", "phone", *_PEOPLE.split()}),
    "preference": frozenset({"likes", "dislikes", "prefers"}),
    "constraint": frozenset({"allergies", "diet", "avoids", "conditions"}),
    "instruction": frozenset({"always", "never"}),
}

# Known keys that are looked for in another category too: an employer is identity, and is what somebody means by work.
_ALSO_IN: dict[FactCategory, frozenset[str]] = {
    "work": frozenset({"job", "employer"}),
    "place": frozenset({"location", "origin", "birthplace"}),
    "relationship": frozenset({"marital status", "number of children", *RELATIONS.values()}),
    "health": frozenset({"allergies", "conditions"}),
    "possession": frozenset({"pets"}),
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

# Words that say nothing in a key, words that every preference has, and spellings that are made one.
_NOISE_WORDS = "my the a an of user users s person i is are am current currently your their his her to"
_NOISE = frozenset(_NOISE_WORDS.split())
_CHOICE_WORDS = "favourite preferred preference prefer best liked most go choice top usual"
_CHOICE = frozenset(_CHOICE_WORDS.split())
_SPELLINGS = {
    "favorite": "favourite", "fave": "favourite", "fav": "favourite", "favourites": "favourite",
    "favorites": "favourite", "color": "colour", "colors": "colour", "flavor": "flavour", "neighbor": "neighbour",
    "organization": "organisation", "theater": "theatre", "center": "centre", "grey": "gray", "behavior": "behaviour",
    "humor": "humour", "programme": "program", "mum": "mother", "mom": "mother", "movie": "film", "movies": "film",
    "doesnt": "does not", "cant": "cannot", "dont": "do not",
}  # fmt: skip
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
        topic_words = tuple(word for word in words if word not in _CHOICE)
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
    return not is_known(category, key) or key in _SEVERAL.get(category, frozenset())


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
    return tuple(word for word in words if word not in _NOISE) or words


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
            for alias in filter(None, map(str.strip, aliases.split(";"))):
                words = _plain_words(alias)
                if category == "preference":
                    words = tuple(word for word in words if word not in _CHOICE) or words
                keys.setdefault(_key_stems(words), key)
    return by_stems

"""English words and verbs: relations, animals, trades; the forms of a verb; whether a sentence has a predicate.

Where a pattern alone would take anything for a fact ("I'm a …", "I have a …", "I speak …"), the word decides. A word
that is not listed is not found: that loses a fact and never adds a false one. A verb that is not listed follows the
rule; where a word could be a verb or another word, the caller knows better.

There is no grammar for predicates: a verb is known from a list of common ones and from the words around it. Auxiliaries
and irregular pasts are verbs anywhere. A word that may as well be a noun ("plan", "works", "changes") counts only where
a verb stands: first in a request, after a subject, or before an object. An "-ing" form alone is no predicate. A
sentence whose verb is not recognised is taken for a fragment, which loses a sentence and never adds a false one.
"""

from __future__ import annotations

import re

from everword.text.detect import function_words
from everword.text.doc import JOINED_WORD, words_before
from everword.word_lists import ENGLISH, Patterns, WordLists, lazy_pattern, read_entries, read_list


def _relations() -> dict[str, str]:
    relations: dict[str, str] = {}
    for line in read_entries(f"{ENGLISH}/facts.txt")["same_relation"].split("\n"):
        key = ""
        for word in line.split():
            key = word[:-1].replace("-", " ") if word.endswith(":") else key
            name = word.rstrip(":").replace("_", " ")
            relations |= dict.fromkeys((name, name.replace("-", " ")), key)
    return relations


RELATIONS = _relations()
"""Words for relations, and the key each is stored under."""

_LISTS = WordLists("facts")
PETS = _LISTS.pets
DIETS = _LISTS.diets
CONDITIONS = _LISTS.conditions
CONDITION_ADJECTIVES = _LISTS.condition_adjectives
LANGUAGES = _LISTS.languages
PROGRAMMING = _LISTS.programming
TRADES = _LISTS.trades
FEELINGS = _LISTS.feelings
PLACES = _LISTS.places
NO_PLACES = _LISTS.no_places
DEMONYMS = _LISTS.demonyms
BELIEFS = _LISTS.beliefs
FOODS = "|".join(read_list("foods", "facts"))
"""Foods of which "I can't have" states a lasting fact, as a pattern."""

_SPECIES = {"puppy": "dog", "kitten": "cat", "bunny": "rabbit"}
_IRREGULAR = {"mice": "mouse", "puppies": "puppy", "bunnies": "bunny", "ponies": "pony", "huskies": "husky"}


def species(word: str) -> str:
    """The animal a word means, in the singular; empty if it means none."""
    plain = word.casefold()
    plain = _IRREGULAR.get(plain, plain)
    if plain not in PETS:
        plain = plain.removesuffix("s")
    return _SPECIES.get(plain, plain) if plain in PETS else ""


LANGUAGE = lazy_pattern(
    r"\b(?:(?:Brazilian|European|Mexican|Swiss|Austrian|British|American|simple|plain|easy)\s)?(?:"
    + "|".join(sorted(LANGUAGES))
    + r"|(?:ASL|BSL|(?:\w+\s)?sign\slanguage))\b",
    re.IGNORECASE,
)


_VERBS = WordLists("verbs")
PAST_FORMS = _VERBS.past_forms
SAME_IN_THE_PAST = _VERBS.same_in_the_past
COMMON_VERBS = _VERBS.common_verbs

_AFTER_A_NAME = {
    "am": "is", "are": "is", "have": "has", "haven't": "hasn't", "do": "does", "don't": "doesn't", "dont": "doesn't",
    "were": "was", "weren't": "wasn't", "ain't": "isn't", "aren't": "isn't", "havent": "hasn't",
}  # fmt: skip
FORMS_AFTER_I = frozenset(_AFTER_A_NAME)
"""Irregular verbs as they are after "I"."""
PERSON_FORMS = frozenset(_AFTER_A_NAME.values())
"""Forms that a verb has only after a name."""

_PREFIXED = re.compile(r"(?:re|over|out|under)(\w{3,})")  # "retook", "overcame"
_DOUBLED = re.compile(r"(?:[^aeiou]|^|qu)[aeiou][bdgklmnprt]$")
_BASES = {
    "is": "am",
    "isn't": "am not",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
    "goes": "go",
}


def is_past(verb: str) -> bool:
    """Whether a verb can only be in the past, or be a participle: "went", "finished"."""
    plain = verb.casefold()
    prefixed = _PREFIXED.fullmatch(plain)
    if prefixed and prefixed[1] in PAST_FORMS and plain not in _VERBS.present_with_prefix:
        return True
    return plain in PAST_FORMS or (plain.endswith("ed") and plain not in _VERBS.present_in_ed and len(plain) > 3)


def form_after_name(verb: str) -> str:
    """The form after a name of a verb after "I"."""
    plain = verb.casefold().replace("’", "'")
    if plain in _AFTER_A_NAME:
        return _AFTER_A_NAME[plain]
    if plain in _VERBS.fixed or (plain.endswith("ed") and plain not in _VERBS.present_in_ed):
        return verb
    if re.search(r"[^aeiou]y$", plain):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if plain.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def gerund(verb: str) -> str:
    """The form in "-ing" of a verb in its plain form: "reading", "making", "swimming"."""
    plain = verb.casefold()
    if plain.endswith("ing") and len(plain) > 4:
        return verb
    if plain.endswith("ie"):
        return f"{verb[:-2]}ying"
    if plain.endswith("e") and not plain.endswith(("ee", "ye", "oe")) and len(plain) > 2:
        return f"{verb[:-1]}ing"
    is_short = len(re.findall(r"[aeiou]+", plain)) == 1
    is_doubled = is_short and _DOUBLED.search(plain) and plain not in _VERBS.not_doubled
    return f"{verb}{verb[-1]}ing" if is_doubled else f"{verb}ing"


def form_after_i(verb: str) -> str:
    """The form after "I" of a verb after a name."""
    plain = verb.casefold().replace("’", "'")
    if plain in _BASES:
        return _BASES[plain]
    if plain in _VERBS.ends_in_s or not plain.endswith("s") or plain.endswith("ss") or len(plain) < 4:
        return verb
    if plain.endswith("ies") and len(plain) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if plain.endswith(("sses", "xes", "zes", "ches", "shes", "oes")) else verb[:-1]


_PATTERNS = Patterns("predicates")
_PREDICATES = WordLists("predicates")
PLAIN_VERBS = _PREDICATES.plain_verbs
SPOKEN_PAST_FORMS = _PREDICATES.past_forms

_SPACED = re.compile(r"\S+")
_STOPS = (".", "!", "?", "…")
_MANY_WORDS = 6  # words of a text that would have an English function word if it was English


def has_predicate(text: str) -> bool:
    """Whether an English sentence has a verb where verbs stand. A text without an English word counts as one."""
    text = text.replace("’", "'")
    if _verb_comes_first(text) or _is_foreign(text):
        return True
    is_question = text.rstrip("\"') ").endswith("?") and _PATTERNS.asks.match(text) is not None
    return _has_verb(text if is_question else _PATTERNS.subordinate.sub("", text))


def _verb_comes_first(text: str) -> bool:
    """Whether a verb stands before all clauses that hang on another: then nothing else need be looked at."""
    if text[:1].isdigit():
        return False
    for word in text.casefold().split():
        if word in _PREDICATES.verb_forms:
            return True
        if word in _PREDICATES.subordinators:
            return False
    return False


def has_verb(text: str) -> bool:
    """Whether there is a verb in a text, be it in a clause that hangs on another: "an app that helps"."""
    return _has_verb(text.replace("’", "'"))


def _has_verb(text: str) -> bool:
    is_quantity = text[:1].isdigit()  # "2 cups of butter, melted", "1 can of beans"
    text_words = [word.casefold() for word in JOINED_WORD.findall(text)]
    if is_quantity:
        text_words = text_words[2:]
    if not _PREDICATES.verb_forms.isdisjoint(text_words) or _PATTERNS.contraction.search(text):
        return True
    if any(match["verb"].casefold() not in _PREDICATES.no_verb for match in _PATTERNS.subject_verb.finditer(text)):
        return True
    return not is_quantity and (_has_present(text) or bool(_PATTERNS.past.search(text)) or _has_request(text))


def _is_foreign(text: str) -> bool:
    """Whether a text is a sentence without an English word; a row of names is none."""
    is_sentence = text.rstrip()[-1:] in _STOPS and "," not in text and ":" not in text
    if not is_sentence or not function_words("en").isdisjoint(text.casefold().split()):
        return False
    text_words = [word.casefold() for word in JOINED_WORD.findall(text) if word.isalpha()]
    return len(text_words) >= _MANY_WORDS and function_words("en").isdisjoint(text_words)


def _has_request(text: str) -> bool:
    """Whether a clause begins with the plain form of a verb."""
    may_follow = _PATTERNS.leads_in.match(text) is not None or ":" in text
    return any(
        match["verb"].casefold() in PLAIN_VERBS and (may_follow or not match[0].startswith((",", ";")))
        for match in _PATTERNS.request.finditer(text)
    )


def _has_present(text: str) -> bool:
    """Whether a verb in the present follows its subject: "tomatoes need sun", "it takes two hours"."""
    before_noun_end: int | None = None
    for match in _PATTERNS.third_person.finditer(text):
        verb = match["verb"].casefold()
        before = words_before(text, match.start()).split()
        if not before or _leads_to_noun(before[-1]):
            continue
        is_counted = text[match.end() + 1 : match.end() + 2].isdigit()
        if not match["object"] and not is_counted and not _PREDICATES.noun_like.isdisjoint((verb[:-1], verb[:-2])):
            if before_noun_end is None:
                before_noun_end = _end_of_first(_PREDICATES.before_noun, text)
            if not match["place"] or before_noun_end > match.start():
                continue  # "long walks on the beach", "points for fantasy books and films"
        if match["object"] or _is_third_person(verb):
            return True
    return any(
        match["verb"] in PLAIN_VERBS and _is_plural(match["subject"].casefold())
        for match in _PATTERNS.after_noun.finditer(text)
    )


def _leads_to_noun(word: str) -> bool:
    return word.casefold() in _PREDICATES.before_noun or word[-1].isdigit()


def _is_third_person(verb: str) -> bool:
    """Whether it is the form after "she" of a known verb: "needs", "goes", "carries"."""
    is_in_es = verb.endswith("es") and verb[:-2] in PLAIN_VERBS
    return is_in_es or verb[:-1] in PLAIN_VERBS or f"{verb[:-3]}y" in PLAIN_VERBS


def _end_of_first(words: frozenset[str], text: str) -> int:
    """Where the first of some words ends in a text; behind the text if it has none."""
    return next((match.end() for match in _SPACED.finditer(text) if match[0].casefold() in words), len(text) + 1)


def _is_plural(word: str) -> bool:
    return word in _PREDICATES.plural_subjects or (word.endswith("s") and word not in function_words("en"))

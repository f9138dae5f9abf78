"""How much facts have to do with a query: by the words they share and, if there are vectors, by their meaning.

A fact is short, and a question often asks for its key and not its value: "what does she like", "where does she live".
So a word of the query also counts if it is another name of the fact's key, and question words count for the keys that
answer them. A rare word counts more than one that many facts have. The result is on the scale of `recall.rules.floor`:
from 0.5 on, a fact is relevant. A fact has few words, so one that it shares with the query is enough for that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.facts.rules.keys import keys_named
from recollect.model import Fact
from recollect.recall.rules.floor import rarity, relevance
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.terms import analyse, query_groups

SHOWN_WORDS = 40
"""Words of a query that are compared with keys; more are a text, and not a question."""
ASKED_KEY = 0.8
"""What a word counts that means the key of a fact, beside one that is in the fact."""
HALF = 0.4
"""What the shared words of a fact must be worth for a relevance of a half: about one word that half of the facts have.
"""

# Words of questions, with the categories and keys that answer them.
_ANSWERS: dict[str, frozenset[str]] = {
    word: frozenset(answers.split("; "))
    for words, answers in (
        ("where", "place; location; origin; birthplace; home"),
        ("live lives living lived moved", "place; location; home"),
        ("who", "relationship; name"),
        ("when", "event; plan; birthday; anniversary"),
        ("old", "age; birthday; birth year"),
        ("work works working job profession living", "work; job; employer; occupation"),
        ("own owns have has", "possession; pets"),
        ("eat eats food cook drink", "diet; allergies; avoids"),
        ("health sick ill doctor", "health; conditions; allergies"),
        ("family married partner children kids", "relationship; marital status; number of children"),
        ("plan plans planning going", "plan"),
        ("enjoy enjoys love loves hobby hobbies fun", "likes"),
        ("hate hates dislike", "dislikes"),
    )
    for word in words.split()
}
_WORD = lazy_pattern(r"[^\W\d_]+")


def fact_text(fact: Fact) -> str:
    """A fact as a text that is searched: whom it is about, its key, its value, and the month of an event or plan."""
    since = fact.valid_from if fact.category in ("event", "plan") else None
    month = _month_text(since.year, since.month) if since is not None else ""
    return " ".join(filter(None, (fact.subject, fact.key, fact.value, month)))


def fact_relevances(
    query: str, facts: Sequence[Fact], deviations: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """For each fact its relevance to a query, from 0 to 1. `deviations` tell how near each is to the query in meaning,
    in standard deviations above unrelated texts."""
    words = shared_words(query, facts)
    nearness = np.zeros(len(facts)) if deviations is None else deviations
    by_chance = relevance(words, nearness, len(facts), personal=False)
    return np.asarray(np.maximum(by_chance, words / (words + HALF)))


def shared_words(query: str, facts: Sequence[Fact]) -> NDArray[np.float64]:
    """For each fact how many words it shares with a query, each counted by how rare it is among the facts."""
    if not facts:
        return np.zeros(0)
    fact_words = _read_fact_words(facts)
    word_places = [_word_places(group, fact_words) for group in query_groups(query, ("en",))]
    key_places = _key_places(query, fact_words)
    all_places = word_places + key_places
    if not all_places:
        return np.zeros(len(facts))
    shares = np.zeros((len(all_places), len(facts)))
    cells = shares.reshape(-1)  # all are set at once: to set them row by row takes longer
    cells[_cell_numbers(word_places, 0, len(facts))] = 1.0
    cells[_cell_numbers(key_places, len(word_places), len(facts))] = ASKED_KEY
    return np.asarray(shares.T @ rarity([*map(len, all_places)], len(facts)))


def _cell_numbers(all_places: Sequence[Collection[int]], first_row: int, width: int) -> list[int]:
    """The numbers of the cells of a table of this width, a row for each of the places from a row on."""
    rows = enumerate(all_places, first_row)
    return [row * width + place for row, places in rows if places for place in places]


@dataclass(frozen=True, slots=True)
class FactWords:
    """The facts of a list by their terms, and by their categories and keys, each as places in the list; and which keys
    a category has, and which categories a key."""

    by_term: Mapping[str, Sequence[int]]
    by_key: Mapping[tuple[str, str], Sequence[int]]
    keys: Mapping[str, Collection[str]]
    categories: Mapping[str, Collection[str]]


def _read_fact_words(facts: Sequence[Fact]) -> FactWords:
    by_term: dict[str, list[int]] = {}
    by_key: dict[tuple[str, str], list[int]] = {}
    for place, fact in enumerate(facts):
        by_key.setdefault((fact.category, fact.key), []).append(place)
        for term in _terms(fact_text(fact)):
            by_term.setdefault(term, []).append(place)
    keys: dict[str, list[str]] = {}
    categories: dict[str, list[str]] = {}
    for category, key in by_key:
        keys.setdefault(category, []).append(key)
        categories.setdefault(key, []).append(category)
    return FactWords(by_term, by_key, keys, categories)


def _word_places(group: tuple[str, ...], fact_words: FactWords) -> Collection[int]:
    """The facts that have a word of a query."""
    known_terms = [term for term in group if term in fact_words.by_term]
    return {place for term in known_terms for place in fact_words.by_term[term]} if known_terms else ()


@lru_cache(maxsize=16_384)
def _terms(text: str) -> frozenset[str]:
    """The terms of a fact. Whatever its language, they are made as in English: it is too short to tell, and the words
    of a query are made so, too."""
    return frozenset(analyse(text, "en").terms)


def _key_places(query: str, fact_words: FactWords) -> list[Collection[int]]:
    """For each word of a question the facts whose key it asks for, unless the key has the word itself."""
    words = dict.fromkeys(_WORD.findall(query.casefold())[:SHOWN_WORDS])
    return [places for word in words if (places := _asked_places(word, fact_words))]


def _asked_places(word: str, fact_words: FactWords) -> Collection[int]:
    """The facts whose key a word of a question names, or whose category or key answers it."""
    usual_key, other_keys = keys_named(word)
    asked_keys: set[tuple[str, str]] = {
        (category, usual_key) for category in fact_words.categories.get(usual_key, ()) if category not in other_keys
    }
    asked_keys.update(other_keys.items())
    for answer in _ANSWERS.get(word, ()):
        asked_keys.update((category, answer) for category in fact_words.categories.get(answer, ()))
        asked_keys.update((answer, key) for key in fact_words.keys.get(answer, ()))
    by_key = fact_words.by_key
    known_keys = [asked for asked in asked_keys if asked in by_key and word not in asked[1]]
    return {place for asked in known_keys for place in by_key[asked]} if known_keys else ()


def _month_text(year: int, month: int) -> str:
    return f"{date(year, month, 1):%B %Y}"

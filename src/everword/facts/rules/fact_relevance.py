"""Facts as they are looked for and shown: how much they have to do with a query, and the lines of a profile.

A question often asks for the key of a fact and not for its value ("where does she live"), so a word of the query also
counts if it is another name of the key, or if the key answers it; a rare word counts more than one that many facts
have. From 0.5 on, a fact is relevant. In a profile each key stands once with all its values, the most important first.
A fact shows the days that somebody told; what happened or is planned without such a day shows when it was said ("said
3 May 2024"), so that a reader can tell the two apart. A fact that somebody else told names the speaker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from everword.facts.rules.deciding import is_occasion
from everword.facts.rules.keys_and_values import is_in_category, keys_named
from everword.log.access import is_claim
from everword.model import FACT_CATEGORIES, Fact, FactCategory
from everword.recall.rules.relevance import rarity, relevance
from everword.text.dates import format_days, month_name
from everword.text.detect import DEFAULT
from everword.text.doc import lower_letter_runs, read_once
from everword.text.escaping import person_byline
from everword.text.language_packs import phrase
from everword.text.terms import analyse, query_groups
from everword.word_lists import read_table

SHOWN_WORDS = 40
"""Words of a query that are compared with keys; more are a text, and not a question."""
ASKED_KEY = 0.8
"""What a word counts that means the key of a fact, beside one that is in the fact."""
HALF = 0.4
"""What the shared words of a fact must be worth for a relevance of a half: about one word that half of the facts have.
"""

_DATA = "facts/rules/data"
_ANSWERED_BY = {
    word: answers.split("; ")
    for words, answers in read_table("answered_by", "profile", _DATA).items()
    for word in words.split()
}
"""Words of questions, with the categories and keys that answer them."""


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
    groups = query_groups(query, ("en",))
    fact_words = _read_fact_words(facts, frozenset(chain.from_iterable(groups)))
    word_places = [_word_places(group, fact_words) for group in groups]
    key_places = _key_places(query, fact_words)
    all_places = word_places + key_places
    if not all_places:
        return np.zeros(len(facts))
    shares = np.zeros((len(all_places), len(facts)))
    for row, places in enumerate(all_places):
        shares[row, [*places]] = 1.0 if row < len(word_places) else ASKED_KEY
    return np.asarray(shares.T @ rarity([*map(len, all_places)], len(facts)))


@dataclass(frozen=True, slots=True)
class FactWords:
    """The facts of a list by the terms of a query, and by their categories and keys, each as places in the list; and
    which keys a category has, and which categories a key."""

    by_term: Mapping[str, Sequence[int]]
    by_key: Mapping[tuple[str, str], Sequence[int]]
    keys: Mapping[str, Collection[str]]
    categories: Mapping[str, Collection[str]]


def _read_fact_words(facts: Sequence[Fact], asked_terms: frozenset[str]) -> FactWords:
    by_term: dict[str, list[int]] = {}
    by_key: dict[tuple[str, str], list[int]] = {}
    for place, fact in enumerate(facts):
        by_key.setdefault((fact.category, fact.key), []).append(place)
        for term in asked_terms & _terms(fact_text(fact)):
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


@read_once
def _terms(text: str) -> frozenset[str]:
    """The terms of a fact. Whatever its language, they are made as in English: it is too short to tell, and the words
    of a query are made so, too."""
    return frozenset(analyse(text, "en").terms)


def _key_places(query: str, fact_words: FactWords) -> list[Collection[int]]:
    """For each word of a question the facts whose key it asks for, unless the key has the word itself."""
    words = dict.fromkeys(lower_letter_runs(query.casefold())[:SHOWN_WORDS])
    return [places for word in words if (places := _asked_places(word, fact_words))]


def _asked_places(word: str, fact_words: FactWords) -> Collection[int]:
    """The facts whose key a word of a question names, or whose category or key answers it."""
    usual_key, other_keys = keys_named(word)
    asked_keys: set[tuple[str, str]] = {
        (category, usual_key) for category in fact_words.categories.get(usual_key, ()) if category not in other_keys
    }
    asked_keys.update(other_keys.items())
    for answer in _ANSWERED_BY.get(word, ()):
        asked_keys.update((category, answer) for category in fact_words.categories.get(answer, ()))
        asked_keys.update((answer, key) for key in fact_words.keys.get(answer, ()))
    by_key = fact_words.by_key
    known_keys = [asked for asked in asked_keys if asked in by_key and word not in asked[1]]
    return {place for asked in known_keys for place in by_key[asked]} if known_keys else ()


def _month_text(year: int, month: int) -> str:
    return f"{month_name(month)} {year}"


HEADINGS = read_table("headings", "profile", _DATA)


def profile_lines(facts: Iterable[Fact]) -> list[str]:
    """The active facts, and past ones that matter, as lines under headings. The text is as it was said: fence it before
    a model sees it."""
    all_facts = list(facts)
    active_facts = [fact for fact in all_facts if fact.active]
    shown_facts = [*active_facts, *past_facts(all_facts, active_facts)]
    lines: list[str] = []
    for category in FACT_CATEGORIES:
        own_facts = [fact for fact in shown_facts if fact.category == category and fact.subject is None]
        lines += _section(HEADINGS[category], own_facts)
    subjects = {fact.subject.casefold(): fact.subject for fact in shown_facts if fact.subject}
    for folded_subject, subject in subjects.items():
        subject_facts = [fact for fact in shown_facts if fact.subject and fact.subject.casefold() == folded_subject]
        lines += _section(f"About {subject}", subject_facts)
    return lines


PAST_CATEGORIES: tuple[FactCategory, ...] = ("relationship", "work", "place", "possession", "health")
LEAST_PAST = 0.5  # importance of what is shown although it has ended


def past_facts(facts: Iterable[Fact], current_facts: Sequence[Fact]) -> list[Fact]:
    """What has ended and still says something of a person: a death, a loss, a job that was left. Not what was denied,
    forgotten or replaced, and not where the key has another value now."""
    past = [
        fact
        for fact in facts
        if not (fact.active or fact.retired_by or is_claim(fact))
        and fact.importance >= LEAST_PAST
        and any(is_in_category(fact.category, fact.key, category) for category in PAST_CATEGORIES)
    ]
    slots = {(fact.subject, fact.category, fact.key) for fact in current_facts} if past else ()
    return [fact for fact in past if (fact.subject, fact.category, fact.key) not in slots]


def value_with_source(fact: Fact) -> str:
    """A fact's value, with its days, and with who said it if it was somebody else."""
    value = value_with_days(fact)
    return f"{value} (says {person_byline(fact.speaker)})" if is_claim(fact) else value


def value_with_days(fact: Fact, language: str = DEFAULT) -> str:
    """A fact's value, with the days that were told; or of what happened or is planned, when it was said. The words for
    that are of a language; the value is as it was said."""
    value = value_with_dates(fact, language)
    if value != fact.value or not is_occasion(fact) or _has_told_day(fact):
        return value
    day = fact.recorded_at.date()
    name = f"{day.day} {month_name(day.month)[:3]} {day.year}" if language == DEFAULT else _name_day(day, language)
    return f"{value} ({phrase(language, 'told', day=name)})"


def value_with_dates(fact: Fact, language: str = DEFAULT) -> str:
    """A fact's value, with its days if they were told; not again if the value names them."""
    notes = []
    start, end = fact.valid_from, fact.valid_to
    if start is not None and _has_told_day(fact):
        if end is not None and is_occasion(fact):
            notes.append(_name_days(start.date(), end.date(), language))
        else:
            notes.append(_beginning(fact, start, language))
    if end is not None and not is_occasion(fact):
        notes.append(phrase(language, "until", day=format_moment(end, language)))
    if end is None and not fact.active:
        notes.append(phrase(language, "past"))
    if not notes or notes[0].removeprefix("on ").removeprefix("in ") in fact.value:
        return fact.value
    return f"{fact.value} ({', '.join(notes)})"


def _has_told_day(fact: Fact) -> bool:
    return fact.valid_from not in (None, fact.recorded_at, fact.said_at)


def _beginning(fact: Fact, start: datetime, language: str) -> str:
    """How the beginning of a fact is told: when it happened, or since when it is so."""
    moment = format_moment(start, language)
    if fact.category == "plan" and fact.key != "plan":
        return phrase(language, "starting", day=moment)
    if not is_occasion(fact):
        return phrase(language, "since", day=moment)
    return moment if language != DEFAULT else f"{'in' if start.day == 1 else 'on'} {moment}"


def format_moment(moment: datetime, language: str = DEFAULT) -> str:
    """A time as closely as it is known: what begins a year is the year, what begins a month the month."""
    if (moment.hour, moment.minute, moment.second, moment.day) != (0, 0, 0, 1):
        return _name_day(moment, language)
    return f"{moment.year}" if moment.month == 1 else _name_day(moment, language, "month")


def _name_days(first: date, last: date, language: str) -> str:
    if language == DEFAULT:
        return format_days(first, last)
    return f"{_name_day(first, language)} – {_name_day(last, language)}"


def _name_day(day: date, language: str, name: str = "day") -> str:
    """A day, or its month, as it is written in a language."""
    month = month_name(day.month) if language == DEFAULT else str(day.month)
    return phrase(language, name, day=str(day.day), month=month, year=str(day.year))


def _section(title: str, facts: Sequence[Fact]) -> list[str]:
    facts_by_key: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=importance_rank):
        facts_by_key.setdefault(fact.key, []).append(fact)
    lines: list[str] = []
    for key, facts_of_key in facts_by_key.items():
        values = [value_with_source(fact) for fact in facts_of_key]
        is_statement = facts_of_key[0].key == facts_of_key[0].category
        lines += [f"- {value}" for value in values] if is_statement else [f"- {key}: {', '.join(values)}"]
    return [title, *lines] if lines else []


def importance_rank(fact: Fact) -> tuple[float, float, str]:
    """The sort key of a fact: the most important first, then the newest."""
    return -fact.importance, -fact.said_at.timestamp(), fact.id

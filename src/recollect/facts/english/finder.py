"""Facts in a message, found by its wording, without a model: in plain English, few and sure rather than many.

What somebody states about themselves, or about somebody they name, is found; what they ask, suppose, quote, joke about,
or feel just now is not. Other languages give nothing. Any text takes a bounded time and raises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from recollect.facts.english.answers import complete_answer
from recollect.facts.english.attributes import FactReading
from recollect.facts.english.clauses import Clause, assertions_in, parse_clauses, prose_sentences, supposes
from recollect.facts.english.instructions import instructions
from recollect.facts.english.patterns import readings
from recollect.facts.english.statements import read_statements
from recollect.facts.english.third_person_retelling import retell_pronouns
from recollect.facts.english.values import name
from recollect.facts.english.words import (
    any_of,
    load_patterns,
    longest_first,
)
from recollect.facts.rules.deciding import acceptable_facts
from recollect.facts.rules.echoes import is_echo
from recollect.facts.rules.values import fold
from recollect.model import FoundFact, Holds
from recollect.text.fact_words import PETS, RELATIONS
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.sentences import Sentence

_MENTIONS = load_patterns(__package__, "mentions")

HEDGED = 0.6
"""The part of a confidence that "I think" leaves."""
SURE = ("identity", "constraint", "instruction")
"""The categories in which what the rules find is added to what a model found."""
HEARSAY = 0.8
"""The part that is left of what somebody says about somebody else."""


def find_facts(
    text: str, today: date | None = None, shown_texts: Sequence[str] = (), question: str = ""
) -> list[FoundFact]:
    """The facts a message states. `today` is the day it was written; `shown_texts` is what the assistant said or was
    shown of memory, so that a repetition of it is marked as an echo; `question` is the line before, by anybody else: an
    answer to it may be no sentence."""
    answer = complete_answer(text, question) if question else ""
    if not answer and not _MENTIONS.hint.search(text):
        return []
    sentences = prose_sentences(text)
    assertions = [*assertions_in(sentences), *filter(None, [answer])]
    facts = [*_relation_mentions(sentences), *_attribute_facts(assertions, today)]
    return _mark_echoes(acceptable_facts(facts), text, shown_texts)


def read_facts(
    text: str, today: date | None = None, shown_texts: Sequence[str] = (), question: str = ""
) -> list[FoundFact]:
    """All that a message tells of its author: the facts that `find_facts` finds, and statements of what they did, do
    and plan. If a statement says the same as a fact, only the fact is kept."""
    sentences = prose_sentences(text)
    answer = complete_answer(text, question) if question else ""
    in_request = any(sentence.is_question for sentence in sentences)
    is_long_ago = _MENTIONS.long_ago.search(text) is not None or _MENTIONS.before_today.search(text) is not None
    facts = [*_relation_mentions(sentences), *_named_animals(sentences)]
    for assertion in (*assertions_in(sentences), *filter(None, [answer])):
        attributes = _attribute_facts([assertion], today)
        statements = read_statements(assertion, today, in_request=in_request, is_long_ago=is_long_ago)
        facts += [*attributes, *(statement for statement in statements if not _repeats(statement, attributes))]
    return _mark_echoes(acceptable_facts(facts), text, shown_texts)


def _repeats(statement: FoundFact, facts: Iterable[FoundFact]) -> bool:
    """Whether a statement says in a sentence what a fact says."""
    words = fold(statement.value)
    return any(fold(fact.value.partition(" (")[0]) in words or fact.key == statement.key for fact in facts)


def _attribute_facts(assertions: list[str], today: date | None) -> list[FoundFact]:
    return acceptable_facts([*_facts_in_clauses(assertions, today), *instructions(assertions)])


def _mark_echoes(facts: list[FoundFact], text: str, shown_texts: Sequence[str]) -> list[FoundFact]:
    """The facts, marked if the text only repeats what was shown."""
    if shown_texts and facts and is_echo(text, shown_texts):
        return [replace(fact, echo=True) for fact in facts]
    return facts


def _facts_in_clauses(assertions: Sequence[str], today: date | None) -> Iterator[FoundFact]:
    for clause in parse_clauses(assertions, today):
        for reading in readings(clause):
            yield _build_fact(reading, clause)


def _build_fact(reading: FactReading, clause: Clause) -> FoundFact:
    span = clause.span
    holds = _holds(reading, clause)
    confidence = reading.confidence * (HEDGED if clause.is_hedged else 1.0)
    if clause.subject is not None:
        confidence *= HEARSAY
    over = holds == "ended"
    return FoundFact(
        reading.category,
        reading.key,
        retell_pronouns(reading.value) if reading.category == "preference" else reading.value,
        confidence,
        reading.importance,
        subject=clause.subject,
        holds=holds,
        corrects=clause.corrects or reading.changes or reading.is_denied,
        since=None if over and span.lasted else span.since or (span.then if reading.changes else None),
        until=span.until or (span.then if over else None),
    )


def _holds(reading: FactReading, clause: Clause) -> Holds:
    if reading.is_denied:
        return "ended" if clause.holds == "ended" else "not"
    if reading.timeless or (reading.survives_negation and clause.holds == "not"):
        return "now" if clause.holds != "not" or reading.survives_negation else "not"
    if clause.holds != "now":
        return clause.holds
    if reading.over or clause.past:
        return "ended"
    return "now"


# Somebody named in passing: "my sister Noor", "my wife, Ana," — in a question too.

_NOT_MENTIONED = {"ex", "child", "baby", "kid", "fish", "bird", "mouse", "rat"}
_KIN = any_of(longest_first({*RELATIONS, *PETS} - _NOT_MENTIONED))
_MENTION = lazy_pattern(rf"\b(?:my|our)\s{_MENTIONS.modifier.pattern}({_KIN}),?\s(?=[^\W\d_])", re.IGNORECASE)
_TITLES = frozenset({"i", "and", "mr", "mrs", "ms", "dr", "prof"})


def _relation_mentions(sentences: Iterable[Sentence]) -> Iterator[FoundFact]:
    for text in (sentence.text for sentence in sentences):
        if _MENTIONS.no_mention.search(text):
            continue
        for mention in _MENTION.finditer(text):
            words = _MENTIONS.as_name.match(text, mention.end())
            given_name = re.sub(r"['’]s?$", "", name(words[0])) if words else ""
            if given_name and not given_name.isupper() and given_name.casefold() not in _TITLES:
                yield from _relation_fact(" ".join(mention[1].casefold().split()), given_name)


def _named_animals(sentences: Iterable[Sentence]) -> Iterator[FoundFact]:
    """The animals that are named in a sentence after the one that tells of them: "I got a dog. Her name is Ada." """
    text = " ".join(sentence.text for sentence in sentences)
    for animal in _MENTIONS.new_animal.finditer(text):
        yield from _relation_fact(animal[1].casefold(), animal[2])


def _relation_fact(kind: str, given_name: str) -> Iterator[FoundFact]:
    if kind in RELATIONS:
        yield FoundFact("identity", RELATIONS[kind], given_name, 0.9, 0.7)
    else:
        yield FoundFact("identity", "pets", f"{given_name} ({kind})", 0.9, 0.6)


# What a message states at all, and what a model found in it


def states_something(text: str) -> bool:
    """Whether a message states anything at all: of one that only asks, no fact of a model is kept."""
    return bool(stated_text(text).strip())


def stated_text(text: str) -> str:
    """What a message states in its author's own words: without what it asks, supposes or quotes."""
    sentences = prose_sentences(text)
    statements = [sentence.text for sentence in sentences if not sentence.is_question and not supposes(sentence.text)]
    return " ".join(assertions_in(sentences) + statements)


def reconcile_facts(by_model: Iterable[FoundFact], by_rules: Sequence[FoundFact]) -> list[FoundFact]:
    """The facts of a model and of the rules in one message. The rules find little, but what they find is sure: for a
    value both found, the rules say whose it is and whether it holds. A fact whose key the model lacks is added."""
    facts: list[FoundFact] = []
    for fact in by_model:
        same_value = [other for other in by_rules if fold(other.value) == fold(fact.value)]
        if same_value and not any(_fact_slot(other) == _fact_slot(fact) for other in same_value):
            facts += same_value
        else:
            facts.append(fact)
    keys = {(fact.category, fact.key) for fact in facts}
    facts += [fact for fact in by_rules if (fact.category, fact.key) not in keys and fact.category in SURE]
    return acceptable_facts(facts)


def _fact_slot(fact: FoundFact) -> tuple[object, ...]:
    return fact.category, fact.key, fact.subject and fold(fact.subject), fact.holds

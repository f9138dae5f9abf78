"""Which statements and facts are meant by "forget that …".

A statement is meant if it says what is to be forgotten, or if it has all the content words, in any form: "forget that
I like tea" matches "Alex likes tea." and never "Alex likes teapots." The best match wins: where one statement says
exactly that, the others stay. "What I said about tea" means every statement about tea. Similarity by vectors counts
only where no word is shared: texts that share words and differ in one are similar, too, but not the same.

"Forget everything" matches nothing: the caller asks back first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.facts.english.words import load_patterns
from recollect.facts.rules.first_to_third_person import first_person, statements_about
from recollect.facts.rules.keys import normalise_key
from recollect.facts.rules.remembered_statements import ParsedStatement, parse_statement
from recollect.facts.rules.values import fold, has_same_value, sense
from recollect.model import Fact, FoundFact
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.terms import analyse

_FORGETTING = load_patterns(__package__, "forgetting")

LIKE = 0.75
"""The cosine from which two texts that share no word may mean the same."""
AHEAD = 0.04
"""How far the most similar must be ahead of the next: where several are similar, none is meant."""
_MAX_SAID = 1_000  # characters

_SELF = frozenset({"me", "myself", "i", "us", "this person", "the user", "them", "him", "her"})


def means_everything(request: str, name: str = "") -> bool:
    """Whether a request is to forget everything about somebody, and not one thing."""
    plain = _plain(request)
    if plain.casefold() in _SELF | {fold(name)} - {""}:
        return True
    match = _FORGETTING.all.match(plain)
    if match is None:
        return False
    person = match["whom"]
    return person is None or fold(person).removeprefix("@") in _SELF | {fold(name)}


def matching_statements(
    name: str, statements: Sequence[str], request: str, similarity: Sequence[float] = ()
) -> list[int]:
    """The numbers, from 1, of the statements that a request means, in order; empty if it means none of them.

    `similarity` gives, for each statement, the cosine of its text and of `target_statement(name, request)`.
    """
    if means_everything(request, name):
        return []
    target = _ForgetTarget.of(name, request)
    readings = [parse_statement(name, text) for text in statements]
    for fits in (target.is_said_by, target.is_asked_of, target.is_within, target.is_key_of):
        numbers = [number for number, candidate in enumerate(readings, 1) if fits(candidate)]
        if numbers:
            return numbers
    return target.most_similar(readings, similarity)


def matching_facts(facts: Sequence[Fact], request: str, *, name: str = "") -> list[Fact]:
    """The active facts that a request means, in order. `name` is the name of the user they are about."""
    active = [fact for fact in facts if fact.active]
    if means_everything(request, name):
        return []
    target = _ForgetTarget.of(name, request)
    exact = [
        fact for fact in active if any(_matches_exactly(fact, target_fact) for target_fact in target.statement.facts)
    ]
    if exact:
        return exact
    if target.asked_key is not None:
        return [fact for fact in active if target.names_key(fact)]
    if target.statement.facts and not target.topical:
        return [
            fact
            for fact in active
            if any(_matches_loosely(fact, target_fact) for target_fact in target.statement.facts)
        ]
    within = [fact for fact in active if target.terms and target.terms <= _terms(fact) and target.may_be_of(fact)]
    return within or [fact for fact in active if target.names_key(fact)]


def target_statement(name: str, request: str) -> str:
    """What a request asks to forget, worded as a statement of a profile."""
    return _ForgetTarget.of(name, request).statement.text


def _plain(request: str) -> str:
    return " ".join(request[:_MAX_SAID].split()).strip(" .!?,;:\"'“”")


class _ForgetTarget:
    """What is to be forgotten: as a statement, if it is one, and its content words."""

    def __init__(self, statement: ParsedStatement, terms: frozenset[str], topical: bool, plain: str) -> None:
        self.statement = statement
        self.terms = terms
        self.topical = topical
        self.plain = plain
        self.asked_key = next((key for pattern, key in _QUESTIONS if pattern.match(plain)), None)

    @classmethod
    def of(cls, name: str, request: str) -> _ForgetTarget:
        plain = _plain(request)
        lead = _FORGETTING.lead.match(plain)
        topical = _FORGETTING.topical.search(lead[0] if lead else "") is not None
        bare = plain[lead.end() :] if lead else plain
        bare = bare or plain
        statements = statements_about(name or "Somebody", bare)
        statement = parse_statement(name or "Somebody", statements[0] if statements else bare)
        terms = frozenset(analyse(first_person(statement.name, statement.text), "en").terms) - _SAYING
        name_terms = frozenset(analyse(name, "en").terms)
        # A thing that is only named, as in "forget coffee", means whatever was said of it.
        states = statement.facts or _FORGETTING.states.search(
            statement.text.removeprefix(statement.name).removeprefix("'s")
        )
        return cls(statement, terms - name_terms or terms, topical or not states, bare)

    def is_said_by(self, candidate: ParsedStatement) -> bool:
        """Whether a statement says exactly this."""
        if self.topical:
            return False
        if candidate.words == self.statement.words:
            return True
        return bool(self.statement.facts) and all(
            any(_is_same_fact(candidate_fact, fact) for candidate_fact in candidate.facts)
            for fact in self.statement.facts
        )

    def is_within(self, candidate: ParsedStatement) -> bool:
        """Whether a statement has all the content words and does not say the opposite."""
        if not self.terms or (not self.topical and ("not" in candidate.words) != ("not" in self.statement.words)):
            return False
        if not self.topical and _is_opposite(self.statement, candidate):
            return False
        if candidate.facts and not any(map(self.may_be_of, candidate.facts)):
            return False
        return self.terms <= frozenset(analyse(candidate.text, "en").terms)

    def may_be_of(self, fact: FoundFact | Fact) -> bool:
        """Whether a fact is about the person meant: "my birthday" is not the birthday of somebody else, whom the
        request would have named."""
        if fact.subject is None or not _FORGETTING.mine.match(self.plain):
            return True
        return bool(self.terms & frozenset(analyse(fact.subject, "en").terms))

    def is_asked_of(self, candidate: ParsedStatement) -> bool:
        """Whether a statement answers this: "where I live"."""
        return self.asked_key is not None and self.is_key_of(candidate)

    def is_key_of(self, candidate: ParsedStatement) -> bool:
        """Whether this only names the key of a fact in a statement: "my birthday"."""
        return any(fact.subject is None and self._is_key(fact) for fact in candidate.facts)

    def names_key(self, fact: Fact) -> bool:
        return fact.subject is None and self._is_key(fact)

    def _is_key(self, fact: FoundFact | Fact) -> bool:
        if self.asked_key is not None:
            return fact.key == self.asked_key
        possession = re.fullmatch(r"(?:my|his|her|their|\S+['’]s)\s(.+)", self.plain, re.IGNORECASE)
        key = normalise_key(fact.category, possession[1] if possession else self.plain)
        # An animal stands for itself: "my dog" is not every pet.
        return key == fact.key and (fact.key != "pets" or fold(self.plain).endswith(("pet", "pets", "animals")))

    def most_similar(self, readings: Sequence[ParsedStatement], similarity: Sequence[float]) -> list[int]:
        """The number of the one statement that means the same in other words."""
        cosines = similarity[: len(readings)]
        by_cosine = sorted(((cosine, number) for number, cosine in enumerate(cosines, 1)), reverse=True)
        if not by_cosine or not by_cosine[0][0] >= LIKE:
            return []
        if len(by_cosine) > 1 and by_cosine[0][0] - by_cosine[1][0] < AHEAD:
            return []
        best = readings[by_cosine[0][1] - 1]
        common_terms = self.terms & frozenset(analyse(best.text, "en").terms)
        if common_terms or ("not" in best.words) != ("not" in self.statement.words):
            return []
        if _is_opposite(self.statement, best):
            return []
        return [by_cosine[0][1]]


_SAID_WORDS = "said say tell told know remember mention thing fact stuff"
_SAYING = frozenset(analyse(_SAID_WORDS, "en").terms)
_QUESTIONS = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), key)
    for pattern, key in (
        (r"where\s(?:i|he|she|they|\S+)\s(?:lives?|am\sliving|is\sliving)", "location"),
        (r"where\s(?:i|he|she|they|\S+)\s(?:works?|is\sworking|am\sworking)", "employer"),
        (r"where\s(?:i|he|she|they|\S+)\s(?:am|is|are|comes?)\sfrom", "origin"),
        (r"how\sold\b", "age"),
        (r"when\s(?:i|he|she|they|\S+)\s(?:was|were)\sborn", "birthday"),
        (r"(?:who\si\sam|what\s(?:i\sam|i['’]m|he\sis|she\sis)\scalled)", "name"),
        (r"what\s(?:i|he|she|they)\sdo(?:es)?(?:\sfor\sa\sliving)?$", "job"),
    )
)


def _is_same_fact(other: FoundFact, fact: FoundFact) -> bool:
    return _place(other) == _place(fact) and sense(other) == sense(fact)


def _is_opposite(first: ParsedStatement, second: ParsedStatement) -> bool:
    """Whether two statements exclude each other: a like and a dislike, two values of one key."""
    return any(
        {was.key, now.key} == {"likes", "dislikes"} or (_place(was) == _place(now) and not _is_within(now, was))
        for was in first.facts
        for now in second.facts
    )


def _is_within(other: FoundFact, fact: FoundFact) -> bool:
    return set(sense(fact)) <= set(sense(other))


def _place(fact: FoundFact | Fact) -> tuple[object, ...]:
    return fact.subject and fold(fact.subject), fact.category, fact.key, isinstance(fact, FoundFact) and fact.retracts


def _matches_exactly(fact: Fact, target_fact: FoundFact) -> bool:
    return _place(fact) == _place(target_fact) and has_same_value(fact, target_fact)


def _matches_loosely(fact: Fact, target_fact: FoundFact) -> bool:
    return _place(fact) == _place(target_fact) and set(sense(target_fact)) <= set(sense(fact))


def _terms(fact: Fact) -> frozenset[str]:
    return frozenset(analyse(f"{fact.subject or ''} {fact.key} {fact.value}", "en").terms)

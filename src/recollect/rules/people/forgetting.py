"""Which statements and facts somebody means who says "forget that …".

A statement is meant if it says what is to be forgotten, or if all the words that matter are in it, in any form: "forget
that I like tea" takes "Alex likes tea." and never "Alex likes teapots." The best match wins: where one statement says
exactly that, the others stay. "What I said about tea" means every statement about tea. Likeness of meaning alone, by
vectors, counts only where no word is shared: texts that share words and differ in one are alike, too, and not the same.

"Forget everything" takes nothing: whoever hears it asks back first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.language.terms import analyse
from recollect.model import Fact, FoundFact
from recollect.rules.facts.deciding import fold, same_value, sense
from recollect.rules.facts.keys import normalise
from recollect.rules.people.statements import Reading, reading
from recollect.rules.people.third_person import first_person, statements_about

LIKE = 0.75
"""The cosine from which two texts that share no word may mean the same."""
AHEAD = 0.04
"""How far the most alike must be before the next: where several are, none is meant."""
_MAX_SAID = 1_000  # characters

_LEAD = re.compile(
    r"^(?:(?:please|about|that|the\sfact\sthat|anything|everything|all(?:\sof)?|whatever|what|the\s(?:thing|stuff|part|bit)"
    r"|stuff|things|(?:ever\s)?(?:that\s)?(?:i|we|you)(?:['’]ve|\shave)?\s(?:just\s|ever\s)?(?:said|told\syou|mentioned|wrote|know|knew"
    r"|remember(?:ed)?|heard|learned|saved|stored|have|noted)|related\sto|regarding|concerning|of|on|to\sdo\swith)\b[,:]?\s*)+",
    re.IGNORECASE,
)
_TOPICAL = re.compile(
    r"\b(?:about|regarding|concerning|related\sto|to\sdo\swith|on)\s|^(?:everything|anything|all|whatever)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"^(?:(?:absolutely\s)?(?:everything|all(?:\sof)?|anything|it\sall|every\s(?:thing|single\sthing)|what(?:ever)?|the\slot)"
    r"(?:\s(?:of\s)?(?:it|that|this|them))?(?:\s(?:that\s)?(?:you|i)(?:['’]ve|\shave)?\s(?:ever\s|just\s|already\s)?(?:know|knew|remember(?:ed)?"
    r"|said|told\syou|have|heard|learned|saved|stored|got|mentioned))?(?:\s(?:so\sfar|until\snow|before|already))?"
    r"|(?:all\s)?(?:my|the)\s(?:entire\s|whole\s|complete\s)?(?:profile|memory|memories|data|facts|information|info|history|records?))"
    r"(?:\s(?:about|on|of|regarding|concerning)\s(?P<whom>.+?))?$",
    re.IGNORECASE,
)
_MINE = re.compile(r"(?:my|our)\s", re.IGNORECASE)
_SELF = frozenset({"me", "myself", "i", "us", "this person", "the user", "them", "him", "her"})


def means_everything(what: str, name: str = "") -> bool:
    """Whether all that is known of somebody is to be forgotten, and not one thing."""
    plain = _plain(what)
    if plain.casefold() in _SELF | {fold(name)} - {""}:
        return True
    found = _ALL.match(plain)
    if found is None:
        return False
    whom = found["whom"]
    return whom is None or fold(whom).removeprefix("@") in _SELF | {fold(name)}


def matching(name: str, statements: Sequence[str], what: str, similarity: Sequence[float] = ()) -> list[int]:
    """The numbers, from 1, of the statements that are meant, in order; none if nothing is known of it.

    `similarity` gives, for each statement, the cosine of its text and of `sought(name, what)`.
    """
    if means_everything(what, name):
        return []
    wanted = _Wanted.of(name, what)
    read = [reading(name, text) for text in statements]
    for fits in (wanted.is_said_by, wanted.is_asked_of, wanted.is_within, wanted.is_key_of):
        found = [number for number, each in enumerate(read, 1) if fits(each)]
        if found:
            return found
    return wanted.alike(read, similarity)


def matching_facts(facts: Sequence[Fact], what: str, *, name: str = "") -> list[Fact]:
    """The active facts that are meant, in order. `name` is what the user they are about is called."""
    active = [fact for fact in facts if fact.active]
    if means_everything(what, name):
        return []
    wanted = _Wanted.of(name, what)
    exact = [fact for fact in active if any(_is(fact, found) for found in wanted.said.facts)]
    if exact:
        return exact
    if wanted.asked is not None:
        return [fact for fact in active if wanted.names_key(fact)]
    if wanted.said.facts and not wanted.topical:
        return [fact for fact in active if any(_fits(fact, found) for found in wanted.said.facts)]
    within = [fact for fact in active if wanted.terms and wanted.terms <= _terms(fact) and wanted.may_be_of(fact)]
    return within or [fact for fact in active if wanted.names_key(fact)]


def sought(name: str, what: str) -> str:
    """What is to be forgotten, as it would stand in a profile."""
    return _Wanted.of(name, what).said.text


def _plain(what: str) -> str:
    return " ".join(what[:_MAX_SAID].split()).strip(" .!?,;:\"'“”")


class _Wanted:
    """What is to be forgotten: as a statement, if it is one, and its words that matter."""

    def __init__(self, said: Reading, terms: frozenset[str], topical: bool, plain: str) -> None:
        self.said = said
        self.terms = terms
        self.topical = topical
        self.plain = plain
        self.asked = next((key for pattern, key in _QUESTIONS if pattern.match(plain)), None)

    @classmethod
    def of(cls, name: str, what: str) -> _Wanted:
        plain = _plain(what)
        lead = _LEAD.match(plain)
        topical = _TOPICAL.search(lead[0] if lead else "") is not None
        bare = plain[lead.end() :] if lead else plain
        bare = bare or plain
        made = statements_about(name or "Somebody", bare)
        said = reading(name or "Somebody", made[0] if made else bare)
        terms = frozenset(analyse(first_person(said.name, said.text), "en").terms) - _SAYING
        own = frozenset(analyse(name, "en").terms)
        # A thing that is only named, as in "forget coffee", means whatever was said of it.
        states = said.facts or _STATES.search(said.text.removeprefix(said.name).removeprefix("'s"))
        return cls(said, terms - own or terms, topical or not states, bare)

    def is_said_by(self, each: Reading) -> bool:
        """Whether a statement says just this."""
        if self.topical:
            return False
        if each.words == self.said.words:
            return True
        return bool(self.said.facts) and all(
            any(_same(known, fact) for known in each.facts) for fact in self.said.facts
        )

    def is_within(self, each: Reading) -> bool:
        """Whether a statement has all the words that matter, and does not say the opposite."""
        if not self.terms or (not self.topical and ("not" in each.words) != ("not" in self.said.words)):
            return False
        if not self.topical and _is_opposite(self.said, each):
            return False
        if each.facts and not any(map(self.may_be_of, each.facts)):
            return False
        return self.terms <= frozenset(analyse(each.text, "en").terms)

    def may_be_of(self, fact: FoundFact | Fact) -> bool:
        """Whether a fact is about one who is meant: "my birthday" is not the birthday of somebody else, who would have
        been named."""
        if fact.subject is None or not _MINE.match(self.plain):
            return True
        return bool(self.terms & frozenset(analyse(fact.subject, "en").terms))

    def is_asked_of(self, each: Reading) -> bool:
        """Whether a statement answers this: "where I live"."""
        return self.asked is not None and self.is_key_of(each)

    def is_key_of(self, each: Reading) -> bool:
        """Whether this only names what a statement tells: "my birthday"."""
        return any(fact.subject is None and self._is_key(fact) for fact in each.facts)

    def names_key(self, fact: Fact) -> bool:
        return fact.subject is None and self._is_key(fact)

    def _is_key(self, fact: FoundFact | Fact) -> bool:
        if self.asked is not None:
            return fact.key == self.asked
        named = re.fullmatch(r"(?:my|his|her|their|\S+['’]s)\s(.+)", self.plain, re.IGNORECASE)
        key = normalise(fact.category, named[1] if named else self.plain)
        # An animal stands for itself: "my dog" is not every pet.
        return key == fact.key and (fact.key != "pets" or fold(self.plain).endswith(("pet", "pets", "animals")))

    def alike(self, read: Sequence[Reading], similarity: Sequence[float]) -> list[int]:
        """The one statement that means the same in other words."""
        ranked = sorted(((cosine, number) for number, cosine in enumerate(similarity[: len(read)], 1)), reverse=True)
        if not ranked or not ranked[0][0] >= LIKE:
            return []
        if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < AHEAD:
            return []
        best = read[ranked[0][1] - 1]
        shared = self.terms & frozenset(analyse(best.text, "en").terms)
        if shared or ("not" in best.words) != ("not" in self.said.words) or _is_opposite(self.said, best):
            return []
        return [ranked[0][1]]


_SAID_WORDS = "said say tell told know remember mention thing fact stuff"
_SAYING = frozenset(analyse(_SAID_WORDS, "en").terms)
_STATES = re.compile(
    r"\b(?:is|are|am|was|were|has|have|does|do|can|will|would|\w{2,}n['’]t|\w{3,}s)\s\S", re.IGNORECASE
)
_QUESTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), key)
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


def _same(known: FoundFact, fact: FoundFact) -> bool:
    return _place(known) == _place(fact) and sense(known) == sense(fact)


def _is_opposite(one: Reading, other: Reading) -> bool:
    """Whether they tell different things of one kind: a like and a dislike, two values of one key."""
    return any(
        {was.key, now.key} == {"likes", "dislikes"} or (_place(was) == _place(now) and not _within(now, was))
        for was in one.facts
        for now in other.facts
    )


def _within(known: FoundFact, fact: FoundFact) -> bool:
    return set(sense(fact)) <= set(sense(known))


def _place(fact: FoundFact | Fact) -> tuple[object, ...]:
    return fact.subject and fold(fact.subject), fact.category, fact.key, isinstance(fact, FoundFact) and fact.retracts


def _is(fact: Fact, found: FoundFact) -> bool:
    return _place(fact) == _place(found) and same_value(fact, found)


def _fits(fact: Fact, found: FoundFact) -> bool:
    return _place(fact) == _place(found) and set(sense(found)) <= set(sense(fact))


def _terms(fact: Fact) -> frozenset[str]:
    return frozenset(analyse(f"{fact.subject or ''} {fact.key} {fact.value}", "en").terms)

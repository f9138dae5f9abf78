"""A profile: short statements about one person, in order, remembered and forgotten by command.

A statement is never changed. A new statement is appended. A statement that it contradicts, or repeats in more words, is
retired and names its replacement; a statement that says the same already is confirmed. All others stay as they were.
The other facts of a retired statement are stated again. Two statements contradict each other if they give one key two
values that cannot both be true, or if one denies the other. In doubt both stay.

Retired statements are kept: undo makes them active again.

"Forget that I like tea" means a statement that says it, or that has all its content words, and never one on teapots;
"what I said about tea" means every statement about tea. Vectors count only where no word is shared. "Forget everything"
matches nothing: the caller asks back first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from everword.errors import InvalidInput
from everword.facts.english.finder import find_facts
from everword.facts.rules.deciding import MAX_SOURCES
from everword.facts.rules.keys_and_values import fold, has_same_value, holds_several_values, normalise_key, sense
from everword.facts.rules.person_shift import first_person, possessive, statements_about
from everword.model import Fact, FoundFact, Statement
from everword.text.detect import detect, function_words
from everword.text.terms import analyse
from everword.word_lists import Patterns, WordLists, read_table

_DATA = "facts/rules/data"
_WORDS = WordLists("statements", folder=_DATA)
_PROFILE_STATEMENTS = Patterns("profile_statements", _DATA)
_FORGETTING = Patterns("forgetting", _DATA)


@dataclass(frozen=True, slots=True)
class ProfileMerge:
    """What new statements change in a profile: the texts to add, and the numbers, from 1, of the statements they
    replace and of those that say the same already. If all are empty there was nothing to remember."""

    added: tuple[str, ...] = ()
    replaced: tuple[int, ...] = ()
    same: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.same)


def _yields_to(statement: ParsedStatement, later: ParsedStatement) -> bool:
    return says_same(statement, later) or contradicts(statement, later)


def merge(name: str, statements: Sequence[str], new: Iterable[str]) -> ProfileMerge:
    """Merge new statements about somebody into the statements of their profile."""
    new_texts: list[str] = []
    replaced_numbers: dict[int, None] = {}
    confirmed_numbers: dict[int, None] = {}
    for text in new:
        addition = parse_statement(name, text)
        same_numbers = [
            number for number, old in enumerate(statements, 1) if says_same(parse_statement(name, old), addition)
        ]
        other_facts: list[FoundFact] = []
        for number, old in enumerate(statements, 1):
            if number not in same_numbers and number not in replaced_numbers:
                known_statement = parse_statement(name, old)
                if contradicts(known_statement, addition) or _covers(addition, known_statement):
                    replaced_numbers[number] = None
                    other_facts += _other_facts(known_statement, addition)
        confirmed_numbers |= dict.fromkeys(same_numbers)
        # Among the new statements the later one wins, too.
        new_texts = [earlier for earlier in new_texts if not _yields_to(parse_statement(name, earlier), addition)]
        texts = ([] if same_numbers else [text]) + [state_fact(name, fact) for fact in other_facts]
        new_texts = list(dict.fromkeys([*new_texts, *texts]))
    return ProfileMerge(
        tuple(new_texts),
        tuple(replaced_numbers),
        tuple(number for number in confirmed_numbers if number not in replaced_numbers),
    )


# The rows of a profile


def rows_after_merge(
    profile: Sequence[Statement],
    change: ProfileMerge,
    *,
    space: str,
    user: str,
    speaker: str,
    said_at: datetime,
    source: str | None = None,
    audience: str | None = None,
) -> list[Statement]:
    """The complete rows to store after a merge into the active statements of a profile: storing them twice is the same
    as once. `source` is the id of the message, if there is one."""
    sources = (source,) if source else ()
    rows = [
        Statement(space, user, _id(space, user, text, source, said_at), text, speaker, said_at, sources, audience)
        for text in change.added
    ]
    for old in _statements_by_number(profile, change.replaced):
        replacement = (
            rows[0].id
            if rows
            else next((statement.id for statement in _statements_by_number(profile, change.same)), None)
        )
        rows.append(_retire(old, said_at, replacement))
    for old in _statements_by_number(profile, change.same):
        new_audience = old.audience if old.audience is not None else audience
        all_sources = old.sources if source is None or source in old.sources else (*old.sources, source)
        first = all_sources[:1]
        last = all_sources[1:][-(MAX_SOURCES - 1) :]
        rows.append(replace(old, said_at=max(old.said_at, said_at), sources=first + last, audience=new_audience))
    return rows


def restore_statement(statement: Statement) -> Statement:
    """A retired statement, made active again."""
    return replace(statement, active=True, retired_at=None, retired_by=None)


def _retire(statement: Statement, when: datetime, by: str | None) -> Statement:
    return replace(statement, active=False, retired_at=when, retired_by=by)


def _statements_by_number(profile: Sequence[Statement], numbers: Iterable[int]) -> list[Statement]:
    positions = list(numbers)
    if any(not 1 <= number <= len(profile) for number in positions):
        raise InvalidInput(
            "numbers", f"are {positions}; must be from 1 to {len(profile)}, the number of entries in the profile"
        )
    return [profile[number - 1] for number in positions]


def _id(space: str, user: str, text: str, source: str | None, said_at: datetime) -> str:
    parts = (space, user, text, source or said_at.isoformat())
    return "s" + hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:19]


# What a statement says


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """A statement as it is compared: word by word, and by the facts that rules find in it."""

    name: str
    text: str
    words: tuple[str, ...]
    facts: tuple[FoundFact, ...]

    @property
    def terms(self) -> frozenset[str]:
        """The content words, without the name."""
        return frozenset(analyse(self.text, "en").terms) - frozenset(analyse(self.name, "en").terms)

    @property
    def extra(self) -> frozenset[str]:
        """The words that are neither in a fact nor a plain way to state one."""
        fact_words = {term for fact in self.facts for term in _stems(f"{fact.value} {fact.subject or ''} {fact.key}")}
        return frozenset(self.words) - fact_words - _PLAIN - set(_stems(self.name))


@lru_cache(maxsize=4096)
def parse_statement(name: str, text: str) -> ParsedStatement:
    """Parse a statement about somebody."""
    facts = find_facts(first_person(name, text))
    return ParsedStatement(name, text, _stems(text), tuple(fact for fact in facts if fact.category != "instruction"))


_SPELT = {word: text for text, words in read_table("spelt", "statements", _DATA).items() for word in words.split()}
_SPELT |= dict.fromkeys(_WORDS.empty, "")


def _stems(text: str) -> tuple[str, ...]:
    """The stems of all words, function words too: "near Rome" is not "in Rome", and "not" counts."""
    stems: list[str] = []
    for word in _PROFILE_STATEMENTS.word.findall(text.casefold().replace("’", "'")):
        for part in _SPELT.get(word, word).split():
            stems += analyse(part, "en").terms or (part,)
    return tuple(stems)


_PLAIN = frozenset(term for word in _WORDS.plain for term in _stems(word))


def says_same(first: ParsedStatement, second: ParsedStatement) -> bool:
    """Whether the second statement adds nothing to the first: the same words, or the same facts and no more."""
    return first.words == second.words or _covers(first, second)


def _covers(wider: ParsedStatement, narrower: ParsedStatement) -> bool:
    """Whether the wider statement has everything that the narrower one says: its facts and its other words."""
    within = all(any(_implies(wide_fact, fact) for wide_fact in wider.facts) for fact in narrower.facts)
    return bool(narrower.facts) and within and narrower.extra <= wider.extra


def _implies(premise: FoundFact, fact: FoundFact) -> bool:
    if _slot(premise) != _slot(fact) or premise.holds != fact.holds:
        return False
    if fact.since not in (None, premise.since) or fact.until not in (None, premise.until):
        return False
    return sense(premise) == sense(fact) or (_is_part(fact, premise) and len(premise.value) > len(fact.value))


def _slot(fact: FoundFact) -> tuple[object, ...]:
    return fact.subject and fold(fact.subject), fact.category, fact.key


def is_said_by_facts(statement: ParsedStatement, facts: Sequence[Fact]) -> bool:
    """Whether facts say all that a statement says."""
    return (
        bool(statement.facts)
        and not statement.extra
        and all(found.holds == "now" and any(_is_same_fact(fact, found) for fact in facts) for found in statement.facts)
    )


def _is_same_fact(fact: Fact, found: FoundFact) -> bool:
    same_key = (fact.category, fact.key) == (found.category, found.key)
    return same_key and fold(fact.subject or "") == fold(found.subject or "") and has_same_value(fact, found)


def contradicts(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Whether two statements cannot both be true."""
    if any(_are_opposed(was, now) for was in old.facts for now in new.facts):
        return True
    if old.words != new.words and _without_not(old.words) == _without_not(new.words):
        return ("not" in old.words) != ("not" in new.words)
    old_attribute = _attribute(old)
    new_attribute = _attribute(new)
    if old_attribute is None or new_attribute is None:
        return False
    return old_attribute[0] == new_attribute[0] and old_attribute[1] != new_attribute[1]


def _are_of_one_subject(was: FoundFact, now: FoundFact) -> bool:
    if not (was.subject and now.subject):
        return was.subject == now.subject
    # "A friend" may be another one.
    may_be_another = holds_several_values("identity", normalise_key("identity", was.subject))
    return fold(was.subject) == fold(now.subject) and not may_be_another


def _are_opposed(was: FoundFact, now: FoundFact) -> bool:
    if not _are_of_one_subject(was, now) or was.category != now.category:
        return False
    has_same_sense = sense(was) == sense(now)
    if {was.key, now.key} == {"likes", "dislikes"}:
        return has_same_sense and was.holds == now.holds == "now"
    if was.key != now.key:
        return False
    if was.retracts or now.retracts:
        return was.retracts != now.retracts and (has_same_sense or (now.retracts and not now.value))
    return not has_same_sense and not holds_several_values(was.category, was.key) and not _is_part(was, now)


def _is_part(was: FoundFact, now: FoundFact) -> bool:
    """Whether one value is only more precise than the other: "Rome" and "Rome, Italy"."""
    old_stems = set(_stems(was.value))
    new_stems = set(_stems(now.value))
    if was.key not in ("location", "job", "birthday", "studies") or not (old_stems and new_stems):
        return False
    return old_stems < new_stems or new_stems < old_stems


def _without_not(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word != "not")


def _attribute(statement: ParsedStatement) -> tuple[object, tuple[str, ...]] | None:
    """An attribute with one value, and the value: "Alex's favourite song is …". None if it may have several values, or
    if it is only described: "Alex's dog is old"."""
    match = _PROFILE_STATEMENTS.attribute.match(statement.text)
    if match is None:
        return None
    attribute = match["what"].casefold()
    if attribute.split()[-1] in _WORDS.no_attribute or not _PROFILE_STATEMENTS.means_one.search(attribute):
        return None
    return _stems(attribute), _stems(match["value"])


# What else a statement said


def _other_facts(old: ParsedStatement, new: ParsedStatement) -> list[FoundFact]:
    """The facts of a contradicted statement that the new statement does not concern."""
    slots = {_slot(fact) for fact in new.facts}
    new_senses = {(*_slot(fact), sense(fact)) for fact in new.facts}
    remaining = [fact for fact in old.facts if not any(_are_opposed(fact, now) for now in new.facts)]
    return [
        fact
        for fact in remaining
        if (*_slot(fact), sense(fact)) not in new_senses
        and (_slot(fact) not in slots or holds_several_values(fact.category, fact.key))
    ]


def facts_not_restated(old: ParsedStatement, new: Sequence[ParsedStatement]) -> list[str]:
    """The facts of a statement, in words, that other statements neither contradict nor repeat."""
    return [
        state_fact(old.name, fact)
        for fact in old.facts
        if not any(_are_opposed(fact, now) or _implies(now, fact) for statement in new for now in statement.facts)
    ]


_TEMPLATES = read_table("templates", "statements", _DATA)


def state_fact(name: str, fact: FoundFact) -> str:
    """A fact as a statement, in plain words."""
    subject = name
    if fact.subject is not None:
        subject = fact.subject if fact.subject[:1].isupper() else f"{possessive(name)} {fact.subject}"
    article = "an " if fact.value[:1].casefold() in "aeiou" else "a "
    template = _TEMPLATES.get(fact.key, "{name}'s {key} is {value}")
    text = template.format(name=subject, key=fact.key, value=fact.value, article=article)
    wordings = {"now": text, "ended": f"It is no longer so that {text}", "not": f"It is not so that {text}"}
    return f"{wordings[fact.holds]}."


# "Remember this about Bob": what was said last


@dataclass(frozen=True, slots=True)
class AuthoredMessage:
    """One message of the conversation so far, and the name of its author."""

    author: str
    text: str


LOOKED_BACK = 10
"""Messages that "this" may mean."""


def recent_statements(name: str, conversation: Sequence[AuthoredMessage]) -> tuple[str, ...]:
    """The last statements about somebody, by them or by others; empty if there are none.

    A remark of one content word ("I agree") is skipped.
    """
    for message in reversed(conversation[-LOOKED_BACK:]):
        is_own = fold(message.author) == fold(name)
        texts = statements_about(name if is_own else message.author, message.text)
        candidates = [parse_statement(name, text) for text in texts if _is_about(name, text)]
        statements = tuple(
            candidate.text for candidate in candidates if candidate.facts or len(candidate.terms) >= _FEWEST_TERMS
        )
        if statements:
            return statements
    return ()


_FEWEST_TERMS = 2


def _is_about(name: str, text: str) -> bool:
    named_early = rf"(?:\S+\s){{0,3}}@?{re.escape(fold(name))}(?!\w)"
    return bool(name.strip()) and re.match(named_early, text.casefold()) is not None


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
    exact = [*filter(target.is_fact, active)]
    if exact:
        return exact
    if target.asked_key is not None:
        return [*filter(target.names_key, active)]
    if target.statement.facts and not target.topical:
        return [*filter(target.is_within_fact, active)]
    return [*filter(target.has_terms_in, active)] or [*filter(target.names_key, active)]


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
        self.asked_key = next((key for key, pattern in _ASKED_KEYS.items() if pattern.match(plain)), None)

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
        terms = terms - _function_terms(detect(bare)) or terms
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
            any(_has_same_sense(candidate_fact, fact) for candidate_fact in candidate.facts)
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
        return any(map(self.names_key, candidate.facts))

    def is_fact(self, fact: Fact) -> bool:
        """Whether a fact says exactly this."""
        own_facts = self.statement.facts
        return any(_place(fact) == _place(own_fact) and has_same_value(fact, own_fact) for own_fact in own_facts)

    def is_within_fact(self, fact: Fact) -> bool:
        """Whether a fact of the same key says this and more."""
        own_facts = self.statement.facts
        return any(_place(fact) == _place(own_fact) and {*sense(own_fact)} <= {*sense(fact)} for own_fact in own_facts)

    def has_terms_in(self, fact: Fact) -> bool:
        """Whether a fact of the person meant has all the content words."""
        fact_terms = analyse(f"{fact.subject or ''} {fact.key} {fact.value}", "en").terms
        return bool(self.terms) and self.terms.issubset(fact_terms) and self.may_be_of(fact)

    def names_key(self, fact: FoundFact | Fact) -> bool:
        if fact.subject is not None or self.asked_key is not None:
            return fact.subject is None and fact.key == self.asked_key
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


_SAYING = frozenset(analyse(" ".join(_WORDS.saying), "en").terms)
_ASKED_KEYS = Patterns("asked_keys", _DATA)
"""Questions that stand for the key that they are named after: "where I live"."""


def _function_terms(language: str) -> frozenset[str]:
    """The function words of a language as terms: "meine" is no content of "forget meine Adresse"."""
    return frozenset(analyse(" ".join(function_words(language)), "en").terms if language != "en" else ())


def _has_same_sense(other: FoundFact, fact: FoundFact) -> bool:
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

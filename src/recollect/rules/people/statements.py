"""A profile: short statements about one person, in order, remembered and forgotten by command.

A statement is never changed. A new one is appended; what it contradicts, or says again in more words, is retired and
names what stands in its place; what is known already is confirmed. Whatever is not contradicted stays as it was, and
what a retired statement said besides is stated anew. Two statements contradict each other if they give one key two
values that cannot both be so, or one denies the other. In doubt they stand side by side.

Retired statements are kept: undoing is making them active again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from recollect.errors import InvalidInput
from recollect.language.terms import analyse
from recollect.model import FoundFact, Statement
from recollect.rules.facts.deciding import MAX_SOURCES, fold, sense
from recollect.rules.facts.keys import is_several, normalise
from recollect.rules.facts_english.finder import find
from recollect.rules.people.third_person import first_person, possessive, statements_about


@dataclass(frozen=True, slots=True)
class Merge:
    """What a new statement does to a profile: what is added to it, and the numbers, from 1, of the statements that it
    takes the place of, and of those that say the same already. If all are empty there was nothing to remember."""

    added: tuple[str, ...] = ()
    replaced: tuple[int, ...] = ()
    same: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.same)


def merge(name: str, statements: Sequence[str], new: Iterable[str]) -> Merge:
    """New statements about somebody, merged into what is known of them."""
    added: list[str] = []
    replaced: dict[int, None] = {}
    same: dict[int, None] = {}
    for text in new:
        made = reading(name, text)
        known = [number for number, old in enumerate(statements, 1) if says_same(reading(name, old), made)]
        rest: list[FoundFact] = []
        for number, old in enumerate(statements, 1):
            if number not in known and number not in replaced:
                was = reading(name, old)
                if contradicts(was, made) or _covers(made, was):
                    replaced[number] = None
                    rest += _besides(was, made)
        same |= dict.fromkeys(known)
        # Of what is said in one breath, too, the later wins.
        added = [
            each
            for each in added
            if not (says_same(reading(name, each), made) or contradicts(reading(name, each), made))
        ]
        told = ([] if known else [text]) + [stated(name, fact) for fact in rest]
        added = list(dict.fromkeys([*added, *told]))
    return Merge(tuple(added), tuple(replaced), tuple(number for number in same if number not in replaced))


# The rows of a profile


def remembered(
    profile: Sequence[Statement],
    merged: Merge,
    *,
    space: str,
    user: str,
    speaker: str,
    said_at: datetime,
    source: str | None = None,
    audience: str | None = None,
) -> list[Statement]:
    """The rows to store after a merge into the active statements of a profile, whole: storing them twice is the same
    as once. `source` is the id of the message, if there is one."""
    sources = (source,) if source else ()
    rows = [
        Statement(space, user, _id(space, user, text, source, said_at), text, speaker, said_at, sources, audience)
        for text in merged.added
    ]
    for old in _chosen(profile, merged.replaced):
        place = rows[0].id if rows else next((each.id for each in _chosen(profile, merged.same)), None)
        rows.append(_retired(old, said_at, place))
    for old in _chosen(profile, merged.same):
        heard = old.audience if old.audience is not None else audience
        kept = old.sources if source is None or source in old.sources else (*old.sources, source)
        first, last = kept[:1], kept[1:][-(MAX_SOURCES - 1) :]
        rows.append(replace(old, said_at=max(old.said_at, said_at), sources=first + last, audience=heard))
    return rows


def forgotten(profile: Sequence[Statement], numbers: Iterable[int], *, when: datetime) -> list[Statement]:
    """The rows to store after statements were forgotten: retired, with nothing in their place."""
    return [_retired(old, when, None) for old in _chosen(profile, numbers)]


def restored(statement: Statement) -> Statement:
    """A retired statement that stands again."""
    return replace(statement, active=True, retired_at=None, retired_by=None)


def _retired(statement: Statement, when: datetime, by: str | None) -> Statement:
    return replace(statement, active=False, retired_at=when, retired_by=by)


def _chosen(profile: Sequence[Statement], numbers: Iterable[int]) -> list[Statement]:
    wanted = list(numbers)
    if any(not 1 <= number <= len(profile) for number in wanted):
        raise InvalidInput("numbers", f"are {wanted}, but the profile has {len(profile)} statements, counted from 1")
    return [profile[number - 1] for number in wanted]


def _id(space: str, user: str, text: str, source: str | None, said_at: datetime) -> str:
    parts = (space, user, text, source or said_at.isoformat())
    return "s" + hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:19]


# What a statement says


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement as it is compared: word by word, and by the facts that rules find in it."""

    name: str
    text: str
    words: tuple[str, ...]
    facts: tuple[FoundFact, ...]

    @property
    def terms(self) -> frozenset[str]:
        """The words that matter, without the name."""
        return frozenset(analyse(self.text, "en").terms) - frozenset(analyse(self.name, "en").terms)

    @property
    def extra(self) -> frozenset[str]:
        """The words that are neither in a fact nor a plain way to state one."""
        told = {term for fact in self.facts for term in _stems(f"{fact.value} {fact.subject or ''} {fact.key}")}
        return frozenset(self.words) - told - _PLAIN - set(_stems(self.name))


@lru_cache(maxsize=4096)
def reading(name: str, text: str) -> Reading:
    """A statement about somebody, read."""
    found = find(first_person(name, text))
    return Reading(name, text, _stems(text), tuple(fact for fact in found if fact.category != "instruction"))


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s.,;:!?\"'“”‘’()…-]")
_SPELT = {"doesn't": "not", "don't": "not", "isn't": "not", "didn't": "not", "aren't": "not", "wasn't": "not"} | {
    "cannot": "can not", "can't": "can not", "won't": "will not", "hasn't": "not", "haven't": "not", "never": "not",
    "does": "", "do": "", "did": "", "a": "", "an": "", "the": "", "also": "", "really": "", "just": "", "that": "",
}  # fmt: skip


def _stems(text: str) -> tuple[str, ...]:
    """Every word, the little ones too: "near Rome" is not "in Rome", and "not" is a word."""
    found: list[str] = []
    for word in _WORD.findall(text.casefold().replace("’", "'")):
        for each in _SPELT.get(word, word).split():
            found += analyse(each, "en").terms or (each,)
    return tuple(found)


_PLAIN_WORDS = """
    i am is are was be been being live lives living lived reside in at as for of to work works working job employed
    based like likes love loves enjoy enjoys hate hates dislike dislikes fan speak speaks have has had own owns called
    named name go goes my prefer prefers favourite favorite not no longer any more anymore allergic eat now move moved
    years old year can from born on it study studies married
"""
_PLAIN = frozenset(term for word in _PLAIN_WORDS.split() for term in _stems(word))


def says_same(one: Reading, other: Reading) -> bool:
    """Whether the second says nothing that the first does not: the same words, or the same facts and no more."""
    return one.words == other.words or _covers(one, other)


def _covers(more: Reading, less: Reading) -> bool:
    """Whether all that one statement says is in another: its facts, and whatever words it has besides."""
    within = all(any(_implies(known, fact) for known in more.facts) for fact in less.facts)
    return bool(less.facts) and within and less.extra <= more.extra


def _implies(known: FoundFact, fact: FoundFact) -> bool:
    if _slot(known) != _slot(fact) or known.holds != fact.holds:
        return False
    if fact.since not in (None, known.since) or fact.until not in (None, known.until):
        return False
    return sense(known) == sense(fact) or (_is_part(fact, known) and len(known.value) > len(fact.value))


def _slot(fact: FoundFact) -> tuple[object, ...]:
    return fact.subject and fold(fact.subject), fact.category, fact.key


def contradicts(old: Reading, new: Reading) -> bool:
    """Whether both cannot be so."""
    if any(_opposed(was, now) for was in old.facts for now in new.facts):
        return True
    if old.words != new.words and _without_not(old.words) == _without_not(new.words):
        return ("not" in old.words) != ("not" in new.words)
    was, now = _attribute(old), _attribute(new)
    return was is not None and now is not None and was[0] == now[0] and was[1] != now[1]


def _opposed(was: FoundFact, now: FoundFact) -> bool:
    if (was.subject and fold(was.subject)) != (now.subject and fold(now.subject)) or was.category != now.category:
        return False
    if was.subject and is_several("identity", normalise("identity", was.subject)):
        return False  # "a friend" may be another one
    same = sense(was) == sense(now)
    if {was.key, now.key} == {"likes", "dislikes"}:
        return same and was.holds == now.holds == "now"
    if was.key != now.key:
        return False
    if was.retracts or now.retracts:
        return was.retracts != now.retracts and (same or (now.retracts and not now.value))
    return not same and not is_several(was.category, was.key) and not _is_part(was, now)


def _is_part(was: FoundFact, now: FoundFact) -> bool:
    """Whether one value only says the other more closely: "Rome" and "Rome, Italy"."""
    one, other = set(_stems(was.value)), set(_stems(now.value))
    return (
        was.key in ("location", "job", "birthday", "studies") and bool(one and other) and (one < other or other < one)
    )


def _without_not(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word != "not")


_OF_ONE = re.compile(
    r"^(?P<what>(?:\S.{0,80}?['’]s|The|the)\s(?:[^\W\d_][\w-]*\s){0,3}[^\W\d_][\w-]*)\s(?:is|was)\s(?P<value>\S.*)$"
)
_NO_ATTRIBUTE = frozenset(
    {"friend", "brother", "sister", "son", "daughter", "child", "cousin", "colleague", "dog", "cat", "pet"}
)


def _attribute(one: Reading) -> tuple[object, tuple[str, ...]] | None:
    """ "Alex's favourite song is …": what has one value, and the value; None if it may have several, or be only
    described: "Alex's dog is old"."""
    found = _OF_ONE.match(one.text)
    if found is None:
        return None
    what = found["what"].casefold()
    if what.split()[-1] in _NO_ATTRIBUTE or not re.search(_MEANS_ONE, what):
        return None
    return _stems(what), _stems(found["value"])


_MEANS_ONE = (
    r"\b(?:name|nickname|birthday|age|number|address|email|code|password|size|height|weight|colou?r|title"
    r"|username|handle|time\s?zone|type|status|car|bike|laptop|team|deadline|budget|real\s\w+|native\s\w+)$|['’]s\sfavou?rite\s"
)


# What else a statement said


def _besides(old: Reading, new: Reading) -> list[FoundFact]:
    """The facts of a contradicted statement that the new one leaves alone."""
    slots = {_slot(fact) for fact in new.facts}
    known = {(*_slot(fact), sense(fact)) for fact in new.facts}
    left = [fact for fact in old.facts if not any(_opposed(fact, now) for now in new.facts)]
    return [
        fact
        for fact in left
        if (*_slot(fact), sense(fact)) not in known
        and (_slot(fact) not in slots or is_several(fact.category, fact.key))
    ]


def unrestated(old: Reading, new: Sequence[Reading]) -> list[str]:
    """The facts of a statement, in words, that others neither contradict nor say again."""
    return [
        stated(old.name, fact)
        for fact in old.facts
        if not any(_opposed(fact, now) or _implies(now, fact) for each in new for now in each.facts)
    ]


_TEMPLATES = {
    "name": "{name} is called {value}", "location": "{name} lives in {value}", "origin": "{name} is from {value}",
    "job": "{name} works as {article}{value}", "employer": "{name} works at {value}",
    "age": "{name} is {value} years old",
    "languages": "{name} speaks {value}", "likes": "{name} likes {value}", "dislikes": "{name} dislikes {value}",
    "prefers": "{name} prefers {value}", "allergies": "{name} is allergic to {value}", "diet": "{name} is {value}",
    "avoids": "{name} avoids {value}", "marital status": "{name} is {value}", "studies": "{name} studies {value}",
    "birthplace": "{name} was born in {value}", "nationality": "{name} is {value}",
    "school": "{name} studies at {value}",
}  # fmt: skip


def stated(name: str, fact: FoundFact) -> str:
    """A fact as a statement, in plain words."""
    who = (
        name
        if fact.subject is None
        else fact.subject
        if fact.subject[:1].isupper()
        else f"{possessive(name)} {fact.subject}"
    )
    article = "an " if fact.value[:1].casefold() in "aeiou" else "a "
    template = _TEMPLATES.get(fact.key, "{name}'s {key} is {value}")
    text = template.format(name=who, key=fact.key, value=fact.value, article=article)
    denied = {"now": text, "ended": f"It is no longer so that {text}", "not": f"It is not so that {text}"}
    return f"{denied[fact.holds]}."


# "Remember this about Bob": what was said last


@dataclass(frozen=True, slots=True)
class Heard:
    """One message of the conversation so far, and the name of who wrote it."""

    author: str
    text: str


LOOKED_BACK = 10
"""Messages that "this" may mean."""


def just_said(name: str, conversation: Sequence[Heard]) -> tuple[str, ...]:
    """What was said last about somebody, by them or by others, as statements; none if nothing was.

    A remark of one word ("I agree") is passed over.
    """
    for heard in reversed(conversation[-LOOKED_BACK:]):
        own = fold(heard.author) == fold(name)
        made = statements_about(name if own else heard.author, heard.text)
        read = [reading(name, text) for text in made if _is_about(name, text)]
        told = tuple(each.text for each in read if each.facts or len(each.terms) >= _FEWEST_TERMS)
        if told:
            return told
    return ()


_FEWEST_TERMS = 2


def _is_about(name: str, text: str) -> bool:
    return (
        re.match(rf"(?:\S+\s){{0,3}}@?{re.escape(fold(name))}(?!\w)", text.casefold()) is not None
        if name.strip()
        else False
    )

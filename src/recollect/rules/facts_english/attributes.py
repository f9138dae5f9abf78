"""Facts of the form "my X is Y": a name, a birthday, a favourite colour, what a sister or a dog is called.

What X is decides which fact it is and what Y may be; an X that nobody knows gives nothing. `Reading` is here too: what
one wording says, before it is known whose it is and whether it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.language.lexicon import DEMONYMS, RELATIONS, species
from recollect.model import FactCategory
from recollect.rules.facts.keys import normalise
from recollect.rules.facts_english.clauses import Clause
from recollect.rules.facts_english.values import company, languages, name, place, thing, things, trade

EVERY = ""
"""The value that means all of a key: "I have no pets"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One fact in a clause, before it is known whose it is and whether it holds.

    `changes` marks a wording that tells of a change ("moved to"), `over` one that tells of an end ("quit"), `denied` a
    value that is not so ("not Bern"), and `timeless` what does not end by being past ("was born in").
    """

    category: FactCategory
    key: str
    value: str
    confidence: float = 0.95
    importance: float = 0.7
    changes: bool = False
    over: bool = False
    denied: bool = False
    timeless: bool = False
    flat: bool = False
    """Whether a negated clause states it all the same: "I don't eat meat" avoids meat."""


_PLACE_KEYS = ("origin", "location", "birthplace")
_NAME_KEYS = {"name": 1.0, "surname": 0.95, "nickname": 0.95}
WHEN = re.compile(
    r"(?:(?:on|in)\s)?(?:the\s)?(\d{1,2}(?:st|nd|rd|th)?(?:\sof)?\s[A-Za-z]{3,9}\b(?:,?\s\d{4})?"
    r"|[A-Za-z]{3,9}\s\d{1,2}(?:st|nd|rd|th)?\b(?:,?\s\d{4})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?|(?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December)\b(?:\s\d{4})?)"
)
YEAR = re.compile(r"in\s((?:19|20)\d\d)\b")
AGE = re.compile(r"(\d{1,3})(?:\syears(?:\s|-)old|\syo)?(?=$|\s*[.,!]|\sand\b|\syears\b)")
PRONOUNS = re.compile(r"((?:he|she|they|ze|xe|it|any|ey|fae)(?:\s?/\s?\w+)+)", re.IGNORECASE)
ZONE = re.compile(
    r"((?:UTC|GMT)\s?[+-]\s?\d{1,2}(?::?\d\d)?|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|(?:UTC|GMT|[CEMP][SDE]?T|CEST|EEST|BST"
    r"|IST|JST|AEST|WET|EET|MSK|SGT|AKST|HST|NZST|KST|PKT)\b"
    r"|(?:Pacific|Eastern|Central|Mountain)(?=\s(?:time\b|standard)|$))"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+?\d[\d\s()/-]{5,18}\d")
_CHOICE = re.compile(r"(?:all-time\s)?(?:favou?rite|preferred|fave?|go-to)\s(.+)", re.IGNORECASE)
_NO_CHOICE = re.compile(
    r"(?:things?|parts?|way|ones?|time|memory|memories|moment|bit|example|option|answer|version|line)\b"
)
_NAME_OF = re.compile(r"(?:[\w-]+\s){0,2}?([\w-]+)(?:'s)?\sname$", re.IGNORECASE)
CONTRAST = re.compile(r",?\s(?:(?:but|and)\s)?not\s(?:in\s|at\s|on\s|to\s|for\s|a\s|an\s)?(.+)$", re.IGNORECASE)
_CALLED = re.compile(r"(?:called|named)\s", re.IGNORECASE)


def attributes(clause: Clause) -> Iterator[Reading]:
    """The facts in a clause that says what something of somebody is; "Rob, not Bob" denies one too."""
    what, value = clause.attribute.casefold(), clause.said
    contrast = CONTRAST.search(value)
    value = value[: contrast.start()] if contrast else value
    found = list(_valued(what, value, clause))
    yield from found
    if contrast and found:
        for each in _valued(what, contrast[1], clause):
            yield Reading(each.category, each.key, each.value, each.confidence, each.importance, denied=True)


def _valued(what: str, value: str, clause: Clause) -> Iterator[Reading]:
    choice = _CHOICE.fullmatch(what)
    if choice:
        liked, sort = thing(value), re.sub(r"^(?:type|kind|sort|genre)s?\sof\s", "", choice[1])
        if liked and clause.subject is None and len(sort.split()) <= 3 and not _NO_CHOICE.match(sort):
            yield Reading("preference", sort, liked, 0.95, 0.6)
        return
    called = _CALLED.match(value)
    of = _NAME_OF.match(what)
    kind = of[1] if of else what if called or _is_relation(what) else ""
    if kind and not (of and kind in ("full", "first", "last", "family", "real", "given", "middle", "user", "second")):
        yield from named(kind, value[called.end() :] if called else value)
        return
    key = normalise("identity", what)
    if key in _NAME_KEYS and what != "middle name":
        given = name(value, small=clause.small or clause.said.islower())
        if given and not (clause.holds == "not" and given.islower()):
            sure = 0.95 if what == "full name" else _NAME_KEYS[key]
            yield Reading("identity", key, given, sure, 1.0 if key == "name" else 0.8)
    elif key in ("birthday", "anniversary"):
        day = WHEN.match(value)
        if day:
            yield Reading("identity", key, day[1], 0.95, 0.8)
    elif key in _PLACE_KEYS and what not in ("home", "address", "place", "country", "town", "city"):
        if where := place(value, small=clause.small):
            yield Reading("identity", key, where, 0.95, 0.8)
    else:
        yield from _plain_value(key, what, value, clause)


def _plain_value(key: str, what: str, value: str, clause: Clause) -> Iterator[Reading]:
    if key == "job" and (work := trade(value, loose=True)[0]):
        yield Reading("identity", "job", work, 0.95, 0.8)
    elif key == "employer" and (firm := company(value)):
        yield Reading("identity", "employer", firm, 0.9, 0.7)
    elif key == "native language" or (key == "languages" and what.startswith(("first", "native"))):
        yield from (Reading("identity", "native language", one, 0.95, 0.8) for one in languages(value)[:1])
    elif key == "pronouns" and (forms := PRONOUNS.match(value)):
        yield Reading("identity", "pronouns", forms[1], 1.0, 0.9)
    elif key == "time zone" and (zone := ZONE.match(value)):
        yield Reading("identity", "time zone", zone[1], 0.95, 0.8)
    elif key == "email" and (mail := _MAIL.match(value)):
        yield Reading("identity", "email", mail[0], 1.0, 0.7)
    elif key == "phone" and (phone := _PHONE.match(value)):
        yield Reading("identity", "phone", phone[0], 1.0, 0.7)
    elif key == "age" and (years := AGE.match(value)):
        yield Reading("identity", "age", years[1], 0.95, 0.6)
    elif key == "nationality" and (people := _first_word(value).strip(".,!")).casefold() in DEMONYMS:
        yield Reading("identity", "nationality", people, 0.95, 0.6)
    elif what in ("hobby", "hobbies", "interests", "passion", "passions"):
        yield from (Reading("preference", "likes", one, 0.95, 0.5) for one in things(value))


def named(kind: str, value: str) -> Iterator[Reading]:
    """Somebody or some animal, by name."""
    given = name(value, small=False)
    relation = RELATIONS.get(kind.casefold()) or RELATIONS.get(_last_word(kind.casefold()))
    if given and relation:
        yield Reading("identity", relation, given, 0.95, 0.7)
    elif given and species(kind):
        yield Reading("identity", "pets", f"{given} ({species(kind)})", 0.95, 0.6)


def _is_relation(what: str) -> bool:
    return what in RELATIONS or _last_word(what) in RELATIONS


def _first_word(text: str) -> str:
    return "".join(text.split()[:1])


def _last_word(text: str) -> str:
    return "".join(text.split()[-1:])

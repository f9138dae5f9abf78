"""Facts of the form "my X is Y": a name, a birthday, a favourite colour, what a sister or a dog is called.

X decides which fact it is and what Y may be; an unknown X gives nothing. `FactReading` is defined here too: the fact
in one wording, before it is known whose it is and whether it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.facts.english.clauses import Clause
from recollect.facts.english.values import company, languages, name, place, thing, things, trade
from recollect.facts.english.words import load_patterns
from recollect.facts.rules.keys import normalise_key
from recollect.model import FactCategory
from recollect.text.fact_words import DEMONYMS, RELATIONS, species

_ATTRIBUTES = load_patterns(__package__, "attributes")

EVERY = ""
"""The value that means all of a key: "I have no pets"."""


@dataclass(frozen=True, slots=True)
class FactReading:
    """One fact in a clause, before it is known whose it is and whether it holds.

    `changes` marks a wording that reports a change ("moved to"), `over` one that reports an end ("quit"), `is_denied` a
    value that is denied ("not Bern"), and `timeless` what does not end by being past ("was born in").
    """

    category: FactCategory
    key: str
    value: str
    confidence: float = 0.95
    importance: float = 0.7
    changes: bool = False
    over: bool = False
    is_denied: bool = False
    timeless: bool = False
    survives_negation: bool = False
    """Whether a negated clause still states it: "I don't eat meat" avoids meat."""


_PLACE_KEYS = ("origin", "location", "birthplace")
_NAME_KEYS = {"name": 1.0, "surname": 0.95, "nickname": 0.95}


def attribute_readings(clause: Clause) -> Iterator[FactReading]:
    """The facts in a clause that says what something of somebody is; "Rob, not Bob" denies one too."""
    attribute = clause.attribute.casefold()
    value = clause.text
    contrast = _ATTRIBUTES.contrast.search(value)
    value = value[: contrast.start()] if contrast else value
    readings = list(_value_readings(attribute, value, clause))
    yield from readings
    if contrast and readings:
        for reading in _value_readings(attribute, contrast[1], clause):
            yield FactReading(
                reading.category, reading.key, reading.value, reading.confidence, reading.importance, is_denied=True
            )


def _value_readings(attribute: str, value: str, clause: Clause) -> Iterator[FactReading]:
    choice = _ATTRIBUTES.choice.fullmatch(attribute)
    if choice:
        favourite = thing(value)
        sort = re.sub(r"^(?:type|kind|sort|genre)s?\sof\s", "", choice[1])
        if favourite and clause.subject is None and len(sort.split()) <= 3 and not _ATTRIBUTES.no_choice.match(sort):
            yield FactReading("preference", sort, favourite, 0.95, 0.6)
        return
    called_match = _ATTRIBUTES.called.match(value)
    name_of = _ATTRIBUTES.name_of.match(attribute)
    kind = name_of[1] if name_of else attribute if called_match or _is_relation(attribute) else ""
    if kind and not (
        name_of and kind in ("full", "first", "last", "family", "real", "given", "middle", "user", "second")
    ):
        yield from name_readings(kind, value[called_match.end() :] if called_match else value)
        return
    key = normalise_key("identity", attribute)
    if key in _NAME_KEYS and attribute != "middle name":
        given_name = name(value, lowercase=clause.lowercase or clause.text.islower())
        if given_name and not (clause.holds == "not" and given_name.islower()):
            confidence = 0.95 if attribute == "full name" else _NAME_KEYS[key]
            yield FactReading("identity", key, given_name, confidence, 1.0 if key == "name" else 0.8)
    elif key in ("birthday", "anniversary"):
        day = _ATTRIBUTES.when.match(value)
        if day:
            yield FactReading("identity", key, day[1], 0.95, 0.8)
    elif key in _PLACE_KEYS and attribute not in ("home", "address", "place", "country", "town", "city"):
        if place_name := place(value, lowercase=clause.lowercase):
            yield FactReading("identity", key, place_name, 0.95, 0.8)
    else:
        yield from _simple_value_readings(key, attribute, value, clause)


def _simple_value_readings(key: str, attribute: str, value: str, clause: Clause) -> Iterator[FactReading]:
    if key == "job" and (work := trade(value, loose=True)[0]):
        yield FactReading("identity", "job", work, 0.95, 0.8)
    elif key == "employer" and (firm := company(value)):
        yield FactReading("identity", "employer", firm, 0.9, 0.7)
    elif key == "native language" or (key == "languages" and attribute.startswith(("first", "native"))):
        yield from (
            FactReading("identity", "native language", language, 0.95, 0.8) for language in languages(value)[:1]
        )
    elif key == "pronouns" and (forms := _ATTRIBUTES.pronouns.match(value)):
        yield FactReading("identity", "pronouns", forms[1], 1.0, 0.9)
    elif key == "time zone" and (zone := _ATTRIBUTES.zone.match(value)):
        yield FactReading("identity", "time zone", zone[1], 0.95, 0.8)
    elif key == "email" and (mail := _ATTRIBUTES.mail.match(value)):
        yield FactReading("identity", "email", mail[0], 1.0, 0.7)
    elif key == "phone" and (phone := _ATTRIBUTES.phone.match(value)):
        yield FactReading("identity", "phone", phone[0], 1.0, 0.7)
    elif key == "age" and (years := _ATTRIBUTES.age.match(value)):
        yield FactReading("identity", "age", years[1], 0.95, 0.6)
    elif key == "nationality" and (people := _first_word(value).strip(".,!")).casefold() in DEMONYMS:
        yield FactReading("identity", "nationality", people, 0.95, 0.6)
    elif attribute in ("hobby", "hobbies", "interests", "passion", "passions"):
        yield from (FactReading("preference", "likes", hobby, 0.95, 0.5) for hobby in things(value))


def name_readings(kind: str, value: str) -> Iterator[FactReading]:
    """A person or an animal, by name."""
    given_name = name(value, lowercase=False)
    relation = RELATIONS.get(kind.casefold()) or RELATIONS.get(_last_word(kind.casefold()))
    if given_name and relation:
        yield FactReading("identity", relation, given_name, 0.95, 0.7)
    elif given_name and species(kind):
        yield FactReading("identity", "pets", f"{given_name} ({species(kind)})", 0.95, 0.6)


def _is_relation(attribute: str) -> bool:
    return attribute in RELATIONS or _last_word(attribute) in RELATIONS


def _first_word(text: str) -> str:
    return "".join(text.split()[:1])


def _last_word(text: str) -> str:
    return "".join(text.split()[-1:])

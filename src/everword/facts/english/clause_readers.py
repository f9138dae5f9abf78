"""Which clause is which fact: "my X is Y" by what X is, all others by a table of verbs, each with a reader.

A pattern is matched from the first word of a clause, so nothing is found in the middle of another thought; an unknown X
gives nothing. A fact has a confidence, from its wording, and an importance: how much it matters later, an allergy more
than a taste.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from everword.facts.english import DATA, WORDS
from everword.facts.english.clauses import Clause
from everword.facts.english.values import animals, company, condition, languages, name, place, thing, things, trade
from everword.facts.rules.keys_and_values import normalise_key
from everword.model import FactCategory
from everword.text import english
from everword.text.dates import strip_final_time
from everword.word_lists import Patterns

_ATTRIBUTES = Patterns("attributes", DATA, WORDS)
_READINGS = Patterns("readings", DATA, WORDS)

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
    instead_of: str | None = None


def readings(clause: Clause) -> Iterator[FactReading]:
    """The facts in a clause."""
    if clause.attribute:
        yield from attribute_readings(clause)
        return
    for verb, (read, fact) in _READERS.items():
        match = getattr(_VERBS, verb).match(clause.text)
        if match:
            yield from read(clause.text[match.end() :].strip(), clause, fact)
            return


def _split_contrast(text: str) -> tuple[str, str]:
    """A text in two: what is so, and what is denied of it. "Rob, not Bob" denies Bob."""
    contrast = _ATTRIBUTES.contrast.search(text)
    return (text[: contrast.start()], contrast[1]) if contrast else (text, "")


def _deny(readings: Iterable[FactReading]) -> Iterator[FactReading]:
    for reading in readings:
        yield FactReading(
            reading.category, reading.key, reading.value, reading.confidence, reading.importance, is_denied=True
        )


# "My X is Y"

_PLACE_KEYS = ("origin", "location", "birthplace")
_VAGUE_PLACES = ("home", "address", "place", "country", "town", "city")
_NAME_KEYS = {"name": 1.0, "surname": 0.95, "nickname": 0.95}
_PARTS_OF_NAMES = ("full", "first", "last", "family", "real", "given", "middle", "user", "second")
_HOBBIES = ("hobby", "hobbies", "interests", "passion", "passions")
# Keys whose values have a form: the pattern of it, the confidence and the importance.
_FORMS = {
    "birthday": ("when", 0.95, 0.8),
    "anniversary": ("when", 0.95, 0.8),
    "pronouns": ("pronouns", 1.0, 0.9),
    "time zone": ("zone", 0.95, 0.8),
    "email": ("mail", 1.0, 0.7),
    "phone": ("phone", 1.0, 0.7),
    "age": ("age", 0.95, 0.6),
}


def attribute_readings(clause: Clause) -> Iterator[FactReading]:
    """The facts in a clause that says what something of somebody is; "Rob, not Bob" denies one too."""
    attribute = clause.attribute.casefold()
    value, denied_value = _split_contrast(clause.text)
    stated_readings = list(_value_readings(attribute, value, clause))
    yield from stated_readings
    if denied_value and stated_readings:
        yield from _deny(_value_readings(attribute, denied_value, clause))


def _value_readings(attribute: str, value: str, clause: Clause) -> Iterator[FactReading]:
    choice = _ATTRIBUTES.choice.fullmatch(attribute)
    if choice:
        yield from _favourite_readings(choice[1], value, clause)
        return
    called = _ATTRIBUTES.called.match(value)
    name_of = _ATTRIBUTES.name_of.match(attribute)
    kind = name_of[1] if name_of else attribute if called or _is_relation(attribute) else ""
    if kind and not (name_of and kind in _PARTS_OF_NAMES):
        yield from name_readings(kind, value[called.end() :] if called else value)
        return
    key = normalise_key("identity", _ATTRIBUTES.newer.sub("", attribute))
    changes = _ATTRIBUTES.newer.match(attribute) is not None
    for reading in _identity_readings(key, attribute, value, clause):
        yield replace(reading, changes=changes or reading.changes)


def _name_readings(key: str, attribute: str, value: str, clause: Clause) -> Iterator[FactReading]:
    given_name = name(value, lowercase=clause.lowercase or clause.text.islower())
    is_remark = given_name.casefold() in english.DEMONYMS  # "my name is Irish"
    if given_name and not is_remark and not (clause.holds == "not" and given_name.islower()):
        confidence = 0.95 if attribute == "full name" else _NAME_KEYS[key]
        yield FactReading("identity", key, given_name, confidence, 1.0 if key == "name" else 0.8)


def _identity_readings(key: str, attribute: str, value: str, clause: Clause) -> Iterator[FactReading]:
    if key in _NAME_KEYS and attribute != "middle name":
        yield from _name_readings(key, attribute, value, clause)
    elif key in _FORMS:
        form, confidence, importance = _FORMS[key]
        if match := _ATTRIBUTES[form].match(value):
            yield FactReading("identity", key, match[match.lastindex or 0], confidence, importance)
    elif key in _PLACE_KEYS and attribute not in _VAGUE_PLACES:
        if place_name := place(value, lowercase=clause.lowercase):
            yield FactReading("identity", key, place_name, 0.95, 0.8)
    else:
        yield from _plain_readings(key, attribute, value)


def _favourite_readings(sort: str, value: str, clause: Clause) -> Iterator[FactReading]:
    favourite = thing(value)
    sort = re.sub(r"^(?:type|kind|sort|genre)s?\sof\s", "", sort)
    if favourite and clause.subject is None and len(sort.split()) <= 3 and not _ATTRIBUTES.no_choice.match(sort):
        yield FactReading("preference", sort, favourite, 0.95, 0.6)


def _plain_readings(key: str, attribute: str, value: str) -> Iterator[FactReading]:
    if _last_word(attribute) in WORDS.DWELLINGS and value.startswith("in ") and (home := place(value[3:])):
        yield replace(_HOME, value=home, changes=attribute.startswith("new "))
        return
    first_word = "".join(value.split()[:1]).strip(".,!")
    if key == "job" and (work := trade(value, loose=True)[0]):
        yield FactReading("identity", "job", work, 0.95, 0.8)
    elif key == "employer" and (firm := company(value)):
        yield FactReading("identity", "employer", firm, 0.9, 0.7)
    elif key == "native language" or (key == "languages" and attribute.startswith(("first", "native"))):
        yield from _native_language(value)
    elif key == "nationality" and first_word.casefold() in english.DEMONYMS:
        yield FactReading("identity", "nationality", first_word, 0.95, 0.6)
    elif attribute in _HOBBIES:
        yield from (FactReading("preference", "likes", hobby, 0.95, 0.5) for hobby in things(value))


def _native_language(text: str) -> Iterator[FactReading]:
    yield from (FactReading("identity", "native language", language, 0.95, 0.8) for language in languages(text)[:1])


def name_readings(kind: str, value: str) -> Iterator[FactReading]:
    """A person or an animal, by name."""
    given_name = name(value, lowercase=False)
    relation = english.RELATIONS.get(kind.casefold()) or english.RELATIONS.get(_last_word(kind.casefold()))
    if given_name and relation:
        yield FactReading("identity", relation, given_name, 0.95, 0.7)
    elif given_name and english.species(kind):
        yield FactReading("identity", "pets", f"{given_name} ({english.species(kind)})", 0.95, 0.6)


def _is_relation(attribute: str) -> bool:
    return attribute in english.RELATIONS or _last_word(attribute) in english.RELATIONS


def _last_word(text: str) -> str:
    return "".join(text.split()[-1:])


# Readers of what follows a verb: each is given the text, its clause, and the fact that has no value yet.


def _place(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    place_name = place(rest, lowercase=clause.lowercase)
    if place_name:
        yield replace(fact, value=place_name)
        _, denied_text = _split_contrast(rest)
        if other := place(denied_text):
            yield from _deny([replace(fact, value=other)])


def _past_place(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    yield from _place(rest, clause, replace(fact, over=not clause.perfect))


def _be_from(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if not _READINGS.the_no_country.match(rest):
        yield from _place(rest, clause, fact)


def _be_born(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    year = _ATTRIBUTES.year.match(rest)
    day = _ATTRIBUTES.when.match(rest)
    if year:
        yield replace(fact, key="birth year", value=year[1], importance=0.6)
    elif rest.startswith("on ") and day:
        yield replace(fact, key="birthday", value=day[1], importance=0.8)
    elif rest.startswith("in "):
        yield from _place(rest[3:], clause, fact)


def _employer(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    stated_text, denied_text = _split_contrast(rest)
    firm = company(strip_final_time(stated_text), lowercase=clause.lowercase)
    if not firm:
        return
    yield replace(fact, value=firm)
    if other := company(denied_text):
        yield from _deny([replace(fact, value=other)])
    trailing = re.search(r"\bas\s(an?\s.+|the\s.+)$", rest)
    if trailing and (work := trade(trailing[1], loose=True)[0]):
        yield replace(fact, key="job", value=work, importance=0.8)


def _past_employer(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    yield from _employer(rest, clause, replace(fact, over=not clause.perfect))


def _leave(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    """ "I left Globex": sure only if Globex is known as an employer, so its confidence is low."""
    firm = company(strip_final_time(rest))
    if firm and clause.subject is None:
        yield replace(fact, value=firm)


def _job(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    work, after = trade(rest, loose=True)
    if work:
        yield replace(fact, value=work)
        yield from _employer_after_job(work, after)


def _exchange(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    """One thing for another, "the Golf and bought a Tesla", "Shell to Fugro": a job, or a thing that is had or used."""
    match = _READINGS.exchange.match(strip_final_time(rest.rstrip(" .!")))
    if match is None or clause.subject is not None or clause.holds != "now":
        return
    firms = company(match["old"]), company(match["new"])
    if all(firms):
        yield replace(_WORK, value=firms[1], changes=True, instead_of=firms[0])
    yield replace(fact, value=f"{match['article'] or ''}{match['new']}", instead_of=match["old"])


def _new_job(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    """ "I became a nurse": only what is known as a trade, for one becomes a father too."""
    work, after = trade(strip_final_time(rest))
    if work:
        yield replace(fact, value=work)
        yield from (replace(employer, changes=True) for employer in _employer_after_job(work, after))


def _past_job(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    work, _ = trade(rest, loose=True)
    if work:
        yield replace(fact, value=work, over=not clause.perfect)


def _employer_after_job(work: str, after: str) -> Iterator[FactReading]:
    employer = re.match(r"(?:at|for|with)\s(.+)", after)
    firm = company(employer[1]) if employer else ""
    if firm:
        school = work.casefold().endswith("student")
        yield FactReading("identity", "school" if school else "employer", firm, 0.95, 0.6 if school else 0.7)
    origin = re.match(r"from\s(.+)", after)
    if origin and (home := place(origin[1])):
        yield FactReading("identity", "origin", home, 0.9, 0.6, timeless=True)


def _be(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    """What somebody is: a name, a trade, a diet, an age, a nationality."""
    trait, denied_trait = _split_contrast(rest)
    yield from _trait_readings(trait, clause)
    if denied_trait:
        yield from _deny(_trait_readings(denied_trait, clause))


_STATUSES = ("married", "divorced", "widowed", "engaged", "single")


def _own_readings(rest: str, clause: Clause) -> Iterator[FactReading]:
    """What the speaker says to be: an age, a trade, a name."""
    years = _ATTRIBUTES.age.match(rest)
    if years and _is_age(years[1]):
        yield FactReading("identity", "age", years[1], 0.95, 0.6)
    else:
        yield from (_be_a if re.match(r"an?\s", rest) else _be_named)(rest, clause)


def _trait_readings(rest: str, clause: Clause) -> Iterator[FactReading]:
    plain = re.sub(r"^(?:an?|the)\s", "", rest.casefold().strip(" .!"))
    first = _READINGS.trait_end.split(plain)[0]
    if first in english.DIETS:
        yield FactReading("constraint", "diet", first, 0.95, 0.9)
    elif first in english.CONDITION_ADJECTIVES:
        yield FactReading("constraint", "conditions", first, 0.95, 0.8)
    elif first in _STATUSES and first == plain:
        yield FactReading("identity", "marital status", first, 0.95, 0.6)
    elif plain in ("retired", "retired now") and first == "retired":
        yield FactReading("identity", "job", "retired", 0.95, 0.8)
    elif first in english.DEMONYMS and not rest.casefold().startswith("the "):
        yield FactReading("identity", "nationality", re.sub(r"^an?\s", "", rest)[: len(first)], 0.9, 0.6)
    elif clause.subject is None:
        yield from _own_readings(rest, clause)
    elif re.match(r"(?:an?|the)\s", rest):
        yield from _be_a(rest, clause)
    tongue = re.match(r"(?:an?\s)?(?:native\s)([\w\s]+?)\sspeaker", rest, re.IGNORECASE)
    if tongue:
        yield from _native_language(tongue[1])


def _is_age(years: str) -> bool:
    return 3 < int(years) < 120


def _be_a(rest: str, clause: Clause) -> Iterator[FactReading]:
    work, after = trade(rest)
    if not work or re.match(r"(?:of|in)\s(?:my|the|this|a)\b", after):
        return
    yield FactReading("identity", "job", work, 0.9, 0.8, over=clause.past)
    if not clause.past:
        yield from _employer_after_job(work, after)


def _be_named(rest: str, clause: Clause) -> Iterator[FactReading]:
    """ "I am Dana", and what may follow: "I am Dana, a nurse from Oslo"."""
    given_name = name(rest) if clause.holds == "now" and not clause.past else ""
    if not given_name:
        return
    is_loud = given_name.isupper() and len(given_name) > 3
    if is_loud or given_name.split()[0].casefold() in english.DEMONYMS | english.BELIEFS | english.PROGRAMMING:
        return
    yield FactReading("identity", "name", given_name, 0.9, 1.0)
    for part in re.split(r"\s*,\s*(?:and\s)?|^\s+(?=from\b)|\sand\s(?=an?\s)", rest[len(given_name) :]):
        origin = re.match(r"(?:originally\s)?from\s(.+)", part)
        if origin and (home := place(origin[1])):
            yield FactReading("identity", "origin", home, 0.9, 0.6, timeless=True)
        elif re.match(r"an?\s", part) and (jobs := list(_be_a(part, clause))):
            yield from jobs
        elif (years := _ATTRIBUTES.age.fullmatch(part.strip(" .!"))) and _is_age(years[1]):
            yield FactReading("identity", "age", years[1], 0.95, 0.6)


def _things(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if re.match(r"(?:anything|nothing)\b", rest, re.IGNORECASE):
        if clause.holds != "now":
            yield replace(fact, value=EVERY, survives_negation=False)
        return
    contrast = _READINGS.but_not.search(rest)
    for item in things(rest[: contrast.start()] if contrast else rest):
        # A long phrase is often of the day; a short one is a taste.
        importance = fact.importance if len(item.split()) <= 3 else fact.importance - 0.1
        yield replace(fact, value=item, importance=importance)
    if contrast and fact.key == "likes":
        dislike = FactReading(fact.category, "dislikes", "", 0.9, fact.importance)
        yield from (replace(dislike, value=item) for item in things(contrast[1]))


def _like(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if clause.holds == "not":
        yield from _things(rest, clause, replace(fact, key="dislikes", survives_negation=True))
    elif not clause.past:
        yield from _things(rest, clause, fact)


def _prefer(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    end = _READINGS.preference_end.search(rest)
    preference = (rest[: end.start()] if end else rest).strip()
    preference = re.sub(r"^to\s(?:use\s|have\s|be\s)", "", preference)
    if to_do := re.match(r"to\s(\w+)", preference):
        preference = f"{english.gerund(to_do[1])}{preference[to_do.end() :]}"
    head = re.split(r"\s(?:over|to|rather\sthan|instead\sof)\s", preference)[0]
    if thing(head) and clause.holds == "now" and len(preference.split()) <= 7:
        preference = re.sub(r"^(?:an?|the)\s", "", preference)
        yield replace(fact, value=head if head.casefold() in english.PROGRAMMING else preference)


def _speak(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if not _READINGS.no_language.match(rest):
        yield from (replace(fact, value=language) for language in languages(rest))


def _have(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    """Pets, children, people, allergies, conditions."""
    absence = _READINGS.absence.match(rest)
    if absence and (rest.casefold().startswith(("no ", "not ")) or clause.holds != "now"):
        yield from _have_no(absence[1].casefold())
    elif allergy := _READINGS.allergy.match(rest):
        allergens = things(allergy[1] or allergy[2])
        yield from (FactReading("constraint", "allergies", allergen, 0.95, 0.95) for allergen in allergens)
    elif illness := condition(rest):
        yield FactReading("constraint", "conditions", illness, 0.95, 0.8)
    elif count := _READINGS.children.match(rest):
        yield FactReading("identity", "number of children", count[1], 0.95, 0.6)
    elif (person := _READINGS.person_called.match(rest)) and person[1].casefold() in english.RELATIONS:
        yield from name_readings(person[1], person[2])
    else:
        yield from (FactReading("identity", "pets", animal, 0.95, 0.6) for animal in animals(rest))


def _have_no(possession: str) -> Iterator[FactReading]:
    if possession.startswith("allerg"):
        yield FactReading("constraint", "allergies", EVERY, 0.95, 0.9, is_denied=True)
    elif possession.startswith(("pet", "animal")):
        yield FactReading("identity", "pets", EVERY, 0.95, 0.6, is_denied=True)
    elif english.species(possession):
        yield FactReading("identity", "pets", english.species(possession), 0.95, 0.6, is_denied=True)
    elif possession in ("kids", "children"):
        yield FactReading("identity", "number of children", EVERY, 0.95, 0.6, is_denied=True)


def _avoid(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if not _READINGS.ago.search(rest):
        yield from (replace(fact, value=item) for item in things(rest))


def _eat_or_drink(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if clause.holds == "not" and not clause.past and not _READINGS.rarely.search(rest):
        yield from _avoid(rest, clause, fact)
    elif clause.holds == "now" and (diet := _find_diet(rest)) and not clause.past:
        yield FactReading("constraint", "diet", diet, 0.95, 0.9)


def _follow_diet(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    diet = _find_diet(re.sub(r"\s(?:diet|lifestyle)\b.*$", "", rest))
    if diet and re.search(r"\b(?:diet|lifestyle|kosher|halal)\b", rest):
        yield replace(fact, value=diet)


def _find_diet(text: str) -> str:
    plain = re.sub(r"^(?:an?|strictly|only)\s", "", re.sub(r"[.,!?;:].*$", "", text.casefold().strip()))
    return plain if plain in english.DIETS else ""


def _use_pronouns(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    forms = _ATTRIBUTES.pronouns.match(rest)
    if forms and ("pronoun" in rest or "/" in forms[1]):
        yield replace(fact, value=forms[1])


def _be_in_zone(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    zone = _ATTRIBUTES.zone.match(re.sub(r"^the\s", "", rest))
    if zone and clause.subject is None:
        yield replace(fact, value=zone[1])


def _study(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    school = re.match(r"at\s(.+)", rest)
    if school is None:
        subject = thing(re.split(r"\s(?:at|in|for|with)\s", rest)[0])
        if not subject or len(subject.split()) > 3 or _READINGS.no_studies.match(rest):
            return
        yield replace(fact, value=subject)
        school = re.search(r"\sat\s(.+)$", rest)
    if school and (school_name := company(school[1])):
        yield replace(fact, key="school", value=school_name)


def _status(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    yield replace(fact, value=rest.split()[0].strip(".,!").casefold())


def _turn_age(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    years = re.match(r"(\d{1,3})\b(?!\s?(?:%|percent|degrees|off|down))", rest)
    if years and clause.subject is None and _is_age(years[1]):
        yield replace(fact, value=years[1])


def _name(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if given_name := name(rest):
        yield replace(fact, value=given_name)


def _own_name(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if (given_name := name(rest, lowercase=clause.lowercase)) and clause.subject is None:
        yield replace(fact, value=given_name)


def _go_by(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    for reading in _own_name(re.sub(r"^the\sname\s(?:of\s)?", "", rest), clause, fact):
        yield FactReading("instruction", "call me", reading.value, 0.95, 0.9)
        yield reading


def _condition(rest: str, clause: Clause, fact: FactReading) -> Iterator[FactReading]:
    if illness := condition(rest):
        yield replace(fact, value=illness)


_VERBS = Patterns("verbs", DATA, WORDS)
_HOME = FactReading("identity", "location", "", 0.95, 0.8)
_ORIGIN = FactReading("identity", "origin", "", 0.95, 0.6, timeless=True)
_WORK = FactReading("identity", "employer", "", 0.95, 0.7)
_JOB = FactReading("identity", "job", "", 0.95, 0.8)
_NAME = FactReading("identity", "name", "", 0.95, 1.0)
_LIKES = FactReading("preference", "likes", "", 0.95, 0.5)
_AVOIDS = FactReading("constraint", "avoids", "", 0.95, 0.8, survives_negation=True)
# In the order of the patterns: the first that matches is read.
_READERS = {
    "live_in": (_place, _HOME),
    "lived_in": (_past_place, _HOME),
    "moved_to": (_place, replace(_HOME, changes=True)),
    "moved_out_of": (_place, replace(_HOME, over=True)),
    "get_status": (_status, FactReading("identity", "marital status", "", 0.95, 0.6, changes=True)),
    "be_from": (_be_from, _ORIGIN),
    "grew_up_in": (_place, _ORIGIN),
    "be_born": (_be_born, FactReading("identity", "birthplace", "", 0.95, 0.5, timeless=True)),
    "work_as": (_job, _JOB),
    "work_at": (_employer, _WORK),
    "worked_as": (_past_job, _JOB),
    "worked_at": (_past_employer, _WORK),
    "start_at": (_employer, replace(_WORK, changes=True)),
    "start_as": (_new_job, replace(_JOB, changes=True)),
    "leave_job": (_employer, replace(_WORK, over=True)),
    "change_studies": (_study, FactReading("identity", "studies", "", 0.9, 0.6, changes=True)),
    "change_school": (_employer, replace(_WORK, key="school", importance=0.6, changes=True)),
    "exchange": (_exchange, FactReading("other", "other", "", 0.9, 0.4, changes=True)),
    "be_called": (_own_name, _NAME),
    "go_by": (_go_by, replace(_NAME, confidence=0.6)),
    "change_name": (_name, replace(_NAME, changes=True)),
    "be_allergic_to": (_things, FactReading("constraint", "allergies", "", 0.95, 0.95)),
    "suffer_from": (_condition, FactReading("constraint", "conditions", "", 0.9, 0.8)),
    "follow_diet": (_follow_diet, FactReading("constraint", "diet", "", 0.95, 0.9)),
    "avoid": (_avoid, _AVOIDS),
    "leave": (_leave, replace(_WORK, confidence=0.5, over=True)),
    "eat_or_drink": (_eat_or_drink, _AVOIDS),
    "like": (_like, _LIKES),
    "be_fond_of": (_like, _LIKES),
    "dislike": (_things, replace(_LIKES, key="dislikes")),
    "prefer": (_prefer, FactReading("preference", "prefers", "", 0.9, 0.6)),
    "speak": (_speak, FactReading("identity", "languages", "", 0.95, 0.7)),
    "use_pronouns": (_use_pronouns, FactReading("identity", "pronouns", "", 0.95, 0.9)),
    "be_in_zone": (_be_in_zone, FactReading("identity", "time zone", "", 0.95, 0.8)),
    "study": (_study, FactReading("identity", "studies", "", 0.9, 0.6)),
    "be_married_to": (_name, FactReading("identity", "spouse", "", 0.95, 0.7)),
    "turn_age": (_turn_age, FactReading("identity", "age", "", 0.95, 0.6, changes=True)),
    "have": (_have, FactReading("identity", "pets", "", 0.95, 0.6)),
    "be": (_be, _NAME),
}

"""Which clause is which fact: "my X is Y" by what X is, all others by a table of verbs, each with a reader.

A pattern is matched from the first word of a clause, so nothing is found in the middle of another thought; an unknown X
gives nothing. A fact has a confidence, from its wording, and an importance: how much it matters later, an allergy more
than a taste.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from everword.facts.english.clauses import Clause
from everword.facts.english.values import animals, company, condition, languages, name, place, thing, things, trade
from everword.facts.english.words import DATA, WORDS
from everword.facts.rules.keys import normalise_key
from everword.model import FactCategory
from everword.text.dates import strip_final_time
from everword.text.english import (
    BELIEFS,
    CONDITION_ADJECTIVES,
    DEMONYMS,
    DIETS,
    FOODS,
    PROGRAMMING,
    RELATIONS,
    species,
)
from everword.word_lists import Patterns, lazy_pattern

_ATTRIBUTES = Patterns("attributes", DATA, WORDS)

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


_READINGS = Patterns("readings", DATA, WORDS)

Finder = Callable[[str, Clause], Iterator[FactReading]]


def readings(clause: Clause) -> Iterator[FactReading]:
    """The facts in a clause."""
    if clause.attribute:
        yield from attribute_readings(clause)
        return
    for pattern, finder in _VERBS:
        match = pattern.match(clause.text)
        if match:
            yield from finder(clause.text[match.end() :].strip(), clause)
            return


def _place_finder(
    key: str, *, changes: bool = False, timeless: bool = False, over: bool = False, importance: float = 0.8
) -> Finder:
    def find(rest: str, clause: Clause) -> Iterator[FactReading]:
        place_name = place(rest, lowercase=clause.lowercase)
        if place_name:
            yield FactReading(
                "identity", key, place_name, 0.95, importance, changes=changes, over=over, timeless=timeless
            )
            contrast = _ATTRIBUTES.contrast.search(rest)
            if contrast and (other := place(contrast[1])):
                yield FactReading("identity", key, other, 0.95, importance, is_denied=True)

    return find


def _be_from(rest: str, clause: Clause) -> Iterator[FactReading]:
    if not _READINGS.the_no_country.match(rest):
        yield from _place_finder("origin", timeless=True, importance=0.6)(rest, clause)


def _be_born(rest: str, clause: Clause) -> Iterator[FactReading]:
    year = _ATTRIBUTES.year.match(rest)
    day = _ATTRIBUTES.when.match(rest)
    if year:
        yield FactReading("identity", "birth year", year[1], 0.95, 0.6, timeless=True)
    elif rest.startswith("on ") and day:
        yield FactReading("identity", "birthday", day[1], 0.95, 0.8, timeless=True)
    elif rest.startswith("in "):
        yield from _place_finder("birthplace", timeless=True, importance=0.5)(rest[3:], clause)


def _work_at(rest: str, clause: Clause, *, changes: bool = False, over: bool = False) -> Iterator[FactReading]:
    contrast = _ATTRIBUTES.contrast.search(rest)
    firm = company(strip_final_time(rest[: contrast.start()] if contrast else rest), lowercase=clause.lowercase)
    if not firm:
        return
    yield FactReading("identity", "employer", firm, 0.95, 0.7, changes=changes, over=over)
    if contrast and (other := company(contrast[1])):
        yield FactReading("identity", "employer", other, 0.95, 0.7, is_denied=True)
    trailing = re.search(r"\bas\s(an?\s.+|the\s.+)$", rest)
    if trailing and (work := trade(trailing[1], loose=True)[0]):
        yield FactReading("identity", "job", work, 0.95, 0.8, changes=changes, over=over)


def _work_as(rest: str, clause: Clause) -> Iterator[FactReading]:
    work, after = trade(rest, loose=True)
    if work:
        yield FactReading("identity", "job", work, 0.95, 0.8)
        yield from _employer_after_job(work, after, clause)


def _employer_after_job(work: str, after: str, clause: Clause) -> Iterator[FactReading]:
    employer = re.match(r"(?:at|for|with)\s(.+)", after)
    firm = company(employer[1]) if employer else ""
    if firm:
        school = work.casefold().endswith("student")
        yield FactReading("identity", "school" if school else "employer", firm, 0.95, 0.6 if school else 0.7)
    origin = re.match(r"(?:from|in)\s(.+)", after)
    if origin and after.startswith("from") and (home := place(origin[1])):
        yield FactReading("identity", "origin", home, 0.9, 0.6, timeless=True)


def _be(rest: str, clause: Clause) -> Iterator[FactReading]:
    """What somebody is: a name, a trade, a diet, an age, a nationality."""
    contrast = _ATTRIBUTES.contrast.search(rest)
    trait = rest[: contrast.start()] if contrast else rest
    own_readings = list(_trait_readings(trait, clause))
    yield from own_readings
    if contrast:
        for reading in _trait_readings(contrast[1], clause):
            yield FactReading(
                reading.category, reading.key, reading.value, reading.confidence, reading.importance, is_denied=True
            )


def _trait_readings(rest: str, clause: Clause) -> Iterator[FactReading]:
    plain = re.sub(r"^(?:an?|the)\s", "", rest.casefold().strip(" .!"))
    first = _READINGS.trait_end.split(plain)[0]
    if first in DIETS:
        yield FactReading("constraint", "diet", first, 0.95, 0.9)
    elif first in CONDITION_ADJECTIVES:
        yield FactReading("constraint", "conditions", first, 0.95, 0.8)
    elif first in ("married", "divorced", "widowed", "engaged", "single") and first == plain:
        yield FactReading("identity", "marital status", first, 0.95, 0.6)
    elif first == "retired" and plain in ("retired", "retired now"):
        yield FactReading("identity", "job", "retired", 0.95, 0.8)
    elif first in DEMONYMS and not rest.casefold().startswith("the "):
        yield FactReading("identity", "nationality", re.sub(r"^an?\s", "", rest)[: len(first)], 0.9, 0.6)
    elif (years := _ATTRIBUTES.age.match(rest)) and clause.subject is None and 3 < int(years[1]) < 120:
        yield FactReading("identity", "age", years[1], 0.95, 0.6)
    elif re.match(r"an?\s", rest) or (clause.subject and re.match(r"the\s", rest)):
        yield from _be_a(rest, clause)
    elif clause.subject is None:
        yield from _be_named(rest, clause)
    tongue = re.match(r"(?:an?\s)?(?:native\s)([\w\s]+?)\sspeaker", rest, re.IGNORECASE)
    if tongue:
        yield from (
            FactReading("identity", "native language", language, 0.95, 0.8) for language in languages(tongue[1])[:1]
        )


def _be_a(rest: str, clause: Clause) -> Iterator[FactReading]:
    work, after = trade(rest)
    if not work or re.match(r"(?:of|in)\s(?:my|the|this|a)\b", after):
        return
    former = clause.past
    yield FactReading("identity", "job", work, 0.9, 0.8, over=former)
    if not former:
        yield from _employer_after_job(work, after, clause)


def _be_named(rest: str, clause: Clause) -> Iterator[FactReading]:
    """ "I am Dana", and what may follow: "I am Dana, a nurse from Oslo"."""
    given_name = name(rest) if clause.holds == "now" and not clause.past else ""
    first = given_name.split()[0].casefold() if given_name else ""
    after = rest[len(given_name) :]
    follows = _READINGS.name_end.match(after)
    is_shouted = given_name.isupper() and len(given_name) > 3
    if not given_name or not follows or is_shouted or first in DEMONYMS | BELIEFS | PROGRAMMING:
        return
    yield FactReading("identity", "name", given_name, 0.9, 1.0)
    for part in re.split(r"\s*,\s*(?:and\s)?|^\s+(?=from\b)|\sand\s(?=an?\s)", after):
        origin = re.match(r"(?:originally\s)?from\s(.+)", part)
        if origin and (home := place(origin[1])):
            yield FactReading("identity", "origin", home, 0.9, 0.6, timeless=True)
        elif re.match(r"an?\s", part) and (jobs := list(_be_a(part, clause))):
            yield from jobs
        elif (years := _ATTRIBUTES.age.fullmatch(part.strip(" .!"))) and 3 < int(years[1]) < 120:
            yield FactReading("identity", "age", years[1], 0.95, 0.6)


def _things_finder(
    category: FactCategory, key: str, importance: float, *, survives_negation: bool = False, every_words: str = ""
) -> Finder:
    every_pattern = re.compile(every_words or r"(?:anything|nothing)\b", re.IGNORECASE)

    def find(rest: str, clause: Clause) -> Iterator[FactReading]:
        if every_pattern.match(rest):
            if clause.holds != "now":
                yield FactReading(category, key, EVERY, 0.95, importance)
            return
        contrast = _READINGS.but_not.search(rest)
        for item in things(rest[: contrast.start()] if contrast else rest):
            # A long phrase is often of the day; a short one is a taste.
            weight = importance if len(item.split()) <= 3 else importance - 0.1
            yield FactReading(category, key, item, 0.95, weight, survives_negation=survives_negation)
        if contrast and key == "likes":
            yield from (FactReading(category, "dislikes", item, 0.9, importance) for item in things(contrast[1]))

    return find


def _like(rest: str, clause: Clause) -> Iterator[FactReading]:
    if clause.holds == "not":
        yield from _things_finder("preference", "dislikes", 0.5, survives_negation=True)(rest, clause)
    elif not clause.past:
        yield from _things_finder("preference", "likes", 0.5)(rest, clause)


def _prefer(rest: str, clause: Clause) -> Iterator[FactReading]:
    end = _READINGS.preference_end.search(rest)
    preference = (rest[: end.start()] if end else rest).strip()
    preference = re.sub(r"^to\s(?:use\s|have\s|be\s)?", "", preference)
    head = re.split(r"\s(?:over|to|rather\sthan|instead\sof)\s", preference)[0]
    if thing(head) and clause.holds == "now" and len(preference.split()) <= 7:
        preference = re.sub(r"^(?:an?|the)\s", "", preference)
        yield FactReading("preference", "prefers", head if head.casefold() in PROGRAMMING else preference, 0.9, 0.6)


def _speak(rest: str, clause: Clause) -> Iterator[FactReading]:
    if _READINGS.no_language.match(rest):
        return
    for language in languages(rest):
        yield FactReading("identity", "languages", language, 0.95, 0.7)


def _have(rest: str, clause: Clause) -> Iterator[FactReading]:
    """Pets, children, people, allergies, conditions."""
    absence = re.match(r"(?:no|not\sany|any|a\ssingle)\s(pets?|animals?|allerg(?:y|ies)|(\w+))\b", rest, re.IGNORECASE)
    if absence and (rest.casefold().startswith(("no ", "not ")) or clause.holds != "now"):
        yield from _have_no(absence)
        return
    allergy = _READINGS.allergy.match(rest)
    if allergy:
        yield from (
            FactReading("constraint", "allergies", allergen, 0.95, 0.95)
            for allergen in things(allergy[1] or allergy[2])
        )
        return
    if illness := condition(rest):
        yield FactReading("constraint", "conditions", illness, 0.95, 0.8)
        return
    count = _READINGS.children.match(rest)
    if count:
        yield FactReading("identity", "number of children", count[1], 0.95, 0.6)
        return
    person = re.match(
        r"(?:an?|one)\s(?:\w+\s){0,2}?([\w-]+)(?:,)?\s(?:(?:who|which)\sis\s)?(?:named|called|whose\sname\sis)\s(.+)",
        rest,
    )
    if person and person[1].casefold() in RELATIONS:
        yield from name_readings(person[1], person[2])
        return
    for animal in animals(rest):
        yield FactReading("identity", "pets", animal, 0.95, 0.6)


def _have_no(absence: re.Match[str]) -> Iterator[FactReading]:
    possession = absence[1].casefold()
    if possession.startswith("allerg"):
        yield FactReading("constraint", "allergies", EVERY, 0.95, 0.9, is_denied=True)
    elif possession.startswith(("pet", "animal")):
        yield FactReading("identity", "pets", EVERY, 0.95, 0.6, is_denied=True)
    elif species(possession):
        yield FactReading("identity", "pets", species(possession), 0.95, 0.6, is_denied=True)
    elif possession in ("kids", "children"):
        yield FactReading("identity", "number of children", EVERY, 0.95, 0.6, is_denied=True)


def _avoid(rest: str, clause: Clause) -> Iterator[FactReading]:
    for item in things("" if _READINGS.ago.search(rest) else rest):
        yield FactReading("constraint", "avoids", item, 0.95, 0.8, survives_negation=True)


def _eat_or_drink(rest: str, clause: Clause) -> Iterator[FactReading]:
    if clause.holds == "not" and not clause.past and not _READINGS.rarely.search(rest):
        yield from _avoid(rest, clause)
    elif clause.holds == "now" and (diet := _find_diet(rest)) and not clause.past:
        yield FactReading("constraint", "diet", diet, 0.95, 0.9)


def _follow(rest: str, clause: Clause) -> Iterator[FactReading]:
    diet = _find_diet(re.sub(r"\s(?:diet|lifestyle)\b.*$", "", rest))
    if diet and re.search(r"\b(?:diet|lifestyle|kosher|halal)\b", rest):
        yield FactReading("constraint", "diet", diet, 0.95, 0.9)


def _find_diet(text: str) -> str:
    plain = re.sub(r"^(?:an?|strictly|only)\s", "", re.sub(r"[.,!?;:].*$", "", text.casefold().strip()))
    return plain if plain in DIETS else ""


def _use_pronouns(rest: str, clause: Clause) -> Iterator[FactReading]:
    forms = _ATTRIBUTES.pronouns.match(rest)
    if forms and ("pronoun" in rest or "/" in forms[1]):
        yield FactReading("identity", "pronouns", forms[1], 0.95, 0.9)


def _be_in_zone(rest: str, clause: Clause) -> Iterator[FactReading]:
    zone = _ATTRIBUTES.zone.match(re.sub(r"^the\s", "", rest))
    if zone and clause.subject is None:
        yield FactReading("identity", "time zone", zone[1], 0.95, 0.8)


def _study(rest: str, clause: Clause) -> Iterator[FactReading]:
    school = re.match(r"at\s(.+)", rest)
    if school:
        if school_name := company(school[1]):
            yield FactReading("identity", "school", school_name, 0.9, 0.6)
        return
    subject = thing(re.split(r"\s(?:at|in|for|with)\s", rest)[0])
    if subject and len(subject.split()) <= 3 and not _READINGS.no_studies.match(rest):
        yield FactReading("identity", "studies", subject, 0.9, 0.6)
        where_at = re.search(r"\sat\s(.+)$", rest)
        if where_at and (school_name := company(where_at[1])):
            yield FactReading("identity", "school", school_name, 0.9, 0.6)


def _be_married_to(rest: str, clause: Clause) -> Iterator[FactReading]:
    if given_name := name(rest):
        yield FactReading("identity", "spouse", given_name, 0.95, 0.7)


def _turn_age(rest: str, clause: Clause) -> Iterator[FactReading]:
    years = re.match(r"(\d{1,3})\b(?!\s?(?:%|percent|degrees|off|down))", rest)
    if years and clause.subject is None and 3 < int(years[1]) < 120:
        yield FactReading("identity", "age", years[1], 0.95, 0.6, changes=True)


def _go_by(rest: str, clause: Clause) -> Iterator[FactReading]:
    given_name = name(re.sub(r"^the\sname\s(?:of\s)?", "", rest), lowercase=clause.lowercase)
    if given_name and clause.subject is None:
        yield FactReading("instruction", "call me", given_name, 0.95, 0.9)
        yield FactReading("identity", "name", given_name, 0.6, 1.0)


def _be_called(rest: str, clause: Clause) -> Iterator[FactReading]:
    if (given_name := name(rest, lowercase=clause.lowercase)) and clause.subject is None:
        yield FactReading("identity", "name", given_name, 0.95, 1.0)


def _change_name(rest: str, clause: Clause) -> Iterator[FactReading]:
    if given_name := name(rest):
        yield FactReading("identity", "name", given_name, 0.95, 1.0, changes=True)


def _start_at(rest: str, clause: Clause) -> Iterator[FactReading]:
    yield from _work_at(rest, clause, changes=True)


def _leave(rest: str, clause: Clause) -> Iterator[FactReading]:
    """ "I left Globex": sure only if Globex is known as an employer, so its confidence is low."""
    firm = company(strip_final_time(rest))
    if firm and clause.subject is None:
        yield FactReading("identity", "employer", firm, 0.5, 0.7, over=True)


def _leave_job(rest: str, clause: Clause) -> Iterator[FactReading]:
    yield from _work_at(rest, clause, over=True)


def _past_place(rest: str, clause: Clause) -> Iterator[FactReading]:
    yield from _place_finder("location", over=not clause.perfect)(rest, clause)


def _past_employer(rest: str, clause: Clause) -> Iterator[FactReading]:
    yield from _work_at(rest, clause, over=not clause.perfect)


def _past_job(rest: str, clause: Clause) -> Iterator[FactReading]:
    work, _ = trade(rest, loose=True)
    if work:
        yield FactReading("identity", "job", work, 0.95, 0.8, over=not clause.perfect)


def _suffer_from(rest: str, clause: Clause) -> Iterator[FactReading]:
    if illness := condition(rest):
        yield FactReading("constraint", "conditions", illness, 0.9, 0.8)


_VERBS: tuple[tuple[re.Pattern[str], Finder], ...] = tuple(
    (lazy_pattern(rf"(?:{pattern})(?:\s+|$)", re.IGNORECASE), finder)
    for pattern, finder in (
        (rf"(?:live|reside)\s(?:{WORDS.any_of('LIVE_WHERE')}\s)?in"
         r"|be\s(?:living|residing|based|located)\sin", _place_finder("location")),
        (r"lived\sin", _past_place),
        (rf"(?:moved|relocated)(?:\s{WORDS.any_of('MOVED_WHERE')})?\s(?:from\s[\w\s]{{2,30}}\s)?to",
         _place_finder("location", changes=True)),
        (r"be\sfrom|come\sfrom|hail\sfrom", _be_from),
        (r"grew\sup\sin|be\sraised\sin", _place_finder("origin", timeless=True, importance=0.6)),
        (r"be\sborn(?:\sand\sraised)?", _be_born),
        (r"(?:work|be\s(?:working|employed))\s(?:as|like)", _work_as),
        (r"(?:work|be\s(?:working|employed))\s(?:at|for|with|by)", _work_at),
        (r"worked\s(?:as)", _past_job),
        (r"worked\s(?:at|for)", _past_employer),
        (r"(?:started|began)(?:\sworking|\sa\s(?:new\s)?job)?\s(?:at|for)|joined|got\sa\s(?:new\s)?job\s(?:at|with)"
         r"|got\shired\s(?:at|by)", _start_at),
        (r"(?:quit|left|lost)\smy\sjob\s(?:at|with)|(?:resigned|retired)\sfrom|be\s(?:laid\soff|fired)\s(?:from"
         r"|by)", _leave_job),
        (r"be\s(?:a\s)?(?:called|named|known\sas)", _be_called),
        (r"go\sby", _go_by),
        (r"(?:legally\s)?changed\smy\sname\sto", _change_name),
        (r"be\sallergic\sto|be\sintolerant\s(?:to|of)", _things_finder("constraint", "allergies", 0.95)),
        (r"suffer\sfrom|be\sdiagnosed\swith|live\swith", _suffer_from),
        (r"be\s(?:on|following|doing)(?=\san?\s[\w\s-]+\sdiet)|follow"
         r"|keep", _follow),
        (rf"(?:stopped|gave\sup|given\sup|quit)\s(?:eating|drinking|smoking)|avoid|can\snot\s(?:(?:eat|drink"
         rf"|tolerate|digest)|have(?=\s(?:{FOODS})\b))", _avoid),
        (r"quit|left", _leave),
        (r"eat|drink|smoke", _eat_or_drink),
        (r"(?:like|love|enjoy|adore)", _like),
        (rf"be\s(?:an?\s)?(?:{WORDS.any_of('FAN_DEGREES')}\s)?{WORDS.any_of('FOND_OF')}", _like),
        (WORDS.any_of("DISLIKING"), _things_finder("preference", "dislikes", 0.5)),
        (r"prefer", _prefer),
        (r"speak|be\s(?:fluent|proficient|bilingual)\sin", _speak),
        (r"use(?=\s\w+/)|go\sby(?=\s\w+/)", _use_pronouns),
        (rf"be\s(?:in|on)(?=\s(?:the\s)?(?:UTC|GMT|[A-Z]{{2,4}}\b|{WORDS.any_of('NAMED_ZONES')}))", _be_in_zone),
        (r"be\s(?:studying|majoring\sin|reading\sfor)|study|major\sin", _study),
        (r"be\smarried\sto", _be_married_to),
        (r"turned|be\sturning", _turn_age),
        (r"have(?:\sgot)?|own", _have),
        (r"be", _be),
    )
)  # fmt: skip

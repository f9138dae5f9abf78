"""Extracts the facts that a user's message states about the user, or about somebody they name.

A model is shown the author's own words, without pasted text (`rules.facts.own_words`). Its answer is checked: the
category exists, the value is stated in those words (not asked, supposed or quoted), numbers are in range. If the rules
know better whom a value is about, or whether it still holds, the rules decide. Only messages of users are used: what an
assistant says is no source of facts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from recollect.errors import ModelNonsense
from recollect.language.fact_words import RELATIONS
from recollect.language.sentences import limit_text
from recollect.language.since_until import parse_date
from recollect.model import FACT_CATEGORIES, FoundFact, Holds
from recollect.ports import Request
from recollect.rules.facts.deciding import acceptable_facts
from recollect.rules.facts.echoes import is_echo
from recollect.rules.facts.keys import category_of
from recollect.rules.facts.own_words import own_words
from recollect.rules.facts_english.finder import find_facts, keep_grounded_facts, read_facts, reconcile_facts
from recollect.tasks import answers
from recollect.tasks.task import DATA, build_request, fence_text, object_schema, repair_request

name = "fact_extraction"

MAX_FACTS = 20
"""Facts of one message; if a model gives more, the rest is dropped."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """A user's message, the day it was written, and what of memory the assistant was shown or said just before."""

    text: str
    today: date | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The facts, as they may be kept; none if the message states none."""

    facts: tuple[FoundFact, ...]


GUIDE = """\
category: identity (name, location, job, family, pets, birthday...), preference (likes, dislikes),
constraint (diet, allergies, health, limits), instruction (how the user wants to be answered from now on).
key: one or two words. value: short, in the user's words. about: "user", or whom it is about ("Bob", "brother").
status: "now", "corrected" (changed), "ended" (no longer so) or "not" (denied). since, until: a date if one is said.
confidence: 1 if stated plainly. importance: 1 for a name or an allergy, 0.5 for a like.
Leave out questions, wishes, plans, jokes, quotes, moods, the moment, and talk about this chat. Most messages have no
facts: then the list is empty."""
_SYSTEM = f"""You find lasting facts in a user's chat message, for a memory.
{GUIDE}
{DATA}
Answer with JSON only.

Example:
=== MESSAGE ===
I'm Dana, not a vegan any more. My brother lives in Oslo. Is it cold there?
=== END MESSAGE ===
"""
_EXAMPLE = {
    "facts": [
        {"category": "identity", "key": "name", "value": "Dana", "about": "user", "status": "now", "since": "",
         "until": "", "confidence": 1, "importance": 1},
        {"category": "constraint", "key": "diet", "value": "vegan", "about": "user", "status": "ended", "since": "",
         "until": "", "confidence": 1, "importance": 0.9},
        {"category": "identity", "key": "location", "value": "Oslo", "about": "brother", "status": "now", "since": "",
         "until": "", "confidence": 1, "importance": 0.5},
    ]
}  # fmt: skip
_STATUS: dict[str, tuple[Holds, bool]] = {
    "now": ("now", False),
    "current": ("now", False),
    "corrected": ("now", True),
    "changed": ("now", True),
    "ended": ("ended", False),
    "past": ("ended", False),
    "not": ("not", True),
    "denied": ("not", True),
}
ENTRY = {
    "category": {"type": "string", "enum": list(FACT_CATEGORIES)},
    "key": {"type": "string"},
    "value": {"type": "string"},
    "about": {"type": "string"},
    "status": {"type": "string", "enum": ["now", "corrected", "ended", "not"]},
    "since": {"type": "string"},
    "until": {"type": "string"},
    "confidence": {"type": "number"},
    "importance": {"type": "number"},
}
_SELF = frozenset({"", "user", "the user", "me", "i", "myself", "self", "speaker", "author", "none", "null"})
_NONE = re.compile(r"[\s`]*(?:json)?\s*(?:\[\s*\]|\{\s*\}|none\b\.?)[\s`]*", re.IGNORECASE)
EXTRA_TOKENS = 700


def build(inputs: Inputs) -> Request:
    date_line = f"Written on {inputs.today.isoformat()}.\n" if inputs.today else ""
    return build_request(
        _SYSTEM + json.dumps(_EXAMPLE, ensure_ascii=False),
        f"{date_line}{fence_text('MESSAGE', own_words(limit_text(inputs.text)).strip())}",
        max_tokens=EXTRA_TOKENS + min(len(inputs.text), 4_000) // 4,
        schema=object_schema({"facts": {"type": "array", "items": object_schema(ENTRY)}}),
    )


def parse(text: str, inputs: Inputs) -> Reply:
    return check_facts(grounded_facts(read_entries(text)[:MAX_FACTS], inputs), inputs)


def grounded_facts(entries: Sequence[Mapping[str, Any]], inputs: Inputs) -> list[FoundFact]:
    """The facts in these entries that the message states."""
    dated_facts = [fact for fact in map(_parse_fact, entries) if fact is not None]
    facts_with_dates = [
        replace(fact, since=_parse_date(since, inputs), until=_parse_date(until, inputs))
        for fact, since, until in dated_facts
    ]
    return keep_grounded_facts(acceptable_facts(facts_with_dates), inputs.text)


def check_facts(facts_of_model: Sequence[FoundFact], inputs: Inputs) -> Reply:
    """The facts of a message, by a model and by the rules; marked, if they repeat what the assistant was shown."""
    facts = reconcile_facts(facts_of_model, find_facts(inputs.text, inputs.today))
    if facts and is_echo(inputs.text, inputs.shown):
        facts = [replace(fact, echo=True) for fact in facts]
    return Reply(tuple(facts))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return Reply(tuple(read_facts(inputs.text, inputs.today, inputs.shown)))


def read_entries(text: str) -> list[Mapping[str, Any]]:
    """The facts as they were written, however they were wrapped."""
    objects = list(answers.objects(text))
    if not objects and _NONE.fullmatch(answers.after_thinking(text)):
        return []
    entries: list[Mapping[str, Any]] = []
    has_list = False
    for answer in objects:
        lists = [value for value in answer.values() if isinstance(value, list)]
        if "category" in answer or "value" in answer:
            entries.append(answer)
        elif lists or "facts" in answer:
            has_list = True
            entries += [entry for value in lists for entry in value if isinstance(entry, dict)]
    if not entries and not has_list:
        raise ModelNonsense('There is no JSON of the form {"facts": [...]} in the answer.')
    usable_entries = [entry for entry in entries if "category" in entry and "key" in entry and "value" in entry]
    if entries and not usable_entries:
        raise ModelNonsense("A fact needs a category, a key and a value.")
    return usable_entries


def _parse_fact(entry: Mapping[str, Any]) -> tuple[FoundFact, str, str] | None:
    """One entry as a fact, with the dates as they were written; None if its category is unknown."""
    category = category_of(answers.line(entry["category"]))
    if category is None:
        return None
    about = answers.line(entry.get("about")).strip()
    relation = re.sub(r"^(?:my|the|user['’]?s|user['’]s)\s+", "", about.casefold())
    subject = None if relation in _SELF or about.casefold() in _SELF else RELATIONS.get(relation, about)
    holds, corrects = _STATUS.get(answers.line(entry.get("status")).strip().casefold(), ("now", False))
    fact = FoundFact(
        category,
        answers.line(entry["key"]),
        answers.line(entry["value"]),
        _parse_number(entry.get("confidence")),
        _parse_number(entry.get("importance")),
        subject=subject,
        holds=holds,
        corrects=corrects,
    )
    return fact, answers.line(entry.get("since")), answers.line(entry.get("until"))


def _parse_number(value: object) -> float:
    """A number as a model writes it: 0.9, "0.9", "90%". One that cannot be read counts as medium."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return _MIDDLING
    try:
        number = float(str(value).strip().rstrip("%"))
    except (ValueError, OverflowError):
        return _MIDDLING
    if number != number:
        return _MIDDLING
    return min(max(number / 100 if number > 1 and (number > 10 or "%" in str(value)) else number, 0.0), 1.0)


_MIDDLING = 0.6


def _parse_date(text: str, inputs: Inputs) -> date | None:
    """A date that a model gave, if the message mentions its year or month: models fill in today's date."""
    day = parse_date(text[:40], inputs.today) if text.strip() else None
    if day is None:
        return None
    is_in_message = str(day.year) in inputs.text or f"{day:%b}".casefold() in inputs.text.casefold()
    return day if is_in_message else None

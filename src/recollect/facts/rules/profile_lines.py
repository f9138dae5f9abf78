"""Facts as lines for a profile: by category, the most important first, each key once with all its values.

    Identity
    - name: Alex
    - employer: Contoso (since May 2024)
    Constraints
    - allergies: peanuts, latex

Dates are shown only if somebody told them: the day on which something was said is not the day it began. Facts about
others are under their names, and a fact that somebody else told names the speaker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from recollect.log.access import is_claim
from recollect.model import FACT_CATEGORIES, Fact
from recollect.text.fences import person_byline

HEADINGS = {
    "identity": "Identity",
    "relationship": "Relationships",
    "work": "Work",
    "place": "Places",
    "health": "Health",
    "possession": "Possessions",
    "preference": "Preferences",
    "constraint": "Constraints",
    "instruction": "Instructions",
    "plan": "Plans",
    "event": "Events",
    "other": "Other",
}

SINCE = {"event": "on", "plan": "from"}
"""How the beginning of a fact is told, if it is not "since"."""


def profile_lines(facts: Iterable[Fact]) -> list[str]:
    """The active facts as lines under headings. The text is as it was said: fence it before a model sees it."""
    active = [fact for fact in facts if fact.active]
    lines: list[str] = []
    for category in FACT_CATEGORIES:
        own_facts = [fact for fact in active if fact.category == category and fact.subject is None]
        lines += _section(HEADINGS[category], own_facts)
    subjects = {fact.subject.casefold(): fact.subject for fact in active if fact.subject}
    for folded_subject, subject in subjects.items():
        subject_facts = [fact for fact in active if fact.subject and fact.subject.casefold() == folded_subject]
        lines += _section(f"About {subject}", subject_facts)
    return lines


def value_with_source(fact: Fact) -> str:
    """A fact's value, with its dates if they were said, and with who said it if it was somebody else."""
    value = value_with_dates(fact)
    return f"{value} (says {person_byline(fact.speaker)})" if is_claim(fact) else value


def value_with_dates(fact: Fact) -> str:
    """A fact's value, with its dates if they were said."""
    notes = []
    if fact.valid_from is not None and fact.valid_from != fact.recorded_at and fact.valid_from != fact.said_at:
        notes.append(f"{SINCE.get(fact.category, 'since')} {format_moment(fact.valid_from)}")
    if fact.valid_to is not None:
        notes.append(f"until {format_moment(fact.valid_to)}")
    return f"{fact.value} ({', '.join(notes)})" if notes else fact.value


def format_moment(moment: datetime) -> str:
    """A time as closely as it is known: what begins a year is the year, what begins a month the month."""
    if (moment.hour, moment.minute, moment.second, moment.day) != (0, 0, 0, 1):
        return f"{moment.day} {moment:%B %Y}"
    return f"{moment.year}" if moment.month == 1 else f"{moment:%B %Y}"


def _section(title: str, facts: Sequence[Fact]) -> list[str]:
    facts_by_key: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=_rank):
        facts_by_key.setdefault(fact.key, []).append(fact)
    lines: list[str] = []
    for key, facts_of_key in facts_by_key.items():
        values = [value_with_source(fact) for fact in facts_of_key]
        is_statement = facts_of_key[0].key == facts_of_key[0].category
        lines += [f"- {value}" for value in values] if is_statement else [f"- {key}: {', '.join(values)}"]
    return [title, *lines] if lines else []


def _rank(fact: Fact) -> tuple[float, float, str]:
    return -fact.importance, -fact.said_at.timestamp(), fact.id

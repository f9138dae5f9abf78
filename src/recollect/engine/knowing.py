"""What a context says of the people in it: facts by category, the most important first, with dates where they matter.

In a chat with one person it is what they said of themselves and what was said of them in groups. In a channel it is
what was said before many: nothing said in private leaves it, unless the person allowed that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.engine.facts import facts_of
from recollect.engine.pieces import Note
from recollect.model import FACT_CATEGORIES, Fact
from recollect.ports import Tx
from recollect.rules.fact_lines import told
from recollect.rules.facts import visible

IMPORTANT = 0.5  # facts of less importance are found by search, not shown in every context
HEADINGS = {
    "identity": "Identity",
    "preference": "Preferences",
    "constraint": "Constraints",
    "instruction": "Instructions",
}


def of_person(tx: Tx, space: str, person: str) -> list[Note]:
    """What a chat with one person shows of them."""
    known = [fact for fact in facts_of(tx, space, person, active=True) if visible(fact, person)]
    return notes(known)


def of_group(tx: Tx, space: str, people: Iterable[str]) -> list[Note]:
    """What a channel shows of those who speak in it: only what was said before many."""
    found: list[Note] = []
    for number, person in enumerate(people):
        known = [fact for fact in facts_of(tx, space, person, active=True) if visible(fact, None)]
        found += notes(known, name=person, number=number)
    return found


def notes(facts: Sequence[Fact], *, name: str = "", number: int = 0) -> list[Note]:
    """One line a key, the most important first."""
    lines: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda one: (-one.importance, -one.said_at.timestamp(), one.id)):
        if fact.importance >= IMPORTANT:
            lines.setdefault((fact.subject or "", fact.category, fact.key), []).append(fact)
    found = []
    for (subject, category, key), values in lines.items():
        heading = f"About {subject}" if subject else HEADINGS[category]
        place = (number, subject, FACT_CATEGORIES.index(values[0].category), -values[0].importance, key)
        text = f"{key}: {', '.join(map(told, values))}"
        reason = f"known, importance {values[0].importance:.1f}"
        found.append(Note(values[0].id, text, reason, f"{name}: {heading}" if name else heading, place))
    return found

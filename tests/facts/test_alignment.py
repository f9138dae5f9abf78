"""A fact is filed under the key by which the same thing is known."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from fact_rows import apply_actions

from everword.facts.rules.deciding import align_fact, decide
from everword.model import Fact, FactCategory, FoundFact, Holds, Message

TIME = datetime(2026, 5, 7, tzinfo=UTC)
SAID = Message("s", "chat", 1, "m1", "user", "alex", "alex", "…", TIME)


def known() -> list[Fact]:
    facts: list[Fact] = []
    for found in (
        FoundFact("possession", "car", "Volvo V60"),
        FoundFact("event", "purchase", "bought a Volvo V60"),
        FoundFact("identity", "goal", "learn to play the piano"),
        FoundFact("identity", "location", "Utrecht"),
        FoundFact("plan", "location", "Lyon"),
    ):
        facts = apply_actions(facts, decide(facts, found, SAID, user="alex"))
    return facts


@pytest.mark.parametrize(
    ("found", "slot"),
    [
        (("possession", "sold", "Volvo", "ended"), ("possession", "car")),
        (("identity", "location", "Lyon", "not"), ("plan", "location")),
        (("identity", "location", "Utrecht", "ended"), ("identity", "location")),
        (("identity", "ambition", "learning to play piano", "now"), ("identity", "goal")),
        (("possession", "bike", "cargo bike", "now"), ("possession", "bike")),
        (("possession", "sold", "kayak", "ended"), ("possession", "sold")),
        (("possession", "sold", "", "ended"), ("possession", "sold")),
    ],
)
def test_the_key_that_is_known_is_used(
    found: tuple[FactCategory, str, str, Holds], slot: tuple[FactCategory, str]
) -> None:
    category, key, value, holds = found
    aligned = align_fact(FoundFact(category, key, value, holds=holds), known())
    assert (aligned.category, aligned.key) == slot


def test_what_is_known_of_others_changes_nothing() -> None:
    found = FoundFact("possession", "sold", "Volvo", subject="brother", holds="ended")
    assert align_fact(found, known()).key == "sold"

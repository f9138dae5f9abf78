"""What rules read of the facts of a person is remembered by the facts themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.facts.rules.remembered_lists import REMEMBERED, remember_fact_lists
from recollect.model import Fact

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def make_fact(value: str) -> Fact:
    return Fact("s", "alex", value, "identity", "location", value, 1.0, 1.0, "alex", "c", 1, NOON, NOON, ("m1",))


def test_the_same_facts_are_read_once_and_others_anew() -> None:
    seen: list[list[str]] = []

    @remember_fact_lists
    def values(facts: Sequence[Fact]) -> list[str]:
        seen.append([fact.value for fact in facts])
        return seen[-1]

    utrecht, delft = make_fact("Utrecht"), make_fact("Delft")
    assert values([utrecht, delft]) is values((utrecht, delft))
    assert values([utrecht, replace(delft, value="Ghent")]) == ["Utrecht", "Ghent"]
    assert values([delft, utrecht]) == ["Delft", "Utrecht"]
    assert len(seen) == 3


def test_what_is_remembered_is_bounded_and_never_of_other_facts() -> None:
    @remember_fact_lists
    def values(facts: Sequence[Fact]) -> list[str]:
        return [fact.value for fact in facts]

    for number in range(REMEMBERED):  # objects come and go, and get the ids of others
        assert values([make_fact(str(number)), make_fact("b")]) == [str(number), "b"]
    assert values([make_fact("x")] * (2 * REMEMBERED)) == ["x"] * (2 * REMEMBERED)

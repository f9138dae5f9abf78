"""What is meant by "forget that …" (C2)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.remembered_statements import (
    matching_facts,
    matching_statements,
    means_everything,
    target_statement,
)
from everword.model import Fact, FactCategory

NOW = datetime(2024, 5, 1, tzinfo=UTC)
KNOWN = (
    "Alex lives in Berlin.",
    "Alex likes tea.",
    "Alex likes teapots.",
    "Alex likes green tea.",
    "Alex is vegan.",
    "Alex works at Contoso as a nurse.",
    "Alex's dog is called Rex.",
    "Alex has two cats.",
    "Alex does not like coffee.",
    "Alex's birthday is 3 March.",
    "Alex's brother lives in Oslo.",
    "Alex's wife's birthday is 8 May.",
)


def meant(what: str, similarity: tuple[float, ...] = ()) -> list[str]:
    return [KNOWN[number - 1] for number in matching_statements("Alex", KNOWN, what, similarity)]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("that I like tea", ["Alex likes tea."]),
        ("that Alex likes tea", ["Alex likes tea."]),
        ("I like teapots", ["Alex likes teapots."]),
        ("what I said about tea", ["Alex likes tea.", "Alex likes green tea."]),
        ("coffee", ["Alex does not like coffee."]),
        ("that I don't like coffee", ["Alex does not like coffee."]),
        ("my birthday", ["Alex's birthday is 3 March."]),
        ("my wife's birthday", ["Alex's wife's birthday is 8 May."]),
        ("where I live", ["Alex lives in Berlin."]),
        ("my job", ["Alex works at Contoso as a nurse."]),
        ("my dog", ["Alex's dog is called Rex."]),
        ("my pets", ["Alex's dog is called Rex.", "Alex has two cats."]),
        ("lives in Berlin", ["Alex lives in Berlin."]),
        ("that my brother lives in Oslo", ["Alex's brother lives in Oslo."]),
        ("that I like coffee", []),
        ("that I hate tea", []),
        ("that I live in Rome", []),
        ("teas and biscuits", []),
        ("xyz", []),
        ("", []),
        ("🙂", []),
    ],
)
@pytest.mark.checklist("C2")
def test_by_words_and_values(what: str, expected: list[str]) -> None:
    assert meant(what) == expected


@pytest.mark.parametrize(
    "what",
    [
        "everything",
        "it all",
        "all you know about me",
        "everything about Alex",
        "me",
        "my profile",
        "what you know about me",
    ],
)
@pytest.mark.checklist("C2")
def test_everything_is_asked_back(what: str) -> None:
    assert means_everything(what, "Alex")
    assert meant(what, (0.99,) * len(KNOWN)) == []


@pytest.mark.parametrize(
    "what", ["everything about tea", "that I like everything", "everything about Bob", "all my cats"]
)
def test_one_thing_is_not_everything(what: str) -> None:
    assert not means_everything(what, "Alex")


class TestMeaning:
    def cosines(self, **high: float) -> tuple[float, ...]:
        return tuple(high.get(f"n{number}", 0.3) for number in range(1, len(KNOWN) + 1))

    @pytest.mark.checklist("C2")
    def test_a_statement_in_other_words_is_found_by_its_vector(self) -> None:
        assert meant("my lunch choices", self.cosines(n5=0.8)) == ["Alex is vegan."]
        assert meant("my lunch choices", self.cosines(n5=0.7)) == []

    def test_where_several_are_as_alike_none_is_taken(self) -> None:
        assert meant("my lunch choices", self.cosines(n5=0.8, n2=0.79)) == []

    def test_likeness_does_not_outweigh_a_different_word(self) -> None:
        assert matching_statements("Alex", ["Alex likes teapots."], "that I like tea", [0.9]) == []
        assert matching_statements("Alex", ["Alex hates mud."], "that I like dirt", [0.9]) == []

    def test_odd_cosines_do_no_harm(self) -> None:
        assert matching_statements("Alex", KNOWN, "the moon", (float("nan"),) * 50) == []


def fact(
    key: str, value: str, category: FactCategory = "preference", subject: str | None = None, active: bool = True
) -> Fact:
    return Fact(
        "s",
        "alex",
        f"f-{key}-{value}",
        category,
        key,
        value,
        1.0,
        0.5,
        "alex",
        "c",
        1,
        NOW,
        NOW,
        ("m1",),
        subject,
        active=active,
    )


FACTS = [
    fact("likes", "tea"),
    fact("likes", "teapots"),
    fact("dislikes", "coffee"),
    fact("location", "Berlin", "identity"),
    fact("location", "Oslo", "identity", subject="brother"),
    fact("pets", "Rex (dog)", "identity"),
    fact("birthday", "3 March", "identity"),
    fact("birthday", "8 May", "identity", subject="wife"),
    fact("likes", "green tea"),
    fact("likes", "jazz", active=False),
]


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("that I like tea", ["tea"]),
        ("tea", ["tea", "green tea"]),
        ("that I don't like coffee", ["coffee"]),
        ("that I like coffee", []),
        ("where I live", ["Berlin"]),
        ("my birthday", ["3 March"]),
        ("my wife's birthday", ["8 May"]),
        ("birthdays", ["3 March", "8 May"]),
        ("my dog", ["Rex (dog)"]),
        ("that my brother lives in Oslo", ["Oslo"]),
        ("that Alex lives in Berlin", ["Berlin"]),
        ("jazz", []),
        ("everything", []),
    ],
)
@pytest.mark.checklist("C2")
def test_facts_are_matched_too(what: str, expected: list[str]) -> None:
    assert [found.value for found in matching_facts(FACTS, what, name="Alex")] == expected


@given(
    st.lists(st.text(max_size=60), max_size=5),
    st.text(st.characters(exclude_categories=()), max_size=120),
    st.text(max_size=12),
    st.lists(st.floats(), max_size=6),
)
def test_any_text(known: list[str], what: str, name: str, similarity: list[float]) -> None:
    found = matching_statements(name, known, what, similarity)
    assert set(found) <= set(range(1, len(known) + 1))
    assert len(set(found)) == len(found)
    matching_facts(FACTS, what, name=name)
    target_statement(name, what)

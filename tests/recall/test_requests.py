"""Standing instructions, questions for advice, stated preferences and the coverage of occasions: pure rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everword.recall.rules.query import (
    LONGEST_REQUEST,
    REQUEST,
    asks_for_advice,
    asks_to_recount,
    parse_query,
    text_to_compare,
)
from everword.recall.rules.ranking import (
    COVERED,
    FEW_OCCASIONS,
    PREFERENCE,
    STANDING,
    coverage_penalties,
    detail,
    is_standing_instruction,
    states_preference,
    traits,
)
from everword.text.terms import query_groups

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Always give prices in euros when I ask about trips.", True),
        ("Thanks! Please never use tables.", True),
        ("From my side: whenever I ask for a recipe, always leave out nuts.", True),
        ("I always take the early train.", False),
        ("Never mind, I found it.", False),
        ("She has never been to Oslo.", False),
        ("", False),
    ],
)
def test_an_instruction_for_good_is_known_by_its_form(text: str, expected: bool) -> None:
    assert is_standing_instruction(text) is expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Can you recommend a podcast for the drive?", True),
        ("My basil keeps dying. Any tips?", True),
        ("How should I arrange the shelves?", True),
        ("What did I pay for the bike?", False),
        ("When was the concert?", False),
    ],
)
def test_a_question_for_advice_asks_what_to_do(query: str, expected: bool) -> None:
    assert asks_for_advice(query) is expected


def test_the_words_of_a_request_count_little_and_the_asker_speaks() -> None:
    text = "Can you suggest podcasts?"
    groups = query_groups(text, {"en"})
    parsed = parse_query(text, groups, {"en"}, NOW)
    assert parsed.advice
    assert parsed.own
    assert dict(zip((group[0] for group in parsed.groups), parsed.emphasis, strict=True)) == {
        "suggest": REQUEST,
        "podcast": 1.0,
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Can you suggest some podcasts for my drive next week?", "podcasts drive"),
        ("My basil's leaves are turning yellow. Any tips?", "basil's leaves turning yellow"),
        ("I’ve been thinking about new curtains. Do you have any ideas?", "new curtains"),
        ("Any suggestions?", "Any suggestions?"),
        ("What did I pay for the bike?", "What did I pay for the bike?"),
        ("", ""),
    ],
)
def test_a_request_for_advice_is_compared_by_its_subject(query: str, expected: str) -> None:
    assert text_to_compare(query, NOW) == expected


def test_a_long_request_is_compared_as_a_whole() -> None:
    query = "Any tips? " + "soil " * LONGEST_REQUEST
    assert text_to_compare(query, NOW) == query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Can you list the order in which I brought up my garden plans?", True),
        ("Summarize what we said about the roof.", True),
        ("Which seeds did I order?", False),
        ("When does the train leave?", False),
    ],
)
def test_a_request_to_recount_asks_for_what_was_talked_about(query: str, expected: bool) -> None:
    assert asks_to_recount(query) is expected
    assert parse_query(query, [], {"en"}, NOW).recount is expected


def test_the_words_of_a_request_to_recount_count_little() -> None:
    text = "Can you list the order in which I brought up orchids?"
    parsed = parse_query(text, query_groups(text, {"en"}), {"en"}, NOW)
    assert parsed.own
    assert [group for group, factor in zip(parsed.groups, parsed.emphasis, strict=True) if factor == 1.0] == [
        ("orchid",)
    ]


@pytest.mark.parametrize("text", ["I really prefer trains to planes", "my favourite tea is oolong", "I don't eat fish"])
def test_who_says_what_they_like_states_a_preference(text: str) -> None:
    assert states_preference(text)


def test_the_traits_of_a_text_are_one_number() -> None:
    text = "Always mention the 3 museums in Ghent. I love them."
    assert traits(text) == detail(text) + PREFERENCE + STANDING
    assert traits("The bus was late.") == 0


class TestCoverage:
    def test_late_hits_of_an_occasion_that_has_one_count_less(self) -> None:
        occasions = [*([1, 2] * (COVERED // 2)), 1, 3, 3]
        penalties = coverage_penalties([10.0] * len(occasions), occasions, 0.2)
        assert not penalties[:COVERED].any()
        assert penalties[COVERED:].tolist() == [-2.0, 0.0, -2.0]

    def test_where_the_first_hits_are_of_many_occasions_nothing_changes(self) -> None:
        occasions = [*(place % (FEW_OCCASIONS + 1) for place in range(COVERED)), 1, 99]
        assert not coverage_penalties([1.0] * len(occasions), occasions, 0.2).any()

    def test_few_hits_stay_as_they_are(self) -> None:
        assert not coverage_penalties([3.0, 2.0], [1, 1], 0.2).any()
        assert not len(coverage_penalties([], [], 0.2))

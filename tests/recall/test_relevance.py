"""F4, the rule: how relevant a passage is, on one scale for small and large memories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.log.checks_and_seals import check_share
from everword.ports import PassageCandidate
from everword.recall.rules.neighbours import OCCASION, REACH, to_columns
from everword.recall.rules.query import speaks_of_a_life
from everword.recall.rules.ranking import Weights
from everword.recall.rules.relevance import (
    FLOOR,
    rarity,
    relevance,
    relevance_with_neighbours,
    shared_rarity,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
AMOUNT = st.floats(0, 30)
SIZE = st.integers(0, 10_000_000)


def relevance_of(words: float, deviations: float, size: int, *, personal: bool = False) -> float:
    return float(relevance(np.array([words]), np.array([deviations]), size, personal=personal)[0])


def passage(turn: int, *counts: int, conversation: str = "chat", hours: float = 0.0) -> PassageCandidate:
    time = NOW + timedelta(hours=hours)
    return PassageCandidate(turn, f"{conversation}-{turn}", time, 10, counts, conversation, turn)


@given(AMOUNT, AMOUNT, AMOUNT, AMOUNT, SIZE, st.booleans())
@pytest.mark.checklist("F4")
def test_more_words_or_more_likeness_never_make_less_relevant(
    words: float, more_words: float, deviations: float, more_deviations: float, size: int, personal: bool
) -> None:
    less = relevance_of(words, deviations, size, personal=personal)
    more = relevance_of(words + more_words, deviations + more_deviations, size, personal=personal)
    assert 0 <= less <= more <= 1


@given(AMOUNT, AMOUNT, SIZE, SIZE)
@pytest.mark.checklist("F4")
def test_a_larger_memory_asks_for_more_and_a_personal_query_for_less(
    words: float, deviations: float, size: int, further: int
) -> None:
    assert relevance_of(words, deviations, size + further) <= relevance_of(words, deviations, size)
    assert relevance_of(words, deviations, size, personal=True) >= relevance_of(words, deviations, size)


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=8), st.integers(5_000, 1_000_000))
def test_a_rarer_word_says_more_and_none_says_less_than_nothing(frequencies: list[int], size: int) -> None:
    values = rarity(sorted(frequencies), size)
    assert (np.diff(values) <= 0).all()
    assert (values > 0).all()
    assert (values < 1.2).all()


def test_a_word_of_a_tiny_memory_is_not_taken_for_frequent() -> None:
    assert rarity([1], 3)[0] > 0.9
    assert rarity([3], 3)[0] > 0.7
    assert rarity([900], 1_000)[0] < 0.2


@pytest.mark.parametrize("size", [1, 10, 600, 10_000, 1_000_000])
@pytest.mark.checklist("F4")
def test_nothing_in_common_is_never_relevant_and_much_in_common_is(size: int) -> None:
    assert relevance_of(0, 0, size) < FLOOR
    assert relevance_of(1, 0, size) < FLOOR  # one rare word alone
    assert relevance_of(3, 4, size) > FLOOR


def test_words_count_as_much_as_they_count_in_the_query() -> None:
    candidates = [passage(1, 1, 0), passage(2, 1, 3), passage(3, 0, 0)]
    plain = shared_rarity(to_columns(candidates), [1, 1], [1.0, 1.0], 100)
    weak = shared_rarity(to_columns(candidates), [1, 1], [0.1, 1.0], 100)
    assert plain[1] == pytest.approx(2 * plain[0])
    assert weak[0] == pytest.approx(0.1 * plain[0])
    assert plain[2] == weak[2] == 0
    assert shared_rarity(to_columns([]), [1], [1.0], 100).shape == (0,)
    assert shared_rarity(to_columns(candidates), [], [], 100).tolist() == [0, 0, 0]
    assert shared_rarity(to_columns(candidates), [1, 1], [], 100).tolist() == plain.tolist()


def test_a_message_is_as_relevant_as_what_it_completes_on_the_same_occasion() -> None:
    later = OCCASION / 3600 + 1
    candidates = [
        passage(1, 0),
        passage(1 + REACH, 1),
        passage(2 + 2 * REACH, 0),
        passage(2 + REACH, 0, hours=later),
        passage(2, 0, conversation="other"),
    ]
    own = np.array([0.1, 0.8, 0.2, 0.3, 0.05])
    assert relevance_with_neighbours(to_columns(candidates), own).tolist() == [0.8, 0.8, 0.2, 0.3, 0.05]


def test_a_message_is_as_relevant_as_its_best_passage() -> None:
    candidates = [passage(1, 0), passage(1, 1), passage(1, 0)]
    assert relevance_with_neighbours(to_columns(candidates), np.array([0.2, 0.7, 0.1])).tolist() == [0.7] * 3
    assert relevance_with_neighbours(to_columns([]), np.zeros(0)).tolist() == []


def test_likeness_is_counted_from_that_of_unrelated_texts() -> None:
    weights = Weights(unrelated=0.1, spread=0.2)
    assert weights.deviations([0.1, 0.5, -1.0]).tolist() == pytest.approx([0, 2, 0])


@pytest.mark.parametrize("value", [0, 0.5, 1, 1.0])
def test_a_floor_is_a_number_from_0_to_1(value: float) -> None:
    assert check_share("floor", value) == value


@pytest.mark.parametrize("value", [-0.1, 1.01, 50, float("nan"), float("inf"), True, "0.5", None])
def test_any_other_floor_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="floor"):
        check_share("floor", value)


@pytest.mark.parametrize(
    "query",
    [
        "What's my dog called?",
        "How long until my race?",
        "Where do I live?",
        "How many bikes do I own?",
        "did i tell you about the flat",
        "I've been having trouble with the battery lately. Any tips?",
        "You recommended five books. Which was the third?",
        "What did we decide about the roof?",
        "Can you remind me of the shop's name?",
        "Wie heißt mein Hund?",
        "¿Cómo se llama mi perro?",
        "Comment s'appelle mon chien ?",
        "我的狗叫什么名字？",
    ],
)
def test_a_query_can_speak_of_a_life(query: str) -> None:
    assert speaks_of_a_life(query)


@pytest.mark.parametrize(
    "query",
    [
        "Write a haiku about the sea.",
        "How do I undo the last commit in git?",
        "Can I freeze cooked rice?",
        "I need a synonym for enormous.",
        "I'd like a short poem about autumn.",
        "for i in range(3): print(i)",
        "Why do we yawn?",
        "Tell me a joke.",
        "Wie hoch ist der Eiffelturm?",
        "",
    ],
)
def test_a_request_does_not_speak_of_a_life(query: str) -> None:
    assert not speaks_of_a_life(query)

"""Whether what a model wrote is in the message it is about."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.facts.rules.grounding import Grounds

MESSAGE = "Emma moved to Lisbon in 2021 and pays 1,250 euros for a flat with three rooms."
GROUNDS = Grounds.of(MESSAGE)


@pytest.mark.parametrize("text", ["Emma lives in Lisbon.", "moving", "rent = 1250", "EMMA"])
def test_another_form_of_a_word_is_the_same(text: str) -> None:
    assert GROUNDS.shares_word(text)


@pytest.mark.parametrize("text", ["The weather is fine.", "", "name = Dana"])
def test_nothing_in_common(text: str) -> None:
    assert not GROUNDS.shares_word(text)


def test_pairs_that_are_not_in_the_message_go() -> None:
    line = "name = Emma; city = Oslo; rent = 1,250 euros; rent paid = 9,999 euros; colour = red"
    assert GROUNDS.filter_pairs(line) == "name = Emma; rent = 1,250 euros"


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("Emma pays 1250 euros in Lisbon.", []),
        ("Emma has a flat with 3 rooms.", []),
        ("The user says that Emma moved in May.", []),
        ("Emma moved to Portugal's capital Lisbon.", []),
        ("Emma and Dana moved to Oslo in 1999.", ["Dana", "Oslo", "1999"]),
        ("She met Dana in Oslo.", ["Dana", "Oslo"]),
    ],
)
def test_names_and_numbers_that_are_not_in_the_message(text: str, invented: list[str]) -> None:
    assert GROUNDS.find_inventions(text) == invented


def test_a_language_that_capitalises_every_noun_invents_no_names() -> None:
    grounds = Grounds.of("Ich habe gestern mit meinem Vater ein altes Segelboot in Hamburg gekauft.")
    assert grounds.find_inventions("Der Sohn und sein Vater kauften ein Boot an der Elbe.") == []


def test_a_message_without_words_grounds_everything() -> None:
    assert Grounds.of("👍 !!!").shares_word("thumbs up")


@given(st.text(st.characters(exclude_categories=()), max_size=200), st.text(max_size=200))
@settings(max_examples=sample(80))
def test_any_text(message: str, text: str) -> None:
    grounds = Grounds.of(message)
    assert grounds.find_inventions(message) == []
    assert grounds.shares_word(text) in (True, False)
    assert isinstance(grounds.filter_pairs(text), str)

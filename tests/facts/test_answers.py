"""Short answers, read by the question before them."""

from __future__ import annotations

from datetime import date

import pytest
from fact_corpus import notation

from everword.facts.english.finder import find_facts, read_facts

TODAY = date(2024, 9, 10)


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("Any allergies?", "Yes, peanuts", ["constraint/allergies=peanuts"]),
        ("Good to know. Are you allergic to anything?", "no", ["not constraint/allergies="]),
        ("Where do you live?", "In Ghent.", ["identity/location=ghent"]),
        ("What should I call you?", "Dana", ["identity/name=dana"]),
        ("How old are you?", "34", ["identity/age=34"]),
        ("What do you do for a living?", "A nurse at Globex", ["identity/employer=globex", "identity/job=nurse"]),
        ("Do you have any pets?", "Yes, two cats", ["identity/pets=two cats"]),
        ("What's your favourite colour?", "Blue!", ["preference/colour=blue"]),
        ("Are you vegetarian?", "Yes", ["constraint/diet=vegetarian"]),
        ("Do you like jazz?", "nope", ["preference/dislikes=jazz"]),
    ],
)
def test_an_answer_is_completed_by_its_question(question: str, answer: str, facts: list[str]) -> None:
    assert sorted(map(notation, find_facts(answer, TODAY, (), question))) == facts
    assert sorted(map(notation, read_facts(answer, TODAY, (), question))) == facts


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("", "Yes, peanuts"),
        ("How was the trip?", "Great, peanuts"),
        ("Do you want recipes for people with allergies?", "Yes, please"),
        ("Which city is the biggest?", "Tokyo"),
        ("Where do you live?", "Why do you ask?"),
        ("Where do you live?", "That's private."),
        ("Do you have pets?", "I wish"),
        ("Do you like it?", "yes"),
        ("Are you vegetarian?", "Sort of, it depends on who cooks and on what there is to eat in the end"),
    ],
)
def test_what_answers_nothing_known_is_left_alone(question: str, answer: str) -> None:
    assert find_facts(answer, TODAY, (), question) == []

"""What people say of themselves, as statements about them (C2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.person_shift import MAX_STATEMENT, MAX_STATEMENTS, first_person, statements_about


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I live in Rome", ["Alex lives in Rome."]),
        ("i'm vegan", ["Alex is vegan."]),
        ("my dog is called Rex", ["Alex's dog is called Rex."]),
        ("I live in Rome and work at Globex", ["Alex lives in Rome.", "Alex works at Globex."]),
        ("I live in Rome and my dog is called Rex", ["Alex lives in Rome.", "Alex's dog is called Rex."]),
        ("I like music and dance", ["Alex likes music and dance."]),
        ("My wife and I like tea", ["Alex's wife and Alex like tea."]),
        ("I don't like tea!", ["Alex doesn't like tea."]),
        ("I've been living in Oslo since 2019", ["Alex has been living in Oslo since 2019."]),
        ("I studied law. I have two cats.", ["Alex studied law.", "Alex has two cats."]),
        ("I try to avoid sugar", ["Alex tries to avoid sugar."]),
        ("I can cook and bake", ["Alex can cook and bake."]),
        ("I need my me-time", ["Alex needs Alex's me-time."]),
        ("call me Al", ["Alex goes by Al."]),
        ("lives in Berlin", ["Alex lives in Berlin."]),
        ("allergic to nuts", ["Alex is allergic to nuts."]),
        ("a nurse", ["Alex is a nurse."]),
        ("favourite colour: blue", ["Alex's favourite colour is blue."]),
        ("they live in Rome", ["Alex lives in Rome."]),
        ("The user lives in Rome", ["Alex lives in Rome."]),
        ("alex lives in Rome", ["Alex lives in Rome."]),
        ("gruzo is Sergey", ["gruzo is Sergey."]),
        ("the wifi password is hunter2", ["The wifi password is hunter2."]),
        ("a bus leaves at nine", ["A bus leaves at nine."]),
        ("Ich wohne in Rom", ["Alex hat gesagt: „Ich wohne in Rom.“"]),
        ("do I like tea?", []),
        ("I am", []),
        ("", []),
        ("🙂", []),
    ],
)
@pytest.mark.checklist("C2")
def test_statements_are_in_the_third_person(said: str, expected: list[str]) -> None:
    assert list(statements_about("Alex", said)) == expected


@pytest.mark.checklist("C2")
def test_who_speaks_of_another_is_named() -> None:
    assert statements_about("Bob", "he is my brother", speaker="Ann") == ("Bob is Ann's brother.",)
    assert statements_about("Bob", "<@12> lives with me", speaker="Ann") == ("Bob lives with Ann.",)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Alex lives in Rome.", "I live in Rome."),
        ("Alex's boss hates Alex.", "My boss hates me."),
        ("Alex also studies law.", "I also study law."),
        ("Alexander lives in Rome.", "Alexander lives in Rome."),
    ],
)
def test_a_statement_can_be_read_as_the_person_would_say_it(statement: str, expected: str) -> None:
    assert first_person("Alex", statement) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=300), st.text(max_size=30), st.text(max_size=30))
def test_any_text_and_any_name(said: str, name: str, speaker: str) -> None:
    made = statements_about(name, said, speaker=speaker)
    assert len(made) <= MAX_STATEMENTS
    for text in made:
        assert "\n" not in text
        first_person(name, text)


def test_huge_texts_are_cut() -> None:
    made = statements_about("Alex", "I like " + "very " * 100_000 + "much")
    assert all(len(text) <= MAX_STATEMENT + 1 for text in made)
    assert len(statements_about("Alex", "I like tea. I am here now. " * 100_000)) <= MAX_STATEMENTS

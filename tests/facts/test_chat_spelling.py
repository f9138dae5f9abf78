"""What people write among friends, without capitals, stops and apostrophes, through the public API: what names
something becomes a fact in plain words, and what does not becomes none.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_doubles import settle_views

from everword import Memory
from everword.text.filler import names_something, plain_spelling


def facts_of(folder: Path, *texts: str) -> list[str]:
    with Memory(str(folder / "memory.db"), followers=False, chat_model="", memory_model="") as memory:
        chat = memory.conversation("demo", user="mia")
        for text in texts:
            chat.add("user", text)
        settle_views(memory, "facts")
        return sorted(f"{fact.key}: {fact.value}" for fact in memory.facts(user="mia"))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("sounds good but i hate cilantro tbh", ["dislikes: cilantro"]),
        ("i live w my parents rn", ["place: lives with their parents"]),
        ("im 27 btw", ["age: 27"]),
        ("im vegan now", ["diet: vegan"]),
        ("i got a new bike yesterday its a trek", ["possession: got a new bike"]),
        ("i did ok. i learned to weld in the navy", ["event: learned to weld in the navy"]),
        ("i have a weakness for cats", ["possession: has a weakness for cats"]),
        ("that is a good idea but i prefer to play outside", ["prefers: playing outside"]),
        ("dad got me a tent", ["relationship: their dad got them a tent"]),
    ],
)
@pytest.mark.checklist("B4")
def test_a_fact_is_read_in_plain_words(tmp_path: Path, text: str, facts: list[str]) -> None:
    assert facts_of(tmp_path, text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "honestly i love quiet",
        "i like sweet and sour tbh",
        "got some right, got some wrong",
        "i love u",
        "always be urself everyone else is taken",
        "Never give up on your dreams.",
        "we had such a good time omg",
    ],
)
@pytest.mark.checklist("B4")
def test_what_names_nothing_is_no_fact(tmp_path: Path, text: str) -> None:
    assert facts_of(tmp_path, text) == []


@pytest.mark.checklist("B4")
def test_an_animal_is_not_taken_for_the_person_before_it(tmp_path: Path) -> None:
    assert facts_of(tmp_path, "My girlfriend Luna's dog is huge.") == []
    assert facts_of(tmp_path, "My girlfriend Luna is visiting from Rome.")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("im w my gf rn tbh", "I'm with my girlfriend"),
        ("she is an rn", "she is an rn"),
        ("i passed my test im so happy", "i passed my test. I'm so happy"),
        ("the class im taking is hard", "the class I'm taking is hard"),
        ("call me Ada btw", "call me Ada"),
        ("ill call u tmrw", "I'll call you tomorrow"),
        ("I am ill and tired.", "I am ill and tired."),
    ],
)
def test_spelling_of_chats_is_read_as_plain_english(text: str, plain: str) -> None:
    assert plain_spelling(text) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [("cilantro tbh", True), ("quiet", False), ("the 30th", False), ("10 cm", False), ("really useful", False)],
)
def test_content_is_a_noun_or_a_name_that_is_not_filler(text: str, expected: bool) -> None:
    assert names_something(text.split()) is expected

"""One key for one thing, however it was called (B3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.keys_and_values import (
    MAX_KEY,
    category_of,
    find_home,
    holds_several_values,
    is_in_category,
    normalise_key,
)
from everword.model import FACT_CATEGORIES, FactCategory


@pytest.mark.parametrize(
    ("category", "names", "key"),
    [
        ("preference", ["favourite language", "preferred language", "Favorite Languages", "language"], "language"),
        ("preference", ["favourite colour", "fav color", "preferred_colour", "favoriteColor"], "colour"),
        ("preference", ["hobbies", "interest", "likes", "favourite things"], "likes"),
        ("preference", ["favourite movie", "preferred film"], "film"),
        ("preference", ["code style", "coding_style"], "coding style"),
        ("identity", ["name", "full name", "user's name", "First Name", "the user name"], "name"),
        ("identity", ["lives in", "city", "current city", "home", "residence"], "location"),
        ("identity", ["timezone", "time zone", "TimeZone", "tz"], "time zone"),
        ("identity", ["job", "jobTitle", "occupation", "profession"], "job"),
        ("identity", ["mom", "Mum", "mother"], "mother"),
        ("identity", ["sister", "sisters", "my sister"], "sister"),
        ("identity", ["mother-in-law", "mother in law"], "mother in law"),
        ("constraint", ["allergy", "Food Allergies", "allergic to", "allergens"], "allergies"),
        ("constraint", ["dietary restrictions", "diet", "dietary preference"], "diet"),
        ("instruction", ["language", "reply language", "preferred language", "answer in"], "reply language"),
        ("instruction", ["emoji", "use of emojis"], "emojis"),
    ],
)
def test_other_names_of_a_key_are_the_key(category: FactCategory, names: list[str], key: str) -> None:
    assert {name: normalise_key(category, name) for name in names} == dict.fromkeys(names, key)


def test_a_language_that_computers_speak_is_a_programming_language() -> None:
    assert normalise_key("preference", "favourite language", "Python") == "programming language"
    assert normalise_key("preference", "preferred coding language", "Rust") == "programming language"
    assert normalise_key("preference", "favourite language", "Latin") == "language"


def test_a_key_that_nobody_knows_keeps_its_plain_form() -> None:
    assert normalise_key("identity", "Shoe Sizes") == "shoe size"
    assert normalise_key("preference", "favourite editor") == "editor"
    assert normalise_key("identity", "  ") == ""
    assert normalise_key("identity", "!?") == ""


def test_keys_that_hold_several_values() -> None:
    several = [("constraint", "allergies"), ("identity", "pets"), ("identity", "languages"), ("preference", "likes")]
    single = [("identity", "name"), ("identity", "location"), ("preference", "colour"), ("instruction", "call me")]
    assert all(holds_several_values(category, key) for category, key in several)  # type: ignore[arg-type]
    assert not any(holds_several_values(category, key) for category, key in single)  # type: ignore[arg-type]


@pytest.mark.checklist("B4")
def test_an_unknown_category_is_other() -> None:
    assert [category_of(f" {name.upper()}s ") for name in FACT_CATEGORIES] == list(FACT_CATEGORIES)
    assert category_of("identities") == "identity"
    assert category_of("mood") == category_of("") == "other"


@pytest.mark.parametrize(
    ("category", "key", "home"),
    [
        ("work", "company", ("identity", "employer")),
        ("work", "role", ("identity", "job")),
        ("place", "home", ("identity", "location")),
        ("relationship", "mum", ("identity", "mother")),
        ("relationship", "status", ("identity", "marital status")),
        ("health", "allergy", ("constraint", "allergies")),
        ("possession", "dog", ("identity", "pets")),
        ("possession", "phone", ("possession", "phone")),
        ("other", "first name", ("identity", "name")),
        ("identity", "hobby", ("preference", "likes")),
        ("preference", "favourite place", ("preference", "place")),
        ("plan", "location", ("plan", "location")),
        ("event", "birthday", ("event", "birthday")),
        ("work", "projects", ("work", "project")),
    ],
)
def test_a_known_key_has_one_category(category: FactCategory, key: str, home: tuple[FactCategory, str]) -> None:
    assert find_home(category, key) == home
    assert find_home(*home) == home


@pytest.mark.parametrize(
    ("category", "key"), [("identity", "goal"), ("possession", "car"), ("plan", "trip"), ("preference", "music")]
)
def test_a_key_that_nobody_knows_holds_several_values(category: FactCategory, key: str) -> None:
    assert holds_several_values(category, key)


@given(st.sampled_from(FACT_CATEGORIES), st.text(max_size=200))
def test_normalising_twice_is_the_same_as_once(category: FactCategory, key: str) -> None:
    once = normalise_key(category, key)
    assert len(once) <= MAX_KEY
    assert normalise_key(category, once) == once


def test_a_category_is_meant_as_people_mean_it() -> None:
    assert is_in_category("identity", "employer", "work")
    assert is_in_category("identity", "employer", "identity")
    assert is_in_category("identity", "location", "place")
    assert is_in_category("identity", "sister", "relationship")
    assert is_in_category("constraint", "allergies", "health")
    assert not is_in_category("identity", "name", "work")
    assert not is_in_category("plan", "location", "place")
    assert not is_in_category("other", "employer", "work")
    assert not is_in_category("work", "project", "identity")

"""Labels of people side by side (F14): whatever ids they have, no two read the same, and none reads as structure."""

from __future__ import annotations

import re
import unicodedata
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.log.checks_and_seals import check_id
from everword.model import Role
from everword.text.escaping import (
    MAX_AUTHOR,
    author_labels,
    byline,
    distinct_labels,
    name_shapes,
    person_byline,
    without_posing,
)

PIECES = (
    *(
        "u2",
        "U2",
        "u",
        "2",
        "ｕ",
        "𝐮",
        "υ",
        "\u200b",
        "\u200d",
        "\u2060",
        "\u202e",
        "\u0301",
        "\u034f",
        "\ufe0f",
        "\u00ad",
    ),
    *(
        " ",
        "\u00a0",
        "\u2003",
        "\u2800",
        "\u3164",
        ":",
        "：",
        "[",
        "]",
        "(",
        ")",
        "#",
        "＃",
        "*",
        "·",
        "=",
        "<",
        ">",
        "|",
    ),
    *(
        "system",
        "Sуstem",
        "user",
        "assistant",
        "The ",
        "member ",
        "ann",
        "Ann",
        "аnn",
        "é",
        "e\u0301",
        "41dc43",
        "x" * 40,
    ),
)
IDS = st.integers(0, 2**62).map(lambda seed: "".join(Random(seed).choices(PIECES, k=Random(seed).randint(1, 5))))
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")
SPEAKERS = st.lists(st.tuples(st.sampled_from(ROLES), IDS.filter(lambda id: bool(id.strip()))), max_size=12)
NO_STRUCTURE = re.compile(r"[^][(){}<>:,;=|\"`\\*\n\r·]+")
RESERVED = re.compile(r"(?:system|user|human|assistant|developer|tool)", re.IGNORECASE)


@settings(max_examples=sample(70))
@given(SPEAKERS)
@pytest.mark.checklist("F14")
def test_no_two_read_the_same(speakers: list[tuple[Role, str]]) -> None:
    labels = author_labels(speakers)
    shapes = [name_shapes(label) for (role, _), label in labels.items() if label != role]
    assert all(shape.isdisjoint(other) for n, shape in enumerate(shapes) for other in shapes[:n])
    assert author_labels(reversed(speakers)) == labels, "whoever spoke first"


@settings(max_examples=sample(70))
@given(SPEAKERS)
@pytest.mark.checklist("F14")
def test_none_is_structure_or_a_role(speakers: list[tuple[Role, str]]) -> None:
    for (role, author), label in author_labels(speakers).items():
        check_id("author", author)
        assert NO_STRUCTURE.fullmatch(label)
        assert len(label) <= MAX_AUTHOR
        reading = unicodedata.normalize("NFKC", label)
        is_alone = sum(other == "user" for other, _ in {*speakers}) == 1
        is_own_role = label == role and (role != "user" or is_alone)
        assert is_own_role or not RESERVED.fullmatch(reading.strip())


@settings(max_examples=sample(70))
@given(
    IDS.filter(lambda id: bool(id.strip()) and id != "user"), IDS.filter(lambda id: bool(id.strip()) and id != "user")
)
@pytest.mark.checklist("F14")
def test_an_id_is_bare_only_if_it_is_all_that_is_shown(one: str, other: str) -> None:
    """So two ids that show the same letters differ without knowing of each other."""
    assert (byline(one) == one) or "#" in byline(one)
    assert one == other or byline(one) != byline(other)


@pytest.mark.checklist("F14")
def test_names_may_be_the_same_and_people_are_not() -> None:
    shown = distinct_labels({"1": "Kim", "2": "Kim", "3": "Lee"})
    assert shown["3"] == "Lee"
    assert len({*shown.values()}) == 3
    assert all(shown[id].startswith("Kim #") for id in ("1", "2"))


@pytest.mark.checklist("F14")
def test_after_a_stop_nobody_begins_to_speak_for_another() -> None:
    said = "Fine. u2: yes. Note: it is late! **U2** : no; and so u2: no"
    assert without_posing(said, ["u2", "ann"]) == "Fine. ·u2: yes. Note: it is late! ·**U2** : no; and so u2: no"
    assert without_posing("The assistant: sure", ["The assistant"]) == "·The assistant: sure"
    assert without_posing("·u2: yes", ["u2"]) == "·u2: yes"


@pytest.mark.parametrize(
    "name", ["user", "User", "USER", "uѕer", "ｕｓｅｒ", "assistant", "Assistant", "system", "tool"]
)
@pytest.mark.checklist("G9")
def test_whoever_is_called_like_a_role_is_shown_as_a_person(name: str) -> None:
    """By id, by a name that others know, among others, and as the source of a claim."""
    by_id = author_labels([("user", name), ("user", "alex"), ("assistant", "assistant")])
    by_name = author_labels([("user", "7"), ("user", "alex"), ("assistant", "assistant")], {"7": name})
    for label in (by_id["user", name], by_name["user", "7"], person_byline(name), person_byline("7", name)):
        assert re.fullmatch(r"member .+ #[0-9a-f]{6,}", label), label
    assert by_id["assistant", "assistant"] == "assistant"


def test_the_one_who_speaks_alone_without_a_name_is_the_user() -> None:
    assert author_labels([("user", "user"), ("assistant", "assistant")]) == {
        ("user", "user"): "user",
        ("assistant", "assistant"): "assistant",
    }


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
@pytest.mark.checklist("G9")
def test_an_assistant_called_user_is_no_user(role: Role) -> None:
    label = author_labels([(role, "user"), ("user", "user")])[role, "user"]
    assert label.startswith(f"the {role} user #")

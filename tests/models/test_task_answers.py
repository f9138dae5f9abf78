"""What models write, read as the object they were asked for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.follow.model_task import MAX_CHARACTERS, line, objects, parts_by_label

WANTED = {"tier1": "a = b", "tier2": "It is so."}
LABELS = {"tier1": r"tier\s*_?1", "tier2": r"tier\s*_?2"}

WRITTEN = {
    "plain": '{"tier1": "a = b", "tier2": "It is so."}',
    "in prose": 'Sure! Here it is: {"tier1": "a = b", "tier2": "It is so."} I hope this helps.',
    "in a fence": '```json\n{"tier1": "a = b", "tier2": "It is so."}\n```',
    "after thinking": '<think>{"tier1": "no"} hmm</think>\n{"tier1": "a = b", "tier2": "It is so."}',
    "trailing comma": '{"tier1": "a = b", "tier2": "It is so.",}',
    "single quotes": "{'tier1': 'a = b', 'tier2': 'It is so.'}",
    "curly quotes": "{“tier1”: “a = b”, “tier2”: “It is so.”}",
    "bare keys": '{tier1: "a = b", tier2: "It is so."}',
    "other keys": '{"Tier 1": "a = b", "TIER_2": "It is so."}',
    "no end": '{"tier1": "a = b", "tier2": "It is so."',
    "no last quote": '{"tier1": "a = b", "tier2": "It is so.',
    "new lines": '{\n  "tier1": "a = b",\n\n  "tier2": "It is so."\n}',
    "equals": '{"tier1" = "a = b"; "tier2" = "It is so."}',
    "in a list": '[{"tier1": "a = b", "tier2": "It is so."}]',
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_an_object_is_read_however_it_is_written(text: str) -> None:
    assert next(objects(text)) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        "TIER1: a = b\nTIER2: It is so.",
        "TIER1: a = b TIER2: It is so.",
        "**Tier 1:** a = b\n\n**Tier 2:** It is so.",
        "- tier_1 = a = b\n- tier_2 = It is so.",
        "Of course!\n\n### Tier 1: a = b\n### Tier 2: It is so.",
    ],
)
def test_labels_are_read_where_there_is_no_object(text: str) -> None:
    assert parts_by_label(text, LABELS) == [WANTED]


def test_labels_that_come_again_begin_another_object() -> None:
    text = "TIER1: a = b\nTIER2: One.\nTIER1: c = d\nTIER2: Two."
    assert parts_by_label(text, LABELS) == [{"tier1": "a = b", "tier2": "One."}, {"tier1": "c = d", "tier2": "Two."}]


def test_quotes_inside_a_string_do_not_end_it() -> None:
    found = next(objects('{"tier1": "said = yes", "tier2": "He said "yes", then left.",}'))
    assert found == {"tier1": "said = yes", "tier2": 'He said "yes", then left.'}
    assert next(objects("{'tier2': 'It's fine, isn't it?',}")) == {"tier2": "It's fine, isn't it?"}


def test_several_objects_come_in_order() -> None:
    assert [found["n"] for found in objects('{"n": 1} and {"n": 2}, [{"n": 3}, {"n": 4}]')] == [1, 2, 3, 4]


@pytest.mark.parametrize("text", ["", "no", "{", "[", "{}", "{]", "[}", "null", "{{{{", "```json\n```", "{:}", "}{"])
def test_where_there_is_none_there_is_none(text: str) -> None:
    assert list(objects(text)) == []


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, '{"a":' * 50_000, "[/*," * 20_000, '"' * 100_000, "{'" * 50_000, "\n" * 200_000],
)
def test_a_hostile_answer_is_read_in_its_time(text: str) -> None:
    list(objects(text))
    parts_by_label(text, LABELS)


def test_the_end_of_an_endless_answer_is_what_counts() -> None:
    assert next(objects("blah " * MAX_CHARACTERS + WRITTEN["plain"])) == WANTED


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a = b", "a = b"),
        ({"name": "Alex", "age": 34}, "name = Alex; age = 34"),
        (["name = Alex", "age = 34"], "name = Alex; age = 34"),
        ([{"name": "Alex"}, {"age": 34}], "name = Alex; age = 34"),
        (None, ""),
        (True, "True"),
        (3.5, "3.5"),
    ],
)
def test_a_value_becomes_a_line(value: object, expected: str) -> None:
    assert line(value) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["alpha", "beta", "gamma1"]), st.text(max_size=40) | st.integers(), min_size=1))
@settings(max_examples=sample(60))
def test_json_comes_back_as_it_was(value: dict[str, str | int]) -> None:
    assert next(objects(f"Here: {json.dumps(value)}")) == value


@given(
    st.text(max_size=200) | JSON.map(json.dumps) | st.text(st.sampled_from(list("{}[]:,\"'\\ a1\n“”`=")), max_size=80)
)
@settings(max_examples=sample(50))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for found in objects(text):
        assert isinstance(found, dict)
        line(found)
    parts_by_label(text, LABELS)

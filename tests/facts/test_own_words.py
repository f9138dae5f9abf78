"""Whose words a message has (F15): what others wrote is not the author's, and what the author wrote is.

`tests/data/pasted_texts.jsonl` has texts of both kinds, each with the facts it states of who sends it.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from fact_corpus import SAID_ON, notation, plain
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.facts.english.finder import find_facts
from everword.facts.prompts import ReadingInputs, reading
from everword.facts.rules.grounding import Evidence, ReadLine
from everword.text.own_words import own_words

PATH = Path(__file__).parents[1] / "data" / "pasted_texts.jsonl"
PIECES = (
    *(
        "\n",
        "\n\n",
        "\r",
        "\u2028",
        " ",
        "\t",
        ":",
        ": ",
        ",",
        ";",
        "|",
        ">",
        "> ",
        "<",
        "</",
        "<p>",
        "</p>",
        "<b>",
        '"',
    ),
    *(
        "I live in Oslo",
        "my name is Anna",
        "Anna",
        "ANNA",
        "wrote:",
        "On ",
        "Dear ",
        "From: ",
        "Subject: ",
        "10:32",
        "«",
    ),
    *(
        "[",
        "]",
        "===",
        "MESSAGE[",
        "User: ",
        "Q: ",
        "A: ",
        "00:00:01,000 --> ",
        "-----",
        "WHAT IS KNOWN",
        "this email:",
    ),
    *("“", "”", "12/05/24, ", "ago"),
)
LONG = sample(64_000)  # characters
MOMENT = 0.02  # seconds: so little is no matter
OTHER_SPEAKS = re.compile(r"From: Chef|The vet said:|My \w+ (?:said|told|wrote|texted)(?: to)?(?: me)?:")


@dataclass(frozen=True, slots=True)
class Row:
    kind: str
    name: str
    said: str
    facts: frozenset[str]


def rows(kind: str) -> list[Row]:
    every = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    return [
        Row(row["kind"], row["name"], row["said"], frozenset(map(plain, row["facts"])))
        for row in every
        if row["kind"] == kind
    ]


def facts_in(text: str) -> set[str]:
    return {notation(fact) for fact in find_facts(text, SAID_ON)}


@pytest.mark.parametrize("row", rows("pasted"), ids=lambda row: row.name)
@pytest.mark.checklist("F15")
def test_what_others_wrote_is_no_fact_of_who_pastes_it(row: Row) -> None:
    """F15: not found by rules, and not kept where a model finds it."""
    assert facts_in(row.said) == row.facts
    told = [fact for line in row.said.splitlines() for fact in find_facts(line.strip(" <>|-"), SAID_ON)]
    evidence = Evidence.of([ReadLine("alex", row.said)], 0)
    assert {notation(fact) for fact in told if evidence.refuse_fact(fact) is None} <= row.facts


@pytest.mark.parametrize("row", rows("own"), ids=lambda row: row.name)
@pytest.mark.checklist("F15")
def test_what_the_author_wrote_is_found(row: Row) -> None:
    assert facts_in(row.said) >= row.facts
    assert row.facts


def test_there_are_enough_of_both() -> None:
    assert len(rows("pasted")) >= 180
    assert len(rows("own")) >= 90


@pytest.mark.parametrize("row", rows("pasted"), ids=lambda row: row.name)
@pytest.mark.checklist("F15")
def test_a_model_is_not_shown_what_others_wrote(row: Row) -> None:
    asked = reading.build(ReadingInputs((ReadLine("alex", row.said),))).messages[-1]["content"]
    assert facts_in(asked.partition("1. alex: ")[2].rpartition("\n=== END")[0]) == row.facts


@pytest.mark.parametrize("row", rows("own"), ids=lambda row: row.name)
def test_own_words_are_left_as_they_are(row: Row) -> None:
    """But for the words of another's among them."""
    if not OTHER_SPEAKS.search(row.said):
        assert own_words(row.said) == row.said


@settings(max_examples=sample(100))
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_read_without_an_error_and_nothing_is_added(text: str) -> None:
    left = own_words(text)
    assert own_words(left).count("I live") <= left.count("I live") <= text.count("I live")
    find_facts(text, SAID_ON)


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "\n",
        "\t",
        "a ",
        "A: ",
        "<p>",
        "“",
        '"',
        "-",
        "=",
        "10:32 ",
        "a,b,c\n",
        "a  ",
        "On ",
        "the ",
        "_",
        "A. ",
        "I a,\n",
        "a: b\n",
    ],
)
def test_a_long_text_takes_time_in_proportion(unit: str) -> None:
    """Four times as much takes less than ten times as long: were any step quadratic, it would be sixteen."""

    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        begun = time.thread_time()
        own_words(text)
        return time.thread_time() - begun

    own_words(unit)  # what is read once is read
    assert any(seconds(LONG) < max(10 * seconds(LONG // 4), MOMENT) for _ in range(5)), "not once: the machine is busy"


@pytest.mark.parametrize(
    "line",
    [
        "Mina Sol  4 min ago",
        "(Chorus) I walk alone at night",
        "We are hiring, apply now",
        "// I live in a hut",
        "Memories",
    ],
)
def test_a_single_line_may_be_foreign_too(line: str) -> None:
    assert own_words(line).strip() == ""


@pytest.mark.parametrize("line", ["I moved to Leeds and I like it here!", "my cat [a grey one] sleeps (all day)", ""])
def test_a_plain_line_is_all_own_words(line: str) -> None:
    assert own_words(line) == line

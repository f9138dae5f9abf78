"""Corrections within a conversation, and what they correct (F2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword import Message
from everword.text.corrections import corrected_turns, has_correction

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def talk(*said: tuple[str, str]) -> list[Message]:
    """A chat from pairs of an author and a text."""
    return [
        Message(
            "s",
            "c",
            turn,
            f"m{turn}",
            "assistant" if author == "assistant" else "user",
            author,
            "u",
            text,
            START + timedelta(minutes=turn),
        )
        for turn, (author, text) in enumerate(said, start=1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Actually, it is on Friday.",
        "The deadline moved to 10 May.",
        "No, I meant Tom.",
        "It\u2019s now at seven.",
        "We rescheduled the meeting to Monday.",
        "Scratch that.",
        "She no longer works there.",
    ],
)
def test_a_correction_is_recognised(text: str) -> None:
    assert has_correction(text)


@pytest.mark.parametrize(
    "text", ["We are actually fine.", "I moved house.", "The plan is good.", "See you on Friday.", ""]
)
def test_ordinary_words_are_none(text: str) -> None:
    assert not has_correction(text)


def test_a_changed_plan_is_paired_with_the_plan_by_its_words() -> None:
    messages = talk(
        ("ann", "The deadline of the report is 3 May."),
        ("bob", "The cake was great."),
        ("ann", "It was."),
        ("bob", "The deadline moved to 10 May."),
    )
    assert corrected_turns(messages) == {1: 4}


def test_without_words_of_its_own_a_correction_follows_a_value_of_its_kind() -> None:
    messages = talk(("ann", "See you on Thursday"), ("bob", "fine by me"), ("ann", "Actually it moved to Friday"))
    assert corrected_turns(messages) == {1: 3}


def test_words_that_mend_follow_the_speakers_own_message() -> None:
    messages = talk(("ann", "My brother Jim will come."), ("bob", "Jim is nice."), ("ann", "No, I meant Tom."))
    assert corrected_turns(messages) == {1: 3}


def test_the_last_of_several_corrections_counts() -> None:
    messages = talk(
        ("ann", "The race is on 3 May."),
        ("ann", "The race moved to 4 May."),
        ("ann", "Actually, the race is on 5 May."),
    )
    assert corrected_turns(messages)[1] in (2, 3)
    assert 3 in corrected_turns(messages).values()


def test_the_prose_of_an_assistant_corrects_nobody() -> None:
    prose = "Use butter instead of oil for the cake. " * 20
    assert corrected_turns(talk(("ann", "How do I bake a cake with oil?"), ("assistant", prose))) == {}


@given(
    st.lists(st.sampled_from(["Actually, no.", "It moved to Friday", "on Friday", "ok", "I meant 4", "4"]), max_size=12)
)
def test_only_something_earlier_is_corrected(texts: list[str]) -> None:
    messages = talk(*(("ann" if n % 3 else "bob", text) for n, text in enumerate(texts)))
    for corrected, correction in corrected_turns(messages).items():
        assert 1 <= corrected < correction <= len(messages)
        assert has_correction(messages[correction - 1].content)

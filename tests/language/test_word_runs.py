"""The words of a text are those that a pattern finds, however they are read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.word_runs import lower_letter_runs, lower_words

TEXTS = ("", "I don't_know, 3 BOWLS!", "tabs\tand\nbreaks\x1c\x1f", "Größe 12 m²", "naïve_word", "東京 2024", "...")


def assert_as_by_pattern(text: str) -> None:
    assert lower_words(text) == re.findall(r"\w+", text.lower())
    assert lower_letter_runs(text) == re.findall(r"[^\W\d_]+", text.lower())


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_the_pattern(text: str) -> None:
    assert_as_by_pattern(text)


@given(st.text(st.characters(max_codepoint=127)) | st.text())
def test_so_are_those_of_any_text(text: str) -> None:
    assert_as_by_pattern(text)

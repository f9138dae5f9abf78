"""The words of a text are those that a pattern finds, however they are read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.text.doc import BEFORE_PLACE, lower_letter_runs, lower_words, words_before

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


class TestWordsBefore:
    @given(st.text(alphabet="ab c'\n", max_size=300), st.integers(0, 300))
    def test_they_end_the_text_before_a_place_and_begin_at_a_word(self, text: str, place: int) -> None:
        place = min(place, len(text))
        before = words_before(text, place)
        assert text[:place].endswith(before)
        assert before == text[:place] or before.startswith(" ") or len(before) == BEFORE_PLACE

    def test_a_short_text_is_given_whole(self) -> None:
        assert words_before("the last Friday of May", 9) == "the last "

    def test_of_a_long_text_no_word_is_cut(self) -> None:
        before = words_before("another " * 100 + "Friday", 800)
        assert {*before.split()} == {"another"}
        assert len(before.split()) > 10

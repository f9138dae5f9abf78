"""A pattern is not searched in a text that lacks its words, and nothing else changes."""

from __future__ import annotations

import re

import pytest

from recollect.language.lazy_patterns import OFTEN, lazy_pattern
from recollect.language.pattern_prefilter import may_match, pattern_needs, text_words

TEXTS = (
    "She said that the train leaves at 9:30 on Monday.",
    "We decided to stay, didn’t we?",
    "I DON'T know; the café is *closed*.",
    "ſaid in an old hand, and İstanbul",
    "no",
    "",
    "nowhere near",
    "Hahaha, stay",
)
PATTERNS = (
    r"\b(?:said|told\sme|decid\w+)\b",
    r"\bdon['’]?t\b|\bdidn['’]?t\b",
    r"(?:^|[.!?,]\s*)(?:no|wait)\b",
    r"(?:\w+\s){0,3}?(?:the|my)\s",
    r"\d{1,2}:\d\d|\b(?:mon|tues)days?\b",
    r"\*[^*]+\*|_\w+_",
    r"caf(?=é)",
    r"(?:ha){2,}|know",
    r"\b(?:(?:ha){2,}h?|lol)",
    r"(?:\W*(?:oh|well),?\s)*stay\b",
)


@pytest.mark.parametrize("source", PATTERNS)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_a_text_that_is_ruled_out_has_no_match(source: str, flags: int) -> None:
    needs = pattern_needs(source, flags)
    for text in TEXTS:
        found = re.search(source, text, flags)
        assert found is None or needs is None or may_match(needs, text), text


@pytest.mark.parametrize("source", PATTERNS)
def test_a_pattern_that_is_used_often_finds_what_it_found_before(source: str) -> None:
    plain = re.compile(source, re.IGNORECASE)
    pattern = lazy_pattern(source, re.IGNORECASE)
    for _ in range(OFTEN // len(TEXTS) + 1):
        for text in TEXTS:
            found = pattern.search(text)
            expected = plain.search(text)
            assert (found and found.span()) == (expected and expected.span())
            assert pattern.sub("-", text) == plain.sub("-", text)
            assert pattern.split(text) == plain.split(text)
            assert pattern.findall(text) == plain.findall(text)
            assert [match.span() for match in pattern.finditer(text)] == [m.span() for m in plain.finditer(text)]


def test_the_words_of_a_list_are_what_a_pattern_needs() -> None:
    needs = pattern_needs(r"\b(?:said|told\sme|decid\w+)\b", re.IGNORECASE)
    assert needs is not None
    assert needs.words == {"said", "told", "dec"}
    assert not may_match(needs, "Nothing of the kind.")


def test_what_needs_no_word_is_always_searched() -> None:
    assert pattern_needs(r"[A-Z]\w+", 0) is None
    assert pattern_needs(r"\bmay\b", re.ASCII) is None


def test_letters_whose_case_is_not_plain_are_left_to_the_pattern() -> None:
    assert text_words("ſaid") is None
    assert text_words("Said it") == frozenset({"said", "sai", "it"})

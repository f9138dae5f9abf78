"""A pattern is not matched with a text that does not begin as it must, and nothing else changes."""

from __future__ import annotations

import re

import pytest

from recollect.language.lazy_patterns import OFTEN, lazy_pattern
from recollect.language.pattern_heads import SIZE, may_begin, pattern_heads, skip_where_nothing_begins

TEXTS = (
    "Well, I moved to Leeds.",
    "no",
    "No, I meant Tom.",
    "i",
    "It rained",
    "…and then",
    "12 eggs",
    "ſo it was",
    "\u212aelvin",
    "İn Ankara",
    "_so_",
    "ÉCOLE",
    "",
)
PATTERNS = (
    r"^(?:(?:hm+|oh|well)[,\s]+)?(?:no(?:pe)?(?=[,\s]+i\b)|actually)\b",
    r"(?P<self>(?:i|we)\b)|my\s",
    r"\W*(?:so|and)\b",
    r"\d{1,2}\s(?:eggs|cups)",
    r"[a-f]\w*|[^\W\d_]{2,}!",
    r"(?:ha){2,}|kelvin|so\b",
    r"(?!it)\w+",
    r"(?:in|école)\b",
    r"_\w+_$|[.…]+and",
)


@pytest.mark.parametrize("source", PATTERNS)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_a_text_that_is_ruled_out_has_no_match(source: str, flags: int) -> None:
    heads = pattern_heads(source, flags)
    for text in TEXTS:
        assert re.match(source, text, flags) is None or heads is None or may_begin(heads, text[:SIZE]), text


@pytest.mark.parametrize("source", PATTERNS)
def test_a_pattern_that_is_used_often_matches_what_it_matched_before(source: str) -> None:
    plain = re.compile(source, re.IGNORECASE)
    pattern = lazy_pattern(source, re.IGNORECASE)
    for _ in range(OFTEN // len(TEXTS) + 2):
        for text in TEXTS:
            for start in (0, 3):
                found = pattern.match(text, start)
                expected = plain.match(text, start)
                assert (found and found.span()) == (expected and expected.span())
            found = pattern.fullmatch(text)
            expected = plain.fullmatch(text)
            assert (found and found.span()) == (expected and expected.span())


def test_the_beginnings_of_a_list_of_words_are_known() -> None:
    assert pattern_heads(r"(?:hey|hi)\b,?\s+\w", re.IGNORECASE) == frozenset({"hey", "hi "})
    assert pattern_heads(r"\s*(?:a|bc)", 0) == frozenset({"a", "bc", " a", " bc", "  a", "  b", "   "})


def test_what_may_begin_with_anything_is_always_matched() -> None:
    assert pattern_heads(r"\w+ing", 0) is None
    assert pattern_heads(r"(?:so\s)?", 0) is None
    assert pattern_heads(r"(", 0) is None


@pytest.mark.parametrize("source", [*PATTERNS, r"(?i)\b(?:egg|so)s?\b|\d", r"so | eg{2}s  # a comment"])
@pytest.mark.parametrize("flags", [0, re.IGNORECASE, re.VERBOSE])
def test_a_pattern_that_skips_finds_the_same(source: str, flags: int) -> None:
    plain = re.compile(source, flags)
    pattern = lazy_pattern(source, flags, skips=True)
    for text in (*TEXTS, " ".join(TEXTS), "\u2460 eggs and \u00b2 SOS"):
        assert [match.span() for match in pattern.finditer(text)] == [match.span() for match in plain.finditer(text)]


def test_only_a_pattern_whose_beginnings_are_known_skips() -> None:
    assert skip_where_nothing_begins(r"\w+ing", 0) == r"\w+ing"
    assert skip_where_nothing_begins("so|_", 0) == r"(?=(?i:[^\W0-9abcdefghijklmnopqrtuvwxyz]))(?:so|_)"
    assert skip_where_nothing_begins("[a-z0-9_ ]", 0) == "[a-z0-9_ ]"

"""A pattern that waits for its first use is then like any other."""

from __future__ import annotations

import re

import pytest
from pure_modules import pure_modules

from everword.word_lists import compile_patterns, lazy_pattern


def test_it_does_what_a_compiled_pattern_does() -> None:
    pattern = lazy_pattern(r"(?P<word>b+)", re.IGNORECASE)
    compiled = re.compile(r"(?P<word>b+)", re.IGNORECASE)
    assert (pattern.pattern, pattern.flags, pattern.groupindex) == (compiled.pattern, compiled.flags, {"word": 1})
    for _ in range(2):
        assert pattern.sub("-", "aBba b") == compiled.sub("-", "aBba b") == "a-a -"
        assert pattern.findall("aBba b") == ["Bb", "b"]
        match = pattern.search("aBba", 1)
        assert match is not None
        assert match["word"] == "Bb"


def test_an_error_in_a_pattern_is_raised_at_its_first_use() -> None:
    with pytest.raises(re.error):
        lazy_pattern("(").search("")


def test_every_pattern_of_the_rules_can_be_compiled() -> None:
    count = 0
    for module in pure_modules():
        for pattern in compile_patterns(vars(module)):
            assert pattern.groups >= 0
            count += 1
    assert count > 200


def test_patterns_are_compiled_one_by_one() -> None:
    patterns = [lazy_pattern(rf"kite{number}\b") for number in range(3)]
    variables = {"FIRST": patterns[0], "RULES": [("name", patterns[1]), (patterns[2],)], "SIZE": 3, "NAME": "kite"}
    assert [pattern.pattern for pattern in compile_patterns(variables)] == [pattern.pattern for pattern in patterns]

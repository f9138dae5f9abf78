"""A pattern that waits for its first use is then like any other."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any, cast

import pytest

import recollect.language
import recollect.rules
import recollect.tasks
from recollect.language.lazy_patterns import lazy_pattern, patterns_in, prepare_patterns


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
    for package in (recollect.language, recollect.rules, recollect.tasks):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for pattern in patterns_in(vars(importlib.import_module(found.name))):
                assert pattern.groups >= 0
                count += 1
    assert count > 200


def is_compiled(pattern: re.Pattern[str]) -> bool:
    return cast(Any, pattern).is_compiled is True


def test_patterns_are_prepared_one_by_one_and_once() -> None:
    patterns = [lazy_pattern(rf"kite{number}\b") for number in range(3)]
    variables = {"FIRST": patterns[0], "RULES": [("name", patterns[1]), (patterns[2],)], "SIZE": 3, "NAME": "kite"}
    assert [*patterns_in(variables)] == patterns
    steps = prepare_patterns(variables)
    next(steps)
    assert [*map(is_compiled, patterns)] == [True, False, False]
    assert len([*steps]) == 2
    assert all(map(is_compiled, patterns))
    assert not [*prepare_patterns(variables)]


def test_a_pattern_finds_the_same_after_it_was_prepared() -> None:
    words = importlib.import_module("recollect.language.dates")
    pattern = next(pattern for pattern in patterns_in(vars(words)) if "yesterday" in pattern.pattern)
    fresh = lazy_pattern(pattern.pattern, re.IGNORECASE)
    assert [*fresh.finditer("a plain text")] == []  # tried, and not compiled
    for _ in prepare_patterns([fresh]):
        pass
    for text in ("a plain text", "we met yesterday at noon"):
        found = [match.span() for match in re.compile(pattern.pattern, re.IGNORECASE).finditer(text)]
        assert [match.span() for match in fresh.finditer(text)] == found

"""A pattern that waits for its first use is then like any other."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import recollect.language
import recollect.rules
import recollect.tasks
from recollect.language.lazy_patterns import lazy_pattern

LAZY = type(lazy_pattern(""))


def patterns_in(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, LAZY):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from patterns_in(part)
    elif isinstance(value, dict):
        yield from patterns_in([*value.values()])


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
            for value in vars(importlib.import_module(found.name)).values():
                for pattern in patterns_in(value):
                    assert pattern.groups >= 0
                    count += 1
    assert count > 200

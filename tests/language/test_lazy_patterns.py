"""A pattern that waits for its first use is then like any other."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect.language
import recollect.rules
import recollect.tasks
from recollect.language.lazy_patterns import PatternCodes, lazy_pattern, pattern_codes

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
    for pattern in rule_patterns():
        assert pattern.groups >= 0
        count += 1
    assert count > 200


def rule_patterns() -> Iterator[Any]:
    for package in (recollect.language, recollect.rules, recollect.tasks):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(found.name)).values():
                yield from patterns_in(value)


def refuse_to_compile(source: str, flags: int) -> None:
    raise AssertionError(f"{source} is not in the file")


def test_a_pattern_from_the_file_is_the_one_that_python_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    origins = {pattern.origin for pattern in rule_patterns()}
    writer = PatternCodes(tmp_path / "cache" / "patterns.codes")
    for origin in origins:
        assert writer.compile(*origin) == re.compile(*origin)
    writer.save()
    monkeypatch.setattr("recollect.language.lazy_patterns._compile_to_code", refuse_to_compile)
    reader = PatternCodes(tmp_path / "cache" / "patterns.codes")
    for origin in origins:
        pattern = reader.compile(*origin)
        assert pattern == re.compile(*origin)
        assert pattern.groupindex == re.compile(*origin).groupindex


def test_two_processes_keep_what_each_has_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "patterns.codes"
    writers = [PatternCodes(file), PatternCodes(file)]
    for writer, source in zip(writers, ("a+", "b+"), strict=True):
        writer.compile(source, 0)
    for writer in writers:
        writer.save()
    monkeypatch.setattr("recollect.language.lazy_patterns._compile_to_code", refuse_to_compile)
    reader = PatternCodes(file)
    assert reader.compile("a+", 0).findall("aab") == ["aa"]
    assert reader.compile("b+", 0).findall("aab") == ["b"]
    assert [path.name for path in tmp_path.iterdir()] == ["patterns.codes"]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 500])
def test_a_damaged_file_is_not_used(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "patterns.codes"
    file.write_bytes(content)
    assert PatternCodes(file).compile("(?P<letter>a)", re.IGNORECASE) == re.compile("(?P<letter>a)", re.IGNORECASE)


def test_where_nothing_can_be_written_patterns_work_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "file").write_bytes(b"")
    codes = PatternCodes(tmp_path / "file" / "patterns.codes")
    assert codes.compile("a", 0).search("ba") is not None
    codes.save()


def test_a_pattern_that_is_none_of_the_rules_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_codes, "compile", refuse_to_compile)
    assert lazy_pattern("somebody's own words").search("in somebody's own words") is not None

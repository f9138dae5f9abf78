"""What the file of guards says of the patterns of the rules is complete and true."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.language.lazy_patterns import PatternGuard, lazy_pattern, load_guards, pattern_key
from recollect.rules.topics.drift import CLOSING

SCRIPT = Path(__file__).parents[2] / "scripts" / "pattern_guards.py"
TEXTS = (
    "Well, I moved to Leeds on Monday, 3 May, because my sister Ada said that I should.",
    "no, wait: we didn’t decide yet; i'm allergic to nuts!",
    "Could you please remind me of the meeting at 9:30? Thanks :)",
    "**Title**\n- first item\n1. second [photo of a dog]\n> quoted `code`",
    "ſaid in an old hand, and İstanbul",
    "",
)


def test_every_pattern_of_the_rules_is_in_the_file() -> None:
    run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, f"{run.stdout}{run.stderr}: run `python scripts/pattern_guards.py`"


def test_a_pattern_with_a_guard_finds_what_it_finds_without() -> None:
    patterns = runpy.run_path(str(SCRIPT), run_name="pattern_guards")["find_patterns"]()
    for key, (source, flags) in patterns.items():
        if key not in load_guards():
            continue  # of another test
        plain = re.compile(source, flags)
        guarded = lazy_pattern(source, flags)
        for text in TEXTS:
            assert [match.span() for match in guarded.finditer(text)] == [
                match.span() for match in plain.finditer(text)
            ]
            found = guarded.match(text)
            expected = plain.match(text)
            assert (found and found.span()) == (expected and expected.span())


def test_a_pattern_is_compiled_only_for_a_text_that_may_hold_it() -> None:
    pattern: Any = lazy_pattern(CLOSING.pattern)
    assert pattern_key(CLOSING.pattern, 0) in load_guards()
    assert pattern.search("two swans") is None
    assert pattern.match("two swans") is None
    assert not pattern.is_compiled
    found = pattern.search("No problem, see you!")
    assert found is not None
    assert found[0] == "see you"
    assert pattern.is_compiled


@pytest.mark.parametrize("source", [r"\b(?:said|told)\b|\*", r"\*|_", r"\w+ing", r"(?:so|\s)\d", r"(?!)"])
def test_a_guard_is_read_as_it_was_written(source: str) -> None:
    guard = PatternGuard.read(source, 0)
    assert PatternGuard.from_object(guard.to_object()) == guard


@pytest.mark.parametrize("source", [r"(?i)\b(?:egg|so)s?\b", r"\b(?:\d{4}|in\s\d+)\b", r"\b(?:so|-)\w*", r"\bso|egg"])
def test_a_rare_pattern_finds_the_same(source: str) -> None:
    plain = re.compile(source)
    rare = lazy_pattern(source, rare=True)
    for text in (*TEXTS, "so 1999 eggs, in 20 SO-SO eggs; also xso _so 20egg\u00b2 so"):
        assert [match.span() for match in rare.finditer(text)] == [match.span() for match in plain.finditer(text)]
        for bounds in ((0,), (3,), (3, 9), (1, len(text) - 1)):
            found = rare.search(text, *bounds)
            expected = plain.search(text, *bounds)
            assert (found and found.span()) == (expected and expected.span()), (text, bounds)

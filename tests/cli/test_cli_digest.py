"""`everword digest`: what a day in a space was for its members, and their last week (C3, C5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, json_lines, succeeded

TALK = [
    ("2023-05-01T09:00:00Z", "ann", "I passed my exam 🎂 \x1b[31m"),
    ("2023-05-01T10:00:00Z", "bob", "I baked a cake for ann."),
    ("2023-05-02T23:30:00Z", "ann", "I slept late."),
]


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps({"conversation": "general", "role": "user", "author": author, "content": text, "time": time})
        for time, author, text in TALK
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    succeeded("import", "talk.jsonl", "--space", "guild")


@pytest.mark.checklist("C3")
def test_a_day_is_shown_member_by_member() -> None:
    shown = succeeded("digest", "guild", "--day", "2023-05-01")
    assert "ann  2023-05-01, 1 channel, by the built-in writer\n  ann: I passed my exam 🎂" in shown
    assert "bob" in shown
    assert "\x1b" not in shown
    assert succeeded("digest", "--space", "guild", "--day", "2023-05-01", "--user", "bob").startswith("bob  2023-05-01")


@pytest.mark.checklist("C5")
def test_a_week_is_shown() -> None:
    shown = succeeded("digest", "guild", "--week", "--day", "2023-05-03")
    assert "ann  2023-04-27 to 2023-05-02" in shown
    (one,) = json_lines(succeeded("digest", "guild", "--week", "--day", "2023-05-03", "--user", "ann", "--json"))
    assert (one["kind"], one["first"], one["last"], one["made_by"]) == ("week", "2023-04-27", "2023-05-02", "offline")
    assert [(span["first"], span["last"]) for span in one["sources"]] == [(1, 1), (3, 3)]


def test_a_space_has_its_own_time_zone() -> None:
    assert "ann" not in succeeded("digest", "guild", "--day", "2023-05-03")
    assert "ann  2023-05-03" in succeeded("digest", "guild", "--day", "2023-05-03", "--time-zone", "Europe/Berlin")
    assert "ann  2023-05-03" in succeeded("digest", "guild", "--day", "2023-05-03"), "and keeps it"
    assert "not a known time zone" in failed("digest", "guild", "--time-zone", "Mars/Olympus")


def test_a_day_on_which_nobody_spoke_says_so() -> None:
    result = everword("digest", "guild", "--day", "2020-01-01")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nobody spoke in a channel of space guild on 2020-01-01" in result.stderr
    assert "is not a day: write 2023-05-01" in everword("digest", "guild", "--day", "soon").stderr
    assert "there is no store" in failed("digest", "--store", "other.db")

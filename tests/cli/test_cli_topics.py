"""Topics at the command line: a table, curves, and JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded

NOW = datetime.now(UTC)
SAID = [
    ("user", "How do I cook a lentil soup with carrots and cumin?", 30),
    ("assistant", "Fry onions and cumin, add lentils, carrots and stock.", 29),
    ("user", "Different topic: which train goes from Kyoto to Osaka, and what is the fare?", 3),
    ("assistant", "The JR Special Rapid; the fare is 580 yen.", 2),
    ("user", "thanks! 🎉", 1),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _told(tmp_path: Path) -> None:
    place = {"conversation": "chat", "user": "alex"}
    lines = [
        {**place, "role": role, "content": text, "time": (NOW - timedelta(hours=ago)).isoformat()}
        for role, text, ago in SAID
    ]
    file = tmp_path / "said.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    imported(file)


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("E6")
def test_topics_are_shown_with_kind_half_life_and_priority() -> None:
    head, *lines = succeeded("topics", "chat").splitlines()
    assert " ".join(head.split()) == "topic title kind half-life priority messages packed last active tags"
    assert [line.split()[0] for line in lines] == ["t3", "t1"]
    assert "* fare, Osaka" in lines[0]
    assert "How do I cook a lentil soup" in lines[1], "two messages"
    assert "short-term" in lines[0]
    assert "1 day" in lines[0]
    assert 0.45 < float(lines[0].split("1 day")[1].split()[0]) <= 0.5


@pytest.mark.usefixtures("_told")
@pytest.mark.checklist("E3")
def test_the_curves_show_how_each_will_fade() -> None:
    head, first, second = succeeded("topics", "chat", "--plot").splitlines()
    assert "priority over 3 days" in head
    assert "under 0.05" in head
    assert "█" in first
    assert "▁" in first
    assert "in 3." in first
    assert "·" in second, "it is gone sooner"
    assert "in 2." in second


@pytest.mark.usefixtures("_told")
def test_json_has_every_field() -> None:
    first, second = json_lines(succeeded("topics", "chat", "--json", "--all"))
    assert (first["id"], first["messages"], first["current"], first["kind"]) == ("t3", 3, True, "short-term")
    assert second["title"] == SAID[0][1]
    assert datetime.fromisoformat(second["created_at"]) == NOW - timedelta(hours=30)


@pytest.mark.usefixtures("_told")
def test_a_conversation_that_is_not_there_is_named() -> None:
    assert "there is no conversation 'other'" in failed("topics", "other")


def test_before_the_view_has_followed_it_says_what_to_do() -> None:
    line = {"conversation": "chat", "user": "alex", "role": "user", "content": "hello there"}
    succeeded("import", "-", "--no-settle", input=json.dumps(line))
    result = everword("topics", "chat")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "everword worker --once" in result.stderr
    succeeded("worker", "--once")
    assert "hello there" in succeeded("topics", "chat")

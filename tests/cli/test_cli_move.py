"""`everword move` and `everword merge` show what moves, and take it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, succeeded

from everword import Memory


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("everword.db", followers=False) as memory:
        memory.conversation("chat", user="anon").add("user", "I live in Berlin.")
        memory.conversation("other", user="anon").add("user", "I like tea.")


def owners() -> dict[str, str | None]:
    lines = map(json.loads, succeeded("conversations", "--json").splitlines())
    return {line["conversation"]: line["user"] for line in lines}


@pytest.mark.checklist("F12")
def test_it_shows_moves_and_takes_back() -> None:
    shown = succeeded("move", "chat", "--user", "alex", "--dry-run")
    assert "nothing was moved" in shown
    assert owners() == {"chat": "anon", "other": "anon"}
    move = json.loads(succeeded("move", "chat", "--user", "alex", "--to", "talk", "--json"))
    assert move["conversations"] == {"chat": "talk"}
    assert "everything is so already" in succeeded("move", "talk", "--user", "alex")
    assert "moved 1 message (merge" in succeeded("merge", "anon", "--into", "alex")
    assert owners() == {"talk": "alex", "other": "alex"}
    merge = json.loads(succeeded("audit", "--json").splitlines()[0])
    assert merge["kind"] == "merge"
    assert "moved 1 message (undo" in succeeded("merge", "--undo", merge["id"])
    succeeded("move", "--undo", move["id"])
    assert owners() == {"chat": "anon", "other": "anon"}
    assert succeeded("verify").startswith("whole: 2 messages")
    assert "which another conversation already has" in failed("move", "chat", "--to", "other")
    assert "nothing was merged" in failed("merge", "nobody", "--into", "alex")


@pytest.mark.parametrize(
    "words",
    ["move", "move chat", "move chat --to x --undo y", "merge anon", "merge", "merge anon --undo y"],
)
@pytest.mark.checklist("F12")
def test_what_is_not_clear_is_not_begun(words: str) -> None:
    assert everword(*words.split()).exit_code == 2
    assert owners() == {"chat": "anon", "other": "anon"}

"""`everword delete` shows what goes before it asks, `everword audit` what went; an import says what stays out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, imported, succeeded, talk


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


def messages() -> int:
    return int(json.loads(succeeded("stats", "--json"))["messages"])


def name() -> str:
    return str(json.loads(succeeded("conversations", "--json").splitlines()[0])["conversation"])


def test_it_shows_first_asks_and_then_removes() -> None:
    where = ("--conversation", name())
    assert everword("delete", *where, "--message", "#2", input="n\n").exit_code == 1
    shown = succeeded("delete", *where, "--message", "#2", "--dry-run")
    assert f"messages of {name()}" in shown
    assert "nothing was removed" in shown
    assert messages() == 5
    assert "deleted 1 message (deletion" in succeeded("delete", *where, "--message", "#2", input="y\n")
    assert "nothing was deleted" in failed("delete", *where, "--message", "#2", "--yes")
    assert messages() == 4
    gone = json.loads(succeeded("delete", *where, "--yes", "--json"))
    assert (gone["messages"], gone["conversations"]) == (4, {name_of(gone): 4})
    assert succeeded("verify").startswith("whole: 0 messages in 1 conversation, 5 erased")
    lines = [json.loads(line) for line in succeeded("audit", "--json").splitlines()]
    assert [(line["by"], line["what"], line["count"]) for line in lines] == [
        ("program", "conversation", 4),
        ("program", "messages", 1),
    ]
    assert "conversation" in succeeded("audit")


def name_of(deletion: dict[str, dict[str, int]]) -> str:
    return next(iter(deletion["conversations"]))


@pytest.mark.parametrize(
    "words",
    [(), ("--message", "m"), ("--conversation", "c", "--user", "alex"), ("--user", "alex", "--json")],
)
def test_what_is_not_clear_is_not_begun(words: tuple[str, ...]) -> None:
    assert everword("delete", *words).exit_code == 2
    assert messages() == 5


def test_what_was_removed_and_is_imported_again_is_said_to_be_erased(tmp_path: Path) -> None:
    succeeded("export", "-o", "all.jsonl")
    succeeded("delete", "--conversation", name(), "--message", "#1", "--yes")
    assert "0 new, 4 known already, 1 erased before, 0 bad" in everword("import", "all.jsonl").output
    assert messages() == 4

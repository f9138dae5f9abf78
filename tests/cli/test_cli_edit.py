"""`everword edit` gives a message a new text; an import says what was edited since, and takes it if told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded, talk


@pytest.fixture(autouse=True)
def _memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported(talk(tmp_path / "talk.jsonl"))


@pytest.mark.checklist("F11")
def test_a_message_has_its_new_text_and_the_old_one_is_shown_on_request() -> None:
    assert succeeded("edit", "chat", "#1", "Which database suits a large bakery?").startswith(
        "message 1 of chat has its new text (message "
    )
    id = json_lines(succeeded("history", "chat", "--json"))[1]["id"]
    edited = json.loads(succeeded("edit", "chat", id, "-", "--metadata", '{"n": 1}', "--json", input="PostgreSQL.\n"))
    assert (edited["content"], edited["metadata"]) == ("PostgreSQL.", {"n": 1})
    assert "small" not in succeeded("history", "chat")
    shown = succeeded("history", "chat", "--versions")
    assert "small bakery" in shown
    assert "(edited by program)" in shown
    lines = json_lines(succeeded("history", "chat", "--versions", "--json"))
    assert [len(line.get("versions", [])) for line in lines] == [1, 1, 0, 0, 0]
    assert lines[0]["versions"][0]["content"] == "Which database suits a small bakery?"
    assert succeeded("verify").startswith("whole: 5 messages")
    assert json_lines(succeeded("search", "large bakery", "--json", "--limit", "1"))[0]["turn"] == 1
    assert "nothing was edited" in failed("edit", "chat", "#9", "x")
    for metadata, problem in (("[1]", "is no JSON object"), ("{", "is not valid JSON")):
        refused = everword("edit", "chat", "#1", "x", "--metadata", metadata)
        assert refused.exit_code == 2
        assert problem in refused.stderr
    assert "no failure" not in succeeded("doctor")


@pytest.mark.checklist("F11")
def test_an_import_says_what_was_edited_since_and_takes_it_if_told_to(tmp_path: Path) -> None:
    succeeded("export", "-o", "all.jsonl")
    lines = json_lines(Path("all.jsonl").read_text(encoding="utf-8"))
    lines[0]["content"] = "Which database suits a large bakery?"
    Path("later.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    refused = everword("import", "later.jsonl")
    assert "0 new, 4 known already, 1 known with another text, 0 bad" in refused.stdout
    assert "to store the new text, use --on-edit version" in refused.stderr
    assert "small" in succeeded("history", "chat")
    taken = everword("import", "later.jsonl", "--on-edit", "version")
    assert "0 new, 4 known already, 1 edited, 0 bad" in taken.stdout
    assert "large" in succeeded("history", "chat")
    assert "0 new, 5 known already, 0 bad" in everword("import", "talk.jsonl").stdout, "what it once said is known"

"""What somebody new meets: addresses of no file, imports that end early, chats not there yet, narrow screens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, failed, succeeded

from everword import Memory


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_address_without_a_file_says_what_to_write() -> None:
    Path("chat.jsonl").write_text(json.dumps({"role": "user", "content": "Hi", "conversation": "c"}) + "\n")
    assert "write json:FILE" in failed("--store", "json:", "import", "chat.jsonl")


def test_a_bad_record_of_an_import_is_counted_and_named() -> None:
    good = {"role": "user", "content": "Hi", "conversation": "c", "author": "alex"}
    Path("chat.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps({'role': 'alien'})}\n")
    result = everword("import", "chat.jsonl")
    assert result.exit_code == 1
    assert "1 message read, 1 new, 0 known already, 1 bad" in result.output
    assert "skipped: chat.jsonl, line 2: role" in result.output


def test_a_context_of_a_conversation_that_is_not_there_yet() -> None:
    with Memory("everword.db") as memory:
        memory.conversation("old", user="alex").extend([{"role": "user", "content": "My cat is called Mia."}])
        memory.settle()
    result = everword("context", "new", "What is my cat called?", "--user", "alex")
    assert result.exit_code == 0
    assert "Mia" in result.output
    assert "there is no conversation 'new' yet" in result.output


def test_at_80_columns_ids_are_whole_and_titles_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory("everword.db") as memory:
        memory.conversation("trip", user="alexandra-of-the-long-id").add("user", "My sister Ana lives in Oslo, Norway.")
        memory.settle()
        facts = memory.facts(user="alexandra-of-the-long-id")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    listing = succeeded("facts", "alexandra-of-the-long-id")
    assert facts
    assert all(fact.id in listing for fact in facts)
    assert "My sister Ana lives in Oslo" in succeeded("topics", "trip")
    assert all(len(line) <= 80 for line in listing.splitlines())

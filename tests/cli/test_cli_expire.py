"""What expires, on the command line: `remember --expires`; exports and imports keep it; `retain` removes it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_driver import everword, failed, json_lines, succeeded

from everword import Memory
from everword.testing import FrozenClock


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def line(content: str, expires_at: datetime | None) -> str:
    message = {"conversation": "chat", "user": "alex", "role": "user", "content": content}
    return json.dumps(message | ({} if expires_at is None else {"expires_at": expires_at.isoformat()})) + "\n"


@pytest.mark.checklist("F13")
def test_a_statement_is_remembered_until_a_time() -> None:
    later = datetime.now(UTC) + timedelta(days=2)
    assert "on holiday" in succeeded("remember", "I am on holiday", "--user", "alex", "--expires", "14d")
    assert "in Oslo" in succeeded("remember", "I am in Oslo", "--user", "alex", "--expires", later.isoformat())
    assert "on holiday" in succeeded("profile", "alex")
    (holiday, oslo) = json_lines(succeeded("export"))
    assert datetime.fromisoformat(oslo["expires_at"]) == later
    assert timedelta(days=13) < datetime.fromisoformat(holiday["expires_at"]) - datetime.now(UTC) < timedelta(days=14)
    assert "which is in the past" in failed("remember", "I was", "--user", "alex", "--expires", "2020-01-01T00:00:00Z")
    assert "7d" in failed("remember", "I was", "--user", "alex", "--expires", "soon")


@pytest.mark.checklist("F13")
def test_an_import_keeps_when_and_leaves_out_what_is_over(tmp_path: Path) -> None:
    later = datetime(2199, 5, 1, 9, 30, 0, 1, tzinfo=UTC)
    file = tmp_path / "talk.jsonl"
    file.write_text(
        line("The code is 4711", later) + line("It was 4710", datetime(2020, 1, 1, tzinfo=UTC)) + line("Hello", None)
    )
    report = succeeded("import", file)
    assert "3 messages read, 2 new, 0 known already, 1 expired, 0 bad" in report
    assert "2 known already, 1 expired" in succeeded("import", file)
    exported = succeeded("export")
    assert [one.get("expires_at") for one in json_lines(exported)] == ["2199-05-01T09:30:00.000001Z", None]
    copy = tmp_path / "again.jsonl"
    copy.write_text(exported)
    succeeded("--store", "second.db", "import", copy)
    assert succeeded("--store", "second.db", "export") == exported
    file.write_text(line("Odd", None).replace("}", ', "expires_at": "never"}'))
    assert "expires_at" in everword("import", file).stderr


@pytest.mark.checklist("F13")
def test_retain_shows_and_removes_what_expired() -> None:
    then = FrozenClock(datetime(2020, 1, 1, tzinfo=UTC))
    with Memory("everword.db", clock=then, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "The code is 4711", expires=timedelta(minutes=10))
        memory.settle()
    assert succeeded("search", "the code", "--user", "alex").count("4711") == 0
    shown = succeeded("retain")
    assert "expired messages" in shown
    assert "nothing was removed" in shown
    assert [one["kind"] for one in json.loads(succeeded("retain", "--yes", "--json"))["expired"]] == [
        "expired messages"
    ]
    assert succeeded("verify").startswith("whole: 0 messages in 1 conversation, 1 erased")
    assert "everything is kept for ever" in succeeded("retain")

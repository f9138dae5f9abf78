"""G10: secrets on the command line: what an import says of them, how they are exported, found and replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_driver import everword, succeeded

PASSWORD = "tr0ub4dor&3x"
LINES = [
    {"conversation": "chat", "user": "alex", "role": "user", "content": "I live in Delft.", "id": "m1"},
    {"conversation": "chat", "user": "alex", "role": "user", "content": f"My password is {PASSWORD} now.", "id": "m2"},
    {"conversation": "chat", "user": "alex", "role": "user", "content": "I work as a gardener.", "id": "m3"},
]


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file to import, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return "talk.jsonl"


def test_an_import_goes_on_after_a_message_that_is_refused_for_its_secret(talk: str) -> None:
    result = everword("import", talk, "--no-settle", env={"EVERWORD_SECRETS": "refuse"})
    assert result.exit_code == 0, result.output
    assert "3 messages read, 2 new, 0 known already, 1 refused for their secrets, 0 bad" in result.output
    assert "line 2" in result.output
    assert "contains a secret (password, characters 16 to 27)" in result.output
    assert PASSWORD not in result.output
    assert PASSWORD not in succeeded("export", "--with-secrets")


def test_secrets_are_counted_exported_on_request_and_replaced_for_good(talk: str) -> None:
    assert "1 message with secrets" in everword("import", talk, "--no-settle").output
    assert "password: 1" in succeeded("stats")
    assert "My password is [secret: password] now." in succeeded("export")
    backup = succeeded("export", "--with-secrets")
    assert PASSWORD in backup
    assert PASSWORD in succeeded("history", "chat")
    preview = succeeded("redact", "--dry-run")
    assert "1 message with secrets (password: 1)" in preview
    assert "nothing" in everword("redact", "--conversation", "other", "--dry-run").output
    assert everword("redact", "--json").exit_code == 2
    assert json.loads(succeeded("redact", "--yes", "--json"))["messages"] == 1
    assert "no message holds a secret" in succeeded("redact")
    assert succeeded("verify").startswith("whole")
    assert PASSWORD not in succeeded("export", "--with-secrets") + succeeded("history", "chat", "--versions")
    again = everword("import", "-", "--no-settle", input=backup)
    assert "0 new, 3 known already" in again.output
    assert PASSWORD not in succeeded("export", "--with-secrets")


def test_doctor_finds_secrets_that_were_kept_before(talk: str) -> None:
    succeeded("import", talk, "--no-settle", env={"EVERWORD_SECRETS": "keep"})
    found = everword("doctor").output
    assert "1 message of space 'default' with secrets that are not masked" in found
    assert "everword redact --space default" in found
    assert PASSWORD not in found
    result = everword("redact", input="y\n")
    assert "replaced in 1 message" in result.output
    assert "none that are not masked, in 3 messages" in everword("doctor").output

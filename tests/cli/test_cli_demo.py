"""The demo: runs offline without settings, shows each step, leaves nothing behind."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cli_driver import process, recollect, succeeded

from recollect.cli.demo_script import drafts


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def test_the_demo_shows_every_step_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise AssertionError("the demo went to the network")

    monkeypatch.setattr(socket.socket, "connect", offline)
    text = succeeded("demo", env={"RECOLLECT_EMBEDDER": "endpoint", "RECOLLECT_STORE": "mine.db"})
    blocks = {block.splitlines()[0].split(":")[0]: block for block in text.split("\n\n")}
    assert "40 messages" in blocks["KEEP"]
    assert "2024-11-12 19:04 to 2025-04-06 10:20" in blocks["KEEP"]
    assert "0 new" in blocks["KEEP"]
    assert "Then any database will be fast enough" in blocks["FIND BY WORD"]
    by_meaning = blocks["FIND BY MEANING"].splitlines()
    assert "allergic to peanuts" in by_meaning[3]
    assert by_meaning[4].split()[:2] == ["text", "0.00"]
    assert "自転車も無料です" in blocks["FIND IN ANOTHER SCRIPT"]
    assert "does not fit the budget" in blocks["CONTEXT"]
    assert "verify: whole, 40 messages" in blocks["PROVE"]
    assert "default/chat turn 12: was changed" in blocks["TAMPER"]
    assert "40 lines; demo.json: 40 messages" in blocks["MOVE"]
    assert "\x1b" not in text
    assert [path.name for path in tmp_path.rglob("*")] == ["temporary"]


def test_the_demo_can_be_kept_and_looked_at(tmp_path: Path) -> None:
    assert "Kept in kept" in succeeded("demo", "--keep", "kept")
    assert "nut" in succeeded("search", "peanuts", "--store", "kept/demo.db")
    assert recollect("verify", "--store", "kept/tampered.db").exit_code == 1
    assert succeeded("export", "--store", "json:kept/demo.json") == succeeded("export", "--store", "kept/demo.db")
    again = recollect("demo", "--keep", "kept")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_the_demo_runs_as_a_program_on_a_plain_terminal(tmp_path: Path) -> None:
    running = process("demo", folder=tmp_path, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    out, err = running.communicate()
    assert (running.returncode, err) == (0, "")
    assert "verify: not whole" in out


def test_the_conversation_of_the_demo_is_varied() -> None:
    said = drafts()
    assert len(said) == 40
    assert len({draft.platform_id for draft in said}) == 40
    times = [draft.time for draft in said if draft.time]
    assert times == sorted(times)
    assert (times[-1] - times[0]).days > 120
    words = " ".join(draft.content for draft in said)
    assert all(word in words for word in ("PostgreSQL", "Kyoto", "lentil", "自転車", "😋"))

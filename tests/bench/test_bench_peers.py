"""The comparison with other stores: what a driver measures is in the table, and a store that fails stops no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import peers


def test_a_run_prints_a_row_and_writes_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--sizes", "250", "400", "--peers", "exact scan", "--json", "measured.json"]
    monkeypatch.setattr("sys.argv", ["peers.py", *arguments])
    peers.main()
    shown = capsys.readouterr().out
    assert "Python" in shown
    assert "exact scan" in shown
    result = json.loads(Path("measured.json").read_text(encoding="utf-8"))["results"]["exact scan"]
    assert result["finished"]
    assert [part["messages"] for part in result["sizes"]] == [250, 400]
    assert [path.name for path in tmp_path.iterdir()] == ["measured.json"], "nothing else is left behind"


def test_a_store_that_cannot_be_installed_is_said_to_be_so(tmp_path: Path) -> None:
    no_folder = tmp_path / "cache"
    no_folder.write_text("a file", encoding="utf-8")
    result = peers.run_peer("chroma", tmp_path, no_folder, 10.0)
    assert result["problem"].startswith("cannot be installed: ")
    (note,) = peers.notes({"chroma": result})
    assert note.startswith("chroma: cannot be installed")
    assert peers.table_row("chroma", result, [250])[1:] == [peers.MISSING] * 6

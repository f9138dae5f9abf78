"""The command that measures what topics cost and save (E8) runs, and prints every figure beside the document's."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.checklist("E8")
def test_the_four_figures_are_measured_by_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No bound on time here: this machine may be busy. What packing saves is the same everywhere."""
    command = [str(ROOT / "benchmarks" / "topics.py"), "--topics", "4", "--messages", "60"]
    monkeypatch.setattr(sys, "argv", command)
    runpy.run_path(command[0], run_name="__main__")
    out = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line.startswith("|")]
    figures = {row[0]: row[1:] for row in rows}
    claims = {
        "add a message, beside embedding (ms)": "< 1",
        "match a message to its topic (ms)": "1 to 2",
        "read a packed topic of 126 messages (ms)": "1 to 5",
        "saved by packing": "70 to 90 %",
    }
    for name, claim in claims.items():
        assert figures[name][0] == claim
        assert re.match(r"\d+\.\d+", figures[name][1])
    for size in ("9", "20"):
        base64, gzip, ours = (float(cell.removesuffix(" %")) for cell in figures[size][1:4])
        assert base64 < gzip < ours
        assert ours > 60

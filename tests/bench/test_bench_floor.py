"""What `python -m benchmarks floor` writes and asks, and what it prints (F4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from recall_sets import locomo_record, written

from quality import floor
from quality.floor import load_prompts
from quality.main import program

KINDS = {"general knowledge", "code", "small talk"}


def test_there_are_300_different_unrelated_prompts_of_three_kinds() -> None:
    prompts = load_prompts()
    assert len(prompts) == len({prompt.text for prompt in prompts}) == 300
    assert {prompt.kind for prompt in prompts} == KINDS


@pytest.mark.checklist("F4")
def test_the_command_counts_what_is_retrieved_for_prompts_and_for_questions(tmp_path: Path) -> None:
    file = written(tmp_path / "set.json", [locomo_record()])
    result = CliRunner().invoke(program, ["floor", "--data", str(file), "--json"])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["prompts"], figures["questions"], set(figures["kinds"])) == (300, 4, KINDS)
    assert figures["empty"] == 1 - len(figures["not_empty"]) / 300
    assert figures["empty"] >= 0.9
    assert figures["coverage"]["everword"]["4000"] == 1


def test_a_table_is_printed_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every tenth prompt: what is counted of all of them, the test above tells."""
    some = load_prompts()[::10]
    monkeypatch.setattr(floor, "load_prompts", lambda: some)
    file = written(tmp_path / "set.json", [locomo_record()])
    result = CliRunner().invoke(program, ["floor", "--data", str(file), "--prompts-only"])
    assert result.exit_code == 0, result.output
    assert "nothing retrieved" in result.stdout
    assert "evidence" not in result.stdout

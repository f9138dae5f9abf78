"""`python -m benchmarks cost`: the calls and tokens of all memory work, live and as an import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from quality.cost import Cost, TaskCost
from quality.main import program as benchmarks

SESSIONS = 4
LINES = 4 * (
    "I repaired the old harbour clock with my cousin Ida last week.",
    "That took patience! Did you find the missing gear?",
    "Yes, a smith in Bergen made a new one for 300 kroner.",
    "I am learning to carve spoons, my first one broke.",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    conversation: dict[str, object] = {"speaker_a": "Ola", "speaker_b": "Kari"}
    for number in range(1, SESSIONS + 1):
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number + 7} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": ("Ola", "Kari")[place % 2], "dia_id": f"D{number}:{place + 1}", "text": text}
            for place, text in enumerate(LINES)
        ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps([{"sample_id": "c1", "conversation": conversation, "qa": []}]), encoding="utf-8")
    return path


@pytest.mark.checklist("F9")
def test_calls_and_tokens_are_counted_by_task_in_both_ways(file: Path) -> None:
    result = CliRunner().invoke(benchmarks, ["cost", "--data", str(file), "--json"])
    assert result.exit_code == 0, result.output
    live, imported = json.loads(result.stdout)["costs"]
    assert (live["way"], imported["way"]) == ("live", "import")
    assert live["messages"] == imported["messages"] == SESSIONS * len(LINES)
    assert 2 <= live["tasks"]["reading"]["calls"] <= 4, "nothing before the sixtieth message, then at each pause"
    assert imported["tasks"]["reading"]["calls"] == 2, "a backlog is read at once, at most 48 lines a call"
    assert all(cost["tasks"]["reading"]["out"] > 0 for cost in (live, imported))


def test_the_bar_is_of_calls_and_of_tokens() -> None:
    cost = Cost("c1", "live", 200, 1_000, {"reading": TaskCost(20, 4_000, 900)})
    assert (cost.calls_per_hundred, cost.token_multiple, cost.is_within_bar) == (10.0, 4.9, True)
    assert not Cost("c1", "live", 100, 1_000, cost.tasks).is_within_bar
    assert not Cost("c1", "live", 200, 900, cost.tasks).is_within_bar


def test_a_conversation_that_is_not_there_is_named(file: Path) -> None:
    result = CliRunner().invoke(benchmarks, ["cost", "--data", str(file), "--conversation", "c9"])
    assert result.exit_code != 0
    assert "there are c1" in result.output

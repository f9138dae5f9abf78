"""`python -m benchmarks tokens`: every token of memory work is counted, by task, against the whole history (F5)."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from everword.models.tokens import TiktokenTokenizer
from quality.main import program as benchmarks
from quality.work_tokens import read_talks, replay_work

EXCHANGES = 42
SUBJECTS = ("the boiler", "the roof", "the garden wall", "the kitchen floor", "the north windows", "the cellar door")

FIRMS = ("The plumber from Leeds", "Our neighbour's nephew", "A firm at the harbour", "The builder of our porch", "Jo")
OPINIONS = (
    "thinks it too dear",
    "would take it at once",
    "has seen cheaper ones",
    "asks who is insured",
    "wants to wait for spring",
    "says to call the bank",
    "is against it",
)


def asked(number: int) -> str:
    firm, opinion = FIRMS[number % 5], OPINIONS[number % 7]
    return f"{firm} wants {900 + number} euros for {SUBJECTS[number // 6 % 6]}, and my sister {opinion}."


def answered(number: int) -> str:
    subject = SUBJECTS[number // 6 % 6]
    advice = f"Ask for the hours and the material of {subject} in writing, and for a second offer from another firm. "
    return advice * 14 + f"I would pay no more than {300 + number} euros in advance."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sessions = [
        [
            {"role": role, "content": write(number), "has_answer": number == 3}
            for number in range(start, start + 6)
            for role, write in (("user", asked), ("assistant", answered))
        ]
        for start in range(0, EXCHANGES, 6)
    ]
    record = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What did the roof cost?",
        "answer": "906",
        "question_date": "2024/05/20 (Mon) 10:00",
        "haystack_session_ids": [f"s{number}" for number in range(len(sessions))],
        "haystack_dates": [f"2024/05/{number + 1:02} (Wed) 10:00" for number in range(len(sessions))],
        "haystack_sessions": sessions,
        "answer_session_ids": ["s0"],
    }
    path = tmp_path / "set.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    return path


def measured(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(benchmarks, ["tokens", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    fields: dict[str, Any] = json.loads(result.stdout)["all_work"]
    return fields


@pytest.mark.checklist("F5")
def test_all_memory_work_is_counted_and_a_long_chat_costs_less_than_its_history(file: Path) -> None:
    fields = measured("--data", str(file), "--work-only")
    assert fields["exchanges"] == EXCHANGES
    last = fields["rows"][-1]
    assert {"reading", "episode_summary"} <= {*last["tasks"]}, "titles wait for more messages than there are"
    assert not [task for task in last["tasks"] if "repaired" in task], "each answer of the stand-in can be read"
    spent = sum(counts["in"] + counts["out"] for counts in last["tasks"].values())
    assert last["memory"] == spent > 0
    assert last["ours"] == last["context"] + last["reply"] + last["beside"] + spent
    assert last["ratio"] == pytest.approx(last["ours"] / last["full"])
    assert fields["below_from"] is not None
    assert fields["below_from"] <= 15
    assert all(ratio < 1 for ratio in fields["ratios"][fields["below_from"] - 1 :])


def test_the_whole_history_is_counted_by_hand(file: Path) -> None:
    count = TiktokenTokenizer().count
    (talk,) = read_talks(file)
    assert [exchange.asked for exchange in talk.exchanges] == [asked(number) for number in range(EXCHANGES)]
    report = replay_work(talk.first_exchanges(3))
    said = list(accumulate(count(asked(n)) + 4 + (count(answered(n - 1)) + 4 if n else 0) for n in range(3)))
    assert [step.full for step in report.steps] == [3 + said[n] + count(answered(n)) for n in range(3)]


def test_the_curve_is_printed_after_what_everword_prints(file: Path) -> None:
    result = CliRunner().invoke(benchmarks, ["tokens", "--data", str(file), "--turns", "8"])
    assert result.exit_code == 0, result.output
    assert result.output.index("Replayed:") < result.output.index("With all memory work")
    assert "Not below the whole history" in result.output or "Below the whole history" in result.output


def test_an_unknown_conversation_is_named(file: Path) -> None:
    result = CliRunner().invoke(benchmarks, ["tokens", "--data", str(file), "--work-only", "--conversation", "none"])
    assert result.exit_code != 0

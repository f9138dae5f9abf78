"""Whole conversations with known subjects: how they are put together, and how topics are scored."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from quality.assembled import arrange, cut_session, says_nothing
from quality.clusters import score_clusters
from quality.datasets import Session, Turn
from quality.main import program
from quality.tasks import assemble_tasks

NOON = datetime(2031, 5, 8, 12, tzinfo=UTC)


def session(name: str, exchanges: int = 4) -> Session:
    turns = tuple(
        Turn(f"{name}:{n}", role, role, f"{name} {n}", NOON) for n in range(exchanges) for role in ("user", "assistant")
    )
    return Session(name, NOON, turns)


def test_the_right_topics_score_1_and_the_extremes_do_not() -> None:
    sessions = ["a"] * 4 + ["b"] * 4
    right = score_clusters(sessions, [1] * 4 + [2] * 4)
    assert (right.v_measure, right.pair_f1, right.topics_per_session) == (1, 1, 1)
    one = score_clusters(sessions, [1] * 8)
    assert (one.v_measure, one.homogeneity, one.completeness) == (0, 0, 1)
    each = score_clusters(sessions, range(8))
    assert each.homogeneity == pytest.approx(1)
    assert (each.pair_f1, each.topics_per_session) == (0, 4)


def test_pieces_keep_their_order_and_begin_with_the_user() -> None:
    chance = random.Random(3)
    pieces = cut_session(session("a"), chance)
    assert [turn for piece in pieces for turn in piece] == list(session("a").turns)
    assert {piece[0].role for piece in pieces} == {"user"}
    placed = arrange([session("a"), session("b")], chance, (1, 5))
    assert [message.turn for message in placed if message.session == "b"] == list(session("b").turns)
    assert [message.time for message in placed] == sorted(message.time for message in placed)


def test_tasks_to_learn_from_are_not_reported() -> None:
    learned = {
        line.text for dialogue in assemble_tasks(to_learn=True, roles=False).dialogues for line in dialogue.lines
    }
    reported = assemble_tasks(to_learn=False, roles=True)
    assert sum(line.text in learned for dialogue in reported.dialogues for line in dialogue.lines) < 60, (
        "but for thanks"
    )
    assert reported.assistants
    assert reported.shifts


@pytest.mark.parametrize(
    ("title", "nothing"),
    [("Hey Dana! Good to see you!", True), ("thanks!", True), ("bee hive, orchard", False), ("", True)],
)
def test_titles_that_say_nothing_are_told(title: str, nothing: bool) -> None:
    assert says_nothing(title) is nothing


def test_the_command_prints_topics_beside_baselines(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    chats = [
        [{"role": role, "content": f"{role} on {thing} {n}"} for n in range(3) for role in ("user", "assistant")]
        for thing in ("bees", "roofs", "trains")
    ]
    record = {
        "question_id": "q",
        "question_type": "single",
        "question": "?",
        "answer": "",
        "question_date": "2031/05/09 (Fri) 12:00",
        "haystack_session_ids": ["a", "b", "c"],
        "haystack_dates": ["2031/05/08 (Thu) 12:00"] * 3,
        "haystack_sessions": chats,
        "answer_session_ids": [],
    }
    file.write_text(json.dumps([record]))
    result = CliRunner().invoke(program, ["topics", "--assembled", "--data", str(file), "--draws", "1"])
    assert result.exit_code == 0, result.output
    assert "one a message" in result.output
    assert "V-measure" in result.output

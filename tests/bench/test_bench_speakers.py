"""What `python -m benchmarks speakers` measures: whether summaries name the right speakers (F1)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from everword.model import Episode, ExtractLine, Message
from everword.summaries.rules.extract import render_lines
from quality.main import program
from quality.speakers import SpeakerCounts, check_episode

TIME = datetime(2024, 5, 1, 9, tzinfo=UTC)


def locomo(turns: int = 60) -> list[dict[str, object]]:
    said = [
        {
            "speaker": ("Ann", "Bob")[n % 2],
            "dia_id": f"D1:{n}",
            "text": f"I bought {n} crates of {('oranges', 'lemons')[n % 2]} in Porto for market number {n * 7}.",
        }
        for n in range(1, turns)
    ]
    talk = {"speaker_a": "Ann", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    question = {"question": "Who bought crates?", "answer": "Ann", "evidence": ["D1:1"], "category": 4}
    return [{"sample_id": "conv-1", "conversation": talk, "qa": [question]}]


@pytest.mark.checklist("F1")
def test_every_sentence_is_traced(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(locomo()))
    result = CliRunner().invoke(program, ["speakers", "--data", str(file), "--json"])
    assert result.exit_code == 0, result.output
    counted = json.loads(result.output)
    assert counted["sentences"] > 0
    assert counted["wrong"] == counted["untraceable"] == 0
    shown = CliRunner().invoke(program, ["speakers", "--data", str(file)])
    assert "wrong speaker: 0 by their lines, 0 in the text" in shown.output


def test_what_is_in_the_wrong_mouth_is_counted() -> None:
    messages = [
        Message("s", "c", 1, "a", "user", "Ann", None, "I sold the boat.", TIME),
        Message("s", "c", 2, "b", "user", "Bob", None, "I bought a kayak.", TIME),
    ]
    lines = (ExtractLine(1, "user", "Ann", "I sold the boat."), ExtractLine(2, "user", "Bob", "I bought a kayak."))
    right = Episode("s", "c", 1, 1, 2, TIME, TIME, render_lines(lines), lines=lines)
    wrong_line = replace(right, lines=(replace(lines[0], author="Bob"), lines[1]))
    wrong_text = replace(right, summary="Ann: I sold the boat. I bought a kayak.")
    strange = replace(right, lines=(replace(lines[0], text="I sold the car."), lines[1]))
    for episode, by_line, in_text, untraceable in (
        (right, 0, 0, 0),
        (wrong_line, 1, 0, 0),
        (wrong_text, 0, 1, 0),
        (strange, 0, 0, 1),
    ):
        counts = SpeakerCounts()
        check_episode(episode, messages, counts)
        assert counts.sentences == 2
        assert (counts.wrong_by_line, counts.untraceable) == (by_line, untraceable)
        assert counts.wrong_in_text >= in_text

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
from quality.channel_speakers import read_texts
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


@pytest.mark.checklist("G24")
def test_all_that_is_shown_of_a_channel_is_read(tmp_path: Path) -> None:
    said = [
        ("ann", "how do I mount an encrypted usb disk?"),
        ("carl", "ann: use cryptsetup open, then mount the mapper device"),
        ("dana", "carl: isn't that in the wiki? ann: look there, too"),
        ("ann", "carl: that works now, thanks"),
    ]
    lines = [f"[09:{minute:02}] <{author}> {text}" for minute, (author, text) in enumerate(said * 3)]
    (tmp_path / "day.raw.txt").write_text("\n".join(lines))
    (tmp_path / "day.annotation.txt").write_text("0 0 -")
    result = CliRunner().invoke(program, ["speakers", "--data", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.output
    counted = json.loads(result.output)
    assert counted["channels"] == 1
    assert counted["texts"] > counted["names"] > 0
    assert counted["misread"] == []


def test_an_addressee_with_a_colon_is_a_misreading() -> None:
    messages = [
        Message("s", "c", turn, str(turn), "user", author, None, text, TIME)
        for turn, (author, text) in enumerate([("ann", "hello bob"), ("bob", "ann: try the wiki"), ("carl", "hi")], 1)
    ]
    lines = [("title", "ann: try the wiki"), ("summary", "bob: (to ann) try the wiki"), ("day", "ann: hello")]
    reading = read_texts(lines, messages)
    assert [(misreading.kind, misreading.person) for misreading in reading.misreadings] == [("title", "ann")]

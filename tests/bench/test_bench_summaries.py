"""What `python -m benchmarks summaries` prints: summaries drawn by a seed, with what looks odd about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from everword.model import ExtractLine
from quality.main import program
from quality.summaries import line_marks


def talk() -> list[dict[str, object]]:
    turns = [
        {
            "speaker": ("Ann", "Bob")[n % 2],
            "dia_id": f"D1:{n}",
            "text": f"I bought {n} crates of {('oranges', 'lemons')[n % 2]} in Porto for market number {n * 7}.",
        }
        for n in range(1, 60)
    ]
    session = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
    }
    question = {"question": "Who bought crates?", "answer": "Ann", "evidence": ["D1:1"], "category": 4}
    return [{"sample_id": "conv-1", "conversation": session, "qa": [question]}]


def test_the_same_seed_draws_the_same_summaries(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(talk()))
    options = ["summaries", "--data", str(file), "--count", "2", "--sources", "--seed", "3"]
    drawn = CliRunner().invoke(program, [*options, "--json"])
    assert drawn.exit_code == 0, drawn.output
    objects = [json.loads(line) for line in drawn.output.splitlines()]
    assert objects
    assert all(entry["summary"] and entry["sources"] and not entry["marks"] for entry in objects)
    shown = CliRunner().invoke(program, options)
    assert all(entry["summary"] in shown.output for entry in objects)
    assert "Marks of all" in shown.output


@pytest.mark.parametrize(
    ("text", "content", "marks"),
    [
        ("I sold 3 boats.", "Well, I sold 3 boats.", []),
        ("Boats of all kinds.", "Boats of all kinds.", ["no verb"]),
        ("I sold 4 boats.", "Well, I sold 3 boats.", ["number of no message"]),
        ("That was **good**.", "That was **good**.", ["markup", "points back"]),
        ("Option 1", "Option 1", ["no verb", "label"]),
        ("I sold the…", "I sold the boat.", ["cut"]),
    ],
)
def test_what_looks_odd_is_marked(text: str, content: str, marks: list[str]) -> None:
    assert list(line_marks(ExtractLine(1, "user", "Ann", text), content)) == marks

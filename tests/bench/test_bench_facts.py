"""What `python -m benchmarks facts` measures: how much of what people noted the facts say."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from quality.facts import content_words, covers, supports
from quality.main import program


def locomo() -> list[dict[str, object]]:
    said = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I live in Porto and I'm allergic to walnuts."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Oh, how long have you lived there?"},
    ]
    talk = {"speaker_a": "Ann", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    question = {"question": "Where does Ann live?", "answer": "Porto", "evidence": ["D1:1"], "category": 4}
    notes = {"Ann": [["Ann has allergies to walnuts.", "D1:1"], ["Ann keeps bees.", "D1:1"]], "Bob": []}
    return [{"sample_id": "c", "conversation": talk, "qa": [question], "observation": {"session_1_observation": notes}}]


def test_coverage_and_support_are_counted_by_speaker(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(locomo()))
    result = CliRunner().invoke(program, ["facts", "--data", str(file), "--json", "--show", "9"])
    assert result.exit_code == 0, result.output
    counted = json.loads(result.output)
    assert (counted["messages"], counted["observations"], counted["facts"]) == (2, 2, 2)
    assert (counted["facts_a_message"], counted["coverage"], counted["support"]) == (1.0, 0.5, 0.5)
    assert counted["categories"]["constraint"] == {"facts": 1, "support": 1.0}
    assert {(fact["person"], fact["value"]) for fact in counted["drawn"]} == {("Ann", "Porto"), ("Ann", "walnuts")}
    shown = CliRunner().invoke(program, ["facts", "--data", str(file), "--show", "1", "--seed", "3"])
    assert "coverage 50.0 %, support 50.0 %" in shown.output
    assert "2023-05-08 Ann: I live in Porto" in shown.output


def test_words_decide_what_is_covered() -> None:
    note = content_words("Ann finished her first marathon in Bergen last spring.")
    assert covers(content_words("finished their first marathon"), note)
    assert not covers(content_words("bought new shoes for the marathon"), note)
    assert supports(note, content_words("a marathon"))
    assert not covers(content_words("a marathon"), note)
    assert not supports(note, frozenset())


def test_a_file_without_observations_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    records = locomo()
    del records[0]["observation"]
    file.write_text(json.dumps(records))
    result = CliRunner().invoke(program, ["facts", "--data", str(file)])
    assert result.exit_code != 0
    assert "observation" in result.output

"""`python -m benchmarks languages`: a chat of a language with what is marked in it, measured as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from quality.languages_command import languages


def write_chat(folder: Path) -> None:
    messages = [
        {"id": "m1", "role": "user", "time": "2026-03-02T07:42:00+00:00", "text": "I live in Porto. I love chess."},
        {"id": "m2", "role": "assistant", "time": "2026-03-02T07:44:00+00:00", "text": "Noted!"},
        {"id": "m3", "role": "user", "time": "2026-03-02T07:46:00+00:00", "text": "Yesterday I saw a heron."},
    ]
    chat = {
        "language": "en",
        "user": "rui",
        "messages": messages,
        "questions": [{"question": "Where do I live?", "evidence": ["m1"]}],
        "cross_questions": [{"question": "Which bird did I see?", "evidence": ["m3"]}],
        "facts": [{"key_words": ["Porto"]}, {"key_words": ["submarine"]}],
        "times": [{"message": "m3", "expression": "Yesterday", "from": "2026-03-01", "until": "2026-03-01"}],
        "commands": [
            {"text": "remember that my key is under the mat", "kind": "remember"},
            {"text": "I always forget my umbrella", "kind": "none"},
        ],
    }
    (folder / "en.json").write_text(json.dumps(chat), encoding="utf-8")


def test_a_chat_is_measured_as_a_whole(tmp_path: Path) -> None:
    write_chat(tmp_path)
    result = CliRunner().invoke(languages, ["--data", str(tmp_path), "--json"], catch_exceptions=False)
    measured = json.loads(result.output)
    assert measured["own"] == measured["english"] == measured["in_context"] == 100
    assert measured["facts"] == 50
    assert measured["times"] == measured["commands"] == 100
    assert measured["false_commands"] == 0
    assert measured["wrong"] == []


@pytest.mark.parametrize("content", ["[]", "{", '{"language": "en"}'])
def test_a_file_that_is_no_chat_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "en.json").write_text(content, encoding="utf-8")
    result = CliRunner().invoke(languages, ["--data", str(tmp_path)])
    assert result.exit_code != 0
    assert "en.json" in str(result.exception)


def test_a_language_that_is_not_there_is_told(tmp_path: Path) -> None:
    write_chat(tmp_path)
    result = CliRunner().invoke(languages, ["--data", str(tmp_path), "--language", "xx"])
    assert result.exit_code != 0
    assert "it has: en" in str(result.exception)

"""BEAM's folders, read into the shape of the other sets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everword.errors import InvalidInput
from quality.datasets import load, select


def batch(day: str, first: int, *texts: str) -> dict[str, Any]:
    roles = ["user", "assistant"]
    messages: list[dict[str, Any]] = [
        {"id": first + place, "role": roles[place % 2], "content": text} for place, text in enumerate(texts)
    ]
    messages[0] |= {"time_anchor": day, "content": f"{texts[0]} ->-> 1,2"}
    return {"turns": [messages], "time_anchor": None}


def write_chat(folder: Path, batches: list[Any]) -> None:
    folder.mkdir(parents=True)
    questions = {
        "abstention": [{"question": "Who won?"}],
        "knowledge_update": [
            {"question": "How many hives?", "answer": "3", "source_chat_ids": {"old": [0], "new": [[2], "9"]}}
        ],
    }
    (folder / "chat.json").write_text(json.dumps(batches))
    (folder / "probing_questions.json").write_text(json.dumps(questions))


def test_a_chat_of_beam_is_one_haystack_and_its_batches_are_its_sessions(tmp_path: Path) -> None:
    batches = [
        batch("March-03-2031", 0, "I have two hives.", "Good."),
        batch("June-01-2031", 2, "Now there are three hives.", "Well done."),
    ]
    write_chat(tmp_path / "set" / "7", batches)
    dataset = load(tmp_path / "set")
    (haystack,) = dataset.haystacks
    assert (dataset.name, haystack.name, haystack.continuous) == ("BEAM", "chat-7", True)
    assert [turn.text for turn in haystack.turns][::2] == ["I have two hives.", "Now there are three hives."]
    assert haystack.turns[2].time == datetime(2031, 6, 1, 9, tzinfo=UTC)
    (question,) = haystack.questions
    assert (question.evidence, question.sessions) == (("0", "2"), ("batch-1", "batch-2"))  # there is no message 9
    assert (question.category, question.answer) == ("knowledge_update", "3")
    assert dataset.notes == ("chat-7/abstention/1: left out, no evidence",)
    assert sum(select(dataset, part).questions for part in ("tune", "report")) == 1


@pytest.mark.parametrize(
    "change", [{"time_anchor": "soon"}, {"role": "robot"}, {"content": None}, {"id": None, "role": None}]
)
def test_a_chat_that_is_not_as_published_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    broken = batch("March-03-2031", 0, "I have two hives.", "Good.")
    broken["turns"][0][0] |= change
    write_chat(tmp_path / "7", [broken])
    with pytest.raises(InvalidInput, match="not as BEAM publishes it"):
        load(tmp_path / "7")

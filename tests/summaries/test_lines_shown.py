"""What a model is shown for summaries and topics: lines with their days, in whole words (G4)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from engine_doubles import settle_views

from everword import Draft, Memory
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM

DAY = datetime(2023, 5, 8, 12, tzinfo=UTC)
SENTENCES = (
    "I planted tomatoes in the greenhouse behind the house",
    "The greenhouse needs a new window before the frost comes",
    "I watered the tomatoes in the greenhouse with rain from the barrel",
    "My neighbour brought compost for the tomatoes in the greenhouse",
)


class Writer(ScriptedLLM):
    """A memory model that writes the same summary everywhere."""

    def __init__(self, summary: str = "They spoke of tomatoes in the greenhouse on 8 May 2023.") -> None:
        super().__init__(default=self._answer)
        self._summary = summary

    def _answer(self, request: Request) -> str:
        required = (request.schema or {})["required"]
        if "summaries" in required:
            count = request.messages[-1]["content"].count("=== NEW MESSAGES ===")
            return json.dumps({"summaries": [{"episode": n, "summary": self._summary} for n in range(1, count + 1)]})
        answers = {"facts": [], "tiers": [], "title": "Tomatoes in the greenhouse"}
        return json.dumps({name: answers.get(name, self._summary) for name in required})

    def shown(self, heading: str) -> list[str]:
        """What it was shown in each call that has this heading."""
        texts = [request.messages[-1]["content"] for request in self.requests]
        return [text for text in texts if f"=== {heading}" in text]


def fill(memory: Memory, count: int, *, long: bool = False) -> None:
    """A conversation of so many messages, ten a day."""
    drafts = [
        Draft(
            "user" if number % 2 == 0 else "assistant",
            f"{SENTENCES[number % 4]}, number {number}. "
            + ("Nothing else happened there at all. " * 100 if long else ""),
            time=DAY + timedelta(days=number // 10, minutes=number),
        )
        for number in range(count)
    ]
    memory.conversation("chat", user="alex").extend(drafts)
    settle_views(memory, "index", "topics", "window", "episodes", "titles")


def open_memory(tmp_path: Path, model: ScriptedLLM) -> Memory:
    clock = FrozenClock(DAY + timedelta(days=90))
    return Memory(str(tmp_path / "memory.db"), memory=model, followers=False, clock=clock)


@pytest.mark.checklist("G4")
def test_messages_of_an_episode_are_shown_with_their_days(tmp_path: Path) -> None:
    model = Writer()
    with open_memory(tmp_path, model) as memory:
        fill(memory, 60)
        shown = "\n".join(model.shown("NEW MESSAGES"))
        days = re.findall(r"^\d{4}-\d\d-\d\d$", shown, re.MULTILINE)
        assert {"2023-05-08", "2023-05-09", "2023-05-10"} <= set(days)
        for text in model.shown("NEW MESSAGES"):
            for part in text.split("=== NEW MESSAGES ===\n")[1:]:
                assert re.match(r"\d{4}-\d\d-\d\d\n", part)
        episodes = [episode for episode in memory.conversation("chat", user="alex").episodes() if episode.level == 1]
        assert {episode.made_by for episode in episodes} == {"model"}  # a day that was shown is no invention


@pytest.mark.checklist("G4")
def test_summaries_of_a_level_are_shown_with_their_days(tmp_path: Path) -> None:
    model = Writer()
    with open_memory(tmp_path, model) as memory:
        fill(memory, 160)
        shown = model.shown("SUMMARY 1 ===")
        assert shown
        lines = re.findall(r"=== SUMMARY \d ===\n(.*)\n", "\n".join(shown))
        assert lines
        assert all(re.match(r"2023-\d\d-\d\d: ", line) for line in lines)


@pytest.mark.checklist("G4")
def test_a_long_message_is_cut_between_words(tmp_path: Path) -> None:
    model = Writer()
    with open_memory(tmp_path, model) as memory:
        fill(memory, 30, long=True)
        shown = "\n".join(model.shown("NEW MESSAGES"))
        known = {word.strip(".,") for word in " ".join([*SENTENCES, "Nothing else happened there at all"]).split()}
        cuts = re.findall(r"(\S+) \[…\] (\S+)", shown)
        assert cuts
        assert {word.strip(".,") for cut in cuts for word in cut} <= known


@pytest.mark.checklist("G4")
def test_a_topic_is_written_from_episodes_and_whole_lines(tmp_path: Path) -> None:
    model = Writer()
    with open_memory(tmp_path, model) as memory:
        fill(memory, 160)
        shown = model.shown("TITLE SO FAR")
        assert shown
        episodes = "\n".join(re.findall(r"=== EPISODES ===\n(.*?)\n=== END EPISODES", "\n".join(shown), re.DOTALL))
        assert re.match(r"2023-\d\d-\d\d: They spoke of tomatoes", episodes)
        lines = [
            line.partition(": ")[2]
            for text in shown
            for part in re.findall(r"=== NEW MESSAGES ===\n(.*?)\n=== END NEW", text, re.DOTALL)
            for line in part.splitlines()
            if ": " in line
        ]
        assert lines
        whole = re.compile("|".join(rf"{re.escape(sentence)}, number \d+\.?" for sentence in SENTENCES))
        assert all(whole.fullmatch(line.strip()) for line in lines)

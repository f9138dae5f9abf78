"""What a model's reading is shown, and what becomes of each fact that it gives (G4)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from engine_doubles import settle_facts

from everword import Draft, Memory
from everword.ports import Request
from everword.testing import ScriptedLLM

DAY = datetime(2023, 5, 8, 12, tzinfo=UTC)


def entry(value: str, key: str, category: str, **more: object) -> dict[str, object]:
    return {"line": 1, "about": "", "category": category, "key": key, "value": value, "importance": 0.8, **more}


def open_memory(tmp_path: Path, *answers: Iterable[dict[str, object]]) -> tuple[Memory, ScriptedLLM]:
    """A memory whose model finds these facts, a list for each call."""
    left = [*answers]

    def answer(request: Request) -> str:
        required = (request.schema or {})["required"]
        if "facts" in required:
            return json.dumps({"facts": list(left.pop(0)) if left else []})
        return json.dumps(dict.fromkeys(required, "They talked about the Volvo."))

    model = ScriptedLLM(default=answer)
    return Memory(str(tmp_path / "memory.db"), memory=model, followers=False), model


def say(memory: Memory, *texts: str, user: str = "alex") -> None:
    memory.conversation(f"chat of {user}", user=user).extend([Draft("user", text, time=DAY) for text in texts])
    settle_facts(memory)


def shown(model: ScriptedLLM) -> str:
    """What the model was shown last."""
    return model.requests[-1].messages[-1]["content"]


@pytest.mark.checklist("G4")
@pytest.mark.parametrize(
    ("line", "fact", "told"),
    [
        (
            "My mother died in March 2023.",
            entry("died in March 2023", "mother", "relationship", about="mother", status="ended"),
            "mother: died in March 2023",
        ),
        (
            "Sad news, my sister lost her house in the flood.",
            entry("lost her house in the flood", "house", "possession", about="sister", status="ended"),
            "house: lost her house in the flood",
        ),
        (
            "My father Tom died last spring.",
            entry("Tom", "father", "relationship", status="ended"),
            "their father Tom died",
        ),
        ("I sold the Volvo last week.", entry("Volvo", "car", "possession", status="ended"), "car: Volvo (until "),
    ],
)
def test_what_has_ended_is_told_as_past_in_every_profile(
    tmp_path: Path, line: str, fact: dict[str, object], told: str
) -> None:
    memory, _ = open_memory(tmp_path, [fact])
    with memory:
        say(memory, line)
        chat = memory.conversation("chat of alex", user="alex")
        assert told in memory.profile(user="alex").text
        assert told in "\n".join(message["content"] for message in chat.context("How are you?").messages)
        memory.rebuild("facts")


@pytest.mark.checklist("G4")
def test_what_was_denied_replaced_or_forgotten_is_in_no_profile(tmp_path: Path) -> None:
    memory, _ = open_memory(
        tmp_path,
        [entry("Volvo", "car", "possession"), entry("Berlin", "location", "place", line=2)],
        [entry("Volvo", "car", "possession", status="not"), entry("Utrecht", "location", "place", line=2)],
    )
    with memory:
        say(memory, "I drive a Volvo.", "I live in Berlin.")
        say(memory, "I never had a Volvo, that was a joke.", "I live in Utrecht now.")
        text = memory.profile(user="alex").text
        assert "Volvo" not in text
        assert "Berlin" not in text
        assert "location: Utrecht" in text


@pytest.mark.checklist("G4")
def test_every_fact_that_is_not_kept_is_among_the_refused(tmp_path: Path) -> None:
    invented = entry("antique coins", "hobby", "preference")
    guessed = entry("Atlantis", "origin", "identity")
    unsure = entry("stamps", "interest", "preference", confidence=0.1)
    incomplete = {"line": 1, "about": "", "category": "preference", "value": "stamps"}
    memory, model = open_memory(
        tmp_path,
        [entry("stamps", "collection", "possession"), invented, guessed, unsure, incomplete],
        [entry("golden coins", "hobby", "preference"), entry("Atlantis", "origin", "identity")],
    )
    with memory:
        say(memory, "I collect stamps.")
        assert len(model.requests) == 2
        assert [fact.value for fact in memory.facts(user="alex")] == ["stamps"]
        refused = [(fact.key, fact.value) for fact in memory.refused_facts(user="alex")]
        assert sorted(refused) == [
            ("", "stamps"),
            ("likes", "antique coins"),
            ("likes", "golden coins"),
            ("likes", "stamps"),
            ("origin", "Atlantis"),
        ]
        (activity,) = [entry for entry in memory.stats().activity if entry.what == "refused" and entry.kind == "facts"][
            :1
        ]
        assert activity.count


@pytest.mark.checklist("G4")
def test_two_refused_facts_of_one_key_are_not_mended_by_one_correction(tmp_path: Path) -> None:
    memory, _ = open_memory(
        tmp_path,
        [entry("antique coins", "hobby", "preference"), entry("old maps", "hobby", "preference")],
        [entry("stamps", "hobby", "preference")],
    )
    with memory:
        say(memory, "I collect stamps.")
        assert [fact.value for fact in memory.facts(user="alex")] == ["stamps"]
        assert len(memory.refused_facts(user="alex")) == 1


@pytest.mark.checklist("G4")
def test_known_values_are_shown_in_whole_words(tmp_path: Path) -> None:
    value = "a wooden sailing boat with two masts that belonged to grandfather"
    memory, model = open_memory(tmp_path, [entry(value, "boat", "possession", **{"from": "2023-05-01"})])
    with memory:
        say(memory, f"Since 1 May 2023 I have {value}.")
        say(memory, "I painted the boat.")
        known = shown(model).partition("=== LINES ===")[0]
        words = known.partition("boat: ")[2].partition("…")[0].split()
        assert words == value.split()[: len(words)]
        assert "… (since May 2023)" in known


@pytest.mark.checklist("G4")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("glasses", "glasses"),
        ("favourite series", "series"),
        ("pottery classes", "pottery class"),
        ("Christmas", "christmas"),
        ("physics", "physics"),
        ("news", "news"),
        ("cookies", "cookie"),
        ("headaches", "headache"),
        ("wishes", "wish"),
        ("stories", "story"),
        ("dogs", "dog"),
    ],
)
def test_keys_are_words(tmp_path: Path, given: str, kept: str) -> None:
    memory, _ = open_memory(tmp_path, [entry("stamps", given, "preference")])
    with memory:
        say(memory, "I collect stamps.")
        assert [fact.key for fact in memory.facts(user="alex")] == [kept]
        memory.rebuild("facts")

"""A year in a person's life as they tell it, memory models that find what they are told to, and facts at a glance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from everword import Memory
from everword.model import Fact
from everword.ports import Request
from everword.testing import ScriptedLLM

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
YEAR = {
    "2025-01-03": "My name is Yolanda Reyes.",
    "2025-01-05": "I live in Lima.",
    "2025-02-01": "I work at Contoso as a nurse.",
    "2025-03-10": "I moved to Oslo.",
    "2025-04-01": "I'm allergic to kiwi.",
    "2025-05-01": "I work at Globex now.",
    "2025-06-01": "I changed my name to Yola Berg.",
    "2025-08-01": "I moved to Rome in July.",
    "2025-09-01": "I quit my job at Globex.",
    "2025-10-01": "I no longer live in Rome.",
    "2025-10-20": "I'm not allergic to kiwi any more.",
    "2025-11-01": "I live in Turin now.",
}


def day(text: str, hour: int = 9) -> datetime:
    return datetime.fromisoformat(text).replace(hour=hour, tzinfo=UTC)


def values(facts: Sequence[Fact]) -> dict[str, list[str]]:
    """Each key with its values."""
    found: dict[str, list[str]] = {}
    for fact in facts:
        found.setdefault(fact.key, []).append(fact.value)
    return {key: sorted(several) for key, several in found.items()}


def entry(category: str, key: str, value: str, **more: Any) -> dict[str, Any]:
    """A fact as a memory model writes it."""
    about = {"about": "user", "status": "now", "since": "", "until": "", "confidence": 0.9, "importance": 0.8}
    return {"category": category, "key": key, "value": value, **about, **more}


def answered(found: dict[str, list[dict[str, Any]]], request: Request) -> str:
    """What a memory model says that finds these facts in messages with these words, and none in others."""
    asked = request.messages[-1]["content"]
    return json.dumps({"facts": [one for words, some in found.items() if words in asked for one in some]})


def reader(found: dict[str, list[dict[str, Any]]]) -> ScriptedLLM:
    return ScriptedLLM(default=lambda request: answered(found, request))


def everything(memory: Memory, user: str) -> list[Fact]:
    """Every fact of a person there ever was, of the keys these tests use."""
    keys = ("name", "location", "employer", "job", "allergies", "likes", "pets", "brother", "call me")
    return [fact for key in keys for fact in memory.fact_history(key, user=user)]


def live(memory: Memory, user: str = "yola") -> None:
    """A year of hers, in one chat."""
    chat = memory.conversation(f"year of {user}", user=user)
    for when, text in YEAR.items():
        chat.add("user", text, time=day(when))
        chat.add("assistant", "I see.", time=day(when, 10))
    memory.settle()

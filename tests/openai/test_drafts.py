"""Messages as a program has them: drafts, and mappings in the shape of OpenAI's messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from everword.errors import InvalidInput
from everword.model import Draft
from everword.openai.messages import as_draft

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "draft"),
    [
        (Draft("user", "Hi"), Draft("user", "Hi")),
        ({"role": "user", "content": "Hi"}, Draft("user", "Hi")),
        ({"role": "developer", "content": "Be brief."}, Draft("system", "Be brief.")),
        ({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, Draft("user", "Hi")),
        (
            {"role": "user", "content": "Hi", "author": "alex", "time": NOON, "platform_id": "7", "id": None},
            Draft("user", "Hi", author="alex", time=NOON, platform_id="7"),
        ),
        (
            {"role": "user", "content": "Hi", "name": "Alex", "metadata": {"a": 1}},
            Draft("user", "Hi", metadata={"name": "Alex", "a": 1}),
        ),
        (
            {"role": "tool", "content": "12 °C", "tool_call_id": "call_1"},
            Draft("tool", "12 °C", metadata={"openai": {"tool_call_id": "call_1"}}),
        ),
    ],
    ids=["draft", "plain", "instruction", "parts", "own fields", "name and metadata", "tool"],
)
def test_what_a_program_has_is_taken(message: Any, draft: Draft) -> None:
    assert as_draft(message) == draft


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("Hi", "give Draft"),
        ({"content": "Hi"}, "must be one of"),
        ({"role": "alien", "content": "Hi"}, "must be one of"),
        ({"role": "user", "content": 7}, "must be text"),
        ({"role": "user", "content": "Hi", "platform": "x"}, "unknown field 'platform'"),
    ],
    ids=["text", "no role", "unknown role", "number", "unknown field"],
)
def test_what_is_no_message_is_refused_with_what_to_give(message: Any, hint: str) -> None:
    with pytest.raises(InvalidInput, match=hint):
        as_draft(message)

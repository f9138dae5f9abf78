"""D12: import of Claude's export."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everword.formats import BadRecord, Record, open_records

DATA = Path(__file__).parent / "data"


def export(**options: Any) -> list[Record]:
    found = list(open_records(DATA / "claude.json", **options))
    assert not [record for record in found if isinstance(record, BadRecord)]
    return [record for record in found if isinstance(record, Record)]


def one(tmp_path: Path, message: Any, **fields: Any) -> Record | BadRecord | None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "c", "chat_messages": [message], **fields}]))
    found = list(open_records(path))
    assert len(found) <= 1
    return found[0] if found else None


def test_messages_are_read_in_order_with_their_ids_and_times() -> None:
    assert [(r.conversation, r.draft.platform_id, r.draft.role, r.where) for r in export()] == [
        ("c-1", "m-1", "user", "conversation 1, message 1"),
        ("c-1", "m-2", "assistant", "conversation 1, message 2"),
        ("c-1", "m-3", "user", "conversation 1, message 3"),
        ("c-1", "m-5", "user", "conversation 1, message 5"),
    ]
    first, second, third, last = [record.draft.time for record in export()]
    assert first == datetime(2025, 3, 1, 8, 0, 1, 123_456, tzinfo=UTC)
    assert second == datetime(2025, 3, 1, 8, 0, 9, tzinfo=UTC)
    assert last == third, "without a time of its own, that of the message before"


def test_the_text_of_an_attachment_follows_what_was_written() -> None:
    first, _, third, _ = export()
    assert first.draft.content == "Please read my notes.\n\n[attachment: notes.txt]\nPlant beans in May. 🌱"
    assert first.draft.metadata == {
        "title": "Garden plan",
        "attachments": [{"name": "notes.txt", "type": "txt", "size": 21}],
        "files": ["plan.png"],
    }
    assert third.draft.content == "[attachment: bed.jpg]"


def test_tools_and_thinking_are_beside_the_words() -> None:
    second = export()[1]
    assert second.draft.content == "Let me look.\n\nBeans go in after the frost."
    assert [block["type"] for block in second.draft.metadata["blocks"]] == ["thinking", "tool_use", "tool_result"]


def test_the_account_is_the_user_unless_the_caller_says_who() -> None:
    assert {(r.user, r.draft.user) for r in export()} == {("account-1", "account-1")}
    named = export(user="alex")
    assert {(r.user, r.draft.user) for r in named} == {("alex", "alex")}
    assert [r.draft.author for r in named] == ["alex", None, "alex", "alex"]


def test_a_message_with_tools_only_names_them(tmp_path: Path) -> None:
    blocks = [{"type": "tool_use", "name": "search"}, {"type": "tool_result"}]
    record = one(
        tmp_path, {"uuid": "m", "sender": "assistant", "created_at": "2025-01-01T00:00:00Z", "content": blocks}
    )
    assert isinstance(record, Record)
    assert record.draft.content == "[tool_use: search]\n[tool_result]"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("hello", "message: expected an object, found text"),
        ({"sender": "system"}, "sender: expected human or assistant"),
        ({"uuid": None}, "uuid: expected an id, found nothing"),
        ({"created_at": "2025-01-01T00:00:00"}, "created_at: the time has no time zone; add one (Z or +02:00)"),
        ({"created_at": None}, "created_at: neither the message nor its conversation has a time"),
        ({"content": "text"}, "content: expected a list, found text"),
        ({"content": [{"type": "text", "text": 5}]}, "text: expected text, found a number"),
        ({"attachments": ["a"]}, "attachments[0]: expected an object, found text"),
        ({"files": {}}, "files: expected a list, found an object"),
    ],
)
def test_a_bad_message_is_named(tmp_path: Path, message: Any, reason: str) -> None:
    whole = {"uuid": "m", "sender": "human", "created_at": "2025-01-01T00:00:00Z", "text": "hi"}
    found = one(tmp_path, {**whole, **message} if isinstance(message, dict) else message)
    assert isinstance(found, BadRecord)
    assert found.where == "conversation 1, message 1"
    assert found.reason.startswith(reason)


def test_a_bad_conversation_is_named(tmp_path: Path) -> None:
    assert one(tmp_path, {}, uuid=None) == BadRecord("conversation 1", "uuid: expected an id, found nothing")
    assert one(tmp_path, {}, account="me") == BadRecord("conversation 1", "account: expected an object, found text")

"""D12: import of ChatGPT's export."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everword.formats import BadRecord, Record, open_records

DATA = Path(__file__).parent / "data"
START = 1_712_345_000.0


def node(id: str, parent: str | None, text: str = "", **message: Any) -> dict[str, Any]:
    said = {
        "id": id,
        "author": {"role": "user"},
        "create_time": START,
        "content": {"content_type": "text", "parts": [text or f"said in {id}"]},
        **message,
    }
    return {"id": id, "parent": parent, "children": [], "message": said}


def chat(tmp_path: Path, *nodes: dict[str, Any], **fields: Any) -> Path:
    path = tmp_path / "conversations.json"
    tree = {item["id"]: item for item in nodes}
    path.write_text(json.dumps([{"conversation_id": "c", "title": "T", "mapping": tree, **fields}]))
    return path


def said(path: Path) -> list[tuple[str, str | None]]:
    found = list(open_records(path, "chatgpt"))
    assert not [record for record in found if isinstance(record, BadRecord)]
    return [(record.conversation, record.draft.platform_id) for record in found if isinstance(record, Record)]


def export() -> list[Record]:
    return [r for r in open_records(DATA / "chatgpt.json", user="alex") if isinstance(r, Record)]


def test_the_way_to_the_current_node_is_the_conversation() -> None:
    main = [record for record in export() if record.conversation == "conv-1"]
    assert [(r.draft.role, r.draft.platform_id, r.draft.content) for r in main] == [
        ("user", "user-1b", "[image]\nHow long does this rye bread rise? 🍞"),
        ("assistant", "think-1", "Thinking of rye\n\nRye rises slowly."),
        ("assistant", "code-1", "print(60 * 2)"),
        ("tool", "out-1", "120\n"),
        ("assistant", "bot-1c", "Two hours, for rye."),
        ("user", "user-2", "Thank you\n[audio]"),
    ]
    assert [r.where for r in main][:2] == ["conversation 1, message 1", "conversation 1, message 2"]


def test_what_is_off_that_way_is_kept_in_branches_each_message_once() -> None:
    found = export()
    branches = [(r.conversation, r.draft.platform_id) for r in found if "/branch/" in r.conversation]
    assert branches == [
        ("conv-1/branch/bot-1a", "user-1a"),
        ("conv-1/branch/bot-1a", "bot-1a"),
        ("conv-1/branch/bot-1b", "bot-1b"),
    ]
    ids = [r.draft.platform_id for r in found]
    assert len(ids) == len(set(ids)) == 10
    first = next(r for r in found if r.draft.platform_id == "bot-1b")
    assert first.draft.metadata["branch_of"] == "conv-1"
    assert first.draft.metadata["follows"] == "out-1"
    assert first.where == "conversation 1, branch bot-1b, message 1"


def test_authors_and_times_are_the_true_ones() -> None:
    by_id = {record.draft.platform_id: record for record in export()}
    assert by_id["user-1b"].draft.author == "alex"
    assert by_id["user-1b"].user == "alex"
    assert by_id["user-1b"].draft.time == datetime(2024, 4, 5, 19, 34, 50, 750_000, tzinfo=UTC)
    assert by_id["out-1"].draft.author == "python"
    assert by_id["bot-1c"].draft.author is None
    assert by_id["bot-1c"].draft.time == by_id["out-1"].draft.time, "that of the message before"
    assert by_id["u"].draft.time == datetime(2024, 4, 6, 10, 40, tzinfo=UTC), "that of the conversation"
    assert by_id["u"].draft.content == "Как тебя зовут?"


def test_the_title_is_on_the_first_message_and_the_rest_in_the_metadata() -> None:
    by_id = {record.draft.platform_id: record.draft.metadata for record in export()}
    assert by_id["user-1b"]["title"] == "Bread for a weekend"
    assert by_id["user-1b"]["attachments"] == [{"name": "rye.png", "id": "file-1", "type": "image/png", "size": 1024}]
    assert by_id["user-1b"]["parts"][0]["asset_pointer"] == "file-service://file-1"
    assert by_id["code-1"] == {"content_type": "code", "recipient": "python", "model": "gpt-4o"}


def test_a_shared_part_of_two_branches_is_in_the_first(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        node("a", None),
        node("b", "a"),
        node("x", "a"),
        node("y1", "x"),
        node("y2", "x"),
        current_node="b",
    )
    assert said(path) == [
        ("c", "a"),
        ("c", "b"),
        ("c/branch/y1", "x"),
        ("c/branch/y1", "y1"),
        ("c/branch/y2", "y2"),
    ]


@pytest.mark.parametrize("current", [None, "gone", 5, {"a": 1}])
def test_without_a_current_node_the_last_leaf_is_it(tmp_path: Path, current: Any) -> None:
    path = chat(tmp_path, node("a", None), node("b", "a"), node("d", "a"), current_node=current)
    assert said(path) == [("c", "a"), ("c", "d"), ("c/branch/b", "b")]


def test_a_tree_that_is_none_loses_no_message(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        node("a", "gone"),
        node("b", "a"),
        node("p", "q"),
        node("q", "p"),
        current_node="b",
    )
    assert said(path) == [("c", "a"), ("c", "b"), ("c/branch/p", "q"), ("c/branch/p", "p")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "tether_quote", "title": "T", "text": "quoted", "url": "u"}, "T\nquoted\nu"),
        ({"content_type": "tether_browsing_display", "result": "found", "summary": None}, "found"),
        ({"content_type": "user_editable_context", "user_profile": "p", "user_instructions": "i"}, "p\ni"),
        ({"content_type": "computer_output", "screenshot": {"width": 5.5}}, "[computer_output]"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "video_container"}]}, "[video]"),
        ({"content_type": "text", "parts": ["a", "", None, "b"]}, "a\nb"),
        ({"content_type": "text", "parts": ["  kept  \n"]}, "  kept  \n"),
    ],
)
def test_every_type_of_content_has_words(tmp_path: Path, content: dict[str, Any], text: str) -> None:
    (record,) = open_records(chat(tmp_path, node("a", None, content=content)))
    assert isinstance(record, Record)
    assert record.draft.content == text
    assert record.draft.role == ("system" if "editable" in content["content_type"] else "user")


@pytest.mark.parametrize(
    "message",
    [
        {"content": {"content_type": "text", "parts": [""]}},
        {"content": {"content_type": "text", "parts": [" \n"]}},
        {"content": {"content_type": "text"}},
        {"content": {"content_type": "model_editable_context", "model_set_context": ""}},
        {"content": None},
        {"metadata": {"is_visually_hidden_from_conversation": True}},
    ],
)
def test_a_message_that_says_nothing_is_passed_over(tmp_path: Path, message: dict[str, Any]) -> None:
    assert said(chat(tmp_path, node("a", None, **message), node("b", "a"), current_node="b")) == [("c", "b")]


def test_a_message_of_files_only_names_them(tmp_path: Path) -> None:
    files = {"attachments": [{"name": "a.pdf"}, {"id": "x"}]}
    path = chat(tmp_path, node("a", None, content={"content_type": "text", "parts": []}, metadata=files))
    (record,) = open_records(path)
    assert isinstance(record, Record)
    assert record.draft.content == "[attachment: a.pdf]\n[attachment: unnamed]"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"author": "user"}, "author: expected an object, found text"),
        ({"author": {"role": "critic"}}, "author.role: expected one of user, assistant, system, tool"),
        ({"content": "hello"}, "content: expected an object, found text"),
        ({"content": {"parts": "hello"}}, "parts: expected a list, found text"),
        ({"content": {"parts": [5]}}, "parts[0]: expected an object, found a number"),
        ({"create_time": "noon"}, "create_time: expected a time, found text"),
        ({"create_time": None}, "create_time: neither the message nor its conversation has a time"),
    ],
)
def test_a_bad_message_is_named_and_the_next_is_read(tmp_path: Path, message: dict[str, Any], reason: str) -> None:
    first, second = open_records(chat(tmp_path, node("a", None, **message), node("b", "a")))
    assert first == BadRecord("conversation 1, message 1", reason)
    assert isinstance(second, Record)
    assert second.where == "conversation 1, message 2"
    assert second.draft.metadata == {"title": "T"}


def test_the_title_that_every_new_chat_has_is_none(tmp_path: Path) -> None:
    (record,) = open_records(chat(tmp_path, node("a", None), title="New chat"))
    assert isinstance(record, Record)
    assert "title" not in (record.draft.metadata or {})


def test_a_bad_conversation_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    good = {"id": "c", "mapping": {"a": node("a", None)}}
    path.write_text(json.dumps(["x", {"mapping": []}, {"mapping": {}}, {"mapping": {"a": 5}, "id": "d"}, good]))
    *wrong, last = open_records(path, "chatgpt")
    assert wrong == [
        BadRecord("conversation 1", "conversation: expected an object, found text"),
        BadRecord("conversation 2", "mapping: expected an object, found a list"),
        BadRecord("conversation 3", "conversation_id: expected an id, found nothing"),
        BadRecord("conversation 4, message 1", "node a: expected an object, found a number"),
    ]
    assert isinstance(last, Record)
    assert last.conversation == "c"


def test_one_conversation_by_itself_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"title": "T", "conversation_id": "c", "mapping": {"a": node("a", None)}}))
    assert said(path) == [("c", "a")]

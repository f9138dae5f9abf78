"""C1, D12: chats of Telegram Desktop, with their authors, times and ids."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hostile_names import HOSTILE_NAMES
from hypothesis import given
from hypothesis import strategies as st

from everword.formats import BadRecord, Record, open_records
from everword.formats.channels import _RepairedStream
from everword.formats.source import Stream
from everword.log.checks_and_seals import check_metadata

DATA = Path(__file__).parent / "data"
MESSAGE = {"id": 1, "type": "message", "date_unixtime": "1736071200", "from": "Ann", "from_id": "user5", "text": "hi"}


def export(name: str, **options: Any) -> list[Record]:
    return [r for r in open_records(DATA / name, **options) if isinstance(r, Record)]


def written(tmp_path: Path, *messages: Any, **fields: Any) -> Path:
    path = tmp_path / "result.json"
    whole = {"name": "Chat", "type": "private_group", "id": 7, **fields, "messages": list(messages)}
    path.write_text(json.dumps(whole))
    return path


def only(path: Path, **options: Any) -> Record | BadRecord:
    (found,) = open_records(path, "telegram", **options)
    return found


def test_one_chat_is_read_with_its_authors_ids_and_true_times() -> None:
    found = export("telegram_chat.json")
    assert {(r.conversation, r.user) for r in found} == {("1234567", None)}
    assert [(r.draft.platform_id, r.draft.author, r.draft.role) for r in found] == [
        ("1", "user501", "system"),
        ("2", "user501", "user"),
        ("3", "user502", "user"),
        ("4", "user502", "user"),
        ("5", "user900", "user"),
        ("6", "user900", "user"),
        ("8", "user503", "user"),
    ]
    assert found[1].draft.time == datetime(2025, 1, 5, 10, 1, tzinfo=UTC)
    assert found[1].where == "message 2"


def test_words_are_put_together_and_what_stands_in_for_them_is_named() -> None:
    assert [r.draft.content for r in export("telegram_chat.json")] == [
        "Ann: create group: Hiking: Ann, Bob, somebody",
        "Meet at nine, see the map 🥾",
        "The hut is open",
        "[sticker: 🏔]",
        "[poll: Which day?]\n- Saturday\n- Sunday",
        "[location: Hut]",
        "a\x1fb \\x41 \\\t",
    ]


def test_the_rest_is_in_the_metadata_and_the_chat_s_name_on_the_first_message() -> None:
    records = export("telegram_chat.json")
    first, second, third, *_ = [r.draft.metadata for r in records]
    assert records[2].draft.reply_to == "2"
    assert first == {"title": "Hiking", "chat_type": "private_supergroup", "name": "Ann", "action": "create_group"}
    assert second == {"name": "Ann", "links": ["https://example.org/map"], "edited": "2025-01-05T10:02:00+00:00"}
    assert third == {
        "name": "Bob",
        "media": {"photo": "photos/photo_1.jpg"},
        "forwarded_from": "Hut news",
    }


def test_what_cannot_be_read_is_named_and_what_telegram_left_out_passed_over() -> None:
    assert [r for r in open_records(DATA / "telegram_chat.json") if isinstance(r, BadRecord)] == [
        BadRecord(
            "message 9", "date: the time has no time zone; add one (Z or +02:00), or give a time zone for the import"
        ),
    ]


def test_a_time_on_the_wall_needs_the_zone_of_the_wall() -> None:
    last = export("telegram_chat.json", timezone="Europe/Berlin")[-1]
    assert last.draft.platform_id == "9"
    assert last.draft.time == datetime(2025, 7, 5, 9, 9, tzinfo=UTC)


def test_a_full_export_has_every_chat_by_its_own_id() -> None:
    found = export("telegram_full.json", assistant_ids=["user900"])
    assert [(r.conversation, r.draft.platform_id, r.draft.role, r.user, r.where) for r in found] == [
        ("501", "10", "user", None, "conversation 1, message 1"),
        ("900", "10", "user", "user42", "conversation 2, message 1"),
        ("900", "11", "assistant", "user42", "conversation 2, message 2"),
        ("777", "1", "user", None, "conversation 4, message 1"),
    ]
    assert found[0].draft.content == "Γεια σου"
    assert [r.draft.metadata.get("title") for r in found] == ["Ann", "Helper", None, "News"]


def test_a_chat_with_the_assistant_belongs_to_the_user_the_caller_names() -> None:
    found = export("telegram_full.json", assistant_ids=["900"], user="alex")
    assert [r.user for r in found] == [None, "alex", "alex", None]
    assert [r.draft.author for r in found] == ["user501", "user42", "user900", "channel777"]


def test_notes_to_oneself_belong_to_the_one_who_wrote_them(tmp_path: Path) -> None:
    record = only(written(tmp_path, MESSAGE, type="saved_messages"), user="alex")
    assert isinstance(record, Record)
    assert record.user == record.draft.user == "alex"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"text": ""}, None),
        ({"text": None, "text_entities": [{"type": "plain", "text": "from "}, {"text": "entities"}]}, "from entities"),
        ({"text": "", "photo": "photos/1.jpg"}, "[photo]"),
        ({"text": "", "media_type": "voice_message", "file": "v.ogg"}, "[voice message]"),
        ({"text": "", "file": "files/a.pdf", "file_name": "a.pdf"}, "[file: a.pdf]"),
        ({"text": "", "contact_information": {"first_name": "Bob"}}, "[contact]"),
        ({"text": "see", "file": "files/a.pdf"}, "see"),
        ({"type": "service", "actor": "Ann", "action": "pin_message", "text": ""}, "Ann: pin message"),
        ({"type": "service", "actor": None, "text": ""}, "[service message]"),
        ({"type": "service", "actor": "Ann", "action": "topic_edit", "new_title": "New"}, "Ann: topic edit: New: hi"),
    ],
)
def test_every_kind_of_message_has_words(tmp_path: Path, change: dict[str, Any], text: str | None) -> None:
    found = list(open_records(written(tmp_path, {**MESSAGE, **change})))
    assert [record.draft.content for record in found if isinstance(record, Record)] == [text] * bool(text)
    assert not [record for record in found if isinstance(record, BadRecord)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text": 5}, "text: expected a list, found a number"),
        ({"text": [5]}, "text: expected an object, found a number"),
        ({"from_id": {}}, "from_id: expected an id, found an object"),
        ({"id": None}, "id: expected an id, found nothing"),
        ({"date_unixtime": "soon"}, "date_unixtime: expected seconds since 1970"),
        ({"date_unixtime": []}, "date_unixtime: expected a time, found a list"),
        ({"date_unixtime": None, "date": 5}, "date: expected text, found a number"),
        ({"date_unixtime": "9" * 5000}, "date_unixtime: expected seconds since 1970"),
        ({"poll": "x", "text": ""}, "poll: expected an object, found text"),
        ({"reactions": [5]}, "reactions[0]: expected an object, found a number"),
    ],
)
def test_a_bad_message_is_named_and_the_next_is_read(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    first, second = open_records(written(tmp_path, {**MESSAGE, **change}, MESSAGE), "telegram")
    assert first == BadRecord("message 1", reason)
    assert isinstance(second, Record)
    assert second.draft.metadata["title"] == "Chat"


def test_a_bad_chat_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    chats = ["x", {"messages": [MESSAGE, MESSAGE]}, {"id": 1, "messages": "x"}, {"id": 2, "messages": [MESSAGE]}]
    path.write_text(json.dumps({"chats": {"list": chats}}))
    *wrong, last = open_records(path)
    assert wrong == [
        BadRecord("message 1", "chats.list.*: not as Telegram Desktop writes it"),
        BadRecord("conversation 1, message 1", "id: expected an id, found nothing"),
        BadRecord("conversation 2, message 1", "chats.list.*.messages: not as Telegram Desktop writes it"),
    ]
    assert isinstance(last, Record)
    assert last.conversation == "2"


def test_a_file_without_messages_says_so(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"chats": {"list": []}}')
    assert only(path) == BadRecord("message 1", "the file contains no list of messages")
    path.write_text("[1]")
    assert only(path) == BadRecord("message 1", "the file: not as Telegram Desktop writes it")


@given(
    pieces=st.lists(st.sampled_from(["\\x1F", "\\\\", "\\n", "x41", "é", '\\"', "\\u00e9"]), max_size=30),
    size=st.integers(1, 9),
)
def test_control_characters_are_mended_wherever_a_chunk_ends(pieces: list[str], size: int) -> None:
    stream = _RepairedStream(Stream(io.BytesIO("".join(pieces).encode())))
    read = b"".join(iter(lambda: stream.read(size), b"")).decode()
    assert read == "".join(piece.replace("\\x", "\\u00") for piece in pieces)


@pytest.mark.checklist("G9")
def test_no_name_costs_a_message(tmp_path: Path) -> None:
    names = [*HOSTILE_NAMES, "\ud83d", 7, None]
    records = list(open_records(written(tmp_path, *(MESSAGE | {"id": n, "from": x} for n, x in enumerate(names)))))
    assert len(records) == len(names)
    for record in records:
        assert isinstance(record, Record)
        assert check_metadata(record.draft.metadata) == record.draft.metadata

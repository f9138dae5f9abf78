"""C1: a channel of a guild, with its space, author, time and platform id."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hostile_names import HOSTILE_NAMES

from everword.formats import BadRecord, Record, open_records
from everword.log.checks_and_seals import check_metadata

DATA = Path(__file__).parent / "data"
MESSAGE = {"id": "1", "type": "Default", "timestamp": "2025-01-05T10:00:00Z", "content": "hi", "author": {"id": "5"}}


def export(**options: Any) -> list[Record]:
    found = list(open_records(DATA / "discord.json", **options))
    assert not [record for record in found if isinstance(record, BadRecord)]
    return [record for record in found if isinstance(record, Record)]


def written(tmp_path: Path, **fields: Any) -> Path:
    path = tmp_path / "channel.json"
    whole = {"guild": {"id": "1"}, "channel": {"id": "2", "type": "GuildTextChat"}, "messages": [MESSAGE], **fields}
    path.write_text(json.dumps(whole))
    return path


def test_messages_are_read_with_channel_author_time_and_id() -> None:
    found = export()
    assert {(r.conversation, r.user, r.draft.user) for r in found} == {("200", None, None)}
    assert [(r.draft.platform_id, r.draft.author, r.draft.role) for r in found] == [
        ("1001", "501", "system"),
        ("1002", "501", "user"),
        ("1003", "900", "user"),
        ("1004", "502", "user"),
        ("1005", "901", "user"),
        ("1006", "502", "user"),
    ]
    assert found[1].draft.time == datetime(2025, 1, 5, 10, 30, 0, 500_000, tzinfo=UTC)
    assert found[1].where == "message 2"


def test_words_are_kept_as_they_are_and_what_stands_in_for_them_is_named() -> None:
    assert [r.draft.content for r in export()] == [
        "Joined the server.",
        "Hello **all**,  @bob 👋\n",
        "How can I help?",
        "[attachment: b.pdf]\n[sticker: Wave]",
        "[embed: Berlin]\nSunny, 21 °C",
        "[forwarded message]\nHappy new year",
    ]


def test_the_rest_is_in_the_metadata_and_the_names_of_the_place_on_the_first_message() -> None:
    records = export()
    first, second, third, *_ = [r.draft.metadata for r in records]
    assert [record.draft.reply_to for record in records[:3]] == [None, None, "1002"]
    assert first == {"channel": "general", "guild": "Makers", "name": "Ann", "type": "GuildMemberJoin"}
    assert second == {
        "name": "Ann",
        "edited": "2025-01-05T10:31:00+00:00",
        "pinned": True,
        "mentions": ["502"],
        "attachments": [{"name": "a.png", "url": "https://example.org/a.png", "size": 12}],
        "reactions": [{"emoji": "👍", "count": 2}],
    }
    assert third == {"name": "Helper", "bot": True, "type": "Reply"}


@pytest.mark.parametrize("ids", [["900"], {"900"}, "900"])
def test_only_the_bots_the_caller_names_are_the_assistant(ids: Any) -> None:
    assert [r.draft.platform_id for r in export(assistant_ids=ids) if r.draft.role == "assistant"] == ["1003"]


def test_the_guild_is_the_suggested_space_before_anything_is_read(tmp_path: Path) -> None:
    assert open_records(DATA / "discord.json").suggested_space == "100"
    assert open_records(written(tmp_path, guild={"id": "0", "name": "Direct Messages"})).suggested_space is None
    assert open_records(written(tmp_path, guild="x")).suggested_space is None


def test_a_direct_chat_with_the_assistant_belongs_to_its_user(tmp_path: Path) -> None:
    direct = written(tmp_path, channel={"id": "2", "type": "DirectTextChat"})
    assert [r.user for r in open_records(direct, user="alex", assistant_ids=["9"]) if isinstance(r, Record)] == ["alex"]
    assert [r.user for r in open_records(direct, user="alex") if isinstance(r, Record)] == [None]
    channel = written(tmp_path)
    assert [r.user for r in open_records(channel, user="alex", assistant_ids=["9"]) if isinstance(r, Record)] == [None]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"author": None}, "author: expected an object, found nothing"),
        ({"author": {}}, "author.id: expected an id, found nothing"),
        ({"id": None}, "id: expected an id, found nothing"),
        ({"content": {}}, "content: expected text, found an object"),
        ({"timestamp": "2025-01-05T10:00:00"}, "timestamp: the time has no time zone; add one (Z or +02:00), or give"),
        ({"timestamp": None}, "timestamp: expected a time, found nothing"),
        ({"attachments": "a"}, "attachments: expected a list, found text"),
        ({"reactions": [{"emoji": "x"}]}, "emoji: expected an object, found text"),
        ({"reference": "x"}, "reference: expected an object, found text"),
    ],
)
def test_a_bad_message_is_named_and_the_next_is_read(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = written(tmp_path, messages=[{**MESSAGE, **change}, "x", MESSAGE])
    first, second, third = open_records(path)
    assert isinstance(first, BadRecord)
    assert first.where == "message 1"
    assert first.reason.startswith(reason)
    assert second == BadRecord("message 2", "message: expected an object, found text")
    assert isinstance(third, Record)
    assert third.where == "message 3"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"channel": None}, "channel: expected an object, found nothing"),
        ({"channel": {"id": {}}}, "channel.id: expected an id, found an object"),
        ({"guild": []}, "guild: expected an object, found a list"),
        ({"messages": {"a": 1}}, "messages: is not in the format that DiscordChatExporter writes"),
        ({"messages": "x"}, "messages: is not in the format that DiscordChatExporter writes"),
    ],
)
def test_a_bad_header_is_named_once(tmp_path: Path, fields: dict[str, Any], reason: str) -> None:
    assert list(open_records(written(tmp_path, **fields))) == [BadRecord("message 1", reason)]


def test_a_file_without_messages_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"guild": {"id": "1"}}')
    assert list(open_records(path)) == [BadRecord("message 1", "the file contains no list of messages")]
    path.write_text("[]")
    assert list(open_records(path, "discord")) == [
        BadRecord("message 1", "the file: is not in the format that DiscordChatExporter writes")
    ]


@pytest.mark.checklist("G9")
def test_no_name_costs_a_message(tmp_path: Path) -> None:
    names = [*HOSTILE_NAMES, "\ud83d", 7, None]
    messages = [MESSAGE | {"id": str(n), "author": {"id": "5", "nickname": name}} for n, name in enumerate(names)]
    records = list(open_records(written(tmp_path, messages=messages)))
    assert len(records) == len(names)
    for record in records:
        assert isinstance(record, Record)
        assert check_metadata(record.draft.metadata) == record.draft.metadata

"""D12: export and import in our own format."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.formats import BadRecord, Record, dump, jsonl, open_records
from everword.model import ROLES, Conversation, Draft, Message

DATA = Path(__file__).parent / "data"


def lines(path: Path, *texts: str | bytes | dict[str, Any]) -> Path:
    """A JSON Lines file with these lines."""
    raw = [json.dumps(text).encode() if isinstance(text, dict) else text for text in texts]
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in raw))
    return path


def records(path: Path, **options: Any) -> list[Record]:
    found = list(open_records(path, "everword", **options))
    assert not [record for record in found if isinstance(record, BadRecord)]
    return [record for record in found if isinstance(record, Record)]


def bad(path: Path, **options: Any) -> list[BadRecord]:
    return [r for r in open_records(path, "everword", **options) if isinstance(r, BadRecord)]


def test_messages_are_read_with_their_conversation_author_time_and_id() -> None:
    first, second, third, *_ = records(DATA / "messages.jsonl")
    assert first == Record(
        conversation="demo",
        user="alex",
        draft=Draft(
            role="user",
            content="My name is Alex and I prefer Python.",
            author="alex",
            user="alex",
            time=datetime(2025, 1, 31, 12, tzinfo=UTC),
            id="m1",
        ),
        where="line 1",
        position=201,
        space="default",
    )
    assert second.draft.time == datetime(2025, 1, 31, 12, 0, 4, 250_000, tzinfo=UTC)
    assert second.draft.metadata == {"model": "small"}
    assert third.where == "line 5"
    assert third.draft.content == "日本語でもいい？"
    assert third.draft.time == datetime(2025, 1, 31, 12, 5, tzinfo=UTC)
    assert third.draft.platform_id == "77"


def test_unknown_fields_are_kept_in_the_metadata(tmp_path: Path) -> None:
    said = {"role": "user", "content": "hi", "mood": "good", "metadata": {"extra": {"a": 1}, "b": 2}}
    assert records(lines(tmp_path / "x", said))[0].draft.metadata == {"extra": {"a": 1, "mood": "good"}, "b": 2}
    said["metadata"] = {"extra": 5}
    assert records(lines(tmp_path / "x", said))[0].draft.metadata == {"extra": {"extra": 5, "mood": "good"}}


def test_the_same_file_gives_the_same_ids_and_keeps_repetitions_apart(tmp_path: Path) -> None:
    ok = {"role": "user", "content": "ok"}
    twice = lines(tmp_path / "twice", ok, ok)
    once = lines(tmp_path / "once", ok)
    longer = lines(tmp_path / "longer", ok, ok, ok)
    ids = [record.draft.platform_id for record in records(twice)]
    assert len(set(ids)) == 2
    assert all(id is not None and id.startswith("line:") and len(id) == 21 for id in ids)
    assert [record.draft.platform_id for record in records(twice)] == ids
    assert [record.draft.platform_id for record in records(once)] == ids[:1]
    assert [record.draft.platform_id for record in records(longer)][:2] == ids


@pytest.mark.parametrize(
    "change",
    [{"conversation": "other"}, {"author": "ann"}, {"role": "tool"}, {"content": "no"}, {"time": 1}],
)
def test_a_line_s_id_depends_on_all_that_tells_it_apart(tmp_path: Path, change: dict[str, Any]) -> None:
    ok = {"role": "user", "content": "ok"}
    ids = {record.draft.platform_id for record in records(lines(tmp_path / "x", ok, {**ok, **change}))}
    assert len(ids) == 2


def test_lines_with_an_id_of_their_own_get_no_other(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        {"role": "user", "content": "a", "id": "1"},
        {"role": "user", "content": "a", "platform_id": 17},
    )
    assert [(r.draft.id, r.draft.platform_id) for r in records(path)] == [("1", None), (None, "17")]


def test_erased_messages_are_passed_over(tmp_path: Path) -> None:
    path = lines(tmp_path / "x", {"erased": True, "conversation": "c", "turn": 3, "id": "m"})
    assert records(path) == []


def test_a_byte_order_mark_and_blank_lines_are_nothing(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        b'\xef\xbb\xbf{"role": "user", "content": "a"}\r',
        "",
        "  \t",
        b'{"role": "user", "content": "b"}',
    )
    assert [(r.where, r.draft.content) for r in records(path)] == [("line 1", "a"), ("line 4", "b")]


def test_the_user_of_the_file_comes_before_the_user_of_the_caller(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x",
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b", "user": "ann"},
        {"role": "user", "content": "c", "user": "ann", "owner": None},
        {"role": "assistant", "content": "d", "owner": "bob"},
    )
    assert [(r.user, r.draft.user) for r in records(path, user="alex")] == [
        ("alex", "alex"),
        ("ann", "ann"),
        (None, "ann"),
        ("bob", None),
    ]


def test_a_line_can_be_a_whole_conversation() -> None:
    found = records(DATA / "openai.jsonl")
    first, second, third = found[:3], found[3:8], found[8:]
    assert [r.draft.content for r in first] == ["Be brief.", "What is 2 + 2?", "4"]
    assert {r.conversation for r in first} == {"line:75cc7946a530baa6"}
    assert [r.where for r in first] == [f"line 1, message {number}" for number in (1, 2, 3)]
    assert [r.draft.role for r in second] == ["system", "user", "assistant", "tool", "assistant"]
    assert second[0].draft.metadata == {"extra": {"role": "developer", "tools": []}}
    assert second[1].draft.content == "What is in this picture?\n[image_url]"
    assert second[1].draft.metadata["parts"][0]["image_url"]["url"] == "https://example.org/cat.png"
    assert second[2].draft.content == "[tool call: look]"
    assert second[2].draft.metadata["extra"]["tool_calls"][0]["id"] == "call_1"
    assert [(r.conversation, r.user, r.draft.time) for r in third] == [
        ("known", "ann", datetime(2025, 1, 31, 12, tzinfo=UTC))
    ]
    assert len({r.draft.platform_id for r in found}) == len(found)


def test_the_same_conversation_on_two_lines_is_one_and_its_repetitions_are_kept(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "ok"}, {"role": "user", "content": "ok"}]}
    found = records(lines(tmp_path / "x", chat, chat))
    assert len({r.conversation for r in found}) == 1
    assert len({r.draft.platform_id for r in found}) == 2


def test_a_bad_message_in_a_conversation_is_named(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x", {"messages": [{"role": "user", "content": "a"}, "b", {"role": "user"}]}, {"messages": "a"}
    )
    assert bad(path) == [
        BadRecord("line 1, message 2", "message: expected an object, found text"),
        BadRecord("line 1, message 3", "content: expected text, found nothing"),
        BadRecord("line 2", "messages: expected a list, found text"),
    ]


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "the line is not valid JSON: Expecting property name"),
        ("hello", "the line is not valid JSON: Expecting value (at character 1)"),
        ("[1, 2]", "line: expected an object, found a list"),
        ("null", "line: expected an object, found nothing"),
        (b'{"role": "user", "content": "\xff"}', "the line is not UTF-8 (byte 30); save or send it as UTF-8"),
        ('{"role": "user", "content": "\\ud83d"}', "line: contains a lone surrogate"),
        ('{"role": "user", "content": "a", "metadata": {"n": NaN}}', "the line is not valid JSON: NaN is not a number"),
        (
            '{"role": "user", "content": "a", "metadata": {"n": 1e999}}',
            "the line is not valid JSON: a number is too",
        ),
        ("[" * 100_000, "the line is nested deeper than 100 levels (at byte 101)"),
        ({"content": "hi"}, "role: expected text, found nothing"),
        ({"role": "human", "content": "hi"}, "role: expected one of user, assistant, system, tool"),
        ({"role": "user"}, "content: expected text, found nothing"),
        ({"role": "user", "content": 5}, "content: expected text, found a number"),
        ({"role": "user", "content": ["a"]}, "content[0]: expected an object, found text"),
        ({"role": "user", "content": [{"type": "text"}]}, "text: expected text, found nothing"),
        ({"role": "assistant", "content": None, "tool_calls": "x"}, "tool_calls: expected a list, found text"),
        ({**USER, "time": "2025-01-31T12:00:00"}, "time: the time has no time zone; add one (Z or +02:00), or give a"),
        ({**USER, "time": "yesterday"}, "time: is not a time; write it as 2025-01-31T12:00:00Z"),
        ({**USER, "time": 1_738_324_800_000}, "time: the time is out of range; write a number as seconds since 1970"),
        ({**USER, "time": True}, "time: expected a time, found true or false"),
        ({**USER, "time": "0001-01-01T00:00:00+14:00"}, "time: the time is outside the years 1 to 9999"),
        ({**USER, "time": -253_402_300_799}, "time: the time is outside the years 1 to 9999"),
        ({**USER, "metadata": "x"}, "metadata: expected an object, found text"),
        ({**USER, "conversation": {}}, "conversation: expected an id, found an object"),
        ({**USER, "author": ""}, "author: expected an id, found empty text"),
        ({**USER, "id": 1 << 200}, "id: the number is too large for an ID"),
        ({**USER, "erased": "yes"}, "erased: expected true or false"),
    ],
)
def test_a_bad_line_is_named_and_does_not_stop_the_others(
    tmp_path: Path, line: str | bytes | dict[str, Any], reason: str
) -> None:
    first, second, third = open_records(lines(tmp_path / "x", USER, line, USER), "everword")
    assert isinstance(first, Record)
    assert isinstance(second, BadRecord)
    assert second.where == "line 2"
    assert second.reason.startswith(reason)
    assert isinstance(third, Record)
    assert third.where == "line 3"


def test_a_time_without_a_zone_is_that_of_the_caller(tmp_path: Path) -> None:
    path = lines(tmp_path / "x", {**USER, "time": "2025-07-01T12:00:00"}, {**USER, "time": "2025-07-01T12:00:00Z"})
    times = [record.draft.time for record in records(path, timezone="Europe/Berlin")]
    assert times == [datetime(2025, 7, 1, 10, tzinfo=UTC), datetime(2025, 7, 1, 12, tzinfo=UTC)]


def test_an_unknown_zone_is_refused_at_once(tmp_path: Path) -> None:
    for name in ("Europe/Atlantis", "Europe", "../x", ""):
        with pytest.raises(InvalidInput, match="is not a time zone"):
            open_records(lines(tmp_path / "x", USER), timezone=name)


def test_a_line_too_long_is_passed_over_without_being_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE_BYTES", 1024)
    path = lines(tmp_path / "x", USER, {**USER, "content": "a" * 5000}, USER)
    first, second, third = open_records(path)
    assert second == BadRecord("line 2", "longer than 0 MiB")
    assert isinstance(first, Record)
    assert isinstance(third, Record)
    assert third.where == "line 3"


# -- writing

words = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
messages = st.builds(
    Message,
    space=names,
    conversation=names,
    turn=st.integers(1, 10**9),
    id=names,
    role=st.sampled_from(ROLES),
    author=names,
    user=st.none() | names,
    content=words,
    time=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=zones),  # noqa: DTZ001
    platform_id=st.none() | names,
    metadata=st.dictionaries(words, values, max_size=4),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(written=st.lists(messages, max_size=5), owner=st.none() | names)
def test_what_is_written_is_read_back(tmp_path: Path, written: list[Message], owner: str | None) -> None:
    path = tmp_path / "dump.jsonl"
    now = datetime(2025, 1, 1, tzinfo=UTC)
    chats = [Conversation(m.space, m.conversation, owner, created_at=now, changed_at=now) for m in written]
    text = "".join(dump(message, chat) + "\n" for message, chat in zip(written, chats, strict=True))
    path.write_text(text, encoding="utf-8", newline="\n")
    read = records(path)
    assert [record.space for record in read] == [message.space for message in written]
    assert [record.user for record in read] == [owner for _ in written]
    assert [(record.conversation, record.draft) for record in read] == [
        (
            m.conversation,
            Draft(m.role, m.content, m.author, m.user, m.time, m.platform_id, m.metadata, m.id),
        )
        for m in written
    ]


MESSAGE = Message(
    space="default",
    conversation="demo",
    turn=1,
    id="m1",
    role="user",
    author="alex",
    user="alex",
    content="Grüße 👋\n",
    time=datetime(2025, 1, 31, 12, tzinfo=UTC),
)


def test_a_line_has_its_fields_in_one_order_and_reads_as_text() -> None:
    assert dump(MESSAGE) == (
        '{"space": "default", "conversation": "demo", "turn": 1, "id": "m1", "role": "user", "author": "alex", '
        '"user": "alex", "time": "2025-01-31T12:00:00Z", "content": "Grüße 👋\\n"}'
    )


def test_an_erased_message_says_nothing_but_where_it_was(tmp_path: Path) -> None:
    gone = Message("default", "demo", 2, "m2", "user", "", None, "", MESSAGE.time, erased=True)
    line = '{"space": "default", "conversation": "demo", "turn": 2, "id": "m2", "erased": true}'
    assert dump(gone) == line
    assert records(lines(tmp_path / "x", line)) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_metadata_that_is_not_json_cannot_be_written(value: object) -> None:
    message = Message("s", "c", 1, "m", "user", "a", None, "x", MESSAGE.time, metadata={"value": value})
    with pytest.raises(InvalidInput, match="metadata"):
        dump(message)

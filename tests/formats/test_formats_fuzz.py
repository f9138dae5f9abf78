"""Whatever is in a file, reading it raises nothing: it gives records, well formed, and bad records with reasons."""

from __future__ import annotations

import copy
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.formats import FORMATS, BadRecord, Record, open_records
from everword.model import ROLES

DATA = Path(__file__).parent / "data"
WHOLE = {
    "chatgpt.json": "chatgpt",
    "claude.json": "claude",
    "discord.json": "discord",
    "telegram_full.json": "telegram",
    "slack.json": "slack",
    "mem0_points.json": "mem0",
    "graphiti.json": "zep",
    "langgraph.json": "langgraph",
    "letta.af": "letta",
    "hindsight.json": "hindsight",
}
MAY_LACK_TIMES = ("zep", "letta")
loose = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=sample(60),
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
odd: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, 0, -1, 10**30, 1.5, -1e300, "", " ", "x", "2025-01-01T00:00:00", "9999-12-31T23:59:59-23:59",
        [], {}, [None], [[]], {"": None}, [{"type": "text"}], [{"content_type": 5}], {"id": []}, {"parts": [{}]},
    ]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value inside of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return value


def check(path: Path, format: str, **options: Any) -> None:
    for record in open_records(path, format, **options):
        if isinstance(record, BadRecord):
            assert record.where
            assert record.reason
            continue
        assert isinstance(record, Record)
        draft = record.draft
        assert record.conversation
        assert draft.role in ROLES
        draft.content.encode()
        json.dumps(dict(draft.metadata), allow_nan=False)
        assert draft.platform_id or draft.id
        if format != "everword":
            assert draft.content.strip()
            assert draft.time is not None or record.about or format in MAY_LACK_TIMES
        assert draft.time is None or draft.time.utcoffset() == timedelta(0)


@pytest.mark.parametrize(("name", "format"), WHOLE.items())
@given(data=st.data())
@loose
def test_any_value_anywhere(tmp_path: Path, name: str, format: str, data: st.DataObject) -> None:
    whole = json.loads((DATA / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole = changed(whole, data.draw(st.sampled_from(places(whole))), data.draw(odd | values))
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(whole))
    check(
        path,
        format,
        timezone=data.draw(st.sampled_from([None, "Asia/Tokyo"])),
        assistant_ids=["900"],
        user=data.draw(st.sampled_from([None, "alex"])),
    )


@given(data=st.data())
@loose
def test_any_value_anywhere_in_a_line(tmp_path: Path, data: st.DataObject) -> None:
    raw = [(DATA / name).read_bytes() for name in ("messages.jsonl", "openai.jsonl")]
    line = json.loads(data.draw(st.sampled_from(b"".join(raw).replace(b"\n\n", b"\n").splitlines())))
    for _ in range(data.draw(st.integers(1, 3))):
        line = changed(line, data.draw(st.sampled_from(places(line))), data.draw(odd | values))
    path = tmp_path / "changed.jsonl"
    path.write_text(json.dumps(line) + "\n")
    check(path, "everword", timezone=data.draw(st.sampled_from([None, "Asia/Tokyo"])))


@pytest.mark.parametrize("format", FORMATS)
@given(content=st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
@loose
def test_any_file(tmp_path: Path, format: str, content: bytes) -> None:
    path = tmp_path / "any"
    path.write_bytes(b"x" + content if content.startswith(b"PK") else content)
    check(path, format)


@pytest.mark.parametrize(("name", "format"), WHOLE.items())
@given(at=st.floats(0, 1), new=st.binary(max_size=3))
@loose
def test_any_byte_anywhere(tmp_path: Path, name: str, format: str, at: float, new: bytes) -> None:
    raw = (DATA / name).read_bytes()
    place = int(at * len(raw))
    path = tmp_path / "changed.json"
    path.write_bytes(raw[:place] + new + raw[place + len(new) :])
    check(path, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_nested_without_end(tmp_path: Path, format: str) -> None:
    path = tmp_path / "deep"
    deep = "[" * 20_000 + "]" * 20_000
    texts = [
        deep,
        '{"a":' * 20_000,
        '[{"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": "a", '
        f'"created_at": "2025-01-01T00:00:00Z", "content": [{{"type": "x", "deep": {deep}}}]}}]}}]',
        f'{{"channel": {{"id": 1}}, "messages": [{deep}, {{"id": 1, "author": {deep}}}]}}',
        f'{{"id": 1, "messages": [{{"id": 1, "date_unixtime": 5, "text": "a", "photo": {deep}}}]}}',
        f'{{"role": "user", "content": "a", "metadata": {deep}}}',
        f'[{{"id": "c", "mapping": {{"a": {{"message": {{"content": {{"parts": [{{"x": {deep}}}]}}}}}}}}}}]',
    ]
    for text in texts:
        path.write_text(text)
        check(path, format)

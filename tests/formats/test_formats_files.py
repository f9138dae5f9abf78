"""D12: what a file to import may be: plain, packed, piped, broken, or none of ours."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sample_sizes import sample

from everword.errors import ImportFailed
from everword.formats import FORMATS, BadRecord, Reader, Record, detect, open_records

DATA = Path(__file__).parent / "data"
FILES = {
    "messages.jsonl": "everword",
    "openai.jsonl": "everword",
    "chatgpt.json": "chatgpt",
    "claude.json": "claude",
    "discord.json": "discord",
    "telegram_chat.json": "telegram",
    "telegram_full.json": "telegram",
    "slack.json": "slack",
    "whatsapp.txt": "whatsapp",
    "mem0.json": "mem0",
    "mem0_points.json": "mem0",
    "mem0_history.sqlite": "mem0",
    "graphiti.json": "zep",
    "langgraph.json": "langgraph",
    "langgraph.sqlite": "langgraph",
    "mcp_memory.jsonl": "mcp",
    "letta.af": "letta",
    "hindsight.json": "hindsight",
    "claude_memories.json": "claude",
}
MB = 1024 * 1024


def packed(path: Path, members: Mapping[str, str | Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content.read_bytes() if isinstance(content, Path) else content)
    return path


# -- which format


@pytest.mark.parametrize(("name", "format"), FILES.items())
def test_the_content_says_which_format_it_is(tmp_path: Path, name: str, format: str) -> None:
    unnamed = shutil.copy(DATA / name, tmp_path / "data.bin")
    assert detect(unnamed) == format
    assert open_records(unnamed).format == format
    assert set(FILES.values()) == set(FORMATS)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json") and "chat.json" not in name])
def test_the_layout_of_the_json_does_not_matter(tmp_path: Path, name: str) -> None:
    whole = json.loads((DATA / name).read_bytes())
    for index, text in enumerate([json.dumps(whole), json.dumps(whole, sort_keys=True, indent=2)]):
        path = tmp_path / f"{index}.json"
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        said = [r.draft.content for r in open_records(path) if isinstance(r, Record)]
        assert sorted(said) == sorted(r.draft.content for r in open_records(DATA / name) if isinstance(r, Record))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        ('{"role": "user"}'.encode("utf-16"), "is encoded as UTF-16; save it as UTF-8"),
        (b"name,text\nalex,hello\n", "is in an unknown format. Known: everword "),
        (b"[]", "is in an unknown format"),
        (b'{"type": "FeatureCollection", "features": []}', "is in an unknown format"),
        (b"\x89PNG\r\n\x1a\n\x00", "is in an unknown format"),
        (b"PK\x03\x04 broken", "could not be read: File is not a zip file"),
    ],
)
def test_a_file_that_is_none_of_them_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ImportFailed) as raised:
        detect(path)
    assert str(raised.value).startswith(f"{path} {reason}")


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="is a directory; give the path of one file"):
        open_records(tmp_path)
    with pytest.raises(ImportFailed, match="there is no file"):
        open_records(tmp_path / "missing")
    with pytest.raises(ImportFailed, match="could not be read"):
        open_records("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImportFailed, match="to read a pipe, use -"):
        open_records(tmp_path / "pipe")


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(ImportFailed, match=r"there is no format 'signal'\. Known: everword .* telegram"):
        open_records(DATA / "messages.jsonl", "signal")


# -- archives


@pytest.mark.parametrize("name", ["chatgpt.json", "claude.json"])
def test_an_export_is_read_from_its_archive(tmp_path: Path, name: str) -> None:
    path = packed(
        tmp_path / "export.zip",
        {
            "__MACOSX/._conversations.json": "x",
            "users.json": "[]",
            "export/conversations.json": DATA / name,
            "chat.html": "<html>",
        },
    )
    reader = open_records(path)
    assert reader.format == FILES[name]
    assert reader.total_bytes == (DATA / name).stat().st_size
    assert list(reader) == list(open_records(DATA / name))
    assert reader.bytes_read == reader.total_bytes


def test_a_split_export_is_read_in_order_as_one(tmp_path: Path) -> None:
    first, second = json.loads((DATA / "chatgpt.json").read_bytes())
    path = packed(
        tmp_path / "export.zip",
        {"conversations-001.json": json.dumps([second]), "conversations-000.json": json.dumps([first])},
    )
    found = [r for r in open_records(path) if isinstance(r, Record)]
    assert [r.draft for r in found] == [r.draft for r in open_records(DATA / "chatgpt.json") if isinstance(r, Record)]
    assert found[0].where == "conversations-000.json, conversation 1, message 1"
    assert found[-1].where == "conversations-001.json, conversation 1, message 1"
    assert found[-1].position > found[0].position


def test_the_only_json_of_an_archive_is_read(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"channel.json": DATA / "discord.json", "a.png": "x"})
    reader = open_records(path)
    assert reader.suggested_space == "100"
    assert list(reader) == list(open_records(DATA / "discord.json"))


def test_an_archive_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=r"contains no conversations\.json"):
        open_records(packed(tmp_path / "a.zip", {"a.json": "{}", "b.json": "{}"}))
    with pytest.raises(ImportFailed, match=r"contains no conversations\.json"):
        open_records(packed(tmp_path / "b.zip", {}))


def test_an_archive_that_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(ImportFailed, match="compressed with a method that everword cannot read"):
        open_records(path)
    raw = bytearray(packed(path, {"conversations.json": DATA / "claude.json"}).read_bytes())
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1  # the flag of encryption
    path.write_bytes(raw)
    with pytest.raises(ImportFailed, match="is encrypted"):
        open_records(path)


def test_a_damaged_archive_gives_what_is_readable_and_then_the_reason(tmp_path: Path) -> None:
    message = {"sender": "human", "created_at": "2025-01-01T00:00:00Z"}
    chats = [
        {"uuid": f"{n}", "chat_messages": [{**message, "uuid": f"{n}", "text": os.urandom(500).hex()}]}
        for n in range(1000)
    ]
    raw = bytearray(packed(tmp_path / "a.zip", {"conversations.json": json.dumps(chats)}).read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 50] = bytes(50)
    (tmp_path / "a.zip").write_bytes(raw)
    *found, last = open_records(tmp_path / "a.zip")
    assert isinstance(last, BadRecord)
    assert len([record for record in found if isinstance(record, Record)]) > 100


# -- standard input


def test_standard_input_is_read_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    with (DATA / "messages.jsonl").open(encoding="utf-8") as given:
        monkeypatch.setattr(sys, "stdin", given)
        reader = open_records("-")
        assert reader.total_bytes is None
        assert list(reader) == list(open_records(DATA / "messages.jsonl"))
        assert reader.bytes_read == (DATA / "messages.jsonl").stat().st_size
        assert not given.closed


def test_standard_input_is_nothing_but_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportFailed, match="standard input can contain JSON Lines only"):
        open_records("-", "chatgpt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert list(open_records("-", "everword")) == []


# -- broken files


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_off_anywhere_gives_its_beginning_and_then_one_reason(tmp_path: Path, name: str) -> None:
    whole = (DATA / name).read_bytes().rstrip()
    everything = [r.draft for r in open_records(DATA / name) if isinstance(r, Record)]
    path = tmp_path / "cut"
    most = 0
    for end in [*range(1, len(whole), 61), len(whole) - 1]:
        path.write_bytes(whole[:end])
        found = list(open_records(path, FILES[name]))
        read = [r.draft for r in found if isinstance(r, Record)]
        assert read == everything[: len(read)]
        most = max(most, len(read))
        if name.endswith(".json"):
            assert isinstance(found[-1], BadRecord)
            assert found[-1].reason == "the file breaks off here"
    assert most >= len(everything) - 1


def test_a_file_that_stops_being_json_says_where(tmp_path: Path) -> None:
    path = tmp_path / "x"
    whole = (DATA / "discord.json").read_bytes()
    path.write_bytes(whole.replace(b'"id": "1003"', b'"id": oops'))
    *found, last = open_records(path)
    assert [record.draft.platform_id for record in found if isinstance(record, Record)] == ["1001", "1002"]
    assert isinstance(last, BadRecord)
    assert last.where == "message 3"
    assert last.reason.startswith("the file is not valid JSON from here on: ")
    for wrong in (whole + b"{}", whole.replace(b"How can I help?", b"\xff")):
        path.write_bytes(wrong)
        last = list(open_records(path))[-1]
        assert isinstance(last, BadRecord)
        assert last.reason.startswith("the file is not valid JSON from here on: ")


def test_a_file_that_is_gone_in_between_is_a_bad_record(tmp_path: Path) -> None:
    path = Path(shutil.copy(DATA / "messages.jsonl", tmp_path / "x"))
    reader = open_records(path)
    path.unlink()
    assert list(reader) == [BadRecord(str(path), f"there is no file {path}")]


# -- reading


def test_a_reader_can_be_closed_before_its_end() -> None:
    with open_records(DATA / "messages.jsonl") as reader:
        assert isinstance(next(reader), Record)
    assert list(reader) == []
    reader.close()


def test_progress_goes_from_nothing_to_the_whole(tmp_path: Path) -> None:
    reader = open_records(DATA / "messages.jsonl")
    assert reader.bytes_read == 0
    positions = [record.position for record in reader if isinstance(record, Record)]
    assert positions == sorted(positions)
    assert positions[-1] == reader.bytes_read == reader.total_bytes


LONG = "All work and no play. " * 2_400


def lines(count: int) -> Iterator[str]:
    for number in range(count):
        yield json.dumps({"role": "user", "content": f"{number} {LONG}", "id": str(number)}) + "\n"


def channel(count: int) -> Iterator[str]:
    message = json.loads((DATA / "discord.json").read_bytes())["messages"][1]
    yield '{"guild": {"id": "1"}, "channel": {"id": "2"}, "messages": ['
    for number in range(count):
        yield ("," if number else "") + json.dumps({**message, "id": str(number), "content": LONG})
    yield "]}"


def chats(count: int) -> Iterator[str]:
    chat = json.loads((DATA / "telegram_full.json").read_bytes())["chats"]["list"][1]
    yield '{"chats": {"list": ['
    for number in range(2):
        yield ("," if number else "") + f'{{"id": {number}, "type": "bot_chat", "messages": ['
        for index in range(count // 2):
            yield ("," if index else "") + json.dumps({**chat["messages"][0], "id": index, "text": LONG})
        yield "]}"
    yield "]}}"


def conversations(name: str) -> Callable[[int], Iterator[str]]:
    whole = json.loads((DATA / name).read_bytes())[0]

    def write(count: int) -> Iterator[str]:
        yield "["
        for number in range(count):
            yield ("," if number else "") + json.dumps(
                {**whole, "id": number, "uuid": str(number), "summary": LONG * 3}
            )
        yield "]"

    return write


@pytest.mark.parametrize(
    ("write", "count"),
    [
        (lines, 376),
        (channel, 376),
        (chats, 376),
        (conversations("chatgpt.json"), 100),
        (conversations("claude.json"), 100),
    ],
    ids=["everword", "discord", "telegram", "chatgpt", "claude"],
)
def test_a_large_file_needs_no_more_memory_than_a_small_one(
    tmp_path: Path, write: Callable[[int], Iterator[str]], count: int
) -> None:
    path = tmp_path / "large"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(write(sample(count, least=count // 2)))
    assert path.stat().st_size > 7.5 * MB
    tracemalloc.start()
    try:
        reader: Reader = open_records(path)
        number = sum(isinstance(record, Record) for record in reader)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert number >= sample(count, least=count // 2)
    assert peak < 4 * MB


def test_lines_without_ids_cost_a_few_bytes_each(tmp_path: Path) -> None:
    path = tmp_path / "large"
    said: dict[str, Any] = {"role": "user"}
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({**said, "content": f"{number}"}) + "\n" for number in range(5_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in open_records(path)) == 5_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * MB

"""D3: what is on the disk. The JSON file is readable and whole at every moment, and one process has it at a time.

A file that is not ours is refused and left as it is; a disk that takes no more loses what was being written, and
nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from fresh_processes import FRESH
from outages import full_disk

from everword import Memory
from everword.config import Settings
from everword.errors import SchemaMismatch, StoreClosed, StoreError, StoreLocked, StoreUnwritable
from everword.log.append_and_read import verify
from everword.model import Filter
from everword.ports import Tx
from everword.stores import migrations
from everword.stores.jsonfile import JsonStore
from everword.stores.sqlite import SqliteStore
from everword.stores.tables import TABLES
from everword.testing.samples import append_messages, make_entry, make_message
from everword.wiring import open_store

PATIENCE = 120.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


def fill(tx: Tx) -> None:
    said = make_message(1, 'naïve "quotes" 日本語\nsecond line', metadata={"k": [1, 2.5]}, platform_id="p1")
    append_messages(tx, said, make_message(2, "emoji 😀"))
    tx.index.put_entries([make_entry(said)])
    tx.set_note("embedder", "test/16")


# -- the JSON file


def test_the_file_is_readable_and_has_one_row_a_line(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        store.write(fill)
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert data["what"] == "everword memory"
    assert data["schema"] == migrations.CURRENT
    assert [row["content"] for row in data["messages"]] == ['naïve "quotes" 日本語\nsecond line', "emoji 😀"]
    assert data["messages"][0]["time"] == make_message().time.isoformat()
    assert "日本語" in text
    rows = sum(len(data[name]) for name in TABLES if name in data)
    lines = [line for line in text.splitlines() if line.startswith("  {")]
    assert len(lines) == rows > 4
    assert all(json.loads(line.rstrip(",")) for line in lines)


def test_the_file_is_whole_after_each_write_and_nothing_is_left_beside_it(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        for turn in range(1, 6):
            store.write(lambda tx: append_messages(tx, make_message(turn)))  # noqa: B023
            assert len(json.loads(path.read_text(encoding="utf-8"))["messages"]) == turn
            assert sorted(found.name for found in path.parent.iterdir()) == ["memory.json", "memory.json.lock"]


def test_a_read_and_a_write_of_nothing_leave_the_file_alone(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        store.write(fill)
        before = path.stat()
        store.read(lambda tx: tx.stats(make_message().time))
        store.write(lambda tx: tx.messages(Filter("s")))
        assert path.stat().st_ino == before.st_ino  # a file that was written anew is another one


def test_a_file_edited_by_hand_is_read_as_it_stands(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        store.write(fill)
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(data, indent=4), encoding="utf-8")
    with closing(JsonStore(path)) as store:
        assert [one.turn for one in store.read(lambda tx: tx.messages(Filter("s")))] == [1, 2]


def written(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A good file with one thing wrong."""
    with closing(JsonStore(path)) as store:
        store.write(fill)
    data = json.loads(path.read_text(encoding="utf-8"))
    data = change(data) or data
    path.write_text(json.dumps(data), encoding="utf-8")


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no such column": lambda data: data["messages"][0].update(colour="red"),
    "a column missing": lambda data: data["messages"][0].pop("content") and None,
    "a time that is none": lambda data: data["messages"][0].update(time="yesterday"),
    "a seal that is no base64": lambda data: data["messages"][0].update(digest="!"),
    "a message twice": lambda data: data["messages"].append(data["messages"][0]),
    "a message of no conversation": lambda data: data.update(conversations=[]),
    "rows that are no rows": lambda data: data.update(messages=["text"]),
    "a table that is no list": lambda data: data.update(messages={"a": 1}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_damaged_file_is_refused_and_left_as_it_is(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    written(path, change)
    before = path.read_bytes()
    for _ in range(2):  # the lock is given back
        with pytest.raises(StoreError, match=r"memory\.json"):
            JsonStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"what": "everword memory", "schema": 1, "messages": [',
        b"\xff\xfe\x00binary",
        b"[" * 100_000,
    ],
    ids=["empty", "cut off", "binary", "deep"],
)
def test_what_is_not_json_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not valid JSON"):
        JsonStore(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "data",
    [
        [],
        "text",
        None,
        {"mapping": {}, "title": "an exported chat"},
        {"what": "something else", "schema": 1},
        {"what": "everword memory"},
        {"what": "everword memory", "schema": "1"},
        {"what": "everword memory", "schema": True},
        {"what": "everword memory", "schema": 0},
        {"what": "everword memory", "schema": -1},
    ],
    ids=str,
)
def test_json_of_another_program_is_refused_and_left_as_it_is(path: Path, data: object) -> None:
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(SchemaMismatch, match="not an everword memory"):
        JsonStore(path)
    assert json.loads(path.read_text(encoding="utf-8")) == data


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    written(path, lambda data: data.update(schema=migrations.CURRENT + 1))
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="upgrade everword"):
        JsonStore(path)
    assert path.read_bytes() == before


# -- the lock


def hold(path: Path, pipe: Connection) -> None:
    """Another process: opens the file, says so, and keeps it until told."""
    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        pipe.send("open")
        pipe.recv()


def test_a_second_one_in_the_same_process_is_refused(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        before = path.read_bytes()
        with pytest.raises(StoreLocked, match="everword copy"):
            JsonStore(path)
        assert path.read_bytes() == before
        store.write(lambda tx: append_messages(tx, make_message(2)))
    JsonStore(path).close()


def test_one_that_is_closed_says_so_and_writes_nothing(path: Path) -> None:
    """Its contents were in memory: to go on as if they were there would lose them, or write over another's."""
    store = JsonStore(path)
    store.write(lambda tx: append_messages(tx, make_message(1)))
    store.close()
    with closing(JsonStore(path)) as other:
        other.write(lambda tx: append_messages(tx, make_message(2)))
        before = path.read_bytes()
        for call in (store.read, store.write):
            with pytest.raises(StoreClosed, match="open it again"):
                call(lambda tx: tx.note("embedder"))
        assert path.read_bytes() == before
    store.close()


def test_a_second_process_is_told_who_has_the_file_and_gets_it_when_the_first_is_killed(path: Path) -> None:
    here, there = FRESH.Pipe()
    process = FRESH.Process(target=hold, args=(path, there))
    process.start()
    try:
        assert here.poll(PATIENCE)
        assert here.recv() == "open"
        with pytest.raises(StoreLocked, match=rf"process {process.pid}\b"):
            JsonStore(path)
    finally:
        process.kill()
        process.join(PATIENCE)
    with closing(JsonStore(path)) as store:
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 1


# -- places that cannot be written to


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    for url in (f"json:{tmp_path}/none/memory.json", f"{tmp_path}/none/memory.db"):
        with pytest.raises(StoreError, match="does not exist; create it first"):
            open_store(url, Settings())


def test_a_place_that_cannot_be_opened_is_unwritable(tmp_path: Path) -> None:
    (tmp_path / "memory.json.lock").mkdir()
    (tmp_path / "memory.db").mkdir()
    for url in (f"json:{tmp_path}/memory.json", f"{tmp_path}/memory.db"):
        with pytest.raises(StoreUnwritable):
            open_store(url, Settings())


def test_what_cannot_be_written_has_not_happened(path: Path) -> None:
    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        before = path.read_bytes()
        obstacle = path.with_name("memory.json.tmp")
        obstacle.mkdir()
        with pytest.raises(StoreUnwritable, match="this transaction was not stored"):
            store.write(lambda tx: append_messages(tx, make_message(2)))
        assert path.read_bytes() == before
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]
        obstacle.rmdir()
        store.write(lambda tx: append_messages(tx, make_message(2)))
        assert len(json.loads(path.read_text(encoding="utf-8"))["messages"]) == 2


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"not a database, but long enough to be looked at" * 40)
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="not a SQLite database"):
        SqliteStore(path)
    assert path.read_bytes() == before


# -- a full disk


def fill_the_disk(url: str, pipe: Connection) -> None:
    """In a process of its own: write, find the disk full, make room, write on. Says what it saw."""
    seen: list[str] = []
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("c", user="alex")
        for number in range(5):
            chat.add("user", f"before {number}")
        with full_disk(300_000):
            for _ in range(3):
                try:
                    chat.add("user", "too much " * 100_000)
                except StoreError as error:
                    seen.append(type(error).__name__)
            seen.append(f"{len(chat.history())} kept, verified: {memory.verify().ok}")
        chat.add("user", "after")
    pipe.send(seen)


@pytest.mark.parametrize("kind", ["json", "sqlite"])
def test_a_full_disk_loses_nothing_that_was_kept(kind: str, addresses: Callable[[str, str], str]) -> None:
    """D8: what was acknowledged before is there after, and the store goes on when there is room again."""
    url = addresses(kind, "memory")
    here, there = FRESH.Pipe()
    process = FRESH.Process(target=fill_the_disk, args=(url, there))
    process.start()
    assert here.poll(PATIENCE)
    assert here.recv() == ["StoreUnwritable"] * 3 + ["5 kept, verified: True"]
    process.join(PATIENCE)
    with closing(open_store(url, Settings())) as store:
        found = store.read(lambda tx: tx.messages(Filter("default")))
        assert [one.content for one in found] == [*(f"before {number}" for number in range(5)), "after"]
        assert store.read(verify).ok

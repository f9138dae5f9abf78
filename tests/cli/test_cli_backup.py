"""A backup taken while others write is whole (G17), and a restore replaces nothing before it has verified."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Semaphore

import pytest
import sample_sizes
from cli_driver import everword, failed, imported, json_lines, succeeded, talk

from everword import Memory

pytestmark = pytest.mark.checklist("G17")

WRITERS = 4
ROUNDS = 50  # in `make test-all`
FEW = 4
AT_ONCE = 60  # messages that are written while a backup is taken


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def exported_ids(store: str) -> set[str]:
    return {line["id"] for line in json_lines(succeeded("--store", store, "export"))}


@contextmanager
def writing(store: str, stored: list[str], permits: Semaphore) -> Iterator[None]:
    """Four programs add messages within this block, one for each permit; the ids of what was acknowledged are added to
    `stored`."""
    is_over = Event()
    have_begun = [Event() for _ in range(WRITERS)]

    def write(number: int) -> None:
        with Memory(store, followers=False) as memory:
            chat = memory.conversation(f"chat {number}", user=f"user {number}")
            while permits.acquire() and not is_over.is_set():
                stored.append(chat.add("user", "A line that is stored before anybody is told so.").id)
                have_begun[number].set()

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, number) for number in range(WRITERS)]
        try:
            for event in have_begun:
                assert event.wait(120)
            yield
        finally:
            is_over.set()
            permits.release(WRITERS)
        for writer in writers:
            writer.result()


def test_a_backup_while_four_write_has_all_that_was_stored_before() -> None:
    stored: list[str] = []
    imported(talk(Path("a.jsonl")))
    permits = Semaphore(AT_ONCE)
    with writing("everword.db", stored, permits):
        for number in range(ROUNDS if sample_sizes.is_whole else FEW):
            permits.release(AT_ONCE)
            before = set(stored)
            succeeded("backup", f"backup{number}.db")
            succeeded("--store", f"restored{number}.db", "restore", f"backup{number}.db")
            assert "whole" in succeeded("--store", f"restored{number}.db", "verify")
            assert before <= exported_ids(f"restored{number}.db")
    assert not [path.name for path in Path().iterdir() if path.name.startswith(".")]


def test_a_backup_is_one_file_that_is_a_store() -> None:
    imported(talk(Path("a.jsonl")))
    assert "5 messages in 1 conversation, verified" in succeeded("backup", "b.db")
    assert not list(Path().glob("b.db?*"))
    assert "Kyoto" in succeeded("--store", "b.db", "search", "night train")
    (line,) = json_lines(succeeded("backup", "c.db", "--json"))
    assert (line["file"], line["messages"]) == ("c.db", 5)


def test_a_json_store_is_backed_up_while_it_is_open() -> None:
    succeeded("--store", "json:a.json", "import", talk(Path("a.jsonl")))
    with Memory("json:a.json") as memory:
        succeeded("--store", "json:a.json", "backup", "b.json")
        memory.conversation("chat", user="alex").add("user", "Said after the backup.")
        assert "is open in" in failed("--store", "json:a.json", "restore", "b.json", "--force")
    succeeded("--store", "json:a.json", "restore", "b.json", "--force")
    assert len(exported_ids("json:a.json")) == 5
    assert "different kinds of store" in failed("--store", "new.db", "restore", "b.json")


def test_a_store_is_replaced_only_by_force_and_while_nobody_has_it_open() -> None:
    imported(talk(Path("a.jsonl")))
    succeeded("backup", "b.db")
    succeeded("remember", "I like leeks.", "--user", "alex")
    assert "use --force" in failed("restore", "b.db")
    assert "use --force" in failed("backup", "b.db")
    with Memory("everword.db"):
        assert "open in another program" in failed("restore", "b.db", "--force")
    assert len(exported_ids("everword.db")) == 6
    succeeded("restore", "b.db", "--force")
    assert len(exported_ids("everword.db")) == 5
    assert "the store itself" in failed("restore", "everword.db", "--force")


def test_a_damaged_backup_replaces_nothing_and_a_good_one_replaces_a_damaged_store() -> None:
    imported(talk(Path("a.jsonl")))
    succeeded("backup", "good.db")
    shutil.copyfile("good.db", "bad.db")
    with closing(sqlite3.connect("bad.db")) as connection, connection:
        connection.execute("DELETE FROM messages WHERE turn = 5")
    assert "has 1 fault" in failed("restore", "bad.db", "--force")
    Path("other.db").write_bytes(b"")
    with closing(sqlite3.connect("other.db")) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    assert "not an everword store" in failed("restore", "other.db", "--force")
    assert len(exported_ids("everword.db")) == 5
    Path("everword.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    succeeded("restore", "good.db", "--force")
    assert len(exported_ids("everword.db")) == 5


def test_for_postgresql_the_line_to_use_is_told_without_the_password() -> None:
    url = "postgresql://alex:hunter2secret@localhost/memory"
    for command, tool in (("backup", "pg_dump --format=custom"), ("restore", "pg_restore --clean")):
        result = everword("--store", url, command, "b.dump")
        assert (result.exit_code, tool in result.stderr, "hunter2secret" in result.output) == (1, True, False)

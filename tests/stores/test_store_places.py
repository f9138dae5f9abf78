"""The place a store is in. A file that is taken away while it is open acknowledges nothing more; one that cannot
be written can be read; who may read a file, and the link that names it, stay as they were."""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fresh_processes import FRESH

from everword import Memory
from everword.config import Settings
from everword.errors import SchemaMismatch, StoreError, StoreUnwritable
from everword.model import Filter
from everword.stores.jsonfile import JsonStore
from everword.stores.sqlite import SqliteStore
from everword.testing.samples import append_messages, make_message
from everword.wiring import open_store

PATIENCE = 120.0


# -- taken away


def remove_file(path: Path) -> None:
    path.unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def replace_file(path: Path) -> None:
    path.unlink()
    SqliteStore(path).close()


def put_back_a_copy(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    os.replace(copy, path)


def remove_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def replace_log(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    copy = shutil.copy(log, path.with_name("copy"))
    os.replace(copy, log)


TAKINGS = [remove_file, remove_folder, move_folder, replace_file, put_back_a_copy, remove_log, replace_log]


@pytest.mark.parametrize("take", TAKINGS)
def test_a_file_that_was_taken_away_acknowledges_nothing(tmp_path: Path, take: Callable[[Path], None]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "memory.db"
    with Memory(str(path), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "before")
        take(path)
        for _ in range(2):
            with pytest.raises(StoreUnwritable, match=r"removed or replaced.*nothing was stored"):
                chat.add("user", "after")
        with pytest.raises(StoreUnwritable):
            memory.erase(user="alex")
    if take in (remove_folder, move_folder):
        folder.mkdir()
    with Memory(str(path), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        assert "after" not in [said.content for said in chat.history()]
        assert chat.add("user", "again").content == "again"
        assert memory.verify().ok


@pytest.mark.parametrize("take", [remove_log, replace_log])
def test_the_log_of_changes_is_beside_what_a_link_leads_to(tmp_path: Path, take: Callable[[Path], None]) -> None:
    target, link = tmp_path / "target.db", tmp_path / "link.db"
    link.symlink_to(target)
    with Memory(str(link), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "before")
        take(target)
        with pytest.raises(StoreUnwritable, match=r"target\.db-wal beside it, was removed or replaced"):
            chat.add("user", "after")


def test_a_file_that_is_put_back_goes_on(tmp_path: Path) -> None:
    path, aside = tmp_path / "memory.db", tmp_path / "aside.db"
    with Memory(str(path), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "before")
        path.rename(aside)
        with pytest.raises(StoreUnwritable):
            chat.add("user", "meanwhile")
        assert not path.exists(), "nothing is made in its place"
        aside.rename(path)
        chat.add("user", "after")
        assert [said.content for said in chat.history()] == ["before", "after"]


@pytest.mark.parametrize("url", ["memory.db", "json:memory.json"])
def test_a_program_that_changes_its_folder_keeps_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Memory(url, followers=False) as memory:
        monkeypatch.chdir(tmp_path / "elsewhere")
        memory.conversation("chat", user="alex").add("user", "where am I?")
        assert len(memory.conversation("chat", user="alex").history()) == 1
    assert list(Path.cwd().iterdir()) == []
    monkeypatch.chdir(tmp_path)
    with Memory(url, followers=False) as memory:
        assert memory.stats().messages == 1


# -- who may read it, and what it is called


def modes(folder: Path) -> dict[str, int]:
    return {found.name: stat.S_IMODE(found.stat().st_mode) for found in folder.iterdir()}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_json_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "memory.json"
    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        path.chmod(mode)
        store.write(lambda tx: append_messages(tx, make_message(2)))
        assert modes(tmp_path)["memory.json"] == mode
    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(3)))
    assert modes(tmp_path)["memory.json"] == mode


def test_a_json_file_keeps_its_owner_and_no_other_group_gets_its_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only root gives files away, so it is the system's part that is played here: the file is somebody else's, and a
    request to give the new one to them is noted and refused."""
    path, owner, requests = tmp_path / "memory.json", (12345, 23456), list[tuple[int, int]]()
    look_up = os.stat

    def stat_of_others(place: Any, **options: Any) -> Any:
        status = look_up(place, **options)
        if not isinstance(place, str | Path) or Path(place) != path:
            return status
        values = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
        return SimpleNamespace(**{**values, "st_uid": owner[0], "st_gid": owner[1]})

    def refuse_owner(handle: int, user: int, group: int) -> None:
        requests.append((user, group))
        raise PermissionError

    with closing(JsonStore(path)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        path.chmod(0o664)
        monkeypatch.setattr(os, "stat", stat_of_others)
        monkeypatch.setattr(os, "fchown", refuse_owner)
        store.write(lambda tx: append_messages(tx, make_message(2)))
    assert requests == [owner]
    assert modes(tmp_path)["memory.json"] == 0o604


def test_a_new_json_file_is_as_private_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with closing(JsonStore(tmp_path / "memory.json")) as store:
            store.write(lambda tx: append_messages(tx, make_message(1)))
    finally:
        os.umask(before)
    assert set(modes(tmp_path).values()) == {0o600}


def test_a_link_to_a_json_file_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "memory.json", tmp_path / "link.json"
    real.parent.mkdir()
    link.symlink_to(Path("real") / "memory.json")
    for turn in (1, 2):
        with closing(JsonStore(link)) as store:
            store.write(lambda tx: append_messages(tx, make_message(turn)))  # noqa: B023
    assert link.is_symlink()
    assert sorted(found.name for found in tmp_path.iterdir()) == ["link.json", "real"]
    with closing(JsonStore(real)) as store:
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 2
        with pytest.raises(StoreError, match="is open in"):
            JsonStore(link)


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    circle = tmp_path / "circle.json"
    circle.symlink_to(circle)
    with pytest.raises(StoreError):
        JsonStore(circle)
    (tmp_path / "gone.json").symlink_to(tmp_path / "none" / "memory.json")
    with pytest.raises(StoreError, match="create it first"):
        JsonStore(tmp_path / "gone.json")


# -- where nothing can be written

CAP_DAC_OVERRIDE = 1  # the right of root to write where the mode of a file says no


class Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Rights(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def obey_modes() -> None:
    """From here on, this process heeds the modes of files, also if it is root's."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, rights = Header(0x20080522, 0), (Rights * 2)()
    assert libc.capget(ctypes.byref(header), rights) == 0
    rights[0].effective &= ~(1 << CAP_DAC_OVERRIDE)
    rights[0].permitted &= ~(1 << CAP_DAC_OVERRIDE)
    assert libc.capset(ctypes.byref(header), rights) == 0


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def look(url: str) -> dict[str, object]:
    """What somebody who cannot write can do all the same, and what they are told."""
    seen: dict[str, object] = {}
    with Memory(url) as memory:
        chat = memory.conversation("chat", user="alex")
        seen["history"] = [said.content for said in chat.history()]
        seen["found"] = [hit.message.content for hit in memory.search("parrots", user="alex")]
        seen["context"] = "parrots" in str(chat.context("What about parrots?").messages)
        seen["channel"] = bool(memory.conversation("general").context("What about parrots?").messages)
        seen["facts"] = bool(memory.facts(user="alex"))
        seen["profile"] = memory.profile(user="alex").user
        seen["exported"] = len(list(memory.export()))
        seen["verified"] = memory.verify().ok
        seen["messages"] = memory.stats().messages
        for write in (lambda: chat.add("user", "more"), lambda: memory.erase(user="alex")):
            try:
                write()
            except StoreUnwritable as error:
                seen.setdefault("told", []).append("read-only" in str(error))  # type: ignore[attr-defined]
    return seen


SEEN = {
    "history": ["I live in Berlin and keep parrots", "which no view has seen yet"],
    "found": ["I live in Berlin and keep parrots"],
    "context": True,
    "channel": True,
    "facts": True,
    "profile": "alex",
    "exported": 3,
    "verified": True,
    "messages": 3,
    "told": [True, True],
}


def read_only(urls: list[str], pipe: Connection) -> None:
    """Another process, which cannot write."""
    obey_modes()
    records = Records()
    logging.getLogger("everword").addHandler(records)
    pipe.send([look(url) for url in urls])
    pipe.send(records.texts)


def fill(url: str) -> None:
    with Memory(url) as memory:
        memory.conversation("chat", user="alex").add("user", "I live in Berlin and keep parrots")
        memory.conversation("general").add("user", "parrots for all", author="kim")
        memory.settle()
        memory.conversation("chat", user="alex").add("assistant", "which no view has seen yet")


def test_what_cannot_be_written_can_be_read(tmp_path: Path) -> None:
    """A file that is protected, its folder, and both, of each kind of store that is a file."""
    whole = {"json": tmp_path / "memory.json", "sqlite": tmp_path / "memory.db"}
    fill(f"json:{whole['json']}")
    fill(str(whole["sqlite"]))
    folders, urls = list[Path](), list[str]()
    for file_mode, folder_mode in ((0o444, 0o755), (0o644, 0o555), (0o444, 0o555)):
        for kind, path in whole.items():
            folder = tmp_path / f"{kind}-{file_mode:o}-{folder_mode:o}"
            folder.mkdir()
            copy = Path(shutil.copy(path, folder))
            copy.chmod(file_mode)
            folder.chmod(folder_mode)
            folders.append(folder)
            urls.append(f"json:{copy}" if kind == "json" else str(copy))
    here, there = FRESH.Pipe()
    process = FRESH.Process(target=read_only, args=(urls, there))
    process.start()
    there.close()
    try:
        assert here.poll(PATIENCE)
        for url, seen in zip(urls, here.recv(), strict=True):
            assert seen == SEEN, url
        assert here.recv() == [], "nothing is logged of it"
        process.join(PATIENCE)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    for url in urls:
        copy = Path(url.removeprefix("json:"))
        assert copy.read_bytes() == whole["json" if url.startswith("json:") else "sqlite"].read_bytes()


def attempt(url: str, pipe: Connection) -> None:
    obey_modes()
    try:
        with closing(open_store(url, Settings())) as store:
            pipe.send(f"opened, writable: {store.writable}")
    except StoreError as error:
        pipe.send(f"{type(error).__name__}: {error}")


def attempted(path: Path) -> str:
    """What another process is told that opens a store in a folder that cannot be written."""
    path.parent.chmod(0o555)
    here, there = FRESH.Pipe()
    process = FRESH.Process(target=attempt, args=(str(path), there))
    process.start()
    there.close()
    try:
        assert here.poll(PATIENCE)
        answer: str = here.recv()
        process.join(PATIENCE)
    finally:
        path.parent.chmod(0o755)
    return answer


def test_changes_that_cannot_be_seen_are_not_passed_over(tmp_path: Path) -> None:
    """A WAL beside the file holds the newest messages: to read without it would be to lose them and say nothing."""
    here, away = tmp_path / "here", tmp_path / "away"
    here.mkdir()
    away.mkdir()
    with Memory(str(here / "memory.db"), followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "only in the WAL")
        for ending in ("", "-wal"):
            shutil.copy(here / f"memory.db{ending}", away / f"memory.db{ending}")
    answer = attempted(away / "memory.db")
    assert answer.startswith("StoreUnwritable: ")
    assert "memory.db-wal" in answer
    assert "copy both files" in answer


def test_an_old_store_that_cannot_be_brought_up_says_so(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE meta SET value = '3' WHERE key = 'schema'")
    assert attempted(path).startswith(f"{SchemaMismatch.__name__}: ")


def test_a_folder_that_cannot_be_written_makes_no_new_store(tmp_path: Path) -> None:
    assert attempted(tmp_path / "memory.db").startswith("StoreUnwritable: ")

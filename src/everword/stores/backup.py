"""Backups of the file of a store: a copy as of one moment, made while others write, and its return.

SQLite's own backup reads the file together with the log of changes beside it (WAL), in one transaction: a copy of the
file alone would lack what is only in that log, and nothing in the copy would tell. A JSON store replaces its file as a
whole, so what is open stays as it was. A copy is one file, and needs nothing beside it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from everword.errors import StoreError, StoreLocked
from everword.stores.jsonfile import FileLock, resolve_path, sync_folder
from everword.stores.rows import strip_text
from everword.stores.sqlite import DatabaseFile

MAGIC = b"SQLite format 3\0"
BESIDE = ("-wal", "-shm", "-journal")  # files of SQLite beside a database, which belong to it alone


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database, and not JSON. Not for a store that this process has open: to close a file
    gives up all locks that the process has on it."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def copy_file(source: Path, target: Path, is_sqlite: bool, busy_seconds: float) -> None:
    """Copy the file of a store, as of one moment, to a new file that only its owner can read."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if not is_sqlite:
        shutil.copyfile(source, target)
        return
    file = DatabaseFile(source, busy_seconds)
    if file.is_protected or file.is_in_protected_folder:
        file.open_for_reading()
    try:
        with closing(file.connect()) as connection, closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)
            if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                raise StoreError(f"{source} is a database, but not an everword store")
    except sqlite3.Error as error:
        strip_text(error)
        raise StoreError(f"{source} cannot be copied: {error}") from None


def complete_file(path: Path) -> None:
    """Leave a copy that was opened as one file, on the disk."""
    if is_database(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def replace_store(copy: Path, store: Path) -> None:
    """Put a copy in the place of a store, in one step; raises StoreLocked if a program has the store open."""
    place = resolve_path(store)
    with alone(place, is_database(copy)):
        for ending in BESIDE:  # SQLite would apply the old log of changes to the new file
            place.with_name(place.name + ending).unlink(missing_ok=True)
        os.replace(copy, place)
        sync_folder(place.parent)


@contextmanager
def alone(place: Path, is_sqlite: bool) -> Iterator[None]:
    """Nobody else has the store open within this block."""
    if not place.exists():
        yield
    elif not is_sqlite:
        lock = FileLock(place)
        try:
            yield
        finally:
            lock.release()
    else:
        with closing(sqlite3.connect(place, timeout=0, isolation_level=None)) as connection:
            with suppress(sqlite3.DatabaseError):
                seize_database(connection, place)
            yield


def seize_database(connection: sqlite3.Connection, place: Path) -> None:
    """Lock a database and fold its log of changes into it. One that is damaged cannot be locked, nor used by others."""
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        raise StoreLocked(f"{place} is open in another program; end that program and run the command again") from None

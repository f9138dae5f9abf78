"""The file of a SQLite store: how it is opened, and whether it still is the one that was.

Nobody may be told that something is kept while the file it is in has no name any more: a file that was removed or
replaced while it is open takes every write, and all of it is gone when it is closed; of the log of changes beside it
(WAL), when the process is killed. So the files behind both names are looked at before each commit. A file, folder or
file system that cannot be written is opened for reading.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path
from typing import Literal

from recollect.errors import StoreUnwritable

BUSY_SECONDS = 5.0  # that a single statement waits for others at most; a transaction is tried again after it
MAPPED = 256 << 20  # bytes of the file that are read where they are, and not copied: a cache is emptied by each write

# How a file is opened: made if need be, as it is there, to be read, and to be read where nobody can write.
Mode = Literal["mode=rwc", "mode=rw", "mode=ro", "immutable=1"]
# The file and its log of changes, each by device and number.
Identity = tuple[tuple[int, int] | None, tuple[int, int] | None]


class DatabaseFile:
    """One file, as it was when it was opened first."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path  # as it was named, for people
        self._place = path.absolute()  # the program may change its working folder
        self._target = self._place.resolve()  # of a link, what it links to: the log is beside that
        self._log = self._target.with_name(self._target.name + "-wal")
        self._seconds = min(busy_seconds, BUSY_SECONDS)
        self._identity: Identity | None = None
        self._mode: Mode = "mode=rwc"

    @property
    def writable(self) -> bool:
        return self._mode in ("mode=rwc", "mode=rw")

    @property
    def is_protected(self) -> bool:
        """Whether the system says that the file is there and cannot be written."""
        return self._place.exists() and not os.access(self._place, os.W_OK)

    @property
    def is_in_protected_folder(self) -> bool:
        """Whether the file is there, and nothing can be made beside it, as writing may have to."""
        return self._place.exists() and not os.access(self._target.parent, os.W_OK)

    def open_for_reading(self) -> None:
        """From now on, connect only to read. What others write is seen where SQLite can see it."""
        self._mode = "mode=ro"
        self._identity = None
        try:
            self.connect().close()
        except sqlite3.OperationalError as error:
            if self._log.exists() and self._log.stat().st_size:
                raise StoreUnwritable(
                    f"{self.path} cannot be read where it is: {self._log.name} beside it holds the newest changes, and"
                    " nothing can be written here; copy both files to a folder that can be written"
                ) from error
            # Nobody has it open, and nobody can: then no locks are needed, nor the files they would be in.
            self._mode = "immutable=1"
        except sqlite3.DatabaseError:
            pass  # it is no database, or damaged: whoever reads from it says so

    def connect(self) -> sqlite3.Connection:
        """A connection to the file that was opened first, and to no other."""
        if self._identity is not None:
            self._check_target()
        connection = sqlite3.connect(
            f"{self._place.as_uri()}?{self._mode}", uri=True, timeout=self._seconds, check_same_thread=False
        )
        try:
            self._settle(connection)
            if self._identity is None:
                self._mode = "mode=rw" if self._mode == "mode=rwc" else self._mode
                self._identity = self._present_identity()
            self.check_in_place()
        except UnicodeDecodeError:  # SQLite repeats what it cannot read of the schema, and that is no text
            connection.close()
            raise schema_damage() from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _settle(self, connection: sqlite3.Connection) -> None:
        if self.writable:
            turn_on_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute(f"PRAGMA mmap_size = {MAPPED}")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # from now on the log is there, until all close

    def check_in_place(self) -> None:
        """Raise if a name no longer means the file that is open: what is written to it would be gone."""
        if self._present_identity() != self._identity:
            raise self._was_taken_away()

    def _check_target(self) -> None:
        """The same, before SQLite is asked for one more connection: it would make a second log of changes, in the place
        of one that was removed, or beside the place where a link leads now."""
        if self._place.resolve() != self._target:
            raise self._was_taken_away()
        self.check_in_place()

    def _was_taken_away(self) -> StoreUnwritable:
        return StoreUnwritable(
            f"{self.path}, or {self._log.name} beside it, was removed or replaced while it was open; nothing of this"
            " transaction was kept: put the file back, or close the memory and open it again"
        )

    def check_writable(self) -> None:
        if not self.writable:
            raise StoreUnwritable(
                f"{self.path} is read-only: nothing of this transaction was kept; make the file and its folder"
                f" writable, or copy it: recollect copy {self.path} NEW.db"
            )

    def _present_identity(self) -> Identity:
        """Which files the names mean now. Whoever only reads writes to no log."""
        return identity_of(self._place), identity_of(self._log) if self.writable else None


def identity_of(path: Path) -> tuple[int, int] | None:
    try:
        there = os.stat(path)
    except OSError:
        return None
    return there.st_dev, there.st_ino


def schema_damage() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("malformed database schema")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def turn_on_wal(connection: sqlite3.Connection) -> None:
    """It needs the file alone for a moment and does not wait by itself: a few tries, then the error."""
    for last in (False,) * 50 + (True,):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            threading.Event().wait(0.05)

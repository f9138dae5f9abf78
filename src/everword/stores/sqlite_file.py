"""The file of a SQLite store: opens it, and checks that it is still the same file.

A file that was removed or replaced while it is open accepts every write, and all of it is lost when it is closed; the
same holds for the log of changes beside it (WAL) when the process is killed. No caller may be told that something is
stored in such a file. So both files are checked before each commit. A file, folder or file system that cannot be
written is opened for reading. At the end are SQLAlchemy's engines, of a file and of a database in memory.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from functools import cache
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Dialect, Engine, create_engine, event, text
from sqlalchemy.pool import QueuePool, StaticPool
from sqlalchemy.util import LRUCache

from everword.errors import StoreUnwritable
from everword.stores.rows import damage_reason, strip_text

BUSY_SECONDS = 5.0  # the most that a single statement waits for others; then its transaction is tried again
COMPILED = 1_000  # statements kept in their compiled form
MAPPED = 256 << 20  # bytes of the file that are memory-mapped and not copied: a page cache is emptied by each write

# How a file is opened: created if it is missing; only if it exists; for reading; for reading where nobody can write.
Mode = Literal["mode=rwc", "mode=rw", "mode=ro", "immutable=1"]
# The file and its log of changes, each by device and inode.
Identity = tuple[tuple[int, int] | None, tuple[int, int] | None]


class DatabaseFile:
    """One file, identified when it is opened first."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path  # as the user named it, for messages
        self._place = path.absolute()  # the program may change its working folder
        self._target = self._place.resolve()  # the target of a link: the log is beside the target
        self._log = self._target.with_name(self._target.name + "-wal")
        self._place_name = str(self._place)
        self._log_name = str(self._log)
        self._seconds = min(busy_seconds, BUSY_SECONDS)
        self._identity: Identity | None = None
        self._mode: Mode = "mode=rwc"

    @property
    def writable(self) -> bool:
        return self._mode in ("mode=rwc", "mode=rw")

    @property
    def is_protected(self) -> bool:
        """Whether the file exists and cannot be written."""
        return self._place.exists() and not os.access(self._place, os.W_OK)

    @property
    def is_in_protected_folder(self) -> bool:
        """Whether the file exists, and no file can be created beside it, which writing may need."""
        return self._place.exists() and not os.access(self._target.parent, os.W_OK)

    def open_for_reading(self) -> None:
        """From now on, connect only for reading. Changes by others are seen if SQLite can see them."""
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
            # No process has it open for writing, and none can: no locks are needed, nor their files.
            self._mode = "immutable=1"
        except sqlite3.DatabaseError:
            pass  # it is not a database, or damaged: the first read raises the error

    def connect(self) -> sqlite3.Connection:
        """A connection to the file that was opened first, and to no other."""
        if self._identity is not None:
            self._check_target()
        connection = sqlite3.connect(
            f"{self._place.as_uri()}?{self._mode}", uri=True, timeout=self._seconds, check_same_thread=False
        )
        try:
            self._configure(connection)
            if self._identity is None:
                self._mode = "mode=rw" if self._mode == "mode=rwc" else self._mode
                self._identity = self._present_identity()
            self.check_in_place()
        except UnicodeDecodeError:  # SQLite repeats the part of the schema that it cannot read, and that is not text
            connection.close()
            raise schema_damage() from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: sqlite3.Connection) -> None:
        if self.writable:
            turn_on_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute(f"PRAGMA mmap_size = {MAPPED}")
        connection.execute(
            "SELECT 1 FROM sqlite_master"
        ).fetchone()  # from now on the log exists, until all connections close

    def check_in_place(self) -> None:
        """Raise if a path no longer leads to the open file: what is written to that file would be lost."""
        if self._present_identity() != self._identity:
            raise self._missing_file_error()

    def _check_target(self) -> None:
        """Like `check_in_place`, before SQLite opens another connection: it would create a second log of changes, in
        the place of one that was removed, or beside the new target of a link."""
        if self._place.resolve() != self._target:
            raise self._missing_file_error()
        self.check_in_place()

    def _missing_file_error(self) -> StoreUnwritable:
        return StoreUnwritable(
            f"{self.path}, or {self._log.name} beside it, was removed or replaced while it was open; nothing of this"
            " transaction was kept: put the file back, or close the memory and open it again",
            "the file was removed or replaced",
        )

    def check_writable(self) -> None:
        if not self.writable:
            raise StoreUnwritable(
                f"{self.path} is read-only: nothing of this transaction was kept; make the file and its folder"
                f" writable, or copy it: everword copy {self.path} NEW.db",
                "the file is read-only",
            )

    def _present_identity(self) -> Identity:
        """Which files the paths lead to now. A store that only reads has no log to check."""
        return identity_of(self._place_name), identity_of(self._log_name) if self.writable else None


def identity_of(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def schema_damage() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("malformed database schema")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def turn_on_wal(connection: sqlite3.Connection) -> None:
    """This needs the file alone for a moment, and SQLite does not wait for that: a few attempts, then the error."""
    for last in (False,) * 50 + (True,):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            threading.Event().wait(0.05)


@cache
def dialect_and_statements() -> tuple[Dialect, LRUCache[Any, Any]]:
    """The dialect and the compiled statements, shared by all stores of the process.

    To compile a statement costs more than SQLite needs to run it. Without this, each engine would compile its own, and
    a program may open many memories one after the other.
    """
    engine = create_engine("sqlite://", poolclass=StaticPool, isolation_level="AUTOCOMMIT")
    engine.connect().close()  # the dialect reads settings from its first connection
    engine.dispose()
    return engine.dialect, LRUCache(COMPILED)


def configure_engine(engine: Engine) -> Engine:
    """Give an engine the shared dialect and statements, and strip texts from its errors."""
    engine.dialect, statements = dialect_and_statements()
    engine.update_execution_options(compiled_cache=statements)

    @event.listens_for(engine, "handle_error")
    def _strip(context: Any) -> None:
        strip_text(context.original_exception)
        if context.sqlalchemy_exception is not None and damage_reason(context.original_exception) is not None:
            context.sqlalchemy_exception.args = context.original_exception.args

    return engine


def file_engine(file: DatabaseFile) -> Engine:
    return configure_engine(
        create_engine(
            "sqlite://",
            creator=file.connect,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=-1,
            # The connection used last: its page cache holds what it wrote, and is emptied when others write.
            pool_use_lifo=True,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,  # they hold what people said
        )
    )


def memory_engine() -> Engine:
    """SQLite in memory on one connection, for the JSON store."""
    engine = configure_engine(
        create_engine(
            "sqlite://",
            poolclass=StaticPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"check_same_thread": False},
            hide_parameters=True,
        )
    )
    with engine.connect() as connection:
        connection.execute(text("PRAGMA foreign_keys = ON"))
    return engine

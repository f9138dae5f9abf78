"""JSON: the SQLite store in memory, and a readable file that holds the data.

Before a transaction is committed in memory, the whole file is written again beside the old one, synced, and renamed
over it: the file on disk is complete at every moment, and if the disk fails, nothing has changed. Only one process at
a time: a lock file beside it names the holder, and a file that a newer version wrote all the same is not replaced.
Meant for memories that people want to read and carry about, up to some ten thousand messages; beyond that,
`everword copy` moves it to SQLite.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from sqlalchemy import Column, Connection, Engine, LargeBinary, Table
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from everword.errors import SchemaMismatch, StoreClosed, StoreError, StoreLocked, StoreUnwritable
from everword.model import to_microseconds
from everword.stores.connections import rolling_back
from everword.stores.migrations import CURRENT, check_unmigrated, check_version, migrate, schema_version
from everword.stores.rows import sqlite_error
from everword.stores.sql import SqlStore
from everword.stores.sqlite import SqliteTx, memory_engine
from everword.stores.tables import (
    STRICT,
    TABLES,
    Instant,
    Names,
    Object,
    Vector,
    leases,
    meta,
    value_problem,
)
from everword.versioned_cache import Cache

# Leases matter only while the process lives, and no other process can open the file.
KEPT = tuple(table for table in TABLES.values() if table is not leases)
HEADING, OLD_HEADING = "everword memory", "recollect memory"
HEAD_BYTES = 200
SCHEMA_IN_HEAD = re.compile(rb'"schema": *(\d+)')
READ_ONLY = "the file is read-only"
REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
    errno.EFBIG: "the disk is full",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: READ_ONLY,
    errno.EPERM: READ_ONLY,
    errno.ENOENT: "the folder is gone",
}
UNLIKE = (
    "it has other columns than the first row"  # all rows are written in one statement, with the columns of the first
)


class MemoryStore(SqlStore):
    """A store in memory, which is gone when it is closed: the JSON store without its file."""

    def __init__(self, name: str, *, busy_seconds: float = 30.0, cache_bytes: int = 256 << 20) -> None:
        super().__init__(memory_engine(), name, busy_seconds)
        self.cache = Cache(cache_bytes)
        self._alone = threading.RLock()
        self._load()

    def _load(self) -> None:
        copy_newest_schema(self.engine)

    @contextmanager
    def reading(self) -> Iterator[SqliteTx]:
        with self._alone, self._connect() as connection, transaction(connection, "ROLLBACK"):
            yield SqliteTx(connection, self.cache)

    @contextmanager
    def writing(self) -> Iterator[SqliteTx]:
        self._check_writable()
        with self._alone, self._connect() as connection, transaction(connection, "COMMIT"):
            tx = SqliteTx(connection)
            yield tx
            tx.note_versions()
            self._save(tx)

    def _connect(self) -> Connection:
        return self.engine.connect()

    def _check_writable(self) -> None:
        """Called before each write."""

    def _save(self, tx: SqliteTx) -> None:
        """Called before each commit."""

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        """Nothing to do: if there is a file, it was rewritten without the removed rows."""
        return ()

    def translate(self, error: DBAPIError) -> StoreError:
        return sqlite_error(error, self.name)


class JsonStore(MemoryStore):
    """A store in one JSON file."""

    def __init__(self, path: str | Path, *, busy_seconds: float = 30.0, cache_bytes: int = 256 << 20) -> None:
        self.path = resolve_path(Path(path))
        if not self.path.parent.is_dir():
            raise StoreError(f"{path}: the folder {self.path.parent} does not exist; create it first")
        self._lock = FileLock(self.path)  # before anything is opened that would have to be closed
        self._texts: dict[str, str] = {}
        self._file_state = file_state(self.path)
        super().__init__(f"json:{path}", busy_seconds=busy_seconds, cache_bytes=cache_bytes)

    def _load(self) -> None:
        try:
            data = mend_document(read_document(self.path))
            check_rows(self.path, data)
            if not data or data["schema"] == CURRENT:
                super()._load()
            with self.engine.connect() as connection, transaction(connection, "COMMIT"):
                migrate(connection, self.name, upto=int(data["schema"]) if data else None)
                self._load_tables(SqliteTx(connection), data)
                if data and schema_version(connection) != data["schema"]:
                    raise unreadable_table(self.path, meta, "it names another schema than the file does")
                migrate(connection, self.name)
        except BaseException:
            self.close()
            raise

    def _check_writable(self) -> None:
        if not self.writable:
            raise StoreUnwritable(
                f"{self.path} is read-only, so nothing was stored; make the file and its folder writable, or "
                f"copy it: everword copy json:{self.path} NEW.db",
                READ_ONLY,
            )

    def _connect(self) -> Connection:
        if self._lock.is_released:  # the data in memory is gone, and another process may have the file
            raise StoreClosed(f"{self.name} is closed: open it again")
        return super()._connect()

    @property
    def writable(self) -> bool:
        return not self._lock.is_shared

    def close(self) -> None:
        with self._alone:  # not during a transaction of another thread
            super().close()
            self._lock.release()

    # -- the file

    def _load_tables(self, tx: SqliteTx, data: dict[str, Any]) -> None:
        if data:
            tx.connection.exec_driver_sql("DELETE FROM meta")
        for table in KEPT:
            try:
                tx.load(table.name, [row_from_json(table, row) for row in data.get(table.name, [])])
            except DBAPIError as error:  # SQLite's own message names columns and no values
                raise unreadable_table(self.path, table, str(error.orig)) from None
            except (SQLAlchemyError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise unreadable_table(self.path, table, type(error).__name__) from None

    def _save(self, tx: SqliteTx) -> None:
        changed_tables = [table for table in KEPT if table.name in tx.touched]
        if not changed_tables:
            return
        texts = dict(self._texts)
        for table in KEPT:
            if table in changed_tables or table.name not in texts:
                texts[table.name] = table_to_json(table, tx)
        head = {"what": HEADING, "schema": CURRENT}
        parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        parts += [f" {json.dumps(name)}: {text}" for name, text in texts.items()]
        if file_state(self.path) != self._file_state:  # whoever wrote it did not heed the lock
            check_unmigrated(read_file_version(self.path), self.name)
        replace_file(self.path, "{\n" + ",\n".join(parts) + "\n}\n")
        self._texts = texts
        self._file_state = file_state(self.path)


@contextmanager
def transaction(connection: Connection, end: Literal["COMMIT", "ROLLBACK"]) -> Iterator[None]:
    with rolling_back(connection):
        connection.exec_driver_sql("BEGIN")
        yield
        connection.exec_driver_sql(end)


@cache
def newest_schema() -> Engine:
    """A database in memory with today's schema and nothing else."""
    engine = memory_engine()
    with engine.connect() as connection, transaction(connection, "COMMIT"):
        migrate(connection, "a new memory")
    return engine


def copy_newest_schema(engine: Engine) -> None:
    """Give an empty database today's schema. To run every step for each file takes longer than to read most of them."""
    with newest_schema().connect() as source, engine.connect() as target:
        source_driver: Any = source.connection.driver_connection
        source_driver.backup(target.connection.driver_connection)


def resolve_path(path: Path) -> Path:
    """The absolute path of the file, so that the program may change its working folder; of a link, its target, so that
    the target is rewritten and the link stays."""
    try:
        return path.resolve() if path.is_symlink() else path.absolute()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise StoreError(f"{path} is a link to a file that cannot be opened; use another file") from error


def read_document(path: Path) -> dict[str, Any]:
    """The file as data: empty if there is none yet."""
    try:
        data = STRICT.decode(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        reason = (
            f"{error.msg}, line {error.lineno}"
            if isinstance(error, json.JSONDecodeError)
            else str(type(error).__name__)
        )
        raise StoreError(f"{path} is not valid JSON ({reason}); repair the file or restore a backup") from None
    if (
        not isinstance(data, dict)
        or data.get("what") not in (HEADING, OLD_HEADING)
        or not is_schema_number(data.get("schema"))
    ):
        raise SchemaMismatch(f"{path} is not an everword memory; to read a chat export, use `everword import`")
    if data["schema"] > CURRENT:
        check_version(data["schema"], str(path))
    return data


def file_state(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is written or replaced; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:  # whoever reads or writes it says why
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def read_file_version(path: Path) -> str:
    """The schema that the head of a file names; today's if it names none, or there is no file."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        head = b""
    match = SCHEMA_IN_HEAD.search(head)
    return str(CURRENT) if match is None else match[1].decode()


def check_rows(path: Path, data: dict[str, Any]) -> None:
    """Refuse unknown tables and invalid rows. The error gives the number of the row and none of its contents."""
    if any(name not in TABLES for name in {*data} - {"what", "schema"}):
        raise StoreError(f"{path} contains a table that everword does not know; remove the table, or restore a backup")
    for table in KEPT:
        rows = data.get(table.name, [])
        if not isinstance(rows, list):
            raise unreadable_table(path, table, "it is no list of rows")
        for number, row in enumerate(rows, start=1):
            problem = json_row_problem(table, row) or (None if row.keys() == rows[0].keys() else UNLIKE)
            if problem is not None:
                raise unreadable_table(path, table, f"row {number}: {problem}")


def json_row_problem(table: Table, row: object) -> str | None:
    """The problem of a row in JSON. A column that a later version has added may be missing."""
    if not isinstance(row, dict):
        return "it is no row"
    if any(not isinstance(name, str) or name not in table.c for name in row):
        return "it has a column that is none of ours"
    if any(key.name not in row for key in table.primary_key):
        return "its key is missing"
    problems = (json_value_problem(table.c[name], value) for name, value in row.items())
    return next((problem for problem in problems if problem is not None), None)


def json_value_problem(column: Column[Any], value: Any) -> str | None:
    """Like `value_problem`, for a value in JSON and not in a database."""
    kind = column.type
    if value is None:
        return None if column.nullable else f"its {column.name} is missing"
    if isinstance(kind, Object):
        return None if isinstance(value, dict) and is_writable(value) else f"its {column.name} is not a JSON object"
    if isinstance(kind, Names):
        names = value if isinstance(value, list) else [None]
        return None if all(isinstance(name, str) for name in names) else f"its {column.name} is not a list of names"
    try:
        if isinstance(value, str):
            value.encode()  # fails for a lone surrogate, which is not text
        return value_problem(column, storage_value(kind, value_from_json(kind, value)))
    except (ValueError, TypeError, OverflowError):
        return f"its {column.name} cannot be read"


def is_writable(value: dict[str, Any]) -> bool:
    """Whether an object can be written again as JSON: not with a lone surrogate in it."""
    try:
        return json.dumps(value, ensure_ascii=False).encode() is not None
    except (ValueError, RecursionError):
        return False


def storage_value(kind: Any, value: Any) -> Any:
    """A value as the database stores it: a time becomes a number."""
    return to_microseconds(value) if isinstance(kind, Instant) else value


def unreadable_table(path: Path, table: Table, reason: str) -> StoreError:
    return StoreError(f"{path}: {table.name} cannot be read ({reason}); mend it or restore a backup")


def is_schema_number(value: object) -> bool:
    return type(value) is int and value > 0


def table_to_json(table: Table, tx: SqliteTx) -> str:
    """A table as JSON, one row a line."""
    lines = [write_row(row) for row in tx.rows(table.name)]
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"


def value_to_json(value: datetime | bytes) -> str:
    """A value of a kind that JSON does not have."""
    return value.isoformat() if isinstance(value, datetime) else base64.b64encode(value).decode()


write_row = json.JSONEncoder(ensure_ascii=False, default=value_to_json).encode
"""A row as JSON. Made once: `json.dumps` would make one for each row."""


def row_from_json(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    return {name: value_from_json(table.c[name].type, value) for name, value in row.items()}


def value_from_json(kind: Any, value: Any) -> Any:
    if isinstance(kind, Instant) and value is not None:
        return datetime.fromisoformat(value)
    if isinstance(kind, LargeBinary | Vector) and value is not None:
        return base64.b64decode(value, validate=True)
    return value


def replace_file(path: Path, text: str) -> None:
    """Write a file so that at every moment the old or the new one is there, complete. Owner and mode stay the same."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.unlink(missing_ok=True)
        before = stat_if_there(path)
        # Until it has its owner and mode, only we can read it. If there was no file before, the umask decides.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if before is None else 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            if before is not None:
                copy_owner_and_mode(handle, before)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        message = f"{path}: {error.strerror or error}; this transaction was not stored"
        raise StoreUnwritable(message, disk_reason(error)) from error


def disk_reason(error: OSError) -> str:
    """Why a file cannot be written, in words that name no file."""
    return REASONS.get(error.errno or 0, "the disk failed")


def stat_if_there(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def copy_owner_and_mode(handle: int, before: os.stat_result) -> None:
    """Give a new file the owner and the mode of the old one, as far as the system lets us."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):  # only root can give files away; a group that we are not in is refused
        os.fchown(handle, before.st_uid, before.st_gid)
    status = os.fstat(handle)
    mode = stat.S_IMODE(before.st_mode)
    # If the group is another one, it gets none of the old group's permissions.
    os.fchmod(handle, mode if status.st_gid == before.st_gid else mode & ~0o070)


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, if the system lets us open a folder."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FileLock:
    """The lock on the file: held while the store is open; the system releases it if the process dies. If nothing can be
    written here, many processes may share the file to read it: it is complete at every moment."""

    def __init__(self, path: Path) -> None:
        self.file: IO[str] | None = None
        self.is_released = False
        self.is_shared = path.exists() and not os.access(path, os.W_OK)
        lock_path = path.with_name(path.name + ".lock")
        if self.is_shared:
            return
        try:
            file = open(lock_path, "a+", encoding="utf-8")  # noqa: SIM115  held until release
        except OSError as error:
            self.is_shared = path.exists() and not os.access(path.parent, os.W_OK)
            if self.is_shared:
                return
            raise StoreUnwritable(f"the lock file {lock_path} cannot be opened: {error.strerror or error}") from error
        try:
            seize(file)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise StoreLocked(
                f"{path} is open in {holder}; close the file there, or copy the file to SQLite, which "
                f"many processes can share: everword copy json:{path} {path.with_suffix('.db')}"
            ) from None
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}")
        file.flush()
        self.file = file

    def release(self) -> None:
        self.is_released = True
        if self.file is not None:
            self.file.close()
            self.file = None


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def seize(file: IO[str]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def seize(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def mend_document(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a JSON store with the changes of the last repair step. Its tables are made by the steps of today, so
    only the rows are changed."""
    document = dict(data)
    try:
        if "tallies" in data:
            document["tallies"] = [without_column(row, "dropped") for row in data["tallies"]]
        if "statements" in data:
            document["statements"] = [with_sources(row) for row in data["statements"]]
        if "facts" in data and "findings" not in data:
            document["facts"] = []
            document["cursors"] = [row for row in data["cursors"] if row["view"] != "facts"]
    except (LookupError, TypeError, AttributeError, ValueError):
        return data  # these are not rows: loading them raises the error
    return document


def with_sources(row: Mapping[str, Any]) -> dict[str, Any]:
    return without_column(row, "source") | {"sources": [row["source"]]} if "source" in row else dict(row)


def without_column(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: row[key] for key in row if key != name}

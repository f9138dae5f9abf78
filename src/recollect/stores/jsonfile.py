"""JSON: the SQLite store in memory, and a readable file that is the truth.

Before a transaction is committed in memory, the whole file is written anew beside the old one, synced, and
renamed over it: at every moment the file on disk is a complete one, and if the disk refuses, nothing has
happened. One process at a time: a lock beside the file says who has it. Made for memories one wants to
read and carry about, up to some ten thousand messages; beyond that, `recollect copy` moves it to SQLite.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, LargeBinary, Table, select
from sqlalchemy.exc import DBAPIError

from recollect.errors import SchemaMismatch, StoreClosed, StoreError, StoreLocked, StoreUnwritable
from recollect.stores import migrations
from recollect.stores.columns import Instant, Vector
from recollect.stores.schema import TABLES, leases
from recollect.stores.sql import SqlStore, transaction
from recollect.stores.sqlite import SqliteTx, memory_engine, translated
from recollect.stores.vectors import MatrixCache

# Who is at work is of interest only while the process lives, and the process has the file to itself.
KEPT = tuple(table for table in TABLES.values() if table is not leases)
HEADING = "recollect memory"


class JsonStore(SqlStore):
    """A store in one JSON file."""

    def __init__(self, path: str | Path, *, busy_seconds: float = 30.0, cache_bytes: int = 256 << 20) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise StoreError(f"{path}: the folder {self.path.parent} does not exist; create it first")
        super().__init__(memory_engine(), f"json:{path}", busy_seconds)
        self.matrices = MatrixCache(cache_bytes)
        self._alone = threading.RLock()
        self._texts: dict[str, str] = {}
        self._lock = FileLock(self.path)
        try:
            data = migrations.mend_document(read(self.path))
            with self.engine.connect() as connection, transaction(connection, "BEGIN", commit=True):
                migrations.migrate(connection, self.name, upto=int(data["schema"]) if data else None)
                self._load(SqliteTx(connection, self.matrices), data)
                migrations.migrate(connection, self.name)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[SqliteTx]:
        with self._alone, self._open() as connection, transaction(connection, "BEGIN", commit=False):
            yield SqliteTx(connection, self.matrices)

    @contextmanager
    def writing(self) -> Iterator[SqliteTx]:
        with self._alone, self._open() as connection, transaction(connection, "BEGIN", commit=True):
            tx = SqliteTx(connection, self.matrices)
            yield tx
            self._save(tx)

    def _open(self) -> Connection:
        if self._lock.file is None:  # what was in memory is gone, and the file may be another's by now
            raise StoreClosed(f"{self.name} is closed: open it again")
        return self.engine.connect()

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        """Nothing to do: the file was written anew without what was removed."""
        return ()

    def translate(self, error: DBAPIError) -> StoreError:
        return translated(error, self.name)

    def close(self) -> None:
        with self._alone:  # not under a transaction of another thread
            super().close()
            self._lock.release()

    # -- the file

    def _load(self, tx: SqliteTx, data: dict[str, Any]) -> None:
        if data:
            tx.connection.exec_driver_sql("DELETE FROM meta")
        for table in KEPT:
            try:
                tx.load(table.name, [unpacked(table, row) for row in data.get(table.name, [])])
            except (KeyError, TypeError, ValueError, AttributeError, DBAPIError) as error:
                raise StoreError(f"{self.path}: {table.name} cannot be read ({error}); restore a backup") from error

    def _save(self, tx: SqliteTx) -> None:
        changed = [table for table in KEPT if table.name in tx.touched]
        if not changed:
            return
        texts = dict(self._texts)
        for table in KEPT:
            if table in changed or table.name not in texts:
                texts[table.name] = packed(table, tx)
        head = {"what": HEADING, "schema": migrations.CURRENT}
        parts = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        parts += [f" {json.dumps(name)}: {text}" for name, text in texts.items()]
        replace(self.path, "{\n" + ",\n".join(parts) + "\n}\n")
        self._texts = texts


def read(path: Path) -> dict[str, Any]:
    """The file as data: empty if there is none yet."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is not valid JSON ({error}); mend it or restore a backup") from error
    if not isinstance(data, dict) or data.get("what") != HEADING or not is_step(data.get("schema")):
        raise SchemaMismatch(f"{path} is not a recollect memory; to read a chat export use `recollect import`")
    if data["schema"] > migrations.CURRENT:
        migrations.check(data["schema"], str(path))
    return data


def is_step(value: object) -> bool:
    return type(value) is int and value > 0


def packed(table: Table, tx: SqliteTx) -> str:
    """A table as JSON, one row a line."""
    keys = list(table.primary_key)
    rows = tx.connection.execute(select(table).order_by(*keys)).mappings()
    lines = [json.dumps({name: plain(value) for name, value in row.items()}, ensure_ascii=False) for row in rows]
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def unpacked(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    return {name: typed(table.c[name].type, value) for name, value in row.items()}


def typed(kind: Any, value: Any) -> Any:
    if isinstance(kind, Instant) and value is not None:
        return datetime.fromisoformat(value)
    if isinstance(kind, LargeBinary | Vector) and value is not None:
        return base64.b64decode(value, validate=True)
    return value


def replace(path: Path, text: str) -> None:
    """Write a file so that at every moment either the old or the new one is there, whole."""
    beside = path.with_name(path.name + ".tmp")
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise StoreUnwritable(f"{path}: {error.strerror or error}; nothing of this transaction was kept") from error


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets one open a folder."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FileLock:
    """Who has the file: held while the store is open, let go by the system if the process dies."""

    def __init__(self, path: Path) -> None:
        self.file: IO[str] | None = None
        beside = path.with_name(path.name + ".lock")
        try:
            file = open(beside, "a+", encoding="utf-8")  # noqa: SIM115  held until release
        except OSError as error:
            raise StoreUnwritable(f"{beside}: {error.strerror or error}") from error
        try:
            seize(file)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise StoreLocked(
                f"{path} is open in {holder}; close it there, or use SQLite, which many processes can share: "
                f"recollect copy json:{path} {path.with_suffix('.db')}"
            ) from None
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}")
        file.flush()
        self.file = file

    def release(self) -> None:
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

"""SQLite: one file, any number of threads and processes, nothing to install.

Writers take the write lock at BEGIN, so a transaction never fails half way because it cannot get the lock. Inside a
process writers queue for it in order; between processes they wait and try again. The database is in WAL mode with full
sync: when `write` returns, the change is on the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Connection,
    Dialect,
    Engine,
    Integer,
    LargeBinary,
    Table,
    Text,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    select,
    table,
    text,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool
from sqlalchemy.types import TypeDecorator
from sqlalchemy.util import LRUCache

from everword.errors import SchemaMismatch, StoreError, StoreUnwritable
from everword.model import Filter
from everword.ports import VERSION_NOTE, WHOLE_SPACE, Vectors
from everword.stores import queries
from everword.stores.connections import OpenConnections, wrap_error
from everword.stores.migrations import CURRENT, READ_VERSION, check_unmigrated, check_version, migrate, schema_version
from everword.stores.queries import statement_of
from everword.stores.rows import damage_reason, sqlite_error, strip_text, text_or_bytes
from everword.stores.search_index import MoveTx, scope_terms
from everword.stores.sql import NO_CACHE, SqlStore
from everword.stores.tables import VERSIONED, UnreadableRow, entries, messages, meta, parse_meta_number
from everword.stores.vectors import (
    NO_VECTORS,
    Matrix,
    cosines,
    doc_scores,
    join_matrices,
    top_docs,
    unit_vectors,
)
from everword.versioned_cache import Cache, Scope, VersionedValue


# Many vectors are read as one value: the database joins them, and they are parted as arrays. To make an object of each
# takes a quarter longer. If they do not part into as many values as there are rows, one is of another kind than its
# column: then `None` is returned, and they are read row by row.
def sqlite_vectors_query(fields: queries.Shape) -> Any:
    """The docs and the vectors of the passages after a doc, each as one value; at most so many, or all for -1."""
    rows = queries.vectors_after_query(fields).limit(bindparam("most", type_=Integer)).subquery()
    joined_vectors = cast(func.group_concat(rows.c.vec, ""), LargeBinary)
    return select(func.count(rows.c.doc), func.group_concat(rows.c.doc, " "), joined_vectors)


def part_numbers(text: Any, count: int) -> NDArray[np.int64] | None:
    """So many numbers with spaces between them; None if they are not."""
    if type(text) is not str:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return numbers if len(numbers) == count else None


fulltext = table("fulltext", column("rowid"), column("fulltext"))

# CROSS JOIN keeps its order: from the places to the entries. The other order would read all of a conversation.
DOCS_AT_PLACES = text(
    "SELECT entry.doc FROM json_each(:at_places) AS place CROSS JOIN entries AS entry ON entry.space = :at_space"
    " AND entry.conversation = json_extract(place.value, '$[0]') AND entry.turn = json_extract(place.value, '$[1]')"
)

# To find the messages of a list of ids SQLite would make a table of the list, or read all of a space.
COLUMNS = ", ".join(f"messages.{column.name}" for column in messages.c)
EACH_MESSAGE_BY_ID = text(
    f"SELECT {COLUMNS} FROM json_each(:id_list) AS wanted"
    " CROSS JOIN messages ON messages.space = :space AND messages.id = wanted.value"
)

SCRUB_SECONDS = 5.0  # how long an erasure waits for readers of the old state
SCRUB_PAUSE = 0.05  # seconds between two checks whether they have ended
VECTORS_AT_ONCE = 8_192
LAST_DOC = 2**63 - 1
SHARED_VERSIONS = 32  # versions of scopes that are noted

NO_MATRIX = VersionedValue(NO_VECTORS, (), 0)


class PlainStatement:
    """A statement for the driver itself, with the types of its values and columns: SQLAlchemy takes longer around a
    query of one row than the query, and some microseconds for each row that is written."""

    def __init__(self, compiled: Any, columns: Iterable[Any], dialect: Dialect) -> None:
        self._string: str = compiled.string
        self._constants = {name: bind.value for name, bind in compiled.binds.items() if not bind.required}
        kinds = {name: bind.type.dialect_impl(dialect) for name, bind in compiled.binds.items()}
        self._values = [(name, kinds[name].bind_processor(dialect)) for name in compiled.positiontup]
        self._lists = [bind.key for bind in compiled.post_compile_params]
        self._names = [column.key for column in columns]
        decoders = [result_decoder(column.type, dialect) for column in columns]
        self._decoders = decoders if any(decoders) else ()

    def bind(self, params: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """The statement with as many places as its lists have values, and all values in their order."""
        params = {**self._constants, **params} if self._constants else params
        if not self._lists:
            return self._string, [
                params[name] if encode is None else encode(params[name]) for name, encode in self._values
            ]
        string = self._string
        for name in self._lists:
            string = string.replace(list_mark(name), ", ".join("?" * len(params[name])))
        values: list[Any] = []
        for name, encode in self._values:
            given = params[name] if name in self._lists else (params[name],)
            values += given if encode is None else map(encode, given)
        return string, values

    def decode_rows(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Rows as the driver gives them, with the values that they stand for."""
        if not self._decoders:
            return rows
        return [
            [value if decode is None else decode(value) for value, decode in zip(row, self._decoders, strict=True)]
            for row in rows
        ]

    def named_rows(self, rows: Sequence[Sequence[Any]]) -> list[Mapping[str, Any]]:
        """As `decode_rows`, with the names of the columns."""
        return [dict(zip(self._names, row, strict=True)) for row in self.decode_rows(rows)]


def list_mark(name: str) -> str:
    """Where SQLAlchemy leaves a place in a compiled statement for a list of values."""
    return f"__[POSTCOMPILE_{name}]"


def result_decoder(kind: Any, dialect: Dialect) -> Callable[[Any], Any] | None:
    if isinstance(kind, TypeDecorator):
        return partial(kind.process_result_value, dialect=dialect)
    decoder: Callable[[Any], Any] | None = kind.dialect_impl(dialect).result_processor(dialect, None)
    return decoder


def plain_statement(statement: Any, dialect: Dialect, names: tuple[str, ...] | None = None) -> PlainStatement:
    """A statement that is built once; one that writes, for rows with these names."""
    compiled = statement.compile(dialect=dialect, column_keys=names)
    assert all(list_mark(bind.key) in compiled.string for bind in compiled.post_compile_params), compiled.string
    return PlainStatement(compiled, list(statement.selected_columns) if statement.is_select else (), dialect)


def wrap_sqlite_error(sql: str, error: sqlite3.Error) -> BaseException:
    strip_text(error)
    return wrap_error(sql, error, sqlite3.Error)


class SqliteTx(MoveTx):
    """One SQLite transaction."""

    def __init__(self, connection: Any, cache: Cache | None = None) -> None:
        super().__init__(connection, cache)
        self._dialect = connection.dialect
        self._driver: Any = connection.connection.driver_connection
        self._changed_notes: set[str] = set()
        self._matrices: dict[Filter, Matrix] = {}  # that this transaction has searched

    def write(self, table: Table, statement: Any, values: Any = None) -> Any:
        self._note_changed_table(table)
        return super().write(table, statement, values)

    def fetch(self, query: Any, params: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        plain = statement_of(plain_statement, query, self._dialect)
        return plain.decode_rows(self._execute(plain, params))

    def fetch_named(self, query: Any, params: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        plain = statement_of(plain_statement, query, self._dialect)
        return plain.named_rows(self._execute(plain, params))

    def _execute(self, plain: PlainStatement, params: Mapping[str, Any]) -> list[Sequence[Any]]:
        string, values = plain.bind(params)
        try:
            return list(self._driver.execute(string, values).fetchall())
        except sqlite3.Error as error:
            raise wrap_sqlite_error(string, error) from error

    def write_rows(self, table: Table, statement: Any, rows: Sequence[Mapping[str, Any]]) -> int:
        plain = statement_of(plain_statement, statement, self._dialect, tuple(rows[0]))
        self._note_changed_table(table)
        self.touched.add(table.name)
        count = 0
        for string, group in groupby(map(plain.bind, rows), key=itemgetter(0)):
            try:
                count += self._driver.executemany(string, [values for _, values in group]).rowcount
            except sqlite3.Error as error:
                raise wrap_sqlite_error(string, error) from error
        return count

    def put(self, table: str, rows: Sequence[Mapping[str, Any]], add: Sequence[str] = ()) -> None:
        notes = self._changed_notes.copy()
        super().put(table, rows, add)
        if table in VERSIONED:  # it is known whose rows were changed
            owners = {(row["space"], row[column]) for row in rows for column in VERSIONED[table]}
            spaces = {(row["space"], WHOLE_SPACE) for row in rows}
            self._changed_notes = notes | {version_note((table, *place)) for place in owners | spaces}

    def _note_changed_table(self, table: Table) -> None:
        if table.name in VERSIONED:
            self._changed_notes.add(version_note(None))

    def note_versions(self) -> None:
        """At the end of a transaction, give new versions to what it has changed: it is then read again everywhere."""
        new_version = token_hex(8) if self._changed_notes else ""
        self.put(meta.name, [{"key": note, "value": new_version} for note in sorted(self._changed_notes)])

    @cached_property
    def _versions(self) -> dict[str, str]:
        """The versions of scopes as this transaction sees them, by the names of their notes."""
        return {row[0]: row[1] for row in self.fetch(queries.VERSIONS, {})}

    def version(self, scope: Scope) -> str | None:
        if self.cache is NO_CACHE or scope[0] not in VERSIONED:
            return None
        return f"{self._versions.get(version_note(None))} {self._versions.get(version_note(scope))}"

    def each_message_by_id(self, ids: Sequence[str]) -> tuple[Any, str]:
        return EACH_MESSAGE_BY_ID, json.dumps(sorted(ids))

    def _fetch_raw(self, query: Any, params: Mapping[str, Any]) -> Sequence[Any]:
        try:
            return self._execute(statement_of(plain_statement, query, self._dialect), params)
        except DBAPIError as error:
            reason = damage_reason(error.orig)
            if reason is not None:
                # Messages are then read one by one; all else that is read this way is the index, which can be rebuilt.
                raise UnreadableRow(f"a row cannot be read: {reason}; run `everword rebuild index`") from None
            raise

    def vectors_after(self, scope: Filter, doc: int, upto: int) -> tuple[NDArray[np.int64], Vectors]:
        self.cache.drop(matrix_key(scope))  # whoever reads them holds them from now on
        return self._read_vectors(scope, doc, upto) or super().vectors_after(scope, doc, upto)

    def _read_vectors(
        self, scope: Filter, doc: int, upto: int, most: int = -1
    ) -> tuple[NDArray[np.int64], Vectors] | None:
        """Vectors after a doc as one value; None if there are none, or if they cannot be parted."""
        params = queries.filter_values(scope) | {"after_doc": doc, "upto_doc": upto, "most": most}
        query = statement_of(sqlite_vectors_query, queries.filter_shape(scope))
        count, docs_text, data = self._fetch_raw(query, params)[0]
        docs = part_numbers(docs_text, count)
        if docs is None or type(data) is not bytes or not count or len(data) % (2 * count):
            return None
        return docs, unit_vectors(np.frombuffer(data, np.float16).reshape(count, -1))

    def _vectors_in_parts(self, scope: Filter, doc: int) -> Iterator[Matrix]:
        """All vectors after a doc, some thousand at a time."""
        while (part := self._read_vectors(scope, doc, LAST_DOC, VECTORS_AT_ONCE)) is not None:
            yield Matrix(*part)
            doc = int(part[0][-1])
            if len(part[0]) < VECTORS_AT_ONCE:
                return
        yield Matrix(*super().vectors_after(scope, doc, LAST_DOC))

    def is_damage(self, error: DBAPIError) -> bool:
        return damage_reason(error.orig) is not None

    @contextmanager
    def bad_text_as_bytes(self) -> Iterator[None]:
        text_factory = self._driver.text_factory
        self._driver.text_factory = text_or_bytes
        try:
            yield
        finally:
            self._driver.text_factory = text_factory

    @staticmethod
    def upsert(table: Table) -> Any:
        return insert(table)

    @staticmethod
    def without_index(column: Any) -> Any:
        return column.concat("")

    def new_docs(self, count: int) -> Sequence[int]:
        last = parse_meta_number(self.note("docs"))
        self.set_note("docs", str(last + count))
        return range(last + 1, last + count + 1)

    def load(self, table: str, rows: Sequence[Any]) -> None:
        super().load(table, rows)
        if table == entries.name and rows:
            self.set_note("docs", str(max(parse_meta_number(self.note("docs")), *(row["doc"] for row in rows))))

    def matching_docs(self, where: Filter, group: Sequence[str], limit: int) -> Sequence[int]:
        query = select(fulltext.c.rowid).where(fulltext.c.fulltext.op("MATCH")(fts_query(where, group)))
        if not where.is_unrestricted:
            conditions = queries.filter_conditions(entries, queries.filter_shape(where))
            query = query.join(entries, entries.c.doc == fulltext.c.rowid).where(*conditions)
        query = query.order_by(fulltext.c.rowid.desc()).limit(limit)
        return self.connection.execute(query, queries.filter_values(where)).scalars().all()

    def count_matching(self, where: Filter, group: Sequence[str]) -> int:
        query = (
            select(func.count()).select_from(fulltext).where(fulltext.c.fulltext.op("MATCH")(fts_query(where, group)))
        )
        return self.connection.execute(query).scalar() or 0

    @staticmethod
    def is_among_numbers(column: Any) -> Any:
        return column.in_(select(func.json_each(bindparam("numbers", type_=Text)).table_valued("value").c.value))

    @staticmethod
    def number_params(numbers: Sequence[int]) -> dict[str, Any]:
        return {"numbers": json.dumps(list(numbers))}

    @staticmethod
    def is_at_places() -> Any:
        return entries.c.doc.in_(DOCS_AT_PLACES.columns(entries.c.doc))

    @staticmethod
    def place_params(space: str, places: Sequence[tuple[str, int]]) -> dict[str, Any]:
        return {"at_space": space, "at_places": json.dumps(list(places))}

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        matrix = self._matrix(where)
        docs = matrix.docs
        data = matrix.data
        if not where.is_unrestricted:
            query = select(entries.c.doc).where(*queries.filter_conditions(entries, queries.filter_shape(where)))
            matching_docs = self.connection.execute(query, queries.filter_values(where)).scalars().all()
            is_matching = np.isin(docs, np.fromiter(matching_docs, np.int64, len(matching_docs)), assume_unique=True)
            docs = docs[is_matching]
            data = data[is_matching]
        return top_docs(docs, cosines(data, unit_vectors(vector)), limit) if len(docs) else []

    def _matrix(self, where: Filter) -> Matrix:
        # This transaction may still be rolled back: other transactions must not see what it has written.
        scope = where.scope
        if "vectors" in self.touched:
            return self._read_matrix(scope, NO_VECTORS)
        if scope not in self._matrices:
            self._matrices[scope] = self._cached_matrix(scope)
        return self._matrices[scope]

    def _cached_matrix(self, scope: Filter) -> Matrix:
        """The matrix at the state of its scope: the latest one with what came since, if nothing else has changed."""
        key = matrix_key(scope)
        version = self.scope_state(scope).version
        matrix: Matrix | None = self.cache.find(key, version)
        if matrix is None:
            latest = self.cache.latest(key) or NO_MATRIX
            has_only_grown = latest.version[:2] == version[:2] and latest.version < version
            matrix = self._read_matrix(scope, latest.value if has_only_grown else NO_VECTORS)
            self.cache.put(key, version, matrix, min(matrix.nbytes, self.cache.max_bytes))
        return matrix

    def _read_matrix(self, scope: Filter, earlier: Matrix) -> Matrix:
        """An earlier matrix with all vectors after it."""
        last_doc = int(earlier.docs[-1]) if len(earlier.docs) else 0
        return join_matrices([earlier, *self._vectors_in_parts(scope, last_doc)])

    def cosines(self, where: Filter, vector: Vectors, docs: Sequence[int]) -> dict[int, float]:
        matrix = self._matrix(where)
        return doc_scores(matrix.docs, matrix.data, unit_vectors(vector), docs) if len(matrix.docs) else {}


def matrix_key(scope: Filter) -> tuple[str, Filter]:
    return "vectors", scope


def version_note(scope: Scope | None) -> str:
    """The note of the version of a scope, or of all of them. Some scopes share a note: so there are few notes, and they
    name nobody."""
    return VERSION_NOTE + ("all" if scope is None else str(crc32("\0".join(scope).encode()) % SHARED_VERSIONS))


def fts_query(where: Filter, group: Sequence[str]) -> str:
    """An FTS5 query. Every term is quoted: what a user typed is never syntax."""
    scope = " AND ".join(f'"{term}"' for term in scope_terms(where))
    return f"{scope} AND ({any_term_query(group)})"


def any_term_query(group: Sequence[str]) -> str:
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in group)


class SqliteStore(SqlStore):
    """A store in one SQLite file."""

    def __init__(self, path: str | Path, *, busy_seconds: float = 30.0, cache_bytes: int = 256 << 20) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise StoreError(f"{path}: the folder {self.path.parent} does not exist; create it first")
        if self.path.is_dir():
            raise StoreUnwritable(f"{path} is a folder; give the path of a file", "the path is a folder")
        self._file = DatabaseFile(self.path, busy_seconds)
        super().__init__(file_engine(self._file), str(path), busy_seconds)
        self.cache = Cache(cache_bytes)
        self._connections = OpenConnections(self.engine)
        self._write_lock = threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def writable(self) -> bool:
        return self._file.writable

    @property
    def reads_at_once(self) -> bool:
        return True  # the log of what is being written is beside the file

    def _open(self) -> None:
        """Open for reading and writing; if the system allows no writing, only for reading."""
        if self._file.is_protected:
            self._file.open_for_reading()
        try:
            self._prepare()
        except StoreUnwritable:
            if not self.writable or not self._file.is_in_protected_folder:
                raise
            self._connections.drop_idle()
            self.engine.dispose()
            self._file.open_for_reading()
            self._prepare()

    def _prepare(self) -> None:
        read_any_version = partial(self._transaction, "BEGIN", "ROLLBACK", checks_version=False)
        version = self.run_with_retries(schema_version, read_any_version)
        if version < CURRENT and not self.writable:
            raise SchemaMismatch(
                f"{self.name} has an older schema and is read-only; make the file and its folder writable"
            )
        if version < CURRENT:
            write_any_version = partial(self.writing, checks_version=False)
            self.run_with_retries(lambda tx: migrate(tx.connection, self.name), write_any_version)
        elif version > CURRENT:
            check_version(version, self.name)

    @contextmanager
    def reading(self) -> Iterator[SqliteTx]:
        with self._transaction("BEGIN", "ROLLBACK") as connection:
            yield SqliteTx(connection, self.cache)

    @contextmanager
    def writing(self, *, checks_version: bool = True) -> Iterator[SqliteTx]:
        self._file.check_writable()
        self._file.check_in_place()
        # Threads of one process queue here, at a fair and cheap lock, and not at the file.
        with (
            self._write_lock,
            self._transaction("BEGIN IMMEDIATE", "COMMIT", checks_version=checks_version) as connection,
        ):
            tx = SqliteTx(connection)
            yield tx
            tx.note_versions()
            self._file.check_in_place()

    @contextmanager
    def _transaction(self, begin: str, end: str, *, checks_version: bool = True) -> Iterator[Connection]:
        with self._connections.transaction((begin,), end) as opened:
            if checks_version:
                rows = opened.run(READ_VERSION)
                check_unmigrated(rows[0][0] if rows else None, self.name)
            yield opened.connection

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        # Deleted cells are zeroed already; the full text index and the WAL still hold copies of removed rows.
        optimize = "INSERT INTO fulltext (fulltext) VALUES ('optimize')"
        self.run_with_retries(lambda tx: tx.connection.exec_driver_sql(optimize), self.writing)
        deadline = time.monotonic() + min(self.busy_seconds, SCRUB_SECONDS)
        while not self._empty_wal():
            if time.monotonic() > deadline:
                name = self.path.name
                return (
                    f"{name} and {name}-wal may still hold what was removed: another program reads the store as it was"
                    " before; when it has ended or closed the store, run `everword scrub`",
                )
            time.sleep(SCRUB_PAUSE)
        return ()

    def _empty_wal(self) -> bool:
        """Write the WAL back into the file and leave it with no bytes; False if somebody still reads from it."""
        try:
            with self._write_lock, self.engine.connect() as connection:
                before = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
                connection.exec_driver_sql("PRAGMA busy_timeout = 0")
                try:
                    busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
                finally:
                    connection.exec_driver_sql(f"PRAGMA busy_timeout = {before}")
        except DBAPIError as error:
            raise self.translate(error) from error
        return not busy

    def translate(self, error: DBAPIError) -> StoreError:
        return sqlite_error(error, self.name)

    def close(self) -> None:
        self._connections.close()
        super().close()


# -- the file
#
# A file that was removed or replaced while it is open accepts every write, and all of it is lost when it is closed; the
# same holds for the log of changes beside it (WAL) when the process is killed. No caller may be told that something is
# stored in such a file. So both files are checked before each commit. A file, folder or file system that cannot be
# written is opened for reading. At the end are SQLAlchemy's engines, of a file and of a database in memory.

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
                    f"{self.path} cannot be opened in a read-only folder, because {self._log.name} beside it "
                    "contains newer changes; copy both files to a writable folder"
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
            f"{self.path}, or {self._log.name} beside it, was removed or replaced while it was open, so nothing was "
            "stored; restore the file, or open the memory again",
            "the file was removed or replaced",
        )

    def check_writable(self) -> None:
        if not self.writable:
            raise StoreUnwritable(
                f"{self.path} is read-only, so nothing was stored; make the file and its folder writable, or "
                f"copy it: everword copy {self.path} NEW.db",
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

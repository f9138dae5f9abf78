"""PostgreSQL with pgvector: for many processes and machines on one memory.

Everything is in a schema of its own, `everword`. Opening never changes the database: `everword migrate URL`
does. Writers lock the rows they depend on, so turn numbers have no gaps; a deadlock or a serialisation failure
is tried again. Vectors are compared exactly, through the index on space and user; a very large scope uses an
approximate index if one was made (`everword migrate --hnsw URL`).
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from secrets import randbits, token_hex
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Dialect,
    Engine,
    Float,
    LargeBinary,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    cast,
    column,
    create_engine,
    event,
    func,
    literal,
    select,
    text,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.util import LRUCache

from everword.errors import (
    CommitUnknown,
    ConfigError,
    MachineAway,
    MissingExtra,
    StoreAway,
    StoreBusy,
    StoreError,
    StoreUnwritable,
)
from everword.masking import masked_logger
from everword.model import Filter
from everword.ports import Vectors
from everword.stores import citus, queries
from everword.stores.connections import OpenConnections, RetryPauses, rolling_back
from everword.stores.migrations import READ_VERSION, check_unmigrated, check_version, migrate, schema_version
from everword.stores.queries import statement_of
from everword.stores.search_index import MoveTx, scope_terms
from everword.stores.sql import CACHE_BYTES, NO_CACHE, SqlStore
from everword.stores.tables import TABLES, VECTOR_HEADER, Halfvec, entries, messages, vector_text, vectors
from everword.stores.vectors import unit_vectors
from everword.versioned_cache import Cache, Scope

T = TypeVar("T")
logger = masked_logger("everword.postgres")

SCHEMA, OLD_SCHEMA = "everword", "recollect"
CONNECT_SECONDS = 5  # for one attempt to connect, unless the address has a `connect_timeout`
UNNOTICED_SECONDS = 2.0  # that opening a store may wait for its server before a warning says so
# What to do about a server that cannot be reached, by words of its refusal.
ADVICE = {
    "password": "check the user and the password in the address of the store",
    'role "': "check the user in the address of the store",
    'database "': "create the database, then run `everword migrate` on the database",
    "": "check that PostgreSQL runs there, and the host and the port in the address of the store",
}
# Serialisation failure, deadlock, lock not available; and a prepared statement that the server has dropped.
AGAIN = {"40001", "40P01", "55P03", "26000"}
GONE = {"57P01", "57P02", "57P03", "08000", "08003", "08006", "08001", "08004"}  # the server went away
AWAY = (
    *(f"failed: {os.strerror(number)}" for number in (errno.ECONNREFUSED, errno.ECONNRESET, errno.ENOENT)),
    "server closed the connection",
    "connection timeout expired",
    "the database system is ",  # starting up, shutting down, in recovery mode, not yet accepting connections
)
UNWRITABLE = {"53100": "the disk is full", "25006": "the server is read-only", "58030": "the disk failed"}
TAKEN, NUMBERED = "23505", ("entries_pkey", "vectors_pkey")  # a key that is there already; the keys of passages
EXACT_UP_TO = 50_000  # passages in a scope; above it an approximate index is used, where there is one
HNSW = "vectors_hnsw"
BINARY_VECTOR = func.halfvec_send(vectors.c.vec, type_=LargeBinary)
COMPILED = 1_000  # statements kept in their compiled form
LANE_BITS = 10  # of a passage's number
LOCK_ROWS = 4_096  # of a space
PARTIAL_SECONDS = 5.0  # after a machine was found to be away, in which only the others are asked for work
SPACE_NAMES = ("space", "the_space", "in_space", "at_space", "of_space")  # of the space in the values of a statement
# It locks the row, new or not, and changes nothing of one that is there.
LOCK_ROW = text(
    "INSERT INTO locks (space, slot) VALUES (:space, :slot) "
    "ON CONFLICT (space, slot) DO UPDATE SET slot = excluded.slot WHERE false"
)

# What begins a transaction, in one message, with its `limit`. Who changes the schema holds the lock alone: no
# transaction that has read the version goes on meanwhile.
BETWEEN = "; "
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {limit}"
WRITING = f"BEGIN; {{limit}}; SELECT pg_advisory_xact_lock_shared(hashtext('everword schema')); {READ_VERSION}"
MIGRATING = "BEGIN; {limit}; SELECT pg_advisory_xact_lock(hashtext('everword schema'))"

# The dialect of each server and the statements compiled for it, shared by all stores of the process on that server:
# to compile a statement costs more than to send it.
DIALECTS: dict[str, tuple[Dialect, LRUCache[Any, Any]]] = {}


class PostgresTx(MoveTx):
    """One PostgreSQL transaction. `space` is that beside whose rows it is noted that the transaction was kept."""

    space = ""

    def __init__(self, connection: Connection, numbers: PassageNumbers, cache: Cache | None = None) -> None:
        super().__init__(connection, cache)
        self._numbers = numbers

    @staticmethod
    def upsert(table: Table) -> Any:
        return insert(table)

    def with_row_locks(self, query: Any) -> Any:
        return statement_of(locking_query, query)

    def skipping_locked(self, query: Any) -> Any:
        return statement_of(skipping_query, query)

    def version(self, scope: Scope) -> str | None:
        """That of the whole database: a note of each scope would keep writers waiting for each other."""
        return None if self.cache is NO_CACHE else self._snapshot

    @cached_property
    def _snapshot(self) -> str | None:
        """Which transactions this one sees. A replica does not say it exactly."""
        query = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_snapshot()::text END"
        value: str | None = self.connection.exec_driver_sql(query).scalar()
        return value

    def each_message_by_id(self, ids: Sequence[str]) -> tuple[Any, str]:
        return EACH_MESSAGE_BY_ID, array_text(ids)

    def lock(self, name: str, space: str = "", *name_parts: str) -> None:
        number = lock_number(name, space, *name_parts)
        self.connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})

    def new_docs(self, count: int) -> Sequence[int]:
        return self._numbers.take(count)

    def matching_docs(self, where: Filter, group: Sequence[str], limit: int) -> Sequence[int]:
        # Materialised, so that the planner does not scan all passages backwards for a match.
        matches = self._matching_query(where, group, entries.c.doc).cte("found").prefix_with("MATERIALIZED")
        return (
            self.connection.execute(select(matches.c.doc).order_by(matches.c.doc.desc()).limit(limit)).scalars().all()
        )

    def count_matching(self, where: Filter, group: Sequence[str]) -> int:
        matches = self._matching_query(where, group, entries.c.doc).subquery()
        return self.connection.execute(select(func.count()).select_from(matches)).scalar() or 0

    def _matching_query(self, where: Filter, group: Sequence[str], *columns: Any) -> Select[Any]:
        has_terms = text("tsv @@ CAST(:terms AS tsquery)").bindparams(terms=tsquery_text(where, group))
        conditions = queries.filter_conditions(entries, queries.filter_shape(where))
        return select(*columns).where(has_terms, *conditions).params(queries.filter_values(where))

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        is_of_vectors = where.is_unrestricted and where.conversation is None
        if is_of_vectors and self._has_approximate_index(where, len(vector)):
            # Without it a filtered search of the graph stops early and misses most near vectors.
            self.connection.exec_driver_sql("SET LOCAL hnsw.iterative_scan = relaxed_order")
            row_vector: Any = cast(vectors.c.vec, Halfvec(len(vector)))
            query_vector = cast(vector_literal(vector), Halfvec(len(vector)))
        else:
            row_vector = vectors.c.vec
            query_vector = cast(vector_literal(vector), Halfvec())
        distance = row_vector.op("<=>", return_type=Float())(query_vector).label("distance")
        query = select(vectors.c.doc, distance).where(vectors.c.space == where.space)
        if where.user is not None:
            query = query.where(vectors.c.user_id == where.user)
        if not is_of_vectors:
            conditions = queries.filter_conditions(entries, queries.filter_shape(where))
            query = query.join_from(entries, vectors, queries.is_of_passage()).where(*conditions)
        params = {} if is_of_vectors else queries.filter_values(where)
        rows = self.connection.execute(query.order_by(distance).limit(limit), params)
        hits = [(row.doc, 1 - row.distance) for row in rows]
        return sorted(hits, key=lambda hit: (-hit[1], -hit[0]))

    def vectors_after(self, scope: Filter, doc: int, upto: int) -> tuple[NDArray[np.int64], Vectors]:
        """As in every database; but vectors come in their binary form: to read their numbers as text takes longer than
        all else."""
        query = statement_of(queries.vectors_after_query, queries.filter_shape(scope), BINARY_VECTOR)
        rows = self.fetch(query, queries.filter_values(scope) | {"after_doc": doc, "upto_doc": upto})
        docs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        if not rows:
            return docs, np.empty((0, 0), np.float32)
        data = np.frombuffer(b"".join(bytes(row[1])[VECTOR_HEADER:] for row in rows), ">f2")
        return docs, unit_vectors(data.reshape(len(rows), -1))

    @staticmethod
    def is_among_numbers(column: Any) -> Any:
        return column == any_(cast(bindparam("numbers", type_=ARRAY(BigInteger)), ARRAY(BigInteger)))

    @staticmethod
    def number_params(numbers: Sequence[int]) -> dict[str, Any]:
        return {"numbers": list(numbers)}

    @staticmethod
    def is_at_places() -> Any:
        pairs = select(
            func.unnest(cast(bindparam("at_conversations", type_=ARRAY(Text)), ARRAY(Text))),
            func.unnest(cast(bindparam("at_turns", type_=ARRAY(BigInteger)), ARRAY(BigInteger))),
        )
        return tuple_(entries.c.conversation, entries.c.turn).in_(pairs)

    @staticmethod
    def place_params(space: str, places: Sequence[tuple[str, int]]) -> dict[str, Any]:
        return {"at_conversations": [place[0] for place in places], "at_turns": [place[1] for place in places]}

    def cosines(self, where: Filter, vector: Vectors, docs: Sequence[int]) -> dict[int, float]:
        distance = vectors.c.vec.op("<=>", return_type=Float())(cast(vector_literal(vector), Halfvec()))
        query = select(entries.c.doc, 1 - distance).join_from(entries, vectors, queries.is_of_passage())
        conditions = queries.filter_conditions(entries, queries.filter_shape(where.scope))
        query = query.where(*conditions, self.is_among_numbers(entries.c.doc))
        params = queries.filter_values(where.scope) | self.number_params(docs)
        return {row[0]: row[1] for row in self.connection.execute(query, params)}

    def _has_approximate_index(self, where: Filter, width: int) -> bool:
        if self.tally(where.space, where.user).docs <= EXACT_UP_TO:
            return False
        query = text("SELECT 1 FROM pg_indexes WHERE schemaname = :schema AND indexname = :name")
        return self.connection.execute(query, {"schema": SCHEMA, "name": f"{HNSW}_{width}"}).scalar() is not None


class CitusTx(PostgresTx):
    """One transaction on a PostgreSQL that Citus spreads over machines. Who looks for work in all spaces is shown those
    on machines that answer, if `is_partial`: while a machine is away."""

    is_partial = False

    def spaces_to_read(self, space: str | None, table: str, condition: str) -> tuple[queries.Spaces, dict[str, Any]]:
        if space is not None or not self.is_partial:
            return super().spaces_to_read(space, table, condition)
        spaces = citus.spaces_there(self.connection, table, condition)
        return ("some", {"of_spaces": spaces}) if spaces else ("none", {})

    def write(self, table: Table, statement: Any, values: Any = None) -> Any:
        if not self.space and values:
            row = values if isinstance(values, dict) else values[0]
            self.space = next((row[name] for name in SPACE_NAMES if name in row), "")
        return super().write(table, statement, values)

    def version(self, scope: Scope) -> str | None:
        """None: what changes on other machines does not change what this one sees of its own transactions."""
        return None

    def lock(self, name: str, space: str = "", *name_parts: str) -> None:
        """A row is locked, which every machine sees. A few thousand rows in a space are shared by all names, so that
        they tell nobody's; two names that share one only wait for each other."""
        number = lock_number(name, space, *name_parts) % LOCK_ROWS
        self.connection.execute(LOCK_ROW, {"space": space, "slot": number})


def message_lookup() -> Any:
    """The messages with some ids, each looked up by itself. Until a table is analysed, the server takes a space for a
    few rows, and would read all of its messages to find those with the ids."""
    ids = func.unnest(cast(bindparam("id_list", type_=Text()), ARRAY(Text))).table_valued(column("id", Text()))
    wanted = ids.render_derived(name="wanted")
    is_wanted = (messages.c.space == bindparam("space"), messages.c.id == wanted.c.id)
    found = select(messages).where(*is_wanted).limit(1).lateral("found")
    return select(*found.c).select_from(wanted.join(found, true()))


EACH_MESSAGE_BY_ID = message_lookup()


class PassageNumbers:
    """Numbers of passages, made from the clock: no server of many hands them out. Microseconds, so that later ones are
    greater, and the lane of this store, so that two stores do not make the same ones. Two that do, in one lane at one
    moment, collide in the key, and one of them tries again."""

    def __init__(self) -> None:
        self._lane = randbits(LANE_BITS)
        self._last = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> range:
        with self._lock:
            first = max(self._last + 1, time.time_ns() // 1_000)
            self._last = first + count - 1
        return range(first << LANE_BITS | self._lane, (first + count) << LANE_BITS, 1 << LANE_BITS)


def lock_number(*name_parts: str) -> int:
    name = "\0".join(("everword", *name_parts)).encode()
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big", signed=True)


def array_text(values: Iterable[str]) -> str:
    """Texts as the server writes an array of them, each once."""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in dict.fromkeys(values))
    return "{" + ",".join(f'"{value}"' for value in escaped) + "}"


def locking_query(query: Any) -> Any:
    """A query that is kept, locking its rows; it is kept, too."""
    return query.with_for_update()


def skipping_query(query: Any) -> Any:
    """A query that is kept, locking those of its rows that nobody else has locked."""
    return query.with_for_update(skip_locked=True)


def vector_literal(vector: Vectors) -> Any:
    return literal(vector_text(unit_vectors(vector)), Text())


def tsquery_text(where: Filter, group: Sequence[str]) -> str:
    """A tsquery. Every term is quoted: what a user typed is never syntax."""
    terms = ["'" + term.replace("'", "''").replace("\\", "\\\\") + "'" for term in group]
    return " & ".join(f"'{term}'" for term in scope_terms(where)) + " & (" + " | ".join(terms) + ")"


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database."""

    def __init__(
        self,
        url: str,
        *,
        busy_seconds: float = 30.0,
        server_seconds: float | None = None,
        migrate: bool = False,
        hnsw: int | None = None,
        spread: bool = False,
    ) -> None:
        """With `migrate`, bring the schema up to date; with `spread` have Citus spread it over its machines, too. The
        server may take `server_seconds` to answer, or else `busy_seconds`: it may just be starting."""
        address = parse_url(url)
        super().__init__(
            create_pooled_engine(address, busy_seconds),
            address.set(drivername="postgresql").render_as_string(hide_password=True),
            busy_seconds,
        )
        self.cache = Cache(CACHE_BYTES)
        # Of a transaction, not of a session: behind a pooler, or on other machines, the session is not ours.
        self._limit = f"SET LOCAL lock_timeout = {int(busy_seconds * 1000)}"
        self._numbers = PassageNumbers()
        self._partial_until = float("-inf")
        self._connections = OpenConnections(self.engine)
        self.spread = False
        try:
            self._wait_for_server(busy_seconds if server_seconds is None else min(server_seconds, busy_seconds))
            if migrate:
                self.run_with_retries(lambda tx: self._migrate(tx, spread), partial(self.writing, MIGRATING))
                if hnsw is not None:
                    self.run_with_retries(lambda tx: self._index_vectors(tx, hnsw), self.writing)
            else:
                check_version(self.run_with_retries(self._read_version, self.reading), self.name)
            self.spread = self.run_with_retries(self._read_spread, self.reading)
            if self.spread:
                self._limit = f"{citus.REACHING_ALL}{BETWEEN}{self._limit}"
            DIALECTS.setdefault(server_address(address), (self.engine.dialect, statement_cache(self.engine)))
        except BaseException:
            self._connections.close()
            self.engine.dispose()
            raise

    @property
    def searches(self) -> int:
        return 4

    def _wait_for_server(self, seconds: float) -> None:
        """Wait until the server answers. Raise at once if it refuses what waiting does not change."""
        notice = "waiting up to %g seconds for an answer from the server of %s"
        timer = threading.Timer(min(UNNOTICED_SECONDS, seconds / 2), logger.warning, (notice, seconds, self.name))
        timer.daemon = True
        timer.start()
        pauses = RetryPauses(seconds)
        try:
            while True:
                try:
                    self.engine.connect().close()
                    return
                except DBAPIError as error:
                    may_answer = isinstance(self.translate(error), StoreAway)
                    if not may_answer or not pauses.wait():
                        raise self._no_answer_error(error, may_answer) from error
        finally:
            timer.cancel()

    def _no_answer_error(self, error: DBAPIError, is_away: bool) -> StoreError:
        reason = first_line(error)
        advice = next(advice for words, advice in ADVICE.items() if words in reason)
        return (StoreAway if is_away else StoreError)(f"{self.name}: {reason}; {advice}")

    def _read_version(self, tx: Any) -> int:
        table = tx.connection.execute(text("SELECT to_regclass(:meta)"), {"meta": f"{SCHEMA}.meta"}).scalar()
        return schema_version(tx.connection) if table else 0

    def _read_spread(self, tx: Any) -> bool:
        return citus.check_spread(tx.connection, self.name)

    def machines(self) -> list[citus.Machine]:
        """The machines over which the database is spread, or could be; empty without Citus."""
        return self.run_with_retries(self._read_machines, self.reading)

    @staticmethod
    def _read_machines(tx: Any) -> list[citus.Machine]:
        return citus.read_machines(tx.connection) if citus.has_citus(tx.connection) else []

    @staticmethod
    def _lock_schema(tx: Any) -> None:
        """If several processes change the schema at once, all but the first wait here, and then find nothing to do.
        `IF NOT EXISTS` does not wait for another process that is just creating the same thing, and fails."""
        tx.connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('everword migrate'))"))

    def _migrate(self, tx: Any, spread: bool) -> None:
        citus.check_is_coordinator(tx.connection, self.name)
        self._lock_schema(tx)
        self._rename_schema(tx)
        tx.connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        tx.connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
        citus.begin_steps(tx.connection)
        migrate(tx.connection, self.name)
        if spread or citus.tables_left_out(tx.connection):
            citus.spread_tables(tx.connection, self.name)

    @staticmethod
    def _rename_schema(tx: Any) -> None:
        """Give the schema its name of today, if the database has it under that of before. Programs of before write
        while they hold a lock, which this waits for; what they do next fails, since they do not find the tables."""
        has_schema = text("SELECT to_regnamespace(:name) IS NOT NULL")
        names = (OLD_SCHEMA, SCHEMA)
        if [tx.connection.execute(has_schema, {"name": name}).scalar() for name in names] == [True, False]:
            tx.connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock(hashtext('{OLD_SCHEMA} schema'))")
            tx.connection.exec_driver_sql(f"ALTER SCHEMA {OLD_SCHEMA} RENAME TO {SCHEMA}")

    def _index_vectors(self, tx: Any, width: int) -> None:
        self._lock_schema(tx)
        tx.connection.exec_driver_sql(
            f"CREATE INDEX IF NOT EXISTS {HNSW}_{int(width)} ON vectors "
            f"USING hnsw ((CAST(vec AS halfvec({int(width)}))) halfvec_cosine_ops)"
        )

    def _messages(self, begin: str) -> Sequence[str]:
        """What begins a transaction: one message, or on several machines one for each statement, since Citus sends the
        whole message with a setting to the others."""
        message = begin.format(limit=self._limit)
        return message.split(BETWEEN) if self.spread else (message,)

    def _transaction(self, connection: Connection, cache: Cache | None = None) -> PostgresTx:
        if not self.spread:
            return PostgresTx(connection, self._numbers, cache)
        tx = CitusTx(connection, self._numbers, cache)
        tx.is_partial = self._is_partial
        return tx

    @property
    def _is_partial(self) -> bool:
        """Whether a machine was away a moment ago."""
        return time.monotonic() < self._partial_until

    def run_with_retries(self, fn: Callable[[Any], T], begin: Callable[[], Any]) -> T:
        """As in every database; and once more if a machine is found to be away: the others may be enough."""
        was_partial = self._is_partial
        try:
            return super().run_with_retries(fn, begin)
        except MachineAway:
            self._partial_until = time.monotonic() + PARTIAL_SECONDS
            if was_partial:
                raise
            return super().run_with_retries(fn, begin)

    @contextmanager
    def reading(self) -> Iterator[PostgresTx]:
        with self._connections.transaction(self._messages(READING), "ROLLBACK") as opened:
            yield self._transaction(opened.connection, self.cache)

    @contextmanager
    def writing(self, begin: str = WRITING) -> Iterator[PostgresTx]:
        """A transaction that writes. It is refused if the schema is not the one that this program knows. A read, to
        which that would add a sixth, is not."""
        commit: Commit | None = None
        try:
            with self._connections.transaction(self._messages(begin)) as opened:
                if begin == WRITING:
                    check_unmigrated(opened.answer[0][0] if opened.answer else None, self.name)
                tx = self._transaction(opened.connection)
                yield tx
                commit = next_commit(opened.connection, tx.space) if tx.touched else None
                opened.run("COMMIT" if commit is None else commit.statement)
                if commit is not None:  # a COMMIT that failed may be fenced off, and its session with it
                    opened.connection.info[KEY] = commit
        except DBAPIError as error:
            if commit is None or not is_lost(error) or not self._was_kept(commit):
                raise

    def _was_kept(self, commit: Commit) -> bool:
        """Whether a transaction was committed although its COMMIT was not answered. Uses another connection, after the
        broken one went back to the pool: else all waiting callers could wait for each other's connection."""
        pauses = RetryPauses(self.busy_seconds)
        while True:
            try:
                with self.engine.connect() as connection, rolling_back(connection):
                    for message in self._messages("BEGIN; {limit}"):
                        connection.exec_driver_sql(message)
                    is_kept = was_kept(connection, commit)
                    connection.exec_driver_sql("COMMIT")
                    return is_kept
            except (DBAPIError, PoolTimeout) as error:
                if not pauses.wait():
                    raise CommitUnknown(
                        f"{self.name}: the server went away during a COMMIT and did not return within "
                        f"{self.busy_seconds:g} seconds. It is not known whether the change was stored; read the data "
                        "before you repeat it"
                    ) from error

    def close(self) -> None:
        """A connection that a thread still uses is closed when the thread gives it back: no pool takes it any more."""
        event.listen(self.engine.pool, "checkin", close_returned)
        self._connections.close()
        super().close()

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        if self.spread and not full:  # to rewrite hundreds of small files takes longer than a caller waits
            return (f"the files of the machines that hold the tables are not written anew at once: {COMMAND}",)
        try:
            with self.engine.connect() as connection:
                connection.detach()  # its lock timeout is changed, and must not go back to the pool
                tables = [f"{SCHEMA}.{table}" for table in sorted(TABLES)]
                return clear_traces(connection, tables, rewrite_limits(full, self.busy_seconds), self.spread)
        except PoolTimeout as error:
            raise self.no_connection_error() from error
        except DBAPIError as error:
            raise self.translate(error) from error

    def translate(self, error: DBAPIError) -> StoreError:
        state = getattr(error.orig, "sqlstate", None)
        if state in AGAIN:
            return StoreBusy(
                f"{self.name}: other writers kept the rows busy for too long; nothing was written, try again"
            )
        if state in UNWRITABLE:
            message = f"{self.name}: {UNWRITABLE[state]}; this transaction was not stored"
            return StoreUnwritable(message, UNWRITABLE[state])
        if self.spread and state in GONE and not error.connection_invalidated:  # one behind the server that we talk to
            return MachineAway(
                f"{self.name}: a machine with part of the database cannot be reached ({first_line(error)}); nothing "
                "was written, try again later"
            )
        if is_lost(error) or state in GONE or is_away(error):
            return StoreAway(f"{self.name}: the server went away ({first_line(error)}); nothing was written, try again")
        if state == TAKEN and str(constraint_of(error)).startswith(NUMBERED):
            return StoreBusy(
                f"{self.name}: another process stored a passage under the same number; nothing was written, try again"
            )
        if '"vector"' in str(error.orig) and "extension" in str(error.orig):
            return StoreError(
                f"{self.name}: pgvector is needed on the server ({first_line(error)}); install its package there"
            )
        return StoreError(f"{self.name}: {first_line(error)}")


def constraint_of(error: DBAPIError) -> Any:
    """The constraint that refused a row."""
    diagnostics: Any = getattr(error.orig, "diag", None)
    return None if diagnostics is None else diagnostics.constraint_name


def is_away(error: DBAPIError) -> bool:
    """Whether the server could not be reached but may be back in a moment. Such an error has no code, only a text: of
    the system for a socket without a listener, or of a server that starts or stops."""
    return getattr(error.orig, "sqlstate", None) is None and any(words in str(error.orig) for words in AWAY)


def first_line(error: DBAPIError) -> str:
    return (str(error.orig).strip().splitlines() or ["no reason given"])[0]


def parse_url(url: str) -> URL:
    scheme, _, location = url.partition("://")
    authority, slash, rest = location.partition("/")
    userinfo, at, host = authority.rpartition("@")  # SQLAlchemy would end a password at its first @
    try:
        address = make_url(f"{scheme}://{userinfo.replace('@', '%40')}{at}{host}{slash}{rest}")
    except (ArgumentError, ValueError) as error:
        raise ConfigError(
            "store: the PostgreSQL address cannot be read; write postgresql://user:password@host/database"
        ) from error
    return address.set(drivername="postgresql+psycopg")


def server_address(url: URL) -> str:
    """The address of a server, without the names of database and user."""
    return f"{url.host}:{url.port}?{url.query.get('host')}"


def statement_cache(engine: Engine) -> LRUCache[Any, Any]:
    """The compiled statements of an engine."""
    statements: LRUCache[Any, Any] = engine.get_execution_options()["compiled_cache"]
    return statements


def create_pooled_engine(url: URL, busy_seconds: float) -> Any:
    try:
        engine = create_engine(
            url,
            connect_args={} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS},
            pool_size=8,
            max_overflow=16,
            pool_timeout=busy_seconds,
            pool_pre_ping=True,
            pool_use_lifo=True,  # a connection that was just used has its plans and its schema cache ready
            isolation_level="AUTOCOMMIT",
        )
    except (ImportError, NoSuchModuleError) as error:
        raise MissingExtra("postgres", "a PostgreSQL store") from error
    engine.dialect, statements = DIALECTS.get(server_address(url), (engine.dialect, LRUCache(COMPILED)))
    engine.update_execution_options(compiled_cache=statements)

    @event.listens_for(engine, "connect")
    def _settle(connection: Any, _: Any) -> None:
        connection.execute(f"SET search_path TO {SCHEMA}, public")
        if not connection.autocommit:
            connection.commit()

    return engine


def close_returned(connection: Any, _: Any) -> None:
    if connection is not None:
        connection.close()


KEY = "everword commit"
DECIDED = "23514"  # check violation: a committed number cannot be fenced off, and a fenced one cannot be committed

SWEPT_EVERY = 256  # transactions of a connection
# A connection that has written nothing for a day is closed, or will write its row again.
SWEEP = (
    "DELETE FROM commits WHERE space = {space} AND session IN (SELECT session FROM commits "
    "WHERE space = {space} AND at < now() - interval '1 day' FOR UPDATE SKIP LOCKED)"
)
FENCE = text(
    "INSERT INTO commits (space, session, last, fenced) VALUES (:space, :session, :number - 1, :number) "
    "ON CONFLICT (space, session) DO UPDATE SET fenced = excluded.fenced"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """One transaction of one connection, noted beside the rows of a space."""

    session: str
    number: int
    space: str = ""

    @property
    def statement(self) -> str:
        """Note the transaction and COMMIT: several statements in one message, which holds no parameters."""
        space = quote_text(self.space)
        note = (
            f"INSERT INTO commits (space, session, last) VALUES ({space}, '{self.session}', {self.number}) "
            "ON CONFLICT (space, session) DO UPDATE SET last = excluded.last, at = excluded.at"
        )
        sweep = [SWEEP.format(space=space)] if self.number % SWEPT_EVERY == 1 else []
        return "; ".join([note, *sweep, "COMMIT"])


def quote_text(value: str) -> str:
    """A text as a literal in SQL."""
    from psycopg.sql import Literal

    return Literal(value).as_string(None) if value else "''"


def next_commit(connection: Connection, space: str) -> Commit:
    """The id of the transaction this connection is about to commit; its session goes on once that is committed."""
    last: Commit | None = connection.info.pop(KEY, None)
    return Commit(token_hex(16), 1, space) if last is None else Commit(last.session, last.number + 1, space)


def is_lost(error: DBAPIError) -> bool:
    """Whether an error at a COMMIT leaves its outcome unknown: the connection broke before the answer came, or that of
    Citus to another machine. Any other error is the answer, and means that nothing was committed."""
    return error.connection_invalidated or citus.NOT_ANSWERED in str(error.orig)


def was_kept(connection: Connection, commit: Commit) -> bool:
    """Whether the server has committed a transaction. If not, it never will. Waits for a commit that is under way."""
    try:
        params = {"space": commit.space, "session": commit.session, "number": commit.number}
        connection.execute(FENCE, params)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == DECIDED:
            return True
        raise
    return False


# -- what removed rows leave in the files
#
# VACUUM frees the place of a removed row and leaves its bytes there until something else is written over them: in the
# table, in the TOAST table beside it, in every index, and in the planner's statistics of common values. Only a
# rewritten file holds nothing of it, and during the rewrite nobody else can use the table. So small tables are
# rewritten at once; larger ones are reported, with the command that rewrites them. A table that nothing was written
# to since its files were made holds nothing, and is left alone. We cannot clear the server's log of changes (WAL),
# its replicas and its backups.

REWRITTEN_AT_ONCE = 64 << 20  # bytes, of all tables together: rewritten in about a second
LONGEST_LOCK = 2.0  # seconds: others that want a table after us wait as long as we wait for it
LONGEST_LOOK = 5.0  # seconds to wait for transactions that still see removed rows; then they are reported
PLANNER_NOTES = "pg_catalog.pg_statistic"
IN_USE = {"55P03", "40P01"}  # lock not available, deadlock
COMMAND = "run `everword scrub` on this store in a quiet hour: it locks each table while it is written anew"

# Transaction numbers wrap around: of two numbers the older has the greater age.
MARK = text("SELECT (txid_current() % 4294967296)::text")
OLDER = text(
    """
    SELECT count(*) FROM (
        SELECT unnest(ARRAY[backend_xid, backend_xmin]) AS since FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND (datname IS NULL OR datname = current_database())
            AND NOT (backend_type = 'autovacuum worker' AND coalesce(query, '') LIKE 'autovacuum: VACUUM %'
                AND query NOT LIKE '%ANALYZE%')
        UNION ALL SELECT unnest(ARRAY[xmin, catalog_xmin]) FROM pg_replication_slots
        UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
    ) AS open WHERE since IS NOT NULL AND age(since) >= age(CAST(:mark AS xid))
    """
)
# The bytes of tables that something was written to. A row puts a second page into the index of the primary key, and a
# page once there stays until the index is rewritten, whatever becomes of the row.
SIZES = text(
    """
    SELECT name, pg_total_relation_size(c.oid) FROM unnest(CAST(:tables AS text[])) AS name
        JOIN pg_class AS c ON c.oid = to_regclass(name) LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
    WHERE pg_relation_size(c.oid) > 0 OR coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) > 0
        OR i.indexrelid IS NULL OR pg_relation_size(i.indexrelid) > current_setting('block_size')::bigint
    """
)
FILE = text("SELECT pg_relation_filenode(to_regclass(:table))")


@dataclass(frozen=True, slots=True)
class RewriteLimits:
    """Limits: bytes to rewrite at once, and seconds to wait for a lock and for transactions of others."""

    max_bytes: float
    lock_seconds: float
    wait_seconds: float


def rewrite_limits(full: bool, busy_seconds: float) -> RewriteLimits:
    if full:
        return RewriteLimits(float("inf"), busy_seconds, busy_seconds)
    return RewriteLimits(REWRITTEN_AT_ONCE, min(LONGEST_LOCK, busy_seconds), min(LONGEST_LOOK, busy_seconds))


def clear_traces(
    connection: Connection, tables: Iterable[str], limits: RewriteLimits, spread: bool = False
) -> tuple[str, ...]:
    """Rewrite tables, on all machines if they are spread, and report what is left. Needs a connection of its own,
    outside a transaction."""
    connection.exec_driver_sql(f"SET lock_timeout = {max(int(limits.lock_seconds * 1000), 1)}")
    mark, older = (citus.MARK, citus.OLDER) if spread else (MARK, OLDER)
    if not wait_for_older(connection, limits.wait_seconds, mark, older):
        return (
            "a transaction that began before can still see what was removed, so the tables' files hold it: when that "
            f"transaction has ended, {COMMAND}",
        )
    rows = connection.execute(citus.SIZES if spread else SIZES, {"tables": list(tables)})
    sizes = {row[0]: int(row[1]) for row in rows}
    small = smallest_tables(sizes, limits.max_bytes)
    large = sorted(set(sizes) - set(small))
    in_use: list[str] = []
    not_ours: list[str] = []
    for table in (*large, *small, PLANNER_NOTES):
        try:
            if table in large:
                connection.exec_driver_sql(f"VACUUM (ANALYZE) {table}")
            elif not rewrite_table(connection, table):
                not_ours.append(table)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in IN_USE:
                raise
            in_use += [] if table in large else [table]
    if spread:
        connection.exec_driver_sql(citus.REWRITE_NOTES)
    return tuple(describe_leftovers(large, in_use, not_ours))


def wait_for_older(connection: Connection, seconds: float, mark_query: Any, older_query: Any) -> bool:
    """Whether all transactions that may see the removed rows have ended within this time."""
    mark = connection.execute(mark_query).scalar_one()
    pauses = RetryPauses(seconds)
    while connection.execute(older_query, {"mark": mark}).scalar_one():
        if not pauses.wait():
            return False
    return True


def smallest_tables(sizes: dict[str, int], max_bytes: float) -> list[str]:
    """The smallest tables: as many as together have at most `max_bytes`."""
    tables: list[str] = []
    total = 0
    for table in sorted(sizes, key=lambda table: (sizes[table], table)):
        total += sizes[table]
        if total > max_bytes:
            break
        tables.append(table)
    return tables


def rewrite_table(connection: Connection, table: str) -> bool:
    """Rewrite a table. Whether it has new files now: the server skips a table of another owner with a warning."""
    before = connection.execute(FILE, {"table": table}).scalar_one()
    notes = "" if table == PLANNER_NOTES else ", ANALYZE"
    connection.exec_driver_sql(f"VACUUM (FULL{notes}) {table}")
    return bool(connection.execute(FILE, {"table": table}).scalar_one() != before)


def describe_leftovers(large: Sequence[str], in_use: Sequence[str], not_ours: Sequence[str]) -> list[str]:
    lines = []
    if large:
        lines.append(f"the files of {', '.join(large)} are too large to be written anew at once: {COMMAND}")
    if in_use:
        lines.append(f"the files of {', '.join(in_use)} were in use and could not be written anew: {COMMAND}")
    if not_ours:
        lines.append(
            f"the files of {', '.join(not_ours)} belong to another user of the database: as their owner run "
            f"`{'; '.join(f'VACUUM FULL {table}' for table in not_ours)}`"
        )
    return lines

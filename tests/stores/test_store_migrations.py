"""Migrations make the schema the code speaks of, once, whoever else is at it; and no other version is touched."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from hashlib import sha256
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
import pytest
import sample_sizes
from fresh_processes import FRESH
from postgres_databases import PostgresServer
from raw_tables import path_of, rows_of
from sqlalchemy import Connection, Engine, create_engine, inspect, text

from everword import Memory
from everword.config import Settings
from everword.errors import SchemaMismatch, StoreBusy
from everword.log.append_and_read import cursor_of
from everword.model import Filter
from everword.ports import Store, Tx
from everword.stores import migrations
from everword.stores.connections import rolling_back
from everword.stores.postgres import (
    HNSW,
    SCHEMA,
    PassageNumbers,
    PostgresStore,
    PostgresTx,
    create_pooled_engine,
    parse_url,
)
from everword.stores.sql import SqlTx
from everword.stores.sqlite import SqliteStore, SqliteTx, memory_engine
from everword.stores.tables import metadata
from everword.testing.samples import (
    T0,
    WIDTH,
    append_and_index,
    append_messages,
    find_matches,
    make_entry,
    make_message,
    run_at_once,
)
from everword.wiring import open_store

PATIENCE = 120.0
# The steps in the order in which they were released, by their fingerprints.
RELEASED = [
    "3ffb8dd05d3ac9fb",
    "fde2e829d8bde88e",
    "76c7bbe4076a4788",
    "79322e40acabe4a7",
    "ca6b0ff39e723dd8",
    "6adfe1c2888677df",
    "461ecc57252e7f17",
    "4611af63d174a08c",
    "e1d17d5662775ce2",
    "67f28206ecc0b723",
    "5826550f078f6d57",
    "660b91758148bc56",
    "72fbbf8e7de4f8a2",
    "6fbe85c386707481",
    "079c7eb2323a931c",
    "b0ab0d221aa6f9da",
    "27d4ffac4591b5c5",
    "ba79469aa4acb171",
    "9ee1d634e3cc4080",
    "29144b73cf23686f",
    "bdd84b9734038542",
    "afa5f14a0e9a87ce",
    "b6f61bb38243c789",
    "a8d43b59d636c9d4",
    "d322d394939d0962",
    "96216290c3873911",
    "075530a5149af6c1",
    "b48a84dfaf2caf89",
    "709ffd868247e68d",
    "43750f8f284809dd",
    "b4c4126ce59feff9",
    "de164a58e17c2d3a",
    "6f6d77e058dcf7ed",
    "69f3e1b0163a2084",
]
# What makes a search fast or a second message impossible: by table, columns and whether unique.
INDEXES = {
    ("conversations", ("space", "user_id", "id"), False),
    ("conversations", ("space", "last_message_at", "id"), False),
    ("conversations", ("space", "user_id", "last_message_at", "id"), False),
    ("conversations", ("changed_at",), False),
    ("messages", ("space", "id"), True),
    ("messages", ("space", "conversation", "platform_id"), True),
    ("messages", ("space", "user_id", "conversation", "turn"), False),
    ("messages", ("space", "author", "conversation", "turn"), False),
    ("entries", ("space", "user_id", "doc"), False),
    ("entries", ("space", "conversation", "doc"), False),
    ("entries", ("space", "conversation", "turn", "part"), True),
}


@pytest.fixture
def empty_url(postgres: PostgresServer) -> Iterator[str]:
    """The address of a PostgreSQL database nobody has migrated."""
    with postgres.database(migrated=False) as url:
        yield url


def shape(connection: Connection, schema: str | None) -> dict[str, Any]:
    """Tables as the database has them: columns with nullability, and primary keys."""
    found = inspect(connection)
    return {
        table: (
            {column["name"]: column["nullable"] for column in found.get_columns(table, schema)},
            found.get_pk_constraint(table, schema)["constrained_columns"],
        )
        for table in metadata.tables
    }


def declared() -> dict[str, Any]:
    return {
        name: ({column.name: bool(column.nullable) for column in table.c}, [key.name for key in table.primary_key])
        for name, table in metadata.tables.items()
    }


def indexes(connection: Connection, schema: str | None) -> set[tuple[str, tuple[str | None, ...], bool]]:
    found = inspect(connection)
    return {
        (table, tuple(index["column_names"]), bool(index["unique"]))
        for table in metadata.tables
        for index in found.get_indexes(table, schema)
    }


# -- the schema


def test_a_migrated_sqlite_database_is_the_schema(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store, store.engine.connect() as connection:
        assert shape(connection, None) == declared()
        assert indexes(connection, None) >= INDEXES
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2


@pytest.mark.filterwarnings("ignore:Did not recognize type 'halfvec'")
def test_a_migrated_postgres_database_is_the_schema(postgres_url: str) -> None:
    """B11: with a column and an index for full text, which are PostgreSQL's own."""
    with closing(PostgresStore(postgres_url)) as store, store.engine.connect() as connection:
        found = shape(connection, SCHEMA)
        assert found["entries"][0].pop("tsv")
        assert found == declared()
        assert indexes(connection, SCHEMA) >= INDEXES | {("entries", ("tsv",), False)}


def test_every_key_begins_with_the_space() -> None:
    """So that the schema can be spread over many servers. What is about the store itself has no space."""
    keys = {name: next(iter(table.primary_key)).name for name, table in metadata.tables.items()}
    assert keys.pop("meta") == "key"
    assert set(keys.values()) == {"space"}


# -- versions


def set_version(kind: str, url: str, version: int) -> None:
    if kind == "json":
        path = Path(url.removeprefix("json:"))
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": version}))
        return
    with closing(open_store(url, Settings())) as store:
        store.write(lambda tx: tx.set_note("schema", str(version)))


def test_a_newer_database_is_refused(kind: str, store_url: str) -> None:
    with closing(open_store(store_url, Settings())) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
    set_version(kind, store_url, migrations.CURRENT + 1)
    with pytest.raises(SchemaMismatch, match=r"written by a newer version of everword .* upgrade everword"):
        open_store(store_url, Settings())


@contextmanager
def open_empty(kind: str, url: str) -> Iterator[SqlTx]:
    """A transaction on a database in which there need be nothing yet, not even the schema."""
    engine = memory_file(url) if kind == "sqlite" else create_pooled_engine(parse_url(url), 1.0)
    with closing(engine.connect()) as connection, rolling_back(connection):
        connection.exec_driver_sql("BEGIN")
        if kind == "postgresql":
            connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
        yield SqliteTx(connection) if kind == "sqlite" else PostgresTx(connection, PassageNumbers())
        connection.exec_driver_sql("COMMIT")
    engine.dispose()


def memory_file(path: str) -> Engine:
    return create_engine(f"sqlite:///{path}", isolation_level="AUTOCOMMIT")


@cache
def file_of(step: int) -> bytes:
    """A SQLite database as all steps up to this one make it, one after the other: each is run once."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "memory.db")
        if step > 1:
            path.write_bytes(file_of(step - 1))
        with open_empty("sqlite", str(path)) as tx:
            assert migrations.migrate(tx.connection, "", upto=step) == 1
        return path.read_bytes()


@cache
def tables_of(step: int) -> dict[str, set[str]]:
    """The tables a database of an older version has, and their columns."""
    with closing(sqlite3.connect(":memory:")) as file:
        file.deserialize(file_of(step))
        names = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return {
            table: {name for _, name, *_ in file.execute(f"PRAGMA table_info({table})")}
            for table in names & set(metadata.tables)
        }


@cache
def sample_rows() -> dict[str, list[Mapping[str, Any]]]:
    """The rows of a store with one message, and all that comes with it."""
    engine = memory_engine()
    with closing(engine.connect()) as connection:
        migrations.migrate(connection, "")
        tx = SqliteTx(connection)
        append_and_index(tx, make_message(1))
        rows = {name: tx.rows(name) for name in metadata.tables if name != "meta"}
    engine.dispose()
    return rows


def fill(tx: SqlTx, columns: Mapping[str, set[str]]) -> None:
    """Put those rows into a database that may not have all tables and columns yet."""
    for table, rows in sample_rows().items():
        if table in columns:
            tx.load(table, [{name: row[name] for name in row if name in columns[table]} for row in rows])


def make_older(kind: str, url: str, step: int) -> None:
    """A store as it was made at an earlier step, with what it held."""
    if kind == "json":
        with closing(open_store(url, Settings())) as store:
            store.write(lambda tx: append_and_index(tx, make_message(1)))
        path = Path(url.removeprefix("json:"))
        data = json.loads(path.read_text())
        older = tables_of(step)
        newer = set(metadata.tables) - set(older)
        for table, columns in older.items():
            data[table] = [{name: row[name] for name in row if name in columns} for row in data.get(table, [])]
        data["meta"] = [row | {"value": str(step)} if row["key"] == "schema" else row for row in data["meta"]]
        path.write_text(json.dumps({key: data[key] for key in data if key not in newer} | {"schema": step}))
        return
    if kind == "sqlite":
        Path(url).write_bytes(file_of(step))
    with open_empty(kind, url) as tx:
        migrations.migrate(tx.connection, "", upto=step)
        fill(tx, tables_of(step))


def schema_of(kind: str, url: str) -> set[str]:
    """All there is in a database of columns, keys, indexes and triggers, a line each."""
    if kind == "sqlite":
        with closing(sqlite3.connect(url)) as file:
            tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            lines = {f"{name} {row[1:]}" for name in tables for row in file.execute(f"PRAGMA table_xinfo({name})")}
            rest = file.execute("SELECT name, sql FROM sqlite_master WHERE type <> 'table'").fetchall()
    else:
        with psycopg.connect(url) as server:
            columns = (
                "SELECT table_name, column_name, udt_name, collation_name, is_nullable, column_default, "
                "generation_expression FROM information_schema.columns WHERE table_schema = %s"
            )
            lines = {f"{row}" for row in server.execute(columns, [SCHEMA])}
            rest = server.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %s", [SCHEMA]
            ).fetchall()
            rest += server.execute(
                "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = %s::regnamespace",
                [SCHEMA],
            ).fetchall()
    return lines | {f"{name} {' '.join((words or '').split())}" for name, words in rest}


@pytest.fixture(scope="module")
def empty_addresses(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], str]]:
    """Where there is no store yet. On a server it is always the same database, and what was in it is gone: to make
    another takes the server as long as all steps."""
    folder = tmp_path_factory.mktemp("empty")
    with ExitStack() as stack:

        @cache
        def database() -> str:
            server: PostgresServer = request.getfixturevalue("postgres")
            return stack.enter_context(server.database(migrated=False))

        def address(kind: str) -> str:
            if kind == "postgresql":
                with psycopg.connect(database(), options="-c client_min_messages=error") as connection:
                    connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
                return database()
            return ("json:" if kind == "json" else "") + str(folder / f"{uuid4().hex}.{kind}")

        yield address


@pytest.fixture(scope="module")
def new_schema(empty_addresses: Callable[[str], str]) -> Callable[[str], set[str]]:
    """The schema of a new store of a kind."""

    @cache
    def find_schema(kind: str) -> set[str]:
        url = empty_addresses(kind)
        open_store(url, Settings(), migrate=True).close()
        return schema_of(kind, url)

    return find_schema


def test_an_older_database_is_brought_up_to_date(
    kind: str, empty_addresses: Callable[[str], str], new_schema: Callable[[str], set[str]]
) -> None:
    """F18: from every step there ever was, with all it holds, to the very schema of a new one; a server's only when
    asked."""
    expected = set[str]() if kind == "json" else new_schema(kind)
    every = 1 if kind == "sqlite" or sample_sizes.is_whole else sample_sizes.PART
    for step in range(1, migrations.CURRENT, every):  # the first goes through all others
        url = empty_addresses(kind)
        make_older(kind, url, step)
        if kind == "postgresql":
            with pytest.raises(SchemaMismatch, match="everword migrate"):
                open_store(url, Settings())
        with closing(open_store(url, Settings(), migrate=True)) as store:
            check_use(store)
        if kind != "json":
            assert schema_of(kind, url) == expected


def check_use(store: Store) -> None:
    """The one message is there and found, and another can be kept."""
    assert store.read(lambda tx: tx.note("schema")) == str(migrations.CURRENT)
    assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]
    assert len(store.read(lambda tx: find_matches(tx, [["hello"]]))[0]) == 1
    assert store.read(lambda tx: [tx.rows(name, None, 10) for name in metadata.tables])
    store.write(lambda tx: append_and_index(tx, make_message(2)))
    assert len(store.read(lambda tx: find_matches(tx, [["hello"]]))[0]) == 2


def full_schema_of(file: sqlite3.Connection) -> set[str]:
    """What `schema_of` finds in SQLite, and the kinds of tables, their foreign keys and the text of the virtual one."""
    tables = [row[1:] for row in file.execute("PRAGMA table_list") if not row[1].startswith("sqlite_")]
    lines = {f"{row}" for row in tables}
    for pragma in ("table_xinfo", "foreign_key_list", "index_list"):
        lines |= {f"{pragma} {name} {row}" for name, *_ in tables for row in file.execute(f"PRAGMA {pragma}({name})")}
    texts = file.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'table' OR sql LIKE '%USING%'"
    )
    return lines | {f"{kind} {name} {of} {' '.join((words or '').split())}" for kind, name, of, words in texts}


def test_a_new_database_is_what_all_steps_make(tmp_path: Path) -> None:
    """F18: table by table and index by index, although it is made at once."""
    at_once, by_steps = tmp_path / "at_once.db", tmp_path / "by_steps.db"
    with open_empty("sqlite", str(at_once)) as tx:
        migrations.migrate(tx.connection, "")
    by_steps.write_bytes(file_of(migrations.CURRENT))
    with closing(sqlite3.connect(at_once)) as made, closing(sqlite3.connect(by_steps)) as stepped:
        assert full_schema_of(made) == full_schema_of(stepped)
        for query in ("SELECT key, value FROM meta", "SELECT name FROM sqlite_master ORDER BY name"):
            assert made.execute(query).fetchall() == stepped.execute(query).fetchall()


# -- steps that were released


def fingerprints() -> list[str]:
    """The words of each step, as each database is told them, as a number."""
    return [
        sha256(
            json.dumps({kind: migrations.step_statements(step, kind) for kind in sorted(step)}).encode()
        ).hexdigest()[:16]
        for step in migrations.STEPS
    ]


def test_a_step_that_was_released_never_changes() -> None:
    """F18: databases have taken it as it was. A new step is added at the end, and its fingerprint here."""
    assert [number for number in fingerprints() if number in RELEASED] == RELEASED, fingerprints()


def migrate_as_a_newer_version_would(url: str) -> None:
    """Add a table that this version does not know, and note the new schema."""
    newer = str(migrations.CURRENT + 1)
    if url.startswith("json:"):
        path = path_of(url)
        words = path.read_text(encoding="utf-8")
        path.write_text(words.replace(f'"schema": {migrations.CURRENT}', f'"schema": {newer}', 1), encoding="utf-8")
        return
    statements = [
        "CREATE TABLE {place}copies AS SELECT content FROM {place}messages",
        f"UPDATE {{place}}meta SET value = '{newer}' WHERE key = 'schema'",
    ]
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as server:
            for statement in statements:
                server.execute(statement.format(place="everword.").encode())
    else:
        with closing(sqlite3.connect(url)) as file, file:
            for statement in statements:
                file.execute(statement.format(place=""))


@pytest.mark.every_store
def test_a_program_that_is_older_than_the_schema_writes_no_more(store_url: str) -> None:
    """G8: its `erase` would leave what it does not know of. It says what to do, and nothing is half done."""
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("c", user="alex")
        chat.add("user", "my secret")
        before = rows_of(store_url, "messages")
        migrate_as_a_newer_version_would(store_url)
        for write in (
            lambda: memory.erase(user="alex"),
            lambda: chat.add("user", "more"),
            lambda: chat.delete(1),
            lambda: memory.remember("Alex skis", user="alex"),
            lambda: memory.add_fact("possession", "bike", "red", user="alex"),
        ):
            with pytest.raises(SchemaMismatch, match="Restart this program with the newer version"):
                write()
        if not store_url.startswith(("json:", "postgresql:")):  # where a read is not worth the price
            with pytest.raises(SchemaMismatch, match="nothing was done"):
                chat.history()
        assert rows_of(store_url, "messages") == before


def test_a_migration_waits_for_who_is_writing(empty_addresses: Callable[[str], str]) -> None:
    """Else a transaction that began before would end after, and know nothing of the new tables."""
    url = empty_addresses("postgresql")
    with closing(PostgresStore(url, migrate=True)) as store:

        def write(tx: Tx) -> None:
            with pytest.raises(StoreBusy):
                PostgresStore(url, migrate=True, busy_seconds=0.2)
            tx.set_note("written", "yes")

        store.write(write)
        assert store.read(lambda tx: tx.note("written")) == "yes"
        PostgresStore(url, migrate=True, busy_seconds=0.2).close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_answers_of_before_are_stored_apart_from_their_requests(
    kind: str, empty_addresses: Callable[[str], str]
) -> None:
    """G8: so that an erasure removes the answers alone."""
    place = next(number for number, step in enumerate(migrations.STEPS) if "CREATE TABLE answer_bodies" in step[kind])
    url = empty_addresses(kind)
    rows = [("done", 200, b"words"), ("unknown", 504, b"a problem"), ("claimed", None, b"")]
    with open_empty(kind, url) as tx:
        migrations.migrate(tx.connection, "before", upto=place)
        for id, status, body in rows:
            row = {"space": "s", "id": id, "request": b"r", "at": T0, "status": status, "body": body}
            tx.put("answers", [row])
        migrations.migrate(tx.connection, "after")
        kept = {row["id"]: (row["status"], row["body"]) for row in tx.rows("answers")}
        assert kept == {"done": (200, None), "unknown": (504, b"a problem"), "claimed": (None, None)}
        assert [(row["id"], row["body"]) for row in tx.rows("answer_bodies")] == [("done", b"words")]


# What the first steps said once, when databases were made by them: up to which step, and what stands now and then.
TALLIED = "docs INTEGER NOT NULL, words BIGINT NOT NULL,"
BY_USER = "episodes_user ON episodes (space, user_id)"
ACTIVE = "episodes_active ON episodes (space, user_id) WHERE parent IS NULL"
SOURCE = "audience {key}, source {key} NOT NULL,\n    active"
SOURCES = "audience {key}, sources TEXT NOT NULL,\n    active"
EDITED: dict[str, tuple[int, dict[str, str]]] = {
    "tallies of what was dropped": (2, {TALLIED: TALLIED + " dropped INTEGER NOT NULL,"}),
    "episodes by user": (3, {ACTIVE: BY_USER}),
    "a single source": (4, {ACTIVE: BY_USER, SOURCES: SOURCE}),
    "no findings": (4, {}),
}


def older_statements(step: Mapping[str, str], kind: str, edits: Mapping[str, str], findings: bool) -> list[str]:
    """A step in its older words."""
    words = step[kind]
    for now, then in edits.items():
        words = words.replace(now, then)
    return [one for one in migrations.step_statements({kind: words}, kind) if findings or "findings" not in one]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("edited", list(EDITED))
def test_a_database_made_by_an_older_text_of_a_step_is_mended(
    kind: str, edited: str, empty_addresses: Callable[[str], str], new_schema: Callable[[str], set[str]]
) -> None:
    """F18: it ends with the schema of all others, and can be used."""
    upto, edits = EDITED[edited]
    expected = new_schema(kind)
    url = empty_addresses(kind)
    with open_empty(kind, url) as tx:
        for step in migrations.STEPS[:upto]:
            for statement in older_statements(
                step, kind, edits, findings=edited not in ("a single source", "no findings")
            ):
                tx.connection.exec_driver_sql(statement)
        tx.set_note("schema", str(upto))
        columns = {table: names for table, names in tables_of(upto).items() if table != "tallies"}
        fill(tx, columns)
        dropped = ", dropped" if "dropped" in edited else ""
        tx.connection.exec_driver_sql(
            f"INSERT INTO tallies (space, user_id, language, docs, words{dropped}) "
            f"VALUES ('s', 'alex', 'en', 1, 1{', 0' if dropped else ''})"
        )
        if upto == 4:
            tx.connection.exec_driver_sql("INSERT INTO cursors VALUES ('s', 'facts', 'c', 1)")
            source = ("source", "'m''1\"'") if edited == "a single source" else ("sources", "'[\"m''1\\\"\"]'")
            tx.connection.exec_driver_sql(
                f"INSERT INTO statements (space, user_id, id, kind, text, said_at, speaker, {source[0]}, active) "
                f"VALUES ('s', 'alex', 'x', 'remember', 'likes tea', 0, 'alex', {source[1]}, 1)"
            )
    with closing(open_store(url, Settings(), migrate=True)) as store:
        check_use(store)
        if upto == 4:
            assert store.read(lambda tx: tx.rows("statements")[0]["sources"]) == ("m'1\"",)
            assert store.read(lambda tx: cursor_of(tx, "facts", "s", "c")) == 0
    assert schema_of(kind, url) == expected


def test_a_json_file_made_by_an_older_text_of_a_step_is_mended(empty_addresses: Callable[[str], str]) -> None:
    url = empty_addresses("json")
    make_older("json", url, 4)
    path = Path(url.removeprefix("json:"))
    data = json.loads(path.read_text())
    del data["findings"]
    data["tallies"] = [row | {"dropped": 0} for row in data["tallies"]]
    about = {"kind": "remember", "text": "likes tea", "said_at": T0.isoformat(), "speaker": "alex", "active": 1}
    about |= {"audience": None, "retired_at": None, "retired_by": None}
    data["statements"] = [{"space": "s", "user_id": "alex", "id": "x", "source": "m1", **about}]
    data["cursors"] = [{"space": "s", "view": "facts", "conversation": "c", "turn": 1}]
    path.write_text(json.dumps(data))
    with closing(open_store(url, Settings())) as store:
        check_use(store)
        assert store.read(lambda tx: tx.rows("statements")[0]["sources"]) == ("m1",)
        assert store.read(lambda tx: cursor_of(tx, "facts", "s", "c")) == 0


def test_a_newer_postgres_database_is_not_migrated_either(postgres_url: str) -> None:
    set_version("postgresql", postgres_url, migrations.CURRENT + 1)
    with pytest.raises(SchemaMismatch, match="upgrade everword"):
        PostgresStore(postgres_url, migrate=True)


def test_an_unmigrated_postgres_database_is_refused_with_the_command(empty_url: str) -> None:
    with pytest.raises(SchemaMismatch, match="everword migrate"):
        open_store(empty_url, Settings())
    with psycopg.connect(empty_url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchone()
    assert found == (0,)  # opening has changed nothing


def test_migrating_again_changes_nothing(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
    with closing(PostgresStore(postgres_url, migrate=True)) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]


def test_a_postgres_schema_under_the_name_of_before_is_renamed_with_all_it_holds(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
    with psycopg.connect(postgres_url) as connection:
        connection.execute(f"ALTER SCHEMA {SCHEMA} RENAME TO recollect")
    with pytest.raises(SchemaMismatch, match="everword migrate"):
        open_store(postgres_url, Settings())
    with closing(PostgresStore(postgres_url, migrate=True)) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]
    with psycopg.connect(postgres_url) as connection:
        names = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
    assert (SCHEMA,) in names
    assert ("recollect",) not in names


def test_a_json_file_with_the_heading_of_before_opens(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    with closing(open_store(f"json:{path}", Settings())) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
    path.write_text(path.read_text().replace('"everword memory"', '"recollect memory"', 1))
    with closing(open_store(f"json:{path}", Settings())) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]
        store.write(lambda tx: append_messages(tx, make_message(2)))
    assert '"everword memory"' in path.read_text()


# -- at once


def open_new(path: Path, start: Barrier) -> None:
    start.wait(PATIENCE)
    with closing(SqliteStore(path)) as store:
        store.read(lambda tx: tx.conversations())


def test_threads_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    stores = run_at_once(8, lambda number: SqliteStore(tmp_path / "memory.db"))
    for store in stores:
        assert store.read(lambda tx: tx.note("schema")) == str(migrations.CURRENT)
        store.close()


def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    start = FRESH.Barrier(3)
    processes = [FRESH.Process(target=open_new, args=(tmp_path / "memory.db", start)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE)
    assert [process.exitcode for process in processes] == [0, 0, 0]


def test_several_who_migrate_one_server_at_once_all_succeed(empty_url: str) -> None:
    stores = run_at_once(4, lambda number: PostgresStore(empty_url, migrate=True, hnsw=WIDTH))
    for store in stores:
        assert store.read(lambda tx: tx.note("schema")) == str(migrations.CURRENT)
        store.close()


# -- the approximate index


def index_names(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT indexname FROM pg_indexes WHERE schemaname = %s", [SCHEMA]).fetchall()
    return {row[0] for row in rows}


def crowd(tx: Tx) -> None:
    chance = np.random.default_rng(3)
    vectors = chance.standard_normal((sample_sizes.sample(2_000), WIDTH))
    tx.index.put_entries(
        [
            make_entry(make_message(turn, user=("alex", "kim")[turn % 2]), vector=vectors[turn - 1].tolist())
            for turn in range(1, len(vectors) + 1)
        ]
    )


def as_large(tx: Tx) -> None:
    """Let the scopes count as large ones: where that is so, the approximate index is used."""
    row = {"space": "s", "language": "xx", "docs": 10**6, "words": 0}
    tx.load("tallies", [{**row, "user_id": user} for user in ("alex", "kim")])


def test_the_approximate_index_finds_what_the_exact_search_finds(postgres_url: str) -> None:
    """B11: in a scope so large that it is used, nearly all; in any other, all."""
    with closing(PostgresStore(postgres_url, migrate=True, hnsw=WIDTH)) as store:
        assert f"{HNSW}_{WIDTH}" in index_names(postgres_url)
        store.write(crowd)
        vectors = np.random.default_rng(5).standard_normal((10, WIDTH)).astype(np.float32)
        scopes = (Filter("s"), Filter("s", user="alex"), Filter("s", user="kim", after=T0))
        search: Callable[[], list[list[tuple[int, float]]]] = lambda: [  # noqa: E731
            store.read(lambda tx: tx.index.nearest(where, vector, 20))  # noqa: B023
            for where in scopes
            for vector in vectors
        ]
        exact = search()
        store.write(as_large)
        approximate = search()
    for right, found in zip(exact, approximate, strict=True):
        assert len(found) == 20
        assert found == sorted(found, key=lambda one: -one[1])
        assert len({doc for doc, _ in right} & {doc for doc, _ in found}) >= 18
        cosines = dict(right)
        assert all(cosine == pytest.approx(cosines[doc], abs=1e-3) for doc, cosine in found if doc in cosines)

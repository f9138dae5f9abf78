"""Migrations make the schema the code speaks of, once, whoever else is at it; and no other version is touched."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import Connection, inspect, text

from recollect.config import Settings
from recollect.errors import SchemaMismatch
from recollect.model import Filter
from recollect.ports import Tx
from recollect.stores import migrations
from recollect.stores.postgres import HNSW, SCHEMA, PostgresStore
from recollect.stores.schema import metadata
from recollect.stores.sql import SqlStore
from recollect.stores.sqlite import SqliteStore, memory_engine
from recollect.testing.postgres import PostgresServer
from recollect.testing.samples import T0, WIDTH, entry, keep, matches, message, put
from recollect.testing.transaction_contract import at_once
from recollect.wiring import open_store

FRESH = multiprocessing.get_context("forkserver")  # forked from a process that has no store open
PATIENCE = 60.0
# What makes a search fast or a second message impossible: by table, columns and whether unique.
INDEXES = {
    ("conversations", ("space", "user_id"), False),
    ("conversations", ("changed_at",), False),
    ("messages", ("space", "id"), True),
    ("messages", ("space", "conversation", "platform_id"), True),
    ("messages", ("space", "user_id"), False),
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
        store.write(lambda tx: keep(tx, message(1)))
    set_version(kind, store_url, migrations.CURRENT + 1)
    with pytest.raises(SchemaMismatch, match=r"made by a newer recollect .* upgrade recollect"):
        open_store(store_url, Settings())


def tables_of(step: int) -> dict[str, set[str]]:
    """The tables a database of an older version has, and their columns."""
    engine = memory_engine()
    with closing(engine.connect()) as connection:
        migrations.migrate(connection, "", upto=step)
        found = inspect(connection)
        tables = {
            table: {column["name"] for column in found.get_columns(table)}
            for table in set(found.get_table_names()) & set(metadata.tables)
        }
    engine.dispose()
    return tables


def make_older(kind: str, url: str, step: int) -> None:
    """Take a store back to an earlier step, with what it holds."""
    if kind == "json":
        path = Path(url.removeprefix("json:"))
        data = json.loads(path.read_text())
        older = tables_of(step)
        newer = set(metadata.tables) - set(older)
        for table, columns in older.items():
            data[table] = [{name: row[name] for name in row if name in columns} for row in data.get(table, [])]
        data["meta"] = [row | {"value": str(step)} if row["key"] == "schema" else row for row in data["meta"]]
        path.write_text(json.dumps({key: data[key] for key in data if key not in newer} | {"schema": step}))
        return
    with closing(open_store(url, Settings())) as store:
        assert isinstance(store, SqlStore)
        with store.engine.connect() as connection:
            older = tables_of(step)
            for table in sorted(set(metadata.tables) - set(older)):
                connection.execute(text(f"DROP TABLE {table}"))
            for table, columns in sorted(older.items()):
                for name in sorted({column.name for column in metadata.tables[table].c} - columns):
                    connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {name}"))
        store.write(lambda tx: tx.set_note("schema", str(step)))


def test_an_older_database_is_brought_up_to_date(kind: str, addresses: Callable[[str, str], str]) -> None:
    """From every step there ever was, with all it holds; a server's only when asked."""
    for step in range(1, migrations.CURRENT):
        url = addresses(kind, f"step {step}")
        with closing(open_store(url, Settings())) as store:
            store.write(lambda tx: put(tx, message(1)))
        make_older(kind, url, step)
        if kind == "postgresql":
            with pytest.raises(SchemaMismatch, match="recollect migrate"):
                open_store(url, Settings())
        with closing(open_store(url, Settings(), migrate=True)) as store:
            assert store.read(lambda tx: tx.note("schema")) == str(migrations.CURRENT)
            assert store.read(lambda tx: tx.messages(Filter("s"))) == [message(1)]
            assert len(store.read(lambda tx: matches(tx, [["hello"]]))[0]) == 1
            assert store.read(lambda tx: [tx.rows(name, None, 10) for name in metadata.tables])


def test_a_newer_postgres_database_is_not_migrated_either(postgres_url: str) -> None:
    set_version("postgresql", postgres_url, migrations.CURRENT + 1)
    with pytest.raises(SchemaMismatch, match="upgrade recollect"):
        PostgresStore(postgres_url, migrate=True)


def test_an_unmigrated_postgres_database_is_refused_with_the_command(empty_url: str) -> None:
    with pytest.raises(SchemaMismatch, match="recollect migrate"):
        open_store(empty_url, Settings())
    with psycopg.connect(empty_url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchone()
    assert found == (0,)  # opening has changed nothing


def test_migrating_again_changes_nothing(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        store.write(lambda tx: keep(tx, message(1)))
    with closing(PostgresStore(postgres_url, migrate=True)) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [message(1)]


# -- at once


def open_new(path: Path, start: Barrier) -> None:
    start.wait(PATIENCE)
    with closing(SqliteStore(path)) as store:
        store.read(lambda tx: tx.conversations())


def test_threads_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    stores = at_once(8, lambda number: SqliteStore(tmp_path / "memory.db"))
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
    stores = at_once(4, lambda number: PostgresStore(empty_url, migrate=True, hnsw=WIDTH))
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
    vectors = chance.standard_normal((2_000, WIDTH))
    tx.put_entries(
        [
            entry(message(turn, user=("alex", "kim")[turn % 2]), vector=vectors[turn - 1].tolist())
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
            store.read(lambda tx: tx.nearest(where, vector, 20))  # noqa: B023
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

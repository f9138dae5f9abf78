"""Databases for tests: whoever gets one cannot tell whether another test had it before."""

from __future__ import annotations

import psycopg
import pytest
from postgres_databases import PostgresServer

from everword import Memory

CHANGES = (
    "ALTER TABLE everword.meta ADD COLUMN extra int",
    "CREATE INDEX ON everword.meta (value)",
    "DROP TABLE everword.receipts",
    "CREATE TABLE everword.other (n int)",
    "CREATE SCHEMA another",
    "ANALYZE everword.meta",
    "CREATE FUNCTION everword.one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
)


def database_name(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


def test_nothing_is_left_of_what_another_test_has_kept(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        first = database_name(url)
        with Memory(url) as memory:
            memory.remember("ann lives in Oslo", user="ann")
            memory.conversation("c").add("user", "hello")
            memory.settle()
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE everword.meta SET value = '99' WHERE key = 'schema'")
    with postgres.database() as url, Memory(url) as memory:
        assert database_name(url) == first
        assert list(memory.conversations()) == []
        assert memory.facts(user="ann") == []
        assert memory.conversation("c").add("user", "hello").turn == 1


@pytest.mark.parametrize("change", CHANGES)
def test_a_database_with_other_tables_is_not_given_to_another_test(postgres: PostgresServer, change: str) -> None:
    with postgres.database() as url:
        changed = database_name(url)
        with psycopg.connect(url) as connection:
            connection.execute(change.encode())
    with postgres.database() as url:
        assert database_name(url) != changed


def test_who_was_left_connected_is_cut_off(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        connection = psycopg.connect(url)
    with postgres.database(), pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()

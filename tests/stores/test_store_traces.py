"""F18: what is erased on PostgreSQL is gone from the files of its tables, or `scrub` says what is left and what to do.

The files themselves are read, as the server has written them: tables, what lies beside them for long texts, indexes,
and what the planner has noted of the values.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from everword import Memory
from everword.stores.postgres import PostgresStore

WORD = "quixotelark"
BESIDE = "pumpernickel"  # what somebody else said, and is to stay


def files_with(url: str, word: str) -> set[str]:
    """The files of a database that hold a word, by the name of the table or index they are of."""
    found = set[str]()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        names: dict[str, str] = dict(
            connection.execute("SELECT pg_relation_filenode(oid)::text, relname FROM pg_class").fetchall()
        )
        (folder,) = connection.execute(
            "SELECT 'base/' || oid FROM pg_database WHERE datname = current_database()"
        ).fetchone() or ("",)
        for (file,) in connection.execute("SELECT pg_ls_dir(%s)", [folder]).fetchall():
            row = connection.execute("SELECT pg_read_binary_file(%s, true)", [f"{folder}/{file}"]).fetchone()
            if row is not None and row[0] is not None and word.encode() in row[0]:
                found.add(str(names.get(file.split("_")[0].split(".")[0], file)))
    return found


def long_text(word: str) -> str:
    """So long that it is kept beside its table, and cannot be made shorter."""
    chance = random.Random(7)
    return word + " " + " ".join(f"{chance.getrandbits(64):x}" for _ in range(700))


@pytest.fixture
def talked(postgres_url: str) -> Iterator[Memory]:
    """A memory in which two people have spoken, with all that is made of it, twice over."""
    with Memory(postgres_url, telemetry="off") as memory:
        for user, word in (("alex", WORD), ("kim", BESIDE)):
            chat = memory.conversation(f"of {user}", user=user)
            for _ in range(6):
                chat.add("user", f"I live in {word.capitalize()} and I love {word} soup. My {word} has a garden.")
                chat.add("assistant", f"A {word} garden, {word}, how nice.")
            chat.add("user", long_text(word))
            memory.documents().put(("notes", user), "a", {"text": f"the {word} file"}, user=user)
            memory.remember(f"{user} owns a {word}", user=user)
        memory.settle()
        for view in ("facts", "topics", "index"):
            memory.rebuild(view)
        memory.settle()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        yield memory


def test_the_files_hold_nothing_of_what_was_erased(talked: Memory, postgres_url: str) -> None:
    before = files_with(postgres_url, WORD)
    assert {"messages", "entries", "facts", "entries_terms", "pg_statistic"} <= before
    assert any(name.startswith("pg_toast") for name in before)
    if talked.erase(user="alex").left:  # somebody else held a table for long, and it was named: then as advised
        with closing(PostgresStore(postgres_url)) as store:
            assert store.scrub(full=True) == ()
    assert files_with(postgres_url, WORD) == set()
    assert files_with(postgres_url, BESIDE)
    assert talked.verify().ok
    assert [hit.message.user for hit in talked.search(BESIDE, user="kim")]


def add_message(url: str) -> None:
    with Memory(url, followers=False, telemetry="off") as memory:
        memory.conversation("c", user="alex").add("user", WORD)


def test_only_what_was_written_to_is_rewritten(postgres_url: str) -> None:
    """A row that is gone, and whose page VACUUM has given back, leaves its bytes in an index."""
    names = ("messages", "usage", "facts")
    with psycopg.connect(postgres_url, autocommit=True) as connection, closing(PostgresStore(postgres_url)) as store:
        assert store.scrub() == ()
        connection.execute("INSERT INTO everword.usage VALUES ('s', 'd', %s, 't', 'm', 'o', 0, 0, 0, 0)", [WORD])
        connection.execute("DELETE FROM everword.usage")
        connection.execute("VACUUM everword.usage")
        assert connection.execute("SELECT pg_relation_size('everword.usage')").fetchall() == [(0,)]
        assert files_with(postgres_url, WORD) == {"usage_pkey"}
        add_message(postgres_url)
        before = [file_of(connection, name) for name in names]
        assert store.scrub() == ()
        is_new = [file_of(connection, name) != file for name, file in zip(names, before, strict=True)]
    assert is_new == [True, True, False]
    assert "usage_pkey" not in files_with(postgres_url, WORD)


def file_of(connection: psycopg.Connection[Any], table: str) -> int:
    rows = connection.execute("SELECT pg_relation_filenode(to_regclass(%s))", [f"everword.{table}"]).fetchall()
    return int(rows[0][0])


def test_what_an_open_snapshot_holds_is_named(postgres_url: str) -> None:
    """A transaction of another that began before may still read what was erased: so the files have to hold it."""
    store = PostgresStore(postgres_url, busy_seconds=0.3)
    with Memory(store, followers=False, telemetry="off") as memory, psycopg.connect(postgres_url) as other:
        memory.conversation("c", user="alex").add("user", WORD)
        other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        other.execute("SELECT count(*) FROM everword.messages")
        memory.erase(user="alex")
        (line,) = store.scrub()
        assert "transaction" in line
        assert "`everword scrub`" in line
        assert "messages" in files_with(postgres_url, WORD)
        other.rollback()
        assert store.scrub() == ()
        assert files_with(postgres_url, WORD) == set()
    store.close()


def test_what_is_too_large_to_be_rewritten_at_once_is_named(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE everword.usage SET (fillfactor = 10)")  # a row a page: large with few of them
        connection.execute(
            "INSERT INTO everword.usage SELECT 's', 'd', repeat(md5(n::text), 30), 't', 'm', 'o', 0, 0, 0, 0 "
            "FROM generate_series(1, 8500) AS n"
        )
    with closing(PostgresStore(postgres_url)) as store:
        (line,) = store.scrub()
        assert "usage" in line
        assert "messages" not in line
        assert "`everword scrub`" in line
        assert store.scrub(full=True) == ()


def test_a_table_in_use_is_named_and_nobody_waits_for_long(postgres_url: str) -> None:
    add_message(postgres_url)
    with psycopg.connect(postgres_url) as other, closing(PostgresStore(postgres_url, busy_seconds=0.3)) as store:
        other.execute("LOCK TABLE everword.messages IN ACCESS SHARE MODE")
        (line,) = store.scrub()
    assert "everword.messages" in line
    assert "`everword scrub`" in line


def test_tables_of_another_owner_are_named_with_what_the_owner_has_to_run(postgres_url: str) -> None:
    add_message(postgres_url)
    role = f"r{uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(role)))
        connection.execute(SQL("GRANT ALL ON SCHEMA everword TO {}").format(Identifier(role)))
        connection.execute(SQL("GRANT ALL ON ALL TABLES IN SCHEMA everword TO {}").format(Identifier(role)))
        try:
            url = make_url(postgres_url).set(username=role).render_as_string(hide_password=False)
            with closing(PostgresStore(url)) as store:
                (line,) = store.scrub()
        finally:
            connection.execute(SQL("DROP OWNED BY {}").format(Identifier(role)))
            connection.execute(SQL("DROP ROLE {}").format(Identifier(role)))
    assert "VACUUM FULL everword.messages" in line
    assert "VACUUM FULL pg_catalog.pg_statistic" in line

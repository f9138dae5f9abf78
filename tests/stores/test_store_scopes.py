"""What a person or a channel asks for is read from their own rows: with twenty times as many others in the space, each
statement takes as many steps as before. SQLite counts the steps of a statement itself, PostgreSQL the rows that it
reads of each table, so this measures no time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from everword import Batch, Draft, Memory
from everword.config import Settings
from everword.log.append_and_read import every_space
from everword.memory.transfer import copy_store
from everword.stores.postgres import PostgresStore
from everword.stores.sqlite import SqliteStore
from everword.stores.tables import TABLES
from everword.wiring import open_store

FEW = 5  # others in the space
MANY = 100  # enough that reading the rows of all of them shows; FEW_ROWS does not hide it
TOLD = 60  # at most, of the others, tell something by command, and have a document
YEAR = timedelta(days=365)
PATIENCE = 600.0
STEPS = 10  # of the database, counted at once
ROOM = 200  # steps: deeper trees of keys, and other values of the same statement
LITERAL = re.compile(r"'(?:[^']|'')*'|\b\d+\b|x'[0-9a-f]*'", re.IGNORECASE)
# What is about a space or the store as a whole, and not about whoever asks.
OF_ALL = {
    "FROM fulltext": "full text of words that are rare in the store; only scopes that are too large for memory ask it",
}


@cache
def filled_among(others: int) -> bytes:
    """A SQLite file that is filled once. The same person and channel among so many others."""
    talk = [Draft("user", f"I bought a green kettle number {i} in Delft.") for i in range(12)]
    room = [Draft("user", f"The kettle number {i} is broken.", author=f"s{i % 3}", user=f"s{i % 3}") for i in range(12)]
    batches = [Batch("default", "kitchen", "ann", talk), Batch("default", "room", None, room)]
    for number in range(others):
        said = [Draft("user", f"I live in Bonn, house {number}."), Draft("user", "I like red tea and a blue kettle.")]
        batches.append(Batch("default", f"chat{number}", f"u{number}", said))
    with TemporaryDirectory() as folder:
        path = Path(folder, "memory.db")
        with Memory(str(path), followers=False) as memory:
            memory.add_many(batches)
            notes = memory.documents()
            for number in range(0, others, -(-others // TOLD)):
                memory.remember(f"u{number} drinks tea", user=f"u{number}", expires=YEAR)
                notes.put(("notes",), f"note {number}", {"tea": number}, texts=(), expires=YEAR)
            memory.settle(PATIENCE)
        return path.read_bytes()


@contextmanager
def statements_of(store: SqliteStore) -> Iterator[list[str]]:
    """The statements that reach the database meanwhile, with their values."""
    statements: list[str] = []

    def trace(connection: Any, *_: object) -> None:
        connection.set_trace_callback(statements.append)

    event.listen(store.engine, "checkout", trace)
    try:
        yield statements
    finally:
        event.remove(store.engine, "checkout", trace)


def ask(memory: Memory) -> None:
    """What a person and a channel ask for; and what has expired, of which there is nothing."""
    chat = memory.conversation("kitchen", user="ann")
    room = memory.conversation("room")
    memory.search("green kettle", user="ann")
    memory.search("green kettle", user="ann", role="user", kinds=("message", "fact"))
    memory.search("kettle", conversation="room", kinds=("message", "fact"))
    chat.context("Which kettle did I buy?")
    room.context("What is broken?")
    chat.search_topics("kettle")
    chat.topics()
    chat.history()
    chat.episodes()
    memory.facts(user="ann")
    memory.profile(user="ann")
    memory.conversations(user="ann")
    memory.export(user="ann")
    chat.add("user", "I also have a brown kettle.")
    chat.edit(chat.history()[0].id, "I bought a grey kettle.")
    chat.delete(chat.history()[1].id)
    memory.settle(PATIENCE)
    memory.retain()


def count_steps(path: Path, statements: list[str]) -> dict[str, int]:
    """For each statement that reads, without its values, how many steps it takes at most."""
    steps: dict[str, int] = {}
    with closing(sqlite3.connect(path)) as connection:
        count = 0

        def tick() -> None:
            nonlocal count
            count += STEPS

        connection.set_progress_handler(tick, STEPS)
        for statement in statements:
            if statement.startswith("SELECT") and not any(part in statement for part in OF_ALL):
                count = 0
                connection.execute(statement).fetchall()
                shape = LITERAL.sub("?", statement)
                steps[shape] = max(steps.get(shape, 0), count)
    return steps


def steps_among(path: Path, others: int) -> dict[str, int]:
    path.write_bytes(filled_among(others))
    store = open_store(str(path), Settings.load())
    assert isinstance(store, SqliteStore)
    with Memory(store, followers=False) as memory, statements_of(store) as statements:
        ask(memory)
    return count_steps(path, statements)


@pytest.mark.checklist("G11")
def test_a_request_reads_as_much_among_many_others_as_among_few(tmp_path: Path) -> None:
    few = steps_among(tmp_path / "few.db", FEW)
    many = steps_among(tmp_path / "many.db", MANY)
    assert len(many.keys() & few.keys()) > 40
    grown = {shape: (few.get(shape, 0), steps) for shape, steps in many.items() if steps > few.get(shape, 0) + ROOM}
    assert grown == {}


# -- PostgreSQL

OWN_NAMES = ("ann", "kitchen", "room", "s0", "s1", "s2")
NAMES = ("conversation", "user_id", "speaker", "author", "id")  # columns that say whose a row is
FEW_ROWS = 40  # beside those of the scope: what is unread, what is about the space
READ = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")


def rows_of_scope(connection: Connection, table: str) -> int:
    names = [name for name in NAMES if name in TABLES[table].c]
    if not names:
        return 0
    owned = " OR ".join(f"{name} = ANY(:own)" for name in names)
    query = text(f"SELECT count(*) FROM {table} WHERE {owned}")
    return int(connection.execute(query, {"own": list(OWN_NAMES)}).scalar_one())


def rows_read(plan: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The rows that each step of a plan reads of a table."""
    if plan.get("Relation Name") in TABLES:
        yield plan["Relation Name"], sum(plan.get(name, 0) for name in READ) * plan["Actual Loops"]
    for part in plan.get("Plans", ()):
        yield from rows_read(part)


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
@pytest.mark.checklist("G11")
def test_no_statement_reads_more_rows_of_a_table_than_its_scope_holds(store_url: str, tmp_path: Path) -> None:
    """What was filled in a SQLite file is copied to the server."""
    original = tmp_path / "many.db"
    original.write_bytes(filled_among(MANY))
    store = open_store(store_url, Settings.load())
    assert isinstance(store, PostgresStore)
    statements: dict[str, Any] = {}

    def note(connection: object, cursor: object, statement: str, parameters: Any, *_: object) -> None:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            statements[statement] = parameters

    too_many: dict[str, dict[str, float]] = {}
    with closing(open_store(str(original), Settings.load())) as source:
        copy_store(source, store, lambda table, rows: None)
    with Memory(store, followers=False) as memory:
        event.listen(store.engine, "before_cursor_execute", note)
        try:
            ask(memory)
        finally:
            event.remove(store.engine, "before_cursor_execute", note)
        with store.engine.connect() as connection:
            connection.exec_driver_sql("ANALYZE")
            connection.exec_driver_sql("SET enable_seqscan = off")  # of so few rows it would read all, anyway
            held = {name: rows_of_scope(connection, name) for name in TABLES}
            for statement, parameters in statements.items():
                explain = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}"
                plan = connection.exec_driver_sql(explain, parameters).scalar_one()[0]["Plan"]
                for table, count in rows_read(plan):
                    if count > held[table] + FEW_ROWS:
                        too_many.setdefault(statement, {})[table] = count
    assert len(statements) > 60
    assert list(too_many) == []


@pytest.mark.checklist("G11")
def test_what_looks_into_all_spaces_asks_no_more_of_many_than_of_few(tmp_path: Path) -> None:
    """A space for each person is the way to spread a product over machines."""
    counts: list[int] = []
    for spaces in (3, 60):
        store = SqliteStore(str(tmp_path / f"{spaces}.db"))
        with Memory(store, followers=False) as memory:
            drafts = [Draft("user", "I like red tea.")]
            memory.add_many(Batch(f"s{number:02d}", "chat", f"u{number}", drafts) for number in range(spaces))
            memory.settle(PATIENCE)
            with statements_of(store) as statements:
                memory.settle(PATIENCE)
                memory.retain(dry_run=False)
                memory.stats()
                assert len(store.read(lambda tx: [*every_space(tx)])) == spaces
            counts.append(sum(not statement.startswith("--") for statement in statements))  # not those of the full text
    assert counts[1] <= counts[0] + 2, "two pages more of conversations"


def test_every_space_is_named_once_however_many_conversations_each_has(tmp_path: Path) -> None:
    sizes = [1] * 40 + [70, 1, 2, 33] + [3] * 20 + [40]
    store = SqliteStore(str(tmp_path / "memory.db"))
    with Memory(store, followers=False) as memory:
        places = [(f"s{space:02d}", f"c{number}") for space, size in enumerate(sizes) for number in range(size)]
        memory.add_many(Batch(*place, "ann", [Draft("user", "Hello")]) for place in places)
        spaces = sorted({space for space, _ in places})
        assert store.read(lambda tx: [*every_space(tx)]) == spaces
        assert store.read(lambda tx: [*every_space(tx, "s41")]) == spaces[42:]

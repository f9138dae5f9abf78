"""Each statement that a caller waits for names its space, so that a PostgreSQL which is spread over machines by space
asks one of them. A view that looks for work looks into all spaces: those statements are listed, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from sqlalchemy import event, inspect, text

from everword import Memory
from everword.config import Settings
from everword.stores.citus import ON_ALL, OWN_TABLES
from everword.stores.sql import SqlStore
from everword.stores.tables import TABLES
from everword.testing import ScriptedLLM
from everword.wiring import open_store

EVERYWHERE = {"meta"}  # is about the store itself: a copy of it is on every machine
UNSPREAD = {*EVERYWHERE, "api_keys"}  # whole on every machine, too: a key is looked up without a space
REFERENCE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:everword\.)?(\w+)")
# A column `space` that is compared with a value or with the space of another table, alone or first in a tuple.
PIN = re.compile(r"\bspace(?: \|\| ''\))? = ")
TUPLE_PIN = re.compile(r"\((?:\w+\.)?space, [^)]*\) IN ")

ACROSS_SPACES = {
    "SELECT conversations.space, conversations.id, coalesce(cursors.turn": "a view looks for conversations that it is "
    "behind in: once a look, of whichever space",
    "row_number() OVER (PARTITION BY set_aside.space": "a view looks for messages to try again: once a look",
    "SELECT coalesce(sum(CASE WHEN": "`settle` waits until the views of all spaces are up to date",
}

OF_SESSIONS = {
    "search_path": "the same for whoever gets the connection",
    "lock_timeout": "`scrub`, on a connection that nobody else gets: VACUUM is refused in a transaction",
}


def distributed_tables(statement: str) -> list[str]:
    return [name for name in REFERENCE.findall(statement) if name in TABLES and name not in EVERYWHERE]


def names_space(statement: str) -> bool:
    """Whether a statement names the space of each table that it reads or writes."""
    if statement.startswith("INSERT"):
        return "space" in statement.partition("VALUES")[0]
    if TUPLE_PIN.search(statement):
        return True
    return len(PIN.findall(statement)) >= len(distributed_tables(statement))


def is_of_a_session(statement: str) -> bool:
    """Whether a statement sets something for a session, which on several machines, or behind a pooler, is not ours."""
    settings = re.findall(r"\bSET (?!LOCAL\b)(\w+)", statement) if statement.startswith("SET") else []
    return any(name not in OF_SESSIONS for name in settings)


@contextmanager
def statements_of(store: SqlStore) -> Iterator[list[str]]:
    """The statements that reach the database meanwhile, each on one line."""
    statements: list[str] = []

    def note(statement: str) -> None:
        statements.append(" ".join(statement.split()))

    def trace(connection: Any, *_: object) -> None:
        connection.set_trace_callback(note)

    def execute(connection: object, cursor: object, statement: str, *_: object) -> None:
        note(statement)

    # SQLite's own driver is asked without SQLAlchemy where that is faster.
    kind, listener = (
        ("checkout", trace) if store.engine.dialect.name == "sqlite" else ("before_cursor_execute", execute)
    )
    event.listen(store.engine, kind, listener)
    try:
        yield statements
    finally:
        event.remove(store.engine, kind, listener)


def unpinned_statements(statements: list[str]) -> set[str]:
    """Those of the statements that do not name their space and are not listed."""
    return {
        statement
        for statement in statements
        if distributed_tables(statement)
        and not names_space(statement)
        and not any(part in statement for part in ACROSS_SPACES)
    }


def work(memory: Memory) -> None:
    """Everything that a program calls often."""
    chat = memory.conversation("kitchen", user="ann")
    room = memory.conversation("room")
    for number in range(4):
        chat.add("user", f"I live in Delft and drink green tea number {number}.")
        room.add("user", f"The kettle number {number} is broken.", author="bob")
    memory.search("green tea", user="ann")
    memory.settle(60)
    memory.search("tea", user="ann", role="user", kinds=("message", "fact"))
    memory.search("kettle", conversation="room")
    memory.search("kettle")
    chat.context("Which tea do I drink?")
    room.context("What is broken?")
    chat.reply("And what about coffee?")
    memory.facts(user="ann")
    memory.profile(user="ann")
    chat.topics()
    memory.settle(60)


def change(memory: Memory) -> None:
    """What a person may ask for at any time."""
    chat = memory.conversation("kitchen", user="ann")
    first, second, *_ = chat.history()
    chat.edit(first.id, "I live in Bonn.")
    chat.delete(second.id)
    memory.search("Bonn", user="ann")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.parametrize("followers", [False, True])
@pytest.mark.checklist("G13")
def test_statements_name_their_space(store_url: str, followers: bool) -> None:
    store = open_store(store_url, Settings.load())
    assert isinstance(store, SqlStore)
    model = ScriptedLLM(default="I see.")
    with Memory(store, followers=followers, chat=model) as memory, statements_of(store) as statements:
        work(memory)
        change(memory)
    assert len([statement for statement in statements if distributed_tables(statement)]) > 100
    assert unpinned_statements(statements) == set()
    assert [statement for statement in statements if is_of_a_session(statement)] == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("G13")
def test_every_key_and_unique_index_begins_with_the_space(store_url: str) -> None:
    """So that one machine of many can tell by itself whether a row is there already."""
    with closing(open_store(store_url, Settings.load())) as store:
        assert isinstance(store, SqlStore)
        with store.engine.connect() as connection:
            schema = inspect(connection)
            keys: dict[str, list[Any]] = {
                table: [schema.get_pk_constraint(table)["constrained_columns"]] for table in TABLES
            }
            for table, own_keys in keys.items():
                own_keys += [index["column_names"] for index in schema.get_indexes(table) if index["unique"]]
                own_keys += [key["constrained_columns"] for key in schema.get_foreign_keys(table)]
    assert {table for table, own_keys in keys.items() if any(key[0] != "space" for key in own_keys)} == EVERYWHERE


@pytest.mark.checklist("G13")
def test_machines_need_nothing_that_only_one_of_them_has(postgres_url: str) -> None:
    """No sequence, no trigger; and every table of the schema is one that is spread, its key with the space."""
    with closing(open_store(postgres_url, Settings.load())) as store:
        assert isinstance(store, SqlStore)
        with store.engine.connect() as connection:
            schema = inspect(connection)
            tables = schema.get_table_names(schema="everword")
            assert schema.get_sequence_names(schema="everword") == []
            triggers = "SELECT count(*) FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid WHERE NOT tgisinternal"
            assert connection.execute(text(triggers)).scalar() == 0
            keys = {table: schema.get_pk_constraint(table, "everword")["constrained_columns"] for table in tables}
            defaults = connection.execute(text("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef")).scalars().all()
    assert sorted(tables) == sorted(OWN_TABLES)
    assert {table for table, key in keys.items() if "space" not in key} == EVERYWHERE <= set(ON_ALL) == UNSPREAD
    assert not any("nextval" in str(default) for default in defaults)

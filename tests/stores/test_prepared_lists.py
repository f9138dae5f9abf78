"""A statement with a list of values is compiled for a few sizes, and means the same for all."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import bindparam, select
from sqlalchemy.dialects import sqlite

from recollect.stores.columns import EPOCH
from recollect.stores.prepared import list_room, pad_list, prepare
from recollect.stores.schema import messages
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite_file import dialect_and_statements


def test_a_list_is_filled_up_to_a_power_of_two_by_its_last_member() -> None:
    assert [list_room(size) for size in (0, 1, 2, 3, 4, 5, 33)] == [0, 1, 2, 4, 4, 8, 64]
    assert pad_list(["a", "b", "c"], 4) == ["a", "b", "c", "c"]
    assert pad_list([], 0) == []


def test_lists_of_similar_size_are_one_statement() -> None:
    dialect, _ = dialect_and_statements()
    query = select(messages.c.id).where(messages.c.id.in_(bindparam("ids", expanding=True)))
    five, eight, nine = (prepare(query, dialect, {"ids": ["id"] * size}) for size in (5, 8, 9))
    assert five is eight
    assert five is not nine
    assert five.values({"ids": ["a", "b", "c", "d", "e"]}) == ["a", "b", "c", "d", "e", "e", "e", "e"]
    assert isinstance(dialect, sqlite.dialect)


def test_lists_of_every_size_find_what_they_name(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "lists.db")
    people = [f"person {number:02}" for number in range(20)]
    rows = [
        {"space": "s", "user_id": person, "kind": "display", "name": person, "since": EPOCH, "seen": None}
        for person in people
    ]
    try:
        store.write(lambda tx: tx.put("people", rows))
        for size in range(1, 21):
            where = {"space": "s", "user_id": tuple(people[:size]), "kind": "display"}
            named_rows = store.read(lambda tx, where=where: tx.rows("people", where=where))  # type: ignore[misc]
            assert [row["name"] for row in named_rows] == people[:size]
    finally:
        store.close()

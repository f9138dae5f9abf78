"""Rows of a table by any of its columns: in the order of its key, and found by an index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from recollect.stores import queries, schema
from recollect.stores.columns import EPOCH
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite_file import dialect_and_statements

PARTS = {"space": "s", "conversation": ("c",), "level": 1, "parent": (1, 9)}
ACTIVE = {"space": "s", "conversation": "c", "parent": None}


def episode(level: int, first: int, parent: int | None) -> dict[str, Any]:
    place = {"space": "s", "conversation": "c", "level": level, "first": first, "last": first + 1, "parent": parent}
    texts = {"user_id": "alex", "summary": f"{level} {first}", "made_by": "rule", "base": "", "extract": {}}
    return place | texts | {"began": EPOCH, "ended": EPOCH, "pending": 0, "base_last": 0, "vec": None}


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (PARTS, ["1 1", "1 3", "1 9"]),
        (ACTIVE, ["1 11", "2 9", "3 1"]),
        ({"space": "s", "conversation": "c", "level": 1}, ["1 1", "1 3", "1 9", "1 11"]),
        ({"space": "s", "first": (11, 1)}, ["1 1", "1 11", "2 1", "3 1"]),
    ],
)
def test_rows_come_in_the_order_of_the_key(tmp_path: Path, where: Mapping[str, Any], names: list[str]) -> None:
    store = SqliteStore(tmp_path / "rows.db")
    rows = [
        *(episode(1, 9, 9), episode(1, 3, 1), episode(1, 11, None), episode(1, 1, 1)),
        *(episode(2, 9, None), episode(2, 1, 1), episode(3, 1, None)),
    ]
    try:
        store.write(lambda tx: tx.put("episodes", rows))
        found = store.read(lambda tx: tx.rows("episodes", where=where))
        assert [row["summary"] for row in found] == names
        newest = store.read(lambda tx: tx.rows("episodes", where=where, newest=True))
        assert [row["summary"] for row in newest] == names[::-1]
    finally:
        store.close()


@pytest.mark.parametrize("where", [PARTS, ACTIVE])
def test_few_rows_of_a_long_conversation_are_found_by_their_own_index(tmp_path: Path, where: Mapping[str, Any]) -> None:
    query = queries.rows_query(schema.TABLES["episodes"], queries.comparison_shape(where), False, False, False)
    statement = query.params(queries.comparison_values(where))
    compiled = statement.compile(dialect=dialect_and_statements()[0], compile_kwargs={"literal_binds": True})
    store = SqliteStore(tmp_path / "plan.db")
    try:
        with store.engine.connect() as connection:
            plan = connection.execute(text(f"EXPLAIN QUERY PLAN {compiled}")).all()
    finally:
        store.close()
    assert "episodes_parent (space=? AND conversation=? AND parent=?)" in plan[0][3]

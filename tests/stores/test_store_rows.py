"""Rows of a table by any of its columns: in the order of its key, and found by an index."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from everword.model import EPOCH, Conversation
from everword.ports import Tx
from everword.stores import queries, tables
from everword.stores.sqlite import EACH_MESSAGE_BY_ID, SqliteStore, dialect_and_statements
from everword.testing.samples import ODD_IDS, make_conversation, make_message

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
    query = queries.rows_query(tables.TABLES["episodes"], queries.comparison_shape(where), False, False, False)
    statement = query.params(queries.comparison_values(where))
    compiled = statement.compile(dialect=dialect_and_statements()[0], compile_kwargs={"literal_binds": True})
    store = SqliteStore(tmp_path / "plan.db")
    try:
        with store.engine.connect() as connection:
            plan = connection.execute(text(f"EXPLAIN QUERY PLAN {compiled}")).all()
    finally:
        store.close()
    assert "episodes_parent (space=? AND conversation=? AND parent=?)" in plan[0][3]


@pytest.mark.parametrize("count", [1, 2, 3, 21, 64, 65, 700])
def test_messages_are_found_by_their_ids_each_once_and_in_the_same_order(tmp_path: Path, count: int) -> None:
    ids = [*ODD_IDS, *(f"id {number}" for number in range(700))][:count]

    def fill(tx: Tx) -> None:
        conversation = tx.lock_conversation(make_conversation())
        tx.save_conversation(conversation, [make_message(turn, id=id) for turn, id in enumerate(ids, start=1)])

    with closing(SqliteStore(tmp_path / "ids.db")) as store:
        store.write(fill)
        asked = ["none", *reversed(ids), *ids[:3], "another"]
        messages = store.read(lambda tx: tx.find_messages("s", ids=asked))
        assert store.read(lambda tx: tx.find_messages("other", ids=asked)) == []
    if count <= 64:
        assert [message.id for message in messages] == sorted(ids)
    assert {message.id: message.turn for message in messages} == {id: turn for turn, id in enumerate(ids, start=1)}
    assert len(messages) == count


def test_each_message_is_looked_up_by_the_index_of_ids(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "plan.db")) as store, store.engine.connect() as connection:
        query = text(f"EXPLAIN QUERY PLAN {EACH_MESSAGE_BY_ID}")
        plan = connection.execute(query, {"id_list": '["a", "b"]', "space": "s"}).all()
    assert any("messages_id (space=? AND id=?)" in row[3] for row in plan)


@pytest.mark.parametrize(
    "change",
    [
        {"turns": 8, "head": b"other"},
        {"turns": 8, "changed_at": EPOCH},
        {"user": "kim", "turns": 8},
        {"created_at": EPOCH},
        {"changes": 4, "changes_head": b"new"},
    ],
)
def test_of_a_conversation_everything_is_saved_that_has_changed(tmp_path: Path, change: dict[str, Any]) -> None:
    before = replace(make_conversation(user="alex"), turns=7, head=b"head", changes=3, changes_head=b"old")
    states: list[Conversation | None] = []

    def save_twice(tx: Tx) -> None:
        locked = tx.lock_conversation(before)
        tx.save_conversation(replace(locked, **change))
        states.append(tx.conversation("s", "c"))
        tx.save_conversation(replace(locked, user="sam"))
        states.append(tx.conversation("s", "c"))
        tx.save_conversation(replace(tx.lock_conversation(before), **change))

    with closing(SqliteStore(tmp_path / "saved.db")) as store:
        assert store.write(lambda tx: tx.lock_conversation(before)) == before
        store.write(save_twice)
        assert states == [replace(before, **change), replace(before, user="sam")]
        assert store.read(lambda tx: tx.conversation("s", "c")) == replace(before, **{"user": "sam", **change})

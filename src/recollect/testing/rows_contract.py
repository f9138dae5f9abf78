"""Rows of derived tables in every store: written by key, found by value and by vector, removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recollect.errors import StoreError
from recollect.log.cursors import set_cursor
from recollect.ports import WHOLE_SPACE, Store, Tx
from recollect.testing.samples import T0, WIDTH, append_messages, axis, make_conversation, make_entry, make_message
from recollect.testing.transaction_contract import CallerError, run_at_once
from recollect.testing.vector_contract import EXACT


def episode_row(first: int, vector: Any = None, **columns: Any) -> dict[str, Any]:
    """A row of the episodes table."""
    row: dict[str, Any] = {
        "space": "s",
        "conversation": "c",
        "level": 1,
        "first": first,
        "last": first + 1,
        "user_id": "alex",
        "began": T0,
        "ended": T0,
        "summary": f"from {first}",
        "made_by": "offline",
        "pending": 0,
        "parent": None,
        "base": "",
        "base_last": 0,
        "vec": None if vector is None else np.asarray(vector, np.float16).tobytes(),
    }
    return row | columns


def fact_row(value: str, person: str = "ann") -> dict[str, Any]:
    """A row of the facts table."""
    return {
        "space": "s",
        "user_id": person,
        "id": "f",
        "category": "personal",
        "key": "city",
        "value": value,
        "confidence": 1.0,
        "importance": 0.5,
        "speaker": person,
        "conversation": "c",
        "turn": 1,
        "said_at": T0,
        "recorded_at": T0,
        "sources": (),
        "also_heard_in": (),
        "active": 1,
    }


class RowsContract:
    """Tables the engine reads and writes by name."""

    def test_rows_are_found_by_value_and_none_is_a_value(self, store: Store) -> None:
        store.write(lambda tx: tx.put("episodes", [episode_row(1), episode_row(3, parent=1), episode_row(5)]))
        rows = store.read(lambda tx: tx.rows("episodes", where={"space": "s", "conversation": "c", "parent": None}))
        assert [row["first"] for row in rows] == [1, 5]
        newest = store.read(lambda tx: tx.rows("episodes", limit=1, where={"space": "s"}, newest=True))
        assert [row["first"] for row in newest] == [5]

    def test_rows_after_a_place_are_those_of_their_conversation(self, store: Store) -> None:
        rows = [episode_row(1), episode_row(3), episode_row(5), episode_row(7) | {"conversation": "d"}]
        store.write(lambda tx: tx.put("episodes", rows))
        place = {"space": "s", "conversation": "c", "level": 1}
        later = store.read(lambda tx: tx.rows("episodes", place | {"first": 1}, where=place))
        assert [row["first"] for row in later] == [3, 5]
        of_all = store.read(lambda tx: tx.rows("episodes", place | {"first": 3}, where={"space": "s"}))
        assert [row["first"] for row in of_all] == [5, 7]

    def test_a_scope_has_another_version_after_each_change(self, store: Store) -> None:
        scopes = [("facts", "s", "ann"), ("facts", "s", WHOLE_SPACE)]

        def versions(tx: Tx) -> list[str | None]:
            return [tx.version(scope) for scope in scopes]

        def fail(tx: Tx) -> None:
            tx.put("facts", [fact_row("one")])
            raise CallerError

        before = store.read(versions)
        changes: list[Callable[[Tx], object]] = [
            lambda tx: tx.put("facts", [fact_row("one")]),
            lambda tx: tx.put("facts", [fact_row("two")]),
            lambda tx: tx.remove("facts", {"space": "s", "id": "f"}),
            lambda tx: tx.reset_view("facts"),
        ]
        for change in changes:
            store.write(change)
            with pytest.raises(CallerError):
                store.write(fail)
            after = store.read(versions)
            assert all(earlier != later for earlier, later in zip(before, after, strict=True))
            assert None not in after
            before = after
        assert store.write(versions) == [None, None], "what is not committed is not cached"

    def test_what_is_cached_is_made_again_after_a_change(self, store: Store) -> None:
        def read_values(tx: Tx) -> list[str]:
            def make() -> list[str]:
                return [row["value"] for row in tx.rows("facts", where={"space": "s", "user_id": "ann"})]

            return tx.cache.get(tx, ("facts", "s", "ann"), "values", make)

        def change_and_fail(tx: Tx) -> None:
            tx.put("facts", [fact_row("three")])
            assert read_values(tx) == ["three"]
            raise CallerError

        for value in ("one", "two", "one"):
            store.write(lambda tx: tx.put("facts", [fact_row(value)]))  # noqa: B023
            assert [store.read(read_values) for _ in range(3)] == [[value]] * 3
            with pytest.raises(CallerError):
                store.write(change_and_fail)
            assert store.read(read_values) == [value]

    def test_a_row_that_changes_is_read_as_it_is(self, store: Store) -> None:
        for summary in ("once", "twice", "once"):
            store.write(lambda tx: tx.put("episodes", [episode_row(1) | {"summary": summary}]))  # noqa: B023
            rows = store.read(lambda tx: tx.rows("episodes", where={"space": "s", "conversation": "c"}))
            assert [row["summary"] for row in rows] == [summary]

    def test_near_rows_are_those_with_the_highest_cosine_in_scope(self, store: Store) -> None:
        query_vector = np.asarray(axis(0), np.float32)
        half = np.asarray(axis(0)) + np.asarray(axis(1))
        rows = [
            episode_row(1, axis(0)),
            episode_row(3, half),
            episode_row(5),
            episode_row(7, axis(0), user_id="bob"),
            episode_row(9, axis(2)),
        ]
        store.write(lambda tx: tx.put("episodes", rows))
        where = {"space": "s", "user_id": "alex"}
        near = store.read(lambda tx: tx.near("episodes", query_vector, 2, where=where))
        assert [row["first"] for row, _ in near] == [1, 3]
        assert [cosine for _, cosine in near] == pytest.approx([1.0, np.sqrt(0.5)], abs=EXACT)
        assert store.read(lambda tx: tx.near("episodes", query_vector, 9, where=where | {"user_id": "eve"})) == []
        known = [row for row, _ in near[:1]]
        assert store.read(lambda tx: tx.near("episodes", query_vector, 2, where=where, known=known)) == near

    def test_the_vectors_of_a_conversation_by_turn(self, store: Store) -> None:
        messages = [make_message(turn) for turn in (1, 2, 3)]
        store.write(lambda tx: append_messages(tx, *messages))
        entries = [make_entry(messages[0], vector=axis(0)), make_entry(messages[2], vector=axis(1))]
        store.write(lambda tx: tx.index.put_entries(entries))
        vectors = store.read(lambda tx: tx.index.vectors_of("s", "c", 1, 2))
        assert list(vectors) == [1]
        assert vectors[1].shape == (WIDTH,)
        assert vectors[1] == pytest.approx(axis(0), abs=EXACT)

    def test_rows_are_removed_by_value_and_never_from_the_log(self, store: Store) -> None:
        store.write(lambda tx: tx.put("episodes", [episode_row(1), episode_row(3, user_id="bob")]))
        assert store.write(lambda tx: tx.remove("episodes", {"space": "s", "user_id": "bob"})) == 1
        assert len(store.read(lambda tx: tx.rows("episodes"))) == 1
        store.write(lambda tx: append_messages(tx, make_message()))
        with pytest.raises(StoreError, match="nothing is removed"):
            store.write(lambda tx: tx.remove("messages", {"space": "s"}))

    def test_a_lock_lets_one_in_at_a_time(self, store: Store) -> None:
        """Eight writers read a number under the lock and write the next: none is lost."""

        def count(tx: Tx) -> None:
            tx.lock("counting", "s")
            tx.set_note("number", str(int(tx.note("number") or 0) + 1))

        run_at_once(8, lambda number: store.write(count))
        assert store.read(lambda tx: tx.note("number")) == "8"

    def test_a_view_that_follows_another_is_behind_that_one(self, store: Store) -> None:
        store.write(lambda tx: tx.lock_conversation(make_conversation(turns=5)))
        assert store.read(lambda tx: tx.lagging("window", T0)) == []
        store.write(lambda tx: set_cursor(tx, "index", "s", "c", 3))
        lags = store.read(lambda tx: tx.lagging("window", T0))
        assert [(lag.done, lag.turns) for lag in lags] == [(0, 3)]
        assert store.read(lambda tx: tx.view_state("window", T0, None)).behind == 3
        store.write(lambda tx: set_cursor(tx, "window", "s", "c", 3))
        assert store.read(lambda tx: tx.view_state("window", T0, None)).behind == 0
        assert [lag.turns for lag in store.read(lambda tx: tx.lagging("episodes", T0))] == [3]

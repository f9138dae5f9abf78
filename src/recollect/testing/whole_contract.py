"""The store as a whole: its notes, its statistics, its rows for copying; and that all of it survives a restart."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any

from recollect.log.cursors import cursor_of, set_cursor
from recollect.log.tables import COPYING, erasures_of
from recollect.memory.transfer import TABLES, copy_store
from recollect.model import Erasure, Filter, ViewState
from recollect.ports import Store, Tx
from recollect.testing.log_contract import make_tombstone
from recollect.testing.samples import (
    ODD_METADATA,
    ODD_TEXTS,
    T0,
    OpenStore,
    append_and_index,
    append_messages,
    axis,
    find_matches,
    make_entry,
    make_message,
)

SECOND = timedelta(seconds=1)
FILLED = {"meta", "conversations", "messages", "erasures", "cursors", "entries", "vectors", "tallies"}


def fill(tx: Tx) -> None:
    """Put something into every table, with odd values among it."""
    messages = [
        make_message(turn, text, platform_id=f"p{turn}", metadata=ODD_METADATA[turn % len(ODD_METADATA)])
        for turn, text in enumerate(ODD_TEXTS, 1)
    ]
    messages_of_kim = [make_message(turn, "日本", conversation="d", author="kim", user="kim") for turn in (1, 2)]
    append_messages(tx, *messages, *messages_of_kim, make_message(1, space="t"), user=None)
    tx.index.put_entries(
        [
            make_entry(message, ("word", f"w{message.turn}"), axis(message.turn % 5))
            for message in (*messages, *messages_of_kim)
        ]
    )
    tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[2])])
    set_cursor(tx, "index", "s", "c", len(messages))
    tx.set_note("embedder", "test/16")


class WholeContract:
    """What concerns all of a store."""

    def test_it_has_a_name(self, store: Store) -> None:
        assert store.name
        assert "password" not in store.name

    def test_a_note_is_kept_changed_and_removed(self, store: Store) -> None:
        assert store.read(lambda tx: tx.note("key")) is None
        for value in ("one", "", "zwei 日本 '\"\\\n"):
            store.write(lambda tx: tx.set_note("key", value))  # noqa: B023
            assert store.read(lambda tx: tx.note("key")) == value
        store.write(lambda tx: tx.set_note("key", None))
        store.write(lambda tx: tx.set_note("key", None))
        assert store.read(lambda tx: tx.note("key")) is None

    def test_an_empty_store_has_statistics(self, store: Store) -> None:
        stats = store.read(lambda tx: tx.stats(T0))
        assert (stats.spaces, stats.conversations, stats.users, stats.messages, stats.erased) == (0, 0, 0, 0, 0)
        assert (stats.characters, stats.first, stats.last, stats.entries, stats.embedder) == (0, None, None, 0, None)
        assert ViewState("index", 0, 0, 0, None) in stats.views

    def test_statistics_count_what_is_there(self, store: Store) -> None:
        messages = [
            make_message(1, "four", time=T0),
            make_message(2, "日本😀", time=T0 - SECOND),
            make_message(3, "gone", time=T0 - 9 * SECOND),
            make_message(1, "", conversation="d", user="kim", time=T0 + SECOND),
            make_message(2, "x", conversation="d", user=None, time=T0),
        ]
        store.write(
            lambda tx: append_messages(tx, *messages, make_message(1, "other", space="t", time=T0 + 5 * SECOND))
        )
        store.write(lambda tx: tx.index.put_entries([make_entry(message) for message in messages]))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[2])]))
        store.write(lambda tx: set_cursor(tx, "index", "s", "c", 3))
        store.write(lambda tx: tx.set_note("embedder", "test/16"))
        stats = store.read(lambda tx: tx.stats(T0, "s"))
        assert (stats.spaces, stats.conversations, stats.users, stats.messages, stats.erased) == (1, 2, 2, 4, 1)
        assert (stats.characters, stats.entries, stats.embedder) == (8, 4, "test/16")
        assert (stats.first, stats.last) == (T0 - SECOND, T0 + SECOND)
        assert ViewState("index", 2, 0, 0, None) in stats.views
        stats = store.read(lambda tx: tx.stats(T0))
        assert (stats.spaces, stats.conversations, stats.messages, stats.characters) == (2, 3, 5, 13)
        assert ViewState("index", 3, 0, 0, None) in stats.views
        assert stats.last == T0 + 5 * SECOND

    # -- copying

    def test_rows_come_page_by_page_and_all(self, store: Store) -> None:
        store.write(fill)
        for table in TABLES:
            all_rows = store.read(lambda tx: tx.rows(table, None, 1_000))  # noqa: B023
            assert all_rows or table not in FILLED
            for size in (1, 3):
                assert store.read(lambda tx: read_pages(tx, table, size)) == all_rows  # noqa: B023

    def test_rows_can_be_asked_for_by_value_and_from_the_end(self, store: Store) -> None:
        rows = [cursor_row(view, id, len(view)) for id in ("c", "d", "e") for view in ("index", "facts")]
        store.write(lambda tx: tx.put("cursors", [*rows, cursor_row("index", "c", 1, space="t")]))
        rows_found = store.read(lambda tx: tx.rows("cursors", where={"space": "s", "view": "facts"}))
        assert [row["conversation"] for row in rows_found] == ["c", "d", "e"]
        rows_found = store.read(
            lambda tx: tx.rows("cursors", None, 2, where={"space": "s", "view": "facts"}, newest=True)
        )
        assert [row["conversation"] for row in rows_found] == ["e", "d"]
        assert store.read(lambda tx: tx.rows("cursors", where={"space": "third"})) == []

    def test_rows_put_twice_are_there_once(self, store: Store) -> None:
        store.write(lambda tx: tx.put("cursors", [cursor_row("index", "c", 1), cursor_row("index", "d", 2)]))
        store.write(lambda tx: tx.put("cursors", [cursor_row("index", "d", 7), cursor_row("index", "e", 3)]))
        assert store.read(cursor_turns) == {"c": 1, "d": 7, "e": 3}
        store.write(
            lambda tx: tx.put("cursors", [cursor_row("index", "c", 10), cursor_row("index", "f", 4)], add=("turn",))
        )
        assert store.read(cursor_turns) == {"c": 11, "d": 7, "e": 3, "f": 4}
        store.write(lambda tx: tx.put("cursors", []))
        assert store.read(cursor_turns) == {"c": 11, "d": 7, "e": 3, "f": 4}

    def test_a_copy_is_the_same_store(self, store: Store, open_store: OpenStore) -> None:
        """D3: changed without loss."""
        store.write(fill)
        with closing(open_store("copy")) as copy:
            row_counts = copy_store(store, copy, lambda table, rows: None)
            assert row_counts["messages"] == 15
            assert copy.read(contents) == store.read(contents)
            assert copy.read(answers) == store.read(answers)
            assert copy.read(lambda tx: tx.note(COPYING)) is None

    def test_a_copy_goes_on_where_the_original_was(self, store: Store, open_store: OpenStore) -> None:
        store.write(fill)
        with closing(open_store("copy")) as copy:
            copy_store(store, copy, lambda table, rows: None)
            new = make_message(3, conversation="d")
            for target in (store, copy):
                target.write(lambda tx: append_and_index(tx, new, terms=("word", "new")))
            assert copy.read(answers) == store.read(answers)
            assert [candidate.message_id for candidate in copy.read(lambda tx: find_matches(tx, [["new"]]))[0]] == [
                "d-3"
            ]

    # -- closing

    def test_everything_is_there_after_a_restart(self, store: Store, open_store: OpenStore) -> None:
        """D8: log, cursors, notes and index; and new data does not collide with old data."""
        store.write(fill)
        before = store.read(contents), store.read(answers)
        store.close()
        with closing(open_store()) as reopened_store:
            assert (reopened_store.read(contents), reopened_store.read(answers)) == before
            new = make_message(3, conversation="d")
            reopened_store.write(lambda tx: append_and_index(tx, new, terms=("new",)))
        with closing(open_store()) as third:
            assert len(third.read(lambda tx: find_matches(tx, [["new"], ["word"]]))[0]) == 14

    def test_closing_twice_is_closing_once(self, store: Store) -> None:
        store.write(fill)
        store.close()
        store.close()

    def test_stores_of_two_names_are_apart(self, store: Store, open_store: OpenStore) -> None:
        with closing(open_store("other")) as other:
            store.write(fill)
            assert other.read(lambda tx: tx.conversations()) == []


def cursor_row(view: str, id: str, turn: int, space: str = "s") -> dict[str, Any]:
    return {"space": space, "view": view, "conversation": id, "turn": turn}


def cursor_turns(tx: Tx) -> dict[str, int]:
    return {row["conversation"]: row["turn"] for row in tx.rows("cursors", where={"space": "s", "view": "index"})}


def read_pages(tx: Tx, table: str, size: int) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    after: Mapping[str, Any] | None = None
    while page := tx.rows(table, after, size):
        assert len(page) <= size
        rows += page
        after = page[-1]
    return rows


def contents(tx: Tx) -> dict[str, list[Mapping[str, Any]]]:
    """Every row, except what a store notes about itself."""
    return {table: tx.rows(table, None, 1_000) for table in TABLES if table != "meta"}


def answers(tx: Tx) -> tuple[object, ...]:
    """What the log, the views and the index answer."""
    candidates, frequencies = find_matches(tx, [["word"], ["w3", "w4"]])
    return (
        tx.conversations(),
        [(message, message.seal) for space in ("s", "t") for message in tx.messages(Filter(space))],
        erasures_of(tx),
        tx.count_messages("erasure"),
        cursor_of(tx, "index", "s", "c"),
        sorted(tx.lagging("index", T0), key=lambda lag: lag.space),  # they changed at the same moment: in any order
        tx.index.tally("s", None),
        sorted((candidate.message_id, candidate.counts, candidate.length) for candidate in candidates),
        frequencies,
        tx.note("embedder"),
        tx.stats(T0),
    )

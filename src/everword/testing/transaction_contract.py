"""Transactions in every store, and the store as a whole: notes, statistics, copies and restarts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, BrokenBarrierError, Event
from typing import Any, TypeVar

import pytest

from everword.errors import StoreError
from everword.log.tables import COPYING, cursor_of, erasures_of, set_cursor
from everword.memory.transfer import TABLES, copy_store
from everword.model import Erasure, Filter, ViewState
from everword.ports import Store, Tx
from everword.testing.log_contract import make_tombstone
from everword.testing.samples import (
    ODD_METADATA,
    ODD_TEXTS,
    T0,
    OpenStore,
    append_and_index,
    append_messages,
    axis,
    claim_place,
    find_matches,
    make_conversation,
    make_entry,
    make_message,
)

R = TypeVar("R")
MEET = 0.3  # seconds to wait for another transaction; in a store with one transaction at a time they never meet
PATIENCE = 30.0  # seconds until a test that waits for ever fails


class CallerError(Exception):
    """An error that the function of a transaction raises itself."""


class TransactionContract:
    """What `read` and `write` promise."""

    def test_what_the_function_returns_is_returned(self, store: Store) -> None:
        result = object()
        assert store.write(lambda tx: result) is result
        assert store.read(lambda tx: result) is result

    def test_an_error_undoes_everything_and_goes_through_unchanged(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        error = CallerError("no")

        def fail(tx: Tx) -> None:
            append_messages(tx, make_message(2), make_message(1, conversation="d"))
            tx.index.put_entries([make_entry(make_message(1))])
            set_cursor(tx, "index", "s", "c", 2)
            claim_place(tx, "index", "s", "c", "me", T0, T0 + timedelta(seconds=60))
            tx.set_note("key", "value")
            raise error

        with pytest.raises(CallerError) as error_info:
            store.write(fail)
        assert error_info.value is error
        assert store.read(conversation_state) == ([make_message(1)], 1, None, 0, 0, 0, None)
        store.write(lambda tx: append_messages(tx, make_message(2)))
        assert len(store.read(lambda tx: tx.messages(Filter("s")))) == 2

    def test_an_error_of_the_database_undoes_everything_too(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(1)))

        def fail(tx: Tx) -> None:
            tx.set_note("key", "value")
            tx.save_conversation(make_conversation(turns=2), [make_message(2), make_message(1, id="again")])

        with pytest.raises(StoreError):
            store.write(fail)
        assert store.read(conversation_state) == ([make_message(1)], 1, None, 0, 0, 0, None)

    def test_an_interruption_undoes_everything(self, store: Store) -> None:
        def write_and_interrupt(tx: Tx) -> None:
            append_messages(tx, make_message(1))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.write(write_and_interrupt)
        assert store.read(lambda tx: tx.conversations()) == []
        store.write(lambda tx: append_messages(tx, make_message(1)))

    def test_a_transaction_sees_what_it_wrote(self, store: Store) -> None:
        def write(tx: Tx) -> tuple[object, ...]:
            append_messages(tx, make_message(1))
            tx.index.put_entries([make_entry(make_message(1))])
            tx.set_note("key", "value")
            set_cursor(tx, "index", "s", "c", 1)
            return conversation_state(tx)

        assert store.write(write) == store.read(conversation_state) == ([make_message(1)], 1, None, 1, 1, 0, "value")

    def test_a_reader_sees_one_moment(self, store: Store) -> None:
        """A write that begins in the middle of a read is not seen by it, and is seen by the next."""
        store.write(lambda tx: append_and_index(tx, make_message(1)))
        write_done = Event()

        def write() -> None:
            store.write(lambda tx: append_and_index(tx, make_message(2)))
            write_done.set()

        with ThreadPoolExecutor(1) as pool:

            def look_twice(tx: Tx) -> tuple[object, object]:
                first = (conversation_state(tx), tx.stats(T0))
                futures.append(pool.submit(write))
                write_done.wait(MEET)  # a store with one transaction at a time writes after this one
                return first, (conversation_state(tx), tx.stats(T0))

            futures: list[object] = []
            first, second = store.read(look_twice)
        assert first == second
        assert write_done.is_set()
        assert store.read(conversation_state)[:4] == ([make_message(1), make_message(2)], 2, None, 2)

    def test_a_read_changes_nothing(self, store: Store) -> None:
        def sneak(tx: Tx) -> None:
            tx.set_note("key", "value")

        with suppress(StoreError):  # which is the better answer
            store.read(sneak)
        assert store.read(lambda tx: tx.note("key")) is None

    def test_nobody_else_writes_to_a_locked_conversation(self, store: Store) -> None:
        first_inside = Event()
        fresh = make_conversation()

        def slow(tx: Tx) -> int:
            state = tx.lock_conversation(fresh)
            first_inside.set()
            second_inside.wait(MEET)
            tx.save_conversation(replace(state, turns=state.turns + 1))
            return state.turns

        def quick(tx: Tx) -> int:
            state = tx.lock_conversation(fresh)
            second_inside.set()
            tx.save_conversation(replace(state, turns=state.turns + 1))
            return state.turns

        second_inside = Event()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(store.write, slow)
            assert first_inside.wait(PATIENCE)
            second = pool.submit(store.write, quick)
            assert (first.result(PATIENCE), second.result(PATIENCE)) == (0, 1)

    def test_writers_of_one_conversation_lose_nothing(self, store: Store) -> None:
        def one_more(tx: Tx) -> int:
            state = tx.lock_conversation(make_conversation())
            tx.save_conversation(replace(state, turns=state.turns + 1), [make_message(state.turns + 1)])
            return state.turns + 1

        turns = run_at_once(8, lambda _: [store.write(one_more) for _ in range(5)])
        assert sorted(turn for turns_of_writer in turns for turn in turns_of_writer) == list(range(1, 41))
        messages = store.read(lambda tx: tx.messages(Filter("s")))
        assert [message.turn for message in messages] == list(range(1, 41))

    def test_writers_who_lock_in_opposite_order_both_get_through(self, store: Store) -> None:
        """The database may abort one of them: then its function is run again."""
        both = Barrier(2)

        def write(order: tuple[str, str]) -> None:
            def lock_both(tx: Tx) -> None:
                for number, id in enumerate(order):
                    state = tx.lock_conversation(make_conversation(id))
                    tx.save_conversation(replace(state, turns=state.turns + 1))
                    if number == 0:
                        with suppress(BrokenBarrierError):  # we are alone in the store, or run again
                            both.wait(MEET)

            store.write(lock_both)

        run_at_once(2, lambda number: write((("a", "b"), ("b", "a"))[number]))
        assert [conversation.turns for conversation in store.read(lambda tx: tx.conversations())] == [2, 2]


def conversation_state(tx: Tx) -> tuple[object, ...]:
    """What a transaction sees of one conversation."""
    state = tx.conversation("s", "c")
    return (
        tx.messages(Filter("s")),
        state.turns if state else 0,
        tx.conversation("s", "d"),
        tx.index.tally("s", None).docs,
        cursor_of(tx, "index", "s", "c"),
        tx.view_state("index", T0, None).leased,
        tx.note("key"),
    )


def run_at_once(count: int, work: Callable[[int], R]) -> list[R]:
    """Run the same thing in several threads that start together."""
    start = Barrier(count)

    def run(number: int) -> R:
        start.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


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

"""Transactions in every store: all or nothing, one snapshot for a reader, one writer for a conversation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, BrokenBarrierError, Event
from typing import TypeVar

import pytest

from recollect.errors import StoreError
from recollect.log.cursors import cursor_of, set_cursor
from recollect.model import Filter
from recollect.ports import Store, Tx
from recollect.testing.samples import (
    T0,
    append_and_index,
    append_messages,
    claim_place,
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

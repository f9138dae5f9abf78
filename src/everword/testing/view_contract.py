"""Views in every store: cursors, leases and backlogs; rows written by key, found by value and by vector, removed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import numpy as np
import pytest

from everword.errors import StoreError
from everword.log.append_and_read import cursor_of, cursors_of, set_cursor, set_cursors
from everword.model import Erasure, Filter, SetAside, ViewState
from everword.ports import STAND_IN, WHOLE_SPACE, Lag, Store, Tx
from everword.testing.index_contract import EXACT
from everword.testing.samples import (
    MEET,
    PATIENCE,
    SECOND,
    T0,
    WIDTH,
    CallerError,
    append_messages,
    axis,
    claim_place,
    failures_at,
    holds_place,
    make_conversation,
    make_entry,
    make_message,
    make_tombstone,
    release_place,
    run_at_once,
)

C = ("index", "s", "c")  # one view of one conversation


def claim(
    store: Store, holder: str, now: datetime = T0, until: datetime = T0 + 60 * SECOND, place: tuple[str, str, str] = C
) -> bool:
    return store.write(lambda tx: claim_place(tx, *place, holder, now, until))


def holds(store: Store, holder: str, place: tuple[str, str, str] = C) -> bool:
    return store.write(lambda tx: holds_place(tx, *place, holder))


def lagging(store: Store, now: datetime = T0, **options: object) -> list[str]:
    return [lag.conversation for lag in store.read(lambda tx: tx.lagging("index", now, **options))]  # type: ignore[arg-type]


class ViewContract:
    """How far views are, and who works on them."""

    # -- cursors

    def test_a_cursor_is_zero_until_it_is_set(self, store: Store) -> None:
        assert store.read(lambda tx: cursor_of(tx, *C)) == 0
        for turn in (3, 7, 0, 5):
            store.write(lambda tx: set_cursor(tx, *C, turn))  # noqa: B023
            assert store.read(lambda tx: cursor_of(tx, *C)) == turn

    def test_each_view_of_each_conversation_has_a_cursor_of_its_own(self, store: Store) -> None:
        places = [(view, space, id) for view in ("index", "facts") for space in ("s", "t") for id in ("c", "d")]

        def set_all(tx: Tx) -> None:
            for number, place in enumerate(places):
                set_cursor(tx, *place, number + 1)

        store.write(set_all)
        assert store.read(lambda tx: [cursor_of(tx, *place) for place in places]) == list(range(1, 9))

    # -- leases

    def test_a_lease_has_one_holder(self, store: Store) -> None:
        assert claim(store, "one")
        assert not claim(store, "two")
        assert holds(store, "one")
        assert not holds(store, "two")

    def test_a_lease_is_one_of_a_view_of_a_conversation(self, store: Store) -> None:
        assert claim(store, "one")
        for place in (("facts", "s", "c"), ("index", "t", "c"), ("index", "s", "d")):
            assert claim(store, "two", place=place)
        assert holds(store, "one")

    def test_of_many_who_claim_at_once_one_gets_it(self, store: Store) -> None:
        outcomes = run_at_once(8, lambda number: claim(store, f"holder {number}"))
        assert outcomes.count(True) == 1
        assert holds(store, f"holder {outcomes.index(True)}")

    def test_its_holder_renews_a_lease(self, store: Store) -> None:
        assert claim(store, "one", until=T0 + 10 * SECOND)
        assert claim(store, "one", now=T0 + 5 * SECOND, until=T0 + 20 * SECOND)
        assert not claim(store, "two", now=T0 + 15 * SECOND)

    def test_a_lease_that_ran_out_can_be_taken(self, store: Store) -> None:
        assert claim(store, "one", until=T0 + 10 * SECOND)
        assert not claim(store, "two", now=T0 + 10 * SECOND - timedelta(microseconds=1))
        assert holds(store, "one")
        assert claim(store, "two", now=T0 + 10 * SECOND, until=T0 + 30 * SECOND)
        assert not holds(store, "one")
        assert not claim(store, "one", now=T0 + 11 * SECOND)

    def test_a_lease_given_back_is_free(self, store: Store) -> None:
        assert claim(store, "one")
        store.write(lambda tx: release_place(tx, *C, "one"))
        assert not holds(store, "one")
        assert claim(store, "two")

    def test_nobody_gives_back_what_another_holds(self, store: Store) -> None:
        assert claim(store, "one")
        store.write(lambda tx: release_place(tx, *C, "two", error="not mine", retry_at=T0 + SECOND))
        assert holds(store, "one")
        assert store.read(lambda tx: failures_at(tx, *C)) == 0
        store.write(lambda tx: release_place(tx, "index", "s", "never claimed", "two"))

    def test_a_failure_keeps_everybody_off_until_the_retry(self, store: Store) -> None:
        assert claim(store, "one")
        store.write(lambda tx: release_place(tx, *C, "one", error="no answer", retry_at=T0 + 5 * SECOND))
        assert not claim(store, "one", now=T0 + SECOND)
        assert not claim(store, "two", now=T0 + 4 * SECOND)
        assert claim(store, "two", now=T0 + 5 * SECOND)

    def test_failures_are_counted_until_one_succeeds(self, store: Store) -> None:
        assert store.read(lambda tx: failures_at(tx, *C)) == 0
        for count in (1, 2, 3):
            assert claim(store, "one")
            store.write(lambda tx: release_place(tx, *C, "one", error="no answer", retry_at=T0))
            assert store.read(lambda tx: failures_at(tx, *C)) == count
        assert claim(store, "two", now=T0 + SECOND)
        assert store.read(lambda tx: failures_at(tx, *C)) == 3
        store.write(lambda tx: release_place(tx, *C, "two"))
        assert store.read(lambda tx: failures_at(tx, *C)) == 0
        assert store.read(lambda tx: tx.view_state("index", T0, None)).error is None

    def test_many_leases_are_taken_and_given_back_at_once(self, store: Store) -> None:
        places = [(space, id) for space in ("s", "t") for id in ("c", "d", "e")]
        now = T0 + SECOND
        until = T0 + 60 * SECOND
        assert claim(store, "another", place=("index", "t", "d"))
        assert claim(store, "one", place=("index", "t", "e"), until=T0 + 2 * SECOND)
        ours = store.write(lambda tx: tx.claim("index", places, "one", now, until))
        assert ours == {*places} - {("t", "d")}
        assert store.write(lambda tx: tx.held_leases("index", places, "one")) == ours
        assert store.write(lambda tx: tx.held_leases("index", places, "another")) == {("t", "d")}
        assert store.write(lambda tx: tx.held_leases("facts", places, "one")) == frozenset()
        assert store.write(lambda tx: tx.claim("index", [], "one", now, until)) == frozenset()
        store.write(lambda tx: tx.release("index", places[1:], "one"))
        assert store.write(lambda tx: tx.held_leases("index", places, "one")) == {("s", "c")}
        assert holds(store, "another", ("index", "t", "d"))

    def test_a_retry_that_is_not_due_is_not_among_many_that_are_taken(self, store: Store) -> None:
        assert claim(store, "one")
        store.write(lambda tx: release_place(tx, *C, "one", error="no answer", retry_at=T0 + 5 * SECOND))
        places = [("s", "c"), ("s", "d")]
        until = T0 + 60 * SECOND
        assert store.write(lambda tx: tx.claim("index", places, "one", T0, until)) == {("s", "d")}
        assert store.read(lambda tx: failures_at(tx, *C)) == 1
        assert store.write(lambda tx: tx.claim("index", places[:1], "two", T0 + 5 * SECOND, until)) == {("s", "c")}

    def test_many_cursors_are_read_and_set_at_once(self, store: Store) -> None:
        places = [(space, f"c{number}") for space in ("s", "t") for number in range(600)]
        assert set(store.read(lambda tx: cursors_of(tx, "index", places)).values()) == {0}
        turns = {place: number for number, place in enumerate(places)}
        store.write(lambda tx: set_cursors(tx, "index", turns))
        assert store.read(lambda tx: cursors_of(tx, "index", places)) == turns
        assert set(store.read(lambda tx: cursors_of(tx, "facts", places)).values()) == {0}
        store.write(lambda tx: set_cursors(tx, "index", {}))

    # -- what is behind

    def test_what_lags_in_other_spaces_is_found_behind_a_flood(self, store: Store) -> None:
        places = [("s", "a"), ("s", "b"), ("s", "c"), ("t", "d"), ("t", "e"), ("u", "f")]
        for number, (space, id) in enumerate(places):
            store.write(
                lambda tx: append_messages(tx, make_message(conversation=id, space=space), at=T0 + number * SECOND)  # noqa: B023
            )
        assert lagging(store, limit=3) == ["a", "b", "c"]
        assert lagging(store, limit=1, besides={"s"}) == ["d"]
        assert lagging(store, besides={"s", "t"}) == ["f"]
        assert lagging(store, besides={"s"}, since=T0 + 4 * SECOND) == ["e", "f"]
        assert lagging(store, space="t") == ["d", "e"]
        assert lagging(store, space="t", since=T0 + 4 * SECOND, limit=1) == ["e"]
        assert lagging(store, space="v") == []

    def test_what_is_unseen_of_a_space(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(conversation="c"), at=T0))
        store.write(lambda tx: append_messages(tx, make_message(conversation="c", space="t"), at=T0 + 9 * SECOND))

        def unseen(space: str, now: datetime = T0, since: datetime = T0) -> bool:
            return store.read(lambda tx: tx.unseen("index", now, space=space, since=since))

        assert unseen("s")
        assert unseen("t")
        assert not unseen("u")
        assert not unseen("s", since=T0 + SECOND)
        assert claim(store, "one")
        assert unseen("s"), "somebody is at work on it: it is not there yet"
        store.write(lambda tx: release_place(tx, *C, "one", error="no answer", retry_at=T0 + 5 * SECOND))
        assert not unseen("s"), "nobody waits for a retry"
        assert unseen("s", now=T0 + 5 * SECOND)
        store.write(lambda tx: set_cursor(tx, *C, 1))
        assert not unseen("s", now=T0 + 5 * SECOND)

    def test_messages_of_several_conversations_are_read_at_once(self, store: Store) -> None:
        messages = [make_message(turn, conversation=id) for id in ("c", "d", "e") for turn in (1, 2, 3)]
        store.write(lambda tx: append_messages(tx, *messages, make_message(1, space="t")))
        page = store.read(lambda tx: tx.messages(Filter("s"), after=("", 1), upto=2, among=["e", "c", "x"]))
        assert [(message.conversation, message.turn) for message in page] == [("c", 2), ("e", 2)]

    # -- messages set aside

    def test_what_was_set_aside_is_due_when_its_time_has_come(self, store: Store) -> None:
        store.write(
            lambda tx: tx.put(
                "set_aside", [*map(set_aside_row, range(1, 5)), set_aside_row(1, space="t"), set_aside_row(9, due=None)]
            )
        )
        store.write(lambda tx: tx.put("set_aside", [set_aside_row(1, view="facts")]))

        def due(now: datetime, limit: int = 100) -> list[tuple[str, int]]:
            rows = store.read(lambda tx: tx.set_aside_due("index", now, limit))
            return [(row.space, row.turn) for row in rows]

        assert due(T0) == []
        assert due(T0 + 2 * SECOND) == [("s", 1), ("t", 1), ("s", 2)]
        assert due(T0 + 9 * SECOND, limit=3) == [("s", 1), ("t", 1), ("s", 2)]
        (first, *_) = store.read(lambda tx: tx.set_aside_due("index", T0 + SECOND, 1))
        assert first == SetAside("s", "index", "c", 1, 2, T0 + SECOND, "OverflowError")
        of_space = store.read(lambda tx: tx.set_aside_due("index", T0 + 2 * SECOND, 9, space="s"))
        assert [(row.space, row.turn) for row in of_space] == [("s", 1), ("s", 2)]

    def test_the_state_of_a_view_counts_what_it_has_set_aside(self, store: Store) -> None:
        store.write(lambda tx: tx.put("set_aside", [set_aside_row(1), set_aside_row(2), set_aside_row(1, space="t")]))
        states = [store.read(lambda tx: tx.view_state("index", T0, space)) for space in (None, "s", "t", "u")]  # noqa: B023
        assert [state.set_aside for state in states] == [3, 2, 1, 0]
        assert [state.error for state in states] == ["OverflowError", "OverflowError", "OverflowError", None]
        assert store.read(lambda tx: tx.view_state("facts", T0, None)).set_aside == 0

    def test_a_message_that_was_changed_is_to_be_read_again_and_is_no_failure(self, store: Store) -> None:
        changed = set_aside_row(2) | {"failures": 0, "error": "it was edited"}
        store.write(lambda tx: tx.put("set_aside", [set_aside_row(1), changed]))
        late = T0 + 9 * SECOND

        def read(now: datetime, space: str = "s") -> tuple[list[int], bool, ViewState]:
            rows = store.read(lambda tx: tx.set_aside_due("index", now, 9, changed=True))
            is_unseen = store.read(lambda tx: tx.unseen("index", now, space=space, since=T0))
            return [row.turn for row in rows], is_unseen, store.read(lambda tx: tx.view_state("index", now, space))

        turns, is_unseen, state = read(late)
        assert (turns, is_unseen) == ([2], True)
        assert (state.behind, state.waiting, state.set_aside, state.error) == (1, 0, 1, "OverflowError")
        turns, is_unseen, state = read(T0)
        assert (turns, is_unseen) == ([], False)
        assert (state.behind, state.waiting, state.standing_in) == (1, 1, 0)
        assert read(late, "t")[1:] == (False, ViewState("index", 0, 0, 0))
        store.write(lambda tx: tx.put("set_aside", [changed | {"error": f"{STAND_IN}away"}]))
        assert read(T0)[2].standing_in == 1

    def test_what_was_set_aside_goes_with_the_message_and_with_the_view(self, store: Store) -> None:
        messages = [make_message(1), make_message(2)]
        store.write(lambda tx: append_messages(tx, *messages))
        rows = [set_aside_row(turn, view=view) for view in ("index", "facts", "window") for turn in (1, 2)]
        store.write(lambda tx: tx.put("set_aside", [*rows, set_aside_row(1, space="t")]))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[0])]))
        places = [("s", "facts", 2), ("s", "index", 2), ("t", "index", 1)]
        assert store.read(set_aside_places) == places, "the window is made anew"
        store.write(lambda tx: tx.reset_view("index", "s"))
        assert store.read(set_aside_places) == [places[0], places[2]]
        store.write(lambda tx: tx.reset_view("index"))
        assert store.read(set_aside_places) == places[:1]

    def test_a_conversation_lags_by_what_its_cursor_has_not_seen(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, *(make_message(turn) for turn in (1, 2, 3))))
        store.write(lambda tx: tx.lock_conversation(make_conversation("empty")))
        assert store.read(lambda tx: tx.lagging("index", T0)) == [Lag("s", "c", 0, 3)]
        store.write(lambda tx: set_cursor(tx, *C, 2))
        assert store.read(lambda tx: tx.lagging("index", T0)) == [Lag("s", "c", 2, 3)]
        assert store.read(lambda tx: tx.lagging("facts", T0)) == [Lag("s", "c", 0, 3)]
        store.write(lambda tx: set_cursor(tx, *C, 3))
        assert store.read(lambda tx: tx.lagging("index", T0)) == []

    def test_what_every_view_has_read_lags_again_when_a_cursor_goes_back(self, store: Store) -> None:
        views = [row.view for row in store.read(lambda tx: tx.stats(T0)).views]
        store.write(lambda tx: append_messages(tx, *(make_message(turn) for turn in (1, 2))))

        def read_all() -> None:
            for view in views:
                store.write(lambda tx: set_cursor(tx, view, "s", "c", 2))  # noqa: B023
            assert [store.read(lambda tx: tx.lagging(view, T0)) for view in views] == [[]] * len(views)  # noqa: B023

        for go_back in (
            lambda tx: set_cursor(tx, *C, 1),
            lambda tx: tx.reset_view("index"),
            lambda tx: tx.reset_view("index", "s"),
            lambda tx: tx.reset_view("topics", "s", "c"),
            lambda tx: tx.remove("cursors", {"space": "s", "view": "index"}),
            lambda tx: append_messages(tx, make_message(3)),
        ):
            read_all()
            store.write(go_back)
            lags = [lag for view in views for lag in store.read(lambda tx: tx.lagging(view, T0))]  # noqa: B023
            assert {lag.conversation for lag in lags} == {"c"}
            assert sum(store.read(lambda tx: tx.view_state(view, T0, "s")).behind for view in views) > 0  # noqa: B023

    def test_a_view_without_tables_lags_also_where_every_other_has_read_all(self, store: Store) -> None:
        views = [row.view for row in store.read(lambda tx: tx.stats(T0)).views]
        store.write(lambda tx: append_messages(tx, *(make_message(turn) for turn in (1, 2))))
        store.write(lambda tx: set_cursor(tx, "vectors", "s", "c", 1))
        for view in views:
            store.write(lambda tx: set_cursor(tx, view, "s", "c", 2))  # noqa: B023
        assert [lag.conversation for lag in store.read(lambda tx: tx.lagging("vectors", T0))] == ["c"]
        assert store.read(lambda tx: tx.view_state("vectors", T0, "s")).behind == 1

    def test_what_waits_longest_comes_first(self, store: Store) -> None:
        for number, id in enumerate("badc"):
            store.write(
                lambda tx: append_messages(tx, make_message(conversation=id), at=T0 + number * SECOND)  # noqa: B023
            )
        assert lagging(store) == ["b", "a", "d", "c"]
        assert lagging(store, limit=2) == ["b", "a"]
        assert lagging(store, since=T0 + SECOND) == ["a", "d", "c"]
        assert lagging(store, since=T0 + SECOND, limit=1) == ["a"]
        assert lagging(store, since=T0 + 9 * SECOND) == []

    def test_what_another_works_on_or_waits_for_does_not_lag(self, store: Store) -> None:
        store.write(lambda tx: append_messages(tx, make_message(conversation="c"), make_message(conversation="d")))
        assert claim(store, "one", until=T0 + 10 * SECOND)
        assert lagging(store, T0 + SECOND) == ["d"]
        assert sorted(lagging(store, T0 + 10 * SECOND)) == ["c", "d"]
        store.write(lambda tx: release_place(tx, *C, "one", error="no", retry_at=T0 + 5 * SECOND))
        assert lagging(store, T0 + 4 * SECOND) == ["d"]
        assert sorted(lagging(store, T0 + 5 * SECOND)) == ["c", "d"]
        assert [lag.conversation for lag in store.read(lambda tx: tx.lagging("facts", T0, limit=1))] in (["c"], ["d"])

    def test_the_state_of_a_view_says_how_far_and_why_not_further(self, store: Store) -> None:
        messages = [make_message(turn, conversation=id) for id in ("c", "d", "e") for turn in (1, 2)]
        store.write(lambda tx: append_messages(tx, *messages, make_message(space="t")))
        store.write(lambda tx: set_cursor(tx, *C, 1))
        assert claim(store, "one", place=("index", "s", "d"))
        assert claim(store, "one", place=("index", "s", "e"))
        store.write(lambda tx: release_place(tx, "index", "s", "e", "one", error="no answer", retry_at=T0 + SECOND))
        state = store.read(lambda tx: tx.view_state("index", T0, None))
        assert (state.view, state.behind, state.waiting, state.leased, state.error) == ("index", 6, 1, 1, "no answer")
        assert store.read(lambda tx: tx.view_state("index", T0, "s")).behind == 5
        other = store.read(lambda tx: tx.view_state("index", T0, "t"))
        assert (other.behind, other.waiting, other.leased, other.error) == (1, 0, 0, None)
        later = store.read(lambda tx: tx.view_state("index", T0 + 60 * SECOND, None))
        assert (later.waiting, later.leased) == (0, 0)

    # -- erasing

    def test_an_erasure_takes_the_lease_from_whoever_has_read_what_is_gone(self, store: Store) -> None:
        messages = [make_message(conversation="c"), make_message(conversation="d")]
        store.write(lambda tx: append_messages(tx, *messages))
        assert claim(store, "one")
        assert claim(store, "one", place=("index", "s", "d"))
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[0])]))
        assert not holds(store, "one")
        assert holds(store, "one", ("index", "s", "d"))
        assert claim(store, "two")

    def test_what_is_stored_while_it_is_erased_does_not_stay(self, store: Store) -> None:
        """A worker holds the lease and is about to store passages when an erasure begins."""
        original = make_message()
        store.write(lambda tx: append_messages(tx, original))
        assert claim(store, "one")
        holding = Event()
        erasing = Event()

        def save(tx: Tx) -> None:
            if holds_place(tx, *C, "one"):
                holding.set()
                erasing.wait(MEET)
                tx.index.put_entries([make_entry(original)])
                release_place(tx, *C, "one")

        def erase(tx: Tx) -> None:
            tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(original)])
            erasing.set()

        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(store.write, save)
            assert holding.wait(PATIENCE)
            second = pool.submit(store.write, erase)
            first.result(PATIENCE)
            second.result(PATIENCE)
        assert store.read(lambda tx: tx.index.tally("s", None)).docs == 0

    # -- building again

    def test_a_view_thrown_away_begins_at_zero(self, store: Store) -> None:
        store.write(fill)
        store.write(lambda tx: tx.reset_view("index"))
        assert store.read(lambda tx: [cursor_of(tx, "index", space, "c") for space in ("s", "t")]) == [0, 0]
        assert store.read(lambda tx: cursor_of(tx, "facts", "s", "c")) == 1
        assert holds(store, "one", ("facts", "s", "c"))
        assert store.read(lambda tx: tx.index.tally("s", None)).docs == 0
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message()]
        assert sorted(lag.space for lag in store.read(lambda tx: tx.lagging("index", T0))) == ["s", "t"]
        assert claim(store, "two")

    def test_a_view_of_one_space_is_thrown_away_alone(self, store: Store) -> None:
        store.write(fill)
        store.write(lambda tx: tx.reset_view("index", "s"))
        assert store.read(lambda tx: [cursor_of(tx, "index", space, "c") for space in ("s", "t")]) == [0, 1]
        assert store.read(lambda tx: [tx.index.tally(space, None).docs for space in ("s", "t")]) == [0, 1]
        assert holds(store, "one", ("index", "t", "c"))
        assert not holds(store, "one")

    def test_a_view_of_one_conversation_is_thrown_away_alone(self, store: Store) -> None:
        row = {"space": "s", "first": 1, "last": 1, "reason": "turns", "archived_at": T0}
        store.write(lambda tx: tx.put("chunks", [{**row, "conversation": id} for id in ("c", "d")]))
        store.write(lambda tx: set_cursors(tx, "window", {("s", "c"): 1, ("s", "d"): 1}))
        store.write(lambda tx: tx.reset_view("window", "s", "c"))
        assert [row_left["conversation"] for row_left in store.read(lambda tx: tx.rows("chunks"))] == ["d"]
        assert store.read(lambda tx: cursors_of(tx, "window", [("s", "c"), ("s", "d")])) == {
            ("s", "c"): 0,
            ("s", "d"): 1,
        }


def set_aside_row(
    turn: int, *, space: str = "s", view: str = "index", due: int | None = 1
) -> dict[str, str | int | datetime | None]:
    """The row of a message on which a view failed twice; its retry is due after as many seconds as its turn."""
    retry_at = None if due is None else T0 + turn * SECOND
    place = {"space": space, "view": view, "conversation": "c"}
    return {**place, "turn": turn, "failures": 2, "retry_at": retry_at, "error": "OverflowError"}


def set_aside_places(tx: Tx) -> list[tuple[str, str, int]]:
    return [(row["space"], row["view"], row["turn"]) for row in tx.rows("set_aside")]


def fill(tx: Tx) -> None:
    """One message in each of two spaces, seen by two views, with a worker that holds all leases."""
    for space in ("s", "t"):
        sample = make_message(space=space)
        append_messages(tx, sample)
        tx.index.put_entries([make_entry(sample)])
        for view in ("index", "facts"):
            set_cursor(tx, view, space, "c", 1)
            claim_place(tx, view, space, "c", "one", T0, T0 + 60 * SECOND)


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

    has_versions = True  # whether a scope has a version: without, nothing that was read is cached

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
            assert not self.has_versions or all(earlier != later for earlier, later in zip(before, after, strict=True))
            assert (None in after) is not self.has_versions
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
        store.write(lambda tx: tx.put("episodes", [episode_row(5, axis(0))]))
        near = store.read(lambda tx: tx.near("episodes", query_vector, 2, where=where))
        assert [row["first"] for row, _ in near] == [1, 5]

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
        with pytest.raises(StoreError, match="belongs to the log of messages and changes; no row can be removed"):
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
        assert store.read(lambda tx: tx.lagging("topics", T0)) == []
        store.write(lambda tx: set_cursor(tx, "index", "s", "c", 3))
        lags = store.read(lambda tx: tx.lagging("topics", T0))
        assert [(lag.done, lag.turns) for lag in lags] == [(0, 3)]
        assert store.read(lambda tx: tx.view_state("topics", T0, None)).behind == 3
        store.write(lambda tx: set_cursor(tx, "topics", "s", "c", 3))
        assert store.read(lambda tx: tx.view_state("topics", T0, None)).behind == 0
        assert [lag.turns for lag in store.read(lambda tx: tx.lagging("window", T0))] == [3]

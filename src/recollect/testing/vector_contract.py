"""Vectors in every store: compared by cosine, exactly, within the scope, whatever happened before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import pytest

from recollect.model import Entry, Erasure, Filter, Message, Role
from recollect.ports import Store, Tx, Vectors
from recollect.testing.log_contract import make_tombstone
from recollect.testing.samples import T0, WIDTH, append_messages, axis, make_entry, make_message
from recollect.testing.transaction_contract import CallerError

EXACT = 1e-3  # vectors are kept in half precision
ROLES: tuple[Role, ...] = ("user", "assistant", "tool")


def index_entries(store: Store, *entries: Entry) -> None:
    store.write(lambda tx: tx.index.put_entries(entries))


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage and its cosine."""

    doc: int
    message_id: str
    cosine: float


def find_nearest(
    store: Store, vector: Sequence[float] | Vectors, where: Filter | None = None, limit: int = 100
) -> list[NearPassage]:
    """The nearest passages, best first, with the ids of their messages."""
    query_vector = np.asarray(vector, dtype=np.float32)
    scope = where or Filter("s")

    def find(tx: Tx) -> list[NearPassage]:
        near = tx.index.nearest(scope, query_vector, limit)
        ids = {
            candidate.doc: candidate.message_id
            for candidate in tx.index.candidates(scope, [doc for doc, _ in near], [])
        }
        return [NearPassage(doc, ids[doc], cosine) for doc, cosine in near]

    return store.read(find)


def message_ids(near: Sequence[NearPassage]) -> list[str]:
    return [passage.message_id for passage in near]


def random_entries(count: int = 300) -> list[Entry]:
    """Passages in every scope, with random vectors; every tenth has no vector."""
    random = np.random.default_rng(7)
    entries = []
    for number in range(count):
        sample = make_message(
            number + 1,
            space=("s", "t")[number % 2],
            conversation=("c", "d", "e")[number % 3],
            user=("alex", "kim", None)[number % 5 % 3],
            role=ROLES[number % 7 % 3],
            time=T0 + timedelta(minutes=number % 11),
        )
        vector = random.standard_normal(WIDTH) if number % 10 else np.zeros(WIDTH)
        entries.append(make_entry(sample, vector=vector.tolist()))
    return entries


def exact_cosines(entries: Sequence[Entry], vector: Vectors, where: Filter) -> dict[str, float]:
    """Every passage in scope that has a vector, with its cosine, computed by numpy."""
    cosines = {}
    for passage in entries:
        own_vector = np.asarray(passage.vector, dtype=np.float64)
        if own_vector.any() and in_scope(passage, where):
            cosines[passage.message_id] = float(
                own_vector @ vector / np.linalg.norm(own_vector) / np.linalg.norm(vector)
            )
    return cosines


def in_scope(passage: Entry, where: Filter) -> bool:
    return (
        passage.space == where.space
        and where.user in (None, passage.user)
        and where.conversation in (None, passage.conversation)
        and where.role in (None, passage.role)
        and (where.after is None or passage.time >= where.after)
        and (where.before is None or passage.time < where.before)
    )


SCOPES = (
    Filter("s"),
    Filter("t", user="alex"),
    Filter("s", user="kim"),
    Filter("s", user="nobody"),
    Filter("s", conversation="d"),
    Filter("s", user="alex", conversation="c"),
    Filter("s", user="alex", role="assistant"),
    Filter("s", after=T0 + timedelta(minutes=5)),
    Filter("s", user="kim", before=T0 + timedelta(minutes=3)),
    Filter("t", user="kim", conversation="e", role="tool", after=T0, before=T0 + timedelta(minutes=9)),
    Filter("third"),
)


class VectorContract:
    """Passages and their vectors."""

    def test_the_nearest_are_those_numpy_finds(self, store: Store) -> None:
        entries = random_entries()
        index_entries(store, *entries)
        vector = np.random.default_rng(11).standard_normal(WIDTH).astype(np.float32)
        for where in SCOPES:
            cosines = exact_cosines(entries, vector, where)
            near = find_nearest(store, vector, where, limit=500)
            assert sorted(message_ids(near)) == sorted(cosines), where
            assert [passage.cosine for passage in near] == sorted((passage.cosine for passage in near), reverse=True)
            assert {passage.message_id: passage.cosine for passage in near} == pytest.approx(cosines, abs=EXACT)

    def test_a_limit_keeps_the_best(self, store: Store) -> None:
        entries = random_entries()
        index_entries(store, *entries)
        for where in SCOPES:
            all_ids = message_ids(find_nearest(store, axis(3), where, limit=500))
            assert message_ids(find_nearest(store, axis(3), where, limit=7)) == all_ids[:7]

    def test_the_length_of_a_vector_does_not_matter(self, store: Store) -> None:
        index_entries(
            store,
            make_entry(make_message(1), vector=[3.0 * x for x in axis(1)]),
            make_entry(make_message(2), vector=axis(2)),
        )
        near = find_nearest(store, [0.5 * x for x in axis(1)])
        assert message_ids(near) == ["c-1", "c-2"]
        assert [passage.cosine for passage in near] == pytest.approx([1.0, 0.0], abs=EXACT)

    def test_a_passage_with_nothing_in_it_is_near_to_nothing(self, store: Store) -> None:
        nothing = [0.0] * WIDTH
        index_entries(store, make_entry(make_message(1), vector=nothing))
        assert find_nearest(store, axis(0)) == []
        index_entries(
            store, make_entry(make_message(2), vector=axis(0)), make_entry(make_message(3, role="tool"), vector=nothing)
        )
        assert message_ids(find_nearest(store, axis(0))) == ["c-2"]
        assert find_nearest(store, axis(0), Filter("s", role="tool")) == []
        assert store.read(lambda tx: tx.index.tally("s", None)).docs == 3

    def test_cosines_of_passages_are_those_of_the_nearest(self, store: Store) -> None:
        index_entries(store, *random_entries())
        vector = np.random.default_rng(13).standard_normal(WIDTH).astype(np.float32)
        for where in (Filter("s"), Filter("s", user="alex"), Filter("s", user="nobody")):
            near = find_nearest(store, vector, where, limit=500)
            docs = [passage.doc for passage in near]
            cosines = store.read(lambda tx: tx.index.cosines(where, vector, [*docs, 10**9]))  # noqa: B023
            assert cosines == pytest.approx({passage.doc: passage.cosine for passage in near}, abs=1e-5)
        assert store.read(lambda tx: tx.index.cosines(Filter("s"), vector, [])) == {}

    def test_cosines_stay_in_scope(self, store: Store) -> None:
        index_entries(store, *random_entries())
        vector = np.asarray(axis(0), dtype=np.float32)
        docs = [
            passage.doc for space in ("s", "t") for passage in find_nearest(store, vector, Filter(space), limit=500)
        ]
        for where in (Filter("s"), Filter("t"), Filter("s", user="alex"), Filter("t", user="kim")):
            docs_in_scope = {passage.doc for passage in find_nearest(store, vector, where, limit=500)}
            assert set(store.read(lambda tx: tx.index.cosines(where, vector, docs))) == docs_in_scope  # noqa: B023

    # -- as the index changes

    def test_what_is_added_later_is_found(self, store: Store) -> None:
        for number in range(WIDTH):
            index_entries(store, make_entry(make_message(number + 1), vector=axis(number)))
            assert message_ids(find_nearest(store, axis(number), limit=1)) == [f"c-{number + 1}"]
            assert len(find_nearest(store, axis(0))) == number + 1

    def test_what_was_erased_is_not_found(self, store: Store) -> None:
        messages = [make_message(turn) for turn in (1, 2, 3)]
        store.write(lambda tx: append_messages(tx, *messages))
        index_entries(store, *(make_entry(message, vector=axis(message.turn)) for message in messages))
        assert len(find_nearest(store, axis(2))) == 3
        store.write(lambda tx: tx.erase(Erasure("e1", "s", T0, 1, 1, 0), [make_tombstone(messages[1])]))
        assert sorted(message_ids(find_nearest(store, axis(2)))) == ["c-1", "c-3"]
        index_entries(store, make_entry(make_message(4), vector=axis(4)))
        assert sorted(message_ids(find_nearest(store, axis(2)))) == ["c-1", "c-3", "c-4"]

    def test_an_index_built_again_is_the_new_one(self, store: Store) -> None:
        """With as many passages as before, so that a count alone does not tell them apart."""
        messages: list[Message] = [make_message(turn) for turn in (1, 2, 3)]
        scopes = (Filter("s"), Filter("s", user="alex"), Filter("s", role="user"))
        index_entries(store, *(make_entry(message, vector=axis(message.turn)) for message in messages))
        assert [message_ids(find_nearest(store, axis(1), where, limit=1)) for where in scopes] == [["c-1"]] * 3
        store.write(lambda tx: tx.reset_view("index"))
        index_entries(store, *(make_entry(message, vector=axis(4 - message.turn)) for message in messages))
        assert [message_ids(find_nearest(store, axis(1), where, limit=1)) for where in scopes] == [["c-3"]] * 3
        assert [len(find_nearest(store, axis(1), where)) for where in scopes] == [3] * 3

    def test_what_a_failed_transaction_put_there_is_not_found(self, store: Store) -> None:
        """Even if that transaction looked for it: a store must not remember what was never there."""
        index_entries(store, make_entry(make_message(1), vector=axis(1)))

        def fail(tx: Tx) -> None:
            tx.index.put_entries([make_entry(make_message(2), vector=axis(2))])
            tx.index.nearest(Filter("s"), np.asarray(axis(2), dtype=np.float32), 10)
            raise CallerError

        with pytest.raises(CallerError):
            store.write(fail)
        index_entries(store, make_entry(make_message(3), vector=axis(3)))
        near = {passage.message_id: passage.cosine for passage in find_nearest(store, axis(3))}
        assert near == pytest.approx({"c-1": 0.0, "c-3": 1.0}, abs=EXACT)

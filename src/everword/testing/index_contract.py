"""The index in every store: full text and vectors find the same, in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from everword.errors import StoreError
from everword.model import Entry, Erasure, Filter, Message, Role
from everword.ports import PassageCandidate, Store, Tx, Vectors
from everword.testing.samples import (
    SECOND,
    T0,
    WIDTH,
    CallerError,
    append_and_index,
    append_messages,
    axis,
    find_matches,
    make_entry,
    make_message,
    make_tombstone,
)

WORDS = ("and", "or", "not", "near", "null", "select", "true", "1", "2024", "u1f600", "z")
SCRIPTS = ("straße", "ärger", "łódź", "привет", "γειά", "שלום", "مرحبا", "สวัสดี", "你好", "日本", "안녕", "नमस्ते", "𠀋")
HOSTILE = ('"', "'", "''", "\\", "*", ":", "(", ")", "-", "^", "&", "|", "!", "<->", "a:b", "it's", 'a"b', "a*", "")


def index_entries(store: Store, *entries: Entry) -> None:
    store.write(lambda tx: tx.index.put_entries(entries))


def search_terms(
    store: Store, groups: Sequence[Sequence[str]], where: Filter | None = None, limit: int = 100
) -> tuple[list[PassageCandidate], list[int]]:
    return store.read(lambda tx: find_matches(tx, groups, where, limit))


def find_message_ids(store: Store, term: str, where: Filter | None = None) -> list[str]:
    return [candidate.message_id for candidate in search_terms(store, [[term]], where)[0]]


def messages_in_all_scopes() -> list[Message]:
    """A message in every scope: two spaces, two conversations, two people and nobody."""
    return [
        make_message(turn, conversation=id, space=space, user=user, id=f"{space}/{id}/{user}")
        for space in ("s", "t")
        for id in ("c", "d")
        for turn, user in enumerate(("alex", "kim", None), 1)
    ]


class IndexContract:
    """Passages and their terms."""

    def test_passages_that_have_expired_are_known_to_the_microsecond(self, store: Store) -> None:
        tick = timedelta(microseconds=1)
        messages = [
            make_message(1),
            make_message(2, expires_at=T0 + SECOND),
            make_message(3, expires_at=T0 + SECOND + tick),
            make_message(1, space="t", expires_at=T0),
        ]
        store.write(lambda tx: append_and_index(tx, *messages))

        def expired_ids(now: datetime, space: str = "s") -> list[str]:
            docs = store.read(lambda tx: tx.index.expired_docs(space, now))
            found = store.read(lambda tx: tx.index.candidates(Filter(space), docs, [])) if docs else []
            return sorted(candidate.message_id for candidate in found)

        assert [expired_ids(T0 + SECOND + ticks * tick) for ticks in (-1, 0, 1)] == [[], ["c-2"], ["c-2", "c-3"]]
        assert expired_ids(T0 + SECOND, "t") == ["c-1"]
        tombstones = [replace(messages[1], content="", erased=True, expires_at=None)]
        store.write(lambda tx: tx.erase(Erasure("e", "s", T0, 1, 1, 0), tombstones))
        assert expired_ids(T0 + SECOND + tick) == ["c-3"]

    def test_a_passage_is_found_by_each_of_its_terms(self, store: Store) -> None:
        indexed_message = make_message(time=T0 + SECOND)
        index_entries(
            store, make_entry(indexed_message, ("one", "two", "one", "one")), make_entry(make_message(2), ("other",))
        )
        (only,), frequencies = search_terms(store, [["one"], ["two"], ["three"]])
        assert (only.message_id, only.time, only.length) == (indexed_message.id, indexed_message.time, 4)
        assert only.counts == (3, 1, 0)
        assert frequencies == [1, 1, 0]

    def test_a_term_is_a_whole_word(self, store: Store) -> None:
        index_entries(
            store,
            make_entry(make_message(1), ("car", "cars", "scar", "carpet")),
            make_entry(make_message(2), ("cars",)),
        )
        (only,), frequencies = search_terms(store, [["car"]])
        assert (only.message_id, only.counts, frequencies) == ("c-1", (1,), [1])
        assert search_terms(store, [["ca"]]) == ([], [0])

    def test_any_word_of_any_script_is_found(self, store: Store) -> None:
        terms = (*WORDS, *SCRIPTS, "x" * 64)
        index_entries(
            store, *(make_entry(make_message(turn), ("same", term, term)) for turn, term in enumerate(terms, 1))
        )
        for turn, term in enumerate(terms, 1):
            candidates, frequencies = search_terms(store, [[term]])
            assert [(candidate.message_id, candidate.counts) for candidate in candidates] == [(f"c-{turn}", (2,))], term
            assert frequencies == [1], term

    def test_what_is_not_a_word_is_not_syntax(self, store: Store) -> None:
        index_entries(store, make_entry(make_message(1), ("a", "b", "it", "s")), make_entry(make_message(2), ("word",)))
        for term in HOSTILE:
            candidates, frequencies = search_terms(store, [[term], ["word"], [term, "word"]])
            assert [(candidate.message_id, candidate.counts) for candidate in candidates] == [("c-2", (0, 1, 1))], term
            assert frequencies == [0, 1, 1], term

    def test_alternatives_count_as_one(self, store: Store) -> None:
        index_entries(
            store,
            make_entry(make_message(1), ("run", "ran", "run")),
            make_entry(make_message(2), ("ran",)),
            make_entry(make_message(3), ("walk",)),
        )
        candidates, frequencies = search_terms(store, [["run", "ran", "running"], ["walk"]])
        assert [(candidate.message_id, candidate.counts) for candidate in candidates] == [
            ("c-1", (3, 0)),
            ("c-2", (1, 0)),
            ("c-3", (0, 1)),
        ]
        assert frequencies == [2, 1]

    def test_a_passage_with_several_terms_is_one_candidate(self, store: Store) -> None:
        index_entries(store, *(make_entry(make_message(turn), ("one", "two")) for turn in (1, 2, 3)))
        candidates, frequencies = search_terms(store, [["one"], ["two"]])
        assert [candidate.counts for candidate in candidates] == [(1, 1)] * 3
        assert frequencies == [3, 3]

    def test_no_terms_find_nothing(self, store: Store) -> None:
        index_entries(store, make_entry(make_message(1)))
        assert search_terms(store, []) == ([], [])

    def test_a_limit_keeps_the_newest_and_counts_all(self, store: Store) -> None:
        """Newest means: indexed last. The count is of the whole scope, whatever the limit."""
        index_entries(
            store,
            *(make_entry(make_message(turn), ("often", "rare") if turn == 1 else ("often",)) for turn in range(1, 8)),
        )
        candidates, frequencies = search_terms(store, [["often"], ["rare"]], limit=2)
        assert [(candidate.message_id, candidate.counts) for candidate in candidates] == [
            ("c-1", (1, 1)),
            ("c-6", (1, 0)),
            ("c-7", (1, 0)),
        ]
        assert frequencies == [7, 1]

    def test_passages_of_one_message_are_each_a_candidate(self, store: Store) -> None:
        indexed_message = make_message(1)
        index_entries(store, make_entry(indexed_message, ("one",)), make_entry(indexed_message, ("one", "one"), part=1))
        candidates, frequencies = search_terms(store, [["one"]])
        assert [(candidate.message_id, candidate.counts) for candidate in candidates] == [("c-1", (1,)), ("c-1", (2,))]
        assert frequencies == [2]
        with pytest.raises(StoreError):
            index_entries(store, make_entry(indexed_message, ("again",), part=1))

    def test_postings_are_newest_first(self, store: Store) -> None:
        index_entries(store, *(make_entry(make_message(turn), ("often",)) for turn in range(1, 6)))
        (posting,) = store.read(lambda tx: tx.index.postings(Filter("s"), [["often"]], 3))
        assert list(posting.docs) == sorted(posting.docs, reverse=True)
        assert len(posting.docs) == 3

    # -- scope

    def test_a_search_stays_in_its_scope(self, store: Store) -> None:
        index_entries(store, *(make_entry(message, ("word",)) for message in messages_in_all_scopes()))
        for space in ("s", "t"):
            for user in ("alex", "kim", "nobody"):
                for id in (None, "c", "d", "e"):
                    where = Filter(space, user=user, conversation=id)
                    expected_ids = [
                        message.id
                        for message in messages_in_all_scopes()
                        if message.space == space and message.user == user and id in (None, message.conversation)
                    ]
                    assert find_message_ids(store, "word", where) == expected_ids
        assert len(find_message_ids(store, "word", Filter("s"))) == 6
        assert len(find_message_ids(store, "word", Filter("s", conversation="d"))) == 3
        assert find_message_ids(store, "word", Filter("third")) == []

    def test_candidates_out_of_scope_are_left_out(self, store: Store) -> None:
        index_entries(store, *(make_entry(message, ("word",)) for message in messages_in_all_scopes()))
        docs = [
            candidate.doc for space in ("s", "t") for candidate in search_terms(store, [["word"]], Filter(space))[0]
        ]
        for where in (Filter("s"), Filter("t", user="kim"), Filter("s", user="alex", conversation="d")):
            candidates = store.read(lambda tx: tx.index.candidates(where, [*docs, 10**9], [["word"]]))  # noqa: B023
            assert sorted(candidate.message_id for candidate in candidates) == sorted(
                find_message_ids(store, "word", where)
            )
        assert store.read(lambda tx: tx.index.candidates(Filter("s"), [], [["word"]])) == []

    def test_passages_are_found_by_their_place(self, store: Store) -> None:
        odd = "12\"'\\ é 👋"
        messages = [
            make_message(turn, conversation=id, author=f"by {turn}") for id in ("c", "d", odd) for turn in (1, 2, 3)
        ]
        store.write(lambda tx: append_and_index(tx, *messages, terms=("word", "word")))
        index_entries(
            store, make_entry(messages[1], ("more",), part=1), make_entry(make_message(1, space="t"), ("word",))
        )
        asked_places = [("c", 2), ("d", 1), (odd, 3), ("c", 9), ("e", 1)]
        candidates = store.read(lambda tx: tx.index.passages_at(Filter("s"), asked_places, [["word"], ["more"]]))
        places = sorted(
            (candidate.conversation, candidate.turn, candidate.counts, candidate.role, candidate.author)
            for candidate in candidates
        )
        assert places == sorted(
            [
                ("c", 2, (2, 0), "user", "by 2"),
                ("c", 2, (0, 1), "user", "by 2"),
                ("d", 1, (2, 0), "user", "by 1"),
                (odd, 3, (2, 0), "user", "by 3"),
            ]
        )
        same_candidates = store.read(
            lambda tx: tx.index.candidates(
                Filter("s"), [candidate.doc for candidate in candidates], [["word"], ["more"]]
            )
        )
        assert sorted(same_candidates) == sorted(candidates)
        assert store.read(lambda tx: tx.index.passages_at(Filter("s"), [], [["word"]])) == []
        assert store.read(lambda tx: tx.index.passages_at(Filter("s", conversation="d"), asked_places, [])) != []
        for elsewhere in (Filter("s", user="kim"), Filter("u"), Filter("s", conversation="x")):
            assert store.read(lambda tx: tx.index.passages_at(elsewhere, asked_places, [["word"]])) == []  # noqa: B023

    def test_scopes_with_names_that_run_together_are_apart(self, store: Store) -> None:
        pairs = [("ab", "c"), ("a", "bc"), ("a\u0301b", "c"), ("A", "bc"), ("a ", "bc")]
        for number, (space, user) in enumerate(pairs):
            index_entries(
                store, make_entry(make_message(space=space, user=user, conversation=user, id=str(number)), ("word",))
            )
        for number, (space, user) in enumerate(pairs):
            assert find_message_ids(store, "word", Filter(space, user=user)) == [str(number)]
            assert find_message_ids(store, "word", Filter(space, conversation=user)) == [str(number)]

    def test_filters_narrow_what_is_found_and_not_what_is_counted(self, store: Store) -> None:
        messages = [
            make_message(1, role="user", time=T0),
            make_message(2, role="assistant", time=T0 + SECOND),
            make_message(3, role="user", time=T0 + 2 * SECOND),
            make_message(1, role="user", time=T0 + SECOND, conversation="d"),
        ]
        index_entries(
            store,
            *(make_entry(message, ("word",)) for message in messages),
            make_entry(make_message(4, user="kim"), ("word",)),
        )
        for where, expected_ids in (
            (Filter("s", user="alex", role="user"), ["c-1", "c-3", "d-1"]),
            (Filter("s", user="alex", after=T0 + SECOND), ["c-2", "c-3", "d-1"]),
            (Filter("s", user="alex", before=T0 + SECOND), ["c-1"]),
            (Filter("s", user="alex", conversation="c", role="assistant"), ["c-2"]),
            (Filter("s", user="alex", role="tool"), []),
        ):
            candidates, frequencies = search_terms(store, [["word"]], where)
            assert [candidate.message_id for candidate in candidates] == expected_ids
            assert frequencies == [4]
        assert search_terms(store, [["word"]], Filter("s", role="user"))[1] == [5]

    def test_a_limit_counts_what_the_filter_lets_through(self, store: Store) -> None:
        messages = [make_message(turn, role="user" if turn < 4 else "assistant") for turn in range(1, 10)]
        index_entries(store, *(make_entry(message, ("word",)) for message in messages))
        candidates, frequencies = search_terms(store, [["word"]], Filter("s", role="user"), limit=2)
        assert [candidate.message_id for candidate in candidates] == ["c-2", "c-3"]
        assert frequencies == [9]

    # -- how much there is

    def test_the_tally_counts_passages_and_words_by_language(self, store: Store) -> None:
        index_entries(
            store,
            make_entry(make_message(1), ("a", "b", "a")),
            make_entry(make_message(2), ("c",), language="ru"),
            make_entry(make_message(3, user="kim"), ("d", "e"), language="de"),
            make_entry(make_message(4, user=None), ("f",), language="zh"),
            make_entry(make_message(1, space="t"), ("g",), language="fr"),
        )
        index_entries(store, make_entry(make_message(5), ()))
        tally = store.read(lambda tx: tx.index.tally("s", "alex"))
        assert (tally.docs, tally.words, tally.languages) == (3, 4, ("en", "ru"))
        tally = store.read(lambda tx: tx.index.tally("s", None))
        assert (tally.docs, tally.words, tally.languages) == (5, 7, ("en", "de", "ru", "zh"))
        tally = store.read(lambda tx: tx.index.tally("s", "nobody"))
        assert (tally.docs, tally.words, tally.languages) == (0, 0, ())

    def test_what_was_thrown_away_is_not_found_and_can_be_put_back(self, store: Store) -> None:
        messages = [make_message(turn) for turn in (1, 2, 3)]
        store.write(lambda tx: append_messages(tx, *messages))
        for _ in range(3):
            index_entries(store, *(make_entry(message, ("word",)) for message in messages))
            assert find_message_ids(store, "word") == ["c-1", "c-2", "c-3"]
            store.write(lambda tx: tx.reset_view("index"))
            assert search_terms(store, [["word"]]) == ([], [0])

    def test_what_moved_is_found_where_it_is_now(self, store: Store) -> None:
        """By word and by vector, with the counts of both people; nothing is indexed again."""
        messages = [make_message(turn) for turn in (1, 2)]
        store.write(lambda tx: append_messages(tx, *messages))
        index_entries(store, *(make_entry(message, ("word", "two"), (1.0, 0.0)) for message in messages))
        docs = [candidate.doc for candidate in search_terms(store, [["word"]])[0]]
        moved = replace(messages[0], user="kim", author="kim")
        store.write(lambda tx: tx.move_messages([moved]))
        store.write(lambda tx: tx.rename_conversation("s", "c", "z"))
        assert find_message_ids(store, "word", Filter("s", user="kim")) == ["c-1"]
        assert find_message_ids(store, "word", Filter("s", user="alex")) == ["c-2"]
        assert find_message_ids(store, "two", Filter("s", conversation="c")) == []
        assert find_message_ids(store, "two", Filter("s", conversation="z")) == ["c-1", "c-2"]
        assert [candidate.doc for candidate in search_terms(store, [["word"]])[0]] == docs
        vector = np.array([1.0, 0.0], np.float32)
        near = store.read(lambda tx: [tx.index.nearest(Filter("s", user=user), vector, 9) for user in ("kim", "alex")])
        assert [[doc for doc, _ in found] for found in near] == [docs[:1], docs[1:]]
        tallies = store.read(lambda tx: [tx.index.tally("s", user).words for user in ("kim", "alex", None)])
        assert tallies == [2, 2, 4]
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [
            replace(message, conversation="z") for message in (moved, messages[1])
        ]

    def test_later_passages_are_newer(self, store: Store) -> None:
        """Also after the last ones were thrown away: a number is given once."""
        docs: list[int] = []
        for _ in range(3):
            index_entries(store, *(make_entry(make_message(turn), ("word",)) for turn in (1, 2)))
            docs += [candidate.doc for candidate in search_terms(store, [["word"]])[0]]
            store.write(lambda tx: tx.reset_view("index"))
        assert docs == sorted(set(docs))

    def test_many_passages_at_once(self, store: Store) -> None:
        terms = [(f"w{turn % 7}", f"x{turn % 3}") for turn in range(1, 1_501)]
        index_entries(store, *(make_entry(make_message(turn), pair) for turn, pair in enumerate(terms, 1)))
        term_counts = Counter(term for pair in terms for term in pair)
        groups = [[term] for term in sorted(term_counts)]
        candidates, frequencies = search_terms(store, groups, limit=5_000)
        assert len(candidates) == 1_500
        assert frequencies == [term_counts[term] for (term,) in groups]

    def test_passages_are_found_in_the_transaction_that_put_them_there(self, store: Store) -> None:
        def put(tx: Tx) -> list[str]:
            tx.index.put_entries([make_entry(make_message(1), ("word",))])
            return [candidate.message_id for candidate in find_matches(tx, [["word"]])[0]]

        assert store.write(put) == ["c-1"]


EXACT = 1e-3  # vectors are kept in half precision
ROLES: tuple[Role, ...] = ("user", "assistant", "tool")


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

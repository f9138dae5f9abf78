"""Ranking: BM25, and its fusion with cosines and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everword.errors import ConfigError
from everword.ports import PassageCandidate, Tally
from everword.recall.rules.neighbours import to_columns
from everword.recall.rules.query import ParsedQuery
from everword.recall.rules.ranking import (
    FEW_WORDS_VECTOR,
    PARTS,
    SEVERAL,
    SEVERAL_AUTHOR,
    SHORT,
    Weights,
    WordLikeness,
    fuse,
    word_scores,
)
from everword.text.dates import spans

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TALLY = Tally(docs=1_000, words=30_000, languages=("en",))
WEIGHTS = Weights()
ONE_WORD = WEIGHTS.text * (1 + WEIGHTS.rarest)  # what the score of a passage's only word is multiplied by
LONG = 400  # words: too long to lean on a neighbour


def candidate(doc: int, *counts: int, length: int = 30) -> PassageCandidate:
    return PassageCandidate(
        doc=doc, message_id=f"m{doc}", time=NOW, length=length, counts=counts, conversation=f"c{doc}"
    )


def bm25(candidates: Sequence[PassageCandidate], frequencies: Sequence[int], tally: Tally) -> dict[int, float]:
    scores = word_scores(to_columns(candidates), frequencies, tally).sum(axis=1)
    return {one.doc: float(score) for one, score in zip(candidates, scores, strict=True)}


def said(doc: int, age: timedelta = timedelta(days=400), **about: Any) -> PassageCandidate:
    """A passage in a conversation of its own, unless told otherwise."""
    place: dict[str, Any] = {"conversation": f"c{doc}", "turn": 2, "length": LONG, "counts": ()} | about
    return PassageCandidate(doc=doc, message_id=f"m{doc}", time=NOW - age, **place)


def fused(
    passages: Sequence[PassageCandidate],
    words: Any,
    cosines: Mapping[int, float],
    asked: ParsedQuery,
    weights: Weights = WEIGHTS,
) -> list[tuple[int, float, dict[str, float]]]:
    """By the docs of passages, best first, their scores and the parts of these."""
    likeness = np.array([cosines.get(passage.doc, np.nan) for passage in passages])
    ranking = fuse(to_columns(passages), np.array(words, dtype=float), likeness, asked, NOW, weights)
    return [(passages[row].doc, float(ranking.scores[row]), ranking.parts(row)) for row in ranking.rows.tolist()]


def ranked(
    text: Mapping[int, float],
    cosines: Mapping[int, float],
    ages: Mapping[int, timedelta] | None = None,
    weights: Weights = WEIGHTS,
) -> list[tuple[int, float, dict[str, float]]]:
    """Passages that have nothing to do with each other, each with one word's score."""
    docs = [*dict.fromkeys((*text, *cosines))]
    passages = [said(doc, (ages or {}).get(doc, timedelta(days=400))) for doc in docs]
    words = np.array([[text.get(doc, 0.0)] for doc in docs]).reshape(len(docs), 1)
    return fused(passages, words, cosines, ParsedQuery(), weights)


def order(
    text: dict[int, float],
    cosines: dict[int, float],
    ages: dict[int, timedelta] | None = None,
    weights: Weights = WEIGHTS,
) -> list[int]:
    return [doc for doc, _, _ in ranked(text, cosines, ages, weights)]


class TestBM25:
    def test_a_rare_word_counts_more_than_a_frequent_one(self) -> None:
        scores = bm25([candidate(1, 1, 0), candidate(2, 0, 1)], [3, 400], TALLY)
        assert scores[1] > scores[2] > 0

    def test_one_rare_word_counts_more_than_two_frequent_ones(self) -> None:
        scores = bm25([candidate(1, 1, 0, 0), candidate(2, 0, 1, 1)], [2, 200, 200], TALLY)
        assert scores[1] > scores[2]

    def test_saying_it_again_counts_but_less_each_time(self) -> None:
        scores = bm25([candidate(n, n) for n in (1, 2, 3)], [10], TALLY)
        assert scores[1] < scores[2] < scores[3]
        assert scores[3] - scores[2] < scores[2] - scores[1]

    def test_a_long_passage_pays_for_its_length(self) -> None:
        scores = bm25([candidate(1, 1, length=SHORT), candidate(2, 1, length=20 * SHORT)], [10], TALLY)
        assert scores[1] > scores[2]

    def test_being_very_short_is_no_merit(self) -> None:
        scores = bm25([candidate(1, 1, length=1), candidate(2, 1, length=SHORT)], [10], TALLY)
        assert scores[1] == scores[2]

    def test_no_words_no_scores(self) -> None:
        assert bm25([], [], TALLY) == {}
        assert bm25([], [5], TALLY) == {}
        assert bm25([candidate(1)], [], TALLY) == {1: 0.0}

    @pytest.mark.parametrize("tally", [Tally(0, 0, ()), Tally(1, 0, ()), Tally(1, 1, ("en",))])
    def test_an_index_that_is_behind_its_own_numbers_does_no_harm(self, tally: Tally) -> None:
        scores = bm25([candidate(1, 1), candidate(2, 2)], [5], tally)
        assert 0 < scores[1] < scores[2]

    def test_a_word_in_every_passage_still_counts_a_little(self) -> None:
        assert bm25([candidate(1, 1)], [1_000], TALLY)[1] > 0

    @given(
        st.lists(
            st.tuples(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.integers(0, 2_000)),
            min_size=1,
            max_size=300,
        ),
        st.tuples(st.integers(0, 1_000), st.integers(0, 1_000)),
        st.randoms(use_true_random=False),
    )
    @settings(deadline=None)
    def test_scores_do_not_depend_on_the_company(
        self, rows: list[tuple[tuple[int, int], int]], frequencies: tuple[int, int], random: Random
    ) -> None:
        candidates = [candidate(n, *counts, length=length) for n, (counts, length) in enumerate(rows)]
        together = bm25(candidates, frequencies, TALLY)
        shuffled = candidates[:]
        random.shuffle(shuffled)
        assert bm25(shuffled, frequencies, TALLY) == pytest.approx(together)
        for each in candidates[:5]:
            assert bm25([each], frequencies, TALLY)[each.doc] == pytest.approx(together[each.doc])
        assert all(score >= 0 for score in together.values())

    @settings(deadline=None)
    @given(st.integers(1, 50), st.integers(0, 50), st.integers(1, 500), st.integers(1, 999))
    def test_one_more_occurrence_never_lowers_a_score(self, first: int, other: int, length: int, having: int) -> None:
        scores = bm25(
            [candidate(1, first, other, length=length), candidate(2, first + 1, other, length=length)],
            [having, 10],
            TALLY,
        )
        assert scores[2] > scores[1]


class TestFuse:
    def test_either_side_alone_keeps_its_order(self) -> None:
        assert order({1: 5.0, 2: 9.0, 3: 1.0}, {}) == [2, 1, 3]
        assert order({}, {1: 0.5, 2: 0.9, 3: 0.3}) == [2, 1, 3]

    def test_both_sides_together_beat_either(self) -> None:
        assert order({1: 6.0, 2: 6.0}, {2: 0.6, 3: 0.6})[0] == 2

    def test_meaning_decides_where_words_are_equal_and_words_where_meaning_is(self) -> None:
        assert order({1: 4.0, 2: 4.0}, {1: 0.3, 2: 0.6}) == [2, 1]
        assert order({1: 8.0, 2: 4.0}, {1: 0.4, 2: 0.4}) == [1, 2]

    def test_a_cosine_of_unrelated_texts_is_worth_nothing(self) -> None:
        found = ranked({}, {1: WEIGHTS.unrelated, 2: -0.4}, {1: timedelta(0), 2: timedelta(0)})
        assert [score for _, score, _ in found] == [0.0, 0.0]

    def test_another_embedder_is_read_by_its_own_numbers(self) -> None:
        other = Weights(unrelated=0.7, spread=0.05)
        text = {1: 8.0}
        cosines = {1: 0.72, 2: 0.76}
        assert order(text, cosines, weights=other) == [1, 2]
        assert order({}, {1: 0.9, 2: 0.7}, weights=other) == [1, 2]

    def test_the_parts_say_where_the_score_comes_from(self) -> None:
        [(doc, score, parts)] = ranked({7: 5.0}, {7: 0.5}, {7: timedelta(0)})
        assert doc == 7
        assert {*parts} == {*PARTS}
        assert score == pytest.approx(sum(parts.values()), abs=3e-6)
        assert parts["text"] == pytest.approx(5.0 * ONE_WORD)
        assert parts["vector"] == pytest.approx(WEIGHTS.vector * 3)

    def test_of_equals_the_newer_then_the_higher_number_comes_first(self) -> None:
        flat = Weights(recency=0)
        text = {1: 2.0, 2: 2.0, 3: 2.0}
        ages = {1: timedelta(days=3), 2: timedelta(days=1), 3: timedelta(days=3)}
        assert order(text, {}, ages, flat) == [2, 3, 1]

    def test_differences_below_the_sixth_place_are_none(self) -> None:
        flat = Weights(recency=0)
        ages = {1: timedelta(days=1), 2: timedelta(days=9)}
        assert order({1: 2.0, 2: 2.0 + 1e-9}, {}, ages, flat) == [1, 2]

    def test_recency_decides_between_near_equals(self) -> None:
        ages = {1: timedelta(days=300), 2: timedelta(hours=1)}
        assert order({1: 5.1, 2: 5.0}, {}, ages) == [2, 1]

    def test_recency_never_lifts_the_irrelevant(self) -> None:
        ages = {1: timedelta(days=3_000), 2: timedelta(0)}
        assert order({1: 6.0}, {1: 0.5, 2: 0.25}, ages) == [1, 2]
        assert order({1: 6.0, 2: 5.5}, {}, ages) == [1, 2]

    def test_the_bonus_halves_with_each_half_life(self) -> None:
        def bonus(age: timedelta) -> float:
            [(_, _, parts)] = ranked({1: 10.0}, {}, {1: age})
            return parts["recency"]

        assert bonus(timedelta(0)) == pytest.approx(10 * ONE_WORD * WEIGHTS.recency)
        assert bonus(WEIGHTS.half_life) == pytest.approx(bonus(timedelta(0)) / 2)
        assert bonus(timedelta(days=-5)) == bonus(timedelta(0))

    def test_nothing_found_is_an_empty_list(self) -> None:
        assert ranked({}, {}) == []

    def test_the_age_of_anything_can_be_told(self) -> None:
        [(_, score, _)] = ranked({1: 1.0}, {}, {1: NOW - datetime(1, 1, 1, tzinfo=UTC)})
        assert score == pytest.approx(ONE_WORD)

    @settings(deadline=None)
    @given(
        st.dictionaries(st.integers(0, 40), st.floats(0, 40)),
        st.dictionaries(st.integers(0, 40), st.floats(-1, 1)),
        st.dictionaries(st.integers(0, 40), st.integers(0, 10_000)),
        st.randoms(use_true_random=False),
    )
    def test_the_order_is_total_and_does_not_depend_on_the_order_of_the_input(
        self, text: dict[int, float], cosines: dict[int, float], hours: dict[int, int], random: Random
    ) -> None:
        ages = {doc: timedelta(hours=hours.get(doc, 0)) for doc in {*text, *cosines}}
        found = ranked(text, cosines, ages)
        mixed = list(text.items())
        random.shuffle(mixed)
        assert ranked(dict(mixed), dict(reversed(cosines.items())), ages) == found
        assert {doc for doc, _, _ in found} == {*text, *cosines}
        keys = [(score, NOW - ages[doc], doc) for doc, score, _ in found]
        assert keys == sorted(keys, reverse=True)

    @settings(deadline=None)
    @given(st.floats(0, 40), st.floats(-1, 1), st.floats(0.01, 5), st.floats(0.001, 0.5), st.integers(0, 10_000))
    def test_more_of_anything_never_lowers_a_score(
        self, words: float, cosine: float, more: float, nearer: float, hours: int
    ) -> None:
        def score(words: float, cosine: float, hours: int) -> float:
            [(_, found, _)] = ranked({1: words}, {1: cosine}, {1: timedelta(hours=hours)})
            return found

        base = score(words, cosine, hours)
        assert score(words + more, cosine, hours) > base
        assert score(words, cosine + nearer, hours) >= base
        assert score(words, cosine, hours // 2) >= base

    @settings(deadline=None)
    @given(st.floats(0, 40), st.floats(-1, 1), st.floats(0, 40), st.floats(-1, 1))
    def test_no_age_turns_a_clear_lead(self, a: float, a_cosine: float, b: float, b_cosine: float) -> None:
        timeless = Weights(recency=0)
        now = {1: timedelta(0), 2: timedelta(0)}
        lead = {doc: score for doc, score, _ in ranked({1: a, 2: b}, {1: a_cosine, 2: b_cosine}, now, timeless)}
        if lead[1] > lead[2] * (1 + WEIGHTS.recency) + 1e-5:
            ages = {1: timedelta(days=10_000), 2: timedelta(0)}
            assert order({1: a, 2: b}, {1: a_cosine, 2: b_cosine}, ages) == [1, 2]


def scored(
    passages: Sequence[PassageCandidate], words: Sequence[Sequence[float]], asked: ParsedQuery
) -> dict[int, dict[str, float]]:
    return {doc: parts for doc, _, parts in fused(passages, words, {}, asked)}


class TestBonuses:
    def test_who_is_named_counts_more_than_who_names_them(self) -> None:
        passages = [said(1, author="ann"), said(2, author="ben")]
        parts = scored(passages, [[5.0], [5.0]], ParsedQuery(authors=frozenset({"ann"})))
        assert parts[1]["speaker"] == WEIGHTS.speaker
        assert parts[2]["speaker"] == 0

    def test_who_is_named_counts_more_where_several_things_are_asked_for(self) -> None:
        asked = ParsedQuery(authors=frozenset({"ann"}), several=True)
        parts = scored([said(1, author="ann"), said(2, author="ben")], [[5.0], [5.0]], asked)
        assert parts[1]["speaker"] == pytest.approx(SEVERAL_AUTHOR * WEIGHTS.speaker)
        assert parts[2]["speaker"] == 0

    def test_meaning_counts_more_where_advice_is_asked_for(self) -> None:
        passages = [said(1)]
        [(_, _, plain)] = fused(passages, [[0.0]], {1: 0.5}, ParsedQuery())
        [(_, _, advised)] = fused(passages, [[0.0]], {1: 0.5}, ParsedQuery(advice=True))
        assert advised["vector"] == pytest.approx(FEW_WORDS_VECTOR * plain["vector"])

    def test_a_question_about_oneself_is_about_what_one_said(self) -> None:
        passages = [said(1, role="user"), said(2, role="assistant")]
        parts = scored(passages, [[5.0], [5.0]], ParsedQuery(own=True))
        assert parts[1]["speaker"] > parts[2]["speaker"] == 0

    def test_what_was_said_then_counts_more_the_nearer_it_is(self) -> None:
        passages = [said(n, timedelta(days=age)) for n, age in ((1, 7), (2, 20), (3, 300))]
        asked = ParsedQuery(times=spans("a week ago", NOW))
        parts = scored(passages, [[5.0]] * 3, asked)
        assert parts[1]["time"] > parts[2]["time"] > parts[3]["time"] >= 0

    def test_a_rarer_time_tells_more(self) -> None:
        asked = ParsedQuery(times=spans("yesterday", NOW))
        few = scored([said(n, timedelta(days=n)) for n in range(1, 40)], [[5.0]] * 39, asked)
        all_of_them = scored([said(n, timedelta(days=1)) for n in range(1, 40)], [[5.0]] * 39, asked)
        assert few[1]["time"] > all_of_them[1]["time"] > 0

    def test_no_bonus_makes_a_hit_of_what_is_not_relevant(self) -> None:
        asked = ParsedQuery(authors=frozenset({"ann"}), times=spans("yesterday", NOW))
        [(_, score, _)] = fused([said(1, timedelta(days=1), author="ann")], np.zeros((1, 1)), {}, asked)
        assert score == 0

    def test_a_word_counts_by_its_emphasis(self) -> None:
        parts = scored([said(1), said(2)], [[5.0, 0.0], [0.0, 5.0]], ParsedQuery(emphasis=(1.0, 0.1)))
        assert parts[1]["text"] == pytest.approx(5.0 * ONE_WORD)
        assert parts[2]["text"] == pytest.approx(0.5 * ONE_WORD)

    def test_one_telling_word_counts_more_than_two_that_tell_half(self) -> None:
        parts = scored([said(1), said(2)], [[8.0, 0.0], [4.0, 4.0]], ParsedQuery())
        assert parts[1]["text"] > parts[2]["text"]

    def test_what_opens_a_conversation_with_an_assistant_says_what_it_is_about(self) -> None:
        passages = [said(1, turn=1), said(2, turn=3), said(3, turn=2, role="assistant")]
        parts = scored(passages, [[5.0]] * 3, ParsedQuery())
        assert [parts[doc]["opening"] for doc in (1, 2, 3)] == [WEIGHTS.opening, 0, 0]
        assert scored(passages[:2], [[5.0]] * 2, ParsedQuery())[1]["opening"] == 0

    def test_all_words_that_were_said_on_an_occasion_count_for_each_of_its_passages(self) -> None:
        then, hours = timedelta(days=2), timedelta(hours=9)
        passages = [
            said(1, then, conversation="c", turn=2, counts=(1, 0)),
            said(2, then, conversation="c", turn=40, counts=(0, 1)),
            said(3, then - hours, conversation="c", turn=80, counts=(1, 0)),
            said(4, then, conversation="d", turn=40, counts=(0, 1)),
        ]
        parts = scored(passages, [[4.0, 0.0], [0.0, 4.0]] * 2, ParsedQuery())
        assert parts[1]["occasion"] == parts[2]["occasion"] == WEIGHTS.occasion
        assert parts[3]["occasion"] == parts[4]["occasion"] == pytest.approx(WEIGHTS.occasion / 2)
        asked_for_several = scored(passages, [[4.0, 0.0], [0.0, 4.0]] * 2, ParsedQuery(several=True))
        assert asked_for_several[1]["occasion"] == pytest.approx(SEVERAL * WEIGHTS.occasion)

    def test_the_nearest_passage_of_an_occasion_counts_for_each_of_them(self) -> None:
        then = [said(n, conversation="c", turn=20 * n) for n in (1, 2)]
        found = fused([*then, said(3)], [[1.0]] * 3, {1: 0.5, 2: 0.2, 3: 0.2}, ParsedQuery())
        parts = {doc: parts["occasion"] for doc, _, parts in found}
        assert parts[1] == parts[2] == pytest.approx(3 * WEIGHTS.occasion_vector)
        assert parts[3] == 0


class TestLikeness:
    PASSAGES = (said(1, counts=(1, 1)), said(2, counts=(1, 0)), said(3, counts=(0, 0)))

    def parts(self, name: str, asked: ParsedQuery = ParsedQuery(), likeness: WordLikeness | None = None) -> list[float]:  # noqa: B008
        words = np.array([[2.0, 2.0], [2.0, 0.0], [0.0, 0.0]])
        cosines = np.array([0.2, 0.2, 0.3])
        ranking = fuse(to_columns(self.PASSAGES), words, cosines, asked, NOW, WEIGHTS, likeness=likeness)
        return [ranking.parts(row)[name] for row in range(3)]

    def test_it_is_the_share_of_the_words_of_a_query_that_a_passage_has(self) -> None:
        assert self.parts("likeness") == pytest.approx([WEIGHTS.likeness, WEIGHTS.likeness / 2, 0.0])
        emphasis = ParsedQuery(emphasis=(0.25, 1.0))
        assert self.parts("likeness", emphasis) == pytest.approx([WEIGHTS.likeness, WEIGHTS.likeness / 5, 0.0])

    def test_a_word_like_it_counts_as_much_as_it_is_like_it(self) -> None:
        nearest = np.array([[0.2, 0.2], [0.2, 0.5], [0.4, 0.0]], np.float32)
        likeness = WordLikeness(nearest, np.array([3.0, 1.0]))
        expected = [WEIGHTS.likeness * share for share in (1.0, 0.75, 0.2)]
        assert self.parts("likeness", likeness=likeness) == pytest.approx(expected)
        occasion = [WEIGHTS.occasion * share for share in (1.0, 0.875, 0.3)]
        occasion[2] += WEIGHTS.occasion_vector
        assert self.parts("occasion", likeness=likeness) == pytest.approx(occasion, abs=1e-5)

    def test_it_makes_no_hit_of_what_neither_words_nor_vectors_know(self) -> None:
        likeness = WordLikeness(np.full((1, 1), 0.9, np.float32), np.ones(1))
        passages = to_columns([said(1, counts=(0,))])
        ranking = fuse(passages, np.zeros((1, 1)), np.array([0.1]), ParsedQuery(), NOW, WEIGHTS, likeness=likeness)
        assert ranking.scores.tolist() == [0.0]


@pytest.mark.parametrize(
    "change",
    [
        {"spread": 0.0},
        {"half_life": timedelta(0)},
        {"recency": 1.0},
        {"recency": -0.1},
        {"coverage": 1.0},
        {"vector": -1.0},
        {"near": -1.0},
        {"speaker": -1.0},
        {"time": -1.0},
        {"detail": -1.0},
        {"likeness": -1.0},
        {"answer": -1.0},
        {"standing": -1.0},
        {"preference": -1.0},
    ],
)
def test_weights_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Weights(**change)  # type: ignore[arg-type]

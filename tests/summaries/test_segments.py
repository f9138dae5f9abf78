"""Where a run of messages is cut into episodes (B2): at a change of subject, within lengths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everword.errors import InvalidInput
from everword.models.embedding.local import StaticEmbedder
from everword.summaries.rules.window import Rows, continues, cuts, depths

BAKING = [
    "How long do I knead the dough for a sourdough bread?",
    "Knead the sourdough for ten minutes, until the dough is smooth and elastic.",
    "And which flour should I use for the bread, rye or wheat?",
    "Wheat flour rises better; a little rye flour gives the bread more taste.",
    "My oven only reaches 220 degrees. Is that enough for a crust?",
    "Yes, bake the bread in a closed pot, and the crust will be fine at 220 degrees.",
]
BICYCLE = [
    "The chain of my bicycle jumps when I change gears. What is wrong?",
    "The chain or the cassette of the bicycle may be worn. Measure the chain first.",
    "The chain is new, but the rear derailleur looks bent.",
    "A bent derailleur hanger makes gears jump. Align the hanger or replace the derailleur.",
    "Do I need a special tool to remove the derailleur from the bike?",
    "A five millimetre hex key will remove the derailleur and open the chain guide.",
]
TAXES = [
    "When do I have to hand in my tax return for last year?",
    "The tax return is due at the end of July; with an adviser you have more time.",
    "Can I deduct the rent of my home office from the income tax?",
    "You can deduct a home office from your taxes if you mostly work there.",
    "And the interest on the mortgage, is it deductible too?",
    "Interest on a mortgage is deductible only for property that you rent out.",
]
USERS = [True, False] * 3


def embedded(texts: list[str]) -> Rows:
    return StaticEmbedder().embed_now(texts)


def sizes(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def found(texts: list[str], may: list[bool] | None = None) -> list[int]:
    return cuts(embedded(texts), sizes(texts), may)


def noise(number: int, seed: int = 1) -> Rows:
    rows = np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)
    unit: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def lengths(places: list[int], number: int) -> list[int]:
    return [end - start for start, end in pairwise([0, *places, number])]


@pytest.mark.checklist("B2")
def test_a_run_is_cut_where_the_subject_changes() -> None:
    assert found([*BAKING, *BICYCLE, *TAXES], USERS * 3) == [6, 12]


@pytest.mark.checklist("B2")
def test_a_run_on_one_subject_stays_whole() -> None:
    assert found(BAKING) == []
    assert found([BAKING[0]] * 20) == []


def test_a_change_too_near_an_end_makes_no_piece_of_its_own() -> None:
    assert found([*BAKING, *TAXES[:3]]) == []


def test_a_cut_is_made_before_a_question_not_before_its_answer() -> None:
    texts = [*BAKING, *BICYCLE]
    assert found(texts, USERS * 2) == [6]
    odd = [False] * 12
    odd[7] = True
    assert found(texts, odd) in ([], [7])
    assert found(texts, [False] * 12) == []


@pytest.mark.parametrize("number", [31, 60, 61, 200, 1_000])
@pytest.mark.checklist("B2")
def test_without_any_change_no_piece_is_too_long(number: int) -> None:
    made = cuts(np.zeros((number, 8), dtype=np.float32), [5] * number)
    assert max(lengths(made, number)) <= 30
    assert min(lengths(made, number)) >= 4


def test_a_long_run_without_a_welcome_place_is_cut_all_the_same() -> None:
    made = cuts(noise(100), [5] * 100, [False] * 100)
    assert max(lengths(made, 100)) <= 30


def test_of_a_long_run_the_deepest_dip_is_taken() -> None:
    texts = [*BAKING * 3, *BICYCLE * 3]
    assert 18 in found(texts)


def test_messages_that_say_nothing_are_no_change() -> None:
    rows = embedded([*BAKING, "👍", "…", "🎉", "", "🙂", "👌"])
    assert not rows[6:].any()
    assert cuts(rows, [10] * 6 + [1] * 6) == []


@pytest.mark.parametrize("number", [0, 1, 2, 7])
def test_few_messages_are_one_piece(number: int) -> None:
    assert cuts(noise(8)[:number], [9] * number) == []


@given(
    st.integers(0, 120),
    st.integers(1, 6),
    st.integers(0, 30),
    st.integers(0, 1_000),
    st.floats(0, 1),
)
@settings(max_examples=50, deadline=None)
@pytest.mark.checklist("B2")
def test_pieces_are_never_too_short_or_too_long(number: int, shortest: int, more: int, seed: int, share: float) -> None:
    longest = 2 * shortest - 1 + more
    rng = np.random.default_rng(seed)
    rows = noise(number, seed) * (rng.random((number, 1)) > 0.2)
    may = [bool(one) for one in rng.random(number) < share]
    weights = [int(one) for one in rng.integers(0, 300, number)]
    made = cuts(rows.astype(np.float32), weights, may, shortest=shortest, longest=longest)
    assert made == sorted(set(made))
    assert made == cuts(rows.astype(np.float32), weights, may, shortest=shortest, longest=longest)
    if number >= 2 * shortest:
        assert min(lengths(made, number)) >= shortest
        assert max(lengths(made, number)) <= longest
    else:
        assert made == []


def test_depths_are_finite_whatever_the_sizes() -> None:
    assert np.isfinite(depths(noise(20), [0] * 20)).all()
    assert np.isfinite(depths(np.zeros((20, 4), dtype=np.float32), [0] * 20)).all()


@pytest.mark.parametrize(
    ("rows", "sized", "may", "shortest", "longest"),
    [(5, 6, 6, 4, 30), (6, 6, 5, 4, 30), (6, 6, 6, 4, 6), (6, 6, 6, 0, 30)],
)
def test_what_cannot_be_is_refused(rows: int, sized: int, may: int, shortest: int, longest: int) -> None:
    with pytest.raises(InvalidInput):
        cuts(noise(rows), [1] * sized, [True] * may, shortest=shortest, longest=longest)


class TestContinues:
    def test_more_of_the_same_goes_on(self) -> None:
        before = embedded([" ".join(BAKING[:3])])[0]
        assert continues(before, embedded(BAKING[3:]), unrelated=0.2, spread=0.1)

    def test_another_subject_does_not(self) -> None:
        before = embedded([" ".join(BAKING)])[0]
        assert not continues(before, embedded(BICYCLE), unrelated=0.2, spread=0.1)
        assert not continues(before, embedded(TAXES), unrelated=0.2, spread=0.1)

    def test_what_has_no_meaning_goes_on_with_nothing(self) -> None:
        zero = np.zeros(256, dtype=np.float32)
        assert not continues(zero, embedded(BAKING), unrelated=0.2, spread=0.1)
        assert not continues(embedded(BAKING)[0], np.zeros((3, 256), dtype=np.float32), unrelated=0.2, spread=0.1)
        assert not continues(embedded(BAKING)[0], np.zeros((0, 256), dtype=np.float32), unrelated=0.2, spread=0.1)


class TestPausesAndReplies:
    @given(st.lists(st.booleans(), min_size=1, max_size=80), st.lists(st.booleans(), min_size=80, max_size=80))
    @settings(max_examples=50, deadline=None)
    @pytest.mark.checklist("B2")
    def test_a_long_pause_is_a_cut_and_a_reply_stays_with_its_question(
        self, pauses: list[bool], replies: list[bool]
    ) -> None:
        count = len(pauses)
        replies = [False, *replies[: count - 1]]
        starts = cuts(noise(count), [5] * count, pauses=pauses, replies=replies)
        assert starts == sorted(set(starts))
        bounds = [0, *starts, count]
        for place in range(1, count):
            if pauses[place] and not replies[place]:
                assert place in starts
        for start, end in pairwise(bounds):
            assert end - start <= 30
            # A reply is cut off only where nothing else in reach of the cut is free.
            if replies[start] and start:
                before = max(bound for bound in bounds if bound < start)
                assert all(replies[place] for place in range(before + 4, start))

    def test_a_subject_that_goes_on_after_a_night_begins_a_new_piece(self) -> None:
        texts = BAKING + BAKING
        pauses = [place == 6 for place in range(12)]
        assert cuts(embedded(texts), sizes(texts), pauses=pauses) == [6]
        assert cuts(embedded(texts), sizes(texts), pauses=pauses, replies=pauses) == []

    def test_a_cut_between_question_and_answer_moves_to_another_gap(self) -> None:
        texts = BAKING + BICYCLE
        assert cuts(embedded(texts), sizes(texts)) == [6]
        replies = [place == 6 for place in range(12)]
        assert 6 not in cuts(embedded(texts), sizes(texts), replies=replies)

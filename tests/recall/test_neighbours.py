"""What neighbours lend a passage, and when they do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from everword.ports import PassageCandidate
from everword.recall.rules.neighbours import (
    MEANING,
    REPLY,
    SHORT_LINES,
    WORDS,
    Surroundings,
    adjacent_keys,
    mean_lengths,
    missing_places,
    split_key,
    surroundings,
    to_columns,
)

T0 = datetime(2024, 5, 15, tzinfo=UTC)


def said(turn: int, **about: Any) -> PassageCandidate:
    given: dict[str, Any] = {
        "doc": turn,
        "time": T0 + timedelta(minutes=turn),
        "length": 8,
        "conversation": "c",
    } | about
    return PassageCandidate(message_id=f"m{turn}", counts=(), turn=turn, **given)


def stood(passages: list[PassageCandidate]) -> Surroundings:
    return surroundings(to_columns(passages))


def lent(passages: list[PassageCandidate], words: list[list[float]]) -> list[list[float]]:
    return [[round(x, 6) for x in row] for row in stood(passages).words_with_neighbours(np.array(words)).tolist()]


def test_an_answer_has_the_words_of_its_question() -> None:
    assert lent([said(1), said(2)], [[10.0], [0.0]]) == [[10.0], [10.0 * WORDS[-1]]]
    assert lent([said(1), said(2)], [[0.0], [10.0]]) == [[10.0 * WORDS[1]], [10.0]]


def test_a_word_a_passage_has_itself_is_not_counted_twice() -> None:
    assert lent([said(1), said(2)], [[10.0, 0.0], [10.0, 6.0]]) == [[10.0, 3.6], [10.0, 6.0]]


def test_the_further_off_the_less() -> None:
    rows = lent([said(turn) for turn in range(1, 7)], [[10.0]] + [[0.0]] * 5)
    assert [row[0] for row in rows] == [10.0, 10 * WORDS[-1], 10 * WORDS[-2], 10 * WORDS[-3], 0.0, 0.0]


def test_meaning_is_lent_too() -> None:
    added = stood([said(1), said(2), said(9)]).neighbour_meaning(np.array([5.0, 0.0, 0.0]))
    assert added.tolist() == pytest.approx([0.0, 5.0 * MEANING[-1], 0.0])


@pytest.mark.parametrize(
    "other",
    [
        said(2, conversation="d"),
        said(2, time=T0 + timedelta(hours=7)),
        said(9),
    ],
)
def test_only_the_same_occasion_lends(other: PassageCandidate) -> None:
    assert lent([said(1), other], [[10.0], [0.0]])[1] == [0.0]


def test_long_messages_speak_for_themselves() -> None:
    def share(length: int) -> float:
        return lent([said(1, length=length), said(2, length=length)], [[10.0], [0.0]])[1][0]

    assert share(SHORT_LINES) == 10 * WORDS[-1]
    assert share(SHORT_LINES) > share(SHORT_LINES + 5) > share(2 * SHORT_LINES) > share(300)
    assert share(300) < 0.01


def test_an_assistants_reply_says_what_it_replies_to() -> None:
    asked, reply = said(1, length=400), said(2, length=400, role="assistant")
    rows = lent([asked, reply], [[0.0], [10.0]])
    assert rows[0] == [10 * REPLY]
    assert lent([reply, said(3, length=400)], [[10.0], [0.0]])[1][0] < 0.01


def test_a_message_of_many_passages_lends_its_best() -> None:
    passages = [said(1, doc=1), said(1, doc=2), said(2, doc=3)]
    assert lent(passages, [[2.0], [10.0], [0.0]])[2] == [10.0 * WORDS[-1]]


def test_one_passage_alone_has_what_it_has() -> None:
    assert lent([said(1)], [[3.0, 0.0]]) == [[3.0, 0.0]]


def test_places_next_to_a_passage() -> None:
    def places(*passages: PassageCandidate, reaches: list[int]) -> list[tuple[int, int]]:
        return list(map(split_key, adjacent_keys(to_columns(passages), np.array(reaches)).tolist()))

    assert places(said(1), reaches=[1]) == [(0, 2)]
    assert places(said(3), reaches=[3]) == [(0, 1), (0, 2), (0, 4), (0, 5), (0, 6)]
    assert places(said(1), said(5, conversation="d"), reaches=[2, 1]) == [(0, 2), (0, 3), (1, 4), (1, 6)]


def test_places_at_which_no_passage_is() -> None:
    known = to_columns([said(1), said(3), said(2, conversation="d")])
    keys = adjacent_keys(known, np.array([1, 1, 1]))
    assert list(map(split_key, missing_places(known, keys).tolist())) == [(0, 2), (0, 4), (1, 1), (1, 3)]
    assert missing_places(to_columns([]), keys).tolist() == keys.tolist()


def test_how_long_messages_of_a_place_are() -> None:
    known = to_columns([said(1, length=4), said(2, length=8), said(4, length=20), said(3, conversation="d")])
    assert mean_lengths(known.take(np.array([0, 1, 2])), known).tolist() == [6.0, 6.0, 20.0]

"""Words like those of a query: nearer in meaning is more alike, and the nearest word of a passage counts."""

from __future__ import annotations

import numpy as np
import pytest

from everword.recall.scope_index import best_likeness, knows_language, line_codes
from everword.text.terms import analyse, query_groups


def likeness(query: str, *texts: str) -> list[list[float]]:
    """For each text how near it is to each word of a query."""
    lines = "\n".join(" ".join(analyse(text, "en").terms) for text in texts)
    rows: list[list[float]] = best_likeness(*line_codes(lines.encode(), 0), query_groups(query, ["en"])).tolist()
    return rows


def test_the_same_word_is_as_near_as_can_be_and_others_by_their_meaning() -> None:
    (same,), (near,), (far,) = likeness("instruments", "an old instrument", "the violin", "some gravel")
    assert same == pytest.approx(1.0, abs=1e-5)
    assert same > near > 0.3 > far >= 0


def test_the_nearest_word_of_a_passage_counts_for_each_word_of_the_query() -> None:
    both, cat, vacation = likeness("dogs holidays", "our cat slept through the vacation", "our cat", "the vacation")
    assert both[0] == pytest.approx(cat[0])
    assert both[1] == pytest.approx(vacation[1])
    assert cat[0] > vacation[0]
    assert vacation[1] > cat[1]


def test_what_is_not_in_the_table_is_near_to_nothing() -> None:
    assert likeness("qwxyzzt boat", "qwxyzzt", "лодка", "") == [[0.0, 0.0]] * 3


def test_no_words_no_likeness() -> None:
    nothing = np.empty(0, np.uint64)
    assert best_likeness(nothing, np.zeros(2, np.int64), [("boat",)]).tolist() == [[0.0], [0.0]]
    assert best_likeness(nothing, np.empty(0, np.int64), []).shape == (0, 0)


def test_in_many_words_each_counts_as_in_few() -> None:
    texts = ["our cat slept", "", "the violin and the piano", "some gravel by the lake"]
    few = likeness("dogs instruments", *texts)
    many = likeness("dogs instruments", *texts * 500)
    assert many == few * 500


MANY_WORDS = "dogs instruments holidays boats gardens teachers kitchens letters mountains winters doctors trains"


@pytest.mark.parametrize("long_text", ["some gravel by the lake", "gravel lake " * 200])
def test_of_many_words_each_counts_as_by_itself(long_text: str) -> None:
    """Whether passages are about as long as each other, or one is far longer."""
    texts = ["our cat slept", "", "the violin and the piano", "a vacation by train", long_text]
    all_words = likeness(MANY_WORDS, *texts)
    words = MANY_WORDS.split()
    one_by_one = [likeness(word, *texts) for word in words]
    assert len(all_words[0]) == len(words)
    for place, row in enumerate(all_words):
        assert row == pytest.approx([column[place][0] for column in one_by_one], abs=1e-6)


def test_it_knows_english() -> None:
    assert knows_language(["de", "en"])
    assert not knows_language(["de"])

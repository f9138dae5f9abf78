"""How particular a message is."""

from __future__ import annotations

import numpy as np
import pytest

from everword.recall.rules.ranking import (
    LOOKED_AT,
    MOST,
    count_particulars,
    detail,
    is_preference,
    is_question,
    is_standing,
    traits,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("That sounds great, thank you so much!", 0),
        ("We paid 40 euros", 1),
        ("two weeks ago", 3),
        ("I flew to Lisbon with Ann", 2),
        ("Lisbon is nice. Ann likes it", 0),
        ("1 2 3 4 5 6 7 8", MOST),
        ("we saw Rome, Oslo, Bonn, Riga and Kyiv in 2020, 2021, 2022 and 2023", 2 * MOST),
        ("x " * LOOKED_AT + "7", 0),
        ("我昨天花了40元", 1),
    ],
)
def test_numbers_and_names_are_counted_up_to_a_few(text: str, count: int) -> None:
    assert detail(text) == count


def test_what_is_known_of_texts_is_read_from_one_number_each() -> None:
    texts = ("I prefer tea to coffee.", "Always answer in French.", "When does the train to Porto leave?", "Hm.")
    known = np.array([*(traits(text) for text in texts), -1], np.int8)
    assert is_preference(known).tolist() == [True, False, False, False, False]
    assert is_standing(known).tolist() == [False, True, False, False, False]
    assert is_question(known).tolist() == [False, False, True, False, False]
    assert count_particulars(known)[:4].tolist() == [detail(text) for text in texts]

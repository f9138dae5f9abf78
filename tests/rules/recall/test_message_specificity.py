"""How particular a message is."""

from __future__ import annotations

import pytest

from recollect.rules.recall.message_specificity import LOOKED_AT, MOST, detail


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

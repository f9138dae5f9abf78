"""What was corrected gives way to its correction, in one summary and in the levels above it."""

from __future__ import annotations

import pytest

from everword.models.tokens import EstimateTokenizer
from everword.summaries.rules.extract import SpokenLine, condense, gist, render_lines

count = EstimateTokenizer().count
OTHERS = [
    SpokenLine("user", "Kim", "The bakery in Leeds opens its second oven room in autumn.", 50),
    SpokenLine("user", "Kim", "Rosa paints the shutters of the cottage green.", 51),
]
REPLACED = [
    ("The deadline for the grant is 5 May.", "The deadline moved to 12 May.", "5 May", "12 May"),
    ("The deadline for the grant is 5 May.", "Actually, the deadline for the grant is 9 June.", "5 May", "9 June"),
    ("Our wedding is on 3 June.", "Our wedding is on 10 June.", "3 June", "10 June"),
    ("The rent is 900 euros a month.", "The rent is now 950 euros a month.", "900 euros", "950 euros"),
    ("The picnic is on Saturday at the lake.", "The picnic was cancelled.", "Saturday", "cancelled"),
    ("The venue costs 4,200 euros.", "Sorry, I meant the venue costs 4,700 euros.", "4,200", "4,700"),
]


@pytest.mark.parametrize(("old", "new", "stale", "fresh"), REPLACED)
@pytest.mark.parametrize("limit", [30, 60, 120])
def test_a_correction_replaces_what_it_corrects(old: str, new: str, stale: str, fresh: str, limit: int) -> None:
    lines = [SpokenLine("user", "Alex", old, 1), *OTHERS, SpokenLine("user", "Alex", new, 60)]
    made = render_lines(gist(lines, limit, count))
    assert stale not in made
    assert fresh in made


@pytest.mark.parametrize(("old", "new", "stale", "fresh"), REPLACED)
def test_no_level_keeps_the_stale_value(old: str, new: str, stale: str, fresh: str) -> None:
    first = gist([SpokenLine("user", "Alex", old, 1), OTHERS[0]], 60, count)
    second = gist([OTHERS[1], SpokenLine("user", "Alex", new, 60)], 60, count)
    assert stale in render_lines(first)
    for limit in range(5, 60, 3):
        made = render_lines(condense([first, second], limit, count))
        assert stale not in made
    assert fresh in render_lines(condense([first, second], 60, count))


def test_a_correction_that_is_unclear_alone_stands_after_what_it_corrects() -> None:
    said = ("The race starts on Saturday.", "No, wait, on Sunday!")
    lines = [*(SpokenLine("user", "Alex", text, turn) for turn, text in enumerate(said, 1)), *OTHERS]
    made = render_lines(gist(lines, 90, count))
    assert "The race starts on Saturday. No, wait, on Sunday!" in made
    for limit in range(5, 40):
        made = render_lines(gist(lines, limit, count))
        assert ("Saturday" in made) == ("Sunday" in made)


@pytest.mark.parametrize(
    "said",
    [
        ("I ran 5 kilometres along the canal.", "I ran 7 kilometres along the canal."),
        ("My sister is a nurse in Oslo.", "My sister is 34 years old."),
        ("I love painting landscapes.", "Painting actually calms me down."),
        ("The red bus costs 4 euros.", "The museum costs 9 euros."),
    ],
)
def test_what_is_also_true_is_no_correction(said: tuple[str, str]) -> None:
    lines = [SpokenLine("user", "Alex", text, turn) for turn, text in enumerate(said, 1)]
    made = render_lines(gist(lines, 200, count))
    assert said[0].rstrip(".")[:14] in made


def test_a_sentence_is_not_cut_before_what_turns_it_round() -> None:
    text = "We wanted to take the early ferry to Bodø on the ninth of August, but it was fully booked all week."
    for limit in range(8, 40):
        made = render_lines(gist([SpokenLine("user", "Alex", text)], limit, count))
        assert "ninth of August." not in made

"""Excerpts: the sentences of a long message that have to do with the question, word for word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everword.recall.rules.relevance import excerpt, stems

LETTER = (
    "Dear all, the summer was long. We painted the fence in May. The boat needs a new engine, about 900 euros. "
    "Nobody has seen the neighbour's cat. The harbour opens again on Monday. Best wishes from all of us."
)


def test_it_keeps_what_the_question_is_about() -> None:
    found = excerpt(LETTER, stems("What does the engine of the boat cost?"), 70)
    assert "The boat needs a new engine, about 900 euros." in found
    assert "fence" not in found
    assert found.startswith("…")
    assert found.endswith("…")


def test_sentences_stay_in_their_order_and_gaps_are_marked() -> None:
    found = excerpt(LETTER, stems("the harbour and the fence"), 110)
    assert found.index("fence") < found.index("harbour")
    assert found.count("…") >= 2


def test_without_a_common_word_it_begins_at_the_beginning() -> None:
    assert excerpt(LETTER, stems("zebra"), 60).startswith("Dear all, the summer was long.")


def test_a_short_text_is_itself() -> None:
    assert excerpt("All of it.", stems("zebra"), 60) == "All of it."


@given(st.text(max_size=400), st.text(max_size=60), st.integers(1, 200))
def test_it_is_never_much_longer_than_asked_for_and_never_invents(text: str, question: str, length: int) -> None:
    found = excerpt(text, stems(question), length)
    assert len(found) <= length + 2
    for part in found.split("…"):
        assert "".join(part.split()) in "".join(text.split())

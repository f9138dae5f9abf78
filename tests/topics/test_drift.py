"""Where the subject shifts: what speaks for it, what against it, and what says nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from time import thread_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.model import Role
from everword.models.embedding.local import StaticEmbedder
from everword.topics.rules.drift import (
    BUILT_IN,
    CLOSING,
    CUE,
    LIKELY,
    REACH,
    READ,
    WEIGHTS,
    DriftMessage,
    Scale,
    likeness,
    read_cues,
    shift,
    signs,
)
from everword.topics.rules.words import read_words

EMBEDDER = StaticEmbedder()
NOON = datetime(2031, 5, 8, 12, tzinfo=UTC)


def seen(text: str, role: Role = "user", time: datetime | None = None) -> DriftMessage:
    return DriftMessage(text, EMBEDDER.embed_now([text])[0], role, time)


ROOF = [
    seen("The roofer found three broken tiles above the kitchen."),
    seen("Did he say what new tiles would cost?"),
    seen("About two hundred euros for the tiles and the work on the roof."),
]


@pytest.mark.checklist("E1")
def test_a_new_subject_is_likelier_a_shift_than_going_on() -> None:
    """E1: a message joins what it goes on with, or opens something else."""
    on = shift(ROOF, seen("Two hundred is cheap for new tiles on a kitchen roof."))
    away = shift(ROOF, seen("Do you play any musical instruments?"))
    assert on < LIKELY <= away


def test_a_message_that_was_given_no_vector_is_as_one_that_says_nothing() -> None:
    """F15: a script the embedder cannot read is no reason to fail."""
    message = seen("Do you play any musical instruments?")
    silent, missing = (DriftMessage("漢字", np.zeros(width, np.float32)) for width in (256, 0))
    assert shift([*ROOF, missing], message) == shift([*ROOF, silent], message)


@pytest.mark.parametrize("text", ["ok", "thanks!", "🙂", "😂😂", "", " \n", "…", "да"])
def test_what_says_nothing_belongs_to_what_it_follows(text: str) -> None:
    assert shift(ROOF, seen(text)) == 0


def test_a_message_goes_on_in_another_language() -> None:
    thanks = shift(ROOF, seen("谢谢"))
    on = shift(ROOF, seen("Сколько стоит новая черепица для крыши?"))
    away = shift(ROOF, seen("Ты играешь на каком-нибудь музыкальном инструменте?"))
    assert max(thanks, on) < LIKELY
    assert on < away


def test_a_reply_never_begins_something_else_and_the_first_message_always_does() -> None:
    strange = "Do you play any musical instruments?"
    assert shift(ROOF, seen(strange, "assistant")) == shift(ROOF, seen(strange, "tool")) == 0
    assert shift([], seen(strange)) == shift([], seen("ok")) == shift([], seen("", "assistant")) == 1


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("By the way, my cello teacher retires in June.", "My cello teacher retires in June."),
        ("Do you like to travel by train?", "I like to travel by train."),
        ("I bought a ticket to Lisbon.", "I bought a ticket to Lisbon for them."),
        ("Do you have any plans for Lisbon?", "Lisbon is my plan, and you?"),
    ],
)
def test_cues_move_the_chance(more: str, less: str) -> None:
    """Announcing it, asking the other person, pointing back at nothing, and not merely returning a question."""
    assert shift(ROOF, seen(more)) > shift(ROOF, seen(less))


def test_an_answer_goes_on_with_what_was_asked() -> None:
    said = seen("Mostly on Sundays with my cousin.")
    asked, told = seen("When do you go fishing?"), seen("I often go fishing.")
    assert shift([*ROOF, asked], said) < shift([*ROOF, told], said)


def test_the_user_changes_the_subject_rather_after_a_reply() -> None:
    answered = [*ROOF[:2], seen(ROOF[2].text, "assistant")]
    new = seen("My cello teacher retires in June.")
    assert shift(answered, new) > shift(ROOF, new)


def test_a_pause_makes_a_shift_likelier_and_a_clock_set_back_does_not_matter() -> None:
    def after(pause: timedelta) -> float:
        before = [DriftMessage(one.text, one.vector, one.role, NOON) for one in ROOF]
        return shift(before, seen("The tiles are on the lorry now.", time=NOON + pause))

    unknown = shift(ROOF, seen("The tiles are on the lorry now."))
    assert after(timedelta()) == after(timedelta(hours=-5)) == unknown
    assert unknown < after(timedelta(hours=1)) < after(timedelta(hours=12)) <= after(timedelta(days=400)) < 1


def test_likeness_is_counted_in_the_embedders_own_deviations() -> None:
    """Two embedders, one with larger cosines between unrelated texts: the same place on their scales, the same sign."""

    def pair(cosine: float) -> tuple[DriftMessage, DriftMessage]:
        words = " ".join(["word"] * 15)
        one = np.array([1.0, 0.0], dtype=np.float32)
        return DriftMessage(words, one), DriftMessage(
            words, np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)
        )

    first, second = pair(0.5)
    low = likeness([first], second, Scale(0.0, 0.1))
    assert low == pytest.approx(5.0, abs=1e-4)
    assert likeness([first], second, Scale(0.0, 0.2)) == pytest.approx(2.5, abs=1e-4)
    assert likeness([first], second, Scale(0.3, 0.1)) < low


def test_only_the_last_messages_count_and_nothing_depends_on_how_often_it_is_asked() -> None:
    far = [seen(f"The boiler makes noise number {n}.") for n in range(20)]
    message = seen("Do you play any musical instruments?")
    near = far[-REACH:]
    assert shift(far, message) == shift(near, message) == shift(near, message)


def test_every_sign_has_a_weight() -> None:
    assert list(signs(ROOF, ROOF[0], BUILT_IN)) == list(WEIGHTS)


def test_a_huge_message_is_read_at_both_ends() -> None:
    text = "word. " * 200_000 + "By the way, do you sing?"
    reading = read_cues(text)
    assert reading.cue == reading.question_last == 1
    assert len(read_words(text).stems) < 2_000


@given(st.lists(st.text(max_size=80), max_size=12), st.text(max_size=200))
def test_it_is_a_chance_whatever_is_said(before: list[str], text: str) -> None:
    assert 0 <= shift([seen(one) for one in before], seen(text)) <= 1


@pytest.mark.checklist("F15")
def test_question_marks_without_end_take_time_in_proportion() -> None:
    def seconds(characters: int) -> float:
        text = "x" + "\uff1f" * characters + "x"
        begun = thread_time()
        for _ in range(2_000 // characters):
            read_cues(text)
        return thread_time() - begun

    assert min(seconds(2_000) for _ in range(3)) < 4 * min(seconds(200) for _ in range(3))


@given(st.from_regex(re.compile(CUE.pattern), alphabet=st.characters(codec="ascii")))
def test_no_cue_is_overlooked_by_the_test_before_its_pattern(text: str) -> None:
    assert read_cues(text).cue == 1.0 or len(text) > READ


@given(st.from_regex(re.compile(CLOSING.pattern), alphabet=st.characters(codec="ascii")))
def test_no_closing_is_overlooked_by_the_test_before_its_pattern(text: str) -> None:
    assert read_cues(text).closing == 1.0 or len(text) > READ


def test_a_text_without_spaces_is_as_long_as_its_words() -> None:
    assert read_cues("昨日 the 実家に帰って異動のことを話した").words == 3 + 8
    assert read_cues("I told them at home").words == 5

"""How well a message fits topics."""

from __future__ import annotations

import numpy as np
import pytest

from everword.topics.rules.drift import Scale
from everword.topics.rules.topic_set import Similarities
from everword.topics.rules.topics import LOOKED_AT, MANY, Fits, fit_topics, nearest_topics
from everword.topics.rules.words import NO_WORDS, TopicWords

SCALE = Scale(unrelated=0.2, spread=0.1)


def near(*cosines: float) -> Similarities:
    return Similarities(np.arange(1, len(cosines) + 1), np.array(cosines, np.float32))


def fit(similarities: Similarities, message: dict[str, float], words: dict[int, TopicWords]) -> Fits:
    return fit_topics(similarities, lambda topic: [words.get(topic, NO_WORDS)], message, SCALE)


@pytest.mark.checklist("E1")
def test_with_one_topic_and_no_words_a_fit_is_the_cosine() -> None:
    assert fit(near(0.6), {}, {}).to(1) == pytest.approx(0.6)


def test_what_is_like_everything_fits_nothing_well() -> None:
    alone = fit(near(0.6, 0.1, 0.1, 0.1), {}, {}).to(1)
    among_alike = fit(near(0.6, 0.55, 0.55, 0.55), {}, {}).to(1)
    assert alone == pytest.approx(0.6)
    assert among_alike < 0.5


def test_shared_words_close_a_part_of_the_gap() -> None:
    bees = TopicWords({"bee": 3, "hive": 2}, {"bee hive": 2})
    fits = fit(near(0.4, 0.4), {"bee": 2.0, "hive": 2.0, "fence": 1.0}, {1: bees})
    assert 1 > fits.to(1) > fits.to(2) + 0.2
    assert fits.best() == (1, fits.to(1))
    assert fits.best(without=1)[0] == 2


def test_only_the_nearest_and_the_current_topic_are_looked_at() -> None:
    cosines = [number / 1_000 for number in range(2 * MANY)]
    nearest = nearest_topics(near(*cosines), 3)
    assert sorted(nearest)[-LOOKED_AT:] == list(range(2 * MANY - LOOKED_AT + 1, 2 * MANY + 1))
    assert 3 in nearest
    assert len(nearest) == LOOKED_AT + 1
    assert fit(near(), {}, {}).best() == (None, -1.0)

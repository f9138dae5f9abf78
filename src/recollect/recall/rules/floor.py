"""Whether what a search finds has to do with the query at all.

Ranking says which passages are better than others, and even an unrelated query has a best passage. So each passage is
measured against chance. Its own words count by how rare they are, so that common words add up to little; the likeness
of its vector counts in standard deviations above that of unrelated texts, which is a property of the embedder. What
neighbours lend is not counted. The larger the memory is, the better is the best of its unrelated passages, so more is
asked of it. Less is asked if the query itself says that it is about the memory: if it names somebody who speaks there,
or speaks of the person's own life.

The result is on one scale for every memory, from 0 to 1, and `FLOOR` is where relevant begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput
from recollect.recall.rules.neighbours import Surroundings, surroundings
from recollect.recall.rules.passage_columns import Passages

FLOOR = 0.5
"""Below this, the best hit is no better than the best hit of an unrelated query is by chance."""
PER_WORD = 2.0
"""Standard deviations of likeness that a shared rare word is worth."""
LEAST = 2.1
"""What is asked of a passage in a memory of one passage,"""
PER_MAGNITUDE = 1.0
"""and how much more for each factor of ten in size."""
PERSONAL = 3.6
"""How much less is asked if the query is about the people of the memory."""
USUAL = 1_000
"""Passages without any word of the query that are counted with those of the memory: in a memory of five messages no
word is known to be frequent."""
CLOSE = 5.0
"""Standard deviations of likeness from which on a summary is relevant by itself, whatever words it has."""

Scores = NDArray[np.float64]


def check_floor(value: object) -> float:
    """A floor as it may be given: a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("floor", f"must be a number from 0 to 1, not {type(value).__name__}")
    if not 0 <= value <= 1:
        raise InvalidInput("floor", f"is {value}; must be from 0 to 1")
    return float(value)


def rarity(frequencies: Sequence[int], size: int) -> Scores:
    """How rare each word of a query is in a memory of so many passages: about 1 if one passage has it, near 0 if most
    have."""
    having = np.array(frequencies, dtype=np.float64)
    passages = np.maximum(size + USUAL, having)
    return np.asarray(np.log1p((passages - having + 0.5) / (having + 0.5)) / np.log1p(passages))


def relevance(words: Scores, deviations: Scores, size: int, *, personal: bool) -> Scores:
    """How relevant passages are, from 0 to 1: `words` is the rarity of the words each shares with the query, added up,
    and `deviations` how far its likeness is above that of unrelated texts. It grows with both."""
    demanded = LEAST + PER_MAGNITUDE * np.log10(max(size, 1)) - (PERSONAL if personal else 0.0)
    return np.asarray(1 / (1 + np.exp(demanded - PER_WORD * words - deviations)))


def shared_rarity(passages: Passages, frequencies: Sequence[int], emphasis: Sequence[float], size: int) -> Scores:
    """For each passage the rarity of the words it shares with the query, each as much as it counts in the query."""
    if not len(passages) or not frequencies:
        return np.zeros(len(passages))
    weights = rarity(frequencies, size) * np.array(emphasis or [1.0] * len(frequencies))
    return np.asarray((passages.counts > 0) @ weights)


def relevance_with_neighbours(passages: Passages, relevances: Scores, around: Surroundings | None = None) -> Scores:
    """For each passage its own relevance, or that of a message beside it that it completes."""
    if not len(passages):
        return relevances
    return (around or surroundings(passages)).best_with_neighbours(relevances).round(6)


def is_none_relevant(relevances: Scores, is_later: NDArray[np.bool_] | None) -> bool:
    """Whether it is sure that no passage is relevant. It is not where some are of the question, or later (`is_later`):
    of these, only messages tell."""
    if is_later is not None and np.logical_or.reduce(is_later):
        return False
    return bool(np.maximum.reduce(relevances, initial=0.0) < FLOOR)

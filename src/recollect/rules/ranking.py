"""The order of what was found, from numbers every store can give: the same words, vectors and times, the same order.

Two judges add up: BM25 over the words of the query, and the cosine of its vector, counted in standard deviations
above the cosine of unrelated texts. Both grow with how unlikely such a match is by chance, so their sum needs no
corpus-wide statistics and keeps its balance from twenty messages to thousands. A query of rare words is decided
by them, one in other words than the text's by its meaning. Being recent adds a few per cent of what a passage
has earned: it decides between equals and never makes up for relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect.errors import ConfigError
from recollect.ports import Candidate, Posting, Tally

K1 = 1.2
"""How soon saying a word again stops mattering."""
B = 0.9
"""How much a long passage pays for its length."""
SHORT = 24
"""Words up to which a passage is merely short. Without it "Thanks, Mel!" is the best answer to all about Mel."""
SHARPNESS = 1.5
"""Power of a word's rarity: several frequent words of a question do not outweigh its one rare word."""
_SCALE = 0.5  # keeps a word that one text in fifty has at its plain BM25 weight


@dataclass(frozen=True, slots=True)
class Weights:
    """How the judges are weighed. The defaults are measured with the built-in embedder; another needs its own
    `unrelated` and `spread`: mean and standard deviation of the cosine of texts that have nothing to do with
    each other.
    """

    vector: float = 1.2
    unrelated: float = 0.2
    spread: float = 0.1
    recency: float = 0.05
    half_life: timedelta = timedelta(days=30)

    def __post_init__(self) -> None:
        if self.spread <= 0:
            raise ConfigError("spread is a standard deviation: give a number above 0")
        if self.half_life <= timedelta(0):
            raise ConfigError("half_life is a time span: give one above 0, or set recency to 0")
        if not 0 <= self.recency < 1 or self.vector < 0:
            raise ConfigError("give a vector weight of 0 or more, and a recency from 0 to below 1")


Ranked = tuple[int, float, dict[str, float]]
"""A passage's number, its score, and the parts the score is the sum of."""


def bm25(candidates: Sequence[Candidate], frequencies: Sequence[int], tally: Tally) -> dict[int, float]:
    """How well each passage fits the words of a query; `frequencies` are those of its groups of terms."""
    if not candidates or not frequencies:
        return {candidate.doc: 0.0 for candidate in candidates}
    worth = _worth(frequencies, tally)
    counts = np.array([candidate.counts for candidate in candidates], dtype=np.float64)
    lengths = np.array([max(candidate.length, SHORT) for candidate in candidates], dtype=np.float64)
    usual = max(tally.words / max(tally.docs, 1), SHORT)
    drag = K1 * (1 - B + B * lengths / usual)
    scores = (worth * counts * (K1 + 1) / (counts + drag[:, np.newaxis])).sum(axis=1)
    return {candidate.doc: float(score) for candidate, score in zip(candidates, scores, strict=True)}


def shortlist(postings: Sequence[Posting], tally: Tally, limit: int) -> list[int]:
    """Of all passages that have a word of the query, those whose words are worth most together; of equals the newer."""
    having = [posting for posting in postings if posting.docs]
    if not having:
        return []
    worth = _worth([posting.frequency for posting in having], tally)
    docs, places = np.unique(np.concatenate([np.array(p.docs, np.int64) for p in having]), return_inverse=True)
    scores = np.bincount(places, weights=np.repeat(worth, [len(p.docs) for p in having]))
    return [int(doc) for doc in docs[np.lexsort((-docs, -scores))[:limit]]]


def _worth(frequencies: Sequence[int], tally: Tally) -> NDArray[np.float64]:
    """What a word says about the passages that have it: the rarer, the more."""
    having = np.array(frequencies, dtype=np.float64)
    docs = max(float(tally.docs), float(having.max()))
    return np.asarray(_SCALE * np.log1p((docs - having + 0.5) / (having + 0.5)) ** SHARPNESS)


def fuse(
    text: Mapping[int, float],
    cosines: Mapping[int, float],
    times: Mapping[int, datetime],
    now: datetime,
    weights: Weights,
) -> list[Ranked]:
    """The passages of both sides, best first; of equal scores, the newer, then the higher number.

    A passage that one side does not know gets nothing from it, as one without any likeness would.
    """
    docs = list(text.keys() | cosines.keys())
    words = np.array([text.get(doc, 0.0) for doc in docs])
    likeness = np.array([cosines.get(doc, weights.unrelated) for doc in docs])
    meaning = weights.vector * np.maximum((likeness - weights.unrelated) / weights.spread, 0.0)
    ages = np.array([max((now - times[doc]) / weights.half_life, 0.0) for doc in docs])
    recency = weights.recency * 0.5**ages * (words + meaning)
    columns = (column.round(6).tolist() for column in (words + meaning + recency, words, meaning, recency))
    ranked = [
        (doc, score, {"text": by_words, "vector": by_meaning, "recency": by_age})
        for doc, score, by_words, by_meaning, by_age in zip(docs, *columns, strict=True)
    ]
    ranked.sort(key=lambda one: (one[1], times[one[0]], one[0]), reverse=True)
    return ranked

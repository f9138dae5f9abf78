"""What simple methods find, to measure ours against: each scores every turn of a haystack for a question.

They are textbook methods and no part of everword: BM25 over stems without function words, the cosine of vectors, and
ways to put the two together. A turn is indexed as `speaker: text`. They need all scores of the haystack at once,
which a memory of any size does not have; that is why the engine does not work like this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from everword.ports import Embedder, Vectors
from everword.text.detect import detect
from everword.text.terms import analyse
from quality.datasets import Turn

Scores = NDArray[np.float64]

K1, B = 1.2, 0.75
"""BM25's usual constants."""
RRF_K = 60
"""The usual constant of reciprocal rank fusion."""
NEIGHBOUR = 0.5
"""The share of a neighbouring turn's score that counts for a turn."""
BATCH = 256  # texts embedded at a time


class TextIndex:
    """BM25 over turns, in one language: that of most of the text."""

    def __init__(self, texts: Sequence[str]) -> None:
        votes = Counter(detect(text) for text in texts)
        self._language = votes.most_common(1)[0][0] if votes else "en"
        said = [analyse(text, self._language).terms for text in texts]
        lengths = np.array([len(terms) for terms in said], dtype=np.float64)
        self._drag = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0)) if said else lengths
        self._count = len(texts)
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, terms in enumerate(said):
            for term, times in Counter(terms).items():
                found[term].append((i, times))
        self._postings = {term: np.array(places, dtype=np.int64) for term, places in found.items()}

    def scores(self, query: str) -> Scores:
        scores = np.zeros(self._count)
        for term in dict.fromkeys(analyse(query, self._language).terms):
            places = self._postings.get(term)
            if places is None:
                continue
            docs, times = places[:, 0], places[:, 1]
            rarity = np.log1p((self._count - len(docs) + 0.5) / (len(docs) + 0.5))
            scores[docs] += rarity * times * (K1 + 1) / (times + self._drag[docs])
        return scores


@dataclass(frozen=True, slots=True)
class Signals:
    """What the methods work with: BM25 and cosine of each turn, and the session each turn is of, in order."""

    text: Scores
    cosine: Scores
    sessions: Sequence[str]


def by_text(signals: Signals) -> Scores:
    return signals.text


def by_vector(signals: Signals) -> Scores:
    return signals.cosine


def by_ranks(signals: Signals) -> Scores:
    """Reciprocal rank fusion. A turn without a word of the question has no rank by words."""
    by_words = np.where(signals.text > 0, 1 / (RRF_K + _ranks(signals.text)), 0.0)
    return np.asarray(by_words + 1 / (RRF_K + _ranks(signals.cosine)))


def by_sum(signals: Signals) -> Scores:
    return _standard(signals.text) + _standard(signals.cosine)


def by_sum_with_neighbours(signals: Signals) -> Scores:
    return _standard(_with_neighbours(signals.text, signals.sessions)) + _standard(signals.cosine)


METHODS: dict[str, Callable[[Signals], Scores]] = {
    "BM25, stemmed": by_text,
    "vectors": by_vector,
    "rank fusion": by_ranks,
    "sum of z-scores": by_sum,
    "the same with neighbours": by_sum_with_neighbours,
}
STRONGEST = "the same with neighbours"
"""The method that also fills a context, for comparison."""


class Baselines:
    """All methods over the same turns. `sessions` names the session of each; a session's turns stand together."""

    def __init__(self, turns: Sequence[Turn], sessions: Sequence[str], vectors: Vectors) -> None:
        self._ids = [turn.id for turn in turns]
        self._sessions = list(sessions)
        self._text = TextIndex([as_indexed(turn) for turn in turns])
        self._vectors = _unit(vectors)

    def rank(self, query: str, vector: Vectors, limit: int | None = None) -> dict[str, list[str]]:
        """For each method the ids of the turns, best first; of equal scores, the earlier turn."""
        cosine = self._vectors @ _unit(vector[np.newaxis])[0]
        signals = Signals(self._text.scores(query), cosine.astype(np.float64), self._sessions)
        orders = {name: np.argsort(-score(signals), kind="stable")[:limit] for name, score in METHODS.items()}
        return {name: [self._ids[i] for i in order] for name, order in orders.items()}


def as_indexed(turn: Turn) -> str:
    """Who said it is part of what is searched, where it tells one person from another."""
    return turn.text if turn.speaker == turn.role else f"{turn.speaker}: {turn.text}"


async def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors of texts, some at a time: an embedder may refuse too many at once."""
    parts = [await embedder.embed(texts[first : first + BATCH]) for first in range(0, len(texts), BATCH)]
    return np.concatenate(parts) if parts else np.zeros((0, embedder.width), dtype=np.float32)


def _ranks(scores: Scores) -> Scores:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _standard(scores: Scores) -> Scores:
    """In standard deviations above the mean of all turns; 0 for all if none stands out."""
    spread = scores.std() if len(scores) else 0.0
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)


def _with_neighbours(scores: Scores, sessions: Sequence[str]) -> Scores:
    together = np.array([a == b for a, b in pairwise(sessions)], dtype=np.float64)
    total = scores.copy()
    total[1:] += NEIGHBOUR * together * scores[:-1]
    total[:-1] += NEIGHBOUR * together * scores[1:]
    return total


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)

"""How well a message fits topics: the cosine to the centroid, corrected by what is usual, and the words they share.

A fit is a cosine, and is compared with the embedder's threshold. Two things correct it. In a conversation whose topics
are all alike, or for a message that is a little like everything, a cosine says less: how far the mean cosine with the
other topics is above that of unrelated texts is taken off. And words that the message shares with the topic, the rare
ones above all, close a part of the gap to 1. With one topic and no word in common, a fit is the cosine itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recollect.topics.rules.centroids import Similarities
from recollect.topics.rules.drift import Scale
from recollect.topics.rules.topic_words import TopicWords, shared_weight, total_weight

LOOKED_AT = 8
"""Topics, the nearest, whose words are compared with those of a message."""
MANY = 64
"""Topics from which on the nearest are found by array work."""
FEW_TOPICS = 3
"""Others topics that their mean cosine is trusted with half."""
WORDS = 0.8
"""The part of the gap to 1 that is closed if all words of a message are words of the topic."""


@dataclass(frozen=True, slots=True)
class Fits:
    """The fit of a message to the nearest topics, by their opening turn."""

    by_topic: Mapping[int, float]

    def best(self, without: int | None = None) -> tuple[int | None, float]:
        """The topic of the best fit; among equals the oldest."""
        fits = [(fit, -topic) for topic, fit in self.by_topic.items() if topic != without]
        if not fits:
            return None, -1.0
        fit, negative = max(fits)
        return -negative, fit

    def to(self, topic: int | None) -> float:
        return -1.0 if topic is None else self.by_topic.get(topic, -1.0)


def fit_topics(
    near: Similarities,
    words_of: Callable[[int], Sequence[TopicWords] | None],
    message: Mapping[str, float],
    scale: Scale,
    current: int | None = None,
) -> Fits:
    """The fits of a message, whose stems have these weights, to the topics nearest to it, and to the current one.
    `words_of` gives the words of each part of a topic, or None for a topic that takes no more messages."""
    count = len(near.cosines)
    if not count:
        return Fits({})
    total = float(np.add.reduce(near.cosines))
    others = count - 1
    trust = others / (others + FEW_TOPICS)
    usual = scale.unrelated
    said = total_weight(message)
    fits: dict[int, float] = {}
    for topic, cosine in nearest_topics(near, current).items():
        parts = words_of(topic)
        if parts is None:
            continue
        mean = (total - cosine) / others if others else 0.0
        common = (mean - usual) * trust if mean > usual else 0.0
        shared = 0.0
        for words in parts if message else ():
            shared = max(shared, shared_weight(message, words))
        fits[topic] = cosine - common + (1 - cosine) * WORDS * (shared / said)
    return Fits(fits)


def nearest_topics(near: Similarities, current: int | None) -> dict[int, float]:
    """The cosines of the nearest topics and of the current one; of a topic with parts, that of the nearest part."""
    topics = near.topics
    cosines = near.cosines
    if len(cosines) > MANY:
        # Those that are as near as the last one count as well: which of them comes first is not the same everywhere.
        least = np.partition(cosines, -LOOKED_AT)[-LOOKED_AT]
        is_near = cosines >= least
        places = np.flatnonzero(is_near if current is None else is_near | (topics == current))
        topics = topics[places]
        cosines = cosines[places]
    nearest: dict[int, float] = {}
    for topic, cosine in zip(topics.tolist(), cosines.tolist(), strict=True):
        if cosine > nearest.get(topic, -2.0):
            nearest[topic] = cosine
    if len(nearest) <= LOOKED_AT:
        return nearest
    least = sorted(nearest.values())[-LOOKED_AT]
    return {topic: cosine for topic, cosine in nearest.items() if cosine >= least or topic == current}

"""The topics that have left the active set, ready to be compared with a message. Pure: a change gives a new value.

There may be thousands of them, and from one message to the next hardly any changes. So their centroids are prepared
once and kept; later changes are kept beside them, and only after many changes the centroids are prepared again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from recollect.rules.topics.centroids import Centroids, Row, Similarities
from recollect.rules.topics.drift import BUILT_IN, Scale
from recollect.rules.topics.matching import fit_topics
from recollect.rules.topics.topic_words import TopicWords
from recollect.rules.topics.topics import TopicState, centroids, group_parts

FEW = 64
"""Changes after which the centroids are prepared again."""


@dataclass(frozen=True)
class FadedTopics:
    """The faded topics by their opening turn; their centroids, `ready` to compare; and the `new` states since then,
    with the topics whose prepared centroids are `stale`."""

    states: Mapping[int, TopicState] = field(default_factory=dict)
    ready: Centroids = field(default_factory=Centroids)
    new: Mapping[int, TopicState] = field(default_factory=dict)
    stale: frozenset[int] = frozenset()

    @cached_property
    def _by_root(self) -> Mapping[int, list[TopicState]]:
        return group_parts(self.states)

    @classmethod
    def of(cls, states: Mapping[int, TopicState]) -> FadedTopics:
        return cls(states, centroids(states, states))

    def after(self, states: Mapping[int, TopicState]) -> FadedTopics:
        """The faded topics after these states, of active or faded topics, have changed."""
        returning = {first for first, state in states.items() if state.faded_at is None and first in self.states}
        new = {
            first: state
            for first, state in states.items()
            if state.faded_at is not None and self.states.get(first) is not state
        }
        if not returning and not new:
            return self
        staying = self.states
        if returning:
            staying = {first: state for first, state in self.states.items() if first not in returning}
        all_states = {**staying, **new}
        fresh = {first: state for first, state in {**self.new, **new}.items() if first not in returning}
        stale = self.stale | returning | new.keys()
        return (
            FadedTopics.of(all_states) if len(stale) > FEW else replace(self, states=all_states, new=fresh, stale=stale)
        )

    def find_return(
        self, vector: Row, least: float, words: Mapping[str, float] | None = None, scale: Scale = BUILT_IN
    ) -> int | None:
        """The topic that a message returns to: the one it fits best, if it fits well enough. `words` are the message's
        stems with their weights."""

        def words_of(first: int) -> list[TopicWords]:
            return [part.words for part in self._by_root[first]]

        best, fit = fit_topics(self._near(vector), words_of, words or {}, scale).best()
        return best if fit >= least else None

    def _near(self, vector: Row) -> Similarities:
        old = self.ready.near(vector)
        new = centroids(self.new, self.states).near(vector)
        valid = ~np.isin(self.ready.firsts, list(self.stale)) if self.stale and len(old.topics) else slice(None)
        return Similarities(
            np.concatenate([old.topics[valid], new.topics]), np.concatenate([old.cosines[valid], new.cosines])
        )

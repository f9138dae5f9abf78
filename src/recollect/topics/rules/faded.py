"""The topics that have left the active set, ready to be compared with a message. Pure: a change gives a new value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.topics.rules.centroids import Row
from recollect.topics.rules.drift import BUILT_IN, Scale
from recollect.topics.rules.matching import fit_topics
from recollect.topics.rules.topic_set import States, TopicSet
from recollect.topics.rules.topic_state import TopicState
from recollect.topics.rules.topic_words import TopicWords


@dataclass(frozen=True)
class FadedTopics:
    """The faded topics by their opening turn."""

    states: TopicSet = field(default_factory=lambda: TopicSet(of_faded=True))

    @classmethod
    def of(cls, states: States) -> FadedTopics:
        return cls(TopicSet.of(states, of_faded=True))

    def after(self, states: States) -> FadedTopics:
        """The faded topics after these states, of active or faded topics, have changed."""
        if isinstance(states, TopicSet):
            faded_states = states.faded
            returning = [first for first in states.shared_firsts(self.states) if states[first].faded_at is None]
        else:
            faded_states = [state for state in states.values() if state.faded_at is not None]
            returning = [first for first, state in states.items() if state.faded_at is None and first in self.states]
        changes: dict[int, TopicState | None] = {
            state.first: state for state in faded_states if self.states.find(state.first) is not state
        }
        changes |= dict.fromkeys(returning)
        return FadedTopics(self.states.with_changes(changes)) if changes else self

    def find_return(
        self, vector: Row, least: float, words: Mapping[str, float] | None = None, scale: Scale = BUILT_IN
    ) -> int | None:
        """The topic that a message returns to: the one it fits best, if it fits well enough. `words` are the message's
        stems with their weights."""

        def words_of(first: int) -> list[TopicWords]:
            return [part.words for part in self.states.parts(first)]

        best, fit = fit_topics(self.states.near(vector), words_of, words or {}, scale).best()
        return best if fit >= least else None

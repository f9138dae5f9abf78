"""The topics that have left the active set, ready to be compared with a message. Pure: a change gives a new value.

There may be thousands of them, and from one message to the next hardly any changes. So what it takes to compare them is
made once and kept; what has come or gone since is looked at beside it, and only after many changes it is made anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from recollect.rules.topics.centroids import Centroids, Near, Row
from recollect.rules.topics.topics import State, centroids

FEW = 64
"""Changes after which what is compared is made anew."""


@dataclass(frozen=True, slots=True)
class Faded:
    """The faded topics by their opening turn; what was made ready of them; and which are `new` or `gone` since."""

    states: Mapping[int, State] = field(default_factory=dict)
    ready: Centroids = field(default_factory=Centroids)
    new: Mapping[int, State] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()

    @classmethod
    def of(cls, states: Mapping[int, State]) -> Faded:
        return cls(states, centroids(states, states))

    def after(self, states: Mapping[int, State]) -> Faded:
        """The same when some topics, active or not, have become these."""
        back = {first for first, state in states.items() if state.faded_at is None and first in self.states}
        new = {
            first: state
            for first, state in states.items()
            if state.faded_at is not None and self.states.get(first) is not state
        }
        if not back and not new:
            return self
        every = {first: state for first, state in self.states.items() if first not in back} if back else self.states
        every = {**every, **new}
        fresh = {first: state for first, state in {**self.new, **new}.items() if first not in back}
        gone = self.gone | back | new.keys()
        return Faded.of(every) if len(gone) > FEW else replace(self, states=every, new=fresh, gone=gone)

    def returned(self, vector: Row, least: float) -> int | None:
        """The topic that a message brings back: the nearest, if it is near enough."""
        best, cosine = self._near(vector).best()
        return best if cosine >= least else None

    def _near(self, vector: Row) -> Near:
        old, new = self.ready.near(vector), centroids(self.new, self.states).near(vector)
        there = ~np.isin(self.ready.firsts, list(self.gone)) if self.gone and len(old.topics) else slice(None)
        return Near(np.concatenate([old.topics[there], new.topics]), np.concatenate([old.cosines[there], new.cosines]))

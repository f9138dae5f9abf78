"""What stands around a message completes it: the question before an answer, the answer after a question.

Among people who write short lines, a line is understood by the lines around it, so it may use their words where it
lacks its own: for each word of the query the best of its own score and its neighbours', which count less the further
off they are. The longer the messages of a place are, the less: a long message speaks for itself, and its neighbours
speak of the same. The reply of an assistant always says a little about what it replies to. Neighbours hours away
belong to another occasion; and all that is said on one occasion is a little about the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.rules.recall.passages import ASSISTANT, Numbers, Passages, distinct_numbers

REACH = 3
"""Messages on either side that count."""
WORDS = {-1: 0.8, -2: 0.5, -3: 0.4, 1: 0.6, 2: 0.4, 3: 0.3}
"""What a neighbour's words count, by its distance in turns: those before more than those after."""
MEANING = {-1: 0.2, -2: 0.1, 1: 0.2, 2: 0.1}
"""The same for the likeness of vectors, which is added and so counts less."""
REPLY = 0.25
"""What the words of an assistant's reply count for the message it answers."""
SHORT_LINES = 16
"""Words, without function words: up to this mean length, messages lean on each other fully."""
FALL = 4
"""Power with which they lean less where they are longer; at twice the length they hardly do."""
LONG_LINES = 2 * SHORT_LINES
OCCASION = 6 * 3600.0
"""Seconds between two messages beyond which they are not of one occasion."""

_APART = 1 << 32  # more than the turns of a conversation

Scores = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The messages that passages belong to, and for each message the numbers of its neighbours, by distance."""

    home: Places
    beside: dict[int, Places]
    lean: Scores
    assistant: NDArray[np.bool_]
    occasion: Places

    def words_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage and each word, the best of its own score and what its neighbours lend it."""
        best = self._best_by_message(scores)
        lent = np.zeros_like(best)
        for distance, share in WORDS.items():
            lent = np.maximum(lent, share * self.lean[:, np.newaxis] * self._neighbour_scores(best, distance))
        replies = np.where(self.assistant[:, np.newaxis], best, 0.0)
        from_reply = REPLY * self._neighbour_scores(replies, 1) * ~self.assistant[:, np.newaxis]
        return np.asarray(np.maximum(scores, np.maximum(lent, from_reply)[self.home]))

    def neighbour_meaning(self, scores: Scores) -> Scores:
        """For each passage, what the likeness of its neighbours adds."""
        best = self._best_by_message(scores)
        total = np.zeros_like(best)
        for distance, share in MEANING.items():
            total += share * self._neighbour_scores(best, distance)
        return np.asarray((self.lean * total)[self.home])

    def occasion_lift(self, words: Scores, own_scores: Scores, share: float) -> Scores:
        """For each passage, a share of the words that it lacks and others of its occasion have. It lifts a passage at
        most up to the best one of its occasion, so the order of occasions does not change."""
        occasions = self.occasion[self.home]
        occasion_words = np.zeros((len(self.lean), words.shape[1]))
        occasion_best = np.zeros(len(self.lean))
        np.maximum.at(occasion_words, occasions, words)
        np.maximum.at(occasion_best, occasions, own_scores)
        lacking = share * (occasion_words.sum(axis=1)[occasions] - words.sum(axis=1))
        return np.asarray(np.minimum(lacking, occasion_best[occasions] - own_scores))

    def _best_by_message(self, scores: Scores) -> Scores:
        best = np.zeros((len(self.lean), *scores.shape[1:]))
        np.maximum.at(best, self.home, scores)
        return best

    def _neighbour_scores(self, best: Scores, distance: int) -> Scores:
        rows = np.concatenate([best, np.zeros((1, *best.shape[1:]))])  # the last row is for a missing neighbour
        return np.asarray(rows[self.beside[distance]])


def surroundings(passages: Passages) -> Surroundings:
    """The neighbours of each passage. A neighbour that is missing scores 0."""
    keys = place_keys(passages.conversations, passages.turns)
    places, first, home = np.unique(keys, return_index=True, return_inverse=True)
    home = home.reshape(-1)
    times = passages.moments[first]
    parts = np.bincount(home, minlength=len(places))
    lengths = np.bincount(home, weights=passages.lengths.astype(np.float64), minlength=len(places)) / parts
    assistant = passages.roles[first] == ASSISTANT
    beside: dict[int, Places] = {}
    total = lengths.copy()
    count = np.ones(len(places))
    for distance in (*range(-REACH, 0), *range(1, REACH + 1)):
        at = np.searchsorted(places, places + distance)
        inside = np.minimum(at, len(places) - 1)
        is_neighbour = (places[inside] == places + distance) & (np.abs(times[inside] - times) <= OCCASION)
        beside[distance] = np.where(is_neighbour, inside, len(places))
        total += np.where(is_neighbour, lengths[inside], 0.0)
        count += is_neighbour
    lean = np.minimum(1.0, SHORT_LINES / np.maximum(total / count, 1.0)) ** FALL
    apart = (np.diff(places // _APART) != 0) | (np.abs(np.diff(times)) > OCCASION)
    occasion = np.concatenate([[0], np.cumsum(apart)])
    return Surroundings(home, beside, lean, assistant, occasion)


def place_keys(conversations: Numbers, turns: Numbers) -> Numbers:
    """A number for each place, a conversation and a turn in it; turns that follow each other have numbers that do."""
    return conversations * _APART + turns


def adjacent_keys(passages: Passages, nearest: int, farthest: int) -> Numbers:
    """The keys of the places from `nearest` to `farthest` turns before and after these passages."""
    steps = np.array([step * side for step in range(nearest, farthest + 1) for side in (-1, 1)], np.int64)
    turns = passages.turns[:, np.newaxis] + steps
    keys = place_keys(passages.conversations[:, np.newaxis], turns)
    return distinct_numbers(keys[turns > 0])


def mean_lengths(passages: Passages, known: Passages) -> NDArray[np.float64]:
    """For each passage the mean length of it and of the known ones next to it."""
    keys = place_keys(known.conversations, known.turns)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    total = np.zeros(len(passages))
    count = np.zeros(len(passages))
    for step in (-1, 0, 1):
        wanted = place_keys(passages.conversations, passages.turns + step)
        at = np.searchsorted(keys, wanted, side="right") - 1  # of several parts, the last
        is_known = (at >= 0) & (keys[at.clip(min=0)] == wanted)
        total += np.where(is_known, known.lengths[order][at.clip(min=0)], 0)
        count += is_known
    return total / np.maximum(count, 1)


def split_key(key: int) -> tuple[int, int]:
    """The number of the conversation and the turn of a place."""
    return key // _APART, key % _APART

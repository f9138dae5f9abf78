"""What stands around a message completes it: the question before an answer, the answer after a question.

Among people who write short lines, a line is understood by the lines around it, so it may use their words where it
lacks its own: for each word of the query the best of its own score and its neighbours', which count less the further
off they are. The longer the messages of a place are, the less: a long message speaks for itself, and its neighbours
speak of the same. The reply of an assistant always says a little about what it replies to. Neighbours hours away
belong to another occasion; and all that is said on one occasion is a little about the same thing.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.model.frozen import dataclass
from recollect.rules.recall.passage_columns import ASSISTANT, Numbers, Passages, distinct_numbers

REACH = 3
"""Messages on either side that count."""
WORDS = {-1: 0.8, -2: 0.5, -3: 0.4, 1: 0.6, 2: 0.4, 3: 0.3}
"""What a neighbour's words count, by its distance in turns: those before more than those after."""
MEANING = {-1: 0.24, -2: 0.12, 1: 0.24, 2: 0.12}
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
_DISTANCES = np.array(sorted(WORDS), np.int64)  # in turns, of the rows of `Surroundings.beside`
_WORD_SHARES = np.array([[WORDS[distance]] for distance in _DISTANCES.tolist()])
_MEANING_ROWS = slice(_DISTANCES.tolist().index(min(MEANING)), _DISTANCES.tolist().index(max(MEANING)) + 1)
_MEANING_SHARES = np.array([[MEANING[distance]] for distance in _DISTANCES[_MEANING_ROWS].tolist()])
_NEXT_TO = np.array([[-1], [0], [1]], np.int64)
_NEXT = _DISTANCES.tolist().index(1)
_BEFORE = _DISTANCES.tolist().index(-1)
_FIRST = np.zeros(1, np.intp)

Scores = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The keys of messages (`places`), the number of the message that each passage belongs to (`home`), and the numbers
    of the neighbours of each message (`beside`), one row for each distance. A neighbour that is missing has the number
    after the last. `word_shares` are what the words of each neighbour count. `occasion` is the number of the occasion
    of each message, and `occasion_starts` the first message of each."""

    places: Numbers
    home: Places
    beside: Places
    lean: Scores
    word_shares: Scores
    occasion: Places
    occasion_starts: Places

    # `take` does the same as an index, in a fifth of the time for rows of several words.

    def words_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage and each word, the best of its own score and what its neighbours lend it."""
        neighbour_scores = self.best_by_message(scores).take(self.beside, axis=0)
        neighbour_scores *= self.word_shares[:, :, np.newaxis]
        lent = np.maximum.reduce(neighbour_scores, axis=0)
        return np.asarray(np.maximum(scores, lent.take(self.home, axis=0)))

    def neighbour_meaning(self, scores: Scores) -> Scores:
        """For each passage, what the likeness of its neighbours adds."""
        neighbour_scores = self.best_by_message(scores).take(self.beside[_MEANING_ROWS])
        neighbour_scores *= _MEANING_SHARES
        return np.asarray((self.lean * np.add.reduce(neighbour_scores, axis=0)).take(self.home))

    def best_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage, the best score of its message and of the messages around it."""
        best = self.best_by_message(scores)
        return np.asarray(np.maximum(best[:-1], np.maximum.reduce(best.take(self.beside), axis=0)).take(self.home))

    def best_of_occasion(self, scores: Scores) -> Scores:
        """For each passage, the best score of all that was said on its occasion."""
        best = np.maximum.reduceat(self.best_by_message(scores)[:-1], self.occasion_starts)
        return best.take(self.occasion).take(self.home)

    def words_of_occasion(self, scores: Scores, shares: Scores) -> Scores:
        """For each passage, the best score of each word on its occasion, added up by the shares of the words."""
        best = np.maximum.reduceat(self.best_by_message(scores)[:-1], self.occasion_starts, axis=0)
        return (best @ shares).take(self.occasion).take(self.home)

    def previous_rows(self, rows: Places) -> Places:
        """For the passages of these rows, a row of the message before theirs on the same occasion; -1 if it is not
        among the passages."""
        row_of = np.full(len(self.lean) + 1, -1, np.intp)
        row_of[self.home] = np.arange(len(self.home))
        return np.asarray(row_of[self.beside[_BEFORE][self.home[rows]]])

    def unknown_places(self, keys: Numbers) -> Numbers:
        """Those of the keys at which no passage is."""
        if not len(self.places):
            return keys
        at = np.minimum(np.searchsorted(self.places, keys), len(self.places) - 1)
        return np.asarray(keys[self.places[at] != keys])

    def best_by_message(self, scores: Scores) -> Scores:
        """The best score of each message; the last row, of zeros, is that of a missing neighbour."""
        best = np.zeros((len(self.lean) + 1, *scores.shape[1:]))
        if len(self.home) == len(self.lean):  # every message is one passage
            best[self.home] = scores
        else:
            np.maximum.at(best, self.home, scores)
        return best


def surroundings(passages: Passages) -> Surroundings:
    """The neighbours of each passage. A neighbour that is missing scores 0."""
    keys = place_keys(passages.conversations, passages.turns)
    order = keys.argsort(kind="stable")
    sorted_keys = keys[order]
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=is_first[1:])
    home = np.empty(len(keys), np.intp)
    if is_first.all():  # every message is one passage
        first = order
        home[order] = np.arange(len(keys))
    else:
        first = order[is_first]
        home[order] = np.add.accumulate(is_first, dtype=np.intp) - 1
    places = keys[first]
    times = passages.moments[first]
    lengths = passages.lengths[first].astype(np.float64)
    if len(places) < len(keys):
        lengths = np.bincount(home, weights=passages.lengths) / np.bincount(home)
    neighbour_keys = places + _DISTANCES[:, np.newaxis]
    at = np.minimum(places.searchsorted(neighbour_keys), len(places) - 1)
    is_neighbour = (places.take(at) == neighbour_keys) & (np.abs(times.take(at) - times) <= OCCASION)
    beside = np.where(is_neighbour, at, len(places))
    lean = lean_shares(lengths, is_neighbour, lengths.take(at))
    word_shares = _WORD_SHARES * lean
    is_assistant = np.zeros(len(places) + 1, np.bool_)
    is_assistant[:-1] = passages.roles[first] == ASSISTANT
    is_reply = is_assistant.take(beside[_NEXT]) & ~is_assistant[:-1]
    np.maximum(word_shares[_NEXT], REPLY * is_reply, out=word_shares[_NEXT])
    conversations = places // _APART
    is_apart = (conversations[1:] != conversations[:-1]) | (np.abs(times[1:] - times[:-1]) > OCCASION)
    occasion = np.zeros(len(places), np.intp)
    np.add.accumulate(is_apart, dtype=np.intp, out=occasion[1:])
    occasion_starts = np.concatenate([_FIRST, np.flatnonzero(is_apart) + 1])
    return Surroundings(places, home, beside, lean, word_shares, occasion, occasion_starts)


def lean_shares(lengths: Scores, is_neighbour: NDArray[np.bool_], neighbour_lengths: Scores) -> Scores:
    """How much each message leans on its neighbours: the less, the longer it and they are."""
    total = lengths + np.add.reduce(is_neighbour * neighbour_lengths, axis=0)
    count = np.add.reduce(is_neighbour, axis=0, dtype=np.intp) + 1.0
    return np.asarray(np.minimum(1.0, SHORT_LINES / np.maximum(total / count, 1.0)) ** FALL)


def place_keys(conversations: Numbers, turns: Numbers) -> Numbers:
    """A number for each place, a conversation and a turn in it; turns that follow each other have numbers that do."""
    return conversations * _APART + turns


def adjacent_keys(passages: Passages, nearest: int, farthest: int) -> Numbers:
    """The keys of the places from `nearest` to `farthest` turns before and after these passages."""
    turns = passages.turns[:, np.newaxis] + steps_between(nearest, farthest)
    keys = place_keys(passages.conversations[:, np.newaxis], turns)
    return distinct_numbers(keys[turns > 0])


@lru_cache(maxsize=16)
def steps_between(nearest: int, farthest: int) -> Numbers:
    """The distances from `nearest` to `farthest`, before and after."""
    return np.concatenate([np.arange(-farthest, 1 - nearest), np.arange(nearest, farthest + 1)])


def mean_lengths(passages: Passages, known: Passages) -> NDArray[np.float64]:
    """For each passage the mean length of it and of the known ones next to it."""
    keys = place_keys(known.conversations, known.turns)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    nearby_keys = place_keys(passages.conversations, passages.turns + _NEXT_TO)
    at = np.searchsorted(keys, nearby_keys, side="right") - 1  # of several parts, the last
    is_known = keys[at] == nearby_keys  # before the first is the last, which is elsewhere
    total = np.where(is_known, known.lengths[order][at], 0).sum(axis=0)
    return np.asarray(total / np.maximum(is_known.sum(axis=0), 1))


def split_key(key: int) -> tuple[int, int]:
    """The number of the conversation and the turn of a place."""
    return key // _APART, key % _APART

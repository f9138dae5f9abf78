"""What stands around a message completes it: the question before an answer, the answer after a question.

Among people who write short lines, a line is understood by the lines around it, so it may use their words where it
lacks its own: for each word of the query the best of its own score and its neighbours', which count less the further
off they are. The longer the messages of a place are, the less: a long message speaks for itself, and its neighbours
speak of the same. The reply of an assistant always says a little about what it replies to. Neighbours hours away
belong to another occasion; and all that is said on one occasion is a little about the same thing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.model.frozen import dataclass
from recollect.rules.recall.passage_columns import ASSISTANT, Numbers, Passages, distinct_numbers, is_among

REACH = 3
"""Messages on either side that count."""
WORDS = {-1: 0.8, -2: 0.5, -3: 0.4, 1: 0.6, 2: 0.4, 3: 0.3}
"""What a neighbour's words count, by its distance in turns: those before more than those after."""
MEANING = {-1: 0.24, -2: 0.12, 1: 0.24, 2: 0.12}
"""The same for the likeness of vectors, which is added and so counts less."""
REPLY = 0.25
"""What the words of an assistant's reply count for the message it answers."""
SHORT_LINES = 16
"""Words, without function words: up to this mean length, messages lean on each other fully; where they are longer, by
the fourth power of its share of their length, so that at twice the length they hardly do."""
LONG_LINES = 2 * SHORT_LINES
OCCASION = 6 * 3600.0
"""Seconds between two messages beyond which they are not of one occasion."""

_APART = 1 << 32  # more than the turns of a conversation, by far
_FAR = _APART >> 1  # between the keys of two conversations
_WORD_SHARES = np.array([WORDS.get(distance, 0.0) for distance in range(-REACH, REACH + 1)])  # by distance + REACH
_MEANING_SHARES = np.array([MEANING.get(distance, 0.0) for distance in range(-REACH, REACH + 1)])
_NEXT_TO = np.array([[-1], [0], [1]], np.int64)
_DISTANCES = np.array([distance for distance in range(-REACH, REACH + 1) if distance])
_FIRST = np.zeros(1, np.intp)
_NONE = np.empty(0, np.intp)
_STEPS = np.arange(1, REACH + 1)[:, np.newaxis]  # to the next messages in order, beyond which none is near
_NO_PLACES = np.full(REACH, np.iinfo(np.int64).max)  # after the last, and far from it

Scores = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pairs of messages that are near each other: the number of each that may lean on another (`messages`), of the
    other, and how many turns it is after the first. Sorted by the first message, and then by the distance. The pairs of
    one message begin at `starts`; `leaning` has these messages, each once."""

    messages: Places
    others: Places
    distances: Numbers
    starts: Places
    leaning: Places


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around passages. Each is of a message, which has a number: that of its only passage, or its own if a
    message has several passages, and then `home` is the number of the message of each passage.

    `places` are the keys of the messages in order, and `order` their numbers in that order. `lean` is how much each
    message leans on its neighbours, and `word_shares` what the words of each neighbour count. `occasion` is the number
    of the occasion of each message, and `occasion_starts` where each begins in that order."""

    places: Numbers
    order: Places
    home: Places | None
    near: Neighbours
    lean: Scores
    word_shares: Scores
    occasion: Places
    occasion_starts: Places

    # `take` does the same as an index, in a fifth of the time for rows of several words.

    def words_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage and each word, the best of its own score and what its neighbours lend it."""
        near = self.near
        if not len(near.messages):
            return scores
        neighbour_scores = self.best_by_message(scores).take(near.others, axis=0)
        neighbour_scores *= self.word_shares[:, np.newaxis]
        lent = np.maximum.reduceat(neighbour_scores, near.starts, axis=0)
        if self.home is None:
            best = scores.copy()
            best[near.leaning] = np.maximum(scores.take(near.leaning, axis=0), lent)
            return best
        lent_by_message = np.zeros((len(self.lean), *scores.shape[1:]))
        lent_by_message[near.leaning] = lent
        return np.asarray(np.maximum(scores, lent_by_message.take(self.home, axis=0)))

    def neighbour_meaning(self, scores: Scores) -> Scores:
        """For each passage, what the likeness of its neighbours adds."""
        near = self.near
        neighbour_scores = self.best_by_message(scores).take(near.others)
        neighbour_scores *= _MEANING_SHARES.take(near.distances + REACH)
        sums = np.bincount(near.messages, neighbour_scores, len(self.lean))
        return self._by_passage(self.lean * sums)

    def best_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage, the best score of its message and of the messages around it."""
        best = self.best_by_message(scores)
        near = self.near
        if len(near.messages):
            neighbour_scores = np.maximum.reduceat(best.take(near.others), near.starts)
            best = best.copy()
            best[near.leaning] = np.maximum(best.take(near.leaning), neighbour_scores)
        return self._by_passage(best)

    def best_of_occasion(self, scores: Scores) -> Scores:
        """For each passage, the best score of all that was said on its occasion."""
        best = np.maximum.reduceat(self.best_by_message(scores).take(self.order), self.occasion_starts)
        return self._by_passage(best.take(self.occasion))

    def words_of_occasion(self, scores: Scores, shares: Scores) -> Scores:
        """For each passage, the best score of each word on its occasion, added up by the shares of the words."""
        best = np.maximum.reduceat(self.best_by_message(scores).take(self.order, axis=0), self.occasion_starts, axis=0)
        return self._by_passage((best @ shares).take(self.occasion))

    def occasions(self, rows: Places) -> Places:
        """The numbers of the occasions of the passages of these rows."""
        return self.occasion.take(rows if self.home is None else self.home.take(rows))

    def previous_rows(self, rows: Places) -> Places:
        """For the passages of these rows, a row of the message before theirs on the same occasion; -1 if it is not
        among the passages."""
        is_next = self.near.distances == -1
        previous = np.full(len(self.lean) + 1, -1, np.intp)
        previous[self.near.messages[is_next]] = self.near.others[is_next]
        if self.home is None:
            return previous.take(rows)
        row_of = np.full(len(self.lean) + 1, -1, np.intp)
        row_of[self.home] = np.arange(len(self.home))
        return row_of.take(previous.take(self.home.take(rows)))

    def best_by_message(self, scores: Scores) -> Scores:
        """The best score of each message."""
        if self.home is None:
            return scores
        best = np.zeros((len(self.lean), *scores.shape[1:]))
        np.maximum.at(best, self.home, scores)
        return best

    def _by_passage(self, scores: Scores) -> Scores:
        """The scores of messages, for each passage that of its message."""
        return scores if self.home is None else scores.take(self.home)


def surroundings(passages: Passages) -> Surroundings:
    """The neighbours of each passage. A neighbour that is missing scores 0."""
    keys = place_keys(passages.conversations, passages.turns)
    order = keys.argsort(kind="stable")
    places = keys.take(order)
    home: Places | None = None
    times = passages.moments
    lengths = passages.lengths.astype(np.float64)
    is_assistant = passages.roles == ASSISTANT
    is_same = places[1:] == places[:-1]
    if np.logical_or.reduce(is_same):  # some messages have several passages
        is_first = np.ones(len(keys), np.bool_)
        np.logical_not(is_same, out=is_first[1:])
        home = np.empty(len(keys), np.intp)
        home[order] = np.add.accumulate(is_first, dtype=np.intp) - 1
        first = order[is_first]
        places = keys[first]
        order = np.arange(len(places))
        times = times[first]
        lengths = np.bincount(home, weights=passages.lengths) / np.bincount(home)
        is_assistant = is_assistant[first]
    sorted_times = times.take(order)
    gaps = places[1:] - places[:-1]
    near = find_neighbours(places, sorted_times, order)
    lean = lean_shares(lengths, near)
    occasion, occasion_starts = split_occasions(gaps, sorted_times, order)
    return Surroundings(
        places, order, home, near, lean, share_words(near, lean, is_assistant), occasion, occasion_starts
    )


def find_neighbours(places: Numbers, times: Scores, order: Places) -> Neighbours:
    """The pairs of messages on one occasion that are not more than `REACH` turns apart, given the keys of messages in
    order, their times and their numbers."""
    next_places = np.concatenate([places, _NO_PLACES]).take(np.arange(len(places)) + _STEPS)
    gaps = (next_places - places).ravel()
    pairs = (gaps <= REACH).nonzero()[0]
    steps, first = np.divmod(pairs, max(len(places), 1))
    second = first + steps + 1
    distances = gaps.take(pairs)
    is_near = np.abs(times.take(second) - times.take(first)) <= OCCASION
    if not np.logical_and.reduce(is_near):
        first = first[is_near]
        second = second[is_near]
        distances = distances[is_near]
    if not len(first):
        return Neighbours(_NONE, _NONE, _NONE, _NONE, _NONE)
    distances = np.concatenate([distances, -distances])
    messages = order.take(np.concatenate([first, second]))
    by_message = (messages * (2 * REACH + 1) + distances).argsort(kind="stable")
    messages = messages.take(by_message)
    starts = np.concatenate([_FIRST, (messages[1:] != messages[:-1]).nonzero()[0] + 1])
    others = order.take(np.concatenate([second, first]).take(by_message))
    return Neighbours(messages, others, distances.take(by_message), starts, messages.take(starts))


def lean_shares(lengths: Scores, near: Neighbours) -> Scores:
    """How much each message leans on its neighbours: the less, the longer it and they are."""
    total = lengths + np.bincount(near.messages, lengths.take(near.others), len(lengths))
    count = np.bincount(near.messages, minlength=len(lengths)) + 1.0
    share = np.minimum(1.0, SHORT_LINES / np.maximum(total / count, 1.0))
    return np.asarray(np.square(np.square(share)))  # a power of 4 would take three times as long


def share_words(near: Neighbours, lean: Scores, is_assistant: NDArray[np.bool_]) -> Scores:
    """What the words of each neighbour count for the message that leans on it."""
    shares = _WORD_SHARES.take(near.distances + REACH) * lean.take(near.messages)
    is_reply = is_assistant.take(near.others) & ~is_assistant.take(near.messages) & (near.distances == 1)
    return np.asarray(np.maximum(shares, REPLY * is_reply))


def split_occasions(gaps: Numbers, times: Scores, order: Places) -> tuple[Places, Places]:
    """The number of the occasion of each message, and where each occasion begins among the places in order; given the
    differences between the keys of messages in order, their times and their numbers."""
    is_apart = (gaps > _FAR) | (np.abs(times[1:] - times[:-1]) > OCCASION)
    occasion = np.empty(len(order), np.intp)
    occasion[order[:1]] = 0
    occasion[order[1:]] = np.add.accumulate(is_apart, dtype=np.intp)
    return occasion, np.concatenate([_FIRST, is_apart.nonzero()[0] + 1])


def place_keys(conversations: Numbers, turns: Numbers) -> Numbers:
    """A number for each place, a conversation and a turn in it; turns that follow each other have numbers that do."""
    return conversations * _APART + turns


def adjacent_keys(passages: Passages, reaches: Numbers) -> Numbers:
    """The keys of the places around these passages, as many turns before and after each as it reaches."""
    turns = passages.turns[:, np.newaxis] + _DISTANCES
    keys = place_keys(passages.conversations[:, np.newaxis], turns)
    return distinct_numbers(keys[(turns > 0) & (np.abs(_DISTANCES) <= reaches[:, np.newaxis])])


def missing_places(passages: Passages, keys: Numbers) -> Numbers:
    """Those of the keys at which none of these passages is."""
    return np.asarray(keys[~is_among(keys, np.sort(place_keys(passages.conversations, passages.turns)))])


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

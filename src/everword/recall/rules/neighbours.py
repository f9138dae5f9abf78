"""Passages in columns, and what stands around each of them.

Ranking works on arrays in which the same row is of the same passage. Names repeat, so conversations, authors and roles
are numbers, and the names of a number are in a list beside them.

What stands around a message completes it: the question before an answer, the answer after a question. Among people who
write short lines, a line is understood by the lines around it, so it may use their words where it lacks its own: for
each word of the query the best of its own score and its neighbours', which count less the further off they are. The
longer the messages of a place are, the less: a long message speaks for itself, and its neighbours speak of the same.
The reply of an assistant always says a little about what it replies to. Neighbours hours away belong to another
occasion; and all that is said on one occasion is a little about the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everword.model import ROLES
from everword.ports import PassageCandidate

Numbers = NDArray[np.int64]

ASSISTANT = ROLES.index("assistant")
USER = ROLES.index("user")
KEYS_APART = 1 << 32  # between the keys of two conversations: more than the turns of one, by far


def distinct_numbers(numbers: Numbers) -> Numbers:
    """The numbers in order, each once. As `np.unique`, which takes several times as long and imports `numpy.ma`."""
    ordered = np.sort(numbers)
    is_first = np.empty(len(ordered), np.bool_)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return np.asarray(ordered[is_first])


def are_among(numbers: Numbers, sorted_numbers: Numbers) -> NDArray[np.bool_]:
    """Whether each number is among others, which are in order. As `np.isin`, which takes ten times as long for few."""
    if not len(sorted_numbers):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(sorted_numbers.searchsorted(numbers), len(sorted_numbers) - 1)
    return np.asarray(sorted_numbers.take(places) == numbers)


def place_keys(conversations: Numbers, turns: Numbers) -> Numbers:
    """A number for each place, a conversation and a turn in it; turns that follow each other have numbers that do."""
    return conversations * KEYS_APART + turns


def split_key(key: int) -> tuple[int, int]:
    """The number of the conversation and the turn of a place."""
    return key // KEYS_APART, key % KEYS_APART


def number_of(names: Sequence[str], name: str) -> int:
    """The number of a name, or -1."""
    return names.index(name) if name in names else -1


@dataclass(frozen=True)
class PassageTable:
    """Columns of many passages, in which the same row is of the same passage; `moments` are seconds since 1970."""

    message_ids: NDArray[np.object_]
    moments: NDArray[np.float64]
    lengths: Numbers
    conversations: Numbers
    turns: Numbers
    roles: Numbers
    authors: Numbers
    conversation_names: Sequence[str]
    author_names: Sequence[str]


class Passages:
    """Some passages: rows of a table. `counts` says how often each has a term of each group of the query; `docs` are
    their numbers, if those are not the rows, and `keys` those of their places."""

    def __init__(self, table: PassageTable, rows: Numbers, counts: Numbers, docs: Numbers | None = None) -> None:
        self.table = table
        self.rows = rows
        self.counts = counts
        self.docs = rows if docs is None else docs
        self.message_ids = table.message_ids.take(rows)
        self.moments = table.moments.take(rows)
        self.lengths = table.lengths.take(rows)
        self.conversations = table.conversations.take(rows)
        self.turns = table.turns.take(rows)
        self.roles = table.roles.take(rows)
        self.authors = table.authors.take(rows)
        self.conversation_names = table.conversation_names
        self.author_names = table.author_names
        self.keys = place_keys(self.conversations, self.turns)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant speaks in one of them."""
        return bool(np.logical_or.reduce(self.roles == ASSISTANT))

    def take(self, places: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Passages:
        """Those at these places."""
        docs = None if self.docs is self.rows else self.docs[places]
        return Passages(self.table, self.rows[places], self.counts[places], docs)

    def join(self, other: Passages) -> Passages:
        """Both, one after the other. Their numbers must stand for the same names."""
        counts = np.concatenate([self.counts, other.counts])
        if self.table is other.table and self.docs is self.rows:
            return Passages(self.table, np.concatenate([self.rows, other.rows]), counts)
        docs = np.concatenate([self.docs, other.docs])
        return Passages(joined_columns(self, other), np.arange(len(docs)), counts, docs)


def joined_columns(first: Passages, second: Passages) -> PassageTable:
    """A table of the columns of both, one after the other; the second knows the names of the first."""
    names = ("message_ids", "moments", "lengths", "conversations", "turns", "roles", "authors")
    columns = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    return PassageTable(**columns, conversation_names=second.conversation_names, author_names=second.author_names)


class PassageColumns:
    """Makes columns of candidates, in which a name always has the same number."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._conversations: dict[str, int] = {}
        self._authors: dict[str, int] = {}

    def columns(self, candidates: Iterable[PassageCandidate]) -> Passages:
        rows = list(candidates)
        ids = np.empty(len(rows), dtype=object)
        ids[:] = [row.message_id for row in rows]
        conversations = [self._conversations.setdefault(row.conversation, len(self._conversations)) for row in rows]
        authors = [self._authors.setdefault(row.author, len(self._authors)) for row in rows]
        roles = [ROLES.index(row.role) if row.role in ROLES else -1 for row in rows]
        table = PassageTable(
            message_ids=ids,
            moments=np.array([row.time.timestamp() for row in rows], np.float64),
            lengths=as_numbers([row.length for row in rows]),
            conversations=as_numbers(conversations),
            turns=as_numbers([row.turn for row in rows]),
            roles=as_numbers(roles),
            authors=as_numbers(authors),
            conversation_names=list(self._conversations),
            author_names=list(self._authors),
        )
        counts = np.array([row.counts for row in rows], np.int64).reshape(len(rows), self._groups)
        return Passages(table, np.arange(len(rows)), counts, as_numbers([row.doc for row in rows]))


def as_numbers(values: Sequence[int]) -> Numbers:
    return np.array(values, np.int64)


def to_columns(candidates: Sequence[PassageCandidate]) -> Passages:
    """Candidates as columns; all have counts of the same groups."""
    return PassageColumns(len(candidates[0].counts) if candidates else 0).columns(candidates)


# -- what stands around a message


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

_FAR = KEYS_APART >> 1  # between the keys of two conversations
_WORD_SHARES = np.array([WORDS.get(distance, 0.0) for distance in range(-REACH, REACH + 1)])  # by distance + REACH
_MEANING_SHARES = np.array([MEANING.get(distance, 0.0) for distance in range(-REACH, REACH + 1)])
_NEXT_TO = np.array([[-1], [0], [1]], np.int64)
_DISTANCES = np.array([distance for distance in range(-REACH, REACH + 1) if distance])
_FIRST = np.zeros(1, np.intp)
_OFFSETS = _DISTANCES[:, np.newaxis]  # to the next messages in order, beyond which none is near
_BEFORE = REACH - 1  # the row of the message before
_PLACES_BEFORE = np.full(REACH, -KEYS_APART)  # far from all others
_PLACES_AFTER = np.full(REACH, np.iinfo(np.int64).max - KEYS_APART)

Scores = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around passages. Each is of a message; messages are numbered in the order of their places. `home` is
    the number of the message of each passage, and `first_rows` the row of the first passage of each message.

    Of each message (column) those that may be near it, a row for each of `_OFFSETS`: their numbers (`others`), how many
    turns each is after it (`distances`; 0 if it is not near), and what its words count (`word_shares`). `lean` is how
    much each message leans on them. `occasion` is the number of the occasion of each message, and `occasion_starts`
    where each begins."""

    home: Places
    first_rows: Places
    others: Places
    distances: Numbers
    word_shares: Scores
    lean: Scores
    occasion: Places
    occasion_starts: Places

    # `take` does the same as an index, in a fifth of the time for rows of several words.

    def words_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage and each word, the best of its own score and what its neighbours lend it."""
        neighbour_scores = self.best_by_message(scores).take(self.others, axis=0)
        neighbour_scores *= self.word_shares[:, :, np.newaxis]
        lent = np.maximum.reduce(neighbour_scores, axis=0)
        return np.asarray(np.maximum(scores, lent.take(self.home, axis=0)))

    def neighbour_meaning(self, scores: Scores) -> Scores:
        """For each passage, what the likeness of its neighbours adds."""
        neighbour_scores = self.best_by_message(scores).take(self.others)
        neighbour_scores *= _MEANING_SHARES.take(self.distances + REACH)
        return np.asarray((self.lean * np.add.reduce(neighbour_scores, axis=0)).take(self.home))

    def best_with_neighbours(self, scores: Scores) -> Scores:
        """For each passage, the best score of its message and of the messages around it."""
        best = self.best_by_message(scores)
        neighbour_scores = best.take(self.others) * (self.distances != 0)
        return np.asarray(np.maximum(best, np.maximum.reduce(neighbour_scores, axis=0)).take(self.home))

    def best_of_occasion(self, scores: Scores) -> Scores:
        """For each passage, the best score of all that was said on its occasion."""
        best = np.maximum.reduceat(self.best_by_message(scores), self.occasion_starts)
        return np.asarray(best.take(self.occasion).take(self.home))

    def words_of_occasion(self, scores: Scores, shares: Scores) -> Scores:
        """For each passage, the best score of each word on its occasion, added up by the shares of the words."""
        best = np.maximum.reduceat(self.best_by_message(scores), self.occasion_starts, axis=0)
        return np.asarray((best @ shares).take(self.occasion).take(self.home))

    def occasions(self, rows: Places) -> Places:
        """The numbers of the occasions of the passages of these rows."""
        return self.occasion.take(self.home.take(rows))

    def previous_rows(self, rows: Places) -> Places:
        """For the passages of these rows, a row of the message before theirs on the same occasion; -1 if it is not
        among the passages."""
        messages = self.home.take(rows)
        previous = self.first_rows.take(self.others[_BEFORE].take(messages))
        return np.where(self.distances[_BEFORE].take(messages) == -1, previous, -1)

    def best_by_message(self, scores: Scores) -> Scores:
        """The best score of each message."""
        if len(self.first_rows) == len(self.home):
            return scores.take(self.first_rows, axis=0)
        best = np.zeros((len(self.first_rows), *scores.shape[1:]))
        np.maximum.at(best, self.home, scores)
        return best


def surroundings(passages: Passages) -> Surroundings:
    """The neighbours of each passage. A neighbour that is missing scores 0."""
    keys = passages.keys
    first_rows = keys.argsort(kind="stable")
    places = keys.take(first_rows)
    lengths: Numbers | Scores = passages.lengths.take(first_rows)
    home = np.empty(len(keys), np.intp)
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(places[1:], places[:-1], out=is_first[1:])
    if np.logical_and.reduce(is_first):
        home[first_rows] = np.arange(len(keys))
    else:  # some messages have several passages
        home[first_rows] = np.add.accumulate(is_first, dtype=np.intp) - 1
        first_rows = first_rows[is_first]
        places = places[is_first]
        lengths = np.bincount(home, weights=passages.lengths) / np.bincount(home)
    times = passages.moments.take(first_rows)
    others = np.arange(len(places)) + _OFFSETS
    distances = np.concatenate([_PLACES_BEFORE, places, _PLACES_AFTER]).take(others + REACH) - places
    np.clip(others, 0, max(len(places) - 1, 0), out=others)
    distances *= (np.abs(distances) <= REACH) & (np.abs(times.take(others) - times) <= OCCASION)
    lean = lean_shares(lengths, others, distances)
    word_shares = _WORD_SHARES.take(distances + REACH) * lean
    if passages.has_assistant:
        is_assistant = passages.roles.take(first_rows) == ASSISTANT
        is_reply = is_assistant.take(others) & ~is_assistant & (distances == 1)
        np.maximum(word_shares, REPLY * is_reply, out=word_shares)
    occasion, occasion_starts = split_occasions(places, times)
    return Surroundings(home, first_rows, others, distances, word_shares, lean, occasion, occasion_starts)


def lean_shares(lengths: Numbers | Scores, others: Places, distances: Numbers) -> Scores:
    """How much each message leans on its neighbours: the less, the longer it and they are."""
    is_near = distances != 0
    total = lengths + np.add.reduce(lengths.take(others) * is_near, axis=0)
    count = np.add.reduce(is_near, axis=0) + 1.0
    share = np.minimum(1.0, SHORT_LINES / np.maximum(total / count, 1.0))
    return np.asarray(np.square(np.square(share)))  # a power of 4 would take three times as long


def split_occasions(places: Numbers, times: Scores) -> tuple[Places, Places]:
    """The number of the occasion of each message, and where each occasion begins; given the keys of messages in order,
    and their times."""
    is_apart = (places[1:] - places[:-1] > _FAR) | (np.abs(times[1:] - times[:-1]) > OCCASION)
    occasion = np.zeros(len(places), np.intp)
    np.add.accumulate(is_apart, dtype=np.intp, out=occasion[1:])
    return occasion, np.concatenate([_FIRST, is_apart.nonzero()[0] + 1])


def adjacent_keys(passages: Passages, reaches: Numbers) -> Numbers:
    """The keys of the places around these passages, as many turns before and after each as it reaches."""
    turns = passages.turns[:, np.newaxis] + _DISTANCES
    keys = passages.keys[:, np.newaxis] + _DISTANCES
    return distinct_numbers(keys[(turns > 0) & (np.abs(_DISTANCES) <= reaches[:, np.newaxis])])


def missing_places(passages: Passages, keys: Numbers) -> Numbers:
    """Those of the keys at which none of these passages is."""
    return np.asarray(keys[~are_among(keys, np.sort(passages.keys))])


def mean_lengths(passages: Passages, known: Passages) -> NDArray[np.float64]:
    """For each passage the mean length of it and of the known ones next to it."""
    order = np.argsort(known.keys, kind="stable")
    keys = known.keys[order]
    nearby_keys = passages.keys + _NEXT_TO
    at = np.searchsorted(keys, nearby_keys, side="right") - 1  # of several parts, the last
    is_known = keys[at] == nearby_keys  # before the first is the last, which is elsewhere
    total = np.where(is_known, known.lengths[order][at], 0).sum(axis=0)
    return np.asarray(total / np.maximum(is_known.sum(axis=0), 1))

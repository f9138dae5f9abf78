"""The order of search hits, from numbers every store can give: the same words, vectors and times, the same order.

Three judges add up: BM25 over the words of the query; the share of the query's words that a passage has, or has a word
like them; and the cosine of its vector, counted in standard deviations above the cosine of unrelated texts. None needs
statistics of all texts, so they keep their balance from twenty messages to thousands. To what a passage has earned by
itself come what its neighbours lend it and what was said on the same occasion, and a bonus if it was said by whom or
when the query means. Being recent adds a few per cent of what the words and the meaning earned: it decides between
equals and never makes up for relevance. A passage is a hit only if it, or a neighbour, scores on BM25 or vectors.

Of messages that fit a question equally, the one with a number, a day or a name is more likely its answer, so a few of
these count (`traits`). Two kinds of messages say how to answer. One that states a preference counts where advice is
asked for. A standing instruction ("Always give prices in euros when I ask about trips") shares a word with few
questions about trips, and is meant for all of them: the few that are nearest to a question are lifted. They are found
by a word they have, which the index knows, and known by their form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from everword.errors import ConfigError
from everword.ports import Posting, Tally
from everword.recall.rules.neighbours import USER, Passages, Surroundings, surroundings
from everword.recall.rules.query import ParsedQuery, closeness
from everword.text.sentences import has_question_mark
from everword.word_lists import Patterns

MOST = 3
"""Numbers, and names, that are counted: a table of them is no better an answer."""
LOOKED_AT = 4_000
"""Characters of a message that are looked at."""

PREFERENCE = 8
STANDING = 16
QUESTION = 32
"""Added to the particulars of a text that states a preference, of a standing instruction, and of a text that asks
something: what is known of a text is one small number."""

STANDING_WORDS = "always never"
"""One of these a standing instruction has: whoever looks for them looks for these words."""
STANDING_LIFTED = 3
"""Standing instructions that are lifted, at most."""
ADVICE_STANDING = 1.5
"""How much more a standing instruction counts where advice is asked for."""

_PATTERNS = Patterns("queries", "recall/data")


def detail(text: str) -> int:
    """How many particulars a text has, from 0 to twice `MOST`."""
    text = text[:LOOKED_AT]
    return min(len(_PATTERNS.particular.findall(text)), MOST) + min(len(_PATTERNS["name"].findall(text)), MOST)


def states_preference(text: str) -> bool:
    """Whether a message says what its author likes or wants."""
    return _PATTERNS.preference.search(text[:LOOKED_AT]) is not None


def is_standing_instruction(text: str) -> bool:
    """Whether a message tells how to answer from now on."""
    return _PATTERNS.instruction.search(text[:LOOKED_AT]) is not None


def traits(text: str) -> int:
    """What ranking needs to know of a text: its particulars, and whether it states a preference (`PREFERENCE`), is a
    standing instruction (`STANDING`) or asks something (`QUESTION`)."""
    preference = PREFERENCE if states_preference(text) else 0
    question = QUESTION if has_question_mark(text[:LOOKED_AT]) else 0
    return detail(text) + preference + (STANDING if is_standing_instruction(text) else 0) + question


Traits = NDArray[np.int8]
"""What is known of several texts; a negative number where nothing is."""


def count_particulars(known: Traits) -> Traits:
    """How many particulars texts have of which this is known."""
    return np.asarray(known % PREFERENCE)


def is_preference(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, PREFERENCE)


def is_standing(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, STANDING)


def is_question(known: Traits) -> NDArray[np.bool_]:
    return _has_trait(known, QUESTION)


def _has_trait(known: Traits, trait: int) -> NDArray[np.bool_]:
    return np.asarray((known >= 0) & (known & trait > 0))


# -- the order of passages


K1 = 1.2
"""How soon saying a word again stops mattering."""
B = 0.9
"""How much a long passage pays for its length."""
SHORT = 24
"""Words up to which a passage is merely short. Without it "Thanks, Mel!" is the best answer to all about Mel."""
SHARPNESS = 1.5
"""Power of a word's rarity: several frequent words of a question do not outweigh its one rare word."""
ALL_PLACES = 0.01
"""The share of passages below which a time is as telling as it can be."""
COVERED = 16
"""Hits that stay as they are when occasions are to be covered (`coverage_penalties`),"""
FEW_OCCASIONS = 8
"""and of how many occasions they are, at most."""
SEVERAL = 0.5
"""What an occasion counts where several things are asked for, which were said on several occasions;"""
SEVERAL_AUTHOR = 1.45
"""and how much more it counts there who is named: what they are asked about is theirs, and they speak of it often."""
FEW_WORDS_VECTOR = 3.0
"""How much more the meaning counts where few words are the same: where advice is asked for, since what a person likes
seldom has the words of a request; and unless all is in English, since no table says which words are alike."""
SPARSE = 64
"""Numbers of passages for each that has a word, up to which all numbers are counted, and none is looked up."""
FEW_DOCS = 1 << 15
"""Numbers of passages up to which that is done in any case."""
_SCALE = 0.5  # keeps a word that one text in fifty has at its plain BM25 weight


@dataclass(frozen=True, slots=True)
class Weights:
    """How the judges are weighed. The defaults are measured with the built-in embedder; another needs its own
    `unrelated` and `spread`: mean and standard deviation of the cosine of texts that have nothing to do with
    each other; and `abroad`: how much lower that mean is where one of them is English and the other is not.

    `text` scales BM25, to which `rarest` adds a share of a passage's best word. `likeness` is for a passage that has
    every word of the query, or one like it. `near` scales what neighbours lend, `near_likeness` what they lend of words
    like those of the query. `occasion` is for an occasion on which every word of the query was said, or one like it,
    and `occasion_vector` is what a standard deviation of its nearest passage counts. `speaker` is added for a passage
    by whom the query names, `asker` for one by the person who asks about themselves, `time` for one from when the query
    means. Among people, `detail` is added for each particular that a message mentions, `statement` for one that asks
    nothing, `answer` for one that follows a question; where an assistant speaks, `assisted_detail` for each particular,
    and `opening` for the message that opens a conversation. `standing` is added for a standing instruction, which holds
    for whatever is asked, `preference` for a message that states one, where advice is asked for. `coverage` is the
    share that comes off a late hit of an occasion that has a better one (`coverage_penalties`).
    """

    text: float = 0.22
    vector: float = 0.5
    unrelated: float = 0.2
    spread: float = 0.1
    abroad: float = 0.08
    rarest: float = 0.2
    likeness: float = 11.5
    near: float = 0.5
    near_likeness: float = 6.0
    occasion: float = 6.0
    occasion_vector: float = 0.6
    speaker: float = 3.5
    asker: float = 11.0
    time: float = 6.0
    opening: float = 2.2
    detail: float = 0.7
    assisted_detail: float = 0.1
    statement: float = 0.75
    answer: float = 0.75
    standing: float = 5.5
    preference: float = 2.5
    coverage: float = 0.3
    recency: float = 0.05
    half_life: timedelta = timedelta(days=30)

    def __post_init__(self) -> None:
        if self.spread <= 0:
            raise ConfigError("spread must be greater than 0, because it is a standard deviation")
        if self.half_life <= timedelta(0):
            raise ConfigError(
                "half_life must be a time span longer than 0; to ignore the age of messages, set recency to 0"
            )
        if not 0 <= self.recency < 1 or not 0 <= self.coverage < 1:
            raise ConfigError("recency and coverage must each be at least 0 and below 1")
        judges = (self.text, self.vector, self.rarest, self.likeness, self.near, self.near_likeness)
        whose = (self.occasion, self.occasion_vector, self.speaker, self.asker, self.time, self.opening)
        texts = (self.detail, self.assisted_detail, self.statement, self.answer, self.standing, self.preference)
        if min(*judges, *whose, *texts) < 0:
            raise ConfigError("no weight may be negative; use 0 or more")

    def deviations(self, cosines: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """How far cosines are above those of unrelated texts, in standard deviations; 0 for those below, and for NaN,
        which is no cosine."""
        above = (np.asarray(cosines, dtype=np.float64) - self.unrelated) / self.spread
        return np.asarray(np.fmax(above, 0.0))

    def cosine_at(self, deviations: float) -> float:
        """The cosine that is so many standard deviations above that of unrelated texts."""
        return self.unrelated + deviations * self.spread


PARTS = ("text", "likeness", "vector", "near", "speaker", "time", "opening", "recency", "occasion")
"""What a score is the sum of, in the order of the columns of a ranking."""
TEXT, LIKENESS, VECTOR, NEAR, SPEAKER, TIME, OPENING, RECENCY, OCCASION = range(len(PARTS))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of passages, best first; and of every row its score and the parts the score is the sum of."""

    rows: NDArray[np.intp]
    scores: NDArray[np.float64]
    columns: NDArray[np.float64]

    def parts(self, row: int) -> dict[str, float]:
        """The parts of a passage's score."""
        return dict(zip(PARTS, self.columns[row].tolist(), strict=True))


def word_scores(passages: Passages, frequencies: Sequence[int], tally: Tally) -> NDArray[np.float64]:
    """BM25, word by word: how well each passage (row) fits each group of the query's terms (column); `frequencies` are
    those of the groups."""
    if not len(passages) or not frequencies:
        return np.zeros((len(passages), len(frequencies)))
    counts = passages.counts.astype(np.float64)
    lengths = np.maximum(passages.lengths, SHORT).astype(np.float64)
    usual = max(tally.words / max(tally.docs, 1), SHORT)
    drag = K1 * (1 - B + B * lengths / usual)
    return np.asarray(word_worth(frequencies, tally) * counts * (K1 + 1) / (counts + drag[:, np.newaxis]))


def shortlist(postings: Sequence[Posting], tally: Tally, limit: int) -> NDArray[np.int64]:
    """Of all passages that have a word of the query, those whose words are worth most together; of equals the newer."""
    having = [posting for posting in postings if len(posting.docs)]
    if not having:
        return np.empty(0, np.int64)
    worth = word_worth([posting.frequency for posting in having], tally)
    all_docs = np.concatenate([np.asarray(posting.docs, np.int64) for posting in having])
    weights = np.repeat(worth, [len(posting.docs) for posting in having])
    if int(all_docs.max()) < max(FEW_DOCS, SPARSE * len(all_docs)):
        scores = np.bincount(all_docs, weights=weights)
        docs = (scores > 0).nonzero()[0]
        scores = scores[docs]
    else:
        docs, places = np.unique(all_docs, return_inverse=True)
        scores = np.bincount(places, weights=weights)
    if len(docs) > limit:
        is_best = scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit]
        docs = docs[is_best]
        scores = scores[is_best]
    return docs[np.lexsort((-docs, -scores))[:limit]]


def word_worth(frequencies: Sequence[int], tally: Tally) -> NDArray[np.float64]:
    """How much a word says about the passages that have it: the rarer, the more."""
    if not frequencies:
        return np.empty(0)
    having = np.array(frequencies, dtype=np.float64)
    docs = max(float(tally.docs), float(having.max()))
    return np.asarray(_SCALE * np.log1p((docs - having + 0.5) / (having + 0.5)) ** SHARPNESS)


@dataclass(frozen=True, slots=True)
class WordLikeness:
    """How near the words of passages (rows) are to each group of the query's terms (column), from 0 to 1; and what each
    group is worth."""

    nearest: NDArray[np.float32]
    worth: NDArray[np.float64]


def fuse(
    passages: Passages,
    words: NDArray[np.float64],
    cosines: NDArray[np.float64],
    query: ParsedQuery,
    now: datetime,
    weights: Weights,
    limit: int | None = None,
    around: Surroundings | None = None,
    likeness: WordLikeness | None = None,
) -> Ranking:
    """The passages, best first, or the first of them; of equal scores, the newer, then the higher number.

    `words` are their scores word by word. `cosines` are NaN for a passage without one: it gets nothing for its
    meaning, as one without any likeness would. `around` is what stands around them, if that is known already; without
    a `likeness` only the same words are alike.
    """
    if not len(passages):
        return Ranking(np.empty(0, np.intp), np.empty(0), np.empty((0, len(PARTS))))
    moments = passages.moments
    around = around or surroundings(passages)
    deviations = weights.deviations(cosines)
    parts = np.zeros((len(PARTS), len(passages)))
    words = words * np.array(query.emphasis) if query.emphasis else words
    nearest = (passages.counts > 0).astype(np.float64)
    if likeness is not None:
        np.maximum(nearest, likeness.nearest, out=nearest)
    both_with_neighbours = around.words_with_neighbours(
        np.concatenate([words, nearest], axis=1)
    )  # at once: it is faster
    words_around = both_with_neighbours[:, : words.shape[1]]
    parts[TEXT], parts[VECTOR] = _own_parts(words, deviations, query, weights)
    _add_lent(parts, words, words_around, deviations, weights, around)
    relevant = np.add.reduce(parts, axis=0) > 0
    age = np.maximum((now.timestamp() - moments) / weights.half_life.total_seconds(), 0.0)
    parts[RECENCY] = weights.recency * np.exp2(-age) * (parts[TEXT] + parts[VECTOR])
    nearest_around = both_with_neighbours[:, words.shape[1] :]
    _add_likeness(parts, nearest, nearest_around, likeness, query, weights, around)
    parts[OCCASION] += weights.occasion_vector * around.best_of_occasion(deviations)
    parts[OCCASION] *= SEVERAL if query.several else 1.0
    if query.authors or query.own:
        parts[SPEAKER] = _speaker_part(passages, query, weights)
    if query.times:
        parts[TIME] = weights.time * _time_matches(moments, query)
    if passages.has_assistant:
        parts[OPENING] = weights.opening * (passages.turns == 1)
    parts = (parts * relevant).round(6)  # so that they add up
    scores = np.add.reduce(parts, axis=0).round(6)
    rows = np.lexsort((passages.docs, moments, scores))[::-1][:limit]
    return Ranking(rows, scores, parts.T)


def best_by_themselves(
    passages: Passages,
    words: NDArray[np.float64],
    cosines: NDArray[np.float64],
    query: ParsedQuery,
    weights: Weights,
    limit: int,
) -> NDArray[np.intp]:
    """The rows of the passages that earn most by themselves: by their words and meaning, by whom and when they were
    said."""
    if not len(passages):
        return np.empty(0, np.intp)
    words = words * np.array(query.emphasis) if query.emphasis else words
    text, vector = _own_parts(words, weights.deviations(cosines), query, weights)
    scores = text + vector
    is_relevant = scores > 0
    if query.authors or query.own:
        scores += _speaker_part(passages, query, weights)
    if query.times:
        scores += weights.time * _time_matches(passages.moments, query)
    scores = (scores * is_relevant).round(6)
    return np.lexsort((passages.docs, passages.moments, scores))[::-1][:limit]


def _own_parts(
    words: NDArray[np.float64], deviations: NDArray[np.float64], query: ParsedQuery, weights: Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What passages earn by their own words, and by their meaning."""
    best_words = np.maximum.reduce(words, axis=1, initial=0.0)
    text = weights.text * (np.add.reduce(words, axis=1) + weights.rarest * best_words)
    factor = 1.0 if query.is_english and not query.advice else FEW_WORDS_VECTOR
    return text, weights.vector * factor * deviations


def _add_lent(
    parts: NDArray[np.float64],
    words: NDArray[np.float64],
    words_around: NDArray[np.float64],
    deviations: NDArray[np.float64],
    weights: Weights,
    around: Surroundings,
) -> None:
    """What the neighbours of passages lend them of their words and their meaning."""
    lent_words = np.add.reduce(words_around - words, axis=1)
    parts[NEAR] = weights.near * (lent_words + around.neighbour_meaning(deviations))


def _add_likeness(
    parts: NDArray[np.float64],
    nearest: NDArray[np.float64],
    nearest_around: NDArray[np.float64],
    likeness: WordLikeness | None,
    query: ParsedQuery,
    weights: Weights,
    around: Surroundings,
) -> None:
    """What passages, and the occasions they are of, earn by having the words of the query or words like them: the share
    of the query's words that they have. For an occasion, rare words count more."""
    if not nearest.shape[1]:
        return
    emphasis = np.array(query.emphasis) if query.emphasis else np.ones(nearest.shape[1])
    worth = emphasis if likeness is None else emphasis * likeness.worth
    shares = emphasis / np.add.reduce(emphasis)
    own = nearest @ shares
    parts[LIKENESS] = weights.likeness * own
    parts[NEAR] += weights.near_likeness * (nearest_around @ shares - own)
    parts[OCCASION] = weights.occasion * around.words_of_occasion(nearest, worth / np.add.reduce(worth))


def _speaker_part(passages: Passages, query: ParsedQuery, weights: Weights) -> NDArray[np.float64]:
    """What it counts to be by an author the query names; if it names nobody and is about the person who asks, by a
    person and not an assistant."""
    if not query.authors:
        return np.asarray(weights.asker * (passages.roles == USER), np.float64)
    is_named = np.array([name in query.authors for name in passages.author_names])
    weight = weights.speaker * (SEVERAL_AUTHOR if query.several else 1.0)
    return np.asarray(weight * is_named.take(passages.authors), np.float64)


def _time_matches(moments: NDArray[np.float64], query: ParsedQuery) -> NDArray[np.float64]:
    """How near a passage is to a time the query speaks of, and the more, the fewer passages are."""
    if not query.times:
        return np.zeros(len(moments))
    near = closeness(query.times, moments)
    return np.asarray(near * np.log1p(1 / max(float(near.mean()), ALL_PLACES)))


def coverage_penalties(scores: Sequence[float], occasions: Sequence[int], share: float) -> NDArray[np.float64]:
    """What comes off each of these hits, which are in the order of their scores; `occasions` are the numbers of theirs.

    Whoever reads twenty hits is better served by a first hit of another day than by the eighth of the same. So beyond
    the first hits, one whose occasion has a better one counts less, if the first are of few occasions.
    """
    penalties = np.zeros(len(scores))
    seen = set(occasions[:COVERED])
    if len(seen) > FEW_OCCASIONS:
        return penalties
    for place in range(COVERED, len(scores)):
        if occasions[place] in seen:
            penalties[place] = -share * scores[place]
        seen.add(occasions[place])
    return penalties.round(6)

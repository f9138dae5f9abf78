"""Which hits of a search have to do with the query at all, and what of them is worth showing.

Ranking says which passages are better than others, and even an unrelated query has a best passage. So each passage is
measured against chance. Its own words count by how rare they are, so that common words add up to little; the likeness
of its vector counts in standard deviations above that of unrelated texts, which is a property of the embedder. What
neighbours lend is not counted. The larger the memory is, the better is the best of its unrelated passages, so more is
asked of it. Less is asked if the query itself says that it is about the memory: if it names somebody who speaks there,
or speaks of the person's own life. The result is on one scale for every memory, from 0 to 1, and `FLOOR` is where
relevant begins.

The tail of a search is long: in a memory of a thousand short messages everything shares a word with everything. So a
context leaves out what is far below the best hit; a message that asks nothing needs less of the memory than a question
does. Of a long message it shows an excerpt: the sentences that share words with the question, word for word and in
their order, with a mark where something is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from everword.model import Hit, Message
from everword.ports import Vectors
from everword.recall.rules.neighbours import Passages, Surroundings, surroundings
from everword.recall.rules.query import asks_to_recount, searchable_part
from everword.text.detect import DEFAULT, detect
from everword.text.sentences import has_question_mark, sentences
from everword.text.terms import analyse, query_groups
from everword.word_lists import lazy_pattern

FLOOR = 0.5
"""Below this, the best hit is no better than the best hit of an unrelated query is by chance."""
UNSURE = 0.3
"""The same for a question in a language other than English, where likeness is less sure: from here on its best hits are
shown as uncertain."""
PER_RARE_WORD = 2.0
"""Standard deviations of likeness that a shared rare word is worth."""
LEAST = 2.1
"""What is asked of a passage in a memory of one passage,"""
PER_MAGNITUDE = 1.0
"""and how much more for each factor of ten in size."""
PERSONAL = 3.6
"""How much less is asked if the query is about the people of the memory."""
USUAL = 1_000
"""Passages without any word of the query that are counted with those of the memory: in a memory of five messages no
word is known to be frequent."""
CLOSE = 5.0
"""Standard deviations of likeness from which on a summary is relevant by itself, whatever words it has."""

Scores = NDArray[np.float64]


def rarity(frequencies: Sequence[int], size: int) -> Scores:
    """How rare each word of a query is in a memory of so many passages: about 1 if one passage has it, near 0 if most
    have."""
    having = np.array(frequencies, dtype=np.float64)
    passages = np.maximum(size + USUAL, having)
    return np.asarray(np.log1p((passages - having + 0.5) / (having + 0.5)) / np.log1p(passages))


def relevance(words: Scores, deviations: Scores, size: int, *, personal: bool) -> Scores:
    """How relevant passages are, from 0 to 1: `words` is the rarity of the words each shares with the query, added up,
    and `deviations` how far its likeness is above that of unrelated texts. It grows with both."""
    demanded = LEAST + PER_MAGNITUDE * np.log10(max(size, 1)) - (PERSONAL if personal else 0.0)
    return np.asarray(1 / (1 + np.exp(demanded - PER_RARE_WORD * words - deviations)))


def shared_rarity(passages: Passages, frequencies: Sequence[int], emphasis: Sequence[float], size: int) -> Scores:
    """For each passage the rarity of the words it shares with the query, each as much as it counts in the query."""
    if not len(passages) or not frequencies:
        return np.zeros(len(passages))
    weights = rarity(frequencies, size) * np.array(emphasis or [1.0] * len(frequencies))
    return np.asarray((passages.counts > 0) @ weights)


def relevance_with_neighbours(passages: Passages, relevances: Scores, around: Surroundings | None = None) -> Scores:
    """For each passage its own relevance, or that of a message beside it that it completes."""
    if not len(passages):
        return relevances
    return (around or surroundings(passages)).best_with_neighbours(relevances).round(6)


def is_none_relevant(relevances: Scores, is_later: NDArray[np.bool_] | None, least: float) -> bool:
    """Whether it is sure that no passage is relevant, since none reaches `least`. It is not where some are of the
    question, or later (`is_later`): of these, only messages tell."""
    if is_later is not None and np.logical_or.reduce(is_later):
        return False
    return bool(np.maximum.reduce(relevances, initial=0.0) < least)


# -- hits that are worth their tokens in a context


ASKED = 0.525
"""Of the best score: what a hit needs at least if the message is a question,"""
TOLD = 0.75
"""and if it is mainly something else;"""
FOREIGN = 0.4
"""and how much of that in a language other than English, where scores are less sure."""
MAINLY = 0.5
"""The share of its sentences that are questions, from which on a message is a question."""


def worthwhile_hits(hits: Sequence[Hit], text: str) -> list[Hit]:
    """The hits that are near enough to the best one, for a message of this text."""
    least_score = worthwhile_share(text) * max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= least_score]


def worthwhile_share(text: str) -> float:
    """The share of the best score that a hit needs at least, for a message of this text."""
    return (ASKED if is_question(text) else TOLD) * (1.0 if detect(text) == DEFAULT else FOREIGN)


SHORT_LINE = 80  # characters: where hits have no more on the average, people write short lines
AROUND = 2  # lines before and after each hit that come with it
LENT = 0.9  # of a hit's score for the line next to it, and of that for the one beyond
TOGETHER = timedelta(hours=1)  # lines further apart belong to another occasion
BESIDE = "beside"  # the part of the score of a line that it has for being next to a hit,
ASKED_BY = "question"  # for being what a hit answers,
ANSWERING = "answer"  # and for answering a hit
WITH_THREAD = 6  # best hits of a group that come with their questions and answers


def turns_around(hits: Sequence[Hit]) -> dict[str, list[int]]:
    """By conversation the turns next to hits, where people write short lines: there one line says little by itself, and
    several cost no more than a message elsewhere."""
    if sum(len(hit.message.content) for hit in hits) > SHORT_LINE * len(hits):
        return {}
    places = {(hit.message.conversation, hit.message.turn) for hit in hits}
    near = {(name, turn + step) for name, turn in places for step in range(-AROUND, AROUND + 1)} - places
    turns: dict[str, list[int]] = {}
    for conversation, turn in sorted(near):
        turns.setdefault(conversation, []).append(turn)
    return turns


def with_lines_around(hits: Sequence[Hit], lines: Iterable[Message]) -> list[Hit]:
    """Hits and the lines around them, best first: a line counts less than the hit it is next to."""
    around = list(hits)
    for line in lines:
        scores = [
            hit.score * LENT ** abs(hit.message.turn - line.turn)
            for hit in hits
            if hit.message.conversation == line.conversation
            and abs(hit.message.turn - line.turn) <= AROUND
            and abs(hit.message.time - line.time) <= TOGETHER
        ]
        around += [Hit(line, max(scores), {BESIDE: max(scores)})] if scores else []
    return sorted(around, key=lambda hit: -hit.score)


def is_question(text: str) -> bool:
    """Whether a message mainly asks, as a question or by asking for a list or an account. Most messages of a chat that
    have a question in them tell something as well, and need less of the memory."""
    if not has_question_mark(text):
        return asks_to_recount(text)
    marks = [has_question_mark(sentence.text) for sentence in sentences(text)]
    return sum(marks) >= MAINLY * len(marks)


# -- what a long message says about a question


SENTENCE = lazy_pattern(r"(?<=[.!?…。！？])\s+|\n+")
WORD = lazy_pattern(r"[^\W_]{3,}")
STEM = 5  # letters of a word that are compared
LOOKED_AT = 20_000  # characters of a message that are looked at
GAP = " … "


def stems(text: str) -> frozenset[str]:
    """The words of a text as they are compared here."""
    return frozenset(word[:STEM] for word in WORD.findall(text[:LOOKED_AT].casefold()))


def excerpt(text: str, query_stems: Collection[str], length: int) -> str:
    """The sentences of a text that share most with the stems of a query, in at most about `length` characters."""
    sentences = [part.strip() for part in SENTENCE.split(text[:LOOKED_AT]) if part.strip()]
    if len(text) <= length or not sentences:
        return text[:length].strip()
    scores = [len(stems(sentence) & frozenset(query_stems)) for sentence in sentences]
    by_score = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
    places: list[int] = []
    room = length
    for place in by_score:
        if places and len(sentences[place]) + len(GAP) > room:
            continue
        places.append(place)
        room -= len(sentences[place]) + len(GAP)
        if room <= 0:
            break
    return join_sentences(sentences, sorted(places), length)


def join_sentences(sentences: list[str], places: list[int], length: int) -> str:
    """The sentences at these places as one text, with a mark for each gap."""
    parts = [sentences[places[0]] if places[0] == 0 else GAP.lstrip() + sentences[places[0]]]
    for before, place in pairwise(places):
        parts.append((" " if place == before + 1 else GAP) + sentences[place])
    text = "".join(parts)
    if len(text) > length:  # a single sentence may be longer than there is room for
        return text[:length].rstrip() + GAP.rstrip()
    return text if places[-1] == len(sentences) - 1 else text + GAP.rstrip()


# -- the last messages that are nearest to a question


NEAREST = 4  # messages at most
STANDS_OUT = 0.3  # standard deviations above the mean
APART = 0.02  # of cosine, at least, above the mean


def nearest_turns(vector: Vectors, vectors: Mapping[int, Vectors]) -> dict[int, float]:
    """The turns whose vectors stand out as nearest to a question's, each with its cosine, nearest first."""
    if not vectors or not vector.any():
        return {}
    turns = list(vectors)
    matrix = np.array([vectors[turn] for turn in turns], np.float32)
    # As `np.linalg.norm`, in half the time.
    lengths = np.sqrt(np.add.reduce(matrix * matrix, axis=1)) * float(np.sqrt(vector.dot(vector)))
    cosines = matrix @ vector.astype(np.float32) / np.where(lengths > 0, lengths, 1.0)
    # As `mean` and `std` of the array, in a third of the time.
    mean = np.add.reduce(cosines) / np.float32(len(turns))
    deviations = cosines - mean
    deviation = np.sqrt(np.add.reduce(deviations * deviations) / np.float32(len(turns)))
    least = float(mean) + max(STANDS_OUT * float(deviation), APART)
    if not least > 0:
        return {}
    threshold = float(np.float32(least))
    nearest = sorted(zip(cosines.tolist(), turns, strict=True), reverse=True)
    return {turn: round(cosine, 6) for cosine, turn in nearest[:NEAREST] if cosine >= threshold}


# -- messages that are not in the index, since they are not written yet


LEAST_SHARE = 0.5
"""Of the words of a query that a message must have to be found."""


def match_words(query: str, messages: Sequence[Message], best_score: float = 1.0) -> list[Hit]:
    """The messages that have at least half of the words of a query, best first, then the newest. One that has all of
    them gets the best score."""
    analyses = [analyse(message.content) for message in messages]
    groups = query_groups(searchable_part(query), {analysis.language for analysis in analyses})
    hits: list[Hit] = []
    for message, analysis in zip(messages, analyses, strict=True):
        terms = {*analysis.terms}
        shared_count = sum(not terms.isdisjoint(group) for group in groups)
        share = shared_count / max(len(groups), 1)
        if share >= LEAST_SHARE:
            hits.append(Hit(message, best_score * share, {"words": best_score * share}, share))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.message.turn))

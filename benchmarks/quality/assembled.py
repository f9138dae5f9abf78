"""Whole conversations with known subjects: how many topics they get, and whether the right messages share one.

LongMemEval's sessions are about one thing each. Twenty of them, drawn by a seed, become one conversation with a person
who has several things on their mind: each session is cut into a few pieces, and the pieces are put together in a random
order, those of one session in their own order. Between pieces there are hours, or only minutes, so that what a pause
tells can be seen apart. The sessions one after another, on their own dates, are the easy case. The topics are those of
the product, message by message as they arrive; the baselines see the same messages. LoCoMo's conversations are between
two people and go on for months: nobody marked their subjects, so their topics are counted and their titles are listed.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from itertools import accumulate
from statistics import fmean, pstdev

import numpy as np

from everword.config import Settings
from everword.ports import Vectors
from everword.text.filler import is_filler, is_small_talk
from everword.text.sentences import sentences
from everword.topics.rules import topics as topic_rules
from everword.topics.rules.topic_set import root, round_vector
from everword.topics.rules.topics import Book, FadedTopics, IncomingMessage, TopicRule
from everword.topics.rules.words import read_words
from everword.topics.view import may_lean
from everword.wiring import open_embedder, topic_rule
from quality.baselines import embedded
from quality.clusters import ClusterScores, score_clusters
from quality.datasets import Haystack, Session, Turn
from quality.segmentation import tiling
from quality.topics import CUTOFFS, OURS, START, STRICT, TILING

SESSIONS = 20  # of one conversation
MOST_PIECES = 3  # of one session
ONE_TOPIC = "one topic"
ONE_A_MESSAGE = "one a message"
MINUTE = timedelta(minutes=1)
ARRANGEMENTS = {
    "interleaved, hours between pieces": (60, 12 * 60),
    "interleaved, minutes between pieces": (1, 10),
    "one after another, on their dates": None,
}
"""How sessions become a conversation: the fewest and the most minutes between pieces."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn in a conversation: its session, and when it is said there."""

    turn: Turn
    session: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Assembled:
    """The scores of each method, ours first, as means over draws, and the deviation of ours."""

    arrangement: str
    methods: Mapping[str, ClusterScores]
    deviation: ClusterScores


@dataclass(frozen=True, slots=True)
class TopicCount:
    """The topics of one long conversation: the share of the largest, and the titles, those of most messages first."""

    name: str
    messages: int
    topics: int
    largest: float
    titles: Sequence[tuple[str, int]]
    empty_titles: Sequence[str]


def arrange(sessions: Sequence[Session], chance: random.Random, minutes: tuple[int, int] | None) -> list[Placed]:
    """One conversation of several sessions."""
    if minutes is None:
        ordered = sorted(sessions, key=lambda session: (session.time, session.id))
        return [Placed(turn, session.id, turn.time) for session in ordered for turn in session.turns]
    pieces = {session.id: cut_session(session, chance) for session in sessions}
    order = [session for session, parts in pieces.items() for _ in parts]
    chance.shuffle(order)
    now = START
    placed: list[Placed] = []
    for session in order:
        now += chance.randint(*minutes) * MINUTE
        for turn in pieces[session].pop(0):
            now += MINUTE
            placed.append(Placed(turn, session, now))
    return placed


def cut_session(session: Session, chance: random.Random) -> list[Sequence[Turn]]:
    """A session in one to three pieces, each beginning with what the user says."""
    starts = [place for place, turn in enumerate(session.turns) if turn.role == "user" and place]
    cuts = sorted(chance.sample(starts, min(chance.randint(0, MOST_PIECES - 1), len(starts))))
    return [session.turns[begin:end] for begin, end in zip([0, *cuts], [*cuts, None], strict=True)]


def follow_topics(placed: Sequence[Placed], vectors: Vectors, rule: TopicRule) -> tuple[Book, list[int]]:
    """The topics after all messages, and the topic of each message, merged ones as one."""
    book = Book()
    topics: list[int] = []
    for number, (message, vector) in enumerate(zip(placed, vectors, strict=True), 1):
        incoming = IncomingMessage(
            turn=number,
            role=message.turn.role,
            text=message.turn.text,
            time=message.time,
            vector=round_vector(vector),
            leaning=message.turn.role == "user" and may_lean(message.turn.text),
        )
        book = topic_rules.step(book, incoming, rule, FadedTopics)
        assert book.current is not None
        topics.append(book.current)
    return book, [root(book.states, topic) for topic in topics]


def tile_topics(vectors: Vectors, deviations: float) -> list[int]:
    return list(accumulate(int(mark) for mark in tiling(vectors, deviations)))


def embed_turns(embedder: str, turns: Sequence[Turn]) -> tuple[TopicRule, Mapping[str, Vectors], str]:
    """The rule, the vector of each turn by its id, and the embedder's identity."""
    settings = Settings.load(embedder=embedder)
    opened = open_embedder(settings)

    async def run() -> Vectors:
        try:
            await opened.ready()
            return await embedded(opened, [turn.text for turn in turns])
        finally:
            await opened.close()

    vectors = asyncio.run(run())
    by_id = {turn.id: vector for turn, vector in zip(turns, vectors, strict=True)}
    return topic_rule(settings), by_id, opened.identity


def evaluate_sessions(sessions: Sequence[Session], embedder: str, draws: int, seed: int) -> tuple[str, list[Assembled]]:
    """The scores of every method for each arrangement of sessions: means over draws."""
    rule, vectors, identity = embed_turns(embedder, [turn for session in sessions for turn in session.turns])
    results: list[Assembled] = []
    for name, minutes in ARRANGEMENTS.items():
        scores: dict[str, list[ClusterScores]] = {}
        for draw in range(draws):
            chance = random.Random(f"{seed}:{draw}")
            placed = arrange(chance.sample(list(sessions), min(SESSIONS, len(sessions))), chance, minutes)
            for method, score in score_methods(placed, vectors, rule).items():
                scores.setdefault(method, []).append(score)
        means = {method: _combine(every, fmean) for method, every in scores.items()}
        results.append(Assembled(name, means, _combine(scores[OURS], pstdev)))
    return identity, results


def score_methods(
    placed: Sequence[Placed], vectors: Mapping[str, Vectors], rule: TopicRule
) -> dict[str, ClusterScores]:
    """The scores of one conversation."""
    rows = np.array([vectors[message.turn.id] for message in placed])
    topics = {
        OURS: follow_topics(placed, rows, rule)[1],
        ONE_TOPIC: [0] * len(placed),
        ONE_A_MESSAGE: list(range(len(placed))),
        TILING: tile_topics(rows, CUTOFFS[TILING]),
        STRICT: tile_topics(rows, CUTOFFS[STRICT]),
    }
    sessions = [message.session for message in placed]
    return {method: score_clusters(sessions, labels) for method, labels in topics.items()}


def _combine(scores: Sequence[ClusterScores], how: Callable[[Iterator[float]], float]) -> ClusterScores:
    return ClusterScores(*(how(getattr(score, field.name) for score in scores) for field in fields(ClusterScores)))


def count_topics(haystack: Haystack, embedder: str) -> TopicCount:
    """The topics of a long conversation."""
    rule, vectors, _ = embed_turns(embedder, haystack.turns)
    placed = [Placed(turn, session.id, turn.time) for session in haystack.sessions for turn in session.turns]
    rows = np.array([vectors[message.turn.id] for message in placed])
    book, topics = follow_topics(placed, rows, rule)
    sizes = Counter(topics)
    titles = [(book.states[first].title, count) for first, count in sizes.most_common()]
    return TopicCount(
        haystack.name,
        len(placed),
        len(sizes),
        max(sizes.values()) / len(placed),
        titles,
        [title for title, _ in titles if says_nothing(title)],
    )


def says_nothing(title: str) -> bool:
    """Whether a title is a greeting, thanks or filler, or begins with a sentence that is."""
    parts = sentences(title)
    return is_small_talk(title) or not parts or is_filler(parts[0]) or read_words(parts[0].text).is_empty

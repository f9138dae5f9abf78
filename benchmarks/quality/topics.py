"""Where the subject shifts: as everword assigns topics, beside simple methods, on the same dialogues and vectors.

Ours is what the product does, the rule that gives each message its topic as it arrives (`topics/rules/topics.py`): a
shift is where a message has another topic than the one before. So it sees only what came before, while TextTiling sees
the whole dialogue. The sets have no times: messages follow each other within seconds. No model is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from everword.config import Settings
from everword.ports import Vectors
from everword.topics.rules.topic_set import round_vector
from everword.topics.rules.topics import Book, FadedTopics, IncomingMessage, TopicRule, step
from everword.topics.view import may_lean
from everword.wiring import open_embedder, topic_rule
from quality.baselines import embedded
from quality.dialogues import Dialogue, Marked
from quality.segmentation import Scores, by_chance, score, tiling

OURS = "everword"
RANDOM = "random, true rate"
TILING = "TextTiling"
STRICT = "TextTiling, strict"
CUTOFFS = {TILING: -0.5, STRICT: 0.5}
"""How far from the mean depth, in deviations, a dip counts: as published, and one that finds fewer."""
START = datetime(2000, 1, 1, tzinfo=UTC)
APART = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The measures of each method by name, ours first, and what they were measured on."""

    embedder: str
    dialogues: int
    messages: int
    shifts: int
    assistants: bool
    notes: Sequence[str]
    methods: Mapping[str, Scores]

    @property
    def better(self) -> bool:
        """Whether ours is better than chance and both kinds of TextTiling in every measure."""
        ours = self.methods[OURS]
        others = [scores for method, scores in self.methods.items() if method != OURS]
        return all(ours.pk < o.pk and ours.window_diff < o.window_diff and ours.f1 > o.f1 for o in others)


def assigned(dialogue: Dialogue, vectors: Vectors, rule: TopicRule) -> list[bool]:
    """Where the topics of a dialogue change, message by message."""
    book, topics = Book(), []
    for turn, (line, vector) in enumerate(zip(dialogue.lines, vectors, strict=True), 1):
        said = IncomingMessage(
            turn=turn,
            role=line.role,
            text=line.text,
            time=START + turn * APART,
            vector=round_vector(vector),
            leaning=line.role == "user" and may_lean(line.text),
        )
        book = step(book, said, rule, FadedTopics)
        topics.append(book.current)
    return [False, *(one != other for one, other in pairwise(topics))]


def evaluate(marked: Marked, embedder: str = "static", done: Callable[[int], None] = lambda number: None) -> Evaluation:
    """Measure every method on every dialogue; `done` is told how many are finished."""
    settings = Settings.load(embedder=embedder)
    rule = topic_rule(settings)
    opened = open_embedder(settings)
    texts = [line.text for dialogue in marked.dialogues for line in dialogue.lines]

    async def all_vectors() -> Vectors:
        try:
            await opened.ready()
            return await embedded(opened, texts)
        finally:
            await opened.close()

    vectors, at = asyncio.run(all_vectors()), 0
    found: dict[str, list[list[bool]]] = {name: [] for name in (OURS, *CUTOFFS)}
    for number, dialogue in enumerate(marked.dialogues, 1):
        own = vectors[at : at + len(dialogue.lines)]
        at += len(dialogue.lines)
        found[OURS].append(assigned(dialogue, own, rule))
        for name, deviations in CUTOFFS.items():
            found[name].append(tiling(own, deviations))
        done(number)
    scores = {name: score(marked.dialogues, marks) for name, marks in found.items()}
    methods = {OURS: scores.pop(OURS), RANDOM: by_chance(marked.dialogues), **scores}
    counts = (len(marked.dialogues), marked.messages, marked.shifts)
    return Evaluation(opened.identity, *counts, marked.assistants, marked.notes, methods)

"""How often what was just said is in the context word for word.

Each conversation is cut a few messages after the last evidence of a question, and the question is asked there, with the
default budget. Counted are the questions for which all evidence among the last messages before the cut is in the
context word for word, wherever it stands in it. LongMemEval's sessions are stitched into one conversation, in order of
time. The conversation grows as a chat does: every few messages the views catch up. No model is asked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256

from everword.library import Memory
from everword.memory.blocking import BlockingConversation
from everword.model import Context, Draft
from everword.text.escaping import GUARD, escape
from quality.datasets import AFTER_THE_LAST, Dataset, Haystack, Question, Turn
from quality.recall import OWNER, PATIENCE, SetClock

LAST = 18  # messages before the cut whose evidence has to be there
STEP = 4  # messages after which the views catch up
WAYS = {"with markers": True, "without markers": False}


@dataclass(frozen=True, slots=True)
class Cut:
    """A question, after how many turns it is asked, and the evidence among the last of them."""

    question: Question
    length: int
    evidence: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One context for a question: which evidence it lacks, its tokens, and the seconds it took."""

    question: str
    way: str
    missing: tuple[str, ...]
    tokens: int
    seconds: float


Progress = Callable[[str, int], None]


def cuts_of(haystack: Haystack, seed: int) -> list[Cut]:
    """Where the questions are asked, in the order of the conversation."""
    turns = haystack.turns
    places = {turn.id: place for place, turn in enumerate(turns)}
    cuts = []
    for question in haystack.questions:
        last_place = max(places[id] for id in question.evidence)
        distance = 1 + sha256(f"{seed}:{question.id}".encode()).digest()[0] % LAST
        length = min(last_place + 1 + distance, len(turns))
        evidence = [turns[places[id]] for id in question.evidence if places[id] >= length - LAST]
        if evidence:  # otherwise the conversation ended earlier, and nothing of it is among the last messages
            cuts.append(Cut(question, length, tuple(evidence)))
    return sorted(cuts, key=lambda cut: (cut.length, cut.question.id))


def evaluate(
    dataset: Dataset, seed: int = 0, progress: Progress = lambda what, done: None, embedder: str = "static"
) -> list[Asked]:
    """The contexts of all questions of a set, each with markers and without."""
    answers: list[Asked] = []
    for haystack in dataset.haystacks:
        if haystack.questions:
            answers += _ask_in(haystack, seed, progress, embedder)
    return answers


def _ask_in(haystack: Haystack, seed: int, progress: Progress, embedder: str) -> list[Asked]:
    clock = SetClock()
    answers: list[Asked] = []
    place = 0
    with (
        tempfile.TemporaryDirectory(prefix="everword-bench-") as folder,
        Memory(
            f"{folder}/bench.db", embedder=embedder, clock=clock, followers=False, chat_model="", memory_model=""
        ) as memory,
    ):
        chat = memory.conversation(haystack.name, user=OWNER)
        for cut in cuts_of(haystack, seed):
            for first in range(place, cut.length, STEP):
                turns = haystack.turns[first : min(first + STEP, cut.length)]
                clock.moment = max(clock.moment, turns[-1].time)
                chat.extend(map(_draft, turns))
                memory.settle(PATIENCE)
            place = cut.length
            clock.moment += AFTER_THE_LAST
            answers += [_ask(chat, cut, way, markers) for way, markers in WAYS.items()]
            clock.moment -= AFTER_THE_LAST
            progress(f"{haystack.name}: {cut.length:,} of {len(haystack.turns):,} turns", 1)
    return answers


def _draft(turn: Turn) -> Draft:
    return Draft(turn.role, turn.text, author=None if turn.speaker == turn.role else turn.speaker, time=turn.time)


def _ask(chat: BlockingConversation, cut: Cut, way: str, markers: bool) -> Asked:
    start = time.perf_counter()
    context = chat.context(cut.question.text, markers=markers)
    seconds = time.perf_counter() - start
    missing = missing_turns(context, cut.evidence)
    return Asked(cut.question.id, way, missing, context.receipt.tokens, seconds)


def missing_turns(context: Context, evidence: Iterable[Turn]) -> tuple[str, ...]:
    """The evidence that is not in a context word for word. White space and what escaping adds do not count."""
    text = _plain("\n".join(message["content"] for message in context.messages))
    return tuple(turn.id for turn in evidence if _plain(escape(turn.text)) not in text)


def _plain(text: str) -> str:
    return " ".join(text.replace(GUARD, "").split())

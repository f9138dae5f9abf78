"""Stretches of a channel, kept in a memory without a model; and questions about them with their evidence.

`data/channel_questions.json` has for each stretch questions and the lines of its file that answer them: what was asked
there, and what was answered. Every other question is reported, the others are for looking at.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from everword import BlockingConversation, Budget, Context, Draft, Memory
from everword.model import Message
from everword.testing import FrozenClock
from quality.evidence import Asked, letters
from quality.shapes import Dataset, Haystack, Question, Session, Turn
from quality.threads import OPENING, Stretch, read_stretches

QUESTIONS = Path(__file__).parent.parent / "data" / "channel_questions.json"
CHANNEL = "general"
PATIENCE = 600.0
BATCH = 500
PARTS = {"tune": (0,), "report": (1,), "all": (0, 1)}


@dataclass(frozen=True, slots=True)
class KeptChannel:
    """A stretch in a memory, and its messages there."""

    memory: Memory
    conversation: BlockingConversation
    messages: Sequence[Message]


@contextmanager
def keep_channel(stretch: Stretch) -> Iterator[KeptChannel]:
    """Keep a stretch in a temporary memory, a day after its end, with all views."""
    clock = FrozenClock(stretch.messages[-1].time + timedelta(days=1))
    drafts = [
        Draft("user", message.text, message.author, time=message.time)
        for message in stretch.messages
        if message.text.strip()
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(str(Path(folder) / "memory.db"), clock=clock, followers=False) as memory,
    ):
        conversation = memory.conversation(CHANNEL)
        messages = [
            added.message
            for first in range(0, len(drafts), BATCH)
            for added in conversation.extend(drafts[first : first + BATCH])
        ]
        memory.settle(PATIENCE)
        yield KeptChannel(memory, conversation, messages)


def channel_questions(part: str) -> dict[str, list[tuple[str, list[int]]]]:
    """The questions of a part about each stretch, each with the lines of its evidence."""
    questions: dict[str, list[tuple[str, list[int]]]] = {}
    number = 0
    for name, entries in json.loads(QUESTIONS.read_text(encoding="utf-8")).items():
        for entry in entries:
            if number % 2 in PARTS[part]:
                questions.setdefault(name, []).append((entry["question"], entry["evidence"]))
            number += 1
    return questions


def is_channels(path: Path) -> bool:
    """Whether this is a folder of stretches."""
    return path.is_dir() and next(path.glob("*.raw.txt"), None) is not None


def load_channels(folder: Path, part: str, limit: int | None = None) -> Dataset:
    """The channels of a folder with their questions. The last line of the evidence stands for the answer."""
    questions = channel_questions(part)
    haystacks: list[Haystack] = []
    left = limit
    for stretch in read_stretches(folder):
        texts = {message.number: OPENING.sub("", message.text, 1).strip() for message in stretch.messages}
        turns = tuple(
            Turn(str(message.number), message.author, "user", texts[message.number], message.time)
            for message in stretch.messages
        )
        asked = [
            Question(
                f"{stretch.name}: {text}",
                text,
                texts[lines[-1]],
                tuple(map(str, lines)),
                (CHANNEL,),
                "channel",
                turns[-1].time + timedelta(days=1),
            )
            for text, lines in questions.get(stretch.name, [])
        ][:left]
        left = None if left is None else left - len(asked)
        haystacks.append(Haystack(stretch.name, (Session(CHANNEL, turns[0].time, turns),), tuple(asked), True))
    return Dataset("Channels", tuple(haystacks), ())


def channel_contexts(folder: Path, dataset: Dataset, budget: Budget) -> Iterator[tuple[Question, Context]]:
    """Each question about a channel of a folder with its context."""
    for stretch, haystack in zip(read_stretches(folder), dataset.haystacks, strict=True):
        if haystack.questions:
            with keep_channel(stretch) as channel:
                for question in haystack.questions:
                    yield question, channel.conversation.context(question.text, budget=budget, markers=False)


def ask_channels(
    stretches: Sequence[Stretch], part: str, budgets: Mapping[str, Budget], report: Callable[[int], None]
) -> list[Asked]:
    """Ask the questions about these stretches in their channels: how much of the evidence is in each context."""
    questions = channel_questions(part)
    asked: list[Asked] = []
    for number, stretch in enumerate(stretches, 1):
        if stretch.name in questions:
            texts = {message.number: letters(OPENING.sub("", message.text, 1)) for message in stretch.messages}
            with keep_channel(stretch) as channel:
                for question, lines in questions[stretch.name]:
                    evidence = [texts[line] for line in lines]
                    asked += [ask(channel, stretch.name, question, evidence, size, budgets[size]) for size in budgets]
        report(number)
    return asked


def ask(
    channel: KeptChannel, category: str, question: str, evidence: Sequence[str], size: str, budget: Budget
) -> Asked:
    context = channel.conversation.context(question, budget=budget)
    sent = letters("".join(str(message["content"]) for message in context.messages))
    covered = sum(text in sent for text in evidence) / len(evidence)
    retrieved = sum(section.name == "retrieved" and bool(section.items) for section in context.receipt.sections)
    return Asked(question, category, size, "channel", covered, retrieved, context.receipt.tokens, 0.0)

"""Whether everything a question needs is in the context, as a user gets it: whole contexts, not a section of them.

Each haystack is kept as the chats of one user, as for `recall`. Each question is asked twice: in the conversation
itself, and in a new one. Counted is how often *all* of its evidence stands word for word in what is sent, whatever the
section; beside it the same for plain lines of the same number of tokens, in the order of the best simple ranking. How
much is sent is the other half of the measure: more would always hold more.
"""

from __future__ import annotations

import asyncio
import pickle
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everword.config import Settings
from everword.context.build import PER_MESSAGE, PER_REPLY
from everword.errors import InvalidInput
from everword.model import Budget, Context
from everword.wiring import open_embedder, open_tokenizer
from quality.baselines import STRONGEST, embedded
from quality.datasets import Dataset, Haystack, Question
from quality.recall import ASKING, OWNER, Field, Progress, SetClock, Tools, _fields, _kept, _memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from everword.library import Memory

DEFAULT = "default"
SIZES: Mapping[str, Budget] = {
    DEFAULT: Budget(),
    **{f"{total}": Budget(total=total) for total in (4_000, 2_000, 1_000, 500)},
}
SAME, NEW = "same conversation", "new conversation"
UNANSWERABLE = ("adversarial", "abstention")
"""Kinds of questions whose evidence does not hold the answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with one budget in one place: the share of the evidence in the context, how many messages were
    retrieved, the tokens of the context, and the share of the evidence in plain lines of the same size."""

    question: str
    category: str
    size: str
    place: str
    covered: float
    retrieved: int
    tokens: int
    plain: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What some questions came to, in per cent, and their mean tokens."""

    questions: int
    everything: float
    nothing_retrieved: float
    tokens: float
    plain: float


def summarise(asked: Sequence[Asked]) -> Summary:
    count = max(len(asked), 1)
    return Summary(
        len(asked),
        100 * sum(answer.covered == 1 for answer in asked) / count,
        100 * sum(answer.retrieved == 0 and answer.covered < 1 for answer in asked) / count,
        sum(answer.tokens for answer in asked) / count,
        100 * sum(answer.plain == 1 for answer in asked) / count,
    )


def budget_of(size: str) -> Budget:
    """The budget that a size means: `default`, or a total of tokens."""
    if size == DEFAULT:
        return Budget()
    if not size.isdigit() or not int(size):
        raise InvalidInput("size", f"is {size!r}; must be `default` or a number of tokens")
    return Budget(total=int(size))


def contexts_of(dataset: Dataset, budget: Budget, place: str) -> Iterator[tuple[Question, Context]]:
    """Each question of a set that has an answer, with its context."""
    settings = Settings.load(embedder="static", chat_model="", memory_model="")
    tools = Tools(settings, open_embedder(settings), open_tokenizer(settings), lambda what, done: None, True)
    try:
        for haystack in dataset.haystacks:
            questions = [question for question in haystack.questions if question.category not in UNANSWERABLE]
            clock = SetClock()
            with kept_memory(haystack, clock, tools, None) as memory:
                for question in questions:
                    clock.moment = question.asked_at
                    chat = memory.conversation(conversation_of(haystack, question, place), user=OWNER)
                    yield question, chat.context(question.text, budget=budget, markers=False)
    finally:
        asyncio.run(tools.embedder.close())


def measure_evidence(
    dataset: Dataset,
    sizes: Mapping[str, Budget],
    places: Iterable[str],
    progress: Progress = lambda what, done: None,
    stores: Path | None = None,
) -> list[Asked]:
    """Ask every question of a set in every place with every size of context. With `stores`, a folder, the memories are
    kept there and used again."""
    settings = Settings.load(embedder="static", chat_model="", memory_model="")
    tools = Tools(settings, open_embedder(settings), open_tokenizer(settings), progress, True)
    try:
        return [
            asked
            for haystack in dataset.haystacks
            if haystack.questions
            for asked in ask_haystack(haystack, sizes, tuple(places), tools, stores)
        ]
    finally:
        asyncio.run(tools.embedder.close())


@contextmanager
def kept_memory(haystack: Haystack, clock: SetClock, tools: Tools, stores: Path | None) -> Iterator[Memory]:
    """The memory of a haystack: made now, or found in the folder where an earlier run has left it."""
    with tempfile.TemporaryDirectory(prefix="everword-bench-") as scratch:
        folder = Path(scratch) if stores is None else stores
        done = folder / f"{haystack.name}.pkl"
        is_kept = done.exists()
        with _memory(f"{folder}/{haystack.name}.db", "static", clock) as memory:
            if not is_kept:
                tools.progress(f"{haystack.name}: keeping {len(haystack.turns):,} turns", 0)
                done.write_bytes(pickle.dumps(_kept(memory, haystack, clock)))
            yield memory


def ask_haystack(
    haystack: Haystack, sizes: Mapping[str, Budget], places: Sequence[str], tools: Tools, stores: Path | None
) -> Iterator[Asked]:
    fields = _fields(haystack, tools)
    everyone = fields[-1]
    vectors = asyncio.run(embedded(tools.embedder, [question.text for question in haystack.questions]))
    texts = {turn.id: letters(turn.text) for turn in haystack.turns}
    clock = SetClock()
    with kept_memory(haystack, clock, tools, stores) as memory:
        for question, vector in zip(haystack.questions, vectors, strict=True):
            clock.moment = question.asked_at
            ranked = everyone.baselines.rank(question.text, vector)[STRONGEST]
            for place in places:
                chat = memory.conversation(conversation_of(haystack, question, place), user=OWNER)
                for size, budget in sizes.items():
                    context = chat.context(question.text, budget=budget)
                    plain = plain_lines(question, everyone, ranked, context.receipt.tokens, tools)
                    yield judge(question, size, place, context, texts, plain)
            tools.progress(f"{haystack.name}: asking {len(haystack.questions):,} questions", 1)


def conversation_of(haystack: Haystack, question: Question, place: str) -> str:
    """Where a question is asked: among sessions that are conversations of their own, in the last one before it."""
    if place == NEW:
        return ASKING
    if haystack.continuous:
        return haystack.name
    before = [session for session in haystack.sessions if session.time <= question.asked_at] or haystack.sessions
    return before[-1].id


def judge(question: Question, size: str, place: str, context: Context, texts: Mapping[str, str], plain: float) -> Asked:
    sent = letters("\n".join(message["content"] for message in context.messages[:-1]))
    sent += letters(context.messages[-1]["content"].removesuffix(question.text))
    covered = share_of(question, {id for id in question.evidence if texts[id] in sent})
    retrieved = sum(len(part.items) for part in context.receipt.sections if part.name == "retrieved")
    return Asked(question.id, question.category, size, place, covered, retrieved, context.receipt.tokens, plain)


def plain_lines(question: Question, field: Field, ranked: Sequence[str], tokens: int, tools: Tools) -> float:
    around = tools.tokenizer.count(question.text) + 2 * PER_MESSAGE + PER_REPLY
    return share_of(question, set(field.lines.fitting(ranked, tokens - around)))


def share_of(question: Question, shown: set[str]) -> float:
    return len(shown & {*question.evidence}) / len({*question.evidence})


def letters(text: str) -> str:
    """A text without its spaces and marks: fences escape some of them."""
    return "".join(filter(str.isalnum, text))

"""How much of the evidence is found: by the engine as a user has it, and by simple methods over the same turns.

Each haystack is kept in a memory of its own through the public interface, every view catches up, and each question is
searched for, and a context built for it, with the clock at the moment it is asked. Nothing here ranks for the engine.
No model is asked, whatever is configured. The simple methods see the same turns and the same embedder.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from everword.config import Settings
from everword.context.build import PER_MESSAGE, PER_REPLY
from everword.library import Memory
from everword.memory.blocking import BlockingMemory
from everword.model import Budget, Draft, Role
from everword.ports import Embedder, Tokenizer, Vectors
from everword.wiring import open_embedder, open_tokenizer
from quality import measures
from quality.baselines import STRONGEST, Baselines, as_indexed, embedded
from quality.datasets import AFTER_THE_LAST, Dataset, Haystack, Question, Turn

OURS = "everword"
OURS_AND_SUMMARIES = "everword, summaries counted"
"""With what is in a context only as its tier 2, a sentence or two; the other row counts word for word alone."""
OWNER = "owner"
BUDGETS = (1_000, 2_000, 4_000, 8_000)
"""Tokens of the contexts that are built."""
ASKING = "asking"
"""The conversation questions are asked in: an empty one, so that a context holds nothing but what was recalled."""
SHORTEST = 16  # tokens: hardly a line is shorter, its date alone has ten
BATCH = 500  # messages kept in one transaction
PATIENCE = 3_600.0  # seconds for the views to catch up

Values = Mapping[str, float]
Progress = Callable[[str, int], None]
"""Called with what is being done, and how many questions are finished since the last call."""


class SetClock:
    """A clock that stands where it was set: the questions of a set are asked in its own time."""

    def __init__(self) -> None:
        self.moment = datetime(2000, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@dataclass(frozen=True, slots=True)
class Result:
    """What each method made of one question: its measures by name."""

    question: str
    category: str
    methods: Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class Scope:
    """The results over some of the turns: all, or the user's."""

    name: str
    results: tuple[Result, ...]

    def table(self, category: str | None = None) -> dict[str, dict[str, float]]:
        """For each method the mean of its measures over the questions, or over those of a category."""
        chosen = [result for result in self.results if category in (None, result.category)]
        methods = dict.fromkeys(method for result in chosen for method in result.methods)
        return {method: measures.mean([result.methods[method] for result in chosen]) for method in methods}

    @property
    def categories(self) -> dict[str, int]:
        """The categories in order of name, and how many questions each has."""
        names = sorted({result.category for result in self.results})
        return {name: sum(result.category == name for result in self.results) for name in names}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that was measured on one file. Times are seconds, searches in the order they were made."""

    dataset: str
    embedder: str
    tokenizer: str
    haystacks: int
    sessions: int
    turns: int
    questions: int
    notes: tuple[str, ...]
    scopes: tuple[Scope, ...]
    coverage: Scope
    keeping: float
    searches: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Tools:
    """What measures a haystack, shared by all of a run."""

    settings: Settings
    embedder: Embedder
    tokenizer: Tokenizer
    progress: Progress
    contexts: bool


def evaluate(
    dataset: Dataset,
    embedder: str = "static",
    progress: Progress = lambda what, done: None,
    *,
    contexts: bool = True,
) -> Evaluation:
    """Measure the engine and the simple methods on a set: rankings and, if asked for, contexts.

    `embedder` is a value of the setting of that name.
    """
    settings = Settings.load(embedder=embedder, chat_model="", memory_model="")
    tools = Tools(settings, open_embedder(settings), open_tokenizer(settings), progress, contexts)
    try:
        parts = [_examined(haystack, tools) for haystack in dataset.haystacks if haystack.questions]
    finally:
        asyncio.run(tools.embedder.close())
    names = [scope.name for scope in parts[0].scopes] if parts else []
    scopes = (
        Scope(name, tuple(chain.from_iterable(part.scopes[i].results for part in parts)))
        for i, name in enumerate(names)
    )
    return Evaluation(
        dataset=dataset.name,
        embedder=tools.embedder.identity,
        tokenizer=tools.tokenizer.name,
        haystacks=len(parts),
        sessions=sum(len(haystack.sessions) for haystack in dataset.haystacks if haystack.questions),
        turns=sum(len(haystack.turns) for haystack in dataset.haystacks if haystack.questions),
        questions=dataset.questions,
        notes=dataset.notes,
        scopes=tuple(scopes),
        coverage=Scope("context", tuple(chain.from_iterable(part.coverage.results for part in parts))),
        keeping=sum(part.keeping for part in parts),
        searches=tuple(chain.from_iterable(part.searches for part in parts)),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """What was measured on one haystack."""

    scopes: tuple[Scope, ...]
    coverage: Scope
    keeping: float
    searches: tuple[float, ...]


def _examined(haystack: Haystack, tools: Tools) -> Part:
    fields = _fields(haystack, tools)
    vectors = asyncio.run(embedded(tools.embedder, [question.text for question in haystack.questions]))
    clock = SetClock()
    with (
        tempfile.TemporaryDirectory(prefix="everword-bench-") as folder,
        _memory(f"{folder}/bench.db", tools.settings.embedder, clock) as memory,
    ):
        tools.progress(f"{haystack.name}: keeping {len(haystack.turns):,} turns", 0)
        start = time.perf_counter()
        turn_of = _kept(memory, haystack, clock)
        keeping = time.perf_counter() - start
        engine = Engine(memory, turn_of, clock)
        found: dict[str, list[Result]] = {field.name: [] for field in fields}
        filled: list[Result] = []
        for question, vector in zip(haystack.questions, vectors, strict=True):
            ranked = {field.name: field.rank(question, vector, engine) for field in fields}
            for field in fields:
                found[field.name].append(field.judged(question, ranked[field.name]))
            if tools.contexts:
                filled.append(_coverage(question, fields, ranked, engine, tools.tokenizer))
            tools.progress(f"{haystack.name}: asking {len(haystack.questions):,} questions", 1)
    scopes = tuple(Scope(name, tuple(results)) for name, results in found.items())
    return Part(scopes, Scope("context", tuple(filled)), keeping, tuple(engine.seconds))


def _memory(store: str, embedder: str, clock: SetClock) -> Memory:
    return Memory(store, embedder=embedder, clock=clock, followers=False, chat_model="", memory_model="")


def _kept(memory: BlockingMemory, haystack: Haystack, clock: SetClock) -> dict[str, str]:
    """Keep a haystack as the chats of one user, and let every view catch up. For each message's id, its turn's."""
    clock.moment = max(turn.time for turn in haystack.turns) + AFTER_THE_LAST
    turn_of: dict[str, str] = {}
    together = (
        [(haystack.name, haystack.turns)] if haystack.continuous else [(s.id, s.turns) for s in haystack.sessions]
    )
    for name, turns in together:
        chat = memory.conversation(name, user=OWNER)
        for first in range(0, len(turns), BATCH):
            batch = turns[first : first + BATCH]
            drafts = [Draft(turn.role, turn.text, author=_author(turn), time=turn.time) for turn in batch]
            for turn, added in zip(batch, chat.extend(drafts), strict=True):
                turn_of[added.message.id] = turn.id
    memory.settle(PATIENCE)
    return turn_of


def _author(turn: Turn) -> str | None:
    return None if turn.speaker == turn.role else turn.speaker


class Engine:
    """The memory under test: what it finds, and what is in the contexts it builds, by the ids of turns."""

    def __init__(self, memory: BlockingMemory, turn_of: Mapping[str, str], clock: SetClock) -> None:
        self._memory, self._turn_of, self._clock = memory, turn_of, clock
        self.seconds: list[float] = []

    def found(self, question: Question, role: Role | None) -> list[str]:
        self._clock.moment = question.asked_at
        start = time.perf_counter()
        hits = self._memory.search(question.text, user=OWNER, role=role, limit=measures.DEEPEST)
        self.seconds.append(time.perf_counter() - start)
        return [self._turn_of[hit.message.id] for hit in hits]

    def shown(self, question: Question, tokens: int) -> dict[str, int]:
        """The turns in a context of so many tokens, and at which tier each is there."""
        self._clock.moment = question.asked_at
        chat = self._memory.conversation(ASKING, user=OWNER)
        context = chat.context(question.text, budget=Budget(total=tokens, retrieved=tokens), markers=False)
        items = [item for section in context.receipt.sections for item in section.items]
        return {self._turn_of[item.id]: item.tier for item in items if item.id in self._turn_of}


class Lines:
    """Turns as plain lines, `[date] speaker: text`, each counted once and only if needed."""

    def __init__(self, turns: Iterable[Turn], tokenizer: Tokenizer) -> None:
        self._turns = {turn.id: turn for turn in turns}
        self._tokenizer = tokenizer
        self._costs: dict[str, int] = {}

    def fitting(self, ranked: Sequence[str], room: int) -> list[str]:
        """Of ranked turns the first ones that fit; one that is too long is passed over."""
        held = []
        for id in ranked:
            if room < SHORTEST:
                break
            cost = self._cost(id)
            if cost <= room:
                room -= cost
                held.append(id)
        return held

    def _cost(self, id: str) -> int:
        cost = self._costs.get(id)
        if cost is None:
            turn = self._turns[id]
            line = f"[{turn.time:%Y-%m-%d %H:%M}] {turn.speaker}: {turn.text}\n"
            cost = self._costs[id] = self._tokenizer.count(line)
        return cost


@dataclass(frozen=True, slots=True)
class Field:
    """The turns a question is looked for in: all, or those of one role."""

    name: str
    role: Role | None
    home: Mapping[str, str]
    baselines: Baselines
    lines: Lines

    def rank(self, question: Question, vector: Vectors, engine: Engine) -> dict[str, list[str]]:
        return {OURS: engine.found(question, self.role), **self.baselines.rank(question.text, vector)}

    def judged(self, question: Question, ranked: Mapping[str, Sequence[str]]) -> Result:
        """The measures of each method. Turns count only where some of the evidence is in this field."""
        evidence = [id for id in question.evidence if id in self.home]
        rows: dict[str, Values] = {}
        for method, ids in ranked.items():
            ids = ids[: measures.DEEPEST]
            values = measures.of_turns(ids, evidence) if evidence else {}
            sessions = measures.by_session(ids, self.home)
            rows[method] = values | measures.of_sessions(sessions, question.sessions)
        return Result(question.id, question.category, rows)


def _fields(haystack: Haystack, tools: Tools) -> list[Field]:
    pairs = [(turn, session.id) for session in haystack.sessions for turn in session.turns]
    vectors = asyncio.run(embedded(tools.embedder, [as_indexed(turn) for turn, _ in pairs]))
    lines = Lines(haystack.turns, tools.tokenizer)
    fields = [_field("all turns", None, pairs, vectors, lines)]
    spoken = [i for i, (turn, _) in enumerate(pairs) if turn.role == "user"]
    if len(spoken) < len(pairs):
        fields.insert(0, _field("user turns", "user", [pairs[i] for i in spoken], vectors[spoken], lines))
    return fields


def _field(name: str, role: Role | None, pairs: Sequence[tuple[Turn, str]], vectors: Vectors, lines: Lines) -> Field:
    home = {turn.id: session for turn, session in pairs}
    return Field(name, role, home, Baselines([turn for turn, _ in pairs], [*home.values()], vectors), lines)


# -- contexts


def _coverage(
    question: Question,
    fields: Sequence[Field],
    ranked: Mapping[str, Mapping[str, Sequence[str]]],
    engine: Engine,
    tokenizer: Tokenizer,
) -> Result:
    """The share of the evidence in contexts of growing size: ours, and plain lines in the order of a simple ranking."""
    whole: dict[str, float] = {}
    summed_up: dict[str, float] = {}
    for tokens in BUDGETS:
        tiers = engine.shown(question, tokens)
        whole |= _covered(question, tokens, [id for id, tier in tiers.items() if tier == 3])
        summed_up |= _covered(question, tokens, [id for id, tier in tiers.items() if tier >= 2])
    methods: dict[str, Values] = {OURS: whole, OURS_AND_SUMMARIES: summed_up}
    around = tokenizer.count(question.text) + 2 * PER_MESSAGE + PER_REPLY
    for field in fields:
        plain: dict[str, float] = {}
        for tokens in BUDGETS:
            held = field.lines.fitting(ranked[field.name][STRONGEST], tokens - around)
            plain |= _covered(question, tokens, held)
        methods[f"plain lines of {field.name}"] = plain
    return Result(question.id, question.category, methods)


def _covered(question: Question, tokens: int, held: Collection[str]) -> dict[str, float]:
    """The share of the evidence that is held, and whether all of it is; named by the size of the context."""
    wanted = set(question.evidence)
    return {f"{tokens}": len(wanted & set(held)) / len(wanted), f"all {tokens}": float(wanted <= set(held))}

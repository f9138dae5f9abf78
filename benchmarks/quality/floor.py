"""Whether an unrelated message retrieves nothing, and a question still retrieves its evidence.

Each haystack is kept as the chats of one user, as for `recall`. Then each prompt of `data/unrelated_prompts.json` is
written in a new conversation of the same user: general knowledge, code and small talk, which have nothing to do with
anybody's memory. Counted is how often the context retrieves nothing. The questions of the set are asked, too: what
the floor takes from them must stay small.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from everword.config import Settings
from everword.context.build import NOTHING_RELEVANT
from everword.library import Memory
from everword.model import Section
from everword.wiring import open_embedder, open_tokenizer
from quality.baselines import embedded
from quality.datasets import AFTER_THE_LAST, Dataset, Haystack
from quality.recall import (
    ASKING,
    OWNER,
    Engine,
    Progress,
    Result,
    Scope,
    SetClock,
    Tools,
    _coverage,
    _fields,
    _kept,
    _memory,
)

PROMPTS = Path(__file__).parent.parent / "data" / "unrelated_prompts.json"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message that has nothing to do with anybody's memory, and its kind."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A prompt written in the memory of one haystack: how many messages and tokens were retrieved, whether the receipt
    says that nothing relevant was found, and how many summaries of past episodes were shown."""

    haystack: str
    prompt: Prompt
    retrieved: int
    tokens: int
    is_noted: bool
    summaries: int


@dataclass(frozen=True, slots=True)
class FloorResult:
    """All that was measured on one file."""

    dataset: str
    embedder: str
    questions: int
    trials: tuple[Trial, ...]
    coverage: Scope

    def empty_share(self, kind: str | None = None, haystack: str | None = None) -> float:
        """How often nothing was retrieved: for all prompts, or for those of a kind or in one haystack."""
        chosen = [
            trial for trial in self.trials if kind in (None, trial.prompt.kind) and haystack in (None, trial.haystack)
        ]
        return sum(trial.retrieved == 0 for trial in chosen) / len(chosen)

    @property
    def summary_share(self) -> float:
        """How often the summary of a past episode was shown."""
        return sum(trial.summaries > 0 for trial in self.trials) / len(self.trials)

    @property
    def kinds(self) -> dict[str, int]:
        """The kinds of prompts, and how many trials each has."""
        names = dict.fromkeys(trial.prompt.kind for trial in self.trials)
        return {name: sum(trial.prompt.kind == name for trial in self.trials) for name in names}


def load_prompts(path: Path = PROMPTS) -> list[Prompt]:
    kinds: Mapping[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return [Prompt(kind, text) for kind, texts in kinds.items() for text in texts]


def measure_floor(
    dataset: Dataset,
    embedder: str = "static",
    progress: Progress = lambda what, done: None,
    *,
    questions: bool = True,
) -> FloorResult:
    """Write every prompt in every haystack and, unless told otherwise, ask every question."""
    settings = Settings.load(embedder=embedder, chat_model="", memory_model="")
    tools = Tools(settings, open_embedder(settings), open_tokenizer(settings), progress, questions)
    prompts = load_prompts()
    try:
        parts = [measure_haystack(haystack, prompts, tools) for haystack in dataset.haystacks if haystack.questions]
        identity = tools.embedder.identity
    finally:
        asyncio.run(tools.embedder.close())
    return FloorResult(
        dataset.name,
        identity,
        dataset.questions,
        tuple(chain.from_iterable(trials for trials, _ in parts)),
        Scope("context", tuple(chain.from_iterable(results for _, results in parts))),
    )


def measure_haystack(haystack: Haystack, prompts: list[Prompt], tools: Tools) -> tuple[list[Trial], list[Result]]:
    clock = SetClock()
    with (
        tempfile.TemporaryDirectory(prefix="everword-bench-") as folder,
        _memory(f"{folder}/bench.db", tools.settings.embedder, clock) as memory,
    ):
        tools.progress(f"{haystack.name}: keeping {len(haystack.turns):,} turns", 0)
        turn_of = _kept(memory, haystack, clock)
        clock.moment = max(turn.time for turn in haystack.turns) + AFTER_THE_LAST
        tools.progress(f"{haystack.name}: writing {len(prompts):,} unrelated prompts", 0)
        trials = [write_prompt(memory, haystack.name, prompt) for prompt in prompts]
        results = ask_questions(haystack, Engine(memory, turn_of, clock), tools) if tools.contexts else []
    return trials, results


def write_prompt(memory: Memory, haystack: str, prompt: Prompt) -> Trial:
    receipt = memory.conversation(ASKING, user=OWNER).context(prompt.text, markers=False).receipt
    sections = {section.name: section for section in receipt.sections}
    retrieved = sections.get("retrieved", Section("retrieved", 0))
    summaries = sections.get("summaries", Section("summaries", 0))
    is_noted = retrieved.note == NOTHING_RELEVANT
    return Trial(haystack, prompt, len(retrieved.items), retrieved.tokens, is_noted, len(summaries.items))


def ask_questions(haystack: Haystack, engine: Engine, tools: Tools) -> list[Result]:
    """What of the evidence is in contexts of growing size, as `recall` measures it, beside plain lines."""
    fields = _fields(haystack, tools)
    vectors = asyncio.run(embedded(tools.embedder, [question.text for question in haystack.questions]))
    results = []
    for question, vector in zip(haystack.questions, vectors, strict=True):
        ranked = {field.name: field.rank(question, vector, engine) for field in fields}
        results.append(_coverage(question, fields, ranked, engine, tools.tokenizer))
        tools.progress(f"{haystack.name}: asking {len(haystack.questions):,} questions", 1)
    return results

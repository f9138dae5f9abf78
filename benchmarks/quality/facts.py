"""How much of a life the facts hold: facts read without a model, beside the observations that people wrote.

LoCoMo lists for each session and speaker what a careful reader notes of them. Each conversation is kept in a memory
without a model, through the public interface; the facts of a speaker are those that the memory has of that person.
Texts are compared by their content words: lower case, without function words, stems.

- An observation is covered if a fact of its speaker has at least 60 % of its words in it, and these are at least 30 %
  of the observation's.
- A fact is supported if at least 60 % of its words are in one observation of its speaker. A paraphrase counts against
  it, so this is no share of true facts: read them (`--show`).
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everword import Draft, Memory
from everword.errors import InvalidInput
from everword.model import Fact, Message
from everword.text.terms import analyse
from quality.datasets import Haystack, Part, load, select

OF_FACT = 0.6
"""The least share of a fact's words that are in an observation."""
OF_OBSERVATION = 0.3
"""The least share of an observation's words that are in a fact."""
PATIENCE = 600.0
BATCH = 500

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Observation:
    """What people noted of a speaker."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact that the memory has of a person, with the messages it came from."""

    person: str
    fact: Fact
    sources: tuple[Message, ...]
    is_supported: bool


@dataclass(frozen=True, slots=True)
class FactCounts:
    """What was read out of one part of a file."""

    messages: int
    observations: int
    covered: int
    facts: tuple[ReadFact, ...]

    @property
    def coverage(self) -> float:
        return self.covered / self.observations if self.observations else 0.0

    @property
    def support(self) -> float:
        return sum(fact.is_supported for fact in self.facts) / len(self.facts) if self.facts else 0.0

    @property
    def facts_a_message(self) -> float:
        return len(self.facts) / self.messages if self.messages else 0.0

    @property
    def categories(self) -> dict[str, tuple[int, float]]:
        """By category how many facts there are, and the share of them that is supported."""
        counts = Counter(fact.fact.category for fact in self.facts)
        supported = Counter(fact.fact.category for fact in self.facts if fact.is_supported)
        return {category: (count, supported[category] / count) for category, count in counts.most_common()}


def evaluate(path: Path, part: Part, report: Callable[[int, int], None]) -> FactCounts:
    """Read the facts of a LoCoMo file and compare them with its observations; `report` is told how far it is."""
    haystacks = select(load(path), part).haystacks
    observations = load_observations(path)
    messages = covered = noted = 0
    facts: list[ReadFact] = []
    for number, haystack in enumerate(haystacks, 1):
        known = read_facts(haystack)
        of_people = observations[haystack.name]
        messages += len(haystack.turns)
        noted += len(of_people)
        covered += count_covered(of_people, known)
        facts += mark_supported(of_people, known)
        report(number, len(haystacks))
    return FactCounts(messages, noted, covered, tuple(facts))


def draw(facts: Sequence[ReadFact], count: int, seed: int) -> list[ReadFact]:
    """That many facts, drawn by a seed: the same facts for the same seed."""
    ordered = sorted(facts, key=lambda read: (read.fact.said_at, read.fact.user, read.fact.key, read.fact.value))
    return random.Random(seed).sample(ordered, min(count, len(ordered)))


# -- the facts that a memory reads


def read_facts(haystack: Haystack) -> list[ReadFact]:
    """Keep a conversation between people in a memory without a model; what it knows of each of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(str(Path(folder) / "memory.db"), followers=False, chat_model="", memory_model="") as memory,
    ):
        chat = memory.conversation(haystack.name)
        drafts = [Draft(turn.role, turn.text, author=turn.speaker, time=turn.time) for turn in haystack.turns]
        messages = {
            added.message.id: added.message
            for first in range(0, len(drafts), BATCH)
            for added in chat.extend(drafts[first : first + BATCH])
        }
        memory.settle(PATIENCE)
        people = sorted({turn.speaker for turn in haystack.turns})
        return [
            ReadFact(person, fact, tuple(messages[id] for id in fact.sources if id in messages), False)
            for person in people
            for fact in memory.facts(user=person)
        ]


def fact_text(fact: Fact) -> str:
    """A fact as it is read: a key that only repeats the category says nothing."""
    words = [fact.subject or "", "" if fact.key == fact.category else fact.key, fact.value]
    return " ".join(filter(None, words))


# -- the observations of the file


def load_observations(path: Path) -> dict[str, list[Observation]]:
    """The observations of each conversation of a file, by its name."""
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    if not all(isinstance(record, dict) and isinstance(record.get("observation"), dict) for record in records):
        raise InvalidInput("data", f"{path} has no `observation` in each entry: only LoCoMo's file has these lists")
    names = [str(record.get("sample_id") or f"conversation-{number}") for number, record in enumerate(records, 1)]
    return {name: list(_observations(record["observation"])) for name, record in zip(names, records, strict=True)}


def _observations(sessions: Mapping[str, Any]) -> Iterator[Observation]:
    for name, by_speaker in sessions.items():
        if re.fullmatch(r"session_\d+_observation", name):
            for speaker, entries in by_speaker.items():
                yield from (Observation(speaker, str(entry[0])) for entry in entries)


# -- the comparison


def count_covered(observations: Sequence[Observation], known: Sequence[ReadFact]) -> int:
    """How many observations a fact of the same person covers."""
    words_by_person = _words_by_person((read.person, fact_text(read.fact)) for read in known)
    return sum(
        any(covers(words, content_words(note.text)) for words in words_by_person.get(note.speaker, ()))
        for note in observations
    )


def mark_supported(observations: Sequence[Observation], known: Sequence[ReadFact]) -> Iterator[ReadFact]:
    """The facts, each marked if an observation of the same person supports it."""
    words_by_person = _words_by_person((note.speaker, note.text) for note in observations)
    for read in known:
        words = content_words(fact_text(read.fact))
        is_supported = any(supports(other, words) for other in words_by_person.get(read.person, ()))
        yield ReadFact(read.person, read.fact, read.sources, is_supported)


def covers(fact_words: Words, note_words: Words) -> bool:
    """Whether a fact says a good part of an observation, and little else."""
    return supports(note_words, fact_words) and len(fact_words & note_words) >= OF_OBSERVATION * len(note_words)


def supports(note_words: Words, fact_words: Words) -> bool:
    """Whether most words of a fact are in an observation."""
    return bool(fact_words) and len(fact_words & note_words) >= OF_FACT * len(fact_words)


def content_words(text: str) -> Words:
    return frozenset(analyse(text, "en").terms)


def _words_by_person(texts: Iterator[tuple[str, str]]) -> dict[str, list[Words]]:
    words_by_person: dict[str, list[Words]] = {}
    for person, text in texts:
        words_by_person.setdefault(person, []).append(content_words(text))
    return words_by_person

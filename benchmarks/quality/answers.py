"""Answers of a reader: contexts with questions are written to a folder, and what anybody answers there is scored.

A reader is a model or a person. What it gets holds no answer and no evidence: `N.txt` has a context and the question,
`questions.json` the numbers and ids. It writes its answer to `N.answer.txt`. An answer is right if it says what the
set's own answer says: all its numbers, and most of its words of content. That is stricter than a person would be with
wording and more lenient with logic, so every answer is printed with its verdict, to be looked through; a file
`N.verdict.txt` with `right` or `wrong` overrules it. Why an answer is wrong is told by the context: the evidence was
there, or a part of it was missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from everword.errors import InvalidInput
from everword.model import Context
from everword.text.terms import analyse
from quality.datasets import Dataset, Question
from quality.evidence import letters

INDEX = "questions.json"
MOST_WORDS = 0.6  # of the words of the set's answer that have to be in a right one
NUMBER = re.compile(r"\d+")
COMPLETE, INCOMPLETE = "with all evidence", "evidence missing"


@dataclass(frozen=True, slots=True)
class Scored:
    """An answer beside the set's own, whether it is right, and whether its context had all evidence."""

    number: int
    category: str
    question: str
    expected: str
    answer: str
    is_right: bool
    evidence: str
    tokens: int


def write_contexts(contexts: Iterable[tuple[Question, Context]], folder: Path) -> int:
    """Write each question with its context to a folder, without the answers; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for number, (question, context) in enumerate(contexts, 1):
        (folder / f"{number}.txt").write_text(as_text(context), encoding="utf-8")
        entries.append({"number": number, "id": question.id, "tokens": context.receipt.tokens})
    (folder / INDEX).write_text(json.dumps(entries, indent=1), encoding="utf-8")
    return len(entries)


def as_text(context: Context) -> str:
    """A context as a reader sees it: each message below its role."""
    return "\n\n".join(f"## {message['role']}\n{message['content']}" for message in context.messages) + "\n"


def score_folder(dataset: Dataset, folder: Path) -> Iterator[Scored]:
    """The answers in a folder."""
    questions = {question.id: question for haystack in dataset.haystacks for question in haystack.questions}
    texts = {haystack.name: {turn.id: turn.text for turn in haystack.turns} for haystack in dataset.haystacks}
    homes = {question.id: haystack.name for haystack in dataset.haystacks for question in haystack.questions}
    try:
        entries = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput("folder", f"{folder} has no {INDEX} as this command writes it: {error}") from error
    for entry in entries:
        file = folder / f"{entry['number']}.answer.txt"
        question = questions.get(entry["id"])
        if question is None:
            raise InvalidInput("data", f"has no question {entry['id']!r}: the folder was written from another file")
        if not file.exists():
            continue
        answer = file.read_text(encoding="utf-8").strip()
        sent = letters((folder / f"{entry['number']}.txt").read_text(encoding="utf-8"))
        has_all = all(letters(texts[homes[question.id]][id]) in sent for id in question.evidence)
        yield Scored(
            entry["number"],
            question.category,
            question.text,
            question.answer,
            answer,
            verdict(folder, entry["number"], answer, question),
            COMPLETE if has_all else INCOMPLETE,
            entry["tokens"],
        )


def verdict(folder: Path, number: int, answer: str, question: Question) -> bool:
    """What somebody has decided of an answer, or what its words say."""
    file = folder / f"{number}.verdict.txt"
    return file.read_text(encoding="utf-8").strip() == "right" if file.exists() else is_right(answer, question.answer)


def is_right(answer: str, expected: str) -> bool:
    """Whether an answer has the numbers of the expected one and most of its words."""
    if not set(NUMBER.findall(expected)) <= set(NUMBER.findall(answer)):
        return False
    words = {*analyse(expected).terms}
    return not words or len(words & {*analyse(answer).terms}) >= MOST_WORDS * len(words)

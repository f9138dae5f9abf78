"""Transcripts to replay: read from a file, or made from the documentation of Python's standard library.

A transcript is a list of exchanges: a question and its answer. Messages that one side wrote in a row are joined into
one. In a chat between people, the first speaker is taken for the user.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.formats import BadRecord, open_records


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's message and the reply to it."""

    asked: str
    answered: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recorded conversation, and a short description of it."""

    about: str
    exchanges: tuple[Exchange, ...]

    def first_turns(self, turns: int) -> Transcript:
        """The transcript up to this turn, without a last message that has no answer."""
        return Transcript(self.about, self.exchanges[: turns // 2])


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One message: its speaker, role and text."""

    speaker: str
    role: str
    text: str


def read_transcript(path: str | Path, conversation: str | None = None) -> Transcript:
    """Read a conversation from a file that `recollect import` reads: the one named, or else the longest."""
    conversations = _read_conversations(path)
    transcripts = {id: tuple(pair_exchanges(lines)) for id, lines in conversations.items()}
    if conversation is None:
        conversation = max(transcripts, key=lambda id: len(transcripts[id]), default="")
    elif conversation not in transcripts:
        examples = ", ".join(list(transcripts)[:5]) or "none at all"
        reason = f"there is no {conversation!r} in {path}; there are {len(transcripts)}: {examples}"
        raise InvalidInput("conversation", reason)
    if not transcripts.get(conversation):
        raise InvalidInput("data", f"{path}: no message in it was answered, so there is nothing to replay")
    return Transcript(f"{conversation} of {Path(path).name}", transcripts[conversation])


def pair_exchanges(lines: Iterable[TranscriptLine]) -> Iterator[Exchange]:
    """The messages in pairs: a question, its answer."""
    messages = [line for line in lines if line.text.strip() and line.role in ("user", "assistant")]
    if not messages:
        return
    among_people = len({line.role for line in messages}) == 1
    first_speaker = messages[0].speaker

    def is_question(line: TranscriptLine) -> bool:
        return line.speaker == first_speaker if among_people else line.role == "user"

    question = ""
    for is_from_user, messages_of_turn in groupby(messages, key=is_question):
        text = "\n".join(line.text for line in messages_of_turn)
        if is_from_user:
            question = text
        elif question:
            yield Exchange(question, text)


def _read_conversations(path: str | Path) -> dict[str, list[TranscriptLine]]:
    conversations: dict[str, list[TranscriptLine]] = {}
    with open_records(path) as records:
        for record in records:
            if not isinstance(record, BadRecord):
                draft = record.draft
                line = TranscriptLine(draft.author or draft.role, draft.role, draft.content)
                conversations.setdefault(record.conversation, []).append(line)
    return conversations


MODULES = (
    "argparse bisect calendar collections configparser contextlib copy csv datetime decimal difflib fractions "
    "functools glob hashlib heapq inspect itertools json logging math os os.path pathlib pprint random re sched shlex "
    "shutil socket sqlite3 statistics string struct subprocess tempfile textwrap threading time timeit urllib.parse "
    "uuid zipfile"
)
QUESTIONS = (
    "What is {} for, and what should I know before I use it?",
    "I came across {} in somebody's code. Can you explain what it does?",
    "How does {} work?",
    "And {}? Tell me what it takes and what it gives back.",
)
WORDS = (60, 400)  # of a reply: as long as an assistant usually answers


def python_transcript(turns: int) -> Transcript:
    """A long transcript of questions about Python's standard library, each answered by its documentation."""
    pairs: list[Exchange] = []
    for name, document in _library_docs():
        if len(pairs) == turns // 2:
            break
        pairs.append(Exchange(QUESTIONS[len(pairs) % len(QUESTIONS)].format(name), document))
    if len(pairs) < turns // 2:
        raise InvalidInput("turns", f"this Python documents itself in {2 * len(pairs)} turns only; name a file: --data")
    return Transcript("questions about Python's standard library, answered by its own documentation", tuple(pairs))


def _library_docs() -> Iterator[tuple[str, str]]:
    """The functions and classes of the modules, by full name, each with its docstring."""
    seen_documents: set[str] = set()
    for module_name in MODULES.split():
        module = importlib.import_module(module_name)
        for name in sorted(name for name in vars(module) if not name.startswith("_")):
            member = getattr(module, name)
            document = inspect.getdoc(member) if inspect.isroutine(member) or inspect.isclass(member) else None
            if document and document not in seen_documents and WORDS[0] <= len(document.split()) <= WORDS[1]:
                seen_documents.add(document)
                yield f"{module_name}.{name}", document

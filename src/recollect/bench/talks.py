"""Conversations to replay: from a file, or, with none at hand, made from what every Python has.

A talk is a row of exchanges: something asked, something answered. What one side said in several messages before the
other answered is joined into one. In a chat between people the first to speak is taken for the user.
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
class Talk:
    """A conversation, and in a few words what it is."""

    about: str
    exchanges: tuple[Exchange, ...]

    def first(self, turns: int) -> Talk:
        """The talk as far as this turn; a last message without its answer is left out."""
        return Talk(self.about, self.exchanges[: turns // 2])


@dataclass(frozen=True, slots=True)
class Line:
    """One message: who spoke, in which role, and the words."""

    speaker: str
    role: str
    text: str


def read(path: str | Path, conversation: str | None = None) -> Talk:
    """A conversation of a file that `recollect import` reads: the one named, or else the longest."""
    found = _conversations(path)
    talks = {id: tuple(exchanges(lines)) for id, lines in found.items()}
    if conversation is None:
        conversation = max(talks, key=lambda id: len(talks[id]), default="")
    elif conversation not in talks:
        some = ", ".join(list(talks)[:5]) or "none at all"
        raise InvalidInput("conversation", f"there is no {conversation!r} in {path}; there are {len(talks)}: {some}")
    if not talks.get(conversation):
        raise InvalidInput("data", f"{path}: no message in it was answered, so there is nothing to replay")
    return Talk(f"{conversation} of {Path(path).name}", talks[conversation])


def exchanges(lines: Iterable[Line]) -> Iterator[Exchange]:
    """The talk in pairs: what was asked, what was answered."""
    spoken = [line for line in lines if line.text.strip() and line.role in ("user", "assistant")]
    if not spoken:
        return
    among_people = len({line.role for line in spoken}) == 1
    first = spoken[0].speaker

    def asks(line: Line) -> bool:
        return line.speaker == first if among_people else line.role == "user"

    asked = ""
    for asking, run in groupby(spoken, key=asks):
        text = "\n".join(line.text for line in run)
        if asking:
            asked = text
        elif asked:
            yield Exchange(asked, text)


def _conversations(path: str | Path) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    with open_records(path) as records:
        for record in records:
            if not isinstance(record, BadRecord):
                draft = record.draft
                line = Line(draft.author or draft.role, draft.role, draft.content)
                found.setdefault(record.conversation, []).append(line)
    return found


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


def about_python(turns: int) -> Talk:
    """A long talk that is nobody's: questions about Python's standard library, each answered by its documentation."""
    found: list[Exchange] = []
    for name, document in _documented():
        if len(found) == turns // 2:
            break
        found.append(Exchange(QUESTIONS[len(found) % len(QUESTIONS)].format(name), document))
    if len(found) < turns // 2:
        raise InvalidInput("turns", f"this Python documents itself in {2 * len(found)} turns only; name a file: --data")
    return Talk("questions about Python's standard library, answered by its own documentation", tuple(found))


def _documented() -> Iterator[tuple[str, str]]:
    """What the modules hold, each with the documentation it carries."""
    seen: set[str] = set()
    for module in MODULES.split():
        holds = importlib.import_module(module)
        for name in sorted(name for name in vars(holds) if not name.startswith("_")):
            thing = getattr(holds, name)
            document = inspect.getdoc(thing) if inspect.isroutine(thing) or inspect.isclass(thing) else None
            if document and document not in seen and WORDS[0] <= len(document.split()) <= WORDS[1]:
                seen.add(document)
                yield f"{module}.{name}", document

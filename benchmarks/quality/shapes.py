"""The shape that every published set is read into: turns in sessions, and questions with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from everword.model import Role

BETWEEN_TURNS = timedelta(seconds=1)
"""The sets date sessions, not turns: each turn is a moment after the one before, so that their order is kept."""
AFTER_THE_LAST = timedelta(hours=1)
"""LoCoMo does not say when a question is asked: this long after the last turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance: by whom, in which role, when. A picture's caption is part of the text, in brackets."""

    id: str
    speaker: str
    role: Role
    text: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """Turns that were said on one occasion."""

    id: str
    time: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the turns and the sessions it can be answered from, and when it is asked."""

    id: str
    text: str
    answer: str
    evidence: tuple[str, ...]
    sessions: tuple[str, ...]
    category: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Haystack:
    """What one memory holds, and the questions put to it. The ids of turns are unique within it.

    Its sessions are the parts of one long chat (`continuous`), or conversations of their own.
    """

    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    continuous: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of a published set. `notes` say what of it was repaired and what was left out."""

    name: str
    haystacks: tuple[Haystack, ...]
    notes: tuple[str, ...]

    @property
    def questions(self) -> int:
        return sum(len(haystack.questions) for haystack in self.haystacks)


def after_the_last(turns: Sequence[Turn]) -> datetime:
    """When a question is asked of which the set does not say when."""
    return max(turn.time for turn in turns) + AFTER_THE_LAST

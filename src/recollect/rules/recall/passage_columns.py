"""Passages in columns: what ranking needs of each, as arrays in which the same row is of the same passage.

Names repeat, so conversations, authors and roles are numbers, and the names of a number are in a list beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.model import ROLES, Role
from recollect.model.frozen import dataclass
from recollect.model.passages import PassageCandidate

Numbers = NDArray[np.int64]

ASSISTANT = ROLES.index("assistant")
USER = ROLES.index("user")


def distinct_numbers(numbers: Numbers) -> Numbers:
    """The numbers in order, each once. As `np.unique`, which takes several times as long and imports `numpy.ma`."""
    ordered = np.sort(numbers)
    is_first = np.empty(len(ordered), np.bool_)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return np.asarray(ordered[is_first])


def is_among(numbers: Numbers, others: Numbers) -> NDArray[np.bool_]:
    """Which of the numbers are among others, which are in order. As `np.isin`, which takes several times as long."""
    if not len(others):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(others.searchsorted(numbers), len(others) - 1)
    return np.asarray(others.take(places) == numbers)


@dataclass(frozen=True, slots=True)
class Passages:
    """Some passages. `counts` says how often each has a term of each group of the query; `moments` are seconds since
    1970."""

    docs: Numbers
    message_ids: NDArray[np.object_]
    moments: NDArray[np.float64]
    lengths: Numbers
    counts: Numbers
    conversations: Numbers
    turns: Numbers
    roles: Numbers
    authors: Numbers
    conversation_names: Sequence[str]
    author_names: Sequence[str]

    def __len__(self) -> int:
        return len(self.docs)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Passages:
        """These rows of it."""
        return Passages(
            self.docs[rows],
            self.message_ids[rows],
            self.moments[rows],
            self.lengths[rows],
            self.counts[rows],
            self.conversations[rows],
            self.turns[rows],
            self.roles[rows],
            self.authors[rows],
            self.conversation_names,
            self.author_names,
        )

    def join(self, other: Passages) -> Passages:
        """Both, one after the other. Their numbers must stand for the same names."""
        return replace(
            self,
            docs=np.concatenate([self.docs, other.docs]),
            message_ids=np.concatenate([self.message_ids, other.message_ids]),
            moments=np.concatenate([self.moments, other.moments]),
            lengths=np.concatenate([self.lengths, other.lengths]),
            counts=np.concatenate([self.counts, other.counts]),
            conversations=np.concatenate([self.conversations, other.conversations]),
            turns=np.concatenate([self.turns, other.turns]),
            roles=np.concatenate([self.roles, other.roles]),
            authors=np.concatenate([self.authors, other.authors]),
        )

    def has_role(self, role: Role) -> NDArray[np.bool_]:
        """Which passages are by one in this role."""
        return np.asarray(self.roles == ROLES.index(role))

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant speaks in one of them."""
        return bool(np.logical_or.reduce(self.roles == ASSISTANT))

    def conversation_number(self, name: str) -> int:
        """The number of a conversation, or -1 if no passage is of it."""
        try:
            return self.conversation_names.index(name)
        except ValueError:
            return -1


class PassageColumns:
    """Makes columns of candidates, in which a name always has the same number."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._conversations: dict[str, int] = {}
        self._authors: dict[str, int] = {}

    def columns(self, candidates: Iterable[PassageCandidate]) -> Passages:
        rows = list(candidates)
        ids = np.empty(len(rows), dtype=object)
        ids[:] = [row.message_id for row in rows]
        conversations = [self._conversations.setdefault(row.conversation, len(self._conversations)) for row in rows]
        authors = [self._authors.setdefault(row.author, len(self._authors)) for row in rows]
        roles = [ROLES.index(row.role) if row.role in ROLES else -1 for row in rows]
        return Passages(
            docs=as_numbers([row.doc for row in rows]),
            message_ids=ids,
            moments=np.array([row.time.timestamp() for row in rows], np.float64),
            lengths=as_numbers([row.length for row in rows]),
            counts=np.array([row.counts for row in rows], np.int64).reshape(len(rows), self._groups),
            conversations=as_numbers(conversations),
            turns=as_numbers([row.turn for row in rows]),
            roles=as_numbers(roles),
            authors=as_numbers(authors),
            conversation_names=list(self._conversations),
            author_names=list(self._authors),
        )


def as_numbers(values: Sequence[int]) -> Numbers:
    return np.array(values, np.int64)


def to_columns(candidates: Sequence[PassageCandidate]) -> Passages:
    """Candidates as columns; all have counts of the same groups."""
    return PassageColumns(len(candidates[0].counts) if candidates else 0).columns(candidates)

"""Passages in columns: what ranking needs of each, as arrays in which the same row is of the same passage.

Names repeat, so conversations, authors and roles are numbers, and the names of a number are in a list beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.model import ROLES, Role
from recollect.model.passages import PassageCandidate

Numbers = NDArray[np.int64]

ASSISTANT = ROLES.index("assistant")
USER = ROLES.index("user")
KEYS_APART = 1 << 32  # between the keys of two conversations: more than the turns of one, by far


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


def place_keys(conversations: Numbers, turns: Numbers) -> Numbers:
    """A number for each place, a conversation and a turn in it; turns that follow each other have numbers that do."""
    return conversations * KEYS_APART + turns


def split_key(key: int) -> tuple[int, int]:
    """The number of the conversation and the turn of a place."""
    return key // KEYS_APART, key % KEYS_APART


class PassageTable(Protocol):
    """Columns of many passages, in which the same row is of the same passage; `moments` are seconds since 1970."""

    @property
    def message_ids(self) -> NDArray[np.object_]: ...
    @property
    def moments(self) -> NDArray[np.float64]: ...
    @property
    def lengths(self) -> Numbers: ...
    @property
    def conversations(self) -> Numbers: ...
    @property
    def turns(self) -> Numbers: ...
    @property
    def roles(self) -> Numbers: ...
    @property
    def authors(self) -> Numbers: ...
    @property
    def conversation_names(self) -> Sequence[str]: ...
    @property
    def author_names(self) -> Sequence[str]: ...


T = TypeVar("T")


class ComputedOnce(Generic[T]):
    """An attribute of passages that is computed when it is first asked for: a search needs few columns of most.
    `functools.cached_property` does the same with a lock, which takes as long as the work."""

    def __init__(self, compute: Callable[[Passages], T]) -> None:
        self._compute = compute

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, passages: Passages, owner: type) -> T:
        column = passages.__dict__[self._name] = self._compute(passages)
        return column


class Passages:
    """Some passages: rows of a table. `counts` says how often each has a term of each group of the query; `docs` are
    their numbers, if those are not the rows."""

    def __init__(self, table: PassageTable, rows: Numbers, counts: Numbers, docs: Numbers | None = None) -> None:
        self.table = table
        self.rows = rows
        self.counts = counts
        self.docs = rows if docs is None else docs

    def __len__(self) -> int:
        return len(self.rows)

    @ComputedOnce
    def message_ids(self) -> NDArray[np.object_]:
        return self.table.message_ids.take(self.rows)

    @ComputedOnce
    def moments(self) -> NDArray[np.float64]:
        return self.table.moments.take(self.rows)

    @ComputedOnce
    def lengths(self) -> Numbers:
        return self.table.lengths.take(self.rows)

    @ComputedOnce
    def conversations(self) -> Numbers:
        return self.table.conversations.take(self.rows)

    @ComputedOnce
    def turns(self) -> Numbers:
        return self.table.turns.take(self.rows)

    @ComputedOnce
    def roles(self) -> Numbers:
        return self.table.roles.take(self.rows)

    @ComputedOnce
    def authors(self) -> Numbers:
        return self.table.authors.take(self.rows)

    @ComputedOnce
    def keys(self) -> Numbers:
        """The keys of their places."""
        return place_keys(self.conversations, self.turns)

    @ComputedOnce
    def has_assistant(self) -> bool:
        """Whether an assistant speaks in one of them."""
        return bool(np.logical_or.reduce(self.roles == ASSISTANT))

    @property
    def conversation_names(self) -> Sequence[str]:
        return self.table.conversation_names

    @property
    def author_names(self) -> Sequence[str]:
        return self.table.author_names

    def take(self, places: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Passages:
        """Those at these places."""
        docs = None if self.docs is self.rows else self.docs[places]
        return Passages(self.table, self.rows[places], self.counts[places], docs)

    def join(self, other: Passages) -> Passages:
        """Both, one after the other. Their numbers must stand for the same names."""
        counts = np.concatenate([self.counts, other.counts])
        if self.table is other.table and self.docs is self.rows:
            return Passages(self.table, np.concatenate([self.rows, other.rows]), counts)
        docs = np.concatenate([self.docs, other.docs])
        return Passages(joined_columns(self, other), np.arange(len(docs)), counts, docs)

    def has_role(self, role: Role) -> NDArray[np.bool_]:
        """Which passages are by one in this role."""
        return np.asarray(self.roles == ROLES.index(role))

    def conversation_number(self, name: str) -> int:
        """The number of a conversation, or -1 if no passage is of it."""
        try:
            return self.conversation_names.index(name)
        except ValueError:
            return -1


@dataclass(frozen=True, slots=True)
class ReadColumns:
    """A table of passages that were read from a database."""

    message_ids: NDArray[np.object_]
    moments: NDArray[np.float64]
    lengths: Numbers
    conversations: Numbers
    turns: Numbers
    roles: Numbers
    authors: Numbers
    conversation_names: Sequence[str]
    author_names: Sequence[str]


def joined_columns(first: Passages, second: Passages) -> ReadColumns:
    """A table of the columns of both, one after the other; the second knows the names of the first."""
    return ReadColumns(
        np.concatenate([first.message_ids, second.message_ids]),
        np.concatenate([first.moments, second.moments]),
        np.concatenate([first.lengths, second.lengths]),
        np.concatenate([first.conversations, second.conversations]),
        np.concatenate([first.turns, second.turns]),
        np.concatenate([first.roles, second.roles]),
        np.concatenate([first.authors, second.authors]),
        second.conversation_names,
        second.author_names,
    )


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
        table = ReadColumns(
            message_ids=ids,
            moments=np.array([row.time.timestamp() for row in rows], np.float64),
            lengths=as_numbers([row.length for row in rows]),
            conversations=as_numbers(conversations),
            turns=as_numbers([row.turn for row in rows]),
            roles=as_numbers(roles),
            authors=as_numbers(authors),
            conversation_names=list(self._conversations),
            author_names=list(self._authors),
        )
        counts = np.array([row.counts for row in rows], np.int64).reshape(len(rows), self._groups)
        return Passages(table, np.arange(len(rows)), counts, as_numbers([row.doc for row in rows]))


def as_numbers(values: Sequence[int]) -> Numbers:
    return np.array(values, np.int64)


def to_columns(candidates: Sequence[PassageCandidate]) -> Passages:
    """Candidates as columns; all have counts of the same groups."""
    return PassageColumns(len(candidates[0].counts) if candidates else 0).columns(candidates)

"""Where a search finds passages: in memory, if the scope is held there, or in the database. Both give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.model import Filter
from recollect.model.passages import NEVER, PassageCandidate, Posting, Tally
from recollect.model.vectors import products
from recollect.model.views import UNKNOWN_TRAITS
from recollect.ports import Tx, Vectors
from recollect.recall.rules.message_specificity import Traits
from recollect.recall.rules.passage_columns import Numbers, PassageColumns, Passages, split_key
from recollect.recall.scope_index import ScopeIndexes, unit_vector
from recollect.recall.scope_index_queries import Occurrences, Rows, ScopeView
from recollect.recall.term_codes import line_codes
from recollect.recall.word_likeness import Likeness, best_likeness, no_likeness

Groups = Sequence[Sequence[str]]


class PassageSource(Protocol):
    """The passages of a user, or of a space. Each has a number; the newer, the higher."""

    def tally(self) -> Tally: ...

    def postings(self, where: Filter, groups: Groups, limit: int) -> list[Posting]:
        """For each group of terms the newest passages that have one of them, and how many of the scope do."""

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> Numbers:
        """The passages with the highest cosine."""

    def passages(self, where: Filter, docs: Numbers, groups: Groups) -> Passages:
        """Those of these passages, which are in order, that the filter means."""

    def passages_at(self, where: Filter, known: Passages, keys: Numbers, groups: Groups) -> Passages:
        """The passages at these places; in the keys, conversations have the numbers that they have in `known`."""

    def cosines(self, passages: Passages, vector: Vectors) -> NDArray[np.float64]:
        """The cosine of each passage; NaN for one without a vector."""

    def vectors_of(self, conversation: str, turns: Sequence[int]) -> dict[int, Vectors]:
        """By turn, which are in order, the vector of each message that has one, of its beginning if it is long."""

    def likeness(self, passages: Passages, groups: Groups) -> Likeness:
        """How near the words of each passage are to each group of terms, from 0 to 1."""

    def traits(self, docs: Numbers) -> Traits:
        """What is known of the texts of the messages of these passages, which were read."""

    def keep_traits(self, docs: Numbers, traits: Traits) -> None: ...

    def standing(self, where: Filter) -> Numbers | None:
        """The passages of a filter that are standing instructions; None if that is not known."""

    def keep_standing(self, where: Filter, docs: Numbers) -> None: ...


def open_source(
    tx: Tx,
    indexes: ScopeIndexes,
    space: str,
    user: str | None,
    now: datetime,
    check_embedder: Callable[[str | None], None] | None = None,
    *,
    most_changes: int | None = None,
) -> PassageSource:
    """The passages of a scope as a transaction sees them, without those that have expired by now. `most_changes`:
    raises TooMuchToRead unless they are in memory, but for so many that have come or gone."""
    view = indexes.view(tx, space, user, check_embedder, most_changes=most_changes)
    return StoreSource(tx, space, user, now) if view is None else IndexSource(view, now)


class IndexSource:
    """Passages that are held in memory. The number of a passage is its row there."""

    def __init__(self, view: ScopeView, now: datetime) -> None:
        self._view = view
        self._now = now
        self._mask_of: tuple[Filter, NDArray[np.bool_] | None] | None = None
        self._query: tuple[Vectors, Vectors] | None = None
        self._occurrences_of: tuple[Groups, Occurrences] | None = None
        self._has_direction = False  # whether the vector of the query is not all zeros
        self._cosines: Vectors | None = None  # of all rows, once they are known

    def _unit_vector(self, vector: Vectors) -> Vectors:
        """The vector of the query with length one: it is compared several times."""
        if self._query is None or self._query[0] is not vector:
            self._query = (vector, unit_vector(vector))
            self._has_direction = bool(vector.any())
            self._cosines = None
        return self._query[1]

    def tally(self) -> Tally:
        return self._view.tally

    def _mask(self, where: Filter) -> NDArray[np.bool_] | None:
        if self._mask_of is None or (self._mask_of[0] is not where and self._mask_of[0] != where):
            self._mask_of = (where, self._view.mask(where, self._now))
        return self._mask_of[1]

    def _within(self, where: Filter, rows: Rows) -> Rows:
        mask = self._mask(where)
        return rows if mask is None else rows[mask[rows]]

    def postings(self, where: Filter, groups: Groups, limit: int) -> list[Posting]:
        mask = self._mask(where)
        return [
            Posting((rows if mask is None else rows[mask[rows]])[::-1][:limit], len(rows))
            for rows in self._occurrences(groups).rows_by_group()
        ]

    def _occurrences(self, groups: Groups) -> Occurrences:
        """Where the terms of the query occur: they are looked up and then counted."""
        if self._occurrences_of is None or self._occurrences_of[0] is not groups:
            self._occurrences_of = (groups, self._view.occurrences(groups))
        return self._occurrences_of[1]

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> Numbers:
        query_vector = self._unit_vector(vector)
        mask = self._mask(where)
        if mask is None and self._cosines is None and self._view.vectors.shape[1]:
            self._cosines = products(self._view.vectors, query_vector)
        return self._view.nearest(mask, self._cosines, query_vector, limit)

    def passages(self, where: Filter, docs: Numbers, groups: Groups) -> Passages:
        return self._view.passages(self._within(where, docs), self._occurrences(groups))

    def passages_at(self, where: Filter, known: Passages, keys: Numbers, groups: Groups) -> Passages:
        return self._view.passages(self._within(where, self._view.rows_at(keys)), self._occurrences(groups))

    def cosines(self, passages: Passages, vector: Vectors) -> NDArray[np.float64]:
        query_vector = self._unit_vector(vector)
        if not self._has_direction:
            return np.full(len(passages), np.nan)
        return self._view.cosines(passages.rows, self._cosines, query_vector)

    def vectors_of(self, conversation: str, turns: Sequence[int]) -> dict[int, Vectors]:
        return self._view.vectors_of(conversation, np.array(turns, np.int64))

    def likeness(self, passages: Passages, groups: Groups) -> Likeness:
        return self._view.likeness(passages.rows, groups)

    def traits(self, docs: Numbers) -> Traits:
        return self._view.traits[docs]

    def keep_traits(self, docs: Numbers, traits: Traits) -> None:
        self._view.traits[docs] = traits

    def standing(self, where: Filter) -> Numbers | None:
        return self._view.standing.get(where)

    def keep_standing(self, where: Filter, docs: Numbers) -> None:
        if where.is_unrestricted and self._view.first_expiry == NEVER:  # none of them will be gone before the view is
            self._view.standing[where] = docs


class StoreSource:
    """Passages that the database looks up: for scopes that are too large to be held in memory."""

    def __init__(self, tx: Tx, space: str, user: str | None, now: datetime) -> None:
        self._tx = tx
        self._scope = Filter(space, user)
        self._expired = np.array(tx.index.expired_docs(space, now), np.int64)
        self._columns: PassageColumns | None = None
        self._terms: dict[int, str] = {}  # of the passages that were read
        self._traits: dict[int, int] = {}

    def tally(self) -> Tally:
        return self._tx.index.tally(self._scope.space, self._scope.user)

    def postings(self, where: Filter, groups: Groups, limit: int) -> list[Posting]:
        postings = self._tx.index.postings(where, groups, limit + len(self._expired))
        return [replace(posting, docs=self._without_expired(posting.docs)[:limit]) for posting in postings]

    def _without_expired(self, docs: Sequence[int] | Numbers) -> Numbers:
        """Docs in their order. How often a word occurs counts the expired still."""
        numbers = np.asarray(docs, np.int64)
        return numbers[~np.isin(numbers, self._expired)] if len(self._expired) else numbers

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> Numbers:
        nearest = self._tx.index.nearest(where, vector, limit + len(self._expired))
        return self._without_expired([doc for doc, _ in nearest])[:limit]

    def passages(self, where: Filter, docs: Numbers, groups: Groups) -> Passages:
        self._columns = PassageColumns(len(groups))
        candidates = self._tx.index.candidates(where, self._without_expired(docs).tolist(), groups)
        return self._columns_of(candidates, self._columns)

    def passages_at(self, where: Filter, known: Passages, keys: Numbers, groups: Groups) -> Passages:
        columns = self._columns or PassageColumns(len(groups))
        places = [(known.conversation_names[number], turn) for number, turn in map(split_key, keys.tolist())]
        expired_docs = frozenset(self._expired.tolist())
        passages = self._tx.index.passages_at(where, places, groups)
        candidates = [passage for passage in passages if passage.doc not in expired_docs]
        return self._columns_of(candidates, columns)

    def _columns_of(self, candidates: Sequence[PassageCandidate], columns: PassageColumns) -> Passages:
        self._terms.update((candidate.doc, candidate.terms) for candidate in candidates)
        self._traits.update((candidate.doc, candidate.traits) for candidate in candidates)
        return columns.columns(sorted(candidates, key=lambda candidate: candidate.doc))

    def cosines(self, passages: Passages, vector: Vectors) -> NDArray[np.float64]:
        cosines = self._tx.index.cosines(self._scope, vector, passages.docs.tolist()) if vector.any() else {}
        return np.array([cosines.get(doc, np.nan) for doc in passages.docs.tolist()], np.float64)

    def vectors_of(self, conversation: str, turns: Sequence[int]) -> dict[int, Vectors]:
        if not turns:
            return {}
        vectors = self._tx.index.vectors_of(self._scope.space, conversation, turns[0], turns[-1])
        return {turn: vectors[turn] for turn in turns if turn in vectors}

    def likeness(self, passages: Passages, groups: Groups) -> Likeness:
        lines = "\n".join(self._terms[doc] for doc in passages.docs.tolist())
        return best_likeness(*line_codes(lines.encode(), 0), groups) if len(passages) else no_likeness(0, groups)

    def traits(self, docs: Numbers) -> Traits:
        return np.array([self._traits.get(doc, UNKNOWN_TRAITS) for doc in docs.tolist()], np.int8)

    def keep_traits(self, docs: Numbers, traits: Traits) -> None:
        self._traits.update(zip(docs.tolist(), traits.tolist(), strict=True))

    def standing(self, where: Filter) -> Numbers | None:
        return None

    def keep_standing(self, where: Filter, docs: Numbers) -> None:
        """Nothing: the database does not keep them."""

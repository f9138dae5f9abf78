"""Retrieval: full text and vectors over the same passages, ranked together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each proposal
is then scored on both, so that a passage is not rejected because only one side proposed it. To those that earn most by
themselves come the messages around them, which complete them and may themselves be what was meant; all are ranked
together, and the texts of the best decide the final order. A message is as good as its best passage. Whatever the size
of the memory, only some hundred passages are scored.

Passages come from a `PassageSource`: from memory, if the scope is held there, or from the database. Both give the
same. What ranking has to know of texts is in the index; of passages that an older version of everword indexed, the
texts are read once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import repeat
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from everword.log.append_and_read import author_names, warn_of_damage
from everword.model import ROLES, Filter, Hit, Message
from everword.model.views import UNKNOWN_TRAITS
from everword.ports import PassageCandidate, Posting, Tally, Tx, Vectors, products
from everword.recall import scope_index
from everword.recall.rules import neighbours as neighbour_rules
from everword.recall.rules import query as query_rules
from everword.recall.rules import ranking as ranking_rules
from everword.recall.rules import relevance as floor_rules
from everword.recall.rules.neighbours import Numbers, PassageColumns, Passages, Surroundings
from everword.recall.rules.ranking import Ranking, Traits, Weights, WordLikeness
from everword.text.detect import DEFAULT, detect
from everword.text.doc import doc_of
from everword.text.terms import query_groups

Groups = Sequence[Sequence[str]]


class PassageSource(Protocol):
    """The passages of a user, of a conversation, or of a space. Each has a number; the newer, the higher.
    `standing` has the standing instructions among all of them, by their scope, once a search has found them."""

    standing: dict[Filter, Numbers]

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

    def likeness(self, passages: Passages, groups: Groups) -> scope_index.Likeness:
        """How near the words of each passage are to each group of terms, from 0 to 1."""

    def traits(self, docs: Numbers) -> Traits:
        """What is known of the texts of the messages of these passages, which were read."""

    def keep_traits(self, docs: Numbers, traits: Traits) -> None: ...


def open_source(
    tx: Tx,
    indexes: scope_index.ScopeIndexes,
    where: Filter,
    now: datetime,
    vectors: scope_index.VectorCheck | None = None,
) -> PassageSource:
    """The passages of a filter's scope as a transaction sees them, without those that have expired by now. `vectors`
    raises if they were made by another embedder."""
    scope = where.scope
    view = indexes.view(tx, scope, vectors)
    return StoreSource(tx, scope, now) if view is None else IndexSource(view, now)


class IndexSource:
    """Passages that are held in memory. The number of a passage is its row there."""

    def __init__(self, view: scope_index.ScopeView, now: datetime) -> None:
        self._view = view
        self.standing = view.standing
        self._now = now
        self._mask_of: tuple[Filter, NDArray[np.bool_] | None] | None = None
        self._query: tuple[Vectors, Vectors] | None = None
        self._occurrences_of: tuple[Groups, scope_index.Occurrences] | None = None
        self._has_direction = False  # whether the vector of the query is not all zeros
        self._cosines: Vectors | None = None  # of all rows, once they are known

    def _unit_vector(self, vector: Vectors) -> Vectors:
        """The vector of the query with length one: it is compared several times."""
        if self._query is None or self._query[0] is not vector:
            self._query = (vector, scope_index.unit_vector(vector))
            self._has_direction = bool(vector.any())
            self._cosines = None
        return self._query[1]

    def tally(self) -> Tally:
        return self._view.tally

    def _mask(self, where: Filter) -> NDArray[np.bool_] | None:
        if self._mask_of is None or (self._mask_of[0] is not where and self._mask_of[0] != where):
            self._mask_of = (where, self._view.mask(where, self._now))
        return self._mask_of[1]

    def _within(self, where: Filter, rows: scope_index.Rows) -> scope_index.Rows:
        mask = self._mask(where)
        return rows if mask is None else rows[mask[rows]]

    def postings(self, where: Filter, groups: Groups, limit: int) -> list[Posting]:
        mask = self._mask(where)
        return [
            Posting((rows if mask is None else rows[mask[rows]])[::-1][:limit], len(rows))
            for rows in self._occurrences(groups).rows_by_group()
        ]

    def _occurrences(self, groups: Groups) -> scope_index.Occurrences:
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

    def likeness(self, passages: Passages, groups: Groups) -> scope_index.Likeness:
        return self._view.likeness(passages.rows, groups)

    def traits(self, docs: Numbers) -> Traits:
        return self._view.traits[docs]

    def keep_traits(self, docs: Numbers, traits: Traits) -> None:
        self._view.traits[docs] = traits


class StoreSource:
    """Passages that the database looks up: for scopes that are too large to be held in memory."""

    def __init__(self, tx: Tx, scope: Filter, now: datetime) -> None:
        self._tx = tx
        self._scope = scope
        self.standing: dict[Filter, Numbers] = {}
        self._expired = np.array(tx.index.expired_docs(scope.space, now), np.int64)
        self._columns: PassageColumns | None = None
        self._terms: dict[int, str] = {}  # of the passages that were read
        self._traits: dict[int, int] = {}

    def tally(self) -> Tally:
        return self._tx.index.tally(self._scope.space, self._scope.user, self._scope.conversation)

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
        places = [
            (known.conversation_names[number], turn) for number, turn in map(neighbour_rules.split_key, keys.tolist())
        ]
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

    def likeness(self, passages: Passages, groups: Groups) -> scope_index.Likeness:
        if not len(passages):
            return scope_index.no_likeness(0, groups)
        lines = "\n".join(self._terms[doc] for doc in passages.docs.tolist())
        return scope_index.best_likeness(*scope_index.line_codes(lines.encode(), 0), groups)

    def traits(self, docs: Numbers) -> Traits:
        return np.array([self._traits.get(doc, UNKNOWN_TRAITS) for doc in docs.tolist()], np.int8)

    def keep_traits(self, docs: Numbers, traits: Traits) -> None:
        self._traits.update(zip(docs.tolist(), traits.tolist(), strict=True))


# -- what ranking has to know of the texts of messages


ALL = slice(None)
PER_STANDING_WORD = 50  # messages, the newest, in which a standing instruction is looked for


class MessageReader:
    """Reads messages of a space, each at most once; some are known already, by their ids."""

    def __init__(self, tx: Tx, source: PassageSource, space: str, known: Mapping[str, Message]) -> None:
        self._tx = tx
        self._source = source
        self._space = space
        self.messages = dict(known)

    def read(self, ids: Sequence[str]) -> None:
        unread = [id for id in ids if id not in self.messages]
        if unread:
            found = self._tx.find_messages(self._space, ids=unread, damaged=warn_of_damage)
            self.messages.update((message.id, message) for message in found)

    def traits(self, passages: Passages, rows: NDArray[np.intp] | slice = ALL) -> NDArray[np.int8]:
        """The traits of the messages of passages in these rows; 0 for what no person said. Only texts that nobody has
        looked at yet are read for that."""
        docs = passages.docs[rows]
        is_user = passages.roles[rows] == neighbour_rules.USER
        known = self._source.traits(docs)
        if np.logical_or.reduce(known < 0):
            known = self._with_unknown(passages, rows, known, is_user)
        return np.asarray(known * is_user)

    def _with_unknown(
        self,
        passages: Passages,
        rows: NDArray[np.intp] | slice,
        known: NDArray[np.int8],
        is_user: NDArray[np.bool_],
    ) -> NDArray[np.int8]:
        """The traits of all, if their texts can be read."""
        places = (is_user & (known < 0)).nonzero()[0].tolist()
        ids = passages.message_ids[rows].tolist()
        self.read([ids[place] for place in places])
        for place in places:
            if ids[place] in self.messages:
                known[place] = ranking_rules.traits(self.messages[ids[place]].content)
        self._source.keep_traits(passages.docs[rows][places], known[places])
        return np.maximum(known, 0)


def standing_instructions(
    reader: MessageReader, source: PassageSource, where: Filter, languages: Collection[str]
) -> Numbers:
    """The numbers of the passages that are a standing instruction, of those that a filter means."""
    if where.role not in (None, "user"):
        return np.empty(0, np.int64)
    if where in source.standing:
        return source.standing[where]
    scope = where if where.is_unrestricted else None
    where = replace(where, role="user")
    groups = doc_of(ranking_rules.STANDING_WORDS).read(query_groups, tuple(languages))
    postings = source.postings(where, groups, PER_STANDING_WORD)
    docs = [np.asarray(posting.docs, np.int64) for posting in postings if len(posting.docs)]
    numbers = neighbour_rules.distinct_numbers(np.concatenate([np.empty(0, np.int64), *docs]))
    known = source.traits(numbers)
    if (known >= 0).all():
        standing = np.asarray(numbers[ranking_rules.is_standing(known)])
        if scope is not None:
            source.standing[scope] = standing
        return standing
    passages = source.passages(where, numbers, ())
    return np.asarray(passages.docs[ranking_rules.is_standing(reader.traits(passages))])


# -- the search


PER_WORD = 2_000  # passages that a single word may propose, the newest
BY_TEXT = 150  # of all that words propose, those with the rarest words
BY_VECTOR = 100  # passages that vectors propose
BY_TIME = 20  # passages that vectors propose from around a time that the query speaks of
TIMES = 2  # times of a query for which that is done
BEST = 80  # of these, those that earn most by themselves: they are ranked
NEAR = 40  # the first of them, or as many as are asked for, with which the messages next to them are ranked
FAR = 10  # the first of them, with which those further off are ranked; all, where the answer is in many places
PASSAGES = 4  # of each message read, that may rank before the last of these messages
READ = 40  # messages whose text is read, at least
MORE = 10  # messages that are read beyond the limit
MAINLY_NAMES = 2.4  # times as many words as names, at most, if a query is about the people that it names
LEAST_SCORE = 1e-3  # more than is lost where scores are rounded
NO_PASSAGES = np.empty(0, np.int64)
TEXT_PARTS = ("detail", "reply", "preference", "standing", "coverage")
"""What a message gets for its text, and for what other messages of its occasion are found, in the order of rows."""
DETAIL, REPLY, PREFERENCE, STANDING, COVERAGE = range(len(TEXT_PARTS))
ALL_PARTS = (*ranking_rules.PARTS, *TEXT_PARTS)


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """Which of the messages that a search finds are read: not those whose score is below a share of the best and that
    are not relevant, unless they are among `ids`; and if none is relevant to a query that does not ask the memory, any
    one of them, without its score. No hit has the parts of its score. `messages` are known already, by id."""

    least_share: float
    ids: Collection[str]
    messages: Mapping[str, Message]


def search(
    tx: Tx,
    source: PassageSource,
    where: Filter,
    query: str,
    vector: Vectors,
    limit: int,
    now: datetime,
    weights: Weights,
    floor: float | None = None,
    question: Message | None = None,
    reading_rule: ReadingRule | None = None,
) -> list[Hit]:
    """The messages that answer a query best, best first; with a floor, only those that are as relevant as that.

    `source` has the passages of the filter's scope, without what has expired. `question` is the message
    that asks, if it is in the log: nothing is relevant because it is near that message. What a `reading_rule` leaves
    unread is not among the hits, and counts as one of them.
    """
    query = query_rules.searchable_part(query)
    tally = source.tally()
    groups = query_groups(query, tally.languages)
    parsed_query = query_rules.parse_query(query, groups, tally.languages, now)
    if parsed_query.is_abroad:
        weights = replace(weights, unrelated=weights.unrelated - weights.abroad)
    reader = MessageReader(tx, source, where.space, {} if reading_rule is None else reading_rule.messages)
    standing = standing_instructions(reader, source, where, tally.languages) if weights.standing else NO_PASSAGES
    postings = source.postings(where, groups, PER_WORD)
    proposals = propose_passages(source, where, parsed_query, postings, tally, vector, limit)
    frequencies = [posting.frequency for posting in postings]
    scorer = PassageScorer(source, where, groups, frequencies, tally, vector)
    candidates = scorer.score(neighbour_rules.distinct_numbers(np.concatenate([*proposals, standing])))
    names = {author: [author] for author in candidates.authors()}
    names |= author_names(tx, where.space, candidates.authors(neighbour_rules.USER), where.user)
    unknown_groups = {group for group, frequency in zip(groups, frequencies, strict=True) if not frequency}
    parsed_query = query_rules.add_authors(parsed_query, query, names, tally.languages, unknown_groups)
    message_limit = max(READ, limit + MORE)
    candidates = candidates.best(parsed_query, weights, max(BEST, message_limit), standing)
    if weights.near:
        in_many_places = parsed_query.several or len(parsed_query.authors) > 1
        far_count = len(candidates.passages) if in_many_places else FAR
        candidates = scorer.add_neighbours(candidates, max(NEAR, limit), far_count)
    around = neighbour_rules.surroundings(candidates.passages)
    is_later = None if question is None else is_from(candidates.passages, question)
    size = scope_size(tx, where, tally)
    relevances = candidates.relevances(scorer.frequencies, parsed_query, size, weights, is_later, around)
    asks_memory = parsed_query.asks_memory or names_somebody(query, parsed_query, postings, tally)
    least = floor_rules.FLOOR if detect(query) == DEFAULT else floor_rules.UNSURE
    if reading_rule is not None and not asks_memory and floor_rules.is_none_relevant(relevances, is_later, least):
        hits = any_hit(reader, candidates, relevances, weights)
        if hits:
            return hits
    passages = candidates.passages
    # A filter may exclude any of them; without one, a few passages for each message that is read are enough.
    whole_scope = where.is_unrestricted
    ranking = ranking_rules.fuse(
        passages,
        candidates.words,
        candidates.cosines,
        parsed_query,
        now,
        weights,
        PASSAGES * message_limit if whole_scope else None,
        around,
        scorer.likeness(passages),
    )
    best = best_rows(passages, ranking, None if whole_scope else is_allowed(passages, where), message_limit)
    best = with_standing(best, passages, ranking, standing)
    ranked_messages = RankedMessages(passages, around, ranking, best, relevances, is_later)
    return read_hits(reader, ranked_messages, limit, weights_for(parsed_query, weights), floor, reading_rule)


def names_somebody(
    query: str, parsed_query: query_rules.ParsedQuery, postings: Sequence[Posting], tally: Tally
) -> bool:
    """Whether a query is mainly about people by name who were all spoken of."""
    names = {group for name in query_rules.names_in(query) for group in query_groups(name, tally.languages)}
    frequencies = [
        posting.frequency for group, posting in zip(parsed_query.groups, postings, strict=True) if group in names
    ]
    return bool(frequencies) and all(frequencies) and MAINLY_NAMES * len(frequencies) >= len(parsed_query.groups)


def propose_passages(
    source: PassageSource,
    where: Filter,
    parsed_query: query_rules.ParsedQuery,
    postings: Sequence[Posting],
    tally: Tally,
    vector: Vectors,
    limit: int,
) -> list[Numbers]:
    """The passages whose words are worth most, and those nearest in meaning."""
    proposals = [ranking_rules.shortlist(postings, tally, max(BY_TEXT, limit))]
    if vector.any():
        proposals.append(source.nearest(where, vector, max(BY_VECTOR, limit)))
        proposals += nearest_then(source, where, parsed_query, vector)
    return proposals


@dataclass(frozen=True, slots=True)
class ScoredPassages:
    """Passages with their scores word by word and their cosines: what each is by itself."""

    passages: Passages
    words: NDArray[np.float64]
    cosines: NDArray[np.float64]

    def authors(self, role: int | None = None) -> list[str]:
        """The authors of these passages, or of those of one role, in order."""
        authors = self.passages.authors if role is None else self.passages.authors[self.passages.roles == role]
        return sorted(self.passages.author_names[number] for number in set(authors.tolist()))

    def best(
        self, parsed_query: query_rules.ParsedQuery, weights: Weights, limit: int, standing: Numbers
    ) -> ScoredPassages:
        """Those that earn most by themselves, best first, and after them other standing instructions."""
        rows = ranking_rules.best_by_themselves(self.passages, self.words, self.cosines, parsed_query, weights, limit)
        if len(standing):
            is_other = neighbour_rules.are_among(self.passages.docs, standing)
            is_other[rows] = False
            rows = np.concatenate([rows, is_other.nonzero()[0]])
        return ScoredPassages(self.passages.take(rows), self.words.take(rows, axis=0), self.cosines.take(rows))

    def relevances(
        self,
        frequencies: Sequence[int],
        parsed_query: query_rules.ParsedQuery,
        size: int,
        weights: Weights,
        is_later: NDArray[np.bool_] | None,
        around: Surroundings,
    ) -> NDArray[np.float64]:
        """How relevant each passage is in a memory of this size, or a message beside it; what is later is not."""
        shared_words = floor_rules.shared_rarity(self.passages, frequencies, parsed_query.emphasis, size)
        deviations = weights.deviations(self.cosines)
        relevances = floor_rules.relevance(shared_words, deviations, size, personal=parsed_query.personal)
        if is_later is not None:
            relevances = relevances * ~is_later
        return floor_rules.relevance_with_neighbours(self.passages, relevances, around)


@dataclass(frozen=True, slots=True)
class PassageScorer:
    """Scores passages of a source for a query. `frequencies` are those of the groups of its terms."""

    source: PassageSource
    where: Filter
    groups: Sequence[tuple[str, ...]]
    frequencies: Sequence[int]
    tally: Tally
    vector: Vectors

    def score(self, docs: Numbers) -> ScoredPassages:
        """Those of these passages that the filter means."""
        return self._score(self.source.passages(self.where, docs, self.groups))

    def _score(self, passages: Passages) -> ScoredPassages:
        words = ranking_rules.word_scores(passages, self.frequencies, self.tally)
        return ScoredPassages(passages, words, self.source.cosines(passages, self.vector))

    def add_neighbours(self, candidates: ScoredPassages, near_count: int, far_count: int) -> ScoredPassages:
        """The same passages, and after them those next to so many of the first, and further off from some of these."""
        passages = self._with_neighbours(candidates.passages, near_count, far_count)
        neighbours = self._score(passages.take(slice(len(candidates.passages), None)))
        return ScoredPassages(
            passages,
            np.concatenate([candidates.words, neighbours.words]),
            np.concatenate([candidates.cosines, neighbours.cosines]),
        )

    def likeness(self, passages: Passages) -> WordLikeness:
        """How near the words of passages are to those of the query."""
        if scope_index.knows_language(self.tally.languages):
            nearest = self.source.likeness(passages, self.groups)
        else:
            nearest = scope_index.no_likeness(len(passages), self.groups)
        return WordLikeness(nearest, ranking_rules.word_worth(self.frequencies, self.tally))

    def _with_neighbours(self, passages: Passages, near_count: int, far_count: int) -> Passages:
        """These passages, and after them those next to so many of the first, and those further off from so many, unless
        messages are long there."""
        reaches = np.zeros(len(passages), np.int64)
        reaches[:near_count] = 1
        reaches[:far_count] = neighbour_rules.REACH
        keys = neighbour_rules.missing_places(passages, neighbour_rules.adjacent_keys(passages, reaches))
        # A message that the filter excludes may still complete one that it includes.
        where = self.where
        scope = Filter(where.space, where.user, where.author, where.conversation, expired_by=where.expired_by)
        neighbours = self.source.passages_at(scope, passages, keys, self.groups)
        all_passages = passages.join(neighbours)
        if np.maximum.reduce(all_passages.lengths, initial=0) < neighbour_rules.LONG_LINES:  # as in most chats
            return all_passages
        is_long = neighbour_rules.mean_lengths(passages, all_passages) >= neighbour_rules.LONG_LINES
        if not np.logical_or.reduce(is_long):
            return all_passages
        reaches[is_long] = np.arange(len(passages))[is_long] < near_count
        keys = neighbour_rules.adjacent_keys(passages, reaches)
        return passages.join(neighbours.take(neighbour_rules.are_among(neighbours.keys, keys)))


def weights_for(reading: query_rules.ParsedQuery, weights: Weights) -> Weights:
    """The weights as they are for a query: preferences count for advice; instructions count, but not for an account of
    what was said, nor where somebody wants several things of their own."""
    is_account = reading.recount or (reading.own and reading.several and not reading.advice)
    standing = weights.standing * (ranking_rules.ADVICE_STANDING if reading.advice else 1.0)
    return replace(
        weights,
        preference=weights.preference if reading.advice else 0.0,
        standing=0.0 if is_account else standing,
    )


def nearest_then(
    source: PassageSource, where: Filter, reading: query_rules.ParsedQuery, vector: Vectors
) -> list[Numbers]:
    """What is nearest to a query of what was said around each time it speaks of: in a large memory, little of that is
    among the nearest of all."""
    if where.after is not None or where.before is not None:
        return []
    return [
        source.nearest(replace(where, after=start, before=end), vector, BY_TIME)
        for start, end in map(query_rules.time_around, reading.times[:TIMES])
    ]


def is_from(passages: Passages, question: Message) -> NDArray[np.bool_]:
    """Which passages are of a message or of one that came after it."""
    number = neighbour_rules.number_of(passages.conversation_names, question.conversation)
    return np.asarray((passages.conversations == number) & (passages.turns >= question.turn))


def scope_size(tx: Tx, where: Filter, tally: Tally) -> int:
    """How many passages a search can find, about: all of a user or a space, or the messages of one conversation."""
    if where.conversation is None:
        return tally.docs
    conversation = tx.conversation(where.space, where.conversation)
    return min(tally.docs, 0 if conversation is None else conversation.turns)


@dataclass(frozen=True, slots=True)
class RankedMessages:
    """What a search has found: the row of each message's best passage, best first; and of every row how relevant it is,
    and whether it is of the question, or of a message after it (None: none is)."""

    passages: Passages
    around: Surroundings
    ranking: Ranking
    rows: NDArray[np.intp]
    relevances: NDArray[np.float64]
    is_later: NDArray[np.bool_] | None

    def places_to_read(
        self, order: Sequence[int], scores: NDArray[np.float64], ids: Sequence[str], rule: ReadingRule
    ) -> list[int]:
        """Of the places of rows, best first, those that are read."""
        is_later = [False] * len(self.rows) if self.is_later is None else self.is_later[self.rows].tolist()
        best_score = next((scores[place] for place in order if not is_later[place]), 0.0)
        is_read = (scores >= rule.least_share * best_score) | (self.relevances[self.rows] >= floor_rules.FLOOR)
        return [place for place in order if is_read[place] or ids[place] in rule.ids]


def any_hit(
    reader: MessageReader, candidates: ScoredPassages, relevances: NDArray[np.float64], weights: Weights
) -> list[Hit]:
    """The message of the first passage, which earns most by itself, if it earns anything and can be read: to rank them
    all and read the best takes a third of a search."""
    passages = candidates.passages
    if not len(passages):
        return []
    is_earning = weights.vector * weights.deviations(candidates.cosines[:1])[0] > LEAST_SCORE
    if not is_earning and weights.text * np.add.reduce(candidates.words[0]) <= LEAST_SCORE:
        return []
    id = passages.message_ids[0]
    reader.read([id])
    return [Hit(reader.messages[id], 0.0, {}, float(relevances[0]))] if id in reader.messages else []


def best_rows(passages: Passages, ranking: Ranking, row_mask: NDArray[np.bool_] | None, limit: int) -> NDArray[np.intp]:
    """The row of the best passage of each message, best first, of at most so many messages. `row_mask` says which rows
    may be among them; None: all."""
    rows = ranking.rows
    is_hit = ranking.scores[rows] > 0
    rows = rows[is_hit if row_mask is None else is_hit & row_mask[rows]]
    first_rows = rows[:limit]
    if len(set(passages.message_ids[first_rows].tolist())) == len(first_rows):  # each is of another message
        return first_rows
    best: dict[str, int] = {}
    for id, row in zip(passages.message_ids[rows].tolist(), rows.tolist(), strict=True):
        if len(best) == limit:
            break
        best.setdefault(id, row)
    return np.fromiter(best.values(), np.intp, len(best))


def with_standing(best: NDArray[np.intp], passages: Passages, ranking: Ranking, standing: Numbers) -> NDArray[np.intp]:
    """The best rows, and those of standing instructions that are not among them. Such are instructions to an assistant:
    where none speaks, nothing is added."""
    if not len(standing) or not passages.has_assistant:
        return best
    rows = (neighbour_rules.are_among(passages.docs, standing) & (ranking.scores > 0)).nonzero()[0]
    known = set(passages.message_ids[best].tolist())
    others = [row for row in rows.tolist() if passages.message_ids[row] not in known]
    return np.array([*best.tolist(), *others], np.intp)


def read_hits(
    reader: MessageReader,
    ranked_messages: RankedMessages,
    limit: int,
    weights: Weights,
    floor: float | None,
    rule: ReadingRule | None = None,
) -> list[Hit]:
    """The best messages, ordered by their text too."""
    rows = ranked_messages.rows
    ids: list[str] = ranked_messages.passages.message_ids[rows].tolist()
    parts = text_parts(reader, ranked_messages, weights)
    scores = (ranked_messages.ranking.scores[rows] + np.add.reduce(parts, axis=0)).round(6)
    order = np.argsort(-scores, kind="stable").tolist()
    if floor is not None:
        is_relevant = (ranked_messages.relevances[rows] >= floor).tolist()
        order = [place for place in order if is_relevant[place]]
    if weights.coverage:
        penalties = ranking_rules.coverage_penalties(
            scores[order].tolist(), ranked_messages.around.occasions(rows[order]).tolist(), weights.coverage
        )
        parts[COVERAGE, order] = penalties
        scores = (scores + parts[COVERAGE]).round(6)
        order.sort(key=(-scores).tolist().__getitem__)
    if rule is not None:
        order = ranked_messages.places_to_read(order[:limit], scores, ids, rule)
    hits: list[Hit] = []
    while order and len(hits) < limit:  # one that cannot be read makes room for the next
        page, order = order[: limit - len(hits)], order[limit - len(hits) :]
        reader.read([ids[place] for place in page])
        places = [place for place in page if ids[place] in reader.messages]
        hits += make_hits(ranked_messages, places, scores, None if rule is not None else parts, reader)
    return hits


def make_hits(
    ranked_messages: RankedMessages,
    places: Sequence[int],
    scores: NDArray[np.float64],
    text_scores: NDArray[np.float64] | None,
    reader: MessageReader,
) -> list[Hit]:
    """The hits at these places, whose messages are read; with the parts of their scores if those of texts are given."""
    at = np.array(places, np.intp)
    rows = ranked_messages.rows[at]
    messages = [reader.messages[id] for id in ranked_messages.passages.message_ids[rows].tolist()]
    parts: Iterable[dict[str, float]] = repeat({})
    if text_scores is not None:
        columns = np.concatenate([ranked_messages.ranking.columns[rows], text_scores.T[at]], axis=1)
        parts = [dict(zip(ALL_PARTS, values, strict=True)) for values in columns.tolist()]
    return list(map(Hit, messages, scores[at].tolist(), parts, ranked_messages.relevances[rows].tolist()))


def text_parts(reader: MessageReader, ranked_messages: RankedMessages, weights: Weights) -> NDArray[np.float64]:
    """What the texts of the best messages (columns) add to their scores, by the parts of it (rows): for their
    particulars; among people, for what states something or answers a question; for the preferences they state, and for
    the standing instructions that are nearest to the query."""
    passages = ranked_messages.passages
    rows = ranked_messages.rows
    traits = reader.traits(passages, rows)
    is_assisted = passages.has_assistant
    parts = np.zeros((len(TEXT_PARTS), len(rows)))
    parts[DETAIL] = (weights.assisted_detail if is_assisted else weights.detail) * ranking_rules.count_particulars(
        traits
    )
    if weights.preference:
        parts[PREFERENCE] = weights.preference * ranking_rules.is_preference(traits)
    if not is_assisted:
        is_answer = follows_question(reader, ranked_messages)
        parts[REPLY] = weights.statement * ~ranking_rules.is_question(traits) + weights.answer * is_answer
    elif weights.standing:
        places = ranking_rules.is_standing(traits).nonzero()[0]
        scores = ranked_messages.ranking.scores[rows] + parts[DETAIL].round(6) + parts[PREFERENCE]
        by_score = np.argsort(-scores[places], kind="stable")
        parts[STANDING, places[by_score[: ranking_rules.STANDING_LIFTED]]] = weights.standing
    return parts.round(6)


def follows_question(reader: MessageReader, ranked_messages: RankedMessages) -> NDArray[np.bool_]:
    """Which of the best messages come after one that asks something, as far as that is among the passages."""
    previous_rows = ranked_messages.around.previous_rows(ranked_messages.rows)
    is_known = previous_rows >= 0
    follows = np.zeros(len(previous_rows), np.bool_)
    follows[is_known] = ranking_rules.is_question(reader.traits(ranked_messages.passages, previous_rows[is_known]))
    return follows


def is_allowed(passages: Passages, where: Filter) -> NDArray[np.bool_]:
    """Which passages may be returned: a neighbour that the filter excludes is only used for scoring."""
    row_mask = np.ones(len(passages), np.bool_)
    if where.role is not None:
        row_mask &= passages.roles == ROLES.index(where.role)
    if where.after is not None:
        row_mask &= passages.moments >= where.after.timestamp()
    if where.before is not None:
        row_mask &= passages.moments < where.before.timestamp()
    return row_mask

"""Retrieval: full text and vectors over the same passages, ranked together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each proposal
is then scored on both, so that a passage is not rejected because only one side proposed it. The best are scored again
with the messages around them, which complete them and may themselves be what was meant; the texts of the best decide
the final order. A message is as good as its best passage. Whatever the size of the memory, only some hundred passages
are scored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from recollect.engine.context.index_or_database import PassageSource
from recollect.engine.context.message_traits import MessageReader, standing_instructions
from recollect.language.terms import query_groups
from recollect.model import Filter, Hit, Message
from recollect.model.passages import Tally
from recollect.ports import Tx, Vectors
from recollect.rules.recall import floor as floor_rules
from recollect.rules.recall import query as query_rules
from recollect.rules.recall.message_specificity import PREFERENCE, STANDING, STANDING_LIFTED
from recollect.rules.recall.neighbours import (
    LONG_LINES,
    REACH,
    Surroundings,
    adjacent_keys,
    mean_lengths,
    place_keys,
    surroundings,
)
from recollect.rules.recall.passage_columns import ASSISTANT, Numbers, Passages, distinct_numbers
from recollect.rules.recall.ranking import Ranking, Weights, coverage_penalties, fuse, shortlist, word_scores

PER_WORD = 2_000  # passages that a single word may propose, the newest
BY_TEXT = 150  # of all that words propose, those with the rarest words
BY_VECTOR = 80  # passages that vectors propose
BY_TIME = 20  # passages that vectors propose from around a time that the query speaks of
TIMES = 2  # times of a query for which that is done
ANCHORS = 30  # the best proposals, whose neighbours are read too
PASSAGES = 4  # of each message read, that may rank before the last of these messages
READ = 60  # messages whose text is read, at least
MORE = 10  # messages that are read beyond the limit


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """Which of the messages that a search finds are read: not those whose score is below a share of the best and that
    are not relevant, unless they are among `ids`. `messages` are known already, by id."""

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

    `source` has the passages of the filter's user, or of its space, without what has expired. `question` is the message
    that asks, if it is in the log: nothing is relevant because it is near that message. What a `reading_rule` leaves
    unread is not among the hits, and counts as one of them.
    """
    query = query_rules.searchable_part(query)
    tally = source.tally()
    groups = query_groups(query, tally.languages)
    postings = source.postings(where, groups, PER_WORD)
    frequencies = [posting.frequency for posting in postings]
    proposals = shortlist(postings, tally, max(BY_TEXT, limit))
    reading = query_rules.parse_query(query, groups, tally.languages, now)
    if vector.any():
        nearest = source.nearest(where, vector, max(BY_VECTOR, limit))
        proposals = distinct_numbers(
            np.concatenate([proposals, nearest, *nearest_then(source, where, reading, vector)])
        )
    reader = MessageReader(tx, source, where.space, {} if reading_rule is None else reading_rule.messages)
    standing = standing_instructions(reader, source, where, tally.languages) if weights.standing else proposals[:0]
    passages = source.passages(where, distinct_numbers(np.concatenate([proposals, standing])), groups)
    authors = {passages.author_names[number] for number in distinct_numbers(passages.authors).tolist()}
    reading = query_rules.add_authors(reading, query, authors, tally.languages)
    words = word_scores(passages, frequencies, tally)
    cosines = source.cosines(passages, vector)
    around = surroundings(passages)
    if weights.near and len(passages):
        anchors = fuse(passages, words, cosines, reading, now, weights, ANCHORS, around).rows
        # A message that the filter excludes may still complete one that it includes.
        scope = replace(where, role=None, after=None, before=None)
        proposal_count = len(passages)
        passages = with_neighbours(source, scope, passages, anchors, around, groups)
        words = word_scores(passages, frequencies, tally)
        cosines = np.concatenate([cosines, source.cosines(passages.take(slice(proposal_count, None)), vector)])
        around = surroundings(passages)
    # A filter may exclude any of them; without one, a few passages for each message that is read are enough.
    max_passages = PASSAGES * max(READ, limit + MORE) if where.is_unrestricted else None
    ranking = fuse(passages, words, cosines, reading, now, weights, max_passages, around)
    best = best_rows(passages, ranking, is_allowed(passages, where), max(READ, limit + MORE))
    best = with_standing(best, passages, ranking, standing)
    size = scope_size(tx, where, tally)
    shared_words = floor_rules.shared_rarity(passages, frequencies, reading.emphasis, size)
    relevances = floor_rules.relevance(shared_words, weights.deviations(cosines), size, personal=reading.personal)
    is_later = np.zeros(len(passages), np.bool_) if question is None else is_from(passages, question)
    if question is not None:
        relevances = relevances * ~is_later
    relevances = floor_rules.relevance_with_neighbours(passages, relevances, around)
    ranked = RankedMessages(passages, ranking, best, relevances, around.occasion[around.home], is_later)
    return read_hits(reader, ranked, limit, weights_for(reading, weights), floor, reading_rule)


def weights_for(reading: query_rules.ParsedQuery, weights: Weights) -> Weights:
    """The weights as they are for a query: preferences count for advice; instructions count, but not for an account of
    what was said, nor where somebody wants several things of their own."""
    is_account = reading.recount or (reading.own and reading.several and not reading.advice)
    return replace(
        weights,
        preference=weights.preference if reading.advice else 0.0,
        standing=0.0 if is_account else weights.standing,
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
    number = passages.conversation_number(question.conversation)
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
    the number of its occasion, and whether it is of the question, or of a message after it."""

    passages: Passages
    ranking: Ranking
    rows: NDArray[np.intp]
    relevances: NDArray[np.float64]
    occasions: NDArray[np.intp]
    is_later: NDArray[np.bool_]

    def places_to_read(
        self, order: Sequence[int], scores: NDArray[np.float64], ids: Sequence[str], rule: ReadingRule
    ) -> list[int]:
        """Of the places of rows, best first, those that are read."""
        is_later = self.is_later[self.rows].tolist()
        best_score = next((scores[place] for place in order if not is_later[place]), 0.0)
        is_read = (scores >= rule.least_share * best_score) | (self.relevances[self.rows] >= floor_rules.FLOOR)
        return [place for place in order if is_read[place] or ids[place] in rule.ids]


def best_rows(passages: Passages, ranking: Ranking, allowed: NDArray[np.bool_], limit: int) -> NDArray[np.intp]:
    """The row of the best passage of each message, best first, of at most so many messages."""
    rows = ranking.rows[allowed[ranking.rows] & (ranking.scores[ranking.rows] > 0)]
    best: dict[str, int] = {}
    for id, row in zip(passages.message_ids[rows].tolist(), rows.tolist(), strict=True):
        if len(best) == limit:
            break
        best.setdefault(id, row)
    return np.fromiter(best.values(), np.intp, len(best))


def with_standing(best: NDArray[np.intp], passages: Passages, ranking: Ranking, standing: Numbers) -> NDArray[np.intp]:
    """The best rows, and those of standing instructions that are not among them. Such are instructions to an assistant:
    where none speaks, nothing is added."""
    if not len(standing) or not (passages.roles == ASSISTANT).any():
        return best
    known = set(passages.message_ids[best].tolist())
    rows = np.flatnonzero(np.isin(passages.docs, standing) & (ranking.scores > 0)).tolist()
    return np.array([*best.tolist(), *(row for row in rows if passages.message_ids[row] not in known)], np.intp)


def read_hits(
    reader: MessageReader,
    ranked: RankedMessages,
    limit: int,
    weights: Weights,
    floor: float | None,
    rule: ReadingRule | None = None,
) -> list[Hit]:
    """The best messages, ordered by their text too."""
    rows = ranked.rows
    ids: list[str] = ranked.passages.message_ids[rows].tolist()
    added = text_parts(reader, ranked, weights)
    scores = (ranked.ranking.scores[rows] + sum(added.values())).round(6)
    order = [
        place
        for place in np.argsort(-scores, kind="stable").tolist()
        if floor is None or ranked.relevances[rows[place]] >= floor
    ]
    penalties = np.zeros(len(rows))
    penalties[order] = coverage_penalties(
        scores[order].tolist(), ranked.occasions[rows[order]].tolist(), weights.coverage
    )
    added["coverage"] = penalties
    scores = (scores + penalties).round(6)
    order.sort(key=lambda place: -scores[place])
    if rule is not None:
        order = ranked.places_to_read(order[:limit], scores, ids, rule)
    hits: list[Hit] = []
    while order and len(hits) < limit:  # one that cannot be read makes room for the next
        page, order = order[: limit - len(hits)], order[limit - len(hits) :]
        reader.read([ids[place] for place in page])
        for place in page:
            if ids[place] in reader.messages:
                parts = ranked.ranking.parts(rows[place]) | {name: float(part[place]) for name, part in added.items()}
                relevance = float(ranked.relevances[rows[place]])
                hits.append(Hit(reader.messages[ids[place]], float(scores[place]), parts, relevance))
    return hits


def text_parts(reader: MessageReader, ranked: RankedMessages, weights: Weights) -> dict[str, NDArray[np.float64]]:
    """What the texts of the best messages add to their scores: for their particulars, for the preferences they
    state, and for the standing instructions that are nearest to the query."""
    traits = reader.traits(ranked.passages, ranked.rows)
    details = np.asarray(weights.detail * (traits % PREFERENCE), np.float64).round(6)
    preferences = np.asarray(weights.preference * (traits % STANDING >= PREFERENCE), np.float64)
    standing = np.zeros(len(traits))
    if weights.standing and (ranked.passages.roles == ASSISTANT).any():
        places = np.flatnonzero(traits >= STANDING)
        scores = ranked.ranking.scores[ranked.rows] + details + preferences
        by_score = np.argsort(-scores[places], kind="stable")
        standing[places[by_score[:STANDING_LIFTED]]] = weights.standing
    return {"detail": details, "preference": preferences, "standing": standing}


def with_neighbours(
    source: PassageSource,
    scope: Filter,
    passages: Passages,
    anchors: NDArray[np.intp],
    around: Surroundings,
    groups: list[tuple[str, ...]],
) -> Passages:
    """Passages, and after them those next to the anchors that are not among them: the nearest, and more where messages
    are short."""
    anchor_passages = passages.take(anchors)
    keys = around.unknown_places(adjacent_keys(anchor_passages, 1, REACH))
    all_passages = passages.join(source.passages_at(scope, passages, keys, groups))
    is_short = mean_lengths(anchor_passages, all_passages) < LONG_LINES
    if is_short.all():
        return all_passages
    near_keys = np.concatenate(
        [adjacent_keys(anchor_passages, 1, 1), adjacent_keys(anchor_passages.take(is_short), 2, REACH)]
    )
    is_near = np.isin(place_keys(all_passages.conversations, all_passages.turns), near_keys)
    is_near[: len(passages)] = True
    return all_passages.take(is_near)


def is_allowed(passages: Passages, where: Filter) -> NDArray[np.bool_]:
    """Which passages may be returned: a neighbour that the filter excludes is only used for scoring."""
    allowed = np.ones(len(passages), np.bool_)
    if where.role is not None:
        allowed &= passages.has_role(where.role)
    if where.after is not None:
        allowed &= passages.moments >= where.after.timestamp()
    if where.before is not None:
        allowed &= passages.moments < where.before.timestamp()
    return allowed

"""Retrieval: full text and vectors over the same passages, ranked together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each proposal
is then scored on both, so that a passage is not rejected because only one side proposed it. The best are scored again
with the messages around them, which complete them and may themselves be what was meant; the texts of the best decide
the final order. A message is as good as its best passage. Whatever the size of the memory, only some hundred passages
are scored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from recollect.engine.tables.log import warn_of_damage
from recollect.language.terms import query_groups
from recollect.model import Filter, Hit, Message
from recollect.ports import PassageCandidate, Posting, Tally, Tx, Vectors
from recollect.rules.recall import floor as floor_rules
from recollect.rules.recall import query as query_rules
from recollect.rules.recall.message_specificity import detail
from recollect.rules.recall.neighbours import LONG_LINES, REACH, adjacent_places
from recollect.rules.recall.ranking import Ranked, Weights, fuse, shortlist, word_scores

PER_WORD = 2_000  # passages that a single word may propose, the newest
BY_TEXT = 150  # of all that words propose, those with the rarest words
BY_VECTOR = 80  # passages that vectors propose
ANCHORS = 30  # the best proposals, whose neighbours are read too
PASSAGES = 4  # of each message read, that may rank before the last of these messages
READ = 60  # messages whose text is read, at least
MORE = 10  # messages that are read beyond the limit


def search(
    tx: Tx,
    where: Filter,
    query: str,
    vector: Vectors,
    limit: int,
    now: datetime,
    weights: Weights,
    floor: float | None = None,
    question: Message | None = None,
) -> list[Hit]:
    """The messages that answer a query best, best first; with a floor, only those that are as relevant as that.

    `question` is the message that asks, if it is in the log: nothing is relevant because it is near that message.
    What has expired by now is not there, and takes no place from others.
    """
    query = query_rules.searchable_part(query)
    tally = tx.tally(where.space, where.user)
    groups = query_groups(query, tally.languages)
    expired = frozenset(tx.expired_docs(where.space, now))
    postings = without_expired(tx.postings(where, groups, PER_WORD + len(expired)), expired)
    proposals = shortlist(postings, tally, max(BY_TEXT, limit))
    cosines: dict[int, float] = {}
    if vector.any():
        nearest = tx.nearest(where, vector, max(BY_VECTOR, limit) + len(expired))
        cosines = {doc: cosine for doc, cosine in nearest if doc not in expired}
        cosines |= tx.cosines(where, vector, [doc for doc in proposals if doc not in cosines])
    passages = tx.candidates(where, [*{*proposals, *cosines}], groups)
    frequencies = [posting.frequency for posting in postings]
    reading = query_rules.parse_query(query, groups, tally.languages, now)
    reading = query_rules.add_authors(reading, query, {passage.author for passage in passages}, tally.languages)
    words = word_scores(passages, frequencies, tally)
    if weights.near:
        passages_by_doc = {passage.doc: passage for passage in passages}
        anchor_ranks = fuse(passages, words, cosines, reading, now, weights, ANCHORS)
        anchors = [passages_by_doc[doc] for doc, _, _ in anchor_ranks]
        # A message that the filter excludes may still complete one that it includes.
        scope = replace(where, role=None, after=None, before=None)
        neighbours = neighbouring_passages(tx, scope, anchors, passages, groups, expired)
        passages = [*passages, *neighbours]
        words = np.vstack([words, word_scores(neighbours, frequencies, tally)])
        if vector.any():
            cosines |= tx.cosines(scope, vector, [passage.doc for passage in neighbours])
    # A filter may exclude any of them; without one, a few passages for each message that is read are enough.
    max_passages = PASSAGES * max(READ, limit + MORE) if where.is_unrestricted else None
    rankings = fuse(passages, words, cosines, reading, now, weights, max_passages)
    hits = best_hits(tx, where, passages, rankings, limit, weights)
    hits = hits[:limit] if floor is None else hits
    size = scope_size(tx, where, tally)
    shared_words = floor_rules.shared_rarity(passages, frequencies, reading.emphasis, size)
    deviations = weights.deviations([cosines.get(passage.doc, weights.unrelated) for passage in passages])
    relevances = floor_rules.relevance(shared_words, deviations, size, personal=reading.personal)
    if question is not None:
        relevances *= [not is_from(passage, question) for passage in passages]
    relevance = floor_rules.relevance_by_message(passages, relevances, [hit.message.id for hit in hits])
    hits = [replace(hit, relevance=relevance[hit.message.id]) for hit in hits]
    return [hit for hit in hits if floor is None or hit.relevance >= floor][:limit]


def without_expired(postings: list[Posting], expired: Collection[int]) -> list[Posting]:
    """The postings without passages that have expired. How often a word occurs counts them still."""
    if not expired:
        return postings
    return [replace(posting, docs=tuple(doc for doc in posting.docs if doc not in expired)) for posting in postings]


def is_from(passage: PassageCandidate, question: Message) -> bool:
    """Whether a passage is of a message or of one that came after it."""
    return passage.conversation == question.conversation and passage.turn >= question.turn


def scope_size(tx: Tx, where: Filter, tally: Tally) -> int:
    """How many passages a search can find, about: all of a user or a space, or the messages of one conversation."""
    if where.conversation is None:
        return tally.docs
    conversation = tx.conversation(where.space, where.conversation)
    return min(tally.docs, 0 if conversation is None else conversation.turns)


def best_hits(
    tx: Tx, where: Filter, passages: list[PassageCandidate], rankings: Iterable[Ranked], limit: int, weights: Weights
) -> list[Hit]:
    """The best messages, read and ordered by their text too: at least so many, if there are."""
    passages_by_doc = {passage.doc: passage for passage in passages}
    best: dict[str, tuple[float, dict[str, float]]] = {}
    for doc, score, parts in rankings:
        if len(best) == max(READ, limit + MORE) or score <= 0:
            break
        if is_allowed(passages_by_doc[doc], where):
            best.setdefault(passages_by_doc[doc].message_id, (score, parts))
    hits = []
    for message in tx.find_messages(where.space, ids=best, damaged=warn_of_damage):
        score, parts = best[message.id]
        detail_score = weights.detail * detail(message.content) if message.role == "user" else 0.0
        hits.append(Hit(message, round(score + detail_score, 6), parts | {"detail": detail_score}))
    order = {id: number for number, id in enumerate(best)}
    hits.sort(key=lambda hit: (-hit.score, order[hit.message.id]))
    return hits


def neighbouring_passages(
    tx: Tx,
    scope: Filter,
    anchors: list[PassageCandidate],
    known_passages: Iterable[PassageCandidate],
    groups: list[tuple[str, ...]],
    expired: Collection[int] = (),
) -> list[PassageCandidate]:
    """The passages next to the anchors that are not known yet: the nearest, and more where messages are short."""
    seen_places = {(passage.conversation, passage.turn) for passage in known_passages}
    lengths = {(passage.conversation, passage.turn): passage.length for passage in known_passages}
    neighbours: list[PassageCandidate] = []
    for nearest, farthest in ((1, 1), (2, REACH)):
        new_places = [
            place for place in dict.fromkeys(adjacent_places(anchors, nearest, farthest)) if place not in seen_places
        ]
        seen_places.update(new_places)
        passages = [passage for passage in tx.passages_at(scope, new_places, groups) if passage.doc not in expired]
        lengths |= {(passage.conversation, passage.turn): passage.length for passage in passages}
        neighbours += passages
        anchors = [passage for passage in anchors if mean_length(passage, lengths) < LONG_LINES]
    return neighbours


def mean_length(passage: PassageCandidate, lengths: dict[tuple[str, int], int]) -> float:
    """The mean length of a message and the known ones next to it."""
    places = ((passage.conversation, passage.turn + step) for step in (-1, 0, 1))
    known_lengths = [lengths[place] for place in places if place in lengths]
    return sum(known_lengths) / max(len(known_lengths), 1)


def is_allowed(passage: PassageCandidate, where: Filter) -> bool:
    """Whether a passage may be returned: a neighbour that the filter excludes is only used for scoring."""
    return (
        where.role in (None, passage.role)
        and (where.after is None or passage.time >= where.after)
        and (where.before is None or passage.time < where.before)
    )

"""Finding things: full text and vectors over the same passages, weighed together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each
proposal is then scored on both, so that neither side's silence counts as a no. The best of them are looked at with
the messages around them, which complete them and may be what was meant; the texts of the best decide the rest. A
message is as good as its best passage. Whatever the size of the memory, only some hundred passages are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from recollect.engine.tables.log import warn_of_damage
from recollect.language.terms import query_groups
from recollect.model import Filter, Hit
from recollect.ports import Candidate, Tx, Vectors
from recollect.rules.recall import query as asking
from recollect.rules.recall.neighbours import LONG_LINES, REACH, next_to
from recollect.rules.recall.ranking import Ranked, Weights, fuse, shortlist, word_scores
from recollect.rules.recall.specificity import detail

PER_WORD = 2_000  # passages a single word may propose, the newest
BY_TEXT = 150  # of all they propose, those with the rarest words
BY_VECTOR = 80  # passages vectors propose
ANCHORS = 30  # of all proposed, the best: those whose surroundings are looked at
PASSAGES = 4  # of each of the messages looked at, that may stand before the last of these
READ, MORE = 60, 10  # messages whose text is looked at, at least, and how many more than are wanted


def search(
    tx: Tx, where: Filter, query: str, vector: Vectors, limit: int, now: datetime, weights: Weights
) -> list[Hit]:
    """The messages that answer a query best, best first."""
    query = asking.looked_at(query)
    tally = tx.tally(where.space, where.user)
    groups = query_groups(query, tally.languages)
    postings = tx.postings(where, groups, PER_WORD)
    proposed = shortlist(postings, tally, max(BY_TEXT, limit))
    cosines: dict[int, float] = {}
    if vector.any():
        cosines = dict(tx.nearest(where, vector, max(BY_VECTOR, limit)))
        cosines |= tx.cosines(where, vector, [doc for doc in proposed if doc not in cosines])
    passages = tx.candidates(where, [*{*proposed, *cosines}], groups)
    frequencies = [posting.frequency for posting in postings]
    asked = asking.read(query, groups, tally.languages, now)
    asked = asking.naming(asked, query, {one.author for one in passages}, tally.languages)
    words = word_scores(passages, frequencies, tally)
    if weights.near:
        about = {one.doc: one for one in passages}
        first = fuse(passages, words, cosines, asked, now, weights, ANCHORS)
        anchors = [about[doc] for doc, _, _ in first]
        # What the filter leaves out still completes what it lets in.
        scope = replace(where, role=None, after=None, before=None)
        added = around(tx, scope, anchors, passages, groups)
        passages, words = [*passages, *added], np.vstack([words, word_scores(added, frequencies, tally)])
        if vector.any():
            cosines |= tx.cosines(scope, vector, [one.doc for one in added])
    # A filter may leave out any of them; without one, some passages for each message that is looked at will do.
    most = PASSAGES * max(READ, limit + MORE) if where.whole else None
    ranked = fuse(passages, words, cosines, asked, now, weights, most)
    return chosen(tx, where, passages, ranked, limit, weights)


def chosen(
    tx: Tx, where: Filter, passages: list[Candidate], ranked: Iterable[Ranked], limit: int, weights: Weights
) -> list[Hit]:
    """The best messages with what they say, in the order that this gives them."""
    about = {one.doc: one for one in passages}
    best: dict[str, tuple[float, dict[str, float]]] = {}
    for doc, score, parts in ranked:
        if len(best) == max(READ, limit + MORE) or score <= 0:
            break
        if allowed(about[doc], where):
            best.setdefault(about[doc].message_id, (score, parts))
    hits = []
    for message in tx.find_messages(where.space, ids=best, damaged=warn_of_damage):
        score, parts = best[message.id]
        more = weights.detail * detail(message.content) if message.role == "user" else 0.0
        hits.append(Hit(message, round(score + more, 6), parts | {"detail": more}))
    place = {id: number for number, id in enumerate(best)}
    hits.sort(key=lambda hit: (-hit.score, place[hit.message.id]))
    return hits[:limit]


def around(
    tx: Tx, scope: Filter, anchors: list[Candidate], known: Iterable[Candidate], groups: list[tuple[str, ...]]
) -> list[Candidate]:
    """The passages next to these that are not known yet: the nearest of each, and more where messages are short."""
    seen = {(one.conversation, one.turn) for one in known}
    lengths = {(one.conversation, one.turn): one.length for one in known}
    added: list[Candidate] = []
    for nearest, farthest in ((1, 1), (2, REACH)):
        wanted = [place for place in dict.fromkeys(next_to(anchors, nearest, farthest)) if place not in seen]
        seen.update(wanted)
        found = tx.beside(scope, wanted, groups)
        lengths |= {(one.conversation, one.turn): one.length for one in found}
        added += found
        anchors = [one for one in anchors if mean_length(one, lengths) < LONG_LINES]
    return added


def mean_length(one: Candidate, lengths: dict[tuple[str, int], int]) -> float:
    """Of a message and those next to it, as far as there are any."""
    places = ((one.conversation, one.turn + step) for step in (-1, 0, 1))
    here = [lengths[place] for place in places if place in lengths]
    return sum(here) / max(len(here), 1)


def allowed(one: Candidate, where: Filter) -> bool:
    """Whether a passage may be given: a neighbour is only looked at if the filter leaves it out."""
    return (
        where.role in (None, one.role)
        and (where.after is None or one.time >= where.after)
        and (where.before is None or one.time < where.before)
    )

"""Finding things: full text and vectors over the same passages, weighed together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each
proposal is then scored on both, so that neither side's silence counts as a no. A message is
as good as its best passage.
"""

from __future__ import annotations

from datetime import datetime

from recollect.model import Filter, Hit
from recollect.ports import Tx, Vectors
from recollect.rules.ranking import Weights, bm25, fuse, shortlist
from recollect.rules.text import query_groups

PER_WORD = 2_000  # passages a single word may propose, the newest
BY_TEXT = 300  # of all they propose, those with the rarest words
BY_VECTOR = 100  # passages vectors propose


def search(
    tx: Tx, where: Filter, query: str, vector: Vectors, limit: int, now: datetime, weights: Weights
) -> list[Hit]:
    """The messages that answer a query best, best first."""
    tally = tx.tally(where.space, where.user)
    groups = query_groups(query, tally.languages)
    postings = tx.postings(where, groups, PER_WORD)
    proposed = shortlist(postings, tally, max(BY_TEXT, 2 * limit))
    cosines: dict[int, float] = {}
    if vector.any():
        cosines = dict(tx.nearest(where, vector, max(BY_VECTOR, 2 * limit)))
        cosines |= tx.cosines(where, vector, [doc for doc in proposed if doc not in cosines])
    passages = tx.candidates(where, [*{*proposed, *cosines}], groups)
    text = bm25(passages, [posting.frequency for posting in postings], tally)
    about = {passage.doc: passage for passage in passages}
    times = {doc: passage.time for doc, passage in about.items()}
    best: dict[str, tuple[float, dict[str, float]]] = {}
    for doc, score, parts in fuse(text, {doc: cosines[doc] for doc in about if doc in cosines}, times, now, weights):
        if len(best) == limit or score <= 0:
            break
        best.setdefault(about[doc].message_id, (score, dict(parts)))
    messages = {message.id: message for message in tx.find_messages(where.space, ids=best)}
    return [Hit(messages[id], score, parts) for id, (score, parts) in best.items() if id in messages]

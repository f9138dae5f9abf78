"""Finding things: full text and vectors over the same passages, weighed together by one rule for every store.

Full text proposes passages that share a word with the query, vectors those that are near it in meaning. Each
proposal is then scored on both, so that neither side's silence counts as a no. A message is
as good as its best passage.
"""

from __future__ import annotations

from datetime import datetime

from recollect.model import Filter, Hit
from recollect.ports import Tx, Vectors
from recollect.rules.ranking import Weights, bm25, fuse
from recollect.rules.text import query_groups

PER_TERM = 2_000  # passages a single term may propose, the newest
BY_VECTOR = 200  # passages vectors propose
BY_TEXT = 400  # best passages of full text that are given their cosine


def search(
    tx: Tx, where: Filter, query: str, vector: Vectors, limit: int, now: datetime, weights: Weights
) -> list[Hit]:
    """The messages that answer a query best, best first."""
    tally = tx.tally(where.space, where.user)
    groups = query_groups(query, tally.languages)
    candidates, frequencies = tx.matches(where, groups, PER_TERM) if groups else ([], [])
    text = bm25(candidates, frequencies, tally)
    near = tx.nearest(where, vector, max(BY_VECTOR, 2 * limit)) if vector.any() else []
    cosines = {found.doc: found.cosine for found in near}
    strongest = sorted(text, key=lambda doc: (-text[doc], -doc))[: max(BY_TEXT, 2 * limit)]
    missing = [doc for doc in strongest if doc not in cosines]
    if missing and vector.any():
        cosines |= tx.cosines(where, vector, missing)
    kept = {*strongest, *cosines}
    ids = {c.doc: c.message_id for c in candidates if c.doc in kept} | {found.doc: found.message_id for found in near}
    times = {c.doc: c.time for c in candidates if c.doc in kept} | {found.doc: found.time for found in near}
    ranked = fuse({doc: text[doc] for doc in strongest}, cosines, times, now, weights)
    best: dict[str, tuple[float, dict[str, float]]] = {}
    for doc, score, parts in ranked:
        if len(best) == limit:
            break
        best.setdefault(ids[doc], (score, dict(parts)))
    messages = {message.id: message for message in tx.find_messages(where.space, ids=best)}
    return [Hit(messages[id], score, parts) for id, (score, parts) in best.items() if id in messages]

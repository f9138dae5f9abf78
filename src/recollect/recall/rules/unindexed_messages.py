"""Finds messages by their words alone: for messages that are not in the index, since they are not written yet."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model import Hit, Message
from recollect.recall.rules.query import searchable_part
from recollect.text.terms import analyse, query_groups

LEAST_SHARE = 0.5
"""Of the words of a query that a message must have to be found."""


def match_words(query: str, messages: Sequence[Message], best_score: float = 1.0) -> list[Hit]:
    """The messages that have at least half of the words of a query, best first, then the newest. One that has all of
    them gets the best score."""
    analyses = [analyse(message.content) for message in messages]
    groups = query_groups(searchable_part(query), {analysis.language for analysis in analyses})
    hits: list[Hit] = []
    for message, analysis in zip(messages, analyses, strict=True):
        terms = {*analysis.terms}
        shared_count = sum(not terms.isdisjoint(group) for group in groups)
        share = shared_count / max(len(groups), 1)
        if share >= LEAST_SHARE:
            hits.append(Hit(message, best_score * share, {"words": best_score * share}, share))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.message.turn))

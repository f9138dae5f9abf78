"""Which of the hits of a search are worth their tokens in a context.

The tail of a search is long: in a memory of a thousand short messages everything shares a word with everything. What is
far below the best hit is left out. A message that asks nothing needs less of the memory than a question does.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model import Hit
from recollect.text.sentences import has_question_mark

ASKED = 0.45
"""Of the best score: what a hit needs at least if the message asks something,"""
TOLD = 0.65
"""and if it asks nothing."""


def worthwhile_hits(hits: Sequence[Hit], text: str) -> list[Hit]:
    """The hits that are near enough to the best one, for a message of this text."""
    least_score = worthwhile_share(text) * max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= least_score]


def worthwhile_share(text: str) -> float:
    """The share of the best score that a hit needs at least, for a message of this text."""
    return ASKED if has_question_mark(text) else TOLD

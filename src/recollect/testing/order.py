"""Whether two stores give the same answer: the same messages in the same order, but for those that are equally good.

Two databases add up the same numbers in another order, so scores agree to some digits and not to the last. Where two
messages are as good as each other to that precision, either may come first, or be the last that fits.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model import Hit

TIE = 1e-4  # of a score: what is closer is a tie


def difference(first: Sequence[Hit], second: Sequence[Hit], tie: float = TIE) -> str | None:
    """What is different in two answers to one question, None if nothing is."""
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} messages"
    scores = {hit.message.id: hit.score for hit in first}
    for place, (one, other) in enumerate(zip(first, second, strict=True), 1):
        if abs(one.score - other.score) > tie:
            return f"place {place}: scores {one.score} and {other.score}"
        if abs(scores.get(other.message.id, other.score) - one.score) > tie:
            return f"place {place}: {one.message.id} and {other.message.id}, which is elsewhere in the first answer"
    return None

"""Whether two stores give the same answer: the same messages in the same order, except for ties.

Two databases add the same numbers in a different order, so scores agree to some digits and not to the last. If the
scores of two messages are equal to that precision, either may come first, or be the last one in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from everword.model import Hit

TIE = 1e-4  # scores that differ by less are a tie


def difference(first: Sequence[Hit], second: Sequence[Hit], tie: float = TIE) -> str | None:
    """The first difference between two answers to one question; None if there is none."""
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} messages"
    scores = {hit.message.id: hit.score for hit in first}
    for place, (first_hit, second_hit) in enumerate(zip(first, second, strict=True), 1):
        if abs(first_hit.score - second_hit.score) > tie:
            return f"place {place}: scores {first_hit.score} and {second_hit.score}"
        if abs(scores.get(second_hit.message.id, second_hit.score) - first_hit.score) > tie:
            ids = f"{first_hit.message.id} and {second_hit.message.id}"
            return f"place {place}: {ids}, which is elsewhere in the first answer"
    return None

"""Which messages fit a budget: newest first, whole, and never a token over.

A chat model spends a few tokens on each message besides its text, and a few on the reply. They are counted too, by the
figures that OpenAI documents; other models spend no more.
"""

from __future__ import annotations

from collections.abc import Sequence

PER_MESSAGE = 4  # tokens around each message: its role and the marks before and after
PER_REPLY = 3  # tokens that open the reply


def count_fitting(costs: Sequence[int], limit: int) -> int:
    """How many of the last messages fit together."""
    total = 0
    for count, cost in enumerate(reversed(costs)):
        total += cost
        if total > limit:
            return count
    return len(costs)

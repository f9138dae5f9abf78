"""Which messages fit: newest first, whole, and never a token over.

A chat model spends a few tokens on each message beside its text, and a few on the reply it is asked for. They
are counted too, by the figures OpenAI documents; other models spend no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.errors import InvalidInput
from recollect.model import Budget

PER_MESSAGE = 4  # tokens around each message: its role and the marks before and after
PER_REPLY = 3  # tokens that open the reply


def fitting(costs: Sequence[int], allowed: int) -> int:
    """How many of the last messages fit together."""
    total = 0
    for count, cost in enumerate(reversed(costs)):
        total += cost
        if total > allowed:
            return count
    return len(costs)


def room(budget: Budget, system: int, current: int) -> int:
    """Tokens left for recent messages beside the system prompt and the current message."""
    if budget.total < 1:
        raise InvalidInput("budget", f"has {budget.total} tokens; it must have at least one")
    if system > budget.system + PER_MESSAGE:
        raise InvalidInput("system", f"has {system - PER_MESSAGE} tokens; the budget allows {budget.system}")
    left = budget.total - PER_REPLY - system - current
    if left < 0:
        raise InvalidInput(
            "text",
            f"has {current} tokens and the system prompt {system}; the budget of {budget.total} has no room for them",
        )
    return left if budget.recent is None else min(left, budget.recent)

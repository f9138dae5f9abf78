"""Layout: which of a client's messages are sent to the model as they are, and which the memory stands for.

The exchange under way, from the user's last message on, is always sent; before it whole exchanges, newest first, as
far as they fit, so that no tool's result is ever parted from its call. Instructions among what is left out are not:
they go to the front. What else is left out is in the log, and the memory shows of it what matters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.model import Budget
from recollect.rules.openai.messages import INSTRUCTIONS, size, spoken, words
from recollect.rules.prompt.fitting import PER_MESSAGE

MEMORY = 3  # of a budget, one part in so many is left to the memory
WHOLE = 30_000  # tokens: the budget that the shares of the sections are made for
SCHEMAS = ("tools", "functions", "response_format")


@dataclass(frozen=True, slots=True)
class Layout:
    """`tail` is sent as it is, `system` and in which `role` before it; `text` is what is asked. `beside` is the tokens
    of the tail and of what else the request holds, without the text; `spoken` how many of the tail are in the log."""

    text: str
    system: str | None
    role: str
    tail: tuple[Mapping[str, Any], ...]
    spoken: int
    beside: int


def laid_out(body: Mapping[str, Any], budget: Budget, count: Callable[[str], int], *, all_of_it: bool) -> Layout:
    """Lay out a request. With `all_of_it`, as many messages as the budget allows, since the memory has them not."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    most = budget.total - budget.total // MEMORY if all_of_it or budget.recent is None else budget.recent
    start = cut(messages, count, most)
    orders = [one for one in messages[:start] if one["role"] in INSTRUCTIONS]
    tail = tuple(messages[start:])
    text = next((words(one) for one in reversed(messages) if one["role"] == "user"), "")
    texts = [said for one in orders if (said := words(one)).strip()]
    beside = sum(cost(one, count) for one in tail)
    beside += sum(count(json.dumps(body[name])) for name in SCHEMAS if body.get(name))
    return Layout(
        text=text,
        system="\n\n".join(texts) or None,
        role=str(orders[0]["role"]) if orders else "system",
        tail=tail,
        spoken=sum(one["role"] not in INSTRUCTIONS and not spoken(one).silent for one in tail),
        beside=max(beside - count(text) - PER_MESSAGE, 0),
    )


def cut(messages: Sequence[Mapping[str, Any]], count: Callable[[str], int], most: int) -> int:
    """Where the tail begins. What is older than what fits is not counted: a history may be of thousands of messages."""
    first = next((place for place, one in enumerate(messages) if one["role"] not in INSTRUCTIONS), len(messages))
    start, total = None, 0
    for place in range(len(messages) - 1, first - 1, -1):
        total += cost(messages[place], count)
        if total > most and start is not None:
            return start
        if messages[place]["role"] == "user":
            start = place
            if total > most:
                return start
    return first


def cost(message: Mapping[str, Any], count: Callable[[str], int]) -> int:
    return size(message, count) + PER_MESSAGE


def sized(total: int | None) -> Budget:
    """A budget of so many tokens, with the usual shares; the usual one if nothing is said."""
    if total is None:
        return Budget()
    usual, share = Budget(), total / WHOLE
    parts = {name: int(getattr(usual, name) * share) for name in ("profile", "summaries", "retrieved", "recent")}
    return Budget(total=total, system=usual.system, **parts)

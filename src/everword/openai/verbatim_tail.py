"""Layout: which of a client's messages are sent to the model as they are, and which the memory replaces.

The current exchange, from the user's last message on, is always sent. Before it whole exchanges are sent, newest first,
so that a tool's result is never separated from its call: as many as a reply of the memory's own would show whole, and
as far as they fit. Older instructions go to the front. Other older messages are left out: they are in the log, and the
memory shows the relevant ones word for word.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everword.context.build import PER_MESSAGE
from everword.model import Budget
from everword.openai.messages import INSTRUCTIONS, count_tokens, parse_message, text_of

MEMORY = 3  # one part in so many of a budget is for the memory
WHOLE = 30_000  # tokens: the budget for which the shares of the sections are set
SCHEMAS = ("tools", "functions", "response_format")


@dataclass(frozen=True, slots=True)
class Layout:
    """`tail` is sent as it is, with `system` before it in the role `role`; `text` is the user's last message. `beside`
    is the tokens of the tail and of the other fields of the request, without the text; `spoken` is the number of
    messages of the tail that are in the log."""

    text: str
    system: str | None
    role: str
    tail: tuple[Mapping[str, Any], ...]
    spoken: int
    beside: int


def lay_out(
    body: Mapping[str, Any], budget: Budget, count: Callable[[str], int], *, all_of_it: bool, whole: bool = False
) -> Layout:
    """Lay out a request. With `all_of_it`, as many messages as the budget allows: the memory does not have them. With
    `whole`, as many as the recent section allows, and not only the last exchanges."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    limit = budget.total - budget.total // MEMORY if all_of_it or budget.recent is None else budget.recent
    exchanges = None if all_of_it or whole else budget.pairs
    start = tail_start(messages, count, limit, exchanges)
    orders = [message for message in messages[:start] if message["role"] in INSTRUCTIONS]
    tail = tuple(messages[start:])
    text = next((text_of(message) for message in reversed(messages) if message["role"] == "user"), "")
    texts = [instruction for message in orders if (instruction := text_of(message)).strip()]
    beside = sum(cost(message, count) for message in tail)
    beside += sum(count(json.dumps(body[name])) for name in SCHEMAS if body.get(name))
    return Layout(
        text=text,
        system="\n\n".join(texts) or None,
        role=str(orders[0]["role"]) if orders else "system",
        tail=tail,
        spoken=sum(message["role"] not in INSTRUCTIONS and not parse_message(message).silent for message in tail),
        beside=max(beside - count(text) - PER_MESSAGE, 0),
    )


def tail_start(
    messages: Sequence[Mapping[str, Any]], count: Callable[[str], int], limit: int, exchanges: int | None = None
) -> int:
    """Where the tail begins: with so many exchanges before the current one, if they fit. Messages older than those that
    fit are not counted: a history may have thousands."""
    first = next(
        (place for place, message in enumerate(messages) if message["role"] not in INSTRUCTIONS), len(messages)
    )
    start = None
    total = 0
    user_messages = 0
    for place in range(len(messages) - 1, first - 1, -1):
        total += cost(messages[place], count)
        if total > limit and start is not None:
            return start
        if messages[place]["role"] == "user":
            start = place
            user_messages += 1
            if total > limit or (exchanges is not None and user_messages > exchanges):
                return start
    return first


def is_whole(body: Mapping[str, Any], layout: Layout) -> bool:
    """Whether the tail has all messages but the instructions before them."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    left_out = messages[: len(messages) - len(layout.tail)]
    return all(message["role"] in INSTRUCTIONS for message in left_out)


def cost(message: Mapping[str, Any], count: Callable[[str], int]) -> int:
    return count_tokens(message, count) + PER_MESSAGE


def budget_of(total: int | None) -> Budget:
    """A budget of `total` tokens, with the default shares; the default budget if `total` is None."""
    if total is None:
        return Budget()
    usual = Budget()
    share = total / WHOLE
    parts = {name: int(getattr(usual, name) * share) for name in ("profile", "summaries", "retrieved", "recent")}
    return Budget(total=total, system=usual.system, **parts)

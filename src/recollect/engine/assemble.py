"""Builds a context: the system prompt, the recent messages that fit, and the message to be answered.

Every token is counted by the model's tokenizer and every decision is on the receipt.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.model import Budget, ChatMessage, Context, Item, Message, Receipt, Section
from recollect.ports import Tokenizer
from recollect.rules.budgets import PER_MESSAGE, PER_REPLY, fitting, room

LOOK_BACK = 400  # messages considered for the recent section


def assemble(text: str, recent: Sequence[Message], system: str | None, budget: Budget, tokenizer: Tokenizer) -> Context:
    """A context for answering `text` after these messages."""

    def cost(content: str) -> int:
        return tokenizer.count(content) + PER_MESSAGE

    system_cost, current = cost(system) if system else 0, cost(text)
    allowed = room(budget, system_cost, current)
    # A tool's message means nothing to a model without the call it answers.
    spoken = [message for message in recent if message.content.strip() and message.role != "tool"]
    costs = [cost(message.content) for message in spoken]
    kept = fitting(costs, allowed)
    split = len(spoken) - kept
    items = [Item(message.id, tokens, "recent") for message, tokens in zip(spoken, costs, strict=True)]
    left = tuple(Item(item.id, item.tokens, "does not fit the budget") for item in items[:split])
    sections = [
        Section("recent", sum(costs[split:]), tuple(items[split:]), left),
        Section("current", current),
    ]
    messages: list[ChatMessage] = [{"role": message.role, "content": message.content} for message in spoken[split:]]
    if system:
        sections.insert(0, Section("system", system_cost))
        messages.insert(0, {"role": "system", "content": system})
    messages.append({"role": "user", "content": text})
    total = PER_REPLY + sum(section.tokens for section in sections)
    return Context(messages, Receipt(tokenizer.name, budget, total, tuple(sections)))

"""What a context is asked for. A follow-up question is searched for with what the last messages before it are about, so
what to search for may be open until these are read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.follow.task import TaskMessage
from recollect.model import Budget, Hit, Message
from recollect.ports import Vectors
from recollect.recall import standalone
from recollect.recall.rules.advice_and_account_requests import text_to_compare
from recollect.summaries.digest_texts import MergedDigest

EXCHANGE = 4  # messages that tell what a follow-up question is about
AFTER_REPLY = 0.05  # seconds: whoever has waited for the reply goes on first


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is built for: the message, what to search for with it and its vector, and what it may hold. `held`
    are the messages of the space that are not written yet. `embed` is set while what to search for is open."""

    text: str
    query: str
    vector: Vectors | None
    now: datetime
    budget: Budget
    system: str | None
    markers: bool
    question: Message | None
    speaker: tuple[str, MergedDigest] | None
    hits: Sequence[Hit]
    shown_ids: frozenset[str]
    held: Sequence[Message] = ()
    embed: Callable[[Sequence[str]], Vectors] | None = None

    def after_exchange(self, messages: Sequence[Message]) -> ContextRequest:
        """The request with what to search for, from the last messages before the question."""
        if self.embed is None:
            return self
        query = standalone.offline(standalone.Inputs(self.query, task_messages(messages[-EXCHANGE:]))).question
        vector = self.embed([text_to_compare(query, self.now)])[0]
        return replace(self, query=query, vector=vector, embed=None)


def task_messages(messages: Sequence[Message]) -> tuple[TaskMessage, ...]:
    return tuple(TaskMessage(message.role, message.content) for message in messages)


def expect_follow_up(question: Message, reply: Message) -> None:
    """Have a short exchange read when the caller has the reply: the next question may depend on it."""
    exchange = task_messages([question, reply])
    if sum(len(message.text) for message in exchange) <= standalone.SHORT_EXCHANGE:
        asyncio.get_running_loop().call_later(AFTER_REPLY, standalone.exchange_terms, exchange)

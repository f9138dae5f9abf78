"""When messages leave the window, and which: one rule with three triggers, the first to fire wins, each can be off.

Only whole exchanges leave, oldest first: a question leaves with its answer. The last exchange never leaves, nor do the
messages that each trigger keeps. Messages that leave are archived, not deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everword.model import Role

REQUESTED = "asked for"  # the trigger of a departure that somebody asked for
LONGEST_QUESTION = 20  # messages without an answer after which each stands for itself, as in a busy channel


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How much the window holds. A trigger of 0 is off."""

    tokens: int = 30_000
    under: int = 5_000
    keep: int = 5
    turns: int = 20
    keep_turns: int = 10
    user_messages: int = 0
    keep_pairs: int = 4


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message in the window: its turn, who spoke, and its tokens as rendered."""

    turn: int
    role: Role
    tokens: int


@dataclass(frozen=True, slots=True)
class Departure:
    """The messages at the start of the window, from turn `first` to `last`, that are to leave, and the trigger."""

    first: int
    last: int
    trigger: str


def find_departure(window: Sequence[WindowMessage], rule: WindowRule) -> Departure | None:
    """The messages that must leave now that the window's last message is stored."""
    if not window:
        return None
    for trigger, count in (
        ("tokens", by_tokens(window, rule)),
        ("turns", by_turns(window, rule)),
        ("user messages", by_user_messages(window, rule)),
    ):
        if count:
            return Departure(window[0].turn, window[count - 1].turn, trigger)
    return None


def may_depart(message_count: int, most_tokens: int, rule: WindowRule) -> bool:
    """Whether messages may have to leave a window of so many messages and at most so many tokens."""
    is_long = 0 < rule.turns <= message_count
    return is_long or 0 < rule.tokens < most_tokens or bool(rule.user_messages)


def find_requested_departure(window: Sequence[WindowMessage]) -> Departure | None:
    """The messages that leave because somebody asks for it: all but the last exchange, or, where nobody answers, all
    but the last message."""
    answered = any(message.role != "user" for message in window)
    count = max(exchange_ends(window), default=0) if answered else len(window) - 1
    return Departure(window[0].turn, window[count - 1].turn, REQUESTED) if count > 0 else None


def by_tokens(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    total = sum(message.tokens for message in window)
    if not rule.tokens or total <= rule.tokens:
        return 0
    count = 0
    for end in exchange_ends(window):
        if total <= rule.tokens - rule.under or len(window) - end < rule.keep:
            break
        total -= sum(message.tokens for message in window[count:end])
        count = end
    return count


def by_turns(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    if not rule.turns or len(window) < rule.turns:
        return 0
    return max((end for end in exchange_ends(window) if len(window) - end >= rule.keep_turns), default=0)


def by_user_messages(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    if not rule.user_messages or window[-1].role != "assistant":
        return 0
    if sum(message.role == "user" for message in window) < rule.user_messages:
        return 0
    return max((end for end in exchange_ends(window) if len(window) - end >= 2 * rule.keep_pairs), default=0)


def exchange_ends(window: Sequence[WindowMessage]) -> Iterator[int]:
    """The numbers of messages that may leave without splitting an exchange; the last exchange always stays."""
    waiting = 0
    for place, message in enumerate(window):
        before = window[place - 1].role if place else None
        if place and message.role == "user" and (before != "user" or waiting >= LONGEST_QUESTION):
            yield place
        waiting = waiting + 1 if message.role == "user" else 0

"""How much of a prompt a model's server has already computed: what it begins with and the prompt before began with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from everword.model import ChatMessage

ROLE_MARK = "\x1e"  # stands for what a chat template puts around a message


def as_sent(messages: Sequence[ChatMessage]) -> str:
    """A prompt in one text, as a server's template would lay it out."""
    return "".join(f"{ROLE_MARK}{message['role']}\n{message['content']}" for message in messages)


def repeated_shares(prompts: Sequence[str], count: Callable[[str], int]) -> list[float]:
    """For each prompt but the first, the share of its tokens with which the one before begins, too."""
    return [count(common_beginning(before, now)) / max(count(now), 1) for before, now in pairwise(prompts)]


def common_beginning(before: str, now: str) -> str:
    length = next((place for place, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), None)
    return now[: min(len(before), len(now)) if length is None else length]

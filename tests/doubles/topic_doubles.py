"""For the tests of topics: an embedder that knows what a text is about, since the text says so, and such texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from everword import Memory
from everword.memory.blocking import BlockingConversation
from everword.ports import Vectors
from everword.testing import FrozenClock

WIDTH = 64
MINUTE = timedelta(minutes=1)


class AxisEmbedder:
    """`#3` is about thing 3 and nothing else; a text without a number is about nothing."""

    identity, width = "axes", WIDTH

    async def ready(self) -> None: ...

    async def close(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for number in re.findall(r"#(\d+)", text):
                row[int(number)] = 1
            row /= max(float(np.linalg.norm(row)), 1.0)
        return rows


def about(thing: int, number: int = 0) -> str:
    """A text about something, which says so: whether the subject shifts is for other tests."""
    return f"Different topic: #{thing} the grelb{thing} has a vonk{thing}, a sarl{thing} and {number} tumps{thing}."


def opened(url: str, clock: FrozenClock | None = None, *, followers: bool = False, **settings: Any) -> Memory:
    """A memory in which nobody follows unless asked: a message is given its topic as it is said, by who keeps it."""
    return Memory(url, embedder=AxisEmbedder(), clock=clock or FrozenClock(), followers=followers, **settings)


def talk(chat: BlockingConversation, *things: int, clock: FrozenClock | None = None) -> list[str]:
    """A user's message about each thing; the topics they went to."""
    found = []
    for number, thing in enumerate(things):
        if clock is not None:
            clock.advance(MINUTE)
        found.append(chat.add_user_message(about(thing, number)).id)
    return found

"""A follow-up question is searched for with what was said before it, whichever way its vector is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from everword import Memory
from everword.models.embedding.local import StaticEmbedder
from everword.ports import Vectors
from everword.testing import FrozenClock

TEXTS = (
    ("user", "My sister Johanna keeps two goats in Utrecht."),
    ("assistant", "Goats are good company."),
    *(("user" if n % 2 else "assistant", f"The weather of day {n} was grey and wet again.") for n in range(1, 141)),
    ("user", "How many goats does Johanna keep?"),
    ("assistant", "I would have to look that up."),
)
QUESTION = "And where does she keep them?"


class WaitingEmbedder(StaticEmbedder):
    """The same vectors from an embedder that has to be waited for."""

    embed_now: Any = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await StaticEmbedder().embed(texts)


def shown(url: Path, embedder: StaticEmbedder, deleted: Sequence[int]) -> str:
    """What a context for the question shows, after some turns were deleted."""
    with Memory(str(url), embedder=embedder, clock=FrozenClock()) as memory:
        chat = memory.conversation("chat", user="ann")
        chat.extend([{"role": role, "content": text} for role, text in TEXTS])
        memory.settle()
        for turn in deleted:
            chat.delete(turn)
        return "\n".join(message["content"] for message in chat.context(QUESTION).messages)


@pytest.mark.parametrize("deleted", [(), range(len(TEXTS), 120, -1)], ids=["all", "last ones deleted"])
def test_a_follow_up_is_searched_for_with_the_last_messages(tmp_path: Path, deleted: Sequence[int]) -> None:
    text = shown(tmp_path / "now.db", StaticEmbedder(), deleted)
    waited = shown(tmp_path / "later.db", WaitingEmbedder(), deleted)
    assert text == waited
    assert deleted or "two goats in Utrecht" in text

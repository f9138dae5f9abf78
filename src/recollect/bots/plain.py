"""Replies while memory is off: the model is shown the last messages, which only this process holds."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from recollect.bots.events import Place
from recollect.model import ChatMessage
from recollect.ports import LLM, Request

HELD = 12  # messages of a place
MOST_PLACES = 1_000  # whose messages are held


class PlainReplies:
    """Replies of a model without a memory."""

    def __init__(self, model: LLM) -> None:
        self._model = model
        self._held: dict[Place, deque[ChatMessage]] = {}

    async def stream(self, place: Place, text: str, system: str) -> AsyncIterator[str]:
        held = self._held.pop(place, None) or deque(maxlen=HELD)
        self._held[place] = held  # as the one used last
        while len(self._held) > MOST_PLACES:
            del self._held[next(iter(self._held))]
        held.append({"role": "user", "content": text})
        reply = ""
        async for piece in self._model.stream(Request([{"role": "system", "content": system}, *held])):
            if isinstance(piece, str):
                reply += piece
                yield piece
        held.append({"role": "assistant", "content": reply})

    def clear(self, place: Place) -> None:
        """Let go of what was said in a chat while memory was off."""
        for held_place in [held_place for held_place in self._held if held_place.key == place.key]:
            del self._held[held_place]

    async def close(self) -> None:
        await self._model.close()

"""What stands in for the world in a test: a clock that it moves, and a chat model with scripted replies.

The replies of the model are used in order, and it records its requests. A request after the last reply fails the test
with a clear message, instead of raising a `ModelError` that a program under test would treat as an outage and work
around.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from everword.ports import Completion, Request

Piece: TypeAlias = str | Exception | asyncio.Event
Said: TypeAlias = str | Exception | Completion | Sequence[Piece]
Reply: TypeAlias = Said | Callable[[Request], Said]


class FrozenClock:
    """Time for tests: begins at `start` and moves only by `advance`."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now += by


class ScriptedLLM:
    """An `everword.ports.LLM` for tests, in whatever role.

    A reply is a text; an exception, which is raised; a `Completion`, given as it is; a list of pieces; or a function
    of the request that returns one of these. In a list of pieces a text is one piece of the stream, an exception is
    raised after the pieces before it, and an `asyncio.Event` is waited for: `waiting` is set as soon as the model
    waits there. A text is streamed in pieces of `chunk` characters, or cut at the places in `chunk`; otherwise whole.
    Tokens are words.
    """

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        default: Reply | None = None,
        chunk: int | Sequence[int] | None = None,
        name: str = "scripted",
    ) -> None:
        self._replies = list(replies)
        self._default = default
        self._chunk = chunk
        self._name = name
        self.requests: list[Request] = []
        self.waiting = asyncio.Event()
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def left(self) -> int:
        """How many replies have not been asked for."""
        return max(len(self._replies) - len(self.requests), 0)

    async def complete(self, request: Request) -> Completion:
        *_, answer = [piece async for piece in self.stream(request)]
        assert isinstance(answer, Completion)
        return answer

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        reply = self._next_reply(request)
        text = ""
        for piece in self._pieces(reply):
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, asyncio.Event):
                self.waiting.set()
                await piece.wait()
            elif piece:
                text += piece
                yield piece
        request_tokens = sum(count_words(message["content"]) for message in request.messages)
        yield (
            reply if isinstance(reply, Completion) else Completion(text, self._name, request_tokens, count_words(text))
        )

    async def close(self) -> None:
        self.closed = True

    def _next_reply(self, request: Request) -> Said:
        place = len(self.requests)
        self.requests.append(request)
        reply = self._replies[place] if place < len(self._replies) else self._default
        if reply is None:
            last = request.messages[-1]["content"] if request.messages else ""
            raise AssertionError(
                f"{self._name} has only {len(self._replies)} replies, but was asked again: {last[:200]!r}. "
                "Give it more replies, or a default."
            )
        return reply(request) if callable(reply) else reply

    def _pieces(self, reply: Said) -> Sequence[Piece]:
        if isinstance(reply, Exception):
            return [reply]
        if isinstance(reply, Completion):
            return self._cut(reply.text)
        return self._cut(reply) if isinstance(reply, str) else reply

    def _cut(self, text: str) -> list[str]:
        if self._chunk is None:
            return [text]
        places = range(self._chunk, len(text), self._chunk) if isinstance(self._chunk, int) else sorted(self._chunk)
        ends = [*places, len(text)]
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def count_words(text: str) -> int:
    """A count of tokens that a reader can check."""
    return len(text.split())

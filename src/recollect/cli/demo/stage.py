"""What the demo stands on: a memory with a stopped clock and a scripted model, and how a step is shown.

Everybody sees the same: there are no settings, the time is that of the conversation's end, and the model says what is
written here. All else is the real engine, and no claim is printed before it has been checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from recollect.cli.terminal.show import indented
from recollect.config import Settings
from recollect.engine.memory import MemoryEngine
from recollect.engine.sync import BlockingMemory
from recollect.errors import RecollectError
from recollect.ports import Completion, Request
from recollect.wiring import build, open_tokenizer

if TYPE_CHECKING:
    from rich.console import Console

NOW = datetime(2025, 4, 6, 10, 30, tzinfo=UTC)  # the conversation has just ended
LEVEL = 2  # summaries of one level, so that a short chat has a tree; 5 unless set


class StoppedClock:
    """It is always a few minutes after the conversation."""

    def now(self) -> datetime:
        return NOW


class ScriptedModel:
    """A chat model that needs no key: it says its lines in order. What it was sent is in `requests`."""

    name = "scripted"

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._count = open_tokenizer(Settings()).count
        self.requests: list[Request] = []

    @property
    def sent(self) -> str:
        """What memory gave it with the last question."""
        return self.requests[-1].messages[0]["content"]

    async def complete(self, request: Request) -> Completion:
        expect(len(self.requests) < len(self._lines), "the model was asked more often than it has lines")
        line = self._lines[len(self.requests)]
        self.requests.append(request)
        return Completion(line, self.name, sum(self._count(m["content"]) for m in request.messages), self._count(line))

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        whole = await self.complete(request)
        yield whole.text
        yield whole

    async def close(self) -> None:
        """There is nothing to close."""


def engine(url: str, model: ScriptedModel | None = None) -> MemoryEngine:
    return MemoryEngine(lambda: build(Settings(store=url, level_episodes=LEVEL), clock=StoppedClock(), chat=model))


@contextmanager
def memory(path: Path, model: ScriptedModel | None = None) -> Iterator[BlockingMemory]:
    with BlockingMemory(lambda: engine(str(path), model)) as opened:
        yield opened


def expect(true: bool, otherwise: str) -> None:
    """What the demo is about to claim is true, or it ends here."""
    if not true:
        raise RecollectError(f"the demo went wrong: {otherwise}")


def step(out: Console, title: str, about: str) -> None:
    out.print()
    out.print(Text(title, style="bold cyan"))
    out.print(Text(about, style="dim"))


def line(out: Console, label: str, text: str, width: int = 14) -> None:
    """A label and what belongs to it, aligned with the others however long it is."""
    first, *others = Text(text).wrap(out, max(out.width - width, 20))
    first.rstrip()
    out.print(Text(f"{label:<{width}}", style="green") + first)
    for other in others:
        indented(out, other, width)

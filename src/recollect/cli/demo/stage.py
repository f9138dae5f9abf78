"""What the steps of the demo share: a memory with a stopped clock and a scripted model, and how a step is printed.

The output is always the same: settings are ignored, the clock stands at the end of the conversation, and the model
replies from a script. All else is the real engine, and every claim is checked before it is printed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from recollect.cli.terminal.show import print_indented
from recollect.config import Settings
from recollect.errors import RecollectError
from recollect.memory.memory import MemoryEngine
from recollect.memory.sync import BlockingMemory
from recollect.ports import Completion, Request
from recollect.wiring import build, open_tokenizer

if TYPE_CHECKING:
    from rich.console import Console

NOW = datetime(2025, 4, 6, 10, 30, tzinfo=UTC)  # the conversation has just ended
LEVEL = 2  # summaries of one level, so that a short chat has a tree; 5 unless set


class StoppedClock:
    """A clock that always stands a few minutes after the conversation."""

    def now(self) -> datetime:
        return NOW


class ScriptedModel:
    """A chat model that needs no key: it replies with its lines in order. `requests` holds what it was sent."""

    name = "scripted"

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._count = open_tokenizer(Settings()).count
        self.requests: list[Request] = []

    @property
    def last_prompt(self) -> str:
        """The first message of the last request: what the memory sent."""
        return self.requests[-1].messages[0]["content"]

    async def complete(self, request: Request) -> Completion:
        expect(len(self.requests) < len(self._lines), "the model was asked more often than it has lines")
        line = self._lines[len(self.requests)]
        self.requests.append(request)
        tokens_in = sum(self._count(message["content"]) for message in request.messages)
        return Completion(line, self.name, tokens_in, self._count(line))

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        completion = await self.complete(request)
        yield completion.text
        yield completion

    async def close(self) -> None:
        """There is nothing to close."""


def build_engine(url: str, model: ScriptedModel | None = None) -> MemoryEngine:
    return MemoryEngine(lambda: build(Settings(store=url, level_episodes=LEVEL), clock=StoppedClock(), chat=model))


@contextmanager
def open_memory(path: Path, model: ScriptedModel | None = None) -> Iterator[BlockingMemory]:
    with BlockingMemory(build_engine(str(path), model)) as blocking_memory:
        yield blocking_memory


def expect(condition: bool, problem: str) -> None:
    """End the demo with an error unless a claim is true."""
    if not condition:
        raise RecollectError(f"the demo went wrong: {problem}")


def print_step(out: Console, title: str, about: str) -> None:
    out.print()
    out.print(Text(title, style="bold cyan"))
    out.print(Text(about, style="dim"))


def print_line(out: Console, label: str, text: str, width: int = 14) -> None:
    """Print a label and its text, wrapped and aligned with the other lines."""
    first, *following = Text(text).wrap(out, max(out.width - width, 20))
    first.rstrip()
    out.print(Text(f"{label:<{width}}", style="green") + first)
    for wrapped_line in following:
        print_indented(out, wrapped_line, width)

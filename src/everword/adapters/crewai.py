"""Memory for crews and agents of CrewAI, in the place of its own `Memory`.

CrewAI asks it before each task, and gives the agents its tools to search and save. What a task was given and what came
of it are kept as two messages; no model and no embedder of CrewAI's is asked for that.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from uuid import uuid4

from everword.adapters.blocking_or_async import (
    AnyMemory,
    Thread,
    TurnMemory,
    attempt,
    blocking_tool,
    check_local,
    run_blocking,
)
from everword.errors import EverwordError, MissingExtra
from everword.model import Draft

try:
    from crewai.memory.types import MemoryMatch, MemoryRecord
    from crewai.memory.unified_memory import Memory
    from pydantic import PrivateAttr
except ImportError:
    raise MissingExtra("crewai", "the memory for CrewAI") from None

TURN = re.compile(r"(?:Task|Input): (.*?)\nAgent: .*?\n(?:Expected result: .*?\n)?Result: (.*)", re.DOTALL)
ANSWER = "Final Answer:"  # which CrewAI asks a model without tools to write before what it says, after its thoughts


class EverwordCrewMemory(Memory):
    """A memory for a crew, `Crew(…, memory=EverwordCrewMemory(memory, user="alex"))`, or for an agent.

    It needs a `Memory`, since CrewAI asks its memory without awaiting. Without a `conversation`, what each one keeps is
    a conversation of its own.
    """

    _turns: TurnMemory = PrivateAttr()
    _thread: Thread = PrivateAttr()

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user: str,
        conversation: str | None = None,
        space: str | None = None,
        budget: int | None = None,
    ) -> None:
        super().__init__(storage=None)  # what CrewAI would keep is kept in the log
        check_local(memory)
        self._turns = TurnMemory(memory, user, None, space, budget)
        self._thread = Thread(conversation or f"crew-{uuid4().hex}", user, space)

    def recall(self, query: str, *_: Any, **__: Any) -> list[MemoryMatch]:
        texts = self._turns.recall(query)
        return [MemoryMatch(record=MemoryRecord(content=text), score=1.0) for text in texts]

    def extract_memories(self, content: str) -> list[str]:
        """All of it: the memory reads it itself."""
        return [content]

    def remember(self, content: str, *_: Any, **__: Any) -> MemoryRecord:
        """Remember a statement for good, as the tool of CrewAI's agents does."""
        blocking_tool(self._turns.memory, self._turns.remember)(content)
        return MemoryRecord(content=content)

    def remember_many(self, contents: list[str], *_: Any, **__: Any) -> list[MemoryRecord]:
        """Keep what tasks were given and what came of them; remember other statements for good."""
        for content in contents:
            if match := TURN.fullmatch(content):
                reply = match[2].rpartition(ANSWER)[2].strip()
                drafts = [Draft("user", match[1]), Draft("assistant", reply)]
                attempt(partial(run_blocking, self._turns.memory, partial(self._thread.add, drafts)))
            else:
                self.remember(content)
        return []

    def forget(self, *_: Any, **__: Any) -> int:
        raise EverwordError(
            "CrewAI cannot remove anything from this memory: call `memory.forget` or `memory.erase` yourself"
        )

    def reset(self, scope: str | None = None) -> None:
        self.forget()

    def close(self) -> None:
        """Let go of CrewAI's own threads. The memory stays open: whoever opened it closes it."""
        self._save_pool.shutdown(wait=True)

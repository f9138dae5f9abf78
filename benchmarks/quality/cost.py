"""What all memory work costs: the calls and tokens of the memory model, for each hundred messages and against the chat.

A recorded conversation is replayed through the real engine. Live, message by message at the times they were written,
with the followers working as they do in the background of a program; and as an import, all at once. Whatever the memory
model is asked is answered by a stand-in (`work_tokens.OfflineModel`) and counted by task. Two people who talk are two
people here: no assistant replies, so nothing comes with a reply.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from everword.config import Settings
from everword.facts.english.finder import states_something
from everword.facts.prompts import FactInLine, reading
from everword.memory.memory import MemoryEngine
from everword.model import Draft, FoundFact
from everword.testing.doubles import FrozenClock
from everword.token_bench import follow
from everword.wiring import build, open_tokenizer
from quality.datasets import Haystack, Turn
from quality.recall import PATIENCE
from quality.work_tokens import OfflineModel

BETWEEN = timedelta(seconds=20)
"""From one message to the next of a session, at least: the sets date sessions, not turns."""
PAUSE = timedelta(hours=1)
"""After the last message: what waited for a pause is done then."""

FACTS_A_LINE = 0.3
"""Facts that the stand-in finds in a line, on average."""
VALUE_WORDS = 8

MOST_CALLS = 12.0
"""The bar: calls for a hundred messages."""
MOST_TOKENS = 5.0
"""The bar: tokens as a multiple of those of the chat."""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Calls of one task, and the tokens read and written in them."""

    calls: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What the memory work of a conversation cost, by task."""

    conversation: str
    way: str
    messages: int
    chat_tokens: int
    tasks: Mapping[str, TaskCost]

    @property
    def calls_per_hundred(self) -> float:
        return 100 * sum(task.calls for task in self.tasks.values()) / max(self.messages, 1)

    @property
    def token_multiple(self) -> float:
        return sum(task.tokens_in + task.tokens_out for task in self.tasks.values()) / max(self.chat_tokens, 1)

    @property
    def is_within_bar(self) -> bool:
        return self.calls_per_hundred <= MOST_CALLS and self.token_multiple <= MOST_TOKENS

    def fields(self) -> dict[str, Any]:
        tasks = {
            name: {"calls": cost.calls, "in": cost.tokens_in, "out": cost.tokens_out}
            for name, cost in self.tasks.items()
        }
        return {
            "conversation": self.conversation,
            "way": self.way,
            "messages": self.messages,
            "chat_tokens": self.chat_tokens,
            "calls_per_100": round(self.calls_per_hundred, 2),
            "token_multiple": round(self.token_multiple, 2),
            "tasks": tasks,
        }


def measure(haystack: Haystack, turns: int, *, on_message: Callable[[int], None] = lambda number: None) -> list[Cost]:
    """The cost of a conversation's first turns, live and as an import."""
    chosen = haystack.turns[:turns]
    count = open_tokenizer(Settings()).count
    chat_tokens = sum(count(turn.text) for turn in chosen)
    costs: list[Cost] = []
    for way, replay in (("live", _replay_live), ("import", _replay_import)):
        counts = asyncio.run(_run(replay, chosen, TalkativeModel(count), on_message))
        costs.append(Cost(haystack.name, way, len(chosen), chat_tokens, counts))
    return costs


class TalkativeModel(OfflineModel):
    """The stand-in, with as many facts as a good model finds: where the built-in reader finds fewer, the beginnings of
    lines stand for the others."""

    def render(self, task: str, reply: Any, inputs: Any) -> str:
        if task != reading.name:
            return super().render(task, reply, inputs)
        lines = enumerate(inputs.lines)
        places = [place for place, line in lines if line.may_state and states_something(line.text)]
        missing = max(round(FACTS_A_LINE * len(places)) - len(reply.facts), 0)
        step = max(len(places) // max(missing, 1), 1)
        added = [stand_in_fact(place, inputs.lines[place].text) for place in places[::step][:missing]]
        return super().render(task, replace(reply, facts=(*reply.facts, *added)), inputs)


def stand_in_fact(place: int, text: str) -> FactInLine:
    value = " ".join(text.split()[:VALUE_WORDS])
    return FactInLine(place, FoundFact("event", "news", value, 1.0, 0.4))


async def _run(
    replay: Callable[..., Any], turns: Sequence[Turn], writer: OfflineModel, on_message: Callable[[int], None]
) -> dict[str, TaskCost]:
    clock = FrozenClock(turns[0].time)
    with tempfile.TemporaryDirectory(prefix="everword-bench-") as folder:
        settings = Settings(store=str(Path(folder) / "replay.db"), followers=False)
        async with MemoryEngine(lambda: build(settings, memory=writer, clock=clock)) as memory:
            await replay(memory, clock, turns, on_message)
    tokens_in, tokens_out, calls = writer.take_counts()
    return {task: TaskCost(calls[task], tokens_in[task], tokens_out[task]) for task in sorted(Counter(calls))}


async def _replay_live(
    memory: MemoryEngine, clock: FrozenClock, turns: Sequence[Turn], on_message: Callable[[int], None]
) -> None:
    conversation = memory.conversation("replay")
    for number, turn in enumerate(turns, 1):
        clock.advance(max(turn.time - clock.now(), BETWEEN))
        await follow(memory)  # what waited for a pause is done by now
        await conversation.add(turn.role, turn.text, author=turn.speaker)
        await follow(memory)
        on_message(number)
    clock.advance(PAUSE)
    await follow(memory)


async def _replay_import(
    memory: MemoryEngine, clock: FrozenClock, turns: Sequence[Turn], on_message: Callable[[int], None]
) -> None:
    clock.advance(turns[-1].time - clock.now() + PAUSE)
    drafts = [Draft(turn.role, turn.text, turn.speaker, time=turn.time) for turn in turns]
    await memory.conversation("replay").extend(drafts)
    await memory.settle(PATIENCE)
    on_message(len(turns))

"""The tokens of a long chat with all memory work counted, against sending the whole history each time.

A recorded chat is replayed, exchange by exchange, through the real engine, at the times it was written. The chat model
gives the recorded reply, with the tiers of the exchange. The memory model is a stand-in that does whatever is asked of
it: it gives the task's own offline answer, as the JSON that the task expects. After each exchange the followers work as
they do in the background of a program. Every token of every prompt and every answer is counted, by task.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from everword.config import Settings
from everword.facts.prompts import numbered_lines
from everword.follow.model_calls import ASKED
from everword.memory.memory import MemoryEngine
from everword.model import Budget
from everword.ports import Completion, Request
from everword.summaries.rules.extract import render_lines
from everword.testing.doubles import FrozenClock
from everword.token_bench import Exchange, Plan, RecordedModel, follow, history_costs, prompt_tokens
from everword.wiring import build, open_tokenizer
from prompts import as_sent, repeated_shares
from quality import datasets

AFTER_REPLY = timedelta(seconds=20)
TITLE_WORDS = 6
ROWS = (5, 10, 15, 25, 50, 100, 250)

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Talk:
    """A chat of one user, and when each exchange of it began."""

    name: str
    exchanges: tuple[Exchange, ...]
    times: tuple[datetime, ...]

    def first_exchanges(self, count: int) -> Talk:
        return Talk(self.name, self.exchanges[:count], self.times[:count])


@dataclass(frozen=True, slots=True)
class WorkCost:
    """The tokens of one exchange: of the whole history; of ours the context, the reply and what stands beside it, and
    those of each memory task, in and out."""

    full: int
    context: int
    reply: int
    beside: int
    tasks_in: Mapping[str, int]
    tasks_out: Mapping[str, int]
    calls: Mapping[str, int]

    @property
    def memory(self) -> int:
        return sum(self.tasks_in.values()) + sum(self.tasks_out.values())

    @property
    def ours(self) -> int:
        return self.context + self.reply + self.beside + self.memory


@dataclass(frozen=True, slots=True)
class WorkReport:
    """All that a chat cost, exchange by exchange."""

    talk: str
    tokenizer: str
    steps: tuple[WorkCost, ...]
    repeated: tuple[float, ...] = ()
    """For each prompt but the first, the share of its tokens that begin like the prompt before."""

    def ratios(self) -> list[float]:
        """For each exchange, the tokens spent so far as a part of those of the whole history."""
        ours = accumulate(step.ours for step in self.steps)
        full = accumulate(step.full for step in self.steps)
        return [spent / whole for spent, whole in zip(ours, full, strict=True)]

    @property
    def below_from(self) -> int | None:
        """The first exchange from which on less is spent than on the whole history; None if there is none."""
        ratios = self.ratios()
        above = [place for place, ratio in enumerate(ratios, 1) if ratio >= 1]
        first = above[-1] + 1 if above else 1
        return first if first <= len(ratios) else None

    def rows(self) -> list[dict[str, Any]]:
        """What was spent up to some of the exchanges."""
        ratios = self.ratios()
        last = len(self.steps)
        return [self._row(place, ratios[place - 1]) for place in sorted({*ROWS, last}) if place <= last]

    def _row(self, place: int, ratio: float) -> dict[str, Any]:
        steps = self.steps[:place]
        tasks: dict[str, dict[str, int]] = {}
        for key in ("tasks_in", "tasks_out", "calls"):
            for task, tokens in sum((Counter(getattr(step, key)) for step in steps), Counter[str]()).items():
                tasks.setdefault(task, {})[key.removeprefix("tasks_")] = tokens
        totals = {name: sum(getattr(step, name) for step in steps) for name in ("context", "reply", "beside", "memory")}
        return {
            "exchange": place,
            **totals,
            "tasks": tasks,
            "ours": sum(step.ours for step in steps),
            "full": sum(step.full for step in steps),
            "ratio": ratio,
        }


# -- the chats


def read_talks(path: Path) -> list[Talk]:
    """The chats of a data set: each conversation of LoCoMo, and LongMemEval's sessions as one long chat, by date."""
    return [talk_of(haystack) for haystack in datasets.load(path).haystacks]


def talk_of(haystack: datasets.Haystack) -> Talk:
    """A haystack as one chat. Between two people, the first speaker is the user and the other the assistant."""
    among_people = all(turn.role == "user" for turn in haystack.turns)
    first_speaker = haystack.turns[0].speaker if haystack.turns else ""
    pairs: list[tuple[Exchange, datetime]] = []
    question: list[str] = []
    answer: list[str] = []
    began = haystack.turns[0].time if haystack.turns else datetime.now(UTC)
    for turn in haystack.turns:
        is_question = turn.speaker == first_speaker if among_people else turn.role == "user"
        if is_question and answer:
            if question:
                pairs.append((Exchange("\n".join(question), "\n".join(answer)), began))
            question, answer = [], []
        if is_question and not question:
            began = turn.time
        (question if is_question else answer).append(turn.text)
    if question and answer:
        pairs.append((Exchange("\n".join(question), "\n".join(answer)), began))
    return Talk(haystack.name, tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))


# -- the replay


def replay_work(talk: Talk, *, on_exchange: Callable[[int], None] = lambda number: None) -> WorkReport:
    """Replay a chat and count its tokens."""
    tokenizer = open_tokenizer(Settings())
    ours, prompts = asyncio.run(_replay(talk, tokenizer.count, on_exchange))
    full = history_costs(talk.exchanges, tokenizer.count, "", None)
    steps = tuple(WorkCost(whole, *costs) for whole, costs in zip(full, ours, strict=True))
    return WorkReport(talk.name, tokenizer.name, steps, tuple(repeated_shares(prompts, tokenizer.count)))


async def _replay(
    talk: Talk, count: Count, on_exchange: Callable[[int], None]
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """What each exchange cost, and the prompts of the chat model."""
    chat = RecordedModel(talk.exchanges, Plan(Budget()), count)
    writer = OfflineModel(count)
    clock = FrozenClock(talk.times[0])
    costs = list[tuple[Any, ...]]()
    with tempfile.TemporaryDirectory(prefix="everword-bench-") as folder:
        settings = Settings(store=str(Path(folder) / "replay.db"), followers=False)
        async with MemoryEngine(lambda: build(settings, chat=chat, memory=writer, clock=clock)) as memory:
            conversation = memory.conversation("replay", user="user")
            for number, (exchange, time) in enumerate(zip(talk.exchanges, talk.times, strict=True), 1):
                clock.advance(max(time - clock.now(), timedelta()))
                await follow(memory)  # what waited for a pause is done by now
                calls_before = len(chat.calls)
                await conversation.reply(exchange.asked)
                clock.advance(AFTER_REPLY)
                await follow(memory)
                calls = chat.calls[calls_before:]
                reply = count(exchange.answered)
                beside = sum(call.tokens_out for call in calls) - reply
                costs.append((sum(call.tokens_in for call in calls), reply, beside, *writer.take_counts()))
                on_exchange(number)
    return costs, [as_sent(request.messages) for request in chat.requests]


class OfflineModel:
    """A memory model that gives each task's own offline answer, and counts its tokens by task."""

    name = "offline writer"

    def __init__(self, count: Count) -> None:
        self._count = count
        self._counts: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())

    def take_counts(self) -> tuple[Counter[str], Counter[str], Counter[str]]:
        """The tokens read and written and the calls since the last time, by task."""
        counts = self._counts
        self._counts = (Counter(), Counter(), Counter())
        return counts

    async def complete(self, request: Request) -> Completion:
        asked = ASKED.get()
        assert asked is not None, "only tasks ask the memory model"
        task, inputs = asked
        if hasattr(inputs, "shown_episode"):  # of long messages a model sees both ends only, and writes of no more
            inputs = replace(inputs, lines=inputs.shown_episode.lines)
        text = self.render(task.name, task.offline(inputs), inputs)
        # A repair is counted by itself: it shows that an answer could not be read.
        name = task.name if len(request.messages) == 2 else f"{task.name}, repaired"
        tokens = (prompt_tokens(request.messages, self._count), self._count(text))
        for counter, amount in zip(self._counts, (*tokens, 1), strict=True):
            counter[name] += amount
        return Completion(text, self.name, *tokens)

    def render(self, task: str, reply: Any, inputs: Any) -> str:
        """What the model writes for a task."""
        return render_reply(task, reply, inputs)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        yield await self.complete(request)

    async def close(self) -> None:
        """Nothing to close."""


def render_reply(task: str, reply: Any, inputs: Any) -> str:
    """An offline answer as the JSON that a model would write."""
    render = RENDERERS.get(task, render_summary)
    return json.dumps(render(reply, inputs), ensure_ascii=False)


def render_summary(reply: Any, inputs: Any) -> dict[str, Any]:
    if hasattr(reply, "replies"):
        parts = [render_summary(part, inputs) for part in reply.replies]
        return {"summaries": [{"episode": number, **part} for number, part in enumerate(parts, 1)]}
    return {"summary": undated_summary(reply)}


def undated_summary(reply: Any) -> str:
    """The summary without the days that the built-in writer adds: a model is not shown them and cannot write them."""
    lines = [replace(line, time=None) for line in getattr(reply, "lines", ())]
    return render_lines(lines) or str(getattr(reply, "summary", None) or getattr(reply, "text", ""))


def render_tiers(reply: Any, inputs: Any) -> dict[str, Any]:
    entries = [{"tier1": tiers.tier1, "tier2": tiers.tier2} for tiers in reply.tiers]
    if len(entries) == 1:
        return entries[0]
    return {"tiers": [{"message": number, **entry} for number, entry in enumerate(entries, 1)]}


def render_facts(reply: Any, inputs: Any) -> dict[str, Any]:
    numbers = [number for number, _ in numbered_lines(inputs.lines)]
    return {
        "facts": [
            {"line": numbers[found.place], **fact_entry(found.fact, inputs.lines[found.place].speaker)}
            for found in reply.facts
        ]
    }


def render_nothing(reply: Any, inputs: Any) -> dict[str, Any]:
    return {"facts": []}


def fact_entry(fact: Any, speaker: str) -> dict[str, Any]:
    """A fact as a model writes it: what need not be said is left out."""
    status = {"ended": "ended", "not": "not"}.get(fact.holds, "corrected" if fact.corrects else "")
    said = {
        "from": fact.since.isoformat() if fact.since else "",
        "until": fact.until.isoformat() if fact.until else "",
        "status": status,
        "confidence": fact.confidence if fact.confidence < 1 else "",
    }
    return {
        "about": fact.subject or speaker,
        "category": fact.category,
        "key": fact.key,
        "value": fact.value,
        "importance": fact.importance,
        **{name: value for name, value in said.items() if value},
    }


def render_topic(reply: Any, inputs: Any) -> dict[str, Any]:
    return {"title": " ".join(reply.title.split()[:TITLE_WORDS]), "summary": undated_summary(reply)}


def render_days(reply: Any, inputs: Any) -> dict[str, Any]:
    return {"members": [{"id": id, "summary": text} for id, text in reply.entries.items()]}


def render_question(reply: Any, inputs: Any) -> dict[str, Any]:
    return {"question": reply.question}


def render_command(reply: Any, inputs: Any) -> dict[str, Any]:
    return {"kind": reply.kind, "about": reply.about or "", "text": reply.text, "refers_back": reply.refers_back}


RENDERERS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "message_tiers": render_tiers,
    "reading": render_facts,
    "fact_repair": render_nothing,
    "topic_summary": render_topic,
    "day_digest": render_days,
    "standalone": render_question,
    "command": render_command,
}

"""What a conversation costs in tokens, three ways: the whole history every time, a sliding window, and recollect.

A recorded conversation is replayed, exchange by exchange, through the real engine on a store of its own: contexts are
built, replies and tiers kept, the window archived. Only the model is a double: it gives the recorded reply and counts
what it was sent and what it wrote, with the tokens a chat model spends around each message. With its reply it writes
the tiers of the exchange, as it is asked to; the built-in writer, which uses all the room there is, stands in for what
a model would write. If it is to leave them out, the memory model's double makes them in calls of their own, counted
as well. If told to, the model first asks for the full text of a message every so many exchanges: another call each.

Other memory work, such as summaries, the built-in writers do here; what a memory model would have cost for it, at
most, is told apart. Prompts are counted in full: that servers charge less for a beginning they have seen before is
left aside, for all three.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate
from pathlib import Path

from recollect.bench.talks import Exchange, Talk
from recollect.config import Settings
from recollect.engine.memory import MemoryEngine
from recollect.errors import InvalidInput, NoModel
from recollect.model import Budget, ChatMessage, Role
from recollect.ports import Completion, Request
from recollect.rules.prompt.fitting import PER_MESSAGE, PER_REPLY
from recollect.rules.tiers import tiers
from recollect.tasks import message_tiers
from recollect.tasks.reply import InlineTiers, render_inline
from recollect.tasks.task import Said
from recollect.testing.clock import FrozenClock
from recollect.wiring import build, open_tokenizer

WINDOW = 20  # messages of the sliding window, the current one among them
BETWEEN = timedelta(minutes=1)
SHORTENED = re.compile(r"^MESSAGE\[(m\d+)\] \(\w+, tier [12]\):$", re.MULTILINE)

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a conversation is to be replayed."""

    budget: Budget = field(default_factory=Budget)
    window: int = WINDOW
    inline: bool = True
    ask_every: int = 0
    system: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What one exchange cost, each way. Of ours: all prompts, the reply, what was written beside it (tiers, markers),
    and the memory model's calls for tiers, prompt and answer. `other` is the most its other work would have cost."""

    turn: int
    full: int
    sliding: int
    prompt: int
    reply: int
    beside: int
    memory: int
    other: int = 0
    calls: int = 1

    @property
    def ours(self) -> int:
        return self.prompt + self.reply + self.beside + self.memory

    @property
    def exchange(self) -> int:
        return (self.turn + 1) // 2


@dataclass(frozen=True, slots=True)
class Economy:
    """What a conversation cost, step by step. A step's turn is that of the message it answers."""

    talk: Talk
    plan: Plan
    tokenizer: str
    steps: tuple[Step, ...]

    def so_far(self, way: str) -> list[int]:
        """The tokens spent up to each step: `full`, `sliding` or `ours`."""
        return list(accumulate(getattr(step, way) for step in self.steps))

    @property
    def crossing(self) -> Step | None:
        """The step from which on ours is below the full history, to the end; None if it is not."""
        over = [theirs <= mine for theirs, mine in zip(self.so_far("full"), self.so_far("ours"), strict=True)]
        first = len(over) - over[::-1].index(True) if True in over else 0
        return self.steps[first] if first < len(self.steps) else None


def replay(talk: Talk, plan: Plan | None = None, *, done: Callable[[int], None] = lambda exchange: None) -> Economy:
    """Replay a conversation and count. `done` hears of each exchange."""
    if not talk.exchanges:
        raise InvalidInput("data", "holds no exchange, so there is nothing to replay")
    plan = plan or Plan()
    count = (tokenizer := open_tokenizer(Settings())).count
    ours = asyncio.run(_replayed(talk.exchanges, plan, count, done))
    full = histories(talk.exchanges, count, plan.system, None)
    sliding = histories(talk.exchanges, count, plan.system, plan.window)
    steps = tuple(
        Step(2 * place + 1, whole, part, *own)
        for place, (whole, part, own) in enumerate(zip(full, sliding, ours, strict=True))
    )
    return Economy(talk, plan, tokenizer.name, steps)


def histories(exchanges: Sequence[Exchange], count: Count, system: str, window: int | None) -> list[int]:
    """What each exchange costs if the messages before it are sent as they are: all of them, or the last ones."""
    costs, spent = list[int](), list[int]()
    head = PER_REPLY + (count(system) + PER_MESSAGE if system else 0)
    for exchange in exchanges:
        costs.append(count(exchange.asked) + PER_MESSAGE)
        reply = count(exchange.answered)
        spent.append(head + sum(costs if window is None else costs[-window:]) + reply)
        costs.append(reply + PER_MESSAGE)
    return spent


async def _replayed(
    exchanges: Sequence[Exchange], plan: Plan, count: Count, done: Callable[[int], None]
) -> list[tuple[int, ...]]:
    chat, worker = Recorded(exchanges, plan, count), TierWriter(exchanges, count)
    clock, spent = FrozenClock(), list[tuple[int, ...]]()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        settings = Settings(store=str(Path(folder) / "replay.db"), followers=False)
        async with MemoryEngine(lambda: build(settings, chat=chat, memory=worker, clock=clock)) as memory:
            conversation = memory.conversation("replay", user="user")
            for number, exchange in enumerate(exchanges, start=1):
                before, worked, other = len(chat.calls), worker.spent, worker.other
                await conversation.reply(exchange.asked, budget=plan.budget, system=plan.system or None)
                await memory.settle()  # so that the next context sees the tiers and the window as they then are
                calls = chat.calls[before:]
                prompts, reply = sum(call.tokens_in for call in calls), count(exchange.answered)
                beside = sum(call.tokens_out for call in calls) - reply
                worked_on = (worker.spent - worked, worker.other - other)
                spent.append((prompts, reply, beside, *worked_on, len(calls)))
                clock.advance(BETWEEN)
                done(number)
    return spent


def prompt_tokens(messages: Sequence[ChatMessage], count: Count) -> int:
    """What a chat model counts for a prompt."""
    return PER_REPLY + sum(count(message["content"]) + PER_MESSAGE for message in messages)


class Recorded:
    """A chat model that gives the recorded replies, with their tiers, and keeps account of each call."""

    name = "recorded"

    def __init__(self, exchanges: Sequence[Exchange], plan: Plan, count: Count) -> None:
        self._left, self._plan, self._count = list(reversed(exchanges)), plan, count
        self._asked_for_more = False
        self.calls: list[Completion] = []

    async def complete(self, request: Request) -> Completion:
        text = self._marker(request) or self._reply()
        call = Completion(text, self.name, prompt_tokens(request.messages, self._count), self._count(text))
        self.calls.append(call)
        return call

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        answer = await self.complete(request)
        yield answer.text
        yield answer

    async def close(self) -> None:
        """Nothing to close."""

    def _marker(self, request: Request) -> str:
        """Now and then: a request for the first message that is shown shortened, if one is."""
        every, number = self._plan.ask_every, len(self.calls)
        due = every and not self._asked_for_more and number and number % every == 0
        shown = SHORTENED.search(request.messages[0]["content"]) if due else None
        self._asked_for_more = shown is not None
        return f"[REQUEST_TIER:3:{shown[1]}]" if shown else ""

    def _reply(self) -> str:
        exchange = self._left.pop()
        user, reply = (tiers.write(text, self._count) for text in (exchange.asked, exchange.answered))
        given = InlineTiers(user.tier1, user.tier2, reply.tier1, reply.tier2)
        asked_for = self._plan.inline and given != InlineTiers()
        return f"{exchange.answered}\n{render_inline(given)}" if asked_for else exchange.answered


class TierWriter:
    """A memory model that makes the tiers of the recorded messages, in calls of their own; all else it leaves to the
    built-in writers and counts what it would have cost, at most."""

    name = "tier writer"

    def __init__(self, exchanges: Sequence[Exchange], count: Count) -> None:
        self._count, self._known = count, dict[str, str]()
        self.spent, self.other = 0, 0
        roles: tuple[Role, Role] = ("user", "assistant")
        for exchange in exchanges:
            for role, text in zip(roles, (exchange.asked, exchange.answered), strict=True):
                # As the engine will ask: it keeps a reply without the white space around it.
                self._known[self._question(role, text if role == "user" else text.strip())] = text

    def _question(self, role: Role, text: str) -> str:
        request = message_tiers.build(message_tiers.Inputs((Said(role, text),), self._count))
        return request.messages[-1]["content"]

    async def complete(self, request: Request) -> Completion:
        asked = prompt_tokens(request.messages, self._count)
        text = self._known.get(request.messages[-1]["content"])
        if text is None:
            self.other += asked + (request.max_tokens or 0)
            raise NoModel(f"{self.name} makes the tiers of recorded messages only")
        made = tiers.write(text, self._count)
        answer = json.dumps({"tier1": made.tier1, "tier2": made.tier2}, ensure_ascii=False)
        self.spent += asked + self._count(answer)
        return Completion(answer, self.name, asked, self._count(answer))

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        yield await self.complete(request)

    async def close(self) -> None:
        """Nothing to close."""

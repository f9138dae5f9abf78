"""Counts the tokens of a conversation, run three ways: with the full history, with a sliding window, with everword.

A recorded conversation is replayed, exchange by exchange, through the real engine on a temporary store: contexts are
built, replies and tiers are stored, the window is archived. Only the model is a test double: it returns the recorded
reply and counts the tokens it was sent and wrote, including those a chat model spends around each message. With its
reply it writes the tiers of the exchange; their text comes from the built-in writer, which uses all the room it has.
If the plan is not `inline`, a double of the memory model writes the tiers in separate calls, which are counted too.
With `ask_every`, the model asks for the full text of a message once in so many exchanges: one more call each time.

Other memory work, such as summaries, is done by the built-in writers; the most that a memory model would have cost for
it is counted separately, as `other`. Prompts are counted in full for all three ways: discounts for cached prompt
prefixes are ignored.

A transcript is a list of exchanges: a question and its answer. It is read from a file, or made from the documentation
of Python's standard library. Messages that one side wrote in a row are joined into one. In a chat between people, the
first speaker is taken for the user.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate, cycle, groupby, islice
from pathlib import Path

from everword.config import Settings
from everword.context.build import PER_MESSAGE, PER_REPLY
from everword.context.reply_markers import OPEN, InlineTiers, render_inline
from everword.errors import InvalidInput, NoModel
from everword.follow.model_calls import ASKED
from everword.formats import BadRecord, open_records
from everword.memory.memory import MemoryEngine
from everword.model import Budget, ChatMessage, Draft
from everword.ports import Completion, Request
from everword.summaries.prompts import message_tiers
from everword.summaries.rules import shortened_messages
from everword.testing.doubles import FrozenClock, ScriptedLLM
from everword.wiring import build, open_tokenizer

WINDOW = 20  # messages of the sliding window, the current one among them
BETWEEN = timedelta(minutes=1)
STEPS = 50  # of one view after an exchange, at most
SHORTENED = re.compile(r"^MESSAGE\[(m\d+)\] \(\w+, tier [12]\):$", re.MULTILINE)

Count = Callable[[str], int]
MODULES = (
    "argparse bisect calendar collections configparser contextlib copy csv datetime decimal difflib fractions "
    "functools glob hashlib heapq inspect itertools json logging math os os.path pathlib pprint random re sched shlex "
    "shutil socket sqlite3 statistics string struct subprocess tempfile textwrap threading time timeit urllib.parse "
    "uuid zipfile"
)
QUESTIONS = (
    "What is {} for, and what should I know before I use it?",
    "I came across {} in somebody's code. Can you explain what it does?",
    "How does {} work?",
    "And {}? Tell me what it takes and what it gives back.",
)
WORDS = (60, 400)  # of a reply: as long as an assistant usually answers


# -- transcripts


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's message and the reply to it."""

    asked: str
    answered: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recorded conversation, and a short description of it."""

    about: str
    exchanges: tuple[Exchange, ...]

    def first_turns(self, turns: int) -> Transcript:
        """The transcript up to this turn, without a last message that has no answer."""
        return Transcript(self.about, self.exchanges[: turns // 2])


def read_transcript(path: str | Path, conversation: str | None = None) -> Transcript:
    """Read a conversation from a file that `everword import` reads: the one named, or else the longest."""
    drafts: dict[str, list[Draft]] = {}
    with open_records(path) as records:
        for record in records:
            if not isinstance(record, BadRecord):
                drafts.setdefault(record.conversation, []).append(record.draft)
    transcripts = {id: tuple(pair_exchanges(messages)) for id, messages in drafts.items()}
    if conversation is None:
        conversation = max(transcripts, key=lambda id: len(transcripts[id]), default="")
    elif conversation not in transcripts:
        examples = ", ".join(list(transcripts)[:5]) or "none at all"
        reason = f"there is no {conversation!r} in {path}; there are {len(transcripts)}: {examples}"
        raise InvalidInput("conversation", reason)
    if not transcripts.get(conversation):
        raise InvalidInput(
            "data", f"{path} contains no answered message, so there is nothing to replay; give another file"
        )
    return Transcript(f"{conversation} of {Path(path).name}", transcripts[conversation])


def pair_exchanges(drafts: Iterable[Draft]) -> Iterator[Exchange]:
    """The messages in pairs: a question, its answer."""
    messages = [draft for draft in drafts if draft.content.strip() and draft.role in ("user", "assistant")]
    if not messages:
        return
    among_people = len({draft.role for draft in messages}) == 1
    first_speaker = messages[0].author or messages[0].role

    def is_question(draft: Draft) -> bool:
        return (draft.author or draft.role) == first_speaker if among_people else draft.role == "user"

    question = ""
    for is_from_user, messages_of_turn in groupby(messages, key=is_question):
        text = "\n".join(draft.content for draft in messages_of_turn)
        if is_from_user:
            question = text
        elif question:
            yield Exchange(question, text)


def python_transcript(turns: int) -> Transcript:
    """A long transcript of questions about Python's standard library, each answered by its documentation."""
    pairs = [
        Exchange(question.format(name), document)
        for question, (name, document) in zip(cycle(QUESTIONS), islice(library_docs(), turns // 2), strict=False)
    ]
    if len(pairs) < turns // 2:
        raise InvalidInput(
            "turns",
            f"are too many: the default transcript has only {2 * len(pairs)} turns; give a longer transcript "
            "with --data",
        )
    return Transcript("questions about Python's standard library, answered by its own documentation", tuple(pairs))


def library_docs() -> Iterator[tuple[str, str]]:
    """The functions and classes of the modules, by full name, each with its docstring."""
    seen_documents: set[str] = set()
    for module_name in MODULES.split():
        module = importlib.import_module(module_name)
        for name in sorted(name for name in vars(module) if not name.startswith("_")):
            member = getattr(module, name)
            document = inspect.getdoc(member) if inspect.isroutine(member) or inspect.isclass(member) else None
            if document and document not in seen_documents and WORDS[0] <= len(document.split()) <= WORDS[1]:
                seen_documents.add(document)
                yield f"{module_name}.{name}", document


# -- what they cost


@dataclass(frozen=True, slots=True)
class Plan:
    """How a conversation is to be replayed."""

    budget: Budget = field(default_factory=Budget)
    window: int = WINDOW
    inline: bool = True
    ask_every: int = 0
    system: str = ""


@dataclass(frozen=True, slots=True)
class ExchangeCost:
    """The tokens of one exchange, for each way. For everword: all prompts, the reply, what was written beside it
    (tiers, markers), and the memory model's calls for tiers. `other` is the most its other work would have cost."""

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
class TokenReport:
    """The tokens of a conversation, step by step. A step's turn is that of the message it answers."""

    transcript: Transcript
    plan: Plan
    tokenizer: str
    steps: tuple[ExchangeCost, ...]

    def running_totals(self, way: str) -> list[int]:
        """The tokens spent up to each step: `full`, `sliding` or `ours`."""
        return list(accumulate(getattr(step, way) for step in self.steps))

    @property
    def crossing(self) -> ExchangeCost | None:
        """The first step from which everword stays below the full history to the end; None if there is none."""
        totals = zip(self.running_totals("full"), self.running_totals("ours"), strict=True)
        full_is_cheaper = [full <= ours for full, ours in totals]
        first = len(full_is_cheaper) - full_is_cheaper[::-1].index(True) if True in full_is_cheaper else 0
        return self.steps[first] if first < len(self.steps) else None


def replay(
    transcript: Transcript, plan: Plan | None = None, *, on_exchange: Callable[[int], None] = lambda exchange: None
) -> TokenReport:
    """Replay a transcript and count its tokens. `on_exchange` is called with the number of each exchange."""
    if not transcript.exchanges:
        raise InvalidInput("data", "contains no question with an answer, so there is nothing to replay")
    plan = plan or Plan()
    count = (tokenizer := open_tokenizer(Settings())).count

    async def own_costs() -> list[tuple[int, ...]]:
        costs = []
        async for exchange_costs in _replay_exchanges(transcript.exchanges, plan, count):
            costs.append(exchange_costs)
            on_exchange(len(costs))
        return costs

    ours = asyncio.run(own_costs())
    full = history_costs(transcript.exchanges, count, plan.system, None)
    sliding = history_costs(transcript.exchanges, count, plan.system, plan.window)
    steps = tuple(
        ExchangeCost(2 * place + 1, full_cost, sliding_cost, *own_costs)
        for place, (full_cost, sliding_cost, own_costs) in enumerate(zip(full, sliding, ours, strict=True))
    )
    return TokenReport(transcript, plan, tokenizer.name, steps)


def history_costs(exchanges: Sequence[Exchange], count: Count, system: str, window: int | None) -> list[int]:
    """The tokens of each exchange if the messages before it are sent as they are: all of them, or the last `window`."""
    message_costs = list[int]()
    totals = list[int]()
    head = PER_REPLY + (count(system) + PER_MESSAGE if system else 0)
    for exchange in exchanges:
        message_costs.append(count(exchange.asked) + PER_MESSAGE)
        reply = count(exchange.answered)
        totals.append(head + sum(message_costs if window is None else message_costs[-window:]) + reply)
        message_costs.append(reply + PER_MESSAGE)
    return totals


async def _replay_exchanges(exchanges: Sequence[Exchange], plan: Plan, count: Count) -> AsyncIterator[tuple[int, ...]]:
    """What each exchange costs, as it is replayed."""
    chat = RecordedModel(exchanges, plan, count)
    worker = TierWriter(count)
    clock = FrozenClock()
    with tempfile.TemporaryDirectory(prefix="everword-bench-") as folder:
        # Tiers that are made apart are made at once: here it is counted what they cost.
        patience = Settings().batch_seconds if plan.inline else 0
        settings = Settings(store=str(Path(folder) / "replay.db"), followers=False, batch_seconds=patience)
        async with MemoryEngine(lambda: build(settings, chat=chat, memory=worker, clock=clock)) as memory:
            conversation = memory.conversation("replay", user="user")
            for exchange in exchanges:
                calls_before = len(chat.calls)
                spent_before = worker.spent
                other_before = worker.other
                await conversation.reply(exchange.asked, budget=plan.budget, system=plan.system or None)
                await follow(memory)  # so that the next context sees the tiers and the window as they then are
                calls = chat.calls[calls_before:]
                prompts = sum(call.tokens_in for call in calls)
                reply = count(exchange.answered)
                beside = sum(call.tokens_out for call in calls) - reply
                worker_costs = (worker.spent - spent_before, worker.other - other_before)
                yield prompts, reply, beside, *worker_costs, len(calls)
                clock.advance(BETWEEN)


async def follow(memory: MemoryEngine) -> None:
    """Let each view do what it would do by now in the background of a program."""
    for follower in memory.runtime.followers.values():
        for _ in range(STEPS):
            if not await follower.step(patient=True) or follower.drained:
                break


def prompt_tokens(messages: Sequence[ChatMessage], count: Count) -> int:
    """The tokens a chat model counts for a prompt."""
    return PER_REPLY + sum(count(message["content"]) + PER_MESSAGE for message in messages)


class RecordedModel(ScriptedLLM):
    """A chat model that returns the recorded replies, with their tiers, and records each call."""

    def __init__(self, exchanges: Sequence[Exchange], plan: Plan, count: Count) -> None:
        super().__init__(default=self._answer, name="recorded")
        self._remaining = list(reversed(exchanges))
        self._plan = plan
        self._count = count
        self._has_asked = False
        self.calls: list[Completion] = []

    def _answer(self, request: Request) -> Completion:
        text = self._tier_request(request) or self._recorded_reply(
            asks_for_tiers=any(OPEN in message["content"] for message in request.messages[:-1])
        )
        call = Completion(text, self.name, prompt_tokens(request.messages, self._count), self._count(text))
        self.calls.append(call)
        return call

    def _tier_request(self, request: Request) -> str:
        """Every `ask_every` calls: a request for the full text of the first shortened message, if there is one."""
        ask_every = self._plan.ask_every
        number = len(self.calls)
        is_due = ask_every and not self._has_asked and number and number % ask_every == 0
        match = SHORTENED.search(request.messages[0]["content"]) if is_due else None
        self._has_asked = match is not None
        return f"[REQUEST_TIER:3:{match[1]}]" if match else ""

    def _recorded_reply(self, *, asks_for_tiers: bool) -> str:
        """The recorded reply, with the tiers of the exchange if the context asks for them."""
        exchange = self._remaining.pop()
        user_tiers, reply_tiers = (
            shortened_messages.write_tiers(text, self._count) for text in (exchange.asked, exchange.answered)
        )
        inline = InlineTiers(user_tiers.tier1, user_tiers.tier2, reply_tiers.tier1, reply_tiers.tier2)
        writes_tiers = asks_for_tiers and self._plan.inline and inline != InlineTiers()
        return f"{exchange.answered}\n{render_inline(inline)}" if writes_tiers else exchange.answered


class TierWriter(ScriptedLLM):
    """A memory model that writes the tiers of messages, in separate calls. All other work it leaves to the built-in
    writers, and counts the most it would have cost."""

    def __init__(self, count: Count) -> None:
        super().__init__(default=self._answer, name="tier writer")
        self._count = count
        self.spent = 0
        self.other = 0

    def _answer(self, request: Request) -> Completion:
        asked = ASKED.get()
        assert asked is not None, "only tasks ask the memory model"
        task, inputs = asked
        tokens_in = prompt_tokens(request.messages, self._count)
        if task.name != message_tiers.name:
            self.other += tokens_in + (request.max_tokens or 0)
            raise NoModel(f"{self.name} makes the tiers of recorded messages only")
        entries = [
            {"message": number, "tier1": written.tier1, "tier2": written.tier2}
            for number, written in enumerate(message_tiers.offline(inputs).tiers, 1)
        ]
        answer = json.dumps({"tiers": entries} if len(entries) > 1 else entries[0], ensure_ascii=False)
        self.spent += tokens_in + self._count(answer)
        return Completion(answer, self.name, tokens_in, self._count(answer))

"""Asks a model to do a task, or does the task without one, and counts every call and its tokens.

A reply that cannot be read is sent back once with what is wrong with it. If that does not help, or the model does not
answer, or the day's tokens are spent, or there is no model, the task's own offline answer is used. If the model is only
unavailable for a while, the result says so: the caller may ask again later and keep the offline answer until then.

Counts hold no content. A label is a word of the program's own (a task, a cache, an error's name) or a model's name;
anything else is counted as "other", so that no mistake elsewhere can carry a person's words into a graph. Calls of
models, cache lookups and fallbacks are also added to the store's table `usage`, which has the sums of all processes: so
the daily limit applies to all of them together. They are written a moment later, several at once: storing a reply does
not wait for its statistics.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from everword.errors import EverwordError, ModelBusy, ModelError, ModelNonsense, ModelTimeout, NoModel
from everword.follow.store_calls import StoreCalls, wait_for_event
from everword.masking import mask_credentials, masked_logger
from everword.model import Activity
from everword.ports import LLM, Call, Clock, Completion, Models, Request, Telemetry, Tx

if TYPE_CHECKING:
    from everword.follow.model_task import Task

log = masked_logger("everword.ask")

NONE = "no model"  # the name of the model that stands for "there is none"
AWAY = (ModelTimeout, ModelBusy)  # errors that may pass by themselves

# What models have answered so far in the current work, by request. Work that fails on one of many messages is repeated
# without that message, and calls of a model are expensive.
COMPLETIONS: ContextVar[dict[str, Completion] | None] = ContextVar("completions", default=None)

# The task that a model is being asked, and its inputs: a stand-in for a model may answer from them.
ASKED: ContextVar[tuple[Any, Any] | None] = ContextVar("asked", default=None)

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
CALLS = ("chat", "memory")  # roles, under which calls of models are counted
STORED = ("cache", "fallback", "refused")  # also counted in the store, with the calls
OTHER = "other"
MODELS = 100  # names of models that are counted separately: a client of a server may send any name
WORD = re.compile(r"[A-Za-z0-9_.:/@+-]{1,100}")
ActivityKey = tuple[str, str, str]
COUNTED = ("calls", "tokens_in", "tokens_out", "milliseconds")
MOMENT = 0.25  # seconds to wait for more calls, before they are written
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[R]):
    """A task's reply, who made it ("model" or "offline"), and the reason if the model is unavailable for a while."""

    reply: R
    made_by: str
    outage: str | None = None


@contextmanager
def keep_completions() -> Iterator[None]:
    """While this context is open, a model is not asked again what it has already answered."""
    token = COMPLETIONS.set({})
    try:
        yield
    finally:
        COMPLETIONS.reset(token)


def has_model(models: Models) -> bool:
    """Whether there is a model among these at all."""
    return models.for_task("").name != NONE


class TaskRunner:
    """Runs tasks with the memory model."""

    def __init__(self, models: Models, telemetry: Telemetry, calls: StoreCalls) -> None:
        """Offline answers are made in a thread: they take time, and the event loop must stay free."""
        self._models = models
        self._telemetry = telemetry
        self.run = calls.run

    @property
    def has_model(self) -> bool:
        """Whether there is a model at all."""
        return has_model(self._models)

    async def ask(self, task: Task[I, R], inputs: I) -> TaskResult[R]:
        token = ASKED.set((task, inputs))
        try:
            return await self._ask_or_do(task, inputs)
        finally:
            ASKED.reset(token)

    async def _ask_or_do(self, task: Task[I, R], inputs: I) -> TaskResult[R]:
        try:
            return TaskResult(await self._ask_model(task, inputs), "model")
        except NoModel:
            return TaskResult(await self.run(task.offline, inputs), "offline")
        except ModelError as error:
            log.warning("%s: %s; done offline", task.name, error)
            self._telemetry.count("fallback", kind=task.name, outcome=type(error).__name__)
            outage = f"{task.name}: {error}" if isinstance(error, AWAY) else None
            return TaskResult(await self.run(task.offline, inputs), "offline", outage)

    async def _ask_model(self, task: Task[I, R], inputs: I) -> R:
        model = self._models.for_task(task.name)
        completion = await complete_once(model, task.build(inputs))
        try:
            return task.parse(completion.text, inputs)
        except ModelNonsense as error:
            repaired_completion = await complete_once(model, task.repair(inputs, completion.text, error))
            return task.parse(repaired_completion.text, inputs)


async def complete_once(model: LLM, request: Request) -> Completion:
    """The model's answer; the one it has already given, if that is kept."""
    completions = COMPLETIONS.get()
    if completions is None:
        return await model.complete(request)
    question = repr(request)
    if question not in completions:
        completions[question] = await model.complete(request)
    return completions[question]


async def check_usable(model: LLM) -> None:
    """If no model is configured, raise the error that says how, before anything is kept."""
    if model.name == NONE:
        await model.complete(Request([]))


def safe_label(label: str) -> str:
    """The label if it is a single word, as programs write them; otherwise "other"."""
    return label if WORD.fullmatch(label) else OTHER


@dataclass(frozen=True, slots=True)
class SafeCall:
    """A call whose labels are single words."""

    role: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


class ActivityCounter:
    """Counts activities and forwards them to other telemetry. Safe to use from every thread."""

    def __init__(self, others: Sequence[Telemetry] = ()) -> None:
        self._others = tuple(others)
        self._lock = threading.Lock()
        self._counts: dict[ActivityKey, Activity] = {}
        self._unsaved: dict[ActivityKey, Activity] = {}
        self._models: set[str] = set()

    def model_label(self, name: str) -> str:
        """The name under which a model is counted: its own, or "other" once there are too many."""
        name = mask_credentials(name)
        with self._lock:
            if len(self._models) < MODELS:
                self._models.add(name)
            return name if name in self._models else OTHER

    def call(self, call: Call) -> None:
        role = safe_label(call.role)
        task = safe_label(call.task) if call.task else ""
        model = safe_label(self.model_label(call.model))
        outcome = safe_label(call.outcome)
        safe_call = SafeCall(role, task, model, call.tokens_in, call.tokens_out, call.seconds, outcome)
        self._add(self._counts, [Activity(role, task, outcome, 1, call.seconds, call.tokens_in + call.tokens_out)])
        for other in self._others:
            other.call(safe_call)

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        what = safe_label(what)
        kind = safe_label(kind)
        outcome = safe_label(outcome)
        activity = Activity(what, kind, outcome, amount, seconds or 0.0)
        self._add(self._counts, [activity])
        if what in STORED:
            self._add(self._unsaved, [activity])
        for other in self._others:
            other.count(what, kind=kind, outcome=outcome, amount=amount, seconds=seconds)

    def activities(self) -> list[Activity]:
        """Everything that was counted in this process."""
        with self._lock:
            return [self._counts[key] for key in sorted(self._counts)]

    def drain(self) -> list[Activity]:
        """Take out the activities that are for the store and were not taken out yet."""
        with self._lock:
            activities = list(self._unsaved.values())
            self._unsaved = {}
        return activities

    def give_back(self, activities: Iterable[Activity]) -> None:
        """Put drained activities back, because they could not be stored."""
        self._add(self._unsaved, activities)

    def _add(self, totals: dict[ActivityKey, Activity], activities: Iterable[Activity]) -> None:
        with self._lock:
            for activity in activities:
                add_activity(totals, activity)


def add_activity(counts: dict[ActivityKey, Activity], activity: Activity) -> None:
    key = (activity.what, activity.kind, activity.outcome)
    earlier = counts.get(key)
    counts[key] = activity if earlier is None else sum_activities(earlier, activity)


def sum_activities(first: Activity, second: Activity) -> Activity:
    return replace(
        first,
        count=first.count + second.count,
        seconds=first.seconds + second.seconds,
        tokens=first.tokens + second.tokens,
    )


def activity_of(rows: Iterable[Mapping[str, Any]]) -> list[Activity]:
    """The activities in rows of `usage`, summed over all days and models."""
    counts = dict[ActivityKey, Activity]()
    for row in rows:
        tokens = row["tokens_in"] + row["tokens_out"]
        seconds = row["milliseconds"] / 1000
        add_activity(counts, Activity(row["role"], row["task"], row["outcome"], row["calls"], seconds, tokens))
    return [counts[key] for key in sorted(counts)]


class Meter:
    """Writes calls to the store in the background, and knows how many tokens were used today."""

    def __init__(
        self,
        calls: StoreCalls,
        clock: Clock,
        space: str,
        counting: ActivityCounter,
        writable: bool = True,
    ) -> None:
        self._writable = writable
        self._store_calls = calls
        self._clock = clock
        self._space = space
        self._counting = counting
        self._calls: list[Row] = []
        self._writing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def record(self, call: Call) -> None:
        """Count a call. Never waits and never fails: a reply is worth more than its statistics."""
        if call.outcome == NoModel.__name__:
            return  # no model was called
        self._counting.call(call)
        self._calls.append(self._call_row(call))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._flush_soon())

    async def _flush_soon(self) -> None:
        while self._calls:
            await wait_for_event(self._hurry, MOMENT)
            await self.flush()

    async def flush(self) -> None:
        """Write what was counted and is not yet in the store."""
        calls = self._calls
        self._calls = []
        activities = self._counting.drain()
        rows = sum_rows([*calls, *(self._activity_row(activity) for activity in activities)])
        if not rows or not self._writable:
            return
        try:
            await self._store_calls.write(lambda tx: tx.put("usage", rows, add=COUNTED))
        except EverwordError as error:
            self._counting.give_back(activities)
            log.warning("%s was not counted: %s", f"{len(calls)} calls of models" if calls else "what was done", error)

    def _call_row(self, call: Call) -> Row:
        model = self._counting.model_label(call.model)[:200]
        counts = (1, call.tokens_in, call.tokens_out, round(call.seconds * 1000))
        return self._usage_row(call.role, call.task, model, call.outcome, counts)

    def _activity_row(self, activity: Activity) -> Row:
        counts = (activity.count, 0, 0, round(activity.seconds * 1000))
        return self._usage_row(activity.what, activity.kind, "", activity.outcome, counts)

    def _usage_row(self, role: str, task: str, model: str, outcome: str, counts: Sequence[int]) -> Row:
        labels = {"space": self._space, "day": self._today(), "role": role, "task": task, "model": model}
        return labels | {"outcome": outcome} | dict(zip(COUNTED, counts, strict=True))

    async def tokens_today(self, role: str = "memory") -> int:
        """The tokens that this role has used today."""
        await self.flush()
        where = {"space": self._space, "day": self._today(), "role": role}

        def total(tx: Tx) -> int:
            return sum(row["tokens_in"] + row["tokens_out"] for row in tx.rows("usage", where=where))

        return await self._store_calls.read(total)

    async def finish(self) -> None:
        if self._writing is not None:
            self._hurry.set()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self.flush()

    def _today(self) -> str:
        return self._clock.now().date().isoformat()


def sum_rows(rows: Iterable[Row]) -> list[Row]:
    """Rows with the same labels summed into one."""
    totals: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(value for name, value in row.items() if name not in COUNTED)
        total = totals.setdefault(key, {**row, **dict.fromkeys(COUNTED, 0)})
        for name in COUNTED:
            total[name] += row[name]
    return list(totals.values())

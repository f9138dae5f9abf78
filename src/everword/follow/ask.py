"""Asks a model to do a task, or does the task without one: every task has an answer, whether or not a model answers.

A reply that cannot be read is sent back once with what is wrong with it. If that does not help, or the model does not
answer, or the day's tokens are spent, or there is no model, the task's own offline answer is used. If the model is only
unavailable for a while, the result says so: the caller may ask again later and keep the offline answer until then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from everword.errors import ModelBusy, ModelError, ModelNonsense, ModelTimeout, NoModel
from everword.follow.task import Task
from everword.masking import masked_logger
from everword.ports import LLM, Completion, Models, Request, Telemetry

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


class TaskRunner:
    """Runs tasks with the memory model."""

    def __init__(self, models: Models, telemetry: Telemetry, run: Callable[..., Awaitable[Any]]) -> None:
        """`run` calls a function in a thread: offline answers take time, and the event loop must stay free."""
        self._models = models
        self._telemetry = telemetry
        self._run = run

    @property
    def has_model(self) -> bool:
        """Whether there is a model at all."""
        return self._models.for_task("").name != NONE

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
            return TaskResult(await self._run(task.offline, inputs), "offline")
        except ModelError as error:
            log.warning("%s: %s; done offline", task.name, error)
            self._telemetry.count("fallback", kind=task.name, outcome=type(error).__name__)
            outage = f"{task.name}: {error}" if isinstance(error, AWAY) else None
            return TaskResult(await self._run(task.offline, inputs), "offline", outage)

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

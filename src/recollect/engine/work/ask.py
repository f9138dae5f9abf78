"""Asking a model, or doing without: every task has an answer, whatever becomes of the model.

A reply that cannot be read is sent back once with what is wrong with it. If that does not help, or the model does not
answer, or the day's tokens are spent, or there is none, the task's own offline answer stands in. Where the model is
only away for a while, the answer says so: whoever asked may ask again later and keep the offline answer until then.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from recollect.errors import ModelBusy, ModelError, ModelNonsense, ModelTimeout, NoModel
from recollect.ports import LLM, Completion, Models, Request, Telemetry
from recollect.tasks.task import Task

log = logging.getLogger("recollect.ask")

NONE = "no model"  # what the model that is none calls itself
AWAY = (ModelTimeout, ModelBusy)  # what may pass by itself

# What models answered so far in the work under way, by the question. Work that fails on one of many messages is done
# again without it, and a call of a model is dear.
COMPLETIONS: ContextVar[dict[str, Completion] | None] = ContextVar("completions", default=None)

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """A task's reply, who made it ("model" or "offline"), and what is the matter if the model is away for a while."""

    reply: R
    made_by: str
    outage: str | None = None


@contextmanager
def keep_completions() -> Iterator[None]:
    """As long as it lasts, a model is not asked again what it has answered already."""
    token = COMPLETIONS.set({})
    try:
        yield
    finally:
        COMPLETIONS.reset(token)


class Asking:
    """The memory model, for tasks."""

    def __init__(self, models: Models, telemetry: Telemetry, run: Callable[..., Awaitable[Any]]) -> None:
        """`run` calls a function in a thread: to do without a model is work, and others wait for the event loop."""
        self._models, self._telemetry, self._run = models, telemetry, run

    @property
    def possible(self) -> bool:
        """Whether there is a model at all."""
        return self._models.for_task("").name != NONE

    async def ask(self, task: Task[I, R], inputs: I) -> Answer[R]:
        try:
            return Answer(await self._by_model(task, inputs), "model")
        except NoModel:
            return Answer(await self._run(task.offline, inputs), "offline")
        except ModelError as error:
            log.warning("%s: %s; done offline", task.name, error)
            self._telemetry.count("fallback", kind=task.name, outcome=type(error).__name__)
            outage = f"{task.name}: {error}" if isinstance(error, AWAY) else None
            return Answer(await self._run(task.offline, inputs), "offline", outage)

    async def _by_model(self, task: Task[I, R], inputs: I) -> R:
        model = self._models.for_task(task.name)
        answer = await complete_once(model, task.build(inputs))
        try:
            return task.parse(answer.text, inputs)
        except ModelNonsense as error:
            again = await complete_once(model, task.repair(inputs, answer.text, error))
            return task.parse(again.text, inputs)


async def complete_once(model: LLM, request: Request) -> Completion:
    """The model's answer; the one it gave already, if that is kept."""
    kept = COMPLETIONS.get()
    if kept is None:
        return await model.complete(request)
    question = repr(request)
    if question not in kept:
        kept[question] = await model.complete(request)
    return kept[question]

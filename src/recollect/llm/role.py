"""A role is what models are for: `chat` answers people, `memory` does the writing behind the scenes. Small merges may
have models of their own (`Shared`), each role with its own chain.

A role has models in order of preference, and for each task they are one `LLM`: a ceiling around a chain around meters.
The meters are innermost, so that a model that failed before another answered is counted too; the rests are the role's,
so that every task knows which model is down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from recollect.errors import InvalidInput
from recollect.llm.absent import NoModelLLM
from recollect.llm.answer import Count, rough
from recollect.llm.chain import Chain, Rests
from recollect.llm.meter import Call, Ceiling, Metered
from recollect.llm.relay import RelayChain, called
from recollect.ports import LLM, Models, Relay

OURS = "recollect"  # as a model's name: whichever is configured


class Role:
    """`for_task` gives the role's models as one, under the name of a task."""

    def __init__(
        self,
        name: str,
        models: Sequence[LLM],
        record: Callable[[Call], object],
        *,
        spent: Callable[[], Awaitable[int]] | None = None,
        limit: int | None = None,
        count: Count = rough,
        rests: Rests | None = None,
    ) -> None:
        if not models:
            raise InvalidInput("models", "must be at least one")
        self.name = name
        self._models, self._record, self._count = tuple(models), record, count
        self._metered = [Metered(model, name, record, count=count) for model in models]
        self._rests = rests or Rests()
        self._spent = spent
        self._limit = limit

    def for_task(self, task: str) -> LLM:
        chain = Chain([model.for_task(task) for model in self._metered], self._rests)
        if self._spent is None or self._limit is None:
            return chain
        return Ceiling(chain, self._spent, self._limit)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(called(model) for model in self._models if not isinstance(model, NoModelLLM)))

    def relay(self, task: str, model: str) -> Relay:
        """A name that is not ours is asked for at the first server that is one, and nowhere else."""
        about = (self.name, task)
        first = next((place for place, one in enumerate(self._models) if called(one) == model), None)
        abroad = next((place for place, one in enumerate(self._models) if isinstance(one, Relay)), None)
        if first is None and model not in ("", OURS) and abroad is not None:
            return RelayChain([self._models[abroad]], Rests(), self._record, about, self._count, fixed=model)
        if not first:
            return RelayChain(self._models, self._rests, self._record, about, self._count)
        rest = [one for place, one in enumerate(self._models) if place != first]
        return RelayChain([self._models[first], *rest], Rests(), self._record, about, self._count)

    async def close(self) -> None:
        for model in self._metered:
            await model.close()


class Shared:
    """Work that two roles share: some tasks are the other's."""

    def __init__(self, most: Models, other: Models, tasks: Collection[str]) -> None:
        self._most, self._other, self._tasks = most, other, frozenset(tasks)

    def for_task(self, task: str) -> LLM:
        return (self._other if task in self._tasks else self._most).for_task(task)

    @property
    def names(self) -> tuple[str, ...]:
        return self._most.names

    def relay(self, task: str, model: str) -> Relay:
        return (self._other if task in self._tasks else self._most).relay(task, model)

    async def close(self) -> None:
        await self._most.close()
        await self._other.close()

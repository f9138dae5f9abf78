"""A role is what models are for: `chat` answers people, `memory` does the writing behind the scenes.

A role has models in order of preference, and for each task they are one `LLM`: a ceiling around a chain around meters.
The meters are innermost, so that a model that failed before another answered is counted too; the rests are the role's,
so that every task knows which model is down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from recollect.errors import InvalidInput
from recollect.llm.answer import Count, rough
from recollect.llm.chain import Chain, Rests
from recollect.llm.meter import Call, Ceiling, Metered
from recollect.ports import LLM


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
        self._metered = [Metered(model, name, record, count=count) for model in models]
        self._rests = rests or Rests()
        self._spent = spent
        self._limit = limit

    def for_task(self, task: str) -> LLM:
        chain = Chain([model.for_task(task) for model in self._metered], self._rests)
        if self._spent is None or self._limit is None:
            return chain
        return Ceiling(chain, self._spent, self._limit)

    async def close(self) -> None:
        for model in self._metered:
            await model.close()

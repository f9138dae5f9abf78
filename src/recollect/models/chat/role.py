"""A role is what models are used for: `chat` answers people, `memory` does the work in the background. Small merges may
have models of their own (`TaskRouter`), each role with its own chain.

A role has models in order of preference. For each task they are one `LLM`: a chain of models, each with room to think
(`thinking`) around a ceiling around a meter. The meters are innermost, so that a model that failed before another
answered is counted too, and a second request after an answer that was cut off; the ceiling is asked before each of
them. The cooldowns belong to the role, so that every task knows which model is down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from recollect.errors import InvalidInput
from recollect.models.chat.absent import NoModelLLM
from recollect.models.chat.answer import Count, rough_token_count
from recollect.models.chat.chain import Chain, Cooldowns
from recollect.models.chat.meter import Ceiling, MeteredLLM, ModelCall
from recollect.models.chat.relay import RelayChain, name_in_request
from recollect.models.chat.thinking import ThinkingRoom
from recollect.ports import LLM, Models, Relay

OURS = "recollect"  # as the name of a model: whichever is configured


class Role:
    """`for_task` gives the role's models as one `LLM`, whose calls are recorded under the name of a task."""

    def __init__(
        self,
        name: str,
        models: Sequence[LLM],
        record: Callable[[ModelCall], object],
        *,
        tokens_today: Callable[[], Awaitable[int]] | None = None,
        limit: int | None = None,
        count: Count = rough_token_count,
        cooldowns: Cooldowns | None = None,
        thinking_tokens: int | None = None,
    ) -> None:
        if not models:
            raise InvalidInput("models", "must be at least one")
        self.name = name
        self._models = tuple(models)
        self._record = record
        self._count = count
        self._metered = [MeteredLLM(model, name, record, count=count) for model in models]
        self._cooldowns = cooldowns or Cooldowns()
        self._tokens_today = tokens_today
        self._limit = limit
        self._thinking_tokens = thinking_tokens

    def for_task(self, task: str) -> LLM:
        return Chain([self._with_limits(model.for_task(task)) for model in self._metered], self._cooldowns)

    def _with_limits(self, model: LLM) -> LLM:
        """The model with what bounds each of its calls: the day's ceiling, and the room it has for thinking."""
        if self._tokens_today is not None and self._limit is not None:
            model = Ceiling(model, self._tokens_today, self._limit)
        return model if self._thinking_tokens is None else ThinkingRoom(model, self._thinking_tokens)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(name_in_request(model) for model in self._models if not isinstance(model, NoModelLLM))
        )

    def relay(self, task: str, model: str) -> Relay:
        """A relay for a model. An unknown name is sent only to the first model that can relay it."""
        role_and_task = (self.name, task)
        named_place = next(
            (place for place, candidate in enumerate(self._models) if name_in_request(candidate) == model), None
        )
        relay_place = next(
            (place for place, candidate in enumerate(self._models) if isinstance(candidate, Relay)), None
        )
        if named_place is None and model not in ("", OURS) and relay_place is not None:
            return RelayChain(
                [self._models[relay_place]], Cooldowns(), self._record, role_and_task, self._count, model_name=model
            )
        if not named_place:
            return RelayChain(self._models, self._cooldowns, self._record, role_and_task, self._count)
        other_models = [candidate for place, candidate in enumerate(self._models) if place != named_place]
        return RelayChain(
            [self._models[named_place], *other_models], Cooldowns(), self._record, role_and_task, self._count
        )

    async def close(self) -> None:
        for model in self._metered:
            await model.close()


class TaskRouter:
    """Two sets of models as one: the named tasks go to `other`, all other tasks to `default`."""

    def __init__(self, default: Models, other: Models, tasks: Collection[str]) -> None:
        self._default = default
        self._other = other
        self._tasks = frozenset(tasks)

    def for_task(self, task: str) -> LLM:
        return (self._other if task in self._tasks else self._default).for_task(task)

    @property
    def names(self) -> tuple[str, ...]:
        return self._default.names

    def relay(self, task: str, model: str) -> Relay:
        return (self._other if task in self._tasks else self._default).relay(task, model)

    async def close(self) -> None:
        await self._default.close()
        await self._other.close()

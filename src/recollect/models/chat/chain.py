"""Several models as one: when the first fails, the next is asked.

A model that failed has a cooldown: until it is over the model is asked last, so that an outage costs its timeout once
and not at every turn. It is still asked when the others fail too. Once a piece of an answer has been passed on, no
other model takes over: an answer comes from one model.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence

from recollect.errors import InvalidInput, ModelBusy, ModelError, ModelNonsense, ModelRefused, ModelTimeout
from recollect.masking import masked_logger
from recollect.models.chat.flow import closing
from recollect.ports import LLM, Completion, Request

log = masked_logger("recollect.models.chat")

REST = 30.0  # seconds
PASSED_ON = (ModelTimeout, ModelBusy, ModelNonsense, ModelRefused)


class Cooldowns:
    """Which models of a chain failed recently. Chains over the same models may share it."""

    def __init__(self, seconds: float = REST, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._until: dict[int, float] = {}

    def order(self, models: int) -> list[int]:
        """The indexes of the models, in the order to ask them."""
        now = self._clock()
        return sorted(range(models), key=lambda place: self._until.get(place, now) > now)

    def record_failure(self, place: int) -> None:
        self._until[place] = self._clock() + self._seconds

    def record_answer(self, place: int) -> None:
        self._until.pop(place, None)


class Chain:
    """Asks the models in order. When all fail, the last error is raised with the names and errors of all."""

    def __init__(self, models: Sequence[LLM], cooldowns: Cooldowns | None = None) -> None:
        if not models:
            raise InvalidInput("models", "must be at least one")
        self._models = tuple(models)
        self._cooldowns = cooldowns or Cooldowns()

    @property
    def name(self) -> str:
        return ", then ".join(model.name for model in self._models)

    async def complete(self, request: Request) -> Completion:
        failures: list[ModelError] = []
        for place in self._cooldowns.order(len(self._models)):
            try:
                answer = await self._models[place].complete(request)
            except PASSED_ON as error:
                self._record_failure(place, error, failures)
            else:
                self._cooldowns.record_answer(place)
                return answer
        raise self._combine_errors(failures)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        failures: list[ModelError] = []
        for place in self._cooldowns.order(len(self._models)):
            has_output = False
            try:
                async with closing(self._models[place].stream(request)) as pieces:
                    async for piece in pieces:
                        has_output = True
                        yield piece
            except PASSED_ON as error:
                self._record_failure(place, error, failures)
                if has_output:
                    raise
            else:
                self._cooldowns.record_answer(place)
                return
        raise self._combine_errors(failures)

    async def close(self) -> None:
        for model in self._models:
            await model.close()

    def _record_failure(self, place: int, error: ModelError, failures: list[ModelError]) -> None:
        self._cooldowns.record_failure(place)
        failures.append(error)
        if len(failures) < len(self._models):
            log.warning("%s; asking the next model", error)

    def _combine_errors(self, failures: Sequence[ModelError]) -> ModelError:
        last = failures[-1]
        if len(failures) == 1:
            return last
        combined = type(last)("no model answered: " + "; ".join(str(error) for error in failures))
        combined.refusal = last.refusal
        return combined

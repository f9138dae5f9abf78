"""What calls cost, and a ceiling on it.

Every call is recorded once, however it ends: answered, failed, or given up by the caller. Where a model may have
worked although no answer arrived, the tokens are estimated: a ceiling that counted only what succeeded would not hold
against a server that takes the money and breaks off.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from recollect.errors import ModelBusy, ModelRefused, ModelSpent, NoModel
from recollect.llm.answer import Count, estimate, rough, tokens_in
from recollect.llm.flow import closing
from recollect.ports import LLM, Completion, Request

OK = "ok"
CANCELLED = "cancelled"
GIVEN_UP = (asyncio.CancelledError, GeneratorExit)
FREE = (NoModel, ModelRefused, ModelBusy)  # with nothing said before, the model did not work


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model: for whom, what it cost, and its outcome: "ok", "cancelled" or the error's class name."""

    role: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


class Metered:
    """Records every call of a model. `for_task` gives the same model under a task's name."""

    def __init__(
        self,
        inner: LLM,
        role: str,
        record: Callable[[Call], object],
        *,
        task: str = "",
        count: Count = rough,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._role = role
        self._record = record
        self._task = task
        self._count = count
        self._clock = clock

    def for_task(self, task: str) -> Metered:
        return Metered(self._inner, self._role, self._record, task=task, count=self._count, clock=self._clock)

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: Request) -> Completion:
        begun = self._clock()
        answer: Completion | None = None
        error: BaseException | None = None
        try:
            answer = await self._inner.complete(request)
        except BaseException as failed:
            error = failed
            raise
        finally:
            self._write(request, begun, answer, error, "")
        return answer

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        begun = self._clock()
        answer: Completion | None = None
        error: BaseException | None = None
        said: list[str] = []
        try:
            async with closing(self._inner.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Completion):
                        answer = piece
                    else:
                        said.append(piece)
                    yield piece
        except BaseException as failed:
            error = failed
            raise
        finally:
            self._write(request, begun, answer, error, "".join(said))

    async def close(self) -> None:
        await self._inner.close()

    def _write(
        self, request: Request, begun: float, answer: Completion | None, error: BaseException | None, said: str
    ) -> None:
        seconds = self._clock() - begun
        if answer is not None:
            call = Call(self._role, self._task, answer.model, answer.tokens_in, answer.tokens_out, seconds, OK)
        else:
            free = isinstance(error, FREE) and not said
            spent = 0 if free else tokens_in(request.messages, self._count)
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            call = Call(self._role, self._task, self.name, spent, estimate(said, self._count), seconds, outcome)
        self._record(call)


class Ceiling:
    """Asks the model only while the day's tokens are below the limit.

    Calls already under way when the limit is reached are let through, so the limit can be passed by what those cost.
    """

    def __init__(self, inner: LLM, spent: Callable[[], Awaitable[int]], limit: int) -> None:
        self._inner = inner
        self._spent = spent
        self._limit = limit

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: Request) -> Completion:
        await self._check()
        return await self._inner.complete(request)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        await self._check()
        async with closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._inner.close()

    async def _check(self) -> None:
        if await self._spent() >= self._limit:
            raise ModelSpent(f"the day's ceiling of {self._limit:,} tokens is spent; memory work goes on offline")

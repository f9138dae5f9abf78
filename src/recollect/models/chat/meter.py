"""Records what calls cost, and enforces a ceiling.

Every call is recorded once, however it ends: answered, failed, or cancelled by the caller. If a model may have worked
although no answer arrived, the tokens are estimated: a ceiling that counts only successful calls would not stop a
server that charges and then breaks off.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from recollect.errors import ModelBusy, ModelCutOff, ModelRefused, ModelSpent, NoModel
from recollect.models.chat.answer import Count, estimate_request_tokens, estimate_tokens, rough_token_count
from recollect.models.chat.flow import closing
from recollect.ports import LLM, Completion, Request

OK = "ok"
CANCELLED = "cancelled"
CUT_OFF = "cut_off"
GIVEN_UP = (asyncio.CancelledError, GeneratorExit)
FREE = (NoModel, ModelRefused, ModelBusy)  # if no text came before, the call cost nothing


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: role, task, cost, and its outcome: "ok", "cut_off", "cancelled" or the
    error's class name."""

    role: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float
    outcome: str


class MeteredLLM:
    """Records every call of a model. `for_task` gives the same model under a task's name."""

    def __init__(
        self,
        inner: LLM,
        role: str,
        record: Callable[[ModelCall], object],
        *,
        task: str = "",
        count: Count = rough_token_count,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._role = role
        self._record = record
        self._task = task
        self._count = count
        self._clock = clock

    def for_task(self, task: str) -> MeteredLLM:
        return MeteredLLM(self._inner, self._role, self._record, task=task, count=self._count, clock=self._clock)

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: Request) -> Completion:
        start = self._clock()
        answer: Completion | None = None
        error: BaseException | None = None
        try:
            answer = await self._inner.complete(request)
        except BaseException as raised_error:
            error = raised_error
            raise
        finally:
            self._record_call(request, start, answer, error, "")
        return answer

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        start = self._clock()
        answer: Completion | None = None
        error: BaseException | None = None
        pieces_so_far: list[str] = []
        try:
            async with closing(self._inner.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Completion):
                        answer = piece
                    else:
                        pieces_so_far.append(piece)
                    yield piece
        except BaseException as raised_error:
            error = raised_error
            raise
        finally:
            self._record_call(request, start, answer, error, "".join(pieces_so_far))

    async def close(self) -> None:
        await self._inner.close()

    def _record_call(
        self, request: Request, start: float, answer: Completion | None, error: BaseException | None, text: str
    ) -> None:
        seconds = self._clock() - start
        if answer is not None:
            outcome = CUT_OFF if answer.finish == "length" else OK
            call = ModelCall(
                self._role, self._task, answer.model, answer.tokens_in, answer.tokens_out, seconds, outcome
            )
        elif isinstance(error, ModelCutOff):
            # What it thought is paid for: as much as the limit allows, if the server does not say how much.
            tokens = error.tokens or (
                estimate_request_tokens(request.messages, self._count),
                request.token_limit or estimate_tokens(text, self._count),
            )
            call = ModelCall(self._role, self._task, self.name, *tokens, seconds, CUT_OFF)
        else:
            is_free = isinstance(error, FREE) and not text
            request_tokens = 0 if is_free else estimate_request_tokens(request.messages, self._count)
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            call = ModelCall(
                self._role, self._task, self.name, request_tokens, estimate_tokens(text, self._count), seconds, outcome
            )
        self._record(call)


class Ceiling:
    """Asks the model only while the day's tokens are below the limit.

    Calls already under way when the limit is reached are not stopped, so the limit can be exceeded by their cost.
    """

    def __init__(self, inner: LLM, tokens_today: Callable[[], Awaitable[int]], limit: int) -> None:
        self._inner = inner
        self._tokens_today = tokens_today
        self._limit = limit

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: Request) -> Completion:
        await self._check_ceiling()
        return await self._inner.complete(request)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        await self._check_ceiling()
        async with closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._inner.close()

    async def _check_ceiling(self) -> None:
        if await self._tokens_today() >= self._limit:
            raise ModelSpent(f"the day's ceiling of {self._limit:,} tokens is spent; memory work goes on offline")

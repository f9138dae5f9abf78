"""Leaves a model room to think, and asks again with more room if its answer was cut off.

A task says how many tokens its answer needs. A reasoning model thinks first, and a limit counts that, too: a limit that
is right for the answer ends the thinking, and nothing is said. So each request of memory work allows more; an answer
that was cut off all the same is asked for once more, with a larger limit. The larger limit is refused by some servers:
then the limit of the first request is used again (`recollect.models.chat.form`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from recollect.errors import ModelCutOff, ModelError
from recollect.masking import masked_logger
from recollect.models.chat.flow import closing
from recollect.parsing import CutOffJson, UnreadableJson, read_json_at
from recollect.ports import LLM, Completion, Request

log = masked_logger("recollect.models.chat")

TIMES = 4  # the second limit, in times of the first
MOST = 32_000  # tokens, of the second limit


class ThinkingRoom:
    """A model whose requests allow `thinking_tokens` beyond their own limit; those without a limit are left alone."""

    def __init__(self, inner: LLM, thinking_tokens: int) -> None:
        self._inner = inner
        self._thinking_tokens = thinking_tokens

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(self, request: Request) -> Completion:
        if request.max_tokens is None:
            return await self._inner.complete(request)
        first_request = replace(request, thinking_tokens=self._thinking_tokens)
        completion: Completion | None = None
        try:
            completion = await self._inner.complete(first_request)
        except ModelCutOff as error:
            log.info("%s; it is asked again", error)
        if completion is not None and not is_cut_off(completion, first_request):
            return completion
        return await self._ask_again(first_request, completion)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        if request.max_tokens is not None:
            request = replace(request, thinking_tokens=self._thinking_tokens)
        async with closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        await self._inner.close()

    async def _ask_again(self, request: Request, cut_off: Completion | None) -> Completion:
        """The answer with a larger limit. If that fails, the one that was cut off, if it has any text: it may do."""
        limit = request.token_limit
        assert limit is not None
        larger_limit = max(min(limit * TIMES, MOST), limit)
        try:
            return await self._inner.complete(replace(request, max_tokens=limit, thinking_tokens=larger_limit - limit))
        except ModelError:
            if cut_off is None:
                raise
            return cut_off


def is_cut_off(completion: Completion, request: Request) -> bool:
    """Whether a limit ended the answer. A server that does not say so is not trusted with JSON that has no end."""
    if completion.finish == "length":
        return True
    limit = request.token_limit
    is_suspect = completion.finish is None or (limit is not None and completion.tokens_out >= limit)
    return is_suspect and completion.complete and request.schema is not None and is_unfinished_json(completion.text)


def is_unfinished_json(text: str) -> bool:
    """Whether a text ends within a JSON object that it begins."""
    start = text.find("{")
    text = text.rstrip()
    if start < 0:
        return False
    try:
        read_json_at(text, start)
    except CutOffJson:
        return True
    except UnreadableJson:
        return False
    return False

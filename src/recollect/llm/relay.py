"""Relaying: a request in OpenAI's own words is passed on as it is, and the answer comes back in them.

What is passed on is only looked at, as closely as needs be: it must be JSON of the right shape, of bounded size, and
its text must be text, so that whoever shows it can also keep it. Half a surrogate pair at the end of a piece waits for
its other half. Models that take nothing but text (`Plain`) answer in the same shapes, and say what they cannot do.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, cast

from recollect.errors import ModelError, ModelRefused, Refusal
from recollect.llm.answer import LARGEST, Count, estimate, parsed, usage
from recollect.llm.chain import PASSED_ON, Rests
from recollect.llm.flow import closing
from recollect.llm.meter import CANCELLED, FREE, GIVEN_UP, OK, Call
from recollect.llm.trouble import Trouble
from recollect.model import ChatMessage
from recollect.ports import LLM, Completion, Relay, Request

TEXTUAL = ("content", "refusal", "reasoning_content")
LONGEST = 64 << 20  # characters of a stream, with all that stands around the text
DEEPEST = 100  # objects and lists in each other
MOST_CHOICES = 128  # as many as OpenAI gives
ABOUT_US = (401, 402, 403, 404, 408, 409, 429)  # refusals that have nothing to do with who asks what
UNABLE = ("tools", "functions", "response_format", "logprobs", "audio", "modalities")  # what takes more than text


class Relayed:
    """One answer as it passes: `whole`, or `chunk` by chunk."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._halves: dict[tuple[int, str], str] = {}
        self._size = self._raw = 0
        self.finished = False

    def whole(self, raw: bytes) -> dict[str, Any]:
        reply = self._checked(parsed(raw, self._trouble), "message")
        if not reply["choices"]:
            raise self._trouble.foreign("no choices")
        return reply

    def chunk(self, event: str) -> dict[str, Any]:
        self._raw += len(event)
        if self._raw > LONGEST:
            raise self._trouble.nonsense(f"more than {LONGEST >> 20} MiB; ask for less")
        return self._checked(parsed(event, self._trouble), "delta")

    def _checked(self, reply: object, part: str) -> dict[str, Any]:
        if not isinstance(reply, dict) or too_deep(reply):
            raise self._trouble.foreign("JSON that is no object, or has no end")
        if reply.get("error"):
            raise self._trouble.reported(reply["error"])
        choices = reply.get("choices")
        if choices is None and part == "delta":
            choices = []  # only says what the answer cost, or that the server is still there
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise self._trouble.foreign("no choices")
        return {**reply, "choices": [self._choice(choice, part, place) for place, choice in enumerate(choices)]}

    def _choice(self, choice: dict[str, Any], part: str, place: int) -> dict[str, Any]:
        said = choice.get(part)
        said = {} if said is None and part == "delta" else said
        index = choice.get("index")
        index = index if isinstance(index, int) and 0 <= index < MOST_CHOICES else place
        calls = said.get("tool_calls") if isinstance(said, dict) else None
        if not isinstance(said, dict) or not isinstance(calls, list | None):
            raise self._trouble.foreign("something that is not text")
        finish = choice.get("finish_reason")
        self.finished = self.finished or isinstance(finish, str)
        texts = {name: self._text(index, name, said[name], part) for name in TEXTUAL if said.get(name) is not None}
        return {**choice, "index": index, part: {**said, **texts}, "finish_reason": finish}

    def _text(self, index: int, name: str, text: object, part: str) -> str:
        if not isinstance(text, str):
            raise self._trouble.foreign("something that is not text")
        text = self._halves.pop((index, name), "") + text
        if part == "delta" and text and "\ud800" <= text[-1] <= "\udbff":
            text, self._halves[index, name] = text[:-1], text[-1]
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")
        self._size += len(text.encode("utf-8"))
        if self._size > LARGEST:
            raise self._trouble.nonsense(f"more than {LARGEST >> 20} MiB of text; ask for less")
        return text


class Plain:
    """A model that takes text and gives text, in OpenAI's shapes."""

    def __init__(self, inner: LLM) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        request = self._request(body)
        frame = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body["model"]}
        if not body.get("stream"):
            done = await self._inner.complete(request)
            message = {"role": "assistant", "content": done.text}
            choices = [{"index": 0, "message": message, "finish_reason": ended(done), "logprobs": None}]
            yield {**frame, "object": "chat.completion", "choices": choices, "usage": cost(done)}
            return
        frame["object"] = "chat.completion.chunk"
        async with closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    finish = [{"index": 0, "delta": {}, "finish_reason": ended(piece)}]
                    yield {**frame, "choices": finish}
                    yield {**frame, "choices": [], "usage": cost(piece)}
                elif piece:
                    yield {**frame, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}

    def _request(self, body: Mapping[str, Any]) -> Request:
        unable = [name for name in UNABLE if body.get(name) not in (None, [], False, {"type": "text"}, ["text"])]
        if body.get("n") not in (None, 1):
            unable.append("n")
        if unable:
            text = f"{', '.join(unable)}: this model takes text and gives one reply; leave these out"
            error = ModelRefused(f"{self.name}: {text}")
            error.refusal = Refusal(400, text, "invalid_request_error", "unsupported_parameter", unable[0])
            raise error
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        messages = [ChatMessage(role=str(m["role"]), content=text_of(m.get("content"))) for m in body["messages"]]
        return Request(messages, body.get("temperature"), limit if isinstance(limit, int) else None)


class RelayChain:
    """Models asked in order, as `Chain` does it, each call recorded. `fixed` is the name to ask for at the first."""

    def __init__(
        self,
        models: Sequence[LLM],
        rests: Rests,
        record: Callable[[Call], object],
        about: tuple[str, str],
        count: Count,
        fixed: str = "",
    ) -> None:
        self._models, self._rests, self._record, self._count = models, rests, record, count
        self._role, self._task = about
        self._fixed = fixed

    @property
    def name(self) -> str:
        return ", then ".join(model.name for model in self._models)

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        for last, place in latest(self._rests.order(len(self._models))):
            model, begun = self._models[place], False
            named = self._fixed or called(model)
            asked = model if isinstance(model, Relay) else Plain(model)
            try:
                async with closing(self._metered(asked, {**body, "model": named}, model.name)) as chunks:
                    async for chunk in chunks:
                        begun = True
                        yield chunk if chunk.get("model") else {**chunk, "model": named}
            except PASSED_ON as error:
                if not askers_own(error):
                    self._rests.failed(place)
                if begun or last:
                    raise
            else:
                self._rests.answered(place)
                return

    async def _metered(self, model: Relay, body: Mapping[str, Any], name: str) -> AsyncIterator[dict[str, Any]]:
        begun, spent, said, heard = time.monotonic(), None, 0, False
        outcome = OK
        try:
            async with closing(model.relay(body)) as chunks:
                async for chunk in chunks:
                    heard = True
                    spent = usage(chunk.get("usage")) or spent
                    said += sum(map(len, texts(chunk)))
                    yield chunk
        except BaseException as error:
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            if isinstance(error, FREE) and not heard:
                spent = (0, 0)
            raise
        finally:
            # A name that no server has accepted is only what somebody wrote.
            known = str(body["model"]) if heard else name
            asked = (
                sum(estimate(text_of(m.get("content")), self._count) for m in body["messages"]) if spent is None else 0
            )
            tokens = spent or (asked, said // 4)
            seconds = time.monotonic() - begun
            self._record(Call(self._role, self._task, known, *tokens, seconds, outcome))


def too_deep(value: object) -> bool:
    """Whether it has more in each other than anybody who reads it on can follow."""
    level, here = 0, [value]
    while here and level <= DEEPEST:
        level += 1
        inside = [one.values() if isinstance(one, dict) else one for one in here if isinstance(one, dict | list)]
        here = [one for every in inside for one in every]
    return level > DEEPEST


def askers_own(error: ModelError) -> bool:
    """Whether it is about what was asked: that says nothing of how the model would answer others."""
    status = error.refusal.status if error.refusal is not None else 0
    return 400 <= status < 500 and status not in ABOUT_US


def latest(places: Sequence[int]) -> list[tuple[bool, int]]:
    """Each with whether it is the last."""
    return [(number == len(places), place) for number, place in enumerate(places, 1)]


def called(model: LLM) -> str:
    """What a model is called in a request."""
    return cast(str, getattr(model, "model", model.name))


def texts(chunk: Mapping[str, Any]) -> list[str]:
    said = [choice.get("delta") or choice.get("message") or {} for choice in chunk["choices"]]
    return [one["content"] for one in said if isinstance(one.get("content"), str)]


def text_of(content: object) -> str:
    """The text of a message's content, which may be in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def ended(done: Completion) -> str:
    return "stop" if done.complete else "length"


def cost(done: Completion) -> dict[str, int]:
    spent, made = done.tokens_in, done.tokens_out
    return {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made}

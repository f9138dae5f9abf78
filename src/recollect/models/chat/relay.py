"""Relays requests: a body in OpenAI's format is passed on unchanged, and the answer comes back in that format.

An answer is only checked: it must be JSON of the right structure, of bounded size, and its text must be valid text, so
that it can also be stored. Half a surrogate pair at the end of a piece waits for its other half. Models that take only
text (`TextOnlyRelay`) answer in the same format, and refuse what they do not support.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, cast

from recollect.errors import ModelError, ModelRefused, Refusal
from recollect.model import ChatMessage
from recollect.models.chat.answer import LARGEST, Count, estimate_tokens, parse_json, parse_usage
from recollect.models.chat.chain import PASSED_ON, Cooldowns
from recollect.models.chat.flow import closing
from recollect.models.chat.meter import CANCELLED, FREE, GIVEN_UP, OK, ModelCall
from recollect.models.chat.trouble import Trouble
from recollect.ports import LLM, Completion, Relay, Request

TEXTUAL = ("content", "refusal", "reasoning_content")
LONGEST = 64 << 20  # characters of a stream, with the JSON around the text
DEEPEST = 100  # levels of nested objects and lists
MOST_CHOICES = 128  # as many as OpenAI gives
ABOUT_US = (401, 402, 403, 404, 408, 409, 429)  # refusals that do not depend on the request
UNABLE = ("tools", "functions", "response_format", "logprobs", "audio", "modalities")  # fields that need more than text


class RelayReader:
    """Checks one answer while it is relayed: `read_body` for a whole one, `read_event` for each event of a stream."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._halves: dict[tuple[int, str], str] = {}
        self._size = self._raw = 0
        self.finished = False

    def read_body(self, raw: bytes) -> dict[str, Any]:
        reply = self._check_reply(parse_json(raw, self._trouble), "message")
        if not reply["choices"]:
            raise self._trouble.foreign_answer("no choices")
        return reply

    def read_event(self, event: str) -> dict[str, Any]:
        self._raw += len(event)
        if self._raw > LONGEST:
            raise self._trouble.nonsense(f"more than {LONGEST >> 20} MiB; ask for less")
        return self._check_reply(parse_json(event, self._trouble), "delta")

    def _check_reply(self, reply: object, part: str) -> dict[str, Any]:
        if not isinstance(reply, dict) or is_too_deep(reply):
            raise self._trouble.foreign_answer("JSON that is no object, or has no end")
        if reply.get("error"):
            raise self._trouble.error_in_answer(reply["error"])
        choices = reply.get("choices")
        if choices is None and part == "delta":
            choices = []  # only reports usage, or that the server is still there
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise self._trouble.foreign_answer("no choices")
        return {**reply, "choices": [self._check_choice(choice, part, place) for place, choice in enumerate(choices)]}

    def _check_choice(self, choice: dict[str, Any], part: str, place: int) -> dict[str, Any]:
        message = choice.get(part)
        message = {} if message is None and part == "delta" else message
        index = choice.get("index")
        index = index if isinstance(index, int) and 0 <= index < MOST_CHOICES else place
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(calls, list | None):
            raise self._trouble.foreign_answer("something that is not text")
        finish = choice.get("finish_reason")
        self.finished = self.finished or isinstance(finish, str)
        texts = {
            name: self._clean_text(index, name, message[name], part)
            for name in TEXTUAL
            if message.get(name) is not None
        }
        return {**choice, "index": index, part: {**message, **texts}, "finish_reason": finish}

    def _clean_text(self, index: int, name: str, text: object, part: str) -> str:
        if not isinstance(text, str):
            raise self._trouble.foreign_answer("something that is not text")
        text = self._halves.pop((index, name), "") + text
        if part == "delta" and text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[index, name] = text[-1]
            text = text[:-1]
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")
        self._size += len(text.encode("utf-8"))
        if self._size > LARGEST:
            raise self._trouble.nonsense(f"more than {LARGEST >> 20} MiB of text; ask for less")
        return text


class TextOnlyRelay:
    """A model that takes text and gives text, in OpenAI's format."""

    def __init__(self, inner: LLM) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        request = self._request(body)
        frame = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body["model"]}
        if not body.get("stream"):
            completion = await self._inner.complete(request)
            message = {"role": "assistant", "content": completion.text}
            choices = [{"index": 0, "message": message, "finish_reason": finish_reason(completion), "logprobs": None}]
            yield {**frame, "object": "chat.completion", "choices": choices, "usage": usage_fields(completion)}
            return
        frame["object"] = "chat.completion.chunk"
        async with closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Completion):
                    finish = [{"index": 0, "delta": {}, "finish_reason": finish_reason(piece)}]
                    yield {**frame, "choices": finish}
                    yield {**frame, "choices": [], "usage": usage_fields(piece)}
                elif piece:
                    yield {**frame, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}

    def _request(self, body: Mapping[str, Any]) -> Request:
        unsupported_fields = [
            name for name in UNABLE if body.get(name) not in (None, [], False, {"type": "text"}, ["text"])
        ]
        if body.get("n") not in (None, 1):
            unsupported_fields.append("n")
        if unsupported_fields:
            text = f"{', '.join(unsupported_fields)}: this model takes text and gives one reply; leave these out"
            error = ModelRefused(f"{self.name}: {text}")
            error.refusal = Refusal(400, text, "invalid_request_error", "unsupported_parameter", unsupported_fields[0])
            raise error
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        messages = [ChatMessage(role=str(m["role"]), content=content_text(m.get("content"))) for m in body["messages"]]
        return Request(messages, body.get("temperature"), limit if isinstance(limit, int) else None)


class RelayChain:
    """Asks models in order, as `Chain` does, and records each call. `model_name`, if given, is sent to every model."""

    def __init__(
        self,
        models: Sequence[LLM],
        cooldowns: Cooldowns,
        record: Callable[[ModelCall], object],
        about: tuple[str, str],
        count: Count,
        model_name: str = "",
    ) -> None:
        self._models = models
        self._cooldowns = cooldowns
        self._record = record
        self._count = count
        self._role, self._task = about
        self._model_name = model_name

    @property
    def name(self) -> str:
        return ", then ".join(model.name for model in self._models)

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        for is_last, place in with_last_flag(self._cooldowns.order(len(self._models))):
            model = self._models[place]
            has_output = False
            model_name = self._model_name or name_in_request(model)
            relay = model if isinstance(model, Relay) else TextOnlyRelay(model)
            try:
                async with closing(self._relay_and_record(relay, {**body, "model": model_name}, model.name)) as chunks:
                    async for chunk in chunks:
                        has_output = True
                        yield chunk if chunk.get("model") else {**chunk, "model": model_name}
            except PASSED_ON as error:
                if not is_request_fault(error):
                    self._cooldowns.record_failure(place)
                if has_output or is_last:
                    raise
            else:
                self._cooldowns.record_answer(place)
                return

    async def _relay_and_record(
        self, model: Relay, body: Mapping[str, Any], name: str
    ) -> AsyncIterator[dict[str, Any]]:
        start = time.monotonic()
        token_usage: tuple[int, int] | None = None
        characters = 0
        has_output = False
        outcome = OK
        try:
            async with closing(model.relay(body)) as chunks:
                async for chunk in chunks:
                    has_output = True
                    token_usage = parse_usage(chunk.get("usage")) or token_usage
                    characters += sum(map(len, chunk_texts(chunk)))
                    yield chunk
        except BaseException as error:
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            if isinstance(error, FREE) and not has_output:
                token_usage = (0, 0)
            raise
        finally:
            # A name that no server has accepted may be any text of a caller: it is not recorded.
            model_name = str(body["model"]) if has_output else name
            request_tokens = (
                sum(estimate_tokens(content_text(m.get("content")), self._count) for m in body["messages"])
                if token_usage is None
                else 0
            )
            tokens = token_usage or (request_tokens, characters // 4)
            seconds = time.monotonic() - start
            self._record(ModelCall(self._role, self._task, model_name, *tokens, seconds, outcome))


def is_too_deep(value: object) -> bool:
    """Whether objects and lists are nested deeper than later readers can follow."""
    level = 0
    nodes = [value]
    while nodes and level <= DEEPEST:
        level += 1
        inner = [node.values() if isinstance(node, dict) else node for node in nodes if isinstance(node, dict | list)]
        nodes = [child for children in inner for child in children]
    return level > DEEPEST


def is_request_fault(error: ModelError) -> bool:
    """Whether the request is at fault: then the model may still answer other requests."""
    status = error.refusal.status if error.refusal is not None else 0
    return 400 <= status < 500 and status not in ABOUT_US


def with_last_flag(places: Sequence[int]) -> list[tuple[bool, int]]:
    """Each place, with whether it is the last."""
    return [(number == len(places), place) for number, place in enumerate(places, 1)]


def name_in_request(model: LLM) -> str:
    """The name of a model in a request."""
    return cast(str, getattr(model, "model", model.name))


def chunk_texts(chunk: Mapping[str, Any]) -> list[str]:
    messages = [choice.get("delta") or choice.get("message") or {} for choice in chunk["choices"]]
    return [message["content"] for message in messages if isinstance(message.get("content"), str)]


def content_text(content: object) -> str:
    """The text of a message's content, which may be in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def finish_reason(completion: Completion) -> str:
    return "stop" if completion.complete else "length"


def usage_fields(completion: Completion) -> dict[str, int]:
    return {
        "prompt_tokens": completion.tokens_in,
        "completion_tokens": completion.tokens_out,
        "total_tokens": completion.tokens_in + completion.tokens_out,
    }

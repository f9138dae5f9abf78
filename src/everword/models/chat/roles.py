"""A role is what models are used for: `chat` answers people, `memory` does the work in the background. Small merges may
have models of their own (`TaskRouter`), each role with its own chain.

A role has models in order of preference. For each task they are one `LLM`: a chain of models, each with room to think
(`ThinkingRoom`) around a ceiling around a meter. The meters are innermost, so that a model that failed before another
answered is counted too, and a second request after an answer that was cut off; the ceiling is asked before each of
them. The cooldowns belong to the role, so that every task knows which model is down.

A model that failed is asked last until its cooldown is over, so that an outage costs its timeout once and not at every
turn. Once a piece of an answer has been passed on, no other model takes over: an answer comes from one model.

Every call is recorded once, however it ends: answered, failed, or cancelled by the caller. If a model may have worked
although no answer arrived, the tokens are estimated: a ceiling that counts only successful calls would not stop a
server that charges and then breaks off.

A relay passes a body in OpenAI's format on unchanged, and the answer comes back in that format.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from everword import errors
from everword.masking import masked_logger
from everword.model import ChatMessage
from everword.models.chat import answers
from everword.ports import LLM, Completion, ForeignApi, Forwarder, Models, Relay, Request
from everword.strict_json import CutOffJson, UnreadableJson, read_json_at

OURS = "everword"  # as the name of a model: whichever is configured
log = masked_logger("everword.models.chat")

REST = 30.0  # seconds
PASSED_ON = (errors.ModelTimeout, errors.ModelBusy, errors.ModelNonsense, errors.ModelRefused)
OK = "ok"
CANCELLED = "cancelled"
CUT_OFF = "cut_off"
GIVEN_UP = (asyncio.CancelledError, GeneratorExit)
FREE = (errors.NoModel, errors.ModelRefused, errors.ModelBusy)  # if no text came before, the call cost nothing

TIMES = 4  # the second limit, in times of the first
MOST = 32_000  # tokens, of the second limit
ABOUT_US = (401, 402, 403, 404, 408, 409, 429)  # refusals that do not depend on the request
UNABLE = ("tools", "functions", "response_format", "logprobs", "audio", "modalities")  # fields that need more than text
HOW_TO = (
    "no chat model is configured: set EVERWORD_CHAT_URL to the address of any OpenAI-compatible server, "
    "EVERWORD_CHAT_MODEL to the model's name and EVERWORD_CHAT_KEY to its key (if it needs one), "
    "or try the small model that runs here: everword chat --local"
)


class CallMeter(Protocol):
    """Where calls are counted."""

    def record(self, call: ModelCall) -> None: ...

    async def tokens_today(self) -> int:
        """The tokens that memory work has used today."""


class Role:
    """`for_task` gives the role's models as one `LLM`, whose calls are recorded under the name of a task."""

    def __init__(
        self,
        name: str,
        models: Sequence[LLM],
        meter: CallMeter,
        *,
        limit: int | None = None,
        count: answers.Count = answers.rough_token_count,
        cooldowns: Cooldowns | None = None,
        thinking_tokens: int | None = None,
    ) -> None:
        if not models:
            raise errors.InvalidInput("models", "is empty; give at least one model")
        self.name = name
        self._models = tuple(models)
        self._meter = meter
        self._count = count
        self._metered = [MeteredLLM(model, name, meter, count=count) for model in models]
        self._cooldowns = cooldowns or Cooldowns()
        self._limit = limit
        self._thinking_tokens = thinking_tokens

    def for_task(self, task: str) -> LLM:
        return Chain([self._with_limits(model.for_task(task)) for model in self._metered], self._cooldowns)

    def _with_limits(self, model: LLM) -> LLM:
        """The model with what bounds each of its calls: the day's ceiling, and the room it has for thinking."""
        if self._limit is not None:
            model = Ceiling(model, self._meter, self._limit)
        return model if self._thinking_tokens is None else ThinkingRoom(model, self._thinking_tokens)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(name_in_request(model) for model in self._models if not isinstance(model, NoModelLLM))
        )

    def relay(self, task: str, model: str) -> Relay:
        """A relay for a model. An unknown name is sent only to the first model that can relay it."""
        names = [name_in_request(candidate) for candidate in self._models]
        relays = [candidate for candidate in self._models if isinstance(candidate, Relay)]
        place = names.index(model) if model in names else 0
        models = self._models
        cooldowns = self._cooldowns
        unknown_name = ""
        if place:
            models = (models[place], *models[:place], *models[place + 1 :])
            cooldowns = Cooldowns()
        elif relays and model not in ("", OURS, *names):
            models = (cast(LLM, relays[0]),)
            cooldowns = Cooldowns()
            unknown_name = model
        return RelayChain(models, cooldowns, self._meter, (self.name, task), self._count, unknown_name)

    def forwarder(self, task: str, model: str, api: ForeignApi, headers: Mapping[str, str]) -> Relay | None:
        """The model that `relay` would ask first, if its server speaks this API."""
        candidates = [candidate for candidate in self._models if name_in_request(candidate) == model]
        first: Any = (*candidates, *self._models)[0]
        if not isinstance(first, Forwarder) or api not in first.apis:
            return None
        name = model if model not in ("", OURS) else cast(str, getattr(first, "model", ""))
        return ForwardRelay(first, api, headers, name, self._meter, (self.name, task))

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

    def forwarder(self, task: str, model: str, api: ForeignApi, headers: Mapping[str, str]) -> Relay | None:
        return (self._other if task in self._tasks else self._default).forwarder(task, model, api, headers)

    async def close(self) -> None:
        await self._default.close()
        await self._other.close()


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
            raise errors.InvalidInput("models", "is empty; give at least one model")
        self._models = tuple(models)
        self._cooldowns = cooldowns or Cooldowns()

    @property
    def name(self) -> str:
        return ", then ".join(model.name for model in self._models)

    async def complete(self, request: Request) -> Completion:
        failures: list[errors.ModelError] = []
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
        failures: list[errors.ModelError] = []
        for place in self._cooldowns.order(len(self._models)):
            has_output = False
            try:
                async with answers.closing(self._models[place].stream(request)) as pieces:
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

    def _record_failure(self, place: int, error: errors.ModelError, failures: list[errors.ModelError]) -> None:
        self._cooldowns.record_failure(place)
        failures.append(error)
        if len(failures) < len(self._models):
            log.warning("%s; asking the next model", error)

    def _combine_errors(self, failures: Sequence[errors.ModelError]) -> errors.ModelError:
        last = failures[-1]
        if len(failures) == 1:
            return last
        combined = type(last)("no model answered: " + "; ".join(str(error) for error in failures))
        combined.refusal = last.refusal
        return combined


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


class WrappedLLM:
    """A model with something around each of its calls."""

    def __init__(self, inner: LLM) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    async def close(self) -> None:
        await self._inner.close()


class MeteredLLM(WrappedLLM):
    """Records every call of a model. `for_task` gives the same model under a task's name."""

    def __init__(
        self,
        inner: LLM,
        role: str,
        meter: CallMeter,
        *,
        task: str = "",
        count: answers.Count = answers.rough_token_count,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(inner)
        self._role = role
        self._meter = meter
        self._task = task
        self._count = count
        self._clock = clock

    def for_task(self, task: str) -> MeteredLLM:
        return MeteredLLM(self._inner, self._role, self._meter, task=task, count=self._count, clock=self._clock)

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
            async with answers.closing(self._inner.stream(request)) as pieces:
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

    def _record_call(
        self, request: Request, start: float, answer: Completion | None, error: BaseException | None, text: str
    ) -> None:
        seconds = self._clock() - start
        if answer is not None:
            outcome = CUT_OFF if answer.finish == "length" else OK
            call = ModelCall(
                self._role, self._task, answer.model, answer.tokens_in, answer.tokens_out, seconds, outcome
            )
        elif isinstance(error, errors.ModelCutOff):
            # What it thought is paid for: as much as the limit allows, if the server does not say how much.
            tokens = error.tokens or (
                answers.estimate_request_tokens(request.messages, self._count),
                request.token_limit or answers.estimate_tokens(text, self._count),
            )
            call = ModelCall(self._role, self._task, self.name, *tokens, seconds, CUT_OFF)
        else:
            is_free = isinstance(error, FREE) and not text
            request_tokens = 0 if is_free else answers.estimate_request_tokens(request.messages, self._count)
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            call = ModelCall(
                self._role,
                self._task,
                self.name,
                request_tokens,
                answers.estimate_tokens(text, self._count),
                seconds,
                outcome,
            )
        self._meter.record(call)


class Ceiling(WrappedLLM):
    """Asks the model only while the day's tokens are below the limit.

    Calls already under way when the limit is reached are not stopped, so the limit can be exceeded by their cost.
    """

    def __init__(self, inner: LLM, meter: CallMeter, limit: int) -> None:
        super().__init__(inner)
        self._meter = meter
        self._limit = limit

    async def complete(self, request: Request) -> Completion:
        await self._check_ceiling()
        return await self._inner.complete(request)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        await self._check_ceiling()
        async with answers.closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _check_ceiling(self) -> None:
        if await self._meter.tokens_today() >= self._limit:
            raise errors.ModelSpent(
                f"the {self._limit:,} tokens that daily_tokens allows per day are used up; built-in rules do "
                "the memory work"
            )


class ThinkingRoom(WrappedLLM):
    """A model whose requests allow `thinking_tokens` beyond their own limit; those without a limit are left alone."""

    def __init__(self, inner: LLM, thinking_tokens: int) -> None:
        super().__init__(inner)
        self._thinking_tokens = thinking_tokens

    async def complete(self, request: Request) -> Completion:
        if request.max_tokens is None:
            return await self._inner.complete(request)
        first_request = replace(request, thinking_tokens=self._thinking_tokens)
        completion: Completion | None = None
        try:
            completion = await self._inner.complete(first_request)
        except errors.ModelCutOff as error:
            log.info("%s; it is asked again", error)
        if completion is not None and not is_cut_off(completion, first_request):
            return completion
        return await self._ask_again(first_request, completion)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        if request.max_tokens is not None:
            request = replace(request, thinking_tokens=self._thinking_tokens)
        async with answers.closing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _ask_again(self, request: Request, cut_off: Completion | None) -> Completion:
        """The answer with a larger limit. If that fails, the one that was cut off, if it has any text: it may do."""
        limit = request.token_limit
        assert limit is not None
        larger_limit = max(min(limit * TIMES, MOST), limit)
        try:
            return await self._inner.complete(replace(request, max_tokens=limit, thinking_tokens=larger_limit - limit))
        except errors.ModelError:
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


class TextOnlyRelay(WrappedLLM):
    """A model that takes text and gives text, in OpenAI's format."""

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
        async with answers.closing(self._inner.stream(request)) as pieces:
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
            error = errors.ModelRefused(f"{self.name}: {text}")
            error.refusal = errors.Refusal(
                400, text, "invalid_request_error", "unsupported_parameter", unsupported_fields[0]
            )
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
        meter: CallMeter,
        about: tuple[str, str],
        count: answers.Count,
        model_name: str = "",
    ) -> None:
        self._models = models
        self._cooldowns = cooldowns
        self._meter = meter
        self._count = count
        self._role, self._task = about
        self._model_name = model_name

    @property
    def name(self) -> str:
        return ", then ".join(model.name for model in self._models)

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        for number, place in enumerate(self._cooldowns.order(len(self._models)), 1):
            model = self._models[place]
            has_output = False
            model_name = self._model_name or name_in_request(model)
            relay = model if isinstance(model, Relay) else TextOnlyRelay(model)
            try:
                async with answers.closing(
                    self._relay_and_record(relay, {**body, "model": model_name}, model.name)
                ) as chunks:
                    async for chunk in chunks:
                        has_output = True
                        yield chunk if chunk.get("model") else {**chunk, "model": model_name}
            except PASSED_ON as error:
                if not is_request_fault(error):
                    self._cooldowns.record_failure(place)
                if has_output or number == len(self._models):
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
            async with answers.closing(model.relay(body)) as chunks:
                async for chunk in chunks:
                    has_output = True
                    token_usage = answers.parse_usage(chunk.get("usage")) or token_usage
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
            if token_usage is None:
                texts = [content_text(message.get("content")) for message in body["messages"]]
                token_usage = (sum(answers.estimate_tokens(text, self._count) for text in texts), characters // 4)
            seconds = time.monotonic() - start
            self._meter.record(ModelCall(self._role, self._task, model_name, *token_usage, seconds, outcome))


class ForwardRelay:
    """A model that is asked in another API, and each call recorded."""

    def __init__(
        self,
        model: Forwarder,
        api: ForeignApi,
        headers: Mapping[str, str],
        model_name: str,
        meter: CallMeter,
        about: tuple[str, str],
    ) -> None:
        self._model = model
        self._api = api
        self._headers = headers
        self._model_name = model_name
        self._meter = meter
        self._role, self._task = about

    @property
    def name(self) -> str:
        return cast(LLM, self._model).name

    async def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        start = time.monotonic()
        counts: dict[str, Any] = {}
        size = 0
        outcome = OK
        try:
            request = {**body, "model": self._model_name}
            async with answers.closing(self._model.forward(self._api, request, self._headers)) as events:
                async for event in events:
                    size += len(str(event.get("delta", "")))
                    counts |= usage_counts(event)
                    yield event
        except BaseException as error:
            outcome = CANCELLED if isinstance(error, GIVEN_UP) else type(error).__name__
            raise
        finally:
            is_free = outcome not in (OK, CANCELLED) and not counts and not size
            estimate = (0, 0) if is_free else (len(str(body)) // 4, size // 4)
            tokens = answers.parse_usage(counts) or estimate
            name = self._model_name if counts else self.name  # a name that no server has accepted is not recorded
            seconds = time.monotonic() - start
            self._meter.record(ModelCall(self._role, self._task, name, *tokens, seconds, outcome))


def usage_counts(event: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of tokens that an event of another API has, or an answer."""
    places = (event, event.get("message"), event.get("response"))
    usages = [place.get("usage") for place in places if isinstance(place, Mapping)]
    return {name: count for usage in usages if isinstance(usage, Mapping) for name, count in usage.items() if count}


def is_request_fault(error: errors.ModelError) -> bool:
    """Whether the request is at fault: then the model may still answer other requests."""
    status = error.refusal.status if error.refusal is not None else 0
    return 400 <= status < 500 and status not in ABOUT_US


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


class NoModelLLM:
    """Raises `NoModel`, which says how to configure one."""

    @property
    def name(self) -> str:
        return "no model"

    async def complete(self, request: Request) -> Completion:
        raise errors.NoModel(HOW_TO)

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        yield await self.complete(request)

    async def close(self) -> None:
        """Nothing is open."""

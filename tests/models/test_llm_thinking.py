"""Memory calls leave a model room to think; an answer that was cut off is asked for again, with more room."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from call_log import CallLog
from llm_client import complete, current_loop, request, with_model
from llm_server import Exchange, Step, fails, falls_silent, replies, says, serving, unless

from everword import Memory
from everword.errors import ModelCutOff, ModelSpent, ModelTimeout
from everword.models.chat.roles import MOST, TIMES, ModelCall, Role, ThinkingRoom, is_unfinished_json
from everword.ports import LLM, Completion, Request
from everword.testing import ScriptedLLM

pytest.importorskip("openai")

NEED = 740  # tokens that a task allows for its answer
ROOM = 4_000
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}
ANSWER = '{"facts": []}'
QUESTION = request("Find facts.", "I like tea.", max_tokens=NEED, schema=SCHEMA)


def limit_of(asked: dict[str, Any]) -> int:
    limit = asked.get("max_tokens", asked.get("max_completion_tokens"))
    assert isinstance(limit, int)
    return limit


def thinks(tokens: int, answer: str = ANSWER, needs: int = 60) -> Step:
    """A reasoning model that thinks for so many tokens before it answers, as far as its limit goes."""

    def step(exchange: Exchange) -> None:
        limit = limit_of(exchange.service.requests[-1])
        content = answer if tokens + needs <= limit else answer[: max(limit - tokens, 0)]
        finish = "stop" if content == answer else "length"
        message = {"role": "assistant", "content": content, "reasoning_content": "Hm. " * 20}
        usage = {"prompt_tokens": 100, "completion_tokens": min(tokens + needs, limit)}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
        replies(json.dumps(body).encode())(exchange)

    return step


def allows(most: int, complaint: str, then: Step) -> Step:
    """A server that refuses a larger limit."""
    return unless(lambda asked: limit_of(asked) <= most, complaint, then)


def ask_role(
    steps: Sequence[Step], asked: Sequence[Request] = (QUESTION,), **options: Any
) -> tuple[list[Completion], list[int], list[ModelCall]]:
    """The answers of a memory role at a server, the limits it sent, and the calls it recorded."""
    calls = CallLog()

    async def ask(model: LLM) -> list[Completion]:
        role = Role("memory", [model], calls, **{"thinking_tokens": ROOM, **options})
        return [await role.for_task("facts").complete(question) for question in asked]

    with serving(*steps) as service:
        answers = with_model(service, ask, retries=0)
    return answers, [limit_of(body) for body in service.requests], calls


def test_a_model_that_thinks_3000_tokens_has_room_for_its_answer() -> None:
    (answer,), limits, calls = ask_role([thinks(3_000)])
    assert answer.text == ANSWER
    assert limits == [NEED + ROOM]
    assert [(call.tokens_out, call.outcome) for call in calls] == [(3_060, "ok")]


def test_without_room_it_says_nothing_and_is_asked_again_with_four_times_the_limit() -> None:
    (answer,), limits, calls = ask_role([thinks(2_000)], thinking_tokens=0)
    assert answer.text == ANSWER
    assert limits == [NEED, TIMES * NEED]
    assert [(call.tokens_out, call.outcome) for call in calls] == [(NEED, "cut_off"), (2_060, "ok")]


@pytest.mark.parametrize("thought", [NEED + ROOM + 1, NEED + ROOM - 7], ids=["nothing is said", "half of the JSON"])
def test_a_cut_off_answer_is_asked_for_once_more(thought: int) -> None:
    (answer,), limits, calls = ask_role([thinks(thought)])
    assert answer.text == ANSWER
    assert answer.complete
    assert limits == [NEED + ROOM, TIMES * (NEED + ROOM)]
    assert [call.outcome for call in calls] == ["cut_off", "ok"]


def test_the_larger_limit_has_an_end_and_is_asked_with_once() -> None:
    question = request("Write.", "All of it.", max_tokens=12_000, schema=SCHEMA)
    with pytest.raises(ModelCutOff):
        ask_role([thinks(1_000_000)], [question])
    _, limits, calls = ask_role([thinks(20_000)], [question])
    assert limits == [12_000 + ROOM, MOST]
    assert [call.outcome for call in calls] == ["cut_off", "ok"]


def test_half_an_answer_is_better_than_none() -> None:
    half = '{"facts": [{"category": "identity"'
    for second in (fails(500), says("", finish="length")):
        (answer,), limits, _ = ask_role([says(half, finish="length"), second])
        assert answer.text == half
        assert not answer.complete
        assert len(limits) == 2


def test_a_server_that_does_not_say_why_it_ended_is_known_by_json_without_end() -> None:
    (answer,), limits, _ = ask_role([says('{"facts": [{"va', finish=None), says(ANSWER)])
    assert answer.text == ANSWER
    assert len(limits) == 2
    used_up = {"prompt_tokens": 9, "completion_tokens": NEED + ROOM}
    (answer,), limits, _ = ask_role([says('{"facts": [', usage=used_up), says(ANSWER)])
    assert answer.text == ANSWER
    assert len(limits) == 2


@pytest.mark.parametrize(
    "step",
    [
        says('{"facts": ['),  # it forgot the bracket, and would do so again
        says(ANSWER, finish=None),
        says("No facts.", finish=None),
        says('{"facts": [', finish="content_filter"),
    ],
)
def test_other_answers_are_not_asked_for_again(step: Step) -> None:
    _, limits, _ = ask_role([step])
    assert limits == [NEED + ROOM]


REFUSALS = (
    "max_tokens is too large: 4740. This model supports at most 4096 completion tokens.",
    "max_tokens: 4740 > 4096, which is the maximum allowed number of output tokens",
    "`max_tokens` must be less than or equal to `4096`",
)


@pytest.mark.parametrize("complaint", REFUSALS)
def test_a_server_that_refuses_the_limit_is_asked_with_that_of_the_task(complaint: str) -> None:
    answers, limits, _ = ask_role([allows(4_096, complaint, says(ANSWER))], [QUESTION, QUESTION])
    assert [answer.text for answer in answers] == [ANSWER, ANSWER]
    assert limits == [NEED + ROOM, NEED, NEED], "what it refused is remembered"


def test_a_server_that_refuses_the_larger_limit_is_asked_with_the_former() -> None:
    half = '{"facts": ['
    answers, limits, _ = ask_role([allows(8_000, REFUSALS[0], says(half, finish="length"))], [QUESTION] * 2)
    assert [answer.text for answer in answers] == [half, half]
    first = NEED + ROOM
    assert limits == [first, TIMES * first, first, first, first], "that it refused the larger one is remembered"


def test_a_refusal_about_the_context_holds_for_that_request_only() -> None:
    complaint = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."

    def fits(asked: dict[str, Any]) -> bool:
        return len(asked["messages"][-1]["content"]) // 4 + limit_of(asked) <= 8_192

    long = request("Find facts.", "word " * 4_000, max_tokens=NEED, schema=SCHEMA)
    answers, limits, _ = ask_role([unless(fits, complaint, says(ANSWER))], [long, QUESTION])
    assert len(answers) == 2
    assert limits == [NEED + ROOM, NEED, NEED + ROOM]


def test_the_limit_under_its_new_name_may_be_too_large_too() -> None:
    def step(exchange: Exchange) -> None:
        asked = exchange.service.requests[-1]
        if "max_tokens" in asked:
            fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")(exchange)
        else:
            allows(4_096, "max_completion_tokens is too large: 4740.", says(ANSWER))(exchange)

    answers, limits, _ = ask_role([step], [QUESTION, QUESTION])
    assert len(answers) == 2
    assert limits == [NEED + ROOM, NEED + ROOM, NEED, NEED]


def test_a_refusal_of_something_else_still_drops_the_schema() -> None:
    def understood(asked: dict[str, Any]) -> bool:
        return "response_format" not in asked

    with serving(unless(understood, "response_format is not supported", says(ANSWER))) as service:
        complete(service, Request(QUESTION.messages, max_tokens=NEED, schema=SCHEMA, thinking_tokens=ROOM))
    assert [limit_of(body) for body in service.requests] == [NEED + ROOM] * 3


def test_a_call_that_may_think_is_given_more_time_but_not_all_the_time() -> None:
    def answers_late(exchange: Exchange) -> None:
        exchange.service.time_passes()
        says(ANSWER)(exchange)

    async def ask(model: LLM) -> Completion:
        loop = current_loop()
        service.time_passes = lambda: loop.call_soon_threadsafe(loop.skip, 100.0)
        return await model.complete(replace(QUESTION, thinking_tokens=ROOM))

    with serving(answers_late) as service:
        assert with_model(service, ask, timeout=60.0).text == ANSWER
    with serving(falls_silent) as service, pytest.raises(ModelTimeout):
        complete(service, replace(QUESTION, thinking_tokens=ROOM), timeout=60.0)


# -- the day's ceiling


def test_the_ceiling_counts_what_was_thought_and_is_asked_before_the_second_request() -> None:
    calls = CallLog()

    model = ScriptedLLM([cut_off_error(None), ANSWER])
    role = Role("memory", [model], calls, limit=NEED + ROOM, thinking_tokens=ROOM)
    with pytest.raises(ModelSpent):
        asyncio.run(role.for_task("facts").complete(QUESTION))
    assert len(model.requests) == 1
    assert [(call.tokens_out, call.outcome) for call in calls] == [(NEED + ROOM, "cut_off")]


def test_if_the_server_says_what_was_thought_that_is_counted() -> None:
    calls = CallLog()
    model = ScriptedLLM([cut_off_error((50, 900)), ANSWER])
    role = Role("memory", [model], calls, thinking_tokens=ROOM)
    assert asyncio.run(role.for_task("facts").complete(QUESTION)).text == ANSWER
    assert (calls[0].tokens_in, calls[0].tokens_out) == (50, 900)


def cut_off_error(tokens: tuple[int, int] | None) -> ModelCutOff:
    error = ModelCutOff("nothing was said")
    error.tokens = tokens
    return error


def test_a_request_without_a_limit_is_left_alone() -> None:
    model = ScriptedLLM([Completion("half", "m", 1, 1, complete=False, finish="length")])
    answer = asyncio.run(ThinkingRoom(model, ROOM).complete(Request(QUESTION.messages)))
    assert answer.text == "half"
    assert model.requests[0].token_limit is None


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ('{"a": 1}', False),
        ('Here: {"a": [1, 2', True),
        ('{"a": "b', True),
        ('{"a": ', True),
        ('{"a" 1}', False),
        ("plain", False),
        ("{" * 100_000, False),
    ],
)
def test_json_without_end(text: str, unfinished: bool) -> None:
    assert is_unfinished_json(text) == unfinished


# -- the whole way


FACT = {"category": "preference", "key": "drink", "value": "oolong tea", "about": "user", "status": "now"}
DETAILS = {"since": "", "until": "", "confidence": 1.0, "importance": 0.5}
FACT_ANSWER = json.dumps({"facts": [FACT | DETAILS]})


@pytest.mark.parametrize(
    ("serve", "is_cut_off"),
    [
        pytest.param(lambda answer: thinks(3_000, answer), False, id="thinks 3,000 tokens"),
        pytest.param(lambda answer: thinks(9_000, answer), True, id="is cut off"),
        pytest.param(lambda answer: allows(2_000, REFUSALS[0], says(answer)), False, id="refuses the limit"),
    ],
)
def test_reasoning_models_do_memory_work(tmp_path: Path, serve: Callable[[str], Step], is_cut_off: bool) -> None:
    with serving(serve(FACT_ANSWER)) as service:
        settings: dict[str, Any] = {"memory_url": service.url, "memory_model": "thinker", "followers": False}
        with Memory(str(tmp_path / "memory.db"), **settings) as memory:
            chat = memory.conversation("tea", user="alex")
            chat.add("user", "My favourite drink has always been oolong tea.")
            memory.settle()
            assert "oolong tea" in [fact.value for fact in memory.facts(user="alex")]
            done = {(activity.what, activity.kind, activity.outcome) for activity in memory.stats().activity}
    assert ("memory", "reading", "ok") in done
    assert (("memory", "reading", "cut_off") in done) == is_cut_off
    assert not [entry for entry in done if entry[0] == "fallback"]

"""The drop-in endpoint with a model's server that fails in every way it can: the client gets an error of OpenAI's shape
and the right status, in a stream too; the user's turn is in the log; and no key, no address and no memory leaks."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
import openai
import pytest
from llm_server import drops, endless, fails, replies, says, sends, stays_open, streams, waits_for_the_end
from openai_doubles import KEY, Exchange, Step, World, answers, assistant, either, in_turn, user, world_of

from everword.models.chat.openai import OpenAIModel
from everword.testing.serving import Serving

QUESTION = "How many shops do I run?"
DELTA = b'data: {"choices": [{"delta": {"content": "You run"}}]}\n\n'
REPORTED = b'{"error": {"message": "overloaded", "type": "overloaded_error"}}'
SECRET = "The alarm of the shop in Delft is switched off with the code nine four one."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(str(tmp_path_factory.mktemp("failing") / "a.db")) as world:
        yield world


def resets(exchange: Exchange) -> None:
    """Hangs up without a word, as a machine does that dies."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    exchange.close_connection = True


def repeats(status: int) -> Step:
    """Repeats all that it was sent, and the key: as a proxy does that is set to debug."""

    def step(exchange: Exchange) -> None:
        told = json.dumps(exchange.service.requests[-1]) + str(exchange.headers["Authorization"])
        fails(status, told[-400:])(exchange)

    return step


def repeats_memory(exchange: Exchange) -> None:
    fails(400, "this is not allowed: " + exchange.service.requests[-1]["messages"][0]["content"][-300:])(exchange)


def names_itself(exchange: Exchange) -> None:
    fails(500, f"upstream {exchange.service.url} is down")(exchange)


@dataclass(frozen=True)
class Outage:
    """What the model's server does, what the client is told, and what is seen of a stream before that."""

    step: Callable[[], Step]
    status: int
    code: str | None
    told: str
    seen: str = ""
    whole: bool = True


OUTAGES = {
    "resets": Outage(lambda: resets, 502, "model_unreachable", "cannot be reached"),
    "HTTP 429": Outage(lambda: fails(429, "slow down", {"retry-after": "7"}), 429, "model_refused", "wait 7 seconds"),
    "HTTP 400": Outage(lambda: fails(400, "bad temperature"), 400, "model_refused", "refused (HTTP 400)"),
    "HTTP 401": Outage(lambda: fails(401, f"wrong key {KEY}"), 502, "model_refused", "this server's key"),
    "HTTP 404": Outage(lambda: fails(404, "no model-q"), 404, "model_refused", "no such model"),
    "HTTP 500": Outage(lambda: fails(500, "on fire"), 500, "model_refused", "failed (HTTP 500)"),
    "HTTP 503 with a page": Outage(lambda: page, 503, "model_refused", "HTTP 503"),
    "repeats everything": Outage(lambda: repeats(400), 400, "model_refused", "refused (HTTP 400)"),
    "repeats memory": Outage(lambda: repeats_memory, 400, "model_refused", "refused (HTTP 400)"),
    "names itself": Outage(lambda: names_itself, 500, "model_refused", "failed (HTTP 500)"),
    "moved": Outage(lambda: fails(302, headers={"Location": "/elsewhere"}), 502, "model_refused", "has moved"),
    "not JSON": Outage(
        lambda: either(replies(b"<html>"), sends(b"data: <html>\n\n")), 502, "model_nonsense", "no answer"
    ),
    "no choices": Outage(
        lambda: either(replies(b"{}"), sends(b'data: {"choices": 5}\n\n')), 502, "model_nonsense", "no answer"
    ),
    "bytes that are no text": Outage(lambda: bad_bytes, 502, "model_nonsense", "no answer"),
    "bytes without end": Outage(lambda: endless(b" " * (1 << 20)), 502, "model_nonsense", "no answer"),
    "an error under 200": Outage(
        lambda: either(replies(REPORTED), sends(b"data: " + REPORTED + b"\n\n")), 502, "model_refused", "HTTP 502"
    ),
    "breaks off at once": Outage(drops, 502, "model_unreachable", "broke off"),
    "breaks off": Outage(lambda: drops("You run ", "two sh"), 502, "model_unreachable", "broke off", "You run two sh"),
    "breaks off in a marker": Outage(
        lambda: drops("You run two. ", "[REQUEST_TI"), 502, "model_unreachable", "broke off", "You run two."
    ),
    "an error in a stream": Outage(
        lambda: either(replies(REPORTED), sends(DELTA, b"data: " + REPORTED + b"\n\n")),
        502, "model_refused", "failed (HTTP 502)", "You run",
    ),
    "nonsense in a stream": Outage(
        lambda: either(replies(b"<html>"), sends(DELTA, b"data: {\n\n")), 502, "model_nonsense", "no answer", "You run"
    ),
    "ends without an end": Outage(
        lambda: either(replies(b""), sends(DELTA)), 502, None, "", "You run"
    ),
    "fails after a request": Outage(
        lambda: in_turn(answers("Let me look. [SEARCH_EPISODIC: shops]"), fails(500, "on fire")),
        500, "model_refused", "failed (HTTP 500)", "Let me look.",
    ),
}  # fmt: skip


def page(exchange: Exchange) -> None:
    exchange.send(503, b"<html>nginx at 10.0.0.7</html>", {"Content-Type": "text/html"})


def bad_bytes(exchange: Exchange) -> None:
    body = b'{"choices": [{"index": 0, "%s": {"content": "caf\xe9"}, "finish_reason": "stop"}]}'
    either(replies(body % b"message"), sends(b"data: " + body % b"delta" + b"\n\n"))(exchange)


def assert_discreet(world: World, *texts: object) -> None:
    """Nothing that is none of the client's business."""
    for text in map(str, texts):
        for secret in (KEY, KEY[3:14], world.service.url, world.service.url.split("/")[2], SECRET[:30], "MEMORY"):
            assert secret not in text
        assert "/everword" not in text
        assert "Traceback" not in text


def listen(client: Any, messages: list[Any], stream: bool, seen: list[str], **more: Any) -> None:
    """Ask, and note what is seen of a stream."""
    made: Any = client.chat.completions.create(model="model-x", messages=messages, stream=stream, **more)
    if stream:
        for chunk in made:
            seen.extend(choice.delta.content or "" for choice in chunk.choices)


def taught(world: World) -> Any:
    """Somebody whose memory has something in it."""
    client = world.anew(answers("Noted."))
    client.chat.completions.create(model="model-x", messages=[user(SECRET)])
    world.server.run(world.server.memory.settle())
    return client


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", OUTAGES)
@pytest.mark.checklist("D9")
def test_an_outage_is_an_error_of_openais_shape_and_the_log_stays_true(
    world: World, name: str, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """D9: the question is kept, once, and what was seen of an answer; and when the model is back, so is the talk."""
    outage = OUTAGES[name]
    client = taught(world) if "repeats" in name else world.anew(answers("Noted."))
    named = {"everword": {"conversation": f"question of {world.user}"}}
    world.does(outage.step())
    caplog.set_level(logging.DEBUG, "everword")
    question: list[Any] = [user(f"{SECRET[:50]} {QUESTION}" if "repeats" in name else QUESTION)]
    seen: list[str] = []
    with pytest.raises(openai.APIError) as raised:
        listen(client, question, stream, seen, extra_body=named)
    error = raised.value
    body: Any = error.body
    if isinstance(error, openai.APIStatusError):
        assert error.status_code == outage.status
        assert not seen, "the status says it"
    if outage.code:
        assert {*body} == {"message", "type", "param", "code"}
        assert (body["code"], outage.told in body["message"]) == (outage.code, True)
    if name == "HTTP 429":
        assert isinstance(error, openai.RateLimitError)
        assert error.response.headers["retry-after"] == "7"
    assert_discreet(world, body, error, caplog.text)
    shown = "".join(seen).strip()
    assert shown == (outage.seen if stream else "")
    kept = world.log()[f"question of {world.user}"]
    assert [m.content for m in kept] == [question[0]["content"], *([shown] if shown else [])]
    assert all(m.metadata["everword"]["partial"] for m in kept[1:])

    world.does(answers("You run |two."))
    again: Any = client.chat.completions.create(model="model-x", messages=question, extra_body=named)
    assert again.choices[0].message.content == "You run two."
    kept = world.log()[f"question of {world.user}"]
    assert [m.content for m in kept if m.role == "user"] == [question[0]["content"]], "asked twice, kept once"
    assert kept[-1].content == "You run two."


def test_the_official_client_tries_again_and_nothing_is_doubled(world: World) -> None:
    world.anew(resets, answers("Two."))
    client = world.client(max_retries=2)
    made = client.chat.completions.create(model="model-x", messages=[user(QUESTION)])
    assert made.choices[0].message.content == "Two."
    assert len(world.service.requests) == 2
    assert world.said() == [[("user", QUESTION), ("assistant", "Two.")]]


def test_a_reply_cut_off_by_the_models_own_limit_is_partial_and_can_be_gone_on_with(world: World) -> None:
    step = either(says("You run two sh", finish="length"), streams("You run ", "two sh", finish="length"))
    client = world.anew(step, answers("ops."))
    chunks = list(client.chat.completions.create(model="model-x", messages=[user(QUESTION)], stream=True))
    assert chunks[-1].choices[0].finish_reason == "length"
    history: list[Any] = [user(QUESTION), assistant("You run two sh"), user("Go on.")]
    client.chat.completions.create(model="model-x", messages=history)
    [messages] = world.log().values()
    assert [m.content for m in messages] == [QUESTION, "You run two sh", "Go on.", "ops."]
    assert messages[1].metadata["everword"]["partial"]


def test_a_stream_that_the_client_leaves_keeps_what_was_sent_as_partial(world: World) -> None:
    client = world.anew(stays_open("You run ", "two "))
    world.service.hung_up.clear()
    stream = client.chat.completions.create(model="model-x", messages=[user(QUESTION)], stream=True)
    seen = ""
    while "two" not in seen:
        seen += next(stream).choices[0].delta.content or ""
    stream.close()
    assert world.service.hung_up.wait(30), "the model is told too"
    [messages] = until(lambda: list(world.log().values()), lambda log: len(log[0]) == 2)
    assert [m.content for m in messages] == [QUESTION, "You run two"]
    assert messages[1].metadata["everword"]["partial"]


def test_an_answer_that_nobody_waits_for_is_given_up_and_the_question_kept(world: World) -> None:
    world.anew(waits_for_the_end)
    world.service.hung_up.clear()
    body = {"messages": [user(QUESTION)], "user": world.user}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{world.server.url}/v1/chat/completions", json=body, timeout=httpx.Timeout(30, read=0.3))
    assert world.service.hung_up.wait(30)
    assert world.said() == [[("user", QUESTION)]]


def until(look: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    """What is seen once it is as it should be; the server works in a thread of its own."""
    tick = threading.Event()
    for _ in range(600):
        found = look()
        if good(found):
            return found
        tick.wait(0.05)
    raise AssertionError(found)


def test_a_model_that_hangs_is_given_up_in_time(tmp_path: Path, world: World) -> None:
    world.anew(waits_for_the_end)
    model = OpenAIModel(world.service.url, KEY, "model-x", timeout=0.2)
    with Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server:
        hasty = World(world.service, server, world.user, world.wires)
        client = hasty.client()
        for stream, status in ((False, 504), (True, 504)):
            with pytest.raises(openai.APIStatusError) as raised:
                client.chat.completions.create(model="model-x", messages=[user(QUESTION)], stream=stream)
            assert (raised.value.status_code, raised.value.code) == (status, "model_timeout")
            assert_discreet(world, raised.value)
        hasty.does(stays_open("You ", "run"))
        seen: list[str] = []
        with pytest.raises(openai.APIError, match="in time"):
            listen(client, [user("And?")], True, seen)
        assert sorted(map(tuple, hasty.said())) == [
            (("user", "And?"), ("assistant", "".join(seen))),
            (("user", QUESTION),),
        ]


def test_a_server_that_does_not_know_what_a_stream_costs_is_asked_without(world: World) -> None:
    def picky(exchange: Exchange) -> None:
        asked = exchange.service.requests[-1]
        (fails(400, "unknown field stream_options") if "stream_options" in asked else streams("Two.", usage=None))(
            exchange
        )

    client = world.anew(picky)
    options: Any = {"include_usage": True}
    create = client.chat.completions.create
    chunks = list(create(model="model-x", messages=[user(QUESTION)], stream=True, stream_options=options))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Two."
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 2


def test_without_a_model_it_is_said_how_to_get_one_and_nothing_is_kept(tmp_path: Path) -> None:
    with ExitStack() as stack, Serving(str(tmp_path / "a.db"), followers=False, anonymous="one") as server:
        client: Any = stack.enter_context(openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=2))
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError, match="EVERWORD_CHAT_URL") as raised:
                client.chat.completions.create(model="gpt", messages=[user(QUESTION)], stream=stream)
            assert (raised.value.status_code, raised.value.code) == (503, "no_model")
        assert [one.id for one in client.models.list()] == ["everword"]
        assert server.run(server.memory.conversations()) == []


def test_a_model_that_takes_only_text_says_what_it_cannot_do(tmp_path: Path) -> None:
    from everword.testing.doubles import ScriptedLLM

    model = ScriptedLLM(default="Two.", chunk=1)
    given: dict[str, Any] = {"chat": model, "followers": False, "anonymous": "one"}
    with ExitStack() as stack, Serving(str(tmp_path / "a.db"), **given) as server:
        client: Any = stack.enter_context(openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0))
        create = client.chat.completions.create
        assert create(model="scripted", messages=[user(QUESTION)]).choices[0].message.content == "Two."
        pieces = create(model="any", messages=[user("And?")], stream=True)
        assert "".join(c.choices[0].delta.content or "" for c in pieces) == "Two."
        with pytest.raises(openai.BadRequestError, match="takes text and gives one reply"):
            create(model="scripted", messages=[user("And?")], n=2)


# -- keys


def test_keys_open_what_they_are_for_and_errors_keep_openais_shape(tmp_path: Path, world: World) -> None:
    world.anew(answers("Hello."))
    given: dict[str, Any] = {"chat_url": world.service.url, "chat_model": "model-x", "followers": False}
    with ExitStack() as stack, Serving(str(tmp_path / "a.db"), auth=True, **given) as server:

        def client(key: str, **more: Any) -> Any:
            made = openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, **more)
            return stack.enter_context(made)

        team, hers = server.key(space="team", scopes=("read", "write")), server.key(user="ann")
        reader, writer = server.key(scopes=("read",)), server.key(scopes=("write",))
        ask: Any = {"model": "model-x", "messages": [user("Hi!")]}
        client(team).chat.completions.create(**ask)
        client(hers).chat.completions.create(**ask)
        found = server.run(server.memory.conversations(space="team"))
        assert [one.user for one in found] != [None], "without a user, the memory is the key's"
        assert [one.user for one in server.run(server.memory.conversations())] == ["ann"]
        refusals: list[tuple[type[openai.APIStatusError], Callable[[], object]]] = [
            (openai.AuthenticationError, lambda: client("wrong").chat.completions.create(**ask)),
            (openai.AuthenticationError, lambda: client("wrong").models.list()),
            (openai.PermissionDeniedError, lambda: client(reader).chat.completions.create(**ask)),
            (openai.PermissionDeniedError, lambda: client(hers).chat.completions.create(**ask, user="bob")),
            (openai.PermissionDeniedError, lambda: client(writer).chat.completions.create(**ask)),
            (openai.PermissionDeniedError, lambda: client(writer).embeddings.create(model="x", input="x")),
            (
                openai.PermissionDeniedError,
                lambda: client(team).chat.completions.create(**ask, extra_body={"everword": {"space": "default"}}),
            ),
            (
                openai.PermissionDeniedError,
                lambda: client(team, default_headers={"X-Everword-Space": "x"}).chat.completions.create(**ask),
            ),
        ]
        for kind, refused in refusals:
            with pytest.raises(kind) as raised:
                refused()
            told: Any = raised.value.body
            assert {*told} == {"message", "type", "param", "code"}

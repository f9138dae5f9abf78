"""The drop-in endpoint with OpenAI's own client over real sockets: what the client sees, what the model is sent, and
what the log keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from llm_server import says, streams
from openai_doubles import BLOCK, USAGE, Exchange, World, answers, assistant, either, user, world_of

from everword.context.reply_markers import strip

CALLS: list[dict[str, Any]] = [
    {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}},
    {"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}},
]
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(str(tmp_path_factory.mktemp("openai") / "a.db")) as world:
        yield world


def ask(client: Any, messages: list[Any], *, stream: bool = False, **more: Any) -> str:
    """What the client shows."""
    create = client.chat.completions.create
    if not stream:
        return str(create(model="model-x", messages=messages, **more).choices[0].message.content)
    chunks = list(create(model="model-x", messages=messages, stream=True, **more))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    assert [one.finish_reason for chunk in chunks for one in chunk.choices].count("stop") == 1
    return "".join(one.delta.content or "" for chunk in chunks for one in chunk.choices)


both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@both_ways
def test_a_conversation_is_kept_once_however_often_it_is_sent(world: World, stream: bool) -> None:
    client = world.anew(answers(f"Noted, |Alex.{BLOCK[:9]}|{BLOCK[9:]}"), answers("Your name |is Alex."))
    history: list[Any] = [{"role": "system", "content": "Be brief."}, user("My name is Alex.")]
    history.append(assistant(ask(client, history, stream=stream)))
    assert history[-1]["content"] == "Noted, Alex."
    history += [user("What is my name?")]
    history[0] = {"role": "system", "content": "Be brief. Today is Monday."}
    assert ask(client, history, stream=stream) == "Your name is Alex."
    assert world.said() == [
        [
            ("user", "My name is Alex."),
            ("assistant", "Noted, Alex."),
            ("user", "What is my name?"),
            ("assistant", "Your name is Alex."),
        ]
    ]


def client_messages(world: World) -> list[Any]:
    """What was sent of the client's own messages, without what the memory says before them and before the question."""
    questions = [place for place, message in enumerate(world.sent) if message["role"] == "user"]
    own_places = {0, questions[-1] - 1}
    assert [world.sent[place]["role"] for place in own_places] == ["system"] * len(own_places)
    return [message for place, message in enumerate(world.sent) if place not in own_places]


@both_ways
def test_the_model_is_sent_the_memory_and_the_clients_own_messages_as_they_are(world: World, stream: bool) -> None:
    client = world.anew(answers("Noted."))
    ask(client, [user("I keep two bicycle shops, in Leiden and in Delft.")], stream=stream)
    world.server.run(world.server.memory.settle())
    question = [
        {"role": "developer", "content": "Answer in one sentence."},
        user("Hello again!"),
        assistant("Hello!"),
        user([{"type": "text", "text": "Where are my bicycle shops?"}, PICTURE]),
    ]
    ask(client, question, stream=stream)
    first, *others, about, last = world.sent
    assert [*others, last] == question[1:]
    assert first["role"] == about["role"] == "developer"
    assert "Answer in one sentence." in first["content"]
    assert "REQUEST_TIER" in first["content"]
    assert "I keep two bicycle shops, in Leiden and in Delft." in about["content"]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def test_a_picture_is_passed_on_and_kept_as_a_digest(world: World) -> None:
    client = world.anew(answers("A cat."), answers("A dog."))
    picture, other = [{"type": "text", "text": "What is this?"}, PICTURE], [{"type": "text", "text": "What is this?"}]
    ask(client, [user(picture)], extra_body={"everword": {"conversation": "cats"}})
    ask(client, [user(picture), assistant("A cat."), user(other)], extra_body={"everword": {"conversation": "cats"}})
    [messages] = world.log().values()
    assert [m.content for m in messages] == ["What is this?", "A cat.", "What is this?", "A dog."]
    assert messages[0].metadata["openai"]["parts"] == ["image_url"]
    assert "base64" not in str(messages[0].metadata)


@both_ways
def test_another_reply_and_an_edit_are_branches_and_can_be_gone_on_with(world: World, stream: bool) -> None:
    client = world.anew(*map(answers, ("One.", "Two.", "Three.", "Four.")))
    start = [user("Say a number.")]
    assert ask(client, start, stream=stream) == "One."
    assert ask(client, start, stream=stream) == "Two."  # another reply
    assert ask(client, [*start, assistant("Two."), user("More.")], stream=stream) == "Three."
    assert ask(client, [*start, assistant("One."), user("Less.")], stream=stream) == "Four."
    trunk, *branches = sorted(world.log().items())
    assert world.said() == [
        [("user", "Say a number."), ("assistant", "One."), ("user", "Less."), ("assistant", "Four.")],
        [("assistant", "Two."), ("user", "More."), ("assistant", "Three.")],
    ]
    assert branches[0][0] == f"{trunk[0]}~2"
    assert branches[0][1][0].metadata["everword"]["branch"] == {"of": trunk[0], "after": 1}

    world.does(answers("Five."))
    edited = [*start, assistant("One."), user("Less, please.")]
    assert ask(client, edited, stream=stream) == "Five."
    assert world.said()[2] == [("user", "Less, please."), ("assistant", "Five.")]
    assert sorted(world.log().items())[2][1][0].metadata["everword"]["branch"] == {"of": trunk[0], "after": 2}
    assert ask(client, edited, stream=stream) == "Five."  # the same reply once more is no other
    assert len(world.log()) == 3


def test_a_branch_is_shown_what_stands_in_its_trunk(world: World) -> None:
    client = world.anew(answers("One."), answers("Two."), answers("Three."))
    start = [user("My cat is called Zorro. " * 40)]
    ask(client, start)
    ask(client, start)
    ask(client, [*start, assistant("Two."), user("What is my cat called?")])
    assert client_messages(world) == [*start, assistant("Two."), user("What is my cat called?")]


# -- markers


@both_ways
def test_what_the_model_asks_for_is_served_inside(world: World, stream: bool) -> None:
    client = world.anew(answers("Noted."))
    ask(client, [user("The password of the shed is tulip.")])
    world.server.run(world.server.memory.settle())
    world.does(answers("[SEARCH_EPI|SODIC: password |shed]"), answers(f"It is |tulip.{BLOCK}"))
    options: Any = {"stream_options": {"include_usage": True}} if stream else {}
    made = client.chat.completions.create(
        model="model-x", messages=[user("Hi! What did I tell you?")], stream=stream, **options
    )
    if stream:
        chunks = list(made)
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "It is tulip."
        usage = chunks[-1].usage
    else:
        assert made.choices[0].message.content == "It is tulip."
        usage = made.usage
    assert usage.to_dict() == {name: 2 * value for name, value in USAGE.items()}, "both calls are paid for"
    assert len(world.service.requests) == 2
    assert "SEARCH RESULTS" in world.sent[0]["content"]
    *_, (_, messages) = sorted(world.log().items(), key=lambda item: item[1][-1].time)
    assert messages[-1].content == "It is tulip."
    assert messages[-1].metadata["everword"]["rounds"][0]["searches"] == ["password shed"]


REPLY = f"You run [REQUEST_TIER:3:m9] two 🚲 shops.\n[SEARCH_EPISODIC: x]{BLOCK}"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_nothing_of_a_marker_or_of_the_block_is_seen_wherever_a_stream_is_cut(world: World, size: int) -> None:
    pieces = "|".join(REPLY[at : at + size] for at in range(0, len(REPLY), size))
    client = world.anew(*[answers(pieces)] * 3, answers("You run |two 🚲 shops."))
    for options in ({}, {"n": 2}, {"response_format": {"type": "json_object"}}):
        shown = ask(client, [user(f"How many? {options}")], stream=True, **options)
        assert strip(shown).strip() == shown.strip()
        assert "You run two 🚲 shops." in shown
        assert "everword" not in shown


@both_ways
def test_a_model_that_writes_only_notes_is_asked_once_more_without_them(world: World, stream: bool) -> None:
    client = world.anew(answers(BLOCK), answers("Two."))
    assert ask(client, [user("How many shops?")], stream=stream) == "Two."
    assert "MEMORY" not in json.dumps(world.sent)


@both_ways
def test_an_answer_that_stands_behind_the_block_is_shown(world: World, stream: bool) -> None:
    client = world.anew(answers(f"{BLOCK.strip()}\nTwo."))
    assert ask(client, [user("How many shops?")], stream=stream) == "Two."


# -- tools, shapes, choices


def calls(exchange: Exchange) -> None:
    """Calls two tools, as OpenAI's stream does it, in pieces."""
    if not exchange.service.requests[-1].get("stream"):
        message = {"role": "assistant", "content": None, "tool_calls": CALLS}
        reply = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": USAGE}
        exchange.send(200, json.dumps(reply).encode())
        return
    exchange.start()
    exchange.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})
    for place, call in enumerate(CALLS):
        head = {**call, "index": place, "function": {"name": "weather", "arguments": ""}}
        exchange.event({"choices": [{"index": 0, "delta": {"tool_calls": [head]}}]})
        for letter in call["function"]["arguments"]:
            piece = {"index": place, "function": {"arguments": letter}}
            exchange.event({"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]})
    exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    exchange.chunk(b"data: [DONE]\n\n")
    exchange.chunk(b"")


@both_ways
def test_tool_calls_pass_through_and_their_results_belong_to_the_same_conversation(world: World, stream: bool) -> None:
    client = world.anew(calls, answers("Warm |in Rome."), answers("You are welcome."))
    history: list[Any] = [user("How is the weather in Oslo and Rome?")]
    create = client.chat.completions.create
    if stream:
        chunks = [c.choices[0] for c in create(model="model-x", messages=history, tools=TOOLS, stream=True)]
        assert chunks[-1].finish_reason == "tool_calls"
        deltas = [call for c in chunks for call in c.delta.tool_calls or ()]
        arguments = ["".join(d.function.arguments for d in deltas if d.index == n) for n in (0, 1)]
        assert [d.id for d in deltas if d.id] == ["call_1", "call_2"]
        assert arguments == [call["function"]["arguments"] for call in CALLS]
    else:
        [choice] = create(model="model-x", messages=history, tools=TOOLS).choices
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content is None
        assert [call.to_dict() for call in choice.message.tool_calls or ()] == CALLS
    assert world.service.requests[-1]["tools"] == TOOLS
    # Clients write the arguments anew, with other spaces.
    anew = [
        {**one, "function": {**one["function"], "arguments": json.dumps(json.loads(one["function"]["arguments"]))}}
        for one in CALLS
    ]
    history += [
        assistant(None, tool_calls=anew),
        {"role": "tool", "tool_call_id": "call_1", "content": "cold"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "warm"}]},
    ]
    assert ask(client, history, stream=stream, tools=TOOLS) == "Warm in Rome."
    assert client_messages(world) == history
    # Later, the client has replaced what the tools gave by stubs.
    stubs = [one if one["role"] != "tool" else {**one, "content": "(cleared)"} for one in history]
    ask(client, [*stubs, assistant("Warm in Rome."), user("Thanks!")], stream=stream, tools=TOOLS)
    [messages] = world.log().values()
    assert [(m.role, m.content) for m in messages] == [
        ("user", "How is the weather in Oslo and Rome?"),
        ("assistant", ""),
        ("tool", "cold"),
        ("tool", "warm"),
        ("assistant", "Warm in Rome."),
        ("user", "Thanks!"),
        ("assistant", "You are welcome."),
    ]
    assert messages[1].metadata["openai"]["tool_calls"] == CALLS


@both_ways
def test_what_the_engine_does_not_know_is_passed_on_as_it_is(world: World, stream: bool) -> None:
    client = world.anew(either(lambda e: e.send(200, FULL), streams_extra))
    extra = {"top_k": 40, "thinking": {"budget": 5}}
    more: Any = {"temperature": 0.5, "seed": 7, "logit_bias": {"5": 1}, "stop": ["\n"], "extra_body": extra}
    made = client.chat.completions.create(model="model-y", messages=[user("Hi?")], stream=stream, **more)
    request = world.service.requests[-1]
    assert {name: request[name] for name in ("temperature", "seed", "logit_bias", "stop", *extra)} == {
        "temperature": 0.5, "seed": 7, "logit_bias": {"5": 1}, "stop": ["\n"], **extra,
    }  # fmt: skip
    assert request["model"] == "model-y", "whatever model the client names"
    assert "everword" not in request
    if stream:
        chunks = list(made)
        assert [c.choices[0].delta.to_dict().get("reasoning_content") for c in chunks[1:3]] == ["Hm.", None]
        assert {c.system_fingerprint for c in chunks} == {"fp"}
    else:
        assert made.choices[0].message.to_dict()["reasoning_content"] == "Hm."
        assert (made.id, made.model, made.created, made.system_fingerprint) == ("id-1", "model-y-2", 5, "fp")


FRAME = {"id": "id-1", "model": "model-y-2", "created": 5, "system_fingerprint": "fp"}
MESSAGE = {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
FULL = json.dumps({**FRAME, "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}).encode()


def streams_extra(exchange: Exchange) -> None:
    exchange.start()
    for delta in ({"role": "assistant"}, {"reasoning_content": "Hm."}, {"content": "Hi."}):
        exchange.event({**FRAME, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    exchange.event({**FRAME, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    exchange.chunk(b"data: [DONE]\n\n")
    exchange.chunk(b"")


@both_ways
def test_an_answer_with_a_shape_of_its_own_is_not_asked_for_notes(world: World, stream: bool) -> None:
    client = world.anew(answers('{"shops": | 2}'))
    shape = {"type": "json_schema", "json_schema": {"name": "shops", "schema": {"type": "object"}}}
    assert ask(client, [user("How many?")], stream=stream, response_format=shape) == '{"shops":  2}'
    assert world.service.requests[-1]["response_format"] == shape
    assert "REQUEST_TIER" not in json.dumps(world.sent)


def test_of_several_choices_the_first_is_kept_and_another_is_a_branch(world: World) -> None:
    def two(exchange: Exchange) -> None:
        choices = [
            {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for n, text in enumerate(("One.", "Two."))
        ]
        exchange.send(200, json.dumps({"choices": choices, "usage": USAGE}).encode())

    client = world.anew(two, answers("Three."))
    made = client.chat.completions.create(model="model-x", messages=[user("A number!")], n=2)
    assert [choice.message.content for choice in made.choices] == ["One.", "Two."]
    ask(client, [user("A number!"), assistant("Two."), user("More!")])
    assert world.said() == [
        [("user", "A number!"), ("assistant", "One.")],
        [("assistant", "Two."), ("user", "More!"), ("assistant", "Three.")],
    ]


def test_usage_is_counted_where_a_server_does_not_say(world: World) -> None:
    client = world.anew(lambda e: e.send(200, FULL))
    response = client.chat.completions.with_raw_response.create(model="model-x", messages=[user("Hi?")])
    usage = response.parse().usage
    assert usage is not None
    assert usage.prompt_tokens == int(response.headers["x-everword-tokens"]) > 50, "what the memory tells is counted"
    assert usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


# -- which memory


def test_a_conversation_can_be_named_and_then_only_what_is_new_need_be_sent(world: World) -> None:
    client = world.anew(answers("Noted."), answers("Alex."))
    named: Any = {"extra_headers": {"X-Everword-Conversation": "Büro 1"}}
    raw = client.chat.completions.with_raw_response.create(
        model="model-x", messages=[user("My name is Alex.")], extra_headers={"X-Everword-Conversation": "B%C3%BCro 1"}
    )
    assert raw.headers["x-everword-conversation"] == "B%C3%BCro 1"
    named = {"extra_body": {"everword": {"conversation": "Büro 1"}}}
    assert ask(client, [user("What is my name?")], **named) == "Alex."
    assert list(world.log()) == ["Büro 1"]
    assert [m.content for m in world.log()["Büro 1"]] == ["My name is Alex.", "Noted.", "What is my name?", "Alex."]
    assert "My name is Alex." in world.sent[0]["content"]


@pytest.mark.checklist("G18")
def test_two_chats_that_begin_with_a_greeting_are_two_conversations(world: World) -> None:
    client = world.anew(*map(answers, ("Hello!", "Noted.", "Hello!", "Sunny.")))
    orders = [user("Hi"), assistant("Hello!"), user("My order is number 7734, where is it?")]
    weather = [user("Hi"), assistant("Hello!"), user("How is the weather in Porto?")]
    assert ask(client, orders[:1]) == "Hello!"
    assert ask(client, orders) == "Noted."
    assert ask(client, weather[:1]) == "Hello!"
    assert ask(client, weather) == "Sunny."
    assert sorted([text for _, text in chat][2:] for chat in world.said()) == [
        ["How is the weather in Porto?", "Sunny."],
        ["My order is number 7734, where is it?", "Noted."],
    ]


@pytest.mark.checklist("G18")
def test_a_server_without_keys_takes_no_request_without_a_user_unless_it_is_told_to(
    world: World, tmp_path: Path
) -> None:
    world.anew(answers("Noted."))
    url = f"{world.server.url}/v1/chat/completions"
    body = {"model": "model-x", "messages": [user("My order is number 7734.")]}
    refused = httpx2.post(url, json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "user")
    assert "EVERWORD_ANONYMOUS=one" in refused.json()["error"]["message"]
    assert world.log("default") == {}
    assert httpx2.post(url, json=body | {"user": "alex"}).status_code == 200
    assert httpx2.post(url, json=body, headers={"X-Everword-Memory": "off"}).status_code == 200
    with world_of(str(tmp_path / "one.db"), anonymous="one") as other:
        assert httpx2.post(f"{other.server.url}/v1/chat/completions", json=body).status_code == 200


def test_users_and_spaces_are_kept_apart(world: World) -> None:
    client = world.anew(answers("Noted."))
    ask(client, [user("My name is Alex.")], user="alex-1")
    ask(client, [user("My name is Alex.")], extra_body={"everword": {"user": "alex-1", "space": "other"}})
    ask(client, [user("My name is Alex.")])
    assert len(world.log("alex-1")) == len(world.log()) == 1
    assert list(world.log("alex-1")) != list(world.log())
    other = world.server.run(world.server.memory.conversations(space="other"))
    assert [one.user for one in other] == ["alex-1"]
    with pytest.raises(openai.PermissionDeniedError) as raised:
        ask(
            client,
            [user("Hi!")],
            user="bob",
            extra_headers={"X-Everword-Conversation": next(iter(world.log("alex-1")))},
        )
    assert raised.value.code == "not_yours"


def test_instructions_alone_are_passed_on_and_not_kept(world: World) -> None:
    client = world.anew(answers("A haiku."))
    assert ask(client, [{"role": "system", "content": "Write a haiku."}]) == "A haiku."
    assert world.sent == [{"role": "system", "content": "Write a haiku."}]
    assert world.log() == {}


@both_ways
def test_a_block_that_the_models_limit_cuts_off_leaves_the_answer_whole(world: World, stream: bool) -> None:
    cut = f"Two.{BLOCK[:30]}"
    client = world.anew(either(says(cut, finish="length"), streams(cut[:7], cut[7:], finish="length")))
    assert ask(client, [user("How many shops?")], stream=stream) == "Two."  # and it ended in a stop
    [[_, reply]] = world.log().values()
    assert "partial" not in reply.metadata["everword"]


@both_ways
def test_without_memory_nothing_is_shown_and_nothing_is_kept(world: World, stream: bool) -> None:
    client = world.anew(answers("Hel|lo [REQUEST_TIER:3:m1]."))
    for off in ({"extra_headers": {"X-Everword-Memory": "off"}}, {"extra_body": {"everword": {"memory": False}}}):
        assert ask(client, [user("Hi!")], stream=stream, **off) == "Hello [REQUEST_TIER:3:m1]."
        assert world.sent == [user("Hi!")]
    assert world.log() == {}


# -- budgets


def test_what_is_sent_never_exceeds_the_budget_and_old_messages_give_way(world: World) -> None:
    client = world.anew(answers("Noted."))
    history = [{"role": "system", "content": "Be kind."}]
    for number in range(30):
        history += [
            user(f"Fact {number}: " + "the shop sells bicycles and bells, " * 12),
            assistant(f"Noted {number}."),
        ]
    history.append(user("What does the shop sell?"))
    for budget in (1_000, 2_500, 5_000):
        raw = client.chat.completions.with_raw_response.create(
            model="model-x",
            messages=history,
            extra_headers={"X-Everword-Budget": str(budget)},
        )
        count = world.server.memory.runtime.parts.tokenizer.count
        real = 3 + sum(count(str(one["content"])) + 4 for one in world.sent)
        assert real <= int(raw.headers["x-everword-tokens"]) <= budget
        assert real > budget / 3
        assert "Be kind." in world.sent[0]["content"]
        sent = client_messages(world)
        assert sent == history[-len(sent) :]
        assert sent[0]["role"] == "user"
    assert len(world.said()[0]) == 62  # the reply is the same each time, and kept once


def test_an_exchange_under_way_is_sent_whole_and_refused_only_by_a_limit_of_its_own(world: World) -> None:
    client = world.anew(answers("Noted."))
    long = [{"role": "system", "content": "Be kind."}, user("word " * 40_000)]
    ask(client, long)
    assert world.sent == long
    with pytest.raises(openai.BadRequestError) as raised:
        ask(client, [user("word " * 2_000)], extra_body={"everword": {"budget": 1_000}})
    assert raised.value.code == "context_length_exceeded"


# -- the rest of the API


def test_models_and_embeddings(world: World) -> None:
    client = world.anew(answers(""))
    assert [one.id for one in client.models.list()] == ["everword", "model-x"]
    assert client.models.retrieve("model-x").object == "model"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("model-z")
    made = client.embeddings.create(model="any", input=["two bicycle shops", "zwei Läden 🚲"])
    plain = client.embeddings.create(model="any", input="two bicycle shops", encoding_format="float")
    assert len(made.data[0].embedding) == 256
    assert made.data[0].embedding == pytest.approx(plain.data[0].embedding)
    assert made.usage.prompt_tokens > plain.usage.prompt_tokens > 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"messages": NaN}',
        b"[" * 100_000,
        b'{"messages": ' + b"[" * 80 + b"]" * 80 + b"}",
        b"{}",
        b'{"messages": []}',
        b'{"messages": ["hi"]}',
        b'{"messages": [' + b'{"role": "user", "content": "hi"},' * 20_000 + b'{"role": "user", "content": "hi"}]}',
        b'{"messages": [{"role": "king", "content": "hi"}]}',
        b'{"messages": [{"role": "user", "content": 5}]}',
        b'{"messages": [{"role": "user", "content": [5]}]}',
        b'{"messages": [{"role": "user", "content": ""}]}',
        b'{"messages": [{"role": "user"}]}',
        b'{"messages": [{"role": "user", "content": "hi"}], "stream": "yes"}',
        b'{"messages": [{"role": "user", "content": "hi"}], "model": 5}',
        b'{"messages": [{"role": "user", "content": "hi"}], "user": 5}',
        b'{"messages": [{"role": "user", "content": "hi"}], "everword": "off"}',
        b'{"messages": [{"role": "user", "content": "hi"}], "everword": {"memroy": false}}',
        b'{"messages": [{"role": "user", "content": "hi"}], "everword": {"budget": -1}}',
        b'{"messages": [{"role": "user", "content": "hi"}], "everword": {"conversation": "a\\nb"}}',
        b'{"messages": [{"role": "user", "content": "hi"}], "everword": {"conversation": "' + b"x" * 300 + b'"}}',
    ],
)
def test_a_request_that_is_none_is_refused_in_openais_shape(world: World, body: bytes) -> None:

    world.anew(answers("Hello."))
    response = httpx2.post(f"{world.server.url}/v1/chat/completions", content=body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert {*error} == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert not world.service.requests


def test_text_that_cannot_be_kept_is_made_text(world: World) -> None:

    world.anew(answers("Hello."))
    body = b'{"messages": [{"role": "user", "content": "a\\u0000b \\ud83d"}], "user": "odd"}'
    response = httpx2.post(f"{world.server.url}/v1/chat/completions", content=body)
    assert response.status_code == 200
    assert world.said("odd") == [[("user", "ab \ufffd"), ("assistant", "Hello.")]]


def test_an_endpoint_that_is_not_there_is_an_error_that_clients_can_read(world: World) -> None:
    client = world.anew()
    with pytest.raises(openai.NotFoundError, match="no such route") as caught:
        client.completions.create(model="model-x", prompt="Hi")
    assert caught.value.code == "no_route"

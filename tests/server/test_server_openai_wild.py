"""The drop-in endpoint among servers and clients as they are in the wild: what the one streams oddly and the other
resends changed is still one conversation, kept once, and nothing of it is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2 as httpx
import pytest
from llm_server import says, sends
from openai_doubles import USAGE, Step, World, answers, assistant, either, user, world_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_of(str(tmp_path_factory.mktemp("wild") / "a.db")) as world:
        yield world


both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
FRAME = {"id": "id-1", "object": "chat.completion.chunk", "created": 5, "model": "model-x-1"}


def chunks(*parts: Mapping[str, Any]) -> Step:
    """A stream of just these chunks."""
    return sends(*(b"data: " + json.dumps(one).encode() + b"\n\n" for one in parts), b"data: [DONE]\n\n")


def part(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {**FRAME, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def whole(message: Mapping[str, Any], finish: str = "stop", usage: Any = USAGE) -> Step:
    reply = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
    return lambda exchange: exchange.send(200, json.dumps(reply).encode())


def posted(world: World, messages: list[Any], **more: Any) -> httpx.Response:
    """What the server answers, byte by byte."""
    body = {"messages": messages, "user": world.user, **more}
    return httpx.post(f"{world.server.url}/v1/chat/completions", json=body, timeout=120)


def events(response: httpx.Response) -> list[Any]:
    assert response.status_code == 200
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


# -- streams


def test_what_a_stream_costs_is_told_to_those_who_ask_and_nobody_else(world: World) -> None:
    """A client that reads `chunk.choices[0]` of every chunk is right to, as long as it has not asked for the cost."""
    for more in ({}, {"everword": {"memory": False}}):
        world.anew(answers("Hel|lo."))
        told = events(posted(world, [user("Hi!")], stream=True, **more))
        assert all(len(one["choices"]) == 1 and not one.get("usage") for one in told)
        told = events(posted(world, [user("Hi!")], stream=True, stream_options={"include_usage": True}, **more))
        assert [one["usage"] for one in told if not one["choices"]] == [USAGE]
        assert more or [one["usage"] for one in told[:-1]] == [None] * (len(told) - 1)


@pytest.mark.parametrize("memory", [True, False])
def test_a_stream_of_nothing_is_an_end_and_no_failure(world: World, memory: bool) -> None:
    world.anew(sends(b"data: [DONE]\n\n"))
    told = events(posted(world, [user("Hi!")], stream=True, everword={"memory": memory}))
    assert not any(choice["delta"].get("content") for one in told for choice in one["choices"])
    assert {one["model"] for one in told} <= {"model-x"}, "and not where its server is"


def test_an_empty_chunk_before_the_answer_names_nothing(world: World) -> None:
    """As Azure sends it, with the results of its filter."""
    empty = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": []}
    world.anew(chunks(empty, part({"role": "assistant", "content": ""}), part({"content": "Two."}), part({}, "stop")))
    told = events(posted(world, [user("How many?")], stream=True))
    assert {(one["id"], one["object"], one["created"], one["model"]) for one in told} == {tuple(FRAME.values())}


def test_probabilities_pass_once_however_the_last_word_comes(world: World) -> None:
    """Some servers send the last word and the end in one chunk."""
    words: list[Any] = [{"content": [{"token": word, "logprob": -0.1, "top_logprobs": []}]} for word in ("Two", ".")]
    first, last = words
    world.anew(chunks(part({"content": "Two"}, logprobs=first), part({"content": "."}, "stop", logprobs=last)))
    told = events(posted(world, [user("How many?")], stream=True, logprobs=True))
    found = [one["choices"][0].get("logprobs") for one in told]
    assert [word["token"] for one in found if one for word in one["content"]] == ["Two", "."]


def test_choices_of_a_stream_are_each_whole_and_the_first_is_kept(world: World) -> None:
    def piece(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
        return {**FRAME, "choices": [{"index": index, "delta": {"content": text}, "finish_reason": finish}]}

    pieces = [piece(1, "Tw"), piece(0, "On"), piece(1, "o.", "stop"), piece(0, "e.", "stop")]
    world.anew(chunks(*pieces))
    told = events(posted(world, [user("A number!")], stream=True, n=2))
    shown = {0: "", 1: ""}
    for one in told:
        for choice in one["choices"]:
            shown[choice["index"]] += choice["delta"].get("content") or ""
    assert shown == {0: "One.", 1: "Two."}
    assert [one["choices"][0]["finish_reason"] for one in told].count("stop") == 2
    assert world.said() == [[("user", "A number!"), ("assistant", "One.")]]


def test_counts_of_nothing_are_no_counts(world: World) -> None:
    """Some servers fill in zeros."""
    world.anew(says("Two.", usage=dict.fromkeys(USAGE, 0)))
    usage = posted(world, [user("How many?")]).json()["usage"]
    assert usage["prompt_tokens"] > 50, "what the memory tells the model is counted"
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


# -- tool calls


def call(arguments: str) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": "note", "arguments": arguments}}


def fragments(*texts: str, **rest: Any) -> Step:
    """A call in fragments; after the first, they have what `rest` says in place of what is known."""
    first, *others = texts
    return chunks(
        part({"role": "assistant", "content": None, "tool_calls": [{"index": 0, **call(first)}]}),
        *(
            part({"tool_calls": [{"index": 0, **rest, "function": {**rest.get("function", {}), "arguments": one}}]})
            for one in others
        ),
        part({}, "tool_calls"),
    )


@pytest.mark.parametrize(
    "rest",
    [
        {"id": "", "type": "function", "function": {"name": ""}},
        {"id": None, "type": None, "function": {"name": None}},
    ],
    ids=["empty", "null"],
)
def test_a_fragment_that_names_nothing_leaves_the_call_its_name(world: World, rest: dict[str, Any]) -> None:
    world.anew(fragments("", '{"a":', "1}", **rest), answers("Done."))
    posted(world, [user("Note 1.")], stream=True)
    history = [user("Note 1."), assistant(None, tool_calls=[call('{"a": 1}')])]
    posted(world, [*history, {"role": "tool", "tool_call_id": "call_1", "content": "ok"}])
    assert [text for _, text in world.said()[0]] == ["Note 1.", "", "ok", "Done."]
    assert len(world.log()) == 1
    assert world.log().popitem()[1][1].metadata["openai"]["tool_calls"] == [call('{"a":1}')]


@both_ways
def test_half_a_character_of_a_tools_arguments_passes_and_is_kept_whole(world: World, stream: bool) -> None:
    """Where a stream is cut between the halves of 🚲, each half is no text, and the two together are."""
    arguments = '{"a": "\ud83d', '\udeb2"}'
    message = {"role": "assistant", "content": None, "tool_calls": [call("".join(arguments))]}
    world.anew(either(whole(message, "tool_calls"), fragments(*arguments)), answers("Done."))
    response = posted(world, [user("Note it.")], stream=stream)
    if stream:
        pieces = [c for one in events(response) for c in one["choices"][0]["delta"].get("tool_calls", ())]
        found = "".join(one["function"]["arguments"] for one in pieces)
    else:
        found = response.json()["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert found.encode("utf-16-le", "surrogatepass").decode("utf-16-le") == '{"a": "🚲"}'
    history = [user("Note it."), assistant(None, tool_calls=[call('{"a": "🚲"}')])]
    posted(world, [*history, {"role": "tool", "tool_call_id": "call_1", "content": "ok"}])
    assert [text for _, text in world.said()[0]] == ["Note it.", "", "ok", "Done."]
    assert len(world.log()) == 1


def test_what_is_no_text_and_no_number_passes_as_it_came(world: World) -> None:
    """Half a character that stays half, and a probability of nothing, which some servers write as no JSON has it."""
    odd = {"role": "assistant", "content": "Two.", "reasoning": "\ud83d"}
    reply = {"choices": [{"index": 0, "message": odd, "logprobs": {"content": [{"logprob": float("-inf")}]}}]}
    world.anew(lambda exchange: exchange.send(200, json.dumps(reply).encode()))
    [choice] = posted(world, [user("How many?")], logprobs=True).json()["choices"]
    assert choice["message"] == odd
    assert choice["logprobs"] == reply["choices"][0]["logprobs"]


@both_ways
def test_calls_nested_without_end_are_no_answer(world: World, stream: bool) -> None:
    deep: Any = "x"
    for _ in range(700):
        deep = [deep]
    odd = {"id": "call_1", "function": {"name": "note", "arguments": "{}"}, "more": deep}
    message = {"role": "assistant", "content": None, "tool_calls": [odd]}
    world.anew(either(whole(message, "tool_calls"), chunks(part({"tool_calls": [odd]}), part({}, "tool_calls"))))
    response = posted(world, [user("Note it.")], stream=stream)
    assert (response.status_code, response.json()["error"]["code"]) == (502, "model_nonsense")


def test_what_a_tool_gives_may_be_longer_than_any_budget(world: World) -> None:
    world.anew(answers("Done."))
    history = [
        user("Read it."),
        assistant("", tool_calls=[call("{}")]),
        {"role": "tool", "tool_call_id": "call_1", "content": "word " * 40_000},
    ]
    assert posted(world, history).json()["choices"][0]["message"]["content"] == "Done."
    assert world.sent == history
    refused = posted(world, history, everword={"budget": 1_000})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "context_length_exceeded")


# -- what is said without words


@both_ways
def test_a_picture_alone_is_a_message(world: World, stream: bool) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    file = {"type": "file", "file": {"file_id": "file-1"}}
    world.anew(answers("A cat."))
    for number, one in enumerate((picture, sound, file), 1):
        assert posted(world, [user([one])], stream=stream).status_code == 200
        assert world.sent[-1] == user([one])
        assert len(world.log()) == number


@both_ways
def test_a_refusal_is_kept_once(world: World, stream: bool) -> None:
    streamed = chunks(part({"role": "assistant", "refusal": ""}), part({"refusal": "I can"}), part({"refusal": "not."}))
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    world.anew(either(whole(message), streamed), answers("Good."))
    response = posted(world, [user("Do it.")], stream=stream)
    if stream:
        assert "".join(one["choices"][0]["delta"].get("refusal") or "" for one in events(response)) == "I cannot."
    else:
        assert response.json()["choices"][0]["message"] == message
    assert world.said() == [[("user", "Do it."), ("assistant", "I cannot.")]]
    posted(world, [user("Do it."), message, user("Never mind.")])
    texts = [text for _, text in world.said()[0]]
    assert texts == ["Do it.", "I cannot.", "Never mind.", "Good."]
    assert len(world.log()) == 1


@both_ways
def test_of_a_reply_in_sound_the_words_are_kept_once(world: World, stream: bool) -> None:
    """The client tells it back by its id alone."""
    sound = {"id": "audio_1", "data": "AAAA", "expires_at": 9, "transcript": "You run two."}
    streamed = chunks(
        part({"role": "assistant", "audio": {"id": "audio_1", "transcript": "You run"}}),
        part({"audio": {"data": "AAAA"}}),
        part({"audio": {"transcript": " two.\x00"}}),
        part({"audio": {"expires_at": 9}}, "stop"),
    )
    world.anew(either(whole({"role": "assistant", "content": None, "audio": sound}), streamed), answers("Oslo."))
    response = posted(world, [user("How many?")], stream=stream, modalities=["text", "audio"])
    if stream:
        heard = [one["choices"][0]["delta"].get("audio") or {} for one in events(response)]
        assert "".join(one.get("transcript", "") for one in heard) == "You run two.\x00"
    else:
        assert response.json()["choices"][0]["message"]["audio"] == sound
    assert world.said() == [[("user", "How many?"), ("assistant", "You run two.")]]
    told_back = {"role": "assistant", "audio": {"id": "audio_1"}}
    posted(world, [user("How many?"), told_back, user("Where?")])
    assert world.sent[-3] == told_back
    assert [text for _, text in world.said()[0]] == ["How many?", "You run two.", "Where?", "Oslo."]
    assert len(world.log()) == 1
    assert "AAAA" not in str(world.log())


# -- what clients resend


def test_a_client_that_leaves_out_what_the_model_thought_goes_on_with_the_same_conversation(world: World) -> None:
    world.anew(answers("<think>\nTwo? Yes.\n</think>\n\nTwo."), answers("<think>Hm.</think>In Oslo."))
    posted(world, [user("How many?")])
    posted(world, [user("How many?"), assistant("Two."), user("Where?")])
    assert len(world.log()) == 1
    assert [text for _, text in world.said()[0]][1:3] == ["<think>\nTwo? Yes.\n</think>\n\nTwo.", "Where?"]
    thought = assistant("<think>\nTwo? Yes.\n</think>\n\nTwo.")
    posted(world, [user("How many?"), thought, user("Where?"), assistant("In Oslo."), user("Since when?")])
    assert len(world.log()) == 1


def test_who_sends_only_what_is_new_may_say_the_same_again(world: World) -> None:
    world.anew(answers("Hello."), answers("Fine."), answers("Hello again."), answers("Bye."))
    named = {"everword": {"conversation": f"daily of {world.user}"}}
    for text in ("Good morning!", "How are you?", "Good morning!", "Bye!"):
        posted(world, [user(text)], **named)
    assert [[text for _, text in talk] for talk in world.said()] == [
        ["Good morning!", "Hello.", "How are you?", "Fine.", "Good morning!", "Hello again.", "Bye!", "Bye."]
    ]


def test_a_client_with_a_sliding_window_stays_in_its_conversation_without_naming_it(world: World) -> None:
    world.anew(*(answers(f"Reply {n}.") for n in range(8)))
    history: list[Any] = []
    for number in range(8):
        history.append(user(f"Question {number}?"))
        response = posted(world, history[-5:])
        history.append(assistant(response.json()["choices"][0]["message"]["content"]))
    assert world.said() == [[(one["role"], one["content"]) for one in history]]


@pytest.mark.parametrize("named", [True, False])
def test_a_client_that_sums_up_its_own_history_goes_on_with_the_same_conversation(world: World, named: bool) -> None:
    world.anew(*(answers(f"Reply {n}.") for n in range(9)))
    more = {"everword": {"conversation": f"summed up by {world.user}"}} if named else {}
    history: list[Any] = []
    for number in range(9):
        history.append(user(f"Question {number}?"))
        summary = [user(f"The talk so far, part {number // 6}.")] if number >= 3 else []
        response = posted(world, [*summary, *(history[-5:] if summary else history)], **more)
        history.append(assistant(response.json()["choices"][0]["message"]["content"]))
        assert world.sent[-1] == history[-2]
    [talk] = world.said()
    assert [one for one in talk if "so far" not in one[1]] == [(one["role"], one["content"]) for one in history]
    assert [text for _, text in talk if "so far" in text] == ["The talk so far, part 0.", "The talk so far, part 1."]


def test_a_name_of_a_model_is_a_name(world: World) -> None:
    world.anew(answers("Hello."))
    response = posted(world, [user("Hi!")], model="m" * 5_000)
    assert (response.status_code, response.json()["error"]["param"]) == (400, "model")
    assert not world.service.requests

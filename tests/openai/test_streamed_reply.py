"""A model's answer on its way to a client: wherever it is cut, the client sees the same, and only what is for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from everword.context.reply_markers import strip
from everword.model import Budget
from everword.models.tokens import EstimateTokenizer
from everword.openai.messages import budget_of, count_tokens, lay_out, opening_id, parse_message, text_of, utterance_of
from everword.openai.stream import CompleteReply, ReplyStream, sum_usages
from everword.testing.samples import make_message as sample

FRAME = {"id": "chatcmpl-1", "created": 1, "model": "model-x"}
TEXT = "You run [REQUEST_TIER:3:m9] two 🚲.\n```\ncode\n```\n<everword>\nU1: a = b\n</everword>"


def chunk(index: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def passed(passing: ReplyStream, pieces: list[tuple[int, str]]) -> dict[int, str]:
    """What a client has put together at the end of the answer."""
    chunks = [passing.feed(chunk(index, {"content": piece})) for index, piece in pieces]
    passing.finish()
    shown: dict[int, str] = {}
    for one in [*filter(None, chunks), *passing.last_chunks()]:
        assert one["id"] == "chatcmpl-1"
        assert one["object"] == "chat.completion.chunk"
        for choice in one["choices"]:
            shown[choice["index"]] = shown.get(choice["index"], "") + (choice["delta"].get("content") or "")
    return shown


@given(st.lists(st.integers(0, len(TEXT)), max_size=12), st.integers(1, 3))
def test_wherever_a_stream_is_cut_each_choice_is_seen_without_markers(cuts: list[int], choices: int) -> None:
    places = sorted({0, *cuts, len(TEXT)})
    pieces = [TEXT[a:b] for a, b in pairwise(places)]
    shown = passed(ReplyStream(FRAME), [(index, piece) for piece in pieces for index in range(choices)])
    assert shown == dict.fromkeys(range(choices), strip(TEXT))


@given(st.text(max_size=60), st.integers(1, 9))
def test_an_ordinary_text_passes_as_it_is(text: str, size: int) -> None:
    pieces = [(0, text[at : at + size]) for at in range(0, len(text), size)]
    assert passed(ReplyStream(FRAME), pieces)[0] == strip(text)


def test_rounds_are_one_answer() -> None:
    passing = ReplyStream(FRAME)
    first = passing.feed({"id": "up-1", **chunk(0, {"role": "assistant", "content": "Let me look."})})
    assert passing.feed(chunk(0, {"content": "[SEARCH_EPISODIC: x]"}, "stop")) is None
    passing.finish()
    assert passing.first.asks
    passing.start_round()
    second = passing.feed({"id": "up-2", **chunk(0, {"role": "assistant", "content": "Two."}, "stop")})
    passing.finish()
    *_, end = passing.last_chunks()
    assert first is not None
    assert second is not None
    assert [one["id"] for one in (first, second, end)] == ["up-1"] * 3
    assert second["choices"][0]["delta"] == {"content": "\n\nTwo."}
    assert end["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}


def test_a_call_in_pieces_is_put_together_whatever_its_pieces_are() -> None:
    passing = ReplyStream(FRAME)
    pieces: list[Any] = [
        {"index": 0, "id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
        {"index": 1, "id": "2", "function": {"name": "g", "arguments": {"odd": 1}}},
        {"index": 1, "function": {"arguments": "x"}},
        {"index": 1, "function": "odd", "custom": 1},
        {"index": 1, "custom": {"input": "x"}},
        "nonsense",
    ]
    for piece in pieces:
        assert passing.feed(chunk(0, {"tool_calls": [piece]})) is not None
    passing.finish()
    assert passing.first.calls[0] == {
        "id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'},
    }  # fmt: skip
    assert passing.last_chunks()[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert not passing.first.said_nothing


def test_an_answer_in_one_keeps_what_is_not_text() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}], "x": 1}
    answer = CompleteReply({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "y": 2})
    seen = answer.build_reply(FRAME, {"total_tokens": 3})
    assert seen["choices"][0]["message"] == message
    assert (seen["y"], seen["model"], seen["object"]) == (2, "model-x", "chat.completion")


def test_costs_are_added_in_all_detail() -> None:
    one = {"prompt_tokens": 5, "details": {"cached": 2, "kind": "a"}, "cost": 0.5, "tier": "x"}
    assert sum_usages([one, {"prompt_tokens": 6, "details": {"cached": 1}, "details2": {"y": 1}}]) == {
        "prompt_tokens": 11, "details": {"cached": 3, "kind": "a"}, "cost": 0.5, "tier": "x", "details2": {"y": 1},
    }  # fmt: skip
    assert sum_usages([{"a": 1, "b": True}, {"a": None, "b": {}}])["a"] == 1


# -- messages in OpenAI's shape


def test_the_same_message_has_the_same_mark_however_it_is_written() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1,"a":2}'}}
    other = {"id": "1", "type": "function", "index": 0, "function": {"name": "f", "arguments": '{"a":2, "b":1}'}}
    parts = [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]
    same: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"role": "user", "content": "Hi\nyou "}, {"role": "user", "content": parts}),
        ({"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "assistant", "tool_calls": [other]}),
        ({"role": "user", "content": "a\r\nb"}, {"role": "user", "content": "a\nb"}),
        ({"role": "assistant", "content": "no", "refusal": None}, {"role": "assistant", "refusal": "no"}),
    ]
    for one, two in same:
        assert parse_message(one).utterance == parse_message(two).utterance
        kept = sample(
            role=one["role"], content=parse_message(two).text, metadata=dict(parse_message(two).draft().metadata)
        )
        assert replace(utterance_of(kept), partial=False) == parse_message(one).utterance
        assert utterance_of(kept).partial == ("refusal" in two), "a refusal need not be told back"
    picture = [*parts, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    assert parse_message({"role": "user", "content": picture}).utterance != parse_message(same[0][0]).utterance


def test_a_conversation_is_known_by_how_it_begins() -> None:
    start = [parse_message({"role": "user", "content": "Hi"})]
    more = [
        *start,
        parse_message({"role": "assistant", "content": "Hello"}),
        parse_message({"role": "user", "content": "Bye"}),
    ]
    assert opening_id(start, "s", "u") == opening_id(more, "s", "u")
    assert len({opening_id(start, *about) for about in (("s", "u"), ("s", "v"), ("t", "u"))}) == 3


# -- what is sent as it is

BODIES = st.lists(
    st.tuples(st.sampled_from(["system", "developer", "user", "assistant", "tool"]), st.text("ab ", max_size=40)),
    min_size=1,
    max_size=12,
)


@given(BODIES, st.integers(1, 400), st.booleans())
def test_the_tail_begins_with_a_user_and_no_instruction_is_lost(
    messages: list[tuple[str, str]], total: int, all_of_it: bool
) -> None:
    body = {"messages": [{"role": role, "content": text} for role, text in messages]}
    layout = lay_out(body, budget_of(total), EstimateTokenizer(), all_of_it=all_of_it)
    sent = list(layout.tail)
    assert sent == body["messages"][len(messages) - len(sent) :]
    told = [one["content"] for one in body["messages"] if one["role"] in ("system", "developer")]
    here = [one["content"] for one in sent if one["role"] in ("system", "developer")]
    assert [*filter(str.strip, told)] == [*filter(str.strip, [*(layout.system or "").split("\n\n"), *here])]
    spoken_of = [role for role, _ in messages if role not in ("system", "developer")]
    if "user" in spoken_of:
        last = max(place for place, (role, _) in enumerate(messages) if role == "user")
        assert len(messages) - len(sent) <= last, "the exchange under way is there"
        kept = [one["role"] for one in sent]
        assert kept[0] == "user" or [r for r in kept if r not in ("system", "developer")] == spoken_of
    assert layout.beside >= 0


def test_a_budget_of_a_size_has_the_usual_shares() -> None:
    assert budget_of(None) == budget_of(30_000) == Budget()
    assert budget_of(3_000).retrieved == Budget().retrieved // 10


def test_pictures_and_calls_cost_tokens() -> None:
    plain = {"role": "user", "content": "abc"}
    assert count_tokens(plain, EstimateTokenizer()) == 1
    assert (
        count_tokens(
            {"role": "user", "content": [{"type": "input_audio"}, {"type": "text", "text": "abc"}]}, EstimateTokenizer()
        )
        > 500
    )
    assert count_tokens({**plain, "tool_calls": [{"id": "1"}]}, EstimateTokenizer()) > 1
    assert text_of({"role": "user"}) == ""

"""What is relevant is word for word, in the window or out of it (F2); names and days are those of the reader (F3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from engine_doubles import settle_facts, settle_index, settle_summaries
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Budget, Context, Draft, InvalidInput, Memory, Message
from everword.context.build import PER_MESSAGE, PER_REPLY, assemble
from everword.context.reply_markers import instructions
from everword.context.state import ContextState
from everword.model import Section
from everword.models.tokens import EstimateTokenizer
from everword.testing import FrozenClock

FACT = (
    "My passport number is X1234567, it was issued in Utrecht and it expires on the ninth of October, so please "
    "remember that for the visa form that we have to hand in before the summer holidays begin."
)
LONG = "We talked about football, the weather and lunch again, as on most days, and nothing of it was decided. " * 3
START = datetime(2022, 2, 2, 18, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False, clock=FrozenClock(START)) as opened:
        yield opened


def sections(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.receipt.sections}


def text_of(context: Context) -> str:
    return "\n".join(message["content"] for message in context.messages)


def spoken_texts(context: Context) -> list[str]:
    """The texts of the messages before the current one."""
    return [message["content"] for message in context.messages[:-1] if message["role"] != "system"]


def filler(count: int) -> list[Draft]:
    return [Draft("assistant" if n % 2 else "user", f"{n}. {LONG}") for n in range(count)]


@pytest.mark.checklist("F2")
def test_what_is_relevant_in_the_window_or_just_left_it_is_word_for_word(memory: Memory) -> None:
    """F2: wherever it lies."""
    chat = memory.conversation("demo", user="alex")
    chat.extend([*filler(6), Draft("user", FACT), Draft("assistant", "I will.")])
    settle_summaries(memory)
    for before, after in ((0, 3), (3, 11), (11, 15)):
        chat.extend(filler(after)[before:])
        settle_summaries(memory)
        assert bool(chat.archived()) == (after == 15), "in the window, or just left it"
        for markers in (True, False):
            shown = text_of(chat.context("When does my passport expire?", markers=markers))
            assert FACT in shown, f"{after} messages later, {markers=}"


@pytest.mark.checklist("F2")
def test_tier_one_stands_only_where_the_model_can_ask(memory: Memory) -> None:
    """F2: without markers a message is summed up, or whole if it is short."""
    chat = memory.conversation("demo", user="alex")
    chat.extend(filler(26))
    assert {item.tier for item in sections(chat.context("ok"))["history"].items} == {1}
    assert {item.tier for item in sections(chat.context("ok", markers=False))["history"].items} <= {2, 3}


@pytest.mark.checklist("F2")
def test_a_chat_that_costs_no_more_whole_is_sent_whole(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    said = [Draft("assistant" if n % 2 else "user", f"This is remark number {n}.") for n in range(14)]
    chat.extend(said)
    settle_index(memory)
    context = chat.context("ok")
    assert spoken_texts(context) == [draft.content for draft in said]
    assert "history" not in sections(context)


@pytest.mark.checklist("F2")
def test_a_correction_is_shown_with_what_it_corrects(memory: Memory) -> None:
    """F2: the relevant plan is not shown without its change, which shares few words with the question."""
    chat = memory.conversation("demo", user="alex")
    plan = (
        "The dentist appointment for Lena is on Thursday at nine, and she needs the insurance card and her old X-rays."
    )
    change = (
        "Actually, the receptionist moved the appointment to Monday at four because of a strike of the tram drivers."
    )
    chat.extend([Draft("user", plan), Draft("assistant", "Noted."), Draft("user", change), *filler(11)])
    settle_index(memory)
    text = text_of(chat.context("What does Lena need for the dentist?"))
    assert plan in text
    assert change in text


@pytest.mark.checklist("F2")
def test_a_corrected_message_at_its_tier_says_so(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    plan = f"The summer party of the chess club is on Saturday. {LONG}"
    change = f"The summer party of the chess club moved to Sunday. {LONG}"
    chat.extend([Draft("user", plan), Draft("assistant", "Noted."), Draft("user", change), *filler(23)])
    assert "(m3 may change this)" in text_of(chat.context("ok"))


@pytest.mark.checklist("F3")
def test_days_are_those_of_the_spaces_time_zone(memory: Memory) -> None:
    memory.set_time_zone("Pacific/Auckland")
    chat = memory.conversation("demo", user="alex")
    chat.extend([Draft("user", "Good morning.", time=START - timedelta(hours=1))])
    text = text_of(chat.context("ok"))
    assert "Today is Thursday, 3 February 2022." in text
    assert "m1: Thu 3 Feb 2022, 06:00" in text


@pytest.mark.checklist("F3")
def test_of_a_first_message_and_of_the_last_minutes_only_the_day_is_said(memory: Memory) -> None:
    """F3: all else would cost as much as what was said."""
    chat = memory.conversation("demo", user="alex")
    assert chat.context("Good morning.").messages[0]["content"] == "2Feb2022 Wed"
    chat.add("user", "Good morning.")
    assert chat.context("ok").messages[-2]["content"] == "Today is Wednesday, 2 February 2022."


@pytest.mark.checklist("F2")
def test_a_short_chat_is_sent_whole_after_it_has_left_the_window_and_asks_for_nothing(memory: Memory) -> None:
    """F2: no instructions, no labels, no summary of it; and what other chats hold can be searched."""
    chat = memory.conversation("demo", user="alex")
    said = [Draft("assistant" if n % 2 else "user", f"Remark {n} is about bread.") for n in range(26)]
    chat.extend(said)
    settle_summaries(memory)
    assert chat.archived(), "some of it has left the window"
    context = chat.context("And which bread do you like?")
    assert spoken_texts(context) == [draft.content for draft in said]
    assert context.messages[-2]["content"] == "Today is Wednesday, 2 February 2022."
    assert {*sections(context)} <= {"system", "recent", "current", "retrieved"}
    other = memory.conversation("other", user="alex")
    other.extend([Draft("user", "I bake rye bread on Sundays."), *filler(60)])
    settle_summaries(memory)
    context = chat.context("And which bread do you like?")
    assert "[SEARCH_EPISODIC: words]" in context.messages[0]["content"]
    assert "[REQUEST_TIER" not in text_of(context)
    assert "rye bread" in context.messages[-2]["content"]


@pytest.mark.checklist("F5")
def test_a_chat_of_long_messages_asks_for_tiers_and_one_of_short_ones_does_not(memory: Memory) -> None:
    short, long = (memory.conversation(name, user=name) for name in ("short", "long"))
    short.extend(Draft("assistant" if n % 2 else "user", f"Remark number {n}.") for n in range(8))
    long.extend(filler(8))
    assert "<everword>" not in text_of(short.context("And then?"))
    assert "<everword>" in text_of(long.context("And then?"))


@pytest.mark.checklist("F3")
def test_people_have_names_and_signs_only_where_two_share_one(memory: Memory) -> None:
    channel = memory.conversation("general")
    for author, name in (("298741552369147904", "Kim"), ("2987", "Kim"), ("555", "Lou")):
        channel.add("user", f"I am number {author[:2]}.", author=author, name=name)
    settle_facts(memory)
    said = [message["content"] for message in channel.context("ok").messages[1:-1]]
    assert said[2] == "Lou: I am number 55."
    assert all(text.startswith("Kim #") for text in said[:2])
    assert said[0].partition(":")[0] != said[1].partition(":")[0]


@pytest.mark.checklist("F3")
def test_what_is_known_in_a_channel_stands_under_names(memory: Memory) -> None:
    channel = memory.conversation("general")
    channel.add("user", "I live in Oslo.", author="298741552369147904", name="Kim")
    settle_facts(memory)
    text = text_of(channel.context("Where does everybody live?"))
    assert "Kim: " in text
    assert "298741552369147904" not in text


@pytest.mark.checklist("F3")
def test_a_name_that_was_told_in_private_is_not_shown_in_a_channel(memory: Memory) -> None:
    """F3, F14: the id stands there."""
    memory.conversation("private", user="u77").add("user", "My name is Rosalind.", name="Roz")
    channel = memory.conversation("general")
    channel.add("user", "Hello everybody.", author="u77")
    memory.settle()
    text = text_of(channel.context("Who said hello?"))
    assert "u77: Hello everybody." in text
    assert "Ros" not in text
    assert "Roz" not in text


@pytest.mark.checklist("F3")
def test_several_people_in_one_chat_are_told_apart(memory: Memory) -> None:
    chat = memory.conversation("two", user="owner")
    chat.extend([Draft("user", "I am tired.", author="Ann"), Draft("user", "I am not.", author="Ben")])
    assert spoken_texts(chat.context("ok")) == ["Ann: I am tired.", "Ben: I am not."]


# -- of any state

TEXTS = ("hi", "Where is the key?", "Actually, it moved to Friday.", FACT, LONG, LONG * 4, "on Friday", " ")


def some_state(chance: Random) -> ContextState:
    messages = [
        Message(
            "s", "c", turn, f"id{turn}", "assistant" if turn % 2 else "user", f"a{turn % 3}", "u", chance.choice(TEXTS),
            START + timedelta(hours=chance.randint(0, 2) * turn),
        )
        for turn in range(1, chance.randint(1, 24))
    ]  # fmt: skip
    return ContextState(
        text="Where is the key?",
        instructions=chance.choice(("", instructions())),
        system=None,
        conversation="c",
        window=messages,
        is_whole=chance.random() < 0.5,
        relevance={m.turn: chance.random() * 20 for m in messages if chance.random() < 0.4},
        names={"a0": "Ann", "a1": chance.choice(("Ann", "Ben"))},
        now=START,
        channel=chance.random() < 0.3,
    )


@settings(max_examples=sample(100), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([60, 200, 600, 1_500, 6_000, 30_000]))
@pytest.mark.checklist("F2")
def test_of_any_state_the_budget_holds_and_every_message_is_in_one_place(seed: int, total: int) -> None:
    """F2, D5: whole or not, with days and names; no message at tier 1 where the model cannot ask."""
    state = some_state(Random(seed))
    count = EstimateTokenizer().count
    try:
        context = assemble(state, Budget(total=total), EstimateTokenizer())
    except InvalidInput:
        return
    tokens = PER_REPLY + sum(PER_MESSAGE + count(message["content"]) for message in context.messages)
    assert tokens == context.receipt.tokens <= total
    parts = sections(context)
    placed = [
        item.id
        for name in ("history", "recent")
        if name in parts
        for item in (*parts[name].items, *parts[name].left_out)
        if item.reason != "too long for the recent section"
    ]
    hits = parts.get("retrieved", Section("", 0))
    retrieved = {item.id for item in (*hits.items, *hits.left_out)}
    turns = {f"m{message.turn}" for message in state.window}
    assert len(placed) == len({*placed})
    assert {*placed} <= turns <= {*placed} | retrieved
    if not state.instructions and "history" in parts:
        assert all(item.tier > 1 for item in parts["history"].items)
    again = assemble(replace(state, window=tuple(state.window)), Budget(total=total), EstimateTokenizer())
    assert again == context


@settings(max_examples=sample(80), deadline=None)
@given(st.integers(0, 2**32))
@pytest.mark.checklist("F2")
def test_with_room_a_correction_and_what_it_corrects_are_shown_alike(seed: int) -> None:
    """F2: where one is word for word, the other is too, or says that it may have changed."""
    from everword.text.corrections import corrected_turns

    state = some_state(Random(seed))
    context = assemble(state, Budget(), EstimateTokenizer())
    parts = sections(context)
    tiers = {item.id: item.tier for name in ("history", "recent") if name in parts for item in parts[name].items}
    for corrected, correction in corrected_turns(state.window).items():
        if tiers[f"m{corrected}"] < 3:
            assert f"(m{correction} may change this)" in context.messages[0]["content"]

"""A context: sections with budgets, every past message at its tier or left out with a reason, never a token over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from engine_doubles import settle_index, settle_views
from filled_store import make_filled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Budget, Context, Draft, InvalidInput, Memory, Role
from everword.context.build import PER_MESSAGE, PER_REPLY
from everword.model import Section
from everword.models.tokens import TiktokenTokenizer
from everword.testing import FrozenClock, ScriptedLLM

TOKENIZER = TiktokenTokenizer("o200k_base")
LONG = "The shop in Berlin opens at nine and closes at six, except on Sundays when it stays closed all day. " * 3


def tokens(context: Context) -> int:
    """What a model is sent, counted afresh."""
    return PER_REPLY + sum(PER_MESSAGE + TOKENIZER.count(message["content"]) for message in context.messages)


def sections(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.receipt.sections}


def long_messages(count: int) -> list[Draft]:
    return [Draft("user" if n % 2 else "assistant", f"{n}. {LONG}") for n in range(1, count + 1)]


def settle_what_is_shown(memory: Memory) -> None:
    """Bring up to date what a context is made of while nothing has left the window: what is searched, and tiers."""
    settle_views(memory, "index", "tiers")


def hold_a_long_chat(url: str) -> None:
    with Memory(url, window_turns=0, followers=False) as memory:
        memory.conversation("demo", user="alex").extend(long_messages(146))
        settle_what_is_shown(memory)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), window_turns=0, followers=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """The context of a chat of thirty long messages, for all who only read it."""
    path = tmp_path_factory.mktemp("thirty") / "memory.db"
    with Memory(str(path), window_turns=0, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(long_messages(30))
        settle_what_is_shown(memory)
        yield chat.context("What now?")


@pytest.mark.checklist("F3")
def test_a_context_is_the_system_prompt_the_recent_messages_and_the_question(store_url: str) -> None:
    """F3: with the day, and the times of the messages."""
    clock = FrozenClock(datetime(2022, 2, 2, 18, tzinfo=UTC))
    with Memory(store_url, followers=False, clock=clock) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", "My name is Alex and I prefer Python.")
        clock.advance(timedelta(minutes=20))
        chat.add("assistant", "Noted, Alex.")
        context = chat.context("Which language for the example?", system="Be brief.", markers=False)
        times = "Times of messages: m1 to m2: Wed 2 Feb 2022, 18:00 to 18:20."
        assert context.messages == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "My name is Alex and I prefer Python."},
            {"role": "assistant", "content": "Noted, Alex."},
            {"role": "system", "content": f"{times}\n\nToday is Wednesday, 2 February 2022."},
            {"role": "user", "content": "Which language for the example?"},
        ]
        without_system = chat.context("Again?", markers=False).messages
        assert [message["role"] for message in without_system] == ["user", "assistant", "system", "user"]
        assert len(chat.history()) == 2, "asking for a context adds nothing"


@pytest.mark.checklist("A7")
def test_it_opens_with_tiers_and_markers_and_labels_every_past_message(thirty: Context) -> None:
    """A7: what tiers are, how to ask, and each past message with its id, role and tier."""
    opening, closing = thirty.messages[0], thirty.messages[-2]
    assert opening["role"] == "system"
    for expected in ("tier", "[REQUEST_TIER:3:ID]", "[SEARCH_EPISODIC:"):
        assert expected in opening["content"]
    for turn in range(1, 17):
        role = "user" if turn % 2 else "assistant"
        assert f"MESSAGE[m{turn}] ({role}, tier 1):" in opening["content"]
    assert closing["role"] == "system"
    assert "\n\nMessages m17 to m30 stand above in full (tier 3)." in closing["content"]
    assert [message["role"] for message in thirty.messages[1:-2]] == ["user", "assistant"] * 7


@pytest.mark.checklist("A2", "B1")
def test_older_messages_enter_at_tier_one_and_the_last_exchanges_whole(thirty: Context) -> None:
    """A2, B1: a new message enters later contexts at tier 1; the last exchanges are there word for word."""
    parts = sections(thirty)
    assert [(item.id, item.tier) for item in parts["history"].items] == [(f"m{n}", 1) for n in range(1, 17)]
    assert [m["content"] for m in thirty.messages[1:-2]] == [f"{n}. {LONG}" for n in range(17, 31)]
    original = sum(TOKENIZER.count(f"{n}. {LONG}") for n in range(1, 17))
    assert parts["history"].tokens < original / 2


def test_the_same_state_gives_the_same_bytes(store_url: str) -> None:
    budget = Budget(total=1_500)  # not all of them fit
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(Draft("user", f"message {n} " * 30) for n in range(30))
        memory.settle()
        first = chat.context("What now?", budget=budget, system="Be brief.")
        assert chat.context("What now?", budget=budget, system="Be brief.") == first
    with Memory(store_url, followers=False) as memory:
        again = memory.conversation("demo", user="alex").context("What now?", budget=budget, system="Be brief.")
        assert again == first


def test_a_prompt_begins_as_the_one_before(tmp_path: Path) -> None:
    """What was sent stays as it is and where it is: only what belongs to the message comes after it."""
    url = str(tmp_path / "memory.db")
    make_filled(url, hold_a_long_chat)
    with Memory(url, window_turns=0, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        before = chat.context("Hello there, how is the shop?", system="You sell bicycles.")
        chat.extend([Draft("user", LONG), Draft("assistant", "Noted.")])
        settle_what_is_shown(memory)
        after = chat.context("When are the tyres changed?", system="You sell bicycles.")
        kept = before.messages[:-2]
        assert after.messages[: len(kept)] == kept
        assert after.receipt.repeated == 0, "nothing was sent"


def test_a_receipt_says_how_much_was_sent_before(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    make_filled(url, hold_a_long_chat)
    with Memory(url, chat=ScriptedLLM(default="Noted."), window_turns=0, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        assert chat.reply("Hello there, how is the shop?").receipt.repeated == 0
        receipt = chat.reply("When are the tyres changed?").receipt
        assert receipt.repeated > 0.5 * receipt.tokens
        assert f"about {receipt.repeated:,} as in the prompt before" in receipt.explain()


def test_the_receipt_says_what_is_in_and_what_is_not(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.extend(long_messages(40))
    settle_index(memory)
    context = chat.context("When is the shop closed?", budget=Budget(total=1_100))
    receipt, parts = context.receipt, sections(context)
    assert receipt.tokens == tokens(context) <= 1_100
    named = [item.id for part in receipt.sections for item in (*part.items, *part.left_out)]
    assert {f"m{n}" for n in range(1, 41)} <= set(named)
    assert all(item.reason for part in receipt.sections for item in (*part.items, *part.left_out))
    assert parts["history"].left_out
    table = receipt.explain()
    assert "history" in table
    assert "m40" in table
    assert f"{receipt.tokens:,} of 1,100" in table


@pytest.mark.checklist("A14")
def test_when_not_all_fits_the_relevant_older_messages_are_chosen(memory: Memory) -> None:
    """A14: not by age alone."""
    chat = memory.conversation("demo", user="alex")
    passport = "My passport number is X1234567 and it expires in October, remember that for the visa form please."
    football = "We talked about football, the weather and lunch again."
    chat.add("user", passport)
    chat.extend(Draft("user" if n % 2 else "assistant", f"{n}. {football} " * 2) for n in range(2, 70))
    settle_index(memory)
    context = chat.context("When does my passport expire?", budget=Budget(total=1_200))
    assert "m1" in [item.id for item in sections(context)["retrieved"].items]
    assert len(sections(context)["history"].left_out) > 20


@pytest.mark.checklist("D6")
def test_retrieved_memory_is_shown_once_with_its_date(tmp_path: Path) -> None:
    """D6: what the context shows already is not shown again."""
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        memory.conversation("old", user="alex").add("user", "The wifi name of the cabin is tulip-42.")
        chat = memory.conversation("new", user="alex")
        chat.add("user", "The cabin has a new wifi router since May.")
        memory.settle()
        context = chat.context("What was the wifi name of the cabin?", budget=Budget.compact())
        found = sections(context)["retrieved"]
        assert [item.reason.split()[0] for item in found.items] == ["relevant"]
        text = "\n".join(message["content"] for message in context.messages)
        assert text.count("tulip-42") == 1
        assert text.count("new wifi router") == 1
        other = memory.conversation("theirs", user="bob").context("What was the wifi name of the cabin?")
        assert "tulip-42" not in str(other.messages)


@pytest.mark.checklist("B10")
def test_small_talk_retrieves_nothing(tmp_path: Path) -> None:
    """B10: "hi" and "thanks" skip retrieval."""
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        old = memory.conversation("old", user="alex")
        old.add("user", "Hi, thanks! I said hi and thanks for the cake.")
        old.extend(Draft("user", f"{n}. {LONG}") for n in range(60))  # a small memory would be sent whole
        settle_index(memory)
        chat = memory.conversation("new", user="alex")
        assert "retrieved" not in sections(chat.context("hi"))
        assert "retrieved" not in sections(chat.context("thanks!"))
        assert "retrieved" in sections(chat.context("what did I say thanks for?"))


def test_a_channel_shows_who_spoke_and_nothing_of_private_chats(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        memory.conversation("private", user="ann").add("user", "My salary is 4242 euros.")
        channel = memory.conversation("general")
        channel.add("user", "Who brings cake?", author="ann")
        channel.add("user", "I do.", author="bob")
        memory.settle()
        context = channel.context("What is the salary of ann?")
        assert "4242" not in str(context.messages)
        assert [m["content"] for m in context.messages if m["role"] == "user"][:-1] == [
            "ann: Who brings cake?",
            "bob: I do.",
        ]


@pytest.mark.checklist("D5")
def test_a_compact_budget_keeps_sections_to_their_share(memory: Memory) -> None:
    """D5: 8,000 in all: 1,500 system, 2,000 summaries, 1,500 retrieved, 3,000 recent, the last 4 pairs."""
    budget = Budget.compact()
    assert (budget.total, budget.system, budget.summaries, budget.retrieved, budget.recent, budget.pairs) == (
        8_000,
        1_500,
        2_000,
        1_500,
        3_000,
        4,
    )
    chat = memory.conversation("demo", user="alex")
    chat.extend(Draft("user" if n % 2 else "assistant", f"word{n} " * 260) for n in range(1, 25))
    settle_index(memory)
    context = chat.context("What now?", budget=budget)
    recent = sections(context)["recent"]
    assert len(recent.items) <= 8
    assert sum(item.tokens for item in recent.items) <= 3_000
    assert tokens(context) == context.receipt.tokens <= 8_000


@pytest.mark.parametrize(
    ("text", "system", "budget", "field", "reason"),
    [
        ("word " * 500, None, Budget(total=400), "text", "a budget of 400 is too small for both"),
        ("hello", "word " * 300, Budget(total=5_000, system=200), "system", "the budget allows 200"),
        ("hello", "word " * 300, Budget(total=200), "text", "a budget of 200 is too small for both"),
        ("hello", None, Budget(total=0), "budget", "at least one"),
        ("hello", None, Budget(total=-5), "budget", "at least one"),
        ("hello", None, Budget(total=1), "text", "a budget of 1 is too small for both"),
    ],
)
def test_what_cannot_fit_is_refused(
    memory: Memory, text: str, system: str | None, budget: Budget, field: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.conversation("demo", user="alex").context(text, system=system, budget=budget, markers=False)
    assert refused.value.field == field
    assert reason in refused.value.reason


def test_a_budget_that_just_fits_is_enough(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.add("user", "one two three")
    least = PER_REPLY + PER_MESSAGE + TOKENIZER.count("What now?")
    shown = chat.context("What now?", budget=Budget(total=least), markers=False).messages
    assert [m["content"] for m in shown] == ["What now?"]
    more = least + PER_MESSAGE + TOKENIZER.count("one two three")
    assert len(chat.context("What now?", budget=Budget(total=more), markers=False).messages) == 2


def test_erased_messages_take_no_place(memory: Memory) -> None:
    channel = memory.conversation("general")
    channel.extend(Draft("user", f"kim {n}", author="kim") for n in range(5))
    channel.extend(Draft("user", f"alex {n}", author="alex") for n in range(450))
    memory.erase(user="alex")
    assert "alex" not in str(channel.context("And?", markers=False).messages)
    assert [m.content for m in channel.history(limit=3)] == ["kim 2", "kim 3", "kim 4"]
    assert [m.content for m in channel.history(limit=3, before=5)] == ["kim 1", "kim 2", "kim 3"]


# -- the property

words = st.text(st.sampled_from("ab \n.,'é日本語😀#<|>[]=_"), max_size=160)
spoken = st.lists(st.tuples(st.sampled_from(("user", "assistant", "system", "tool")), words), max_size=14)
budgets = st.builds(
    Budget,
    total=st.integers(-1, 900),
    system=st.integers(0, 600),
    retrieved=st.integers(0, 300),
    recent=st.none() | st.integers(0, 300),
    pairs=st.integers(0, 4),
)
numbers = count(1)


@settings(max_examples=sample(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=spoken, text=words, system=st.none() | words, budget=budgets, markers=st.booleans())
@pytest.mark.checklist("D5")
def test_a_context_is_never_over_budget(
    memory: Memory, said: list[tuple[Role, str]], text: str, system: str | None, budget: Budget, markers: bool
) -> None:
    """D5: by the model's own tokenizer, for whatever was said; and the current message is always there, whole."""
    chat = memory.conversation(f"chat {next(numbers)}", user=f"user {next(numbers)}")
    chat.extend(Draft(role, content, metadata={"n": 1}) for role, content in said)
    try:
        context = chat.context(text, budget=budget, system=system, markers=markers)
    except InvalidInput as error:
        assert error.field in ("budget", "system", "text")  # noqa: PT017  a budget may be too small, or may not
        return
    assert tokens(context) == context.receipt.tokens <= budget.total
    assert context.messages[-1] == {"role": "user", "content": text}
    systems = [place for place, message in enumerate(context.messages) if message["role"] == "system"]
    assert {*systems} <= {0, len(context.messages) - 2}


@pytest.mark.checklist("E9")
def test_a_follow_up_question_stands_alone_and_is_searched_for_so(tmp_path: Path) -> None:
    """E9: by the memory model, or without one by what the last exchange was about."""
    model = ScriptedLLM(default='{"question": "How much does the Lumix GX9 cost?"}')
    for memory_model, expected in ((None, "Lumix GX9"), (model, "How much does the Lumix GX9 cost?")):
        with Memory(str(tmp_path / f"{expected}.db"), memory=memory_model, followers=False) as memory:
            old = memory.conversation("old", user="alex")
            old.add("user", "I saw the Lumix GX9 for 450 euros at the shop by the bridge.")
            old.add("user", "The bicycle in the window next to it was 300 euros.")
            chat = memory.conversation("new", user="alex")
            chat.add("user", "Tell me about the Lumix GX9 camera.")
            chat.add("assistant", "It is a small mirrorless camera by Panasonic with 20 megapixels.")
            assert expected in chat.standalone("How much does it cost?")
            assert chat.standalone("Who painted The Night Watch?") if memory_model is None else True
            settle_index(memory)
            assert "450 euros" in chat.context("How much does it cost?").messages[0]["content"]

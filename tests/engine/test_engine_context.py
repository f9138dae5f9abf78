"""A context: the newest messages that fit, the message to be answered, never a token over, with a receipt."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Budget, Context, Draft, InvalidInput, Memory, Message, Role
from recollect.rules.budgets import PER_MESSAGE, PER_REPLY
from recollect.tokens.tiktoken import TiktokenTokenizer

TOKENIZER = TiktokenTokenizer("o200k_base")


def tokens(context: Context) -> int:
    """What a model is sent, counted afresh."""
    return PER_REPLY + sum(PER_MESSAGE + TOKENIZER.count(message["content"]) for message in context.messages)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as opened:
        yield opened


def test_a_context_is_the_system_prompt_the_recent_messages_and_the_question(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", "My name is Alex and I prefer Python.")
        chat.add("assistant", "Noted, Alex.")
        memory.conversation("other", user="alex").add("user", "not in this conversation")
        context = chat.context("Which language for the example?", system="Be brief.")
        assert context.messages == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "My name is Alex and I prefer Python."},
            {"role": "assistant", "content": "Noted, Alex."},
            {"role": "user", "content": "Which language for the example?"},
        ]
        assert chat.context("Again?").messages[0]["role"] == "user"
        assert len(chat.history()) == 2, "asking for a context adds nothing"


def test_the_same_question_gives_the_same_context(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(Draft("user", f"message {n} " * 30) for n in range(60))
        first = chat.context("What now?", budget=Budget(total=2_000), system="Be brief.")
        assert chat.context("What now?", budget=Budget(total=2_000), system="Be brief.") == first
    with Memory(store_url, followers=False) as memory:
        again = memory.conversation("demo", user="alex").context(
            "What now?", budget=Budget(total=2_000), system="Be brief."
        )
        assert again == first


def test_the_receipt_adds_up_and_names_what_was_left_out(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    said = chat.extend(Draft("user", f"message {n} " * 30) for n in range(60))
    context = chat.context("What now?", budget=Budget(total=2_000), system="Be brief.")
    receipt = context.receipt
    assert receipt.tokenizer == "o200k_base"
    assert receipt.budget == Budget(total=2_000)
    assert receipt.tokens == tokens(context) == PER_REPLY + sum(section.tokens for section in receipt.sections)
    sections = {section.name: section for section in receipt.sections}
    assert sections["system"].tokens == TOKENIZER.count("Be brief.") + PER_MESSAGE
    assert sections["current"].tokens == TOKENIZER.count("What now?") + PER_MESSAGE
    recent = sections["recent"]
    assert recent.tokens == sum(item.tokens for item in recent.items)
    ids = [one.message.id for one in said]
    assert [item.id for item in (*recent.left_out, *recent.items)] == ids
    assert {item.reason for item in recent.items} == {"recent"}
    assert {item.reason for item in recent.left_out} == {"does not fit the budget"}
    oldest_kept = recent.left_out[-1]
    assert receipt.tokens + oldest_kept.tokens > 2_000, "one more would not have fitted"


def test_a_compact_budget_keeps_recent_messages_to_their_share_d5(memory: Memory) -> None:
    """D5, as far as there are sections: 8,000 in all, 1,500 for the system prompt, 3,000 for recent messages."""
    chat = memory.conversation("demo", user="alex")
    chat.extend(Draft("user", f"word{n} " * 50) for n in range(200))
    budget = Budget.compact()
    assert (budget.total, budget.system, budget.recent) == (8_000, 1_500, 3_000)
    context = chat.context("What now?", budget=budget)
    (recent,) = [section for section in context.receipt.sections if section.name == "recent"]
    assert recent.tokens <= 3_000 < recent.tokens + recent.left_out[-1].tokens
    assert tokens(context) <= 8_000
    longer = chat.context("What now?")
    assert tokens(longer) > tokens(context)
    assert tokens(longer) <= Budget().total


@pytest.mark.parametrize(
    ("text", "system", "budget", "field", "reason"),
    [
        ("word " * 500, None, Budget(total=400), "text", "the budget of 400 has no room"),
        ("hello", "word " * 300, Budget(total=5_000, system=200), "system", "the budget allows 200"),
        ("hello", "word " * 300, Budget(total=200), "text", "has no room"),
        ("hello", None, Budget(total=0), "budget", "at least one"),
        ("hello", None, Budget(total=-5), "budget", "at least one"),
        ("hello", None, Budget(total=1), "text", "has no room"),
    ],
)
def test_what_cannot_fit_is_refused(
    memory: Memory, text: str, system: str | None, budget: Budget, field: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.conversation("demo", user="alex").context(text, system=system, budget=budget)
    assert refused.value.field == field
    assert reason in refused.value.reason


def test_a_budget_that_just_fits_is_enough(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.add("user", "one two three")
    least = PER_REPLY + PER_MESSAGE + TOKENIZER.count("What now?")
    assert [m["content"] for m in chat.context("What now?", budget=Budget(total=least)).messages] == ["What now?"]
    more = least + PER_MESSAGE + TOKENIZER.count("one two three")
    assert len(chat.context("What now?", budget=Budget(total=more - 1)).messages) == 1
    assert len(chat.context("What now?", budget=Budget(total=more)).messages) == 2


def test_messages_a_model_cannot_use_are_left_out(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.add("user", "look", metadata={"photo": 1})
    chat.add("user", "", metadata={"photo": 2})
    chat.add("tool", '{"weather": "fine"}')
    chat.add("assistant", "a photo")
    assert [m["content"] for m in chat.context("And?").messages] == ["look", "a photo", "And?"]


def test_erased_messages_take_no_place(memory: Memory) -> None:
    channel = memory.conversation("general")
    channel.extend(Draft("user", f"kim {n}", author="kim") for n in range(5))
    channel.extend(Draft("user", f"alex {n}", author="alex") for n in range(450))
    memory.erase(user="alex")
    assert [m["content"] for m in channel.context("And?").messages] == [*(f"kim {n}" for n in range(5)), "And?"]
    assert [m.content for m in channel.history(limit=3)] == ["kim 2", "kim 3", "kim 4"]
    assert [m.content for m in channel.history(limit=3, before=5)] == ["kim 1", "kim 2", "kim 3"]


# -- the property

words = st.text(st.sampled_from("ab \n.,'é日本語😀#<|>"), max_size=120)
spoken = st.lists(st.tuples(st.sampled_from(("user", "assistant", "system", "tool")), words), max_size=12)
budgets = st.builds(
    Budget,
    total=st.integers(-1, 400),
    system=st.integers(0, 100),
    recent=st.none() | st.integers(0, 300),
)
numbers = count(1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=spoken, text=words, system=st.none() | words, budget=budgets)
def test_a_context_is_never_over_budget_d5(
    memory: Memory, said: list[tuple[Role, str]], text: str, system: str | None, budget: Budget
) -> None:
    """D5: by the model's own tokenizer, for whatever was said; and what is kept is the newest, without holes."""
    chat = memory.conversation(f"chat {next(numbers)}", user="alex")
    chat.extend(Draft(role, content, metadata={"n": 1}) for role, content in said)
    needed = PER_REPLY + sum(PER_MESSAGE + TOKENIZER.count(one) for one in (text, *([system] if system else [])))
    if needed > budget.total or TOKENIZER.count(system or "") > budget.system:
        with pytest.raises(InvalidInput, match=r"^(budget|system|text): "):
            chat.context(text, budget=budget, system=system)
        return
    context = chat.context(text, budget=budget, system=system)
    assert tokens(context) == context.receipt.tokens <= budget.total
    (recent,) = [section for section in context.receipt.sections if section.name == "recent"]
    assert budget.recent is None or recent.tokens <= budget.recent
    history: list[Message] = [m for m in chat.history() if m.content.strip() and m.role != "tool"]
    ids = [m.id for m in history]
    kept = [item.id for item in recent.items]
    assert kept == ids[len(ids) - len(kept) :]
    assert [item.id for item in recent.left_out] == ids[: len(ids) - len(kept)]
    assert context.messages[-1] == {"role": "user", "content": text}

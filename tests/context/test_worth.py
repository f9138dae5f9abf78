"""A context is composed by worth (G1): what answers the message comes first; a question is not left with nothing (G2);
a small memory is sent whole (G3)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_doubles import settle_index

from everword import Budget, Context, Draft, Memory
from everword.model import Section
from everword.testing import FrozenClock

ANSWERING = ("found", "facts", "retrieved")
GARDENS = [f"Garden {n}: the roses by wall {n} were planted in May and need water every {n} days." for n in range(60)]
TALK = [f"On day {n} we spoke about trains, rain and what to cook for the guests of the hotel." for n in range(60)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False, clock=FrozenClock()) as opened:
        yield opened


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which alex spoke of gardens and of trains in a conversation of old, which every view has read."""
    path = tmp_path_factory.mktemp("written") / "memory.db"
    with Memory(str(path), followers=False, clock=FrozenClock()) as memory:
        memory.conversation("old", user="alex").extend(Draft("user", text) for text in (*GARDENS, *TALK))
        memory.settle()
    return path


@pytest.fixture
def of_old(written: Path, tmp_path: Path) -> Iterator[Memory]:
    """A copy of that store."""
    copy = tmp_path / "copy.db"
    shutil.copyfile(written, copy)
    with Memory(str(copy), followers=False, clock=FrozenClock()) as opened:
        yield opened


def sections(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.receipt.sections}


def text_of(context: Context) -> str:
    return "\n".join(message["content"] for message in context.messages)


@pytest.mark.checklist("G1")
def test_at_least_half_of_a_small_budget_goes_to_what_answers(of_old: Memory) -> None:
    """G1: whatever else there is to say: a profile, summaries, the last messages."""
    chat = of_old.conversation("old", user="alex")
    chat.extend([Draft("user", "I live in Utrecht and I love long walks."), Draft("assistant", "How nice. " * 30)])
    of_old.settle()
    for total in (300, 500, 1_000, 2_000):
        context = chat.context("How often do my roses need water?", budget=Budget(total=total), system="Be brief.")
        parts = sections(context)
        fixed = sum(parts[name].tokens for name in ("system", "current") if name in parts)
        answering = sum(parts[name].tokens for name in ANSWERING if name in parts)
        assert answering >= (total - fixed) // 2
        assert context.receipt.tokens <= total


@pytest.mark.checklist("G1", "G2")
def test_what_does_not_fit_among_the_last_messages_is_retrieved(memory: Memory) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.extend(Draft("user", f"{text} It took us quite a while.") for text in TALK[:40])
    chat.add("user", "I bought the two brass lanterns on Saturday.")
    chat.extend(Draft("user", f"{text} It took us quite a while.") for text in TALK[40:58])
    settle_index(memory)
    context = chat.context("When did I buy the brass lanterns?", budget=Budget(total=350))
    assert sections(context)["retrieved"].items
    assert "brass lanterns on Saturday" in text_of(context)


@pytest.mark.checklist("G2", "C2")
def test_what_was_asked_to_be_remembered_and_is_forgotten_is_not_retrieved(of_old: Memory) -> None:
    old = of_old.conversation("old", user="alex")
    old.command("Remember that my bicycle lock opens with the green key.", addressed=True)
    of_old.settle()
    new = of_old.conversation("new", user="alex")
    question = "Which key opens my bicycle lock?"
    assert "green key" in text_of(new.context(question))
    new.command("Forget that my bicycle lock opens with the green key.", addressed=True)
    of_old.settle()
    assert "green key" not in text_of(of_old.conversation("third", user="alex").context(question))


@pytest.mark.checklist("G1")
def test_room_that_others_leave_flows_to_what_answers_up_to_the_budget(of_old: Memory) -> None:
    new = of_old.conversation("new", user="alex")
    question = "How often does each of my roses need water?"
    retrieved = sections(new.context(question))["retrieved"].tokens
    assert retrieved > 1_000
    few = sections(new.context(question, budget=Budget(retrieved=400)))["retrieved"].tokens
    assert few <= 400
    told = "My roses needed water again today. It was hot. I will water them."
    assert sections(new.context(told, budget=Budget(retrieved=900)))["retrieved"].tokens <= 300, "it asks nothing"


@pytest.mark.checklist("G1", "D5")
def test_the_compact_budget_gives_up_what_was_retrieved_first(memory: Memory) -> None:
    """D5: the document's own order, in the document's own preset."""
    chat = memory.conversation("demo", user="alex")
    chat.extend(Draft("user", text) for text in GARDENS)
    chat.extend(Draft("user" if n % 2 else "assistant", f"word{n} " * 250) for n in range(1, 9))
    settle_index(memory)
    question = "How often do my roses need water?"
    compact = sections(chat.context(question, budget=Budget(total=1_500, recent=3_000, fixed=True)))
    by_worth = sections(chat.context(question, budget=Budget(total=1_500, recent=3_000)))
    assert "retrieved" not in compact or not compact["retrieved"].items
    assert compact["recent"].items
    assert by_worth["retrieved"].items


@pytest.mark.checklist("G1")
def test_a_message_is_whole_while_there_is_room(memory: Memory) -> None:
    """A price list does not lose its third line in a section that is half empty."""
    prices = "\n".join(f"{n}. Roof tile of kind {n}, in the colour of clay: {n * 7} euros each." for n in range(40))
    old = memory.conversation("old", user="alex")
    for number in range(6):
        old.add("user", f"We asked roofer {number} for the price of a roof tile today.")
        old.extend(Draft("user", text) for text in TALK)
    old.add("user", f"The prices of the roof tiles:\n{prices}")
    settle_index(memory)
    new = memory.conversation("new", user="alex")
    retrieved = sections(new.context("What is the price of each of my roof tiles?"))["retrieved"]
    assert {item.tier for item in retrieved.items} == {3}
    assert "273 euros" in text_of(new.context("What is the price of each of my roof tiles?"))
    small = sections(new.context("What is the price of each of my roof tiles?", budget=Budget(total=700)))["retrieved"]
    assert 2 in {item.tier for item in small.items}, "an excerpt where there is none"


@pytest.mark.checklist("G2")
def test_a_question_that_only_memory_can_answer_gets_the_best_hits_as_uncertain(of_old: Memory) -> None:
    """G2: marked so; what has nothing to do with anybody's memory retrieves nothing still."""
    new = of_old.conversation("new", user="alex")
    context = new.context("What did I tell you about my journey?")
    retrieved = sections(context)["retrieved"]
    assert retrieved.items
    assert {item.reason.split()[0] for item in retrieved.items} == {"uncertain"}
    assert "=== POSSIBLY RELATED MEMORY ===" in text_of(context)
    unrelated = sections(new.context("What is the capital of Australia?"))["retrieved"]
    assert not unrelated.items
    assert unrelated.note == "nothing relevant found"


@pytest.mark.checklist("G2")
def test_ask_shows_what_may_be_meant_as_uncertain(memory: Memory) -> None:
    old = memory.conversation("old", user="alex")
    old.extend(Draft("user", text) for text in TALK)
    old.extend([Draft("user", "The spring meeting is on 24 May."), Draft("assistant", "ok")])
    memory.settle()
    answer = memory.ask("When is the meeting?", user="alex")
    assert "24 May" in answer.text
    assert "ok" not in answer.text.split()
    nothing = memory.ask("Which pump did they repair?", user="alex")
    assert not nothing.known


@pytest.mark.checklist("G2")
def test_what_says_nothing_takes_no_place(memory: Memory) -> None:
    old = memory.conversation("old", user="alex")
    for text in GARDENS:
        old.extend([Draft("user", text), Draft("assistant", "ok"), Draft("user", "lol")])
    settle_index(memory)
    context = memory.conversation("new", user="alex").context("How often do my roses need water?")
    assert "the roses by wall" in text_of(context)
    assert not any(line.endswith((": ok", ": lol")) for line in text_of(context).splitlines())


@pytest.mark.checklist("G3")
def test_a_small_memory_is_sent_whole_to_a_new_conversation(memory: Memory) -> None:
    """G3: eighty short messages cost a thousand tokens."""
    said = [f"The box number {n} is in room {n * 3}." for n in range(80)]
    memory.conversation("old", user="alex").extend(Draft("user", words) for words in said)
    memory.conversation("theirs", user="bob").add("user", "Bob keeps the red box in the attic.")
    memory.settle()
    questions = ("hello there", "What is the capital of Australia?", "Where is the red box?")
    new = memory.conversation("new", user="alex")
    for context in map(new.context, questions):
        assert all(words in text_of(context) for words in said)
        assert "attic" not in text_of(context), "another's memory is not this one"
        assert len(sections(context)["memory"].items) == 80
        assert context.receipt.tokens < 2_000
    grown = [f"Shelf {n} holds the maps of region {n}, with all its rivers and its mountain paths." for n in range(90)]
    memory.conversation("old", user="alex").extend(Draft("user", words) for words in grown)
    memory.settle()
    assert not any("memory" in sections(context) for context in map(new.context, questions))


SHORT_LINES = [f"{verb} the {thing} {n}" for n in range(60) for verb, thing in (("painted", "wall"), ("sold", "chair"))]
VET = ["how is Rex doing?", "took him to the vet", "it is the left hip", "pills twice a day", "back on monday 8:30"]


@pytest.mark.checklist("G1")
def test_a_short_line_brings_the_lines_around_it(memory: Memory) -> None:
    """G1: among short lines, one says little by itself."""
    old = memory.conversation("old", user="alex")
    old.extend(Draft("user", text) for text in (*SHORT_LINES, *VET, *reversed(SHORT_LINES)))
    settle_index(memory)
    context = memory.conversation("new", user="alex").context("What did the vet say?", budget=Budget(total=600))
    block = "\n".join(line.split(": ", 1)[-1] for line in text_of(context).splitlines())
    assert "\n".join(VET[:4]) in block
    reasons = {item.reason.split(" (")[0] for item in sections(context)["retrieved"].items}
    assert reasons == {"relevant", "next to a relevant line"}


@pytest.mark.checklist("G1")
def test_a_long_message_speaks_for_itself(of_old: Memory) -> None:
    context = of_old.conversation("new", user="alex").context("How often do my roses need water?")
    assert not any(item.reason.startswith("next to") for item in sections(context)["retrieved"].items)

"""F4, in use: an unrelated message retrieves nothing, the receipt says so, and a search can have a floor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everword import Draft, Memory
from everword.errors import InvalidInput
from everword.model import Filter, Hit, Message, Section
from everword.ports import Tx
from everword.recall import retrieval as recall
from everword.recall.retrieval import StoreSource
from everword.recall.rules.relevance import FLOOR
from everword.testing import FrozenClock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SAID = (
    "My kitten is called Miso and she sleeps all day.",
    "I fly to Lisbon on Friday with my sister.",
    "The database migration failed because of a missing index.",
    "For dinner we cooked noodles with mushrooms.",
    "My salary went up by five percent this year.",
    "The car needs a new battery before winter.",
    "We painted the kitchen green last weekend.",
    "My half marathon is on the twelfth of April.",
)
UNRELATED = (
    "Write a haiku about the sea",
    "What is the capital of Mongolia?",
    "Explain the difference between a process and a thread.",
    "Tell me a joke.",
)
RELATED = {
    "What is my kitten called?": SAID[0],
    "When do I fly to Lisbon?": SAID[1],
    "Why did the database migration fail?": SAID[2],
    "How long until my half marathon?": SAID[7],
}


SHELF = "Shelf {} of the old library holds maps, atlases and a catalogue of coins, bound in leather, numbered by hand."


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that every view has read."""
    path = tmp_path_factory.mktemp("floor") / "memory.db"
    with Memory(str(path), clock=FrozenClock(NOW), followers=False) as memory:
        drafts = [Draft("user", text, time=NOW - timedelta(days=30 - i)) for i, text in enumerate(SAID)]
        memory.conversation("old", user="kim").extend(drafts)
        # A smaller memory would be sent whole.
        shelves = [Draft("user", SHELF.format(n), time=NOW - timedelta(days=40)) for n in range(80)]
        memory.conversation("library", user="kim").extend(shelves)
        memory.settle()
    return path


@pytest.fixture(scope="module")
def memory(store: Path) -> Iterator[Memory]:
    """What is only read."""
    with Memory(str(store), clock=FrozenClock(NOW), followers=False) as memory:
        yield memory


def retrieved_section(memory: Memory, text: str) -> Section | None:
    receipt = memory.conversation("new", user="kim").context(text, markers=False).receipt
    return next((section for section in receipt.sections if section.name == "retrieved"), None)


@pytest.mark.parametrize("text", UNRELATED)
@pytest.mark.checklist("F4")
def test_an_unrelated_message_retrieves_nothing_and_the_receipt_says_so(memory: Memory, text: str) -> None:
    context = memory.conversation("new", user="kim").context(text, markers=False)
    section = next(section for section in context.receipt.sections if section.name == "retrieved")
    assert section == Section("retrieved", 0, note="nothing relevant found")
    assert "nothing relevant found" in context.receipt.explain()
    assert not any(said in message["content"] for said in SAID for message in context.messages)
    assert not any(section.name == "summaries" and section.items for section in context.receipt.sections)


@pytest.mark.parametrize(("text", "said"), RELATED.items())
@pytest.mark.checklist("F4")
def test_a_related_message_retrieves_what_it_is_about(memory: Memory, text: str, said: str) -> None:
    context = memory.conversation("new", user="kim").context(text, markers=False)
    section = retrieved_section(memory, text)
    assert section is not None
    assert section.items
    assert section.note == ""
    assert said in context.messages[0]["content"]


@pytest.mark.parametrize("query", [*UNRELATED, *RELATED, *SAID, "battery", "green winter", "my sister", "of the"])
@pytest.mark.checklist("F4")
def test_a_context_retrieves_nothing_exactly_where_a_search_finds_nothing_relevant(memory: Memory, query: str) -> None:
    """A context ranks nothing if it can tell before that nothing is relevant; a search always ranks."""
    is_none_relevant = all(hit.relevance < FLOOR for hit in memory.search(query, user="kim"))
    section = retrieved_section(memory, query)
    assert section is not None
    assert (section.note == "nothing relevant found") == is_none_relevant
    assert bool(section.items) == (not is_none_relevant)


@pytest.mark.checklist("F4")
def test_a_question_about_the_memory_gets_what_is_below_the_floor_as_uncertain(memory: Memory) -> None:
    """Only a question, and only one about the person: what is unrelated to them has nothing, as above."""
    question = "When does my visa expire?"
    assert memory.search(question, user="kim", floor=FLOOR) == []
    section = retrieved_section(memory, question)
    assert section is not None
    assert section.items
    assert all(item.reason.startswith("uncertain (") for item in section.items)
    text = memory.conversation("new", user="kim").context(question, markers=False).messages[0]["content"]
    assert "=== POSSIBLY RELATED MEMORY ===" in text
    assert "=== RETRIEVED MEMORY ===" not in text
    related = memory.conversation("new", user="kim").context("When do I fly to Lisbon?", markers=False)
    assert "POSSIBLY RELATED" not in related.messages[0]["content"]


def test_small_talk_and_an_empty_memory_have_no_such_note(memory: Memory, tmp_path: Path) -> None:
    assert retrieved_section(memory, "Thanks!") is None
    with Memory(str(tmp_path / "empty.db"), clock=FrozenClock(NOW), followers=False) as empty:
        assert retrieved_section(empty, UNRELATED[0]) is None


@pytest.mark.parametrize("query", [*UNRELATED, *RELATED, "battery", "noodles green"])
@pytest.mark.checklist("F4")
def test_without_a_floor_a_search_finds_what_it_found_and_a_floor_only_takes_away(memory: Memory, query: str) -> None:
    hits = memory.search(query, user="kim")
    assert memory.search(query, user="kim", floor=0) == hits
    for floor in (0.1, 0.5, 0.9, 1):
        assert memory.search(query, user="kim", floor=floor) == [hit for hit in hits if hit.relevance >= floor]


@pytest.mark.checklist("F4")
def test_a_search_with_a_floor_finds_nothing_for_what_is_unrelated(memory: Memory) -> None:
    for query in UNRELATED:
        assert memory.search(query, user="kim", floor=0.5) == []
    for query, said in RELATED.items():
        assert memory.search(query, user="kim", floor=0.5)[0].message.content == said


def test_a_limit_counts_the_hits_that_reach_the_floor(memory: Memory) -> None:
    hits = memory.search("What is my kitten called?", user="kim", floor=0.5)
    assert memory.search("What is my kitten called?", user="kim", floor=0.5, limit=1) == hits[:1]


@pytest.mark.parametrize("floor", [-0.1, 1.5, float("nan"), "0.5", True])
def test_a_floor_that_is_none_is_refused(memory: Memory, floor: object) -> None:
    with pytest.raises(InvalidInput, match="floor"):
        memory.search("battery", floor=floor)  # type: ignore[arg-type]


@pytest.mark.checklist("F4")
def test_the_question_itself_makes_nothing_relevant(store: Path, tmp_path: Path) -> None:
    """A question that is in the log, as when a reply is made again, does not lend its relevance to what is near it."""
    copy = tmp_path / "copy.db"
    shutil.copyfile(store, copy)
    with Memory(str(copy), clock=FrozenClock(NOW), followers=False) as memory:
        check_relevance_of_the_question(memory)


def check_relevance_of_the_question(memory: Memory) -> None:
    chat = memory.conversation("new", user="kim")
    chat.add("user", "We had pancakes for breakfast.")
    question = chat.add("user", UNRELATED[0])
    memory.settle()
    vector = memory._private.wait(memory.engine.runtime.parts.embedder.embed([question.content]))[0]

    def relevance_of_neighbour(asked: Message | None) -> float:
        where = Filter("default", user="kim")
        parts = memory.engine.runtime.parts

        def find(tx: Tx) -> list[Hit]:
            source = StoreSource(tx, where, NOW)
            return recall.search(tx, source, where, question.content, vector, 10, NOW, parts.weights, question=asked)

        hits = parts.store.read(find)
        return max(hit.relevance for hit in hits if hit.message.id != question.id)

    assert relevance_of_neighbour(None) > FLOOR > relevance_of_neighbour(question)

"""Views follow the log by cursor: whatever happens to a follower, the log goes on, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from engine_doubles import CountingEmbedder, GatedEmbedder, HashEmbedder

from everword import AsyncMemory, Batch, Draft, EmbedderMismatch, Memory, NotSettled
from everword.config import Settings
from everword.model import ViewState
from everword.ports import Store
from everword.testing import FrozenClock
from everword.wiring import open_store

ANIMALS = ("zebra", "giraffe", "walrus", "octopus", "parrot", "kitten")
QUERIES = (*ANIMALS, "animals with stripes", "a bird that talks", "in the park", "park 7")


def index_of(memory: Memory) -> ViewState:
    return next(state for state in memory.stats().views if state.view == "index")


def say(memory: Memory, conversation: str = "chat", count: int = len(ANIMALS)) -> None:
    chat = memory.conversation(conversation, user="alex")
    chat.extend(Draft("user", f"I saw a {ANIMALS[n % 6]} in park {n} of {conversation}") for n in range(count))


def results(memory: Memory) -> list[list[tuple[str, float]]]:
    return [[(hit.message.id, hit.score) for hit in memory.search(query)] for query in QUERIES]


# -- catching up


def test_without_followers_nothing_is_indexed_until_settle(store_url: str) -> None:
    embedder = CountingEmbedder()
    with Memory(store_url, embedder=embedder, followers=False) as memory:
        say(memory)
        assert index_of(memory) == ViewState("index", behind=6, waiting=0, leased=0, error=None)
        assert memory.search("zebra") == []
        memory.settle()
        assert index_of(memory).behind == 0
        assert memory.search("zebra")[0].message.turn == 1
        assert memory.stats().entries == 6


@pytest.mark.checklist("D8")
def test_views_catch_up_after_reopening(store_url: str) -> None:
    """D8: half-finished work goes on after a restart, by itself, and what is done is not done again."""
    with Memory(store_url, followers=False) as memory:
        say(memory, count=3)
        memory.settle()
        say(memory, "later", count=3)
    embedder = CountingEmbedder()
    with Memory(store_url, embedder=embedder) as memory:
        assert len(memory.search("in the park of later")) == 6
        assert index_of(memory).behind == 0
    assert sorted(text for text in embedder.texts if "later" in text and "I saw" in text) == sorted(
        f"I saw a {ANIMALS[n]} in park {n} of later" for n in range(3)
    )
    assert not any("of chat" in text for text in embedder.texts)


def test_many_conversations_and_long_ones_catch_up_in_one_settle(store_url: str) -> None:
    with Memory(store_url, followers=False, window_turns=0, window_tokens=0, tokenizer="estimate") as memory:
        # More than are taken at a time, of messages as of conversations; of words that tell nothing.
        memory.conversation("long", user="alex").extend(Draft("user", f"park {number}") for number in range(520))
        short = [Draft("user", "a zebra")]
        memory.add_many(Batch("default", f"short {number}", "alex", short) for number in range(66))
        assert index_of(memory).behind == 586
        memory.settle()
        assert index_of(memory) == ViewState("index", behind=0, waiting=0, leased=0, error=None)
        assert memory.stats().entries == 586


def test_messages_with_nothing_to_index_are_passed_over(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "", metadata={"attachment": "photo"})
        chat.add("user", "!!!")
        chat.add("user", "a zebra")
        memory.settle()
        assert index_of(memory).behind == 0
        assert memory.search("zebra")[0].message.turn == 3


# -- an embedder that fails


def test_the_log_goes_on_while_the_embedder_fails(store_url: str) -> None:
    embedder = CountingEmbedder(failures=10**9)
    with Memory(store_url, embedder=embedder, clock=FrozenClock()) as memory:
        say(memory, count=3)
        with pytest.raises(
            NotSettled, match=r"3 messages behind the log .*EmbedderError: the embedder is having a rest"
        ):
            memory.settle()
        say(memory, "more", count=3)
        assert [m.turn for m in memory.conversation("more").history()] == [1, 2, 3]
        with pytest.raises(NotSettled, match="6 messages behind the log"):
            memory.settle()
        error = "EmbedderError: the embedder is having a rest"
        assert index_of(memory) == ViewState("index", behind=6, waiting=2, leased=0, error=error)
        assert memory.verify().ok


def test_a_failure_is_tried_again_only_when_its_time_has_come(store_url: str) -> None:
    """Each failure doubles the wait, less up to a quarter by chance: 0.75 to 1 s, 1.5 to 2 s, 3 to 4 s."""
    clock, embedder = FrozenClock(), CountingEmbedder(failures=3)

    def attempts() -> int:
        with pytest.raises(NotSettled, match="having a rest"):
            memory.settle()
        return embedder.calls

    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        say(memory)
        assert attempts() == attempts() == 1
        for number, (early, due) in enumerate([(0.7, 0.35), (1.4, 0.7), (2.9, 1.2)], start=1):
            clock.advance(timedelta(seconds=early))
            assert attempts() == number
            assert index_of(memory).waiting == 1
            clock.advance(timedelta(seconds=due))
            if number < 3:
                assert attempts() == number + 1
        memory.settle()
        assert index_of(memory) == ViewState("index", behind=0, waiting=0, leased=0, error=None)


def test_after_a_failure_nothing_is_doubled_or_missing(store_url: str) -> None:
    clock, embedder = FrozenClock(), CountingEmbedder()
    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        say(memory, "good", count=6)
        memory.settle()
        embedder.failures = 2
        say(memory, "good", count=6)
        say(memory, "late", count=6)
        for _ in range(2):
            with pytest.raises(NotSettled):
                memory.settle()
            clock.advance(timedelta(minutes=1))
        memory.settle()
        assert memory.stats().entries == 18
        assert len(embedder.texts) == 18
        hits = memory.search("zebra", limit=100)
        assert sorted(hit.message.turn for hit in hits if hit.parts["text"]) == [1, 1, 7]
        assert len({hit.message.id for hit in hits}) == len(hits)
        assert index_of(memory).error is None


def test_the_wait_after_many_failures_has_a_limit(store_url: str) -> None:
    clock, embedder = FrozenClock(), CountingEmbedder(failures=15)
    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        say(memory)
        for number in range(1, 16):
            with pytest.raises(NotSettled):
                memory.settle()
            assert embedder.calls == number
            clock.advance(timedelta(minutes=10))
        memory.settle()
        assert memory.stats().entries == 6


def test_one_failing_conversation_does_not_hold_up_what_comes_after(store_url: str) -> None:
    clock, embedder = FrozenClock(), CountingEmbedder(failures=1)
    with Memory(store_url, embedder=embedder, clock=clock, followers=False) as memory:
        say(memory, "first")
        with pytest.raises(NotSettled):
            memory.settle()
        say(memory, "second")
        with pytest.raises(NotSettled, match="6 messages behind"):
            memory.settle()
        assert {hit.message.conversation for hit in memory.search("zebra")} == {"second"}


# -- building anew


@pytest.mark.checklist("D12")
def test_a_rebuilt_index_gives_the_same_results(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock()) as memory:
        say(memory, count=60)
        say(memory, "other", count=12)
        memory.settle()
        before, root = results(memory), memory.verify().root
        for _ in range(2):
            memory.rebuild("index")
            memory.settle()
            assert results(memory) == before
        assert memory.stats().entries == 72
        assert memory.verify().root == root


def test_one_space_is_rebuilt_alone(store_url: str) -> None:
    embedder = CountingEmbedder()
    with Memory(store_url, embedder=embedder, followers=False) as memory:
        for space in ("red", "blue"):
            memory.conversation("chat", user="alex", space=space).add("user", f"a zebra in {space}")
        memory.settle()
        del embedder.texts[:]
        memory.rebuild(space="red")
        assert memory.search("zebra", space="red") == []
        assert len(memory.search("zebra", space="blue")) == 1
        memory.settle()
        assert [text for text in embedder.texts if text != "zebra"] == ["a zebra in red"]
        assert len(memory.search("zebra", space="red")) == 1


@pytest.mark.every_store
def test_a_rebuild_while_messages_are_being_indexed_is_safe(store_url: str) -> None:
    """What was thought before the rebuild is void: it is not stored beside what is thought after."""
    embedder = GatedEmbedder()
    with Memory(store_url, embedder=embedder) as memory:
        say(memory)
        embedder.wait_until_entered()
        memory.rebuild()
        embedder.open()
        memory.settle()
        assert len(embedder.texts) == 12, "all of it is thought anew"
        assert memory.stats().entries == 6
        assert memory.search("zebra")[0].message.turn == 1


# -- another embedder


def test_another_embedder_is_refused_and_told_what_to_do(store_url: str) -> None:
    with Memory(store_url, embedder=HashEmbedder("wide", 16)) as memory:
        say(memory)
        memory.settle()
    for embedder in (HashEmbedder("narrow", 8), HashEmbedder("wide too", 16)):
        with pytest.raises(EmbedderMismatch, match="`everword rebuild index`") as refused:
            Memory(store_url, embedder=embedder)
        assert "'wide'" in str(refused.value)
        assert repr(embedder.identity) in str(refused.value)
    with Memory(store_url, embedder=HashEmbedder("wide", 16)) as memory:
        assert memory.search("zebra")[0].message.turn == 1


def widths(store: Store) -> set[int]:
    return {len(row["vec"]) // 2 for row in store.read(lambda tx: tx.rows("vectors", None, 1_000))}


async def rebuild_with_another(url: str) -> None:
    memory = AsyncMemory(url, embedder=HashEmbedder("narrow", 8), followers=False)
    await memory.open(check_embedder=False)
    try:
        await memory.conversation("chat", user="alex").add("user", "a new message about a lion")
        with pytest.raises(NotSettled, match="EmbedderMismatch"):
            await memory.settle()
        with pytest.raises(EmbedderMismatch):
            await memory.search("zebra")
        with pytest.raises(EmbedderMismatch):
            await memory.rebuild(space="default")
        await memory.rebuild()
        await memory.settle()
        assert [hit.message.turn for hit in await memory.search("zebra") if hit.parts["text"]] == [1]
    finally:
        await memory.close()


def test_a_rebuild_replaces_the_vectors_of_another_embedder_and_never_mixes_them(store_url: str) -> None:
    with Memory(store_url, embedder=HashEmbedder("wide", 16)) as memory:
        say(memory)
        memory.settle()
    asyncio.run(rebuild_with_another(store_url))
    store = open_store(store_url, Settings())
    assert widths(store) == {8}
    store.close()
    with Memory(store_url, embedder=HashEmbedder("narrow", 8)) as memory:
        assert memory.stats().embedder == "narrow"
        assert (memory.stats().entries, index_of(memory).behind) == (7, 0)
        assert memory.search("lion")[0].message.turn == 7


@pytest.mark.every_store
def test_of_two_embedders_on_an_empty_store_the_first_to_store_wins(store_url: str) -> None:
    store = open_store(store_url, Settings())
    with (
        Memory(store, embedder=HashEmbedder("one", 16), followers=False) as one,
        Memory(store, embedder=HashEmbedder("two", 8), followers=False) as two,
    ):
        say(one)
        one.settle()
        say(two, "more")
        with pytest.raises(NotSettled, match="EmbedderMismatch"):
            two.settle()
        with pytest.raises(EmbedderMismatch):
            two.search("zebra")
        assert widths(store) == {16}
        assert one.search("zebra")

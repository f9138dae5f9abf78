"""Fair work: no space waits until another has been served in full, and nobody is told all is done while it is not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from engine_doubles import CountingEmbedder, HashEmbedder, PartialStore, StoreDouble, step_view

from everword import Batch, Draft, EmbedderMismatch, Memory, ModelTimeout, NotSettled, StoreUnwritable
from everword.config import Settings
from everword.follow.claiming import ServiceOrder
from everword.follow.view import fair_order
from everword.model import ViewState
from everword.ports import Lag, Request, Tx, Vectors
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

MANY = 120  # conversations of one message
MORE = 80  # than are taken at a time


def flood(memory: Memory, space: str = "red", count: int = MANY) -> None:
    memory.add_many(Batch(space, f"c{n}", "alex", [Draft("user", f"a zebra in park {n}")]) for n in range(count))


def state_of(memory: Memory, view: str, space: str | None = None) -> ViewState:
    return next(state for state in memory.stats(space=space).views if state.view == view)


def index_until(memory: Memory, embedder: CountingEmbedder, text: str) -> int:
    """Index, a step at a time, until a text has been embedded. Returns how many were before it."""
    while text not in embedder.texts and step_view(memory, "index"):
        pass
    return embedder.texts.index(text)


# -- spaces in turn


@pytest.mark.checklist("F16")
def test_a_space_with_hundreds_of_conversations_does_not_keep_another_waiting(tmp_path: Path) -> None:
    """F16: what is said elsewhere afterwards is indexed long before the flood is."""
    embedder = CountingEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder, followers=False) as memory:
        flood(memory)
        memory.conversation("chat", user="bo", space="blue").extend(
            [Draft("user", "a giraffe"), Draft("user", "a walrus")]
        )
        assert index_until(memory, embedder, "a walrus") < MANY / 2


@pytest.mark.checklist("F16")
def test_a_long_conversation_does_not_keep_another_space_waiting(tmp_path: Path) -> None:
    """F16: served once, a space comes after all others, however much it still has."""
    embedder = CountingEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder, followers=False) as memory:
        for space in ("red", "green"):
            chat = memory.conversation("long", user="alex", space=space)
            chat.extend(Draft("user", f"a zebra in park {n}") for n in range(3 * MANY))
        memory.conversation("chat", user="bo", space="blue").add("user", "a giraffe")
        assert index_until(memory, embedder, "a giraffe") < 3 * MANY


@pytest.mark.checklist("F16")
def test_floods_of_many_spaces_do_not_keep_another_waiting(tmp_path: Path) -> None:
    """F16: however many of them there are, and however long the others have waited."""
    embedder = CountingEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder, followers=False) as memory:
        for number in range(8):
            flood(memory, f"red {number}")
        memory.conversation("chat", user="bo", space="blue").add("user", "a giraffe")
        assert index_until(memory, embedder, "a giraffe") < MANY


@pytest.mark.checklist("F16")
def test_a_long_conversation_does_not_keep_others_of_its_space_waiting(tmp_path: Path) -> None:
    """F16: while somebody imports a history, what others say is searchable."""
    embedder = CountingEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder, followers=False) as memory:
        for name in ("long", "longer"):
            memory.conversation(name, user="alex").extend(Draft("user", f"a zebra {n}") for n in range(5 * MANY))
        memory.conversation("chat", user="bo").add("user", "a giraffe")
        assert index_until(memory, embedder, "a giraffe") < MANY


@pytest.mark.checklist("F16")
def test_a_search_waits_for_its_own_space_and_not_for_a_flood_elsewhere(tmp_path: Path) -> None:
    """F16: what was just added is found by the next search, while most of the flood is still to come."""
    embedder = CountingEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder) as memory:
        flood(memory, count=4 * MANY)
        memory.conversation("chat", user="bo", space="blue").add("user", "a giraffe")
        assert [hit.message.content for hit in memory.search("giraffe", space="blue")] == ["a giraffe"]
        assert len(embedder.texts) < 2 * MANY


@pytest.mark.checklist("F16")
def test_who_searches_without_end_does_not_keep_others_waiting() -> None:
    """F16: a space that somebody waits for comes next, but not twice before another."""
    served, lags = ServiceOrder(), [Lag(space, "chat", 0, 1) for space in ("red", "blue", "green")]
    order = []
    for _ in range(6):
        served.prefer("red")
        order.append(fair_order(lags, served.last_served)[0].space)  # so slow that there is time for one
        served.record_served(order[-1:])
    assert order == ["red", "blue", "red", "green", "red", "blue"]


# -- settled


@pytest.mark.checklist("F16")
def test_settle_says_how_much_is_left_when_its_time_is_over(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        flood(memory, count=MORE)
        with pytest.raises(NotSettled, match="messages behind the log") as late:
            memory.settle(timeout=0)
        left = late.value.left
        assert 0 < left["index"] < MORE
        assert left == {state.view: state.behind for state in memory.stats().views if state.behind}
        for view, behind in left.items():
            assert f"the {view} view is {behind} messages behind" in str(late.value)
        memory.settle()
        assert {state.behind for state in memory.stats().views} == {0}


@pytest.mark.checklist("F16")
def test_settle_returns_only_when_each_conversation_was_seen_to(tmp_path: Path) -> None:
    """F16: that a writer stands in for a model in one conversation says nothing of the many others."""
    away = True

    def reply(request: Request) -> str | Exception:
        return ModelTimeout("no answer") if away else '{"facts": []}'

    model, url = ScriptedLLM(default=reply), str(tmp_path / "memory.db")
    with Memory(url, memory=model, clock=FrozenClock(), followers=False, window_turns=0) as memory:
        memory.conversation("first", user="alex").add("user", "My name is Alex and I have a zebra.")
        memory.settle()
        away = False
        flood(memory, count=MORE)
        memory.settle()
        facts = state_of(memory, "facts")
        assert (facts.behind, facts.waiting, facts.standing_in) == (1, 1, 1)


# -- other processes, and the disk


@pytest.mark.checklist("F16")
def test_a_process_with_another_embedder_keeps_nobody_waiting(store_url: str) -> None:
    """F16: in a rolling deploy the old processes leave the work to the new ones, at once: the clock stands still."""
    store, clock = open_store(store_url, Settings()), FrozenClock()
    with (
        Memory(store, embedder=HashEmbedder("new", 16), clock=clock, followers=False) as new,
        Memory(store, embedder=HashEmbedder("old", 8), clock=clock, followers=False) as old,
    ):
        new.conversation("chat", user="alex").add("user", "a zebra")
        new.settle()
        for number in range(3):
            old.conversation("chat", user="alex").add("user", f"a giraffe {number}")
            with pytest.raises(NotSettled, match="EmbedderMismatch"):
                old.settle()
            assert state_of(new, "index") == ViewState("index", 1, 0, 0, None)
            new.settle()
        with pytest.raises(EmbedderMismatch):
            old.search("zebra")
        assert new.stats().entries == 4


class FillingEmbedder(CountingEmbedder):
    """While a message is being embedded for the first time, the disk fills up."""

    store: StoreDouble

    async def embed(self, texts: Sequence[str]) -> Vectors:
        def refuse(tx: Tx) -> None:
            raise StoreUnwritable("the disk is full; this transaction was not stored")

        if not self.calls:
            self.store.inside = refuse
        return await super().embed(texts)


@pytest.mark.every_store
@pytest.mark.checklist("F16")
def test_when_there_is_room_on_the_disk_again_work_goes_on_at_once(store_url: str) -> None:
    """F16: leases that could not be given back are ours still; nobody waits until they have run out."""
    store, embedder = StoreDouble(open_store(store_url, Settings())), FillingEmbedder()
    embedder.store = store
    with Memory(store, embedder=embedder, followers=False, clock=FrozenClock(), window_turns=0) as memory:
        memory.conversation("chat", user="alex").add("user", "a zebra")
        with pytest.raises(StoreUnwritable):
            memory.settle()
        assert state_of(memory, "index").leased == 1
        store.inside = lambda tx: None
        memory.settle(timeout=0)
        assert state_of(memory, "index") == ViewState("index", 0, 0, 0, None)


class LeavingEmbedder(CountingEmbedder):
    """While messages are being embedded for the first time, a machine goes away."""

    store: PartialStore

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.store.is_away = self.store.is_away or not self.calls
        return await super().embed(texts)


@pytest.mark.every_store
@pytest.mark.checklist("G13")
def test_spaces_on_other_machines_are_served_while_one_is_away(store_url: str) -> None:
    """Nobody waits for a retry; and what is on the machine is done once it is back."""
    store, embedder, clock = PartialStore(open_store(store_url, Settings()), "mars"), LeavingEmbedder(), FrozenClock()
    embedder.store = store
    with Memory(store, embedder=embedder, followers=False, clock=clock) as memory:
        chats = {space: memory.conversation("chat", user="alex", space=space) for space in ("earth", "mars", "venus")}
        for chat in chats.values():
            chat.add("user", "a zebra")
        for number in (1, 2):
            with pytest.raises(NotSettled):
                memory.settle(timeout=0)
            assert store.is_away
            assert [len(memory.search("zebra", space=space)) for space in ("earth", "venus")] == [1, number]
            assert state_of(memory, "index").waiting == 0
            chats["venus"].add("user", "a zebra again")
        store.is_away = False
        clock.advance(timedelta(minutes=2))
        memory.settle()
        assert [len(memory.search("zebra", space=space)) for space in chats] == [1, 1, 3]
        assert memory.stats().entries == 5

"""Facts last: over restarts and outages of the model, rebuilds, copies and erasures (D3, D8, D9), and over many who
write at once (B3). On every store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import pytest
from engine_doubles import settle_views
from fact_talks import NOW, answered, entry, everything, live, values
from fresh_processes import FRESH
from sample_sizes import sample

from everword import Memory, ModelBusy
from everword.config import Settings
from everword.memory.transfer import copy_store
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM
from everword.wiring import open_store

PATIENCE = 120.0
PROCESSES, EACH = 4, sample(4, least=2)
NAMES = (
    "Avery", "Blake", "Casey", "Devon", "Ellis", "Finley", "Gray", "Harper", "Indigo", "Jordan", "Kendall", "Logan",
    "Morgan", "Noel", "Oakley", "Parker",
)  # fmt: skip


@pytest.mark.checklist("D8")
def test_facts_go_on_after_a_restart(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("demo", user="alex").add("user", "I live in Oslo.")
    with Memory(store_url, followers=False) as memory:
        assert memory.facts(user="alex") == []
        settle_views(memory, "facts")
        memory.conversation("demo", user="alex").add("user", "I moved to Rome.")
        settle_views(memory, "facts")
        known = everything(memory, "alex")
        assert [fact.value for fact in known] == ["Oslo", "Rome"]
    with Memory(store_url, followers=False) as memory:
        settle_views(memory, "facts")
        assert everything(memory, "alex") == known


@pytest.mark.checklist("D9")
def test_while_the_model_is_away_rules_stand_in_and_its_reading_is_added(store_url: str) -> None:
    """D9: nobody waits, nothing is lost, nothing is there twice; and what ended meanwhile does not come back."""
    away = True
    found = {"falconry": [entry("preference", "hobby", "falconry"), entry("identity", "name", "Alex")]}

    def answer(request: Request) -> Any:
        return ModelBusy("the model is having a rest") if away else answered(found, request)

    clock = FrozenClock(NOW)
    with Memory(store_url, memory=ScriptedLLM(default=answer), clock=clock, followers=False) as memory:
        first, second = (memory.conversation(id, user="alex") for id in ("first", "second"))
        first.add("user", "My name is Alex, falconry is what I do. I'm allergic to kiwi.")
        memory.settle()
        assert values(memory.facts(user="alex")) == {"name": ["Alex"], "allergies": ["kiwi"]}
        away = False
        clock.advance(timedelta(seconds=0.1))  # it is not yet time to try the first again
        second.add("user", "I'm not allergic to kiwi any more.")
        memory.settle()
        before = memory.facts(user="alex")
        assert values(before) == {"name": ["Alex"]}
        assert {view.view: view.behind for view in memory.stats().views}["facts"] == 1
        clock.advance(timedelta(hours=1))
        memory.settle()
        assert values(memory.facts(user="alex")) == {"name": ["Alex"], "likes": ["falconry"]}
        after = {(fact.id, fact.sources) for fact in memory.facts(user="alex")}
        assert (before[0].id, before[0].sources) in after, "the same fact, with the same id and source"
        assert {view.view: view.behind for view in memory.stats().views}["facts"] == 0


@pytest.mark.checklist("D8")
def test_a_rebuild_gives_the_same_facts_with_the_same_ids(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        live(memory)
        live(memory, "kim")
        memory.conversation("room").add("user", "My brother Tom lives in Rome. Call me Yo.", author="yola")
        settle_views(memory, "facts")
        before = {user: everything(memory, user) for user in ("yola", "kim")}
        assert len(before["yola"]) > len(before["kim"]) > 8
        memory.rebuild("facts")
        assert memory.facts(user="yola") == []
        settle_views(memory, "facts")
        assert {user: everything(memory, user) for user in ("yola", "kim")} == before


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("My name is Alex.", "Call me Al.", {"name": ["Alex"], "call me": ["Al"]}),
        ("I like tea.", "I don't like tea any more.", {}),
        ("I live in Rome.", "I moved to Oslo.", {"location": ["Oslo"]}),
    ],
)
@pytest.mark.checklist("D8")
def test_facts_are_the_same_in_whatever_order_conversations_are_read(
    store_url: str, one: str, other: str, expected: dict[str, list[str]]
) -> None:
    """Two conversations in turns: reading them one after the other, or the second first, comes to the same."""
    with Memory(store_url, followers=False) as memory:
        first, second = (memory.conversation(id, user="alex") for id in ("first", "second"))
        first.add("user", one, time=NOW)
        settle_views(memory, "facts")
        second.add("user", other, time=NOW + timedelta(minutes=1))
        settle_views(memory, "facts")
        first.add("user", "Now to something else entirely.", time=NOW + timedelta(minutes=2))
        settle_views(memory, "facts")
        before = memory.facts(user="alex")
        assert values(before) == expected
        history = [memory.fact_history(key, user="alex") for key in ("name", "likes", "location")]
        memory.rebuild("facts")
        settle_views(memory, "facts")
        assert memory.facts(user="alex") == before
        assert [memory.fact_history(key, user="alex") for key in ("name", "likes", "location")] == history
        late = memory.conversation("late", user="alex")
        late.add("user", "My name is Zed. I live in Bern. I like tea.", time=NOW - timedelta(days=400))
        settle_views(memory, "facts")
        assert "Zed" not in values(memory.facts(user="alex")).get("name", []) or "name" not in expected
        assert "Bern" not in values(memory.facts(user="alex")).get("location", []) or "location" not in expected


@pytest.mark.checklist("D3")
def test_facts_are_copied_between_stores(store_url: str, addresses: Callable[[str, str], str]) -> None:
    source = addresses("sqlite", "source")
    with Memory(source, clock=FrozenClock(NOW), followers=False) as memory:
        live(memory)
        known = everything(memory, "yola")
        sources = [memory.why(fact.id, user="yola") for fact in known]
    with (
        closing(open_store(source, Settings())) as here,
        closing(open_store(store_url, Settings())) as there,
    ):
        assert copy_store(here, there, lambda table, rows: None)["facts"] == len(known)
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        memory.settle()
        assert everything(memory, "yola") == known
        assert [memory.why(fact.id, user="yola") for fact in known] == sources


def test_erasing_a_person_takes_their_facts_and_what_they_said_of_others(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("of ann", user="ann").add("user", "I live in Oslo. My brother Tom lives in Rome.")
        memory.conversation("of bob", user="bob").add("user", "I live in Bergen.")
        room = memory.conversation("room")
        room.add("user", "Tom is allergic to kiwi.", author="ann")
        room.add("user", "Bob works at Contoso.", author="ann", user="bob")
        room.add("user", "I'm allergic to latex.", author="bob")
        memory.settle()
        assert {fact.speaker for fact in memory.facts(user="bob")} == {"ann", "bob"}
        memory.erase(user="ann")
        for again in (False, True):
            if again:
                memory.rebuild("facts")
            memory.settle()
            assert everything(memory, "ann") == []
            assert values(memory.facts(user="bob")) == {"location": ["Bergen"], "allergies": ["latex"]}
            assert {fact.speaker for fact in everything(memory, "bob")} == {"bob"}
        assert "Oslo" not in str(room.context("Where does everybody live?").messages)


# -- many at once


def settled_on_one(memory: Memory, names: Sequence[str] = NAMES) -> None:
    """One active name, the one that was said last; every other is history, with an end."""
    memory.settle()
    history = memory.fact_history("name", user="alex")
    assert sorted(fact.value for fact in history) == sorted(names)
    (active,) = [fact for fact in history if fact.active]
    assert active.said_at == max(fact.said_at for fact in history)
    assert [fact for fact in memory.facts(user="alex") if fact.key == "name"] == [active]
    assert all(fact.valid_to is not None and fact.retired_by for fact in history if not fact.active)


@pytest.mark.every_store
@pytest.mark.checklist("B3")
def test_sixteen_threads_set_one_key_in_sixteen_conversations(store_url: str) -> None:
    with Memory(store_url) as memory:

        def speak(name: str) -> None:
            memory.conversation(f"chat of {name}", user="alex").add("user", f"My name is {name}.")
            settle_views(memory, "facts")

        with ThreadPoolExecutor(len(NAMES)) as pool:
            list(pool.map(speak, NAMES))
        settled_on_one(memory)


def speak_in_a_process(url: str, number: int, start: Barrier, pipe: Connection) -> None:
    """Some threads, each with a conversation of its own; followers in every process read what all of them say."""
    with Memory(url) as memory:

        def speak(name: str) -> str:
            memory.conversation(f"chat of {name}", user="alex").add("user", f"My name is {name}.")
            memory.settle()
            return name

        start.wait(PATIENCE)
        with ThreadPoolExecutor(EACH) as pool:
            pipe.send(list(pool.map(speak, NAMES[number * EACH : (number + 1) * EACH])))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.checklist("B3")
def test_four_processes_set_one_key_in_many_conversations(kind: str, addresses: Callable[[str, str], str]) -> None:
    url = addresses(kind, "memory")
    with Memory(url, followers=False):
        pass
    start, said, running = FRESH.Barrier(PROCESSES), list[str](), []
    for number in range(PROCESSES):
        here, there = FRESH.Pipe()
        process = FRESH.Process(target=speak_in_a_process, args=(url, number, start, there))
        process.start()
        there.close()
        running.append((process, here))
    try:
        for _, pipe in running:
            assert pipe.poll(PATIENCE)
            said += pipe.recv()  # an error in the process shows as the end of its pipe
    finally:
        for process, _ in running:
            process.join(PATIENCE)
    assert [process.exitcode for process, _ in running] == [0] * PROCESSES
    names = NAMES[: PROCESSES * EACH]
    assert sorted(said) == sorted(names)
    with Memory(url) as memory:
        settled_on_one(memory, names)

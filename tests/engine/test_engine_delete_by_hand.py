"""What people did to facts by hand goes with the messages that told them: no table keeps an old value (g9)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from raw_tables import change as change_rows
from raw_tables import words_held

from recollect import Draft, Fact, Memory
from recollect.config import Settings
from recollect.engine.tables.findings import json_values
from recollect.model import FoundFact
from recollect.ports import Tx
from recollect.testing import FrozenClock
from recollect.wiring import open_store

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def only(memory: Memory, key: str, user: str = "alex") -> Fact:
    (fact,) = [fact for fact in memory.facts(user=user) if fact.key == key]
    return fact


def values(memory: Memory, key: str, user: str = "alex") -> list[str]:
    return sorted(fact.value for fact in memory.facts(user=user) if fact.key == key)


def rebuild(memory: Memory) -> None:
    memory.rebuild("facts")
    memory.settle()


def edit(memory: Memory, fact: Fact) -> str:
    return memory.edit_fact(fact.id, "Delft", user="alex").id


def delete(memory: Memory, fact: Fact) -> str:
    return memory.delete_fact(fact.id, user="alex").id


def edit_twice(memory: Memory, fact: Fact) -> str:
    edit(memory, fact)
    return memory.edit_fact(only(memory, "location").id, "Gouda", user="alex").id


def edit_and_undo(memory: Memory, fact: Fact) -> str:
    id = edit(memory, fact)
    memory.undo(id, user="alex")
    return id


def delete_and_undo(memory: Memory, fact: Fact) -> str:
    id = delete(memory, fact)
    memory.undo(id, user="alex")
    return id


Act = Callable[[Memory, Fact], str]
ACTS: dict[Act, list[str]] = {
    edit: ["Delft"],
    delete: [],
    edit_twice: ["Gouda"],
    edit_and_undo: [],
    delete_and_undo: [],
}


@pytest.mark.every_store
@pytest.mark.parametrize("act", ACTS, ids=[act.__name__ for act in ACTS])
def test_deleting_the_source_leaves_nothing_of_the_old_value_g9(store_url: str, act: Act) -> None:
    clock = FrozenClock(START)
    with Memory(store_url, clock=clock, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        source = chat.add("user", "I live in Quuxberg.")
        memory.settle()
        clock.advance(MINUTE)
        act(memory, only(memory, "location"))
        memory.settle()
        clock.advance(MINUTE)
        deletion = chat.delete(source.id)
        assert deletion.left == ()
        assert words_held(store_url, "quuxberg") == []
        memory.settle()
        rebuild(memory)
        assert values(memory, "location") == ACTS[act]
        assert words_held(store_url, "quuxberg") == []
        assert memory.verify().ok


@pytest.mark.every_store
def test_what_another_message_says_stays_denied_when_one_source_goes_g9(store_url: str) -> None:
    clock = FrozenClock(START)
    with Memory(store_url, clock=clock, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "I like zorbling. I like tea.")
        clock.advance(MINUTE)
        chat.add("user", "I like tea and zorbling.")
        clock.advance(MINUTE)
        memory.settle()
        change = memory.delete_fact(next(f.id for f in memory.facts(user="alex") if f.value == "zorbling"), user="alex")
        chat.delete(first.id)
        memory.settle()
        for _ in range(2):
            assert values(memory, "likes") == ["tea"]
            rebuild(memory)
        memory.undo(change.id, user="alex")
        assert values(memory, "likes") == ["tea", "zorbling"]
        rebuild(memory)
        assert values(memory, "likes") == ["tea", "zorbling"]


def as_older_version_wrote(memory: Memory, url: str, kind: str, clock: FrozenClock) -> str:
    """A change as it was written before: the old value is in its text, its metadata, its row and its findings."""
    old = only(memory, "location")
    denial = FoundFact(old.category, old.key, old.value, 1.0, old.importance, holds="not", corrects=True)
    new = FoundFact(old.category, old.key, "Delft", 1.0, old.importance, corrects=True)
    facts = [denial, new] if kind == "edit_fact" else [denial]
    text = "location: Delft (not Quuxberg)" if kind == "edit_fact" else "Delete: location: Quuxberg"
    notes = {"command": kind, "facts": [json_values(fact) for fact in facts], "audience": None}
    draft = Draft("user", text, "alex", "alex", metadata={"recollect": {**notes, "after": old.said_at.isoformat()}})
    (added,) = memory.conversation("profile:alex", user="alex").extend([draft])
    id = added.message.id
    row: dict[str, Any] = {
        "space": "default",
        "user_id": "alex",
        "id": id,
        "kind": "change",
        "text": text,
        "speaker": "alex",
    }
    row |= {"said_at": clock.now(), "sources": (id, old.id), "audience": None, "active": 1}
    row |= {"retired_at": None, "retired_by": None, "expires_at": None}

    def put(tx: Tx) -> None:
        tx.put("statements", [row])

    memory.close()
    with closing(open_store(url, Settings())) as store:
        store.write(put)
    return id


@pytest.mark.every_store
@pytest.mark.parametrize("kind", ["edit_fact", "delete_fact"])
def test_changes_of_older_versions_are_read_and_cleaned_g9(store_url: str, kind: str) -> None:
    clock = FrozenClock(START)
    with Memory(store_url, clock=clock, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        source = chat.add("user", "I live in Quuxberg.")
        memory.settle()
        clock.advance(MINUTE)
        id = as_older_version_wrote(memory, store_url, kind, clock)
    with Memory(store_url, clock=clock, followers=False) as memory:
        rebuild(memory)
        expected = ["Delft"] if kind == "edit_fact" else []
        assert values(memory, "location") == expected
        assert words_held(store_url, "quuxberg") == ["quuxberg"]
        memory.undo(id, user="alex")
        assert values(memory, "location") == ["Quuxberg"]
    with Memory(store_url, clock=clock, followers=False) as memory:
        change_rows(store_url, "statements", lambda rows: [row.update(active=1) for row in rows])
    with Memory(store_url, clock=clock, followers=False) as memory:
        rebuild(memory)
        chat = memory.conversation("chat", user="alex")
        assert chat.delete(source.id).left == ()
        assert words_held(store_url, "quuxberg") == []
        memory.settle()
        rebuild(memory)
        assert values(memory, "location") == expected
        assert words_held(store_url, "quuxberg") == []
        assert memory.verify().ok
        memory.undo(id, user="alex")
        assert values(memory, "location") == []


@pytest.mark.every_store
@pytest.mark.parametrize(
    "command", ["what do you know about me?", "forget where I live", "forget what I just said", "remember this"]
)
def test_answers_of_the_memory_go_with_what_they_repeat_g9(store_url: str, command: str) -> None:
    with Memory(store_url, followers=False, clock=FrozenClock(START)) as memory:
        chat = memory.conversation("chat", user="alex")
        source = chat.add("user", "I live in Quuxberg.")
        memory.settle()
        answer = memory.conversation("chat", user="alex").command(f"Recollect, {command}")
        assert answer is not None
        assert "Quuxberg" in answer.text
        memory.settle()
        assert chat.delete(source.id).left == ()
        assert words_held(store_url, "quuxberg") == []
        memory.settle()
        rebuild(memory)
        assert values(memory, "location") == []
        assert memory.verify().ok


def test_an_answer_in_another_chat_goes_with_an_erased_person_g9(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with Memory(url, followers=False) as memory:
        group = memory.conversation("group")
        group.add("user", "I am here.", author="kim")
        memory.remember("Kim lives in Quuxberg", user="kim", speaker="alex")
        memory.settle()
        answer = memory.conversation("alex", user="alex").command("Recollect, what do you know about kim?")
        assert answer is not None
        assert "Quuxberg" in answer.text
        memory.erase(user="alex")
        assert words_held(url, "quuxberg") == []

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

from everword import Draft, Fact, Memory, Message
from everword.config import Settings
from everword.facts.findings import json_values
from everword.model import FoundFact
from everword.ports import Tx
from everword.testing import FrozenClock
from everword.wiring import open_store

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WORDS = ("quuxberg", "flibbers", "snarkov", "vonkel", "zorbling")


def only(memory: Memory, user: str, key: str = "location") -> Fact:
    (fact,) = [fact for fact in memory.facts(user=user) if fact.key == key]
    return fact


def values(memory: Memory, user: str, key: str = "location") -> list[str]:
    return sorted(fact.value for fact in memory.facts(user=user) if fact.key == key)


def rebuild(memory: Memory) -> None:
    memory.rebuild("facts")
    memory.settle()


def say_where(memory: Memory, user: str, place: str) -> Message:
    return memory.conversation(f"chat-{user}", user=user).add("user", f"I live in {place.capitalize()}.")


# -- changes of facts


def edit(memory: Memory, user: str) -> str:
    return memory.edit_fact(only(memory, user).id, "Delft", user=user).id


def delete(memory: Memory, user: str) -> str:
    return memory.delete_fact(only(memory, user).id, user=user).id


def edit_twice(memory: Memory, user: str) -> None:
    edit(memory, user)
    memory.edit_fact(only(memory, user).id, "Gouda", user=user)


def edit_and_undo(memory: Memory, user: str) -> None:
    memory.undo(edit(memory, user), user=user)


def delete_and_undo(memory: Memory, user: str) -> None:
    memory.undo(delete(memory, user), user=user)


ACTS: dict[Callable[[Memory, str], object], list[str]] = {
    edit: ["Delft"],
    delete: [],
    edit_twice: ["Gouda"],
    edit_and_undo: [],
    delete_and_undo: [],
}


@pytest.mark.every_store
@pytest.mark.checklist("G9")
def test_deleting_the_source_leaves_nothing_of_the_old_value(store_url: str) -> None:
    clock = FrozenClock(START)
    with Memory(store_url, clock=clock, followers=False) as memory:
        sources = [say_where(memory, act.__name__, word) for act, word in zip(ACTS, WORDS, strict=True)]
        memory.settle()
        clock.advance(MINUTE)
        for act in ACTS:
            act(memory, act.__name__)
        memory.settle()
        clock.advance(MINUTE)
        for source in sources:
            deletion = memory.conversation(source.conversation).delete(source.id)
            assert (deletion.messages, deletion.left) == (1, ())
        assert words_held(store_url, *WORDS) == []
        rebuild(memory)
        assert {act: values(memory, act.__name__) for act in ACTS} == ACTS
        assert words_held(store_url, *WORDS) == []
        assert memory.verify().ok


@pytest.mark.every_store
@pytest.mark.checklist("G9")
def test_what_another_message_says_stays_denied_when_one_source_goes(store_url: str) -> None:
    clock = FrozenClock(START)
    with Memory(store_url, clock=clock, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        first = chat.add("user", "I like zorbling. I like tea.")
        clock.advance(MINUTE)
        chat.add("user", "I like tea and zorbling.")
        clock.advance(MINUTE)
        memory.settle()
        fact = next(fact for fact in memory.facts(user="alex") if fact.value == "zorbling")
        change = memory.delete_fact(fact.id, user="alex")
        chat.delete(first.id)
        memory.settle()
        for _ in range(2):
            assert values(memory, "alex", "likes") == ["tea"]
            rebuild(memory)
        memory.undo(change.id, user="alex")
        for _ in range(2):
            assert values(memory, "alex", "likes") == ["tea", "zorbling"]
            rebuild(memory)


def write_as_before(memory: Memory, user: str, command: str, word: str) -> dict[str, Any]:
    """Append a change as older versions wrote it, with the old value in its text and metadata. Returns its row."""
    old = only(memory, user)
    denial = FoundFact(old.category, old.key, old.value, 1.0, old.importance, holds="not", corrects=True)
    new = FoundFact(old.category, old.key, "Delft", 1.0, old.importance, corrects=True)
    is_edit = command == "edit_fact"
    text = f"location: Delft (not {word})" if is_edit else f"Delete: location: {word}"
    notes = {"command": command, "facts": [json_values(fact) for fact in ([denial, new] if is_edit else [denial])]}
    metadata = {"everword": {**notes, "audience": None, "after": old.said_at.isoformat()}}
    (added,) = memory.conversation(f"profile:{user}", user=user).extend([Draft("user", text, user, metadata=metadata)])
    message = added.message
    row: dict[str, Any] = {"space": "default", "user_id": user, "id": message.id, "kind": "change", "text": text}
    row |= {"speaker": user}
    row |= dict.fromkeys(("audience", "retired_at", "retired_by", "expires_at"))
    return {**row, "said_at": message.time, "sources": (message.id, old.id), "active": 1}


@pytest.mark.every_store
@pytest.mark.checklist("G9")
def test_changes_of_older_versions_are_read_and_cleaned(store_url: str) -> None:
    clock = FrozenClock(START)
    old_commands = {"edit_fact": "quuxberg", "delete_fact": "flibbers"}
    expected = {"edit_fact": ["Delft"], "delete_fact": []}
    with Memory(store_url, clock=clock, followers=False) as memory:
        sources = [say_where(memory, command, word) for command, word in old_commands.items()]
        memory.settle()
        clock.advance(MINUTE)
        rows = [write_as_before(memory, command, command, word) for command, word in old_commands.items()]

    def put_rows(tx: Tx) -> None:
        tx.put("statements", rows)

    with closing(open_store(store_url, Settings())) as store:
        store.write(put_rows)
    with Memory(store_url, clock=clock, followers=False) as memory:
        rebuild(memory)
        assert {command: values(memory, command) for command in old_commands} == expected
        for row in rows:
            memory.undo(row["id"], user=row["user_id"])
            assert values(memory, row["user_id"]) == [old_commands[row["user_id"]].capitalize()]
    change_rows(store_url, "statements", lambda stored: [row.update(active=1) for row in stored])
    with Memory(store_url, clock=clock, followers=False) as memory:
        rebuild(memory)
        assert {command: values(memory, command) for command in old_commands} == expected
        for source in sources:
            assert memory.conversation(source.conversation).delete(source.id).left == ()
        assert words_held(store_url, *WORDS) == []
        rebuild(memory)
        assert {command: values(memory, command) for command in old_commands} == expected
        assert words_held(store_url, *WORDS) == []
        assert memory.verify().ok
        for row in rows:
            memory.undo(row["id"], user=row["user_id"])
            assert values(memory, row["user_id"]) == []


# -- what the memory answers


COMMANDS = ("what do you know about me?", "forget where I live", "forget what I just said", "remember this")


@pytest.mark.every_store
@pytest.mark.checklist("G9")
def test_answers_of_the_memory_go_with_what_they_repeat(store_url: str) -> None:
    with Memory(store_url, followers=False, clock=FrozenClock(START)) as memory:
        for number, (command, word) in enumerate(zip(COMMANDS, WORDS, strict=False)):
            user = f"u{number}"
            source = say_where(memory, user, word)
            memory.settle()
            chat = memory.conversation(f"chat-{user}", user=user)
            answer = chat.command(f"Everword, {command}")
            assert answer is not None
            assert word in answer.text.casefold()
            memory.settle()
            deletion = chat.delete(source.id, dry_run=True)
            assert deletion.messages == 2, "the message, and the answer that repeats it"
            assert chat.delete(source.id).messages == 2
        assert words_held(store_url, *WORDS) == []
        rebuild(memory)
        assert words_held(store_url, *WORDS) == []
        assert memory.verify().ok


@pytest.mark.checklist("G9")
def test_an_answer_in_another_chat_goes_with_an_erased_person(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with Memory(url, followers=False) as memory:
        memory.conversation("group").add("user", "I am here.", author="kim")
        memory.conversation("group").add("user", "I am here too.", author="alex")
        memory.settle()
        told = memory.conversation("group").command("Everword, remember that kim lives in Quuxberg", author="alex")
        assert told is not None
        answer = memory.conversation("kim", user="kim").command("Everword, what do you know about me?")
        assert answer is not None
        assert "Quuxberg" in answer.text
        memory.erase(user="alex")
        assert words_held(url, "quuxberg") == []


@pytest.mark.checklist("G9")
def test_a_display_name_goes_with_the_last_message_that_had_it(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with Memory(url, followers=False) as memory:
        group = memory.conversation("group")
        first = group.add("user", "Hello.", author="7", name="Quuxberg")
        second = group.add("user", "Hello again.", author="7", name="Quuxberg")
        group.add("user", "It is me.", author="7", name="Dana")
        memory.settle()
        group.delete(first.id)
        assert "Quuxberg" in {name.text for member in memory.people() for name in member.names}
        group.delete(second.id)
        assert [name.text for member in memory.people() for name in member.names] == ["Dana"]
        assert words_held(url, "quuxberg") == []

"""Receipts of past replies: kept with the reply, a limited number of them, without a word of what was said, and gone
with what they name."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from raw_tables import rows_of

from everword import Memory
from everword.context.receipts import MAX_LEFT_OUT, SLOTS, named_ids, pack_receipt, slot_of, unpack_receipt
from everword.model import Budget, Item, Receipt, Round, Section
from everword.testing.doubles import ScriptedLLM

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def receipt(*items: Item, left_out: tuple[Item, ...] = ()) -> Receipt:
    return Receipt("estimate", Budget(), 40, (Section("system", 10), Section("recent", 30, items, left_out, "a note")))


def stored_row(packed: dict[str, Any]) -> dict[str, Any]:
    return {"turn": 4, "asked": 3, "at": NOW, "receipt": packed}


def test_a_receipt_is_read_back_as_it_was_but_for_searches_and_names() -> None:
    first = Round(1, ((2, 3),), ("the boat of Ann",), ("01a",), 20, 5, "m")
    told = receipt(Item("m2", 7, "in the window", 2), Item("Ann", 9, "merged", 1))
    packed = pack_receipt(told, [first])
    stored = unpack_receipt(stored_row(packed))
    assert stored.rounds == (replace(first, searches=()),)
    assert stored.receipt.sections[1].items == (Item("m2", 7, "in the window", 2), Item("", 9, "merged", 1))
    assert stored.receipt.sections[1].note == "a note"
    assert named_ids(stored_row(packed)) == {"m2", "", "01a"}
    assert "Ann" not in f"{packed}"


def test_of_what_was_left_out_a_part_is_kept_and_the_rest_counted() -> None:
    many = tuple(Item(f"m{number}", 1, "does not fit") for number in range(MAX_LEFT_OUT + 5))
    stored = unpack_receipt(stored_row(pack_receipt(receipt(left_out=many), [])))
    assert len(stored.receipt.sections[1].left_out) == MAX_LEFT_OUT
    assert stored.hidden == {"recent": 5}


def test_a_conversation_keeps_no_more_than_the_last() -> None:
    assert len({slot_of(turn) for turn in range(1, 10_000)}) == SLOTS
    assert len({slot_of(turn) for turn in range(2, 2 * SLOTS + 1, 2)}) == SLOTS


def turns_in(url: str) -> list[tuple[str, int]]:
    return sorted((row["conversation"], row["turn"]) for row in rows_of(url, "receipts"))


@pytest.mark.every_store
def test_it_goes_with_what_it_names_and_stays_otherwise(store_url: str) -> None:
    model = ScriptedLLM(default="It is the grey house by the quay.")
    with Memory(store_url, chat=model, followers=False) as memory:
        memory.conversation("work", user="ann").reply("Where do I work?")
        home = memory.conversation("home", user="ann")
        home.reply("Which house is mine?")
        home.reply("And the second?")
        memory.conversation("later", user="ann").reply("And what else?")  # it was shown the others, which are few
        memory.conversation("home2", user="bo").reply("Which is mine?")
        assert turns_in(store_url) == [("home", 2), ("home", 4), ("home2", 2), ("later", 2), ("work", 2)]
        for row in rows_of(store_url, "receipts"):
            assert "house" not in f"{row}"
        home.edit(3, "And the third?")  # which only the last one was an answer to, and which was shown later
        assert turns_in(store_url) == [("home", 2), ("home2", 2), ("work", 2)]
        home.delete(1)
        assert turns_in(store_url) == [("home2", 2), ("work", 2)]
        memory.erase(user="ann")
        assert turns_in(store_url) == [("home2", 2)]
        memory.rebuild()
        assert turns_in(store_url) == [("home2", 2)]


def test_other_chats_of_the_person_show_what_was_removed_no_more(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    with Memory(url, chat=ScriptedLLM(default="The Petrel.")) as memory:
        diary = memory.conversation("diary", user="ann")
        diary.add("user", "My sailing boat is called Petrel and lies in the harbour of Hoorn.")
        memory.settle()
        memory.conversation("chat", user="ann").reply("What is my sailing boat in Hoorn called?")
        assert turns_in(url) == [("chat", 2)]
        diary.delete(1)
        assert turns_in(url) == []

"""The last messages of a context are those of the log at that moment, whoever has changed it since the last context."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest

from recollect import Context, Draft, Memory
from recollect.log.last_messages import LastMessages
from recollect.memory.gather import LOOK_BACK, SHORT_CONVERSATION
from recollect.model import Filter
from recollect.ports import Tx
from recollect.stores.sqlite import SqliteStore
from recollect.testing.samples import append_messages, make_message

LONG = SHORT_CONVERSATION + 22  # messages, so that not all of them are read


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    """Two on one file, as in two processes."""
    url = str(tmp_path / "memory.db")
    with Memory(url, followers=False) as memory, Memory(url, followers=False) as other:
        yield memory, other


def text_of(context: Context) -> str:
    return "\n".join(message["content"] for message in context.messages)


def lines(first: int, count: int) -> list[Draft]:
    """Messages that are short enough to stand in a context as they are."""
    return [Draft("assistant" if n % 2 else "user", f"line {n} of all") for n in range(first, first + count)]


def shown_lines(context: Context) -> set[int]:
    text = text_of(context)
    return {n for n in range(2 * LOOK_BACK) if f"line {n} of all" in text}


def test_new_messages_of_anybody_are_in_the_next_context(memories: tuple[Memory, Memory]) -> None:
    chats = [memory.conversation("demo", user="alex") for memory in memories]
    chats[0].extend(lines(0, LONG))
    for number in range(LONG, LONG + 12, 2):
        chats[number // 2 % 2].extend(lines(number, 2))
        contexts = [chat.context("and now?") for chat in chats]
        fresh = memories[0].conversation("demo", user="alex").context("and now?")
        assert contexts[0].messages == contexts[1].messages == fresh.messages
        assert {number, number + 1} <= shown_lines(contexts[0])


def test_a_message_that_somebody_edits_or_deletes_is_so_in_the_next_context(memories: tuple[Memory, Memory]) -> None:
    memory, other = memories
    chat = memory.conversation("demo", user="alex")
    elsewhere = other.conversation("demo", user="alex")
    chat.extend(lines(0, LONG))
    assert LONG - 2 in shown_lines(chat.context("and now?"))
    elsewhere.edit(LONG - 1, "line one two three of none")  # turns are counted from one
    context = chat.context("and now?")
    assert LONG - 2 not in shown_lines(context)
    assert "line one two three of none" in text_of(context)
    assert LONG - 1 in shown_lines(context)
    elsewhere.delete(LONG)
    assert LONG - 1 not in shown_lines(chat.context("and now?"))
    chat.delete(LONG - 1)
    assert "line one two three of none" not in text_of(chat.context("and now?"))


def test_a_conversation_of_the_same_name_is_another_one(memories: tuple[Memory, Memory]) -> None:
    memory, other = memories
    chat = memory.conversation("demo", user="alex")
    chat.extend(lines(0, 6))
    assert shown_lines(chat.context("and now?")) == set(range(6))
    other.move_conversation("demo", to="elsewhere")
    other.conversation("demo", user="alex").extend(lines(100, 8))
    assert shown_lines(chat.context("and now?")) == set(range(100, 108))
    moved = memory.conversation("elsewhere", user="alex")
    assert shown_lines(moved.context("and now?")) == set(range(6))


@pytest.mark.parametrize("count", [5, 60, LOOK_BACK, LOOK_BACK + 5])
@pytest.mark.parametrize("leaves_window", [True, False])
def test_many_new_messages_leave_no_gap(memories: tuple[Memory, Memory], count: int, leaves_window: bool) -> None:
    memory, other = memories
    chat = memory.conversation("demo", user="alex")
    chat.extend(lines(0, LONG))
    chat.context("and now?")
    other.conversation("demo", user="alex").extend(lines(LONG, count))
    if leaves_window:
        other.settle()
        other.conversation("demo", user="alex").archive()
    for number in range(2):
        fresh = memory.conversation("demo", user="alex")
        assert chat.context("and now?").messages == fresh.context("and now?").messages
        chat.extend(lines(LONG + count + 2 * number, 2))


def test_what_has_left_the_window_is_back_when_that_is_undone(memories: tuple[Memory, Memory]) -> None:
    """A rebuild makes the window larger for a while: the messages in it are all read again."""
    memory, _ = memories
    chat = memory.conversation("demo", user="alex")
    chat.extend(lines(0, LONG))
    memory.settle()
    chat.archive()
    chat.context("and now?")
    chat.delete(3)  # its views are made anew
    fresh = memory.conversation("demo", user="alex")
    assert chat.context("and now?").messages == fresh.context("and now?").messages
    memory.settle()
    assert chat.context("and now?").messages == fresh.context("and now?").messages


def test_what_is_read_is_what_the_log_has_whatever_happens_to_it(tmp_path: Path) -> None:
    random = Random(7)
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(2)]
    readers = [LastMessages("s", "c") for _ in stores]
    turns = 0
    try:
        for _ in range(300):
            new_messages = [make_message(turns + n) for n in range(1, random.choice([1, 2, 3, 30]))]
            turns += len(new_messages)
            changed = make_message(random.randint(1, max(turns, 1)), f"version {random.random()}")
            has_change = turns > 0 and random.random() < 0.2

            def write(tx: Tx) -> None:
                append_messages(tx, *new_messages)  # noqa: B023
                tx.rewrite_messages([changed] if has_change else [])  # noqa: B023

            random.choice(stores).write(write)
            after = random.choice([0, turns // 2, max(turns - 10, 0)])
            limit = random.choice([1, 5, 40])

            def read(tx: Tx, reader: LastMessages) -> None:
                conversation = tx.conversation("s", "c")
                if conversation is not None:
                    where = Filter("s", conversation="c")
                    expected = tx.messages(where, after=("c", after), limit=limit, newest=True)  # noqa: B023
                    assert reader.read(tx, conversation, after, limit) == expected  # noqa: B023

            for store, reader in zip(stores, readers, strict=True):
                store.read(partial(read, reader=reader))
    finally:
        for store in stores:
            store.close()

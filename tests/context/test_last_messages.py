"""The last messages of a context are those of the log at that moment, whoever has changed it since the last context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everword import Context, Draft, Memory
from everword.memory.gather_context import LOOK_BACK, SHORT_CONVERSATION

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
    return lines_in(text_of(context))


def lines_in(text: str) -> set[int]:
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
    moved = memory.conversation("elsewhere", user="alex")
    for this, turns, name, others in (
        (chat, range(100, 108), "elsewhere", range(6)),
        (moved, range(6), "demo", range(100, 108)),
    ):
        system, *last_messages = this.context("and now?").messages
        assert lines_in("\n".join(message["content"] for message in last_messages)) == set(turns)
        assert f", conversation {name}:" in system["content"]
        assert lines_in(system["content"]) == set(others), "a small memory is sent whole, as what it is"


@pytest.mark.parametrize("count", [5, 60, LOOK_BACK, LOOK_BACK + 5])
@pytest.mark.parametrize("leaves_window", [True, False])
def test_many_new_messages_leave_no_gap(memories: tuple[Memory, Memory], count: int, leaves_window: bool) -> None:
    memory, other = memories
    chat = memory.conversation("demo", user="alex")
    chat.extend(lines(0, LONG))
    chat.context("and now?")
    other.conversation("demo", user="alex").extend(lines(LONG, count))
    if leaves_window:
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

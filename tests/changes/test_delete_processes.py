"""Two processes on one store: what one removes or edits, the other no longer finds, whatever it holds in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import pytest
from fresh_processes import FRESH

from everword import Memory, ScopeError

SEARCHES = ("zorbling", "harbour boats", "Who has zorbling boats?")


def search_on_request(url: str, connection: Connection) -> None:
    """The other process: searches, and builds a context, each time it is asked, with one memory that stays open."""
    with Memory(url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        while connection.recv() == "search":
            hits = [hit.message.content for query in SEARCHES for hit in memory.search(query, user="alex")]
            try:
                context = str(chat.context("Who has zorbling boats?").messages)
            except ScopeError:  # the chat is another's now
                context = ""
            connection.send((hits, context))


class OtherProcess:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def search(self) -> str:
        """All that it finds."""
        self._connection.send("search")
        hits, context = self._connection.recv()
        return f"{hits} {context}"


@contextmanager
def other_process(url: str) -> Iterator[OtherProcess]:
    ours, theirs = FRESH.Pipe()
    process = FRESH.Process(target=search_on_request, args=(url, theirs))
    process.start()
    try:
        yield OtherProcess(ours)
    finally:
        ours.send("end")
        process.join(120)
        assert process.exitcode == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("F11")
def test_another_process_finds_nothing_once_the_removal_has_returned(store_url: str) -> None:
    """With an index in its memory that it has searched before; after each kind of removal, at once."""
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        for number in range(12):
            chat.add("user", f"The harbour has {number} boats.", platform_id=f"p{number}")
        memory.conversation("other", user="alex").add("user", "The zorbling boats of the other chat.")
        memory.settle()
        with other_process(store_url) as process:
            assert "other chat" in process.search()
            memory.delete_conversation("other")
            assert "other chat" not in process.search()
            for number in range(4):
                chat.add("user", f"Number {number} of the zorbling boats.", platform_id=f"z{number}")
                memory.settle()
                assert f"Number {number} of" in process.search()
                chat.delete(f"z{number}")
                assert f"Number {number} of" not in process.search()
            chat.edit("p3", "Three zorbling boats, and no more.")
            memory.settle()
            seen = process.search()
            assert "no more" in seen
            assert "has 3 boats" not in seen
            memory.merge_users("alex", into="kim")
            assert "boats" not in process.search().replace("zorbling boats?", "")
            memory.erase(user="kim")
            assert "boats" not in process.search().replace("zorbling boats?", "")

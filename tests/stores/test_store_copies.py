"""D3: a memory moves from any store to any other without loss, and goes on there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import pytest
from engine_doubles import settle_index
from filled_store import make_filled
from hit_order import difference

from everword import Memory, StoreError
from everword.config import Settings
from everword.memory.transfer import copy_store
from everword.model import Draft, Hit
from everword.testing import FrozenClock
from everword.wiring import open_store

KINDS = ("sqlite", "json", "postgresql")
QUERIES = ("database", "Berlin", "日本", "cats and dogs", "nothing like it")
Addresses = Callable[[str, str], str]


def fill(url: str) -> None:
    with Memory(url, clock=FrozenClock(), followers=False) as memory:
        for user, place in (("alex", "Berlin"), ("kim", "東京 日本")):
            chat = memory.conversation(f"chat/{user}", user=user)
            chat.extend(
                [
                    Draft("user", f"I live in {place}.", platform_id="1", time=datetime(1999, 12, 31, tzinfo=UTC)),
                    Draft("assistant", "Which database do you like? 😀", metadata={"n": 2**70, "x": 0.1}),
                    Draft("user", "Cats, dogs and PostgreSQL.", platform_id="2"),
                ]
            )
        memory.conversation("gone", user="sam").add("user", "forget me")
        memory.settle()
        memory.erase(user="sam")


def known(memory: Memory) -> tuple[object, ...]:
    """All there is to know but what is found by searching."""
    stats = memory.stats()
    counts = (stats.conversations, stats.users, stats.messages, stats.erased, stats.characters, stats.entries)
    return memory.conversations(), list(memory.export()), memory.verify(), counts, stats.views, stats.embedder


def found(memory: Memory) -> list[list[Hit]]:
    return [memory.search(query, user=user) for query in QUERIES for user in ("alex", "kim", None)]


@pytest.mark.parametrize("source", KINDS)
def test_a_copy_knows_what_the_original_knew_and_learns_on(source: str, addresses: Addresses) -> None:
    here = addresses(source, "original")
    make_filled(here, fill)
    with Memory(here, clock=FrozenClock(), followers=False) as memory:
        expected, hits = known(memory), found(memory)
    for target in KINDS:
        there = addresses(target, "copy")
        with closing(open_store(here, Settings())) as original, closing(open_store(there, Settings())) as copy:
            copied = copy_store(original, copy, lambda table, rows: None)
        assert copied["messages"] == 7, target
        goes_on(there, expected, hits)


def goes_on(url: str, expected: tuple[object, ...], hits: list[list[Hit]]) -> None:
    """What is there is what was expected, and more can be added and found."""
    with Memory(url, clock=FrozenClock(), followers=False) as memory:
        assert known(memory) == expected
        assert [difference(*both) for both in zip(hits, found(memory), strict=True)] == [None] * len(hits)
        memory.conversation("chat/alex", user="alex").add("user", "Quokkas too.")
        settle_index(memory)
        assert [hit.message.content for hit in memory.search("quokkas", user="alex", limit=1)] == ["Quokkas too."]
        assert memory.verify().ok


def test_a_store_with_something_in_it_is_not_copied_over(addresses: Addresses) -> None:
    make_filled(addresses("sqlite", "original"), fill)
    with Memory(addresses("json", "taken"), followers=False) as memory:
        memory.conversation("chat").add("user", "I was here before.")
    with (
        closing(open_store(addresses("sqlite", "original"), Settings())) as original,
        closing(open_store(addresses("json", "taken"), Settings())) as taken,
        pytest.raises(StoreError, match="not empty"),
    ):
        copy_store(original, taken, lambda table, rows: None)

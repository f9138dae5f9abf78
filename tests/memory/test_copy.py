"""D3: a memory is copied from any store to any other, row by row, without loss; half a copy is no memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from engine_doubles import settle_index
from filled_store import make_filled

from everword import Draft, Memory, StoreError
from everword.config import Settings
from everword.memory import transfer
from everword.memory.transfer import TABLES, copy_store
from everword.ports import VERSION_NOTE, Store, Tx
from everword.testing import FrozenClock
from everword.testing.samples import ODD_METADATA, ODD_TEXTS
from everword.wiring import open_store

Addresses = Callable[[str, str], str]
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
OWN = ("schema", "docs")  # notes a store makes about itself, not about the memory
QUERIES = ("zebra", "animals with stripes", "日本語", "مرحبا", "two lines", "database", "emoji 👋")


class Stopped(Exception):
    """Somebody pulled the plug."""


def ignore(table: str, rows: int) -> None:
    """Nobody watches."""


def fill(url: str, zebras: int = 20) -> None:
    """Odd rows, several spaces, an erasure, and an index that is not quite finished."""
    with Memory(url, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.extend(Draft("user", f"zebra number {n} and its stripes") for n in range(zebras))
        chat.extend(
            Draft("user", text, time=NOW - timedelta(days=n), metadata=ODD_METADATA[n % 6], platform_id=f"p{n}")
            for n, text in enumerate(ODD_TEXTS)
            if text.strip()
        )
        memory.conversation("chat", user="alex", space="日本 %").add("user", "another space")
        memory.conversation("gone", user="sam").add("user", "forget my zebra")
        memory.documents().put(("notes", "日本"), "ключ", {"text": "a zebra", "odd": [None, 0.1, "👋"]}, user="alex")
        memory.documents().search(query="zebra")
        memory.settle()
        memory.erase(user="sam")
        memory.conversation("late", user="kim").add("user", "not indexed yet")


def tables(store: Store) -> dict[str, list[Mapping[str, Any]]]:
    found = {table: store.read(lambda tx: tx.rows(table, None, 100_000)) for table in TABLES}  # noqa: B023
    found["meta"] = [row for row in found["meta"] if row["key"] not in OWN and not row["key"].startswith(VERSION_NOTE)]
    return found


def answers(url: str) -> tuple[object, ...]:
    with Memory(url, clock=FrozenClock(NOW), followers=False) as memory:
        hits = [[hit.message.id for hit in memory.search(query, user="alex")] for query in QUERIES]
        return memory.verify(), list(memory.export()), list(memory.export(space="日本 %")), hits, memory.stats().views


@pytest.mark.checklist("D3")
def test_a_memory_copied_through_every_pair_of_stores_is_the_same(
    addresses: Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3: from each kind to each other kind, one after the other; every table equal, and so is every answer."""
    monkeypatch.setattr(transfer, "ROWS", 20)  # so that many pages take a moment only
    kinds = ("sqlite", "json", "postgresql", "json", "sqlite", "postgresql", "sqlite")
    urls = [addresses(kind, f"copy {number}") for number, kind in enumerate(kinds)]
    fill(urls[0], zebras=50)
    expected = answers(urls[0])
    with closing(open_store(urls[0], Settings())) as store:
        rows = tables(store)
    for here, there in pairwise(urls):
        with closing(open_store(here, Settings())) as source, closing(open_store(there, Settings())) as target:
            copied = copy_store(source, target, ignore)
            assert copied["messages"] == len(rows["messages"])
            assert tables(target) == rows, there
        assert answers(there) == expected, there


@pytest.mark.checklist("D3")
def test_a_copy_goes_on_as_a_memory_of_its_own(store_url: str, addresses: Addresses) -> None:
    """D3: what is added to it after is indexed and found, next to what was copied."""
    fill(addresses("postgresql", "source"))
    with (
        closing(open_store(addresses("postgresql", "source"), Settings())) as source,
        closing(open_store(store_url, Settings())) as target,
    ):
        copy_store(source, target, ignore)
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", "a walrus", platform_id="p1").turn != chat.add("user", "a walrus").turn
        settle_index(memory)
        assert memory.search("walrus", user="alex")[0].message.content == "a walrus"
        assert memory.search("not indexed yet")[0].message.conversation == "late"
        assert memory.verify().ok


def test_who_had_an_empty_memory_open_sees_what_was_copied_into_it(store_url: str, addresses: Addresses) -> None:
    def read_zones(tx: Tx) -> list[Any]:
        return [row["time_zone"] for row in tx.rows("spaces", where={"space": "s"})]

    with (
        closing(open_store(addresses("postgresql", "source"), Settings())) as source,
        closing(open_store(store_url, Settings())) as target,
    ):
        source.write(lambda tx: tx.put("spaces", [{"space": "s", "time_zone": "Europe/Rome", "version": 0}]))
        assert target.read(read_zones) == []
        copy_store(source, target, ignore)
        assert target.read(read_zones) == ["Europe/Rome"]


def test_a_target_that_is_not_empty_is_refused_and_left_alone(store_url: str, addresses: Addresses) -> None:
    make_filled(addresses("sqlite", "source"), fill)
    with Memory(store_url, followers=False) as memory:
        memory.conversation("chat", user="kim").add("user", "I was here first")
    with (
        closing(open_store(addresses("sqlite", "source"), Settings())) as source,
        closing(open_store(store_url, Settings())) as target,
        pytest.raises(StoreError, match="not empty; copy into a new, empty store"),
    ):
        copy_store(source, target, ignore)
    with Memory(store_url, followers=False) as memory:
        assert [m.content for m in memory.export()] == ["I was here first"]


@pytest.mark.parametrize("table", ["conversations", "vectors"])
def test_a_copy_that_was_stopped_is_refused_on_opening(store_url: str, table: str, addresses: Addresses) -> None:
    source_url = addresses("sqlite", "source")
    make_filled(source_url, fill)

    def stop(at: str, rows: int) -> None:
        if at == table:
            raise Stopped

    with (
        closing(open_store(source_url, Settings())) as source,
        closing(open_store(store_url, Settings())) as target,
    ):
        with pytest.raises(Stopped):
            copy_store(source, target, stop)
        with pytest.raises(StoreError, match="not empty"):
            copy_store(source, target, ignore)
    with pytest.raises(
        StoreError, match=r"unfinished copy of .*source.db; remove this store and run `everword copy` again"
    ):
        Memory(store_url)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_is_one_moment_of_a_memory_in_use(kind: str, addresses: Addresses) -> None:
    """What is written to the source meanwhile is all in the copy or not at all."""
    here, there = addresses(kind, "source"), addresses("sqlite", "target")
    make_filled(here, fill)
    before = answers(here)[0]
    with (
        Memory(here, clock=FrozenClock(NOW)) as memory,
        closing(open_store(here, Settings())) as source,
        closing(open_store(there, Settings())) as target,
    ):

        def meanwhile(table: str, rows: int) -> None:
            memory.conversation("chat", user="alex").add("user", f"said while {table} was copied")

        copy_store(source, target, meanwhile)
        assert memory.verify().ok
    assert answers(there)[0] == before

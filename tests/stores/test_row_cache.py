"""Rows that a store may keep are those of the store as each transaction sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.ports import Store, Tx
from recollect.stores.jsonfile import JsonStore
from recollect.stores.prepared import MAX_CACHED, RowCache
from recollect.stores.sqlite import SqliteStore

WHERE = {"space": "s"}


def put_zone(name: str) -> Callable[[Tx], None]:
    return lambda tx: tx.put("spaces", [{"space": "s", "time_zone": name, "noted": None, "version": 0}])


def zones(tx: Tx) -> list[Any]:
    return [row["time_zone"] for row in tx.rows("spaces", where=WHERE, kept=True)]


@pytest.mark.parametrize("open_store", [SqliteStore, JsonStore])
def test_rows_are_read_again_after_they_were_changed(open_store: Callable[[Path], Store], tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    try:
        assert store.read(zones) == []
        for zone in ("Europe/Rome", "Europe/Oslo"):
            store.write(put_zone(zone))
            assert store.read(zones) == [zone]
            assert store.read(zones) == [zone]
        store.write(lambda tx: tx.remove("spaces", WHERE))
        assert store.read(zones) == []
    finally:
        store.close()


def test_a_change_in_another_store_on_the_same_file_is_seen(tmp_path: Path) -> None:
    """As two processes have one file: each has a cache of its own."""
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(2)]
    try:
        for number, zone in enumerate(["Europe/Rome", "Europe/Oslo", "Europe/Paris"]):
            stores[number % 2].write(put_zone(zone))
            assert [store.read(zones) for store in stores] == [[zone], [zone]]
    finally:
        for store in stores:
            store.close()


def test_a_transaction_sees_its_own_changes_and_no_other_does(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def change_and_fail(tx: Tx) -> None:
        put_zone("Europe/Oslo")(tx)
        assert zones(tx) == ["Europe/Oslo"]
        assert store.read(zones) == ["Europe/Rome"]
        raise ValueError

    try:
        store.write(put_zone("Europe/Rome"))
        assert store.read(zones) == ["Europe/Rome"]
        with pytest.raises(ValueError):
            store.write(change_and_fail)
        assert store.read(zones) == ["Europe/Rome"]
    finally:
        store.close()


def test_a_snapshot_does_not_see_rows_of_a_later_version(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def read_while_others_write(tx: Tx) -> None:
        assert zones(tx) == ["Europe/Rome"]
        store.write(put_zone("Europe/Oslo"))
        assert store.read(zones) == ["Europe/Oslo"]
        assert zones(tx) == ["Europe/Rome"]

    try:
        store.write(put_zone("Europe/Rome"))
        store.read(read_while_others_write)
        assert store.read(zones) == ["Europe/Oslo"]
    finally:
        store.close()


def test_who_changes_the_list_of_rows_changes_no_other(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    try:
        store.write(put_zone("Europe/Rome"))
        store.read(lambda tx: tx.rows("spaces", where=WHERE, kept=True).clear())
        assert store.read(zones) == ["Europe/Rome"]
    finally:
        store.close()


def test_rows_of_several_values_are_in_the_order_of_their_keys(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    names = ("é", "b", "Z", "a", "\U0001f600", "ﬀ")
    zone_rows = [{"space": name, "time_zone": name, "noted": None, "version": 0} for name in names]

    def read(tx: Tx, newest: bool = False, kept: bool = False) -> list[Any]:
        where = {"space": (*names, "none", "a")}
        return [row["space"] for row in tx.rows("spaces", where=where, newest=newest, kept=kept)]

    try:
        store.write(lambda tx: tx.put("spaces", zone_rows))
        for newest in (False, True):
            plain = store.read(lambda tx: read(tx, newest=newest))  # noqa: B023
            assert store.read(lambda tx: read(tx, newest=newest, kept=True)) == plain  # noqa: B023
            assert len(plain) == len(names)
        store.write(lambda tx: tx.remove("spaces", {"space": "b"}))
        assert "b" not in store.read(lambda tx: read(tx, kept=True))
    finally:
        store.close()


def test_the_cache_is_bounded() -> None:
    cache = RowCache()
    rows = [object()] * 1_000
    for number in range(100):
        cache.put(number, "v", rows)
    known = [number for number in range(100) if cache.find(number, "v") is not None]
    assert 99 in known
    assert len(known) * len(rows) <= MAX_CACHED

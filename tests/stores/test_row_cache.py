"""Rows that a store may keep are those of the store as each transaction sees it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.ports import Store, Tx
from recollect.stores.jsonfile import JsonStore
from recollect.stores.row_cache import MAX_CACHED, MAX_CHANGES, CachedRows, RowCache
from recollect.stores.sqlite import SqliteStore

WHERE = {"space": "s"}
MORNING = datetime(2026, 1, 1, 9, tzinfo=UTC)


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


def episode(first: int, parent: int | None, summary: str = "", conversation: str = "c") -> dict[str, Any]:
    place = {"space": "s", "conversation": conversation, "level": 1, "first": first, "last": first, "user_id": "ann"}
    times = {"began": MORNING, "ended": MORNING}
    texts = {"summary": summary, "made_by": "offline", "base": "", "base_last": 0, "extract": {}}
    return {**place, **times, **texts, "pending": 0, "parent": parent, "vec": None}


def put_episodes(*rows: dict[str, Any]) -> Callable[[Tx], None]:
    return lambda tx: tx.put("episodes", rows)


def parts(tx: Tx) -> dict[int, list[tuple[int, str]]]:
    """The parts of two episodes, asked for together and one by one, which must be the same."""
    where = {"space": "s", "conversation": ("c",), "level": 1}
    found: dict[int, list[tuple[int, str]]] = {1: [], 5: []}
    for row in tx.rows("episodes", where={**where, "parent": (1, 5)}, kept=True):
        found[row["parent"]].append((row["first"], row["summary"]))
    for parent in found:
        alone = tx.rows("episodes", where={**where, "parent": (parent,)}, kept=True)
        assert [(row["first"], row["summary"]) for row in alone] == found[parent]
    return found


CHANGES: list[Callable[[Tx], Any]] = [
    put_episodes(episode(9, None)),
    put_episodes(episode(9, None), episode(2, 1, "written again")),
    put_episodes(episode(7, 5, "one more")),
    put_episodes(episode(2, 5, "of another")),
    put_episodes(episode(2, None, "of none")),
    put_episodes(episode(3, 1, conversation="d")),
    put_episodes(*(episode(number, 5) for number in range(100, 400))),
    lambda tx: tx.remove("episodes", {"space": "s", "first": 100}),
    lambda tx: tx.reset_view("window", "s", "c"),
]


@pytest.mark.parametrize("open_store", [SqliteStore, JsonStore])
def test_cached_groups_of_rows_follow_every_change(open_store: Callable[[Path], Store], tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")

    def read_uncached(tx: Tx) -> dict[int, list[tuple[int, str]]]:
        rows = tx.rows("episodes", where={"space": "s", "conversation": "c"})
        return {n: [(row["first"], row["summary"]) for row in rows if row["parent"] == n] for n in (1, 5)}

    try:
        store.write(put_episodes(episode(1, 1), episode(2, 1), episode(5, 5)))
        assert store.read(parts) == {1: [(1, ""), (2, "")], 5: [(5, "")]}
        for change in CHANGES:
            store.write(change)
            assert store.read(parts) == store.read(read_uncached)
    finally:
        store.close()


def test_changes_of_another_store_on_the_same_file_are_seen_between_own_ones(tmp_path: Path) -> None:
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(2)]
    try:
        stores[0].write(put_episodes(episode(1, 1), episode(5, 5)))
        for number in range(1, 12):
            assert [store.read(parts)[1] for store in stores] == [[(1, "" if number == 1 else str(number - 1))]] * 2
            stores[0].write(put_episodes(episode(50 + number, None)))
            stores[number % 2].write(put_episodes(episode(1, 1, str(number))))
            stores[0].write(put_episodes(episode(70 + number, None)))
    finally:
        for store in stores:
            store.close()


def test_a_change_that_is_rolled_back_is_not_seen_through_the_next_one(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def fail_after(change: Callable[[Tx], None]) -> Callable[[Tx], None]:
        def run(tx: Tx) -> None:
            change(tx)
            raise ValueError

        return run

    try:
        store.write(put_episodes(episode(1, 1)))
        assert store.read(parts)[1] == [(1, "")]
        with pytest.raises(ValueError):
            store.write(fail_after(put_episodes(episode(1, 1, "never"))))
        store.write(put_episodes(episode(9, None)))
        assert store.read(parts)[1] == [(1, "")]
    finally:
        store.close()


def cached_group(parent: int, version: str) -> CachedRows:
    where = {"space": "s", "conversation": ("c",), "parent": (parent,)}
    return CachedRows((version, None), "episodes", where, [("s", "c", 1, parent)], [{}])


def test_rows_that_own_changes_do_not_concern_are_still_known() -> None:
    cache = RowCache()
    cache.put("group", cached_group(1, "v0"))
    cache.note_change("episodes", "v0", "v1", [episode(9, None)])
    cache.note_change("episodes", "v1", "v2", [episode(7, 5)])
    assert cache.find("group", ("v2", None)) is not None
    assert cache.find("group", ("v1", None)) is None  # of a snapshot before
    assert cache.find("group", ("v2", "1")) is None  # something was removed
    assert cache.find("group", ("v9", None)) is None  # of another process
    cache.note_change("episodes", "v2", "v3", [episode(7, 1)])
    assert cache.find("group", ("v3", None)) is None


def test_only_so_many_changes_are_remembered() -> None:
    cache = RowCache()
    cache.put("group", cached_group(1, "v0"))
    for number in range(MAX_CHANGES + 1):
        cache.note_change("episodes", f"v{number}", f"v{number + 1}", [episode(9, None)])
    assert cache.find("group", (f"v{MAX_CHANGES + 1}", None)) is None


def test_the_cache_is_bounded() -> None:
    cache = RowCache()
    rows = [object()] * 1_000
    for number in range(100):
        cache.put(number, CachedRows(("v", None), "spaces", WHERE, (), rows))
    known = [number for number in range(100) if cache.find(number, ("v", None)) is not None]
    assert 99 in known
    assert len(known) * len(rows) <= MAX_CACHED

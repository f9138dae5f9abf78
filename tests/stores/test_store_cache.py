"""What a store caches is what each transaction would read itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from everword.ports import WHOLE_SPACE, Store, Tx
from everword.stores.jsonfile import JsonStore
from everword.stores.sqlite import SqliteStore
from everword.testing.view_contract import fact_row
from everword.versioned_cache import Cache, Scope


def put_city(city: str, person: str = "ann") -> Callable[[Tx], None]:
    return lambda tx: tx.put("facts", [fact_row(city, person)])


def cities(tx: Tx, person: str = "ann") -> list[str]:
    def make() -> list[str]:
        return [row["value"] for row in tx.rows("facts", where={"space": "s", "user_id": person})]

    return tx.cache.get(tx, ("facts", "s", person), "cities", make)


@pytest.mark.parametrize("open_store", [SqliteStore, JsonStore])
def test_what_is_cached_is_made_once_for_each_change(open_store: Callable[[Path], Store], tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    made: list[str] = []

    def read(tx: Tx) -> str:
        def make() -> str:
            made.append("".join(row["value"] for row in tx.rows("facts", where={"space": "s", "user_id": "ann"})))
            return made[-1]

        return tx.cache.get(tx, ("facts", "s", "ann"), "city", make)

    try:
        for number, city in enumerate(("Rome", "Oslo"), 1):
            store.write(put_city(city))
            assert [store.read(read) for _ in range(3)] == [city] * 3
            assert len(made) == number
        for person in ("bob", "kim", "lee"):
            store.write(put_city("Bern", person))
        store.read(read)
        assert len(made) < 4, "few scopes share a version"
        store.write(lambda tx: tx.remove("facts", {"space": "s"}))
        assert store.read(read) == ""
    finally:
        store.close()


def test_a_change_in_another_store_on_the_same_file_is_seen(tmp_path: Path) -> None:
    """As two processes have one file: each has a cache of its own."""
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(2)]
    try:
        for number, city in enumerate(["Rome", "Oslo", "Paris", "Rome"]):
            stores[number % 2].write(put_city(city))
            assert [store.read(cities) for store in stores] == [[city], [city]]
    finally:
        for store in stores:
            store.close()


def test_a_snapshot_does_not_see_what_was_made_of_a_later_version(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def read_while_others_write(tx: Tx) -> None:
        assert cities(tx) == ["Rome"]
        store.write(put_city("Oslo"))
        assert store.read(cities) == ["Oslo"]
        assert cities(tx) == ["Rome"]

    try:
        store.write(put_city("Rome"))
        store.read(read_while_others_write)
        assert store.read(cities) == ["Oslo"]
    finally:
        store.close()


def test_the_version_of_a_whole_space_follows_everybody_in_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    try:
        versions = []
        for person in ("ann", "bob"):
            store.write(put_city("Rome", person))
            versions.append(store.read(lambda tx: tx.version(("facts", "s", WHOLE_SPACE))))
        assert len({*versions}) == 2
    finally:
        store.close()


def test_a_table_without_versions_is_never_cached(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    try:
        assert store.read(lambda tx: tx.version(("tiers", "s", "c"))) is None
        values = iter((1, 2))
        assert [store.read(lambda tx: tx.cache.get(tx, ("tiers", "s", "c"), "n", lambda: next(values)))] == [1]
        assert [store.read(lambda tx: tx.cache.get(tx, ("tiers", "s", "c"), "n", lambda: next(values)))] == [2]
    finally:
        store.close()


@dataclass(frozen=True)
class FixedVersions:
    """A transaction in which every scope has the same version."""

    value: str | None

    def version(self, scope: Scope) -> str | None:
        return self.value


def test_the_cache_counts_hits_and_drops_what_was_used_least_recently() -> None:
    cache = Cache(10_000)
    tx = FixedVersions("v1")
    texts = {name: name * 3_000 for name in "abcd"}
    for name in "abac":
        assert cache.get(tx, ("facts", "s", "ann"), name, lambda: texts[name]) == texts[name]  # noqa: B023
    assert (cache.hits, cache.misses) == (1, 3)
    assert cache.get(tx, ("facts", "s", "ann"), "d", lambda: texts["d"]) == texts["d"]
    assert cache.size <= cache.max_bytes
    assert cache.get(tx, ("facts", "s", "ann"), "a", lambda: "made again") == texts["a"]
    assert cache.get(tx, ("facts", "s", "ann"), "b", lambda: "made again") == "made again"
    assert cache.get(FixedVersions("v2"), ("facts", "s", "ann"), "a", lambda: "made again") == "made again"
    assert cache.get(FixedVersions(None), ("facts", "s", "ann"), "a", lambda: "not cached") == "not cached"
    cache.get(tx, ("facts", "s", "ann"), "large", lambda: "x" * 20_000)
    assert cache.size <= cache.max_bytes

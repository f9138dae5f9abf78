"""A store in a file says after each transaction that its facts have changed, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.ports import FACTS_VERSION, Store, Tx
from recollect.stores.jsonfile import JsonStore
from recollect.stores.sqlite import SqliteStore


def version_of(store: Store) -> str | None:
    return store.read(lambda tx: tx.note(FACTS_VERSION))


def remove_facts(tx: Tx) -> None:
    tx.remove("facts", {"space": "s"})


@pytest.mark.parametrize("open_store", [SqliteStore, JsonStore])
def test_the_version_of_facts_changes_with_each_transaction_that_writes_them(
    open_store: Callable[[Path], Store], tmp_path: Path
) -> None:
    store = open_store(tmp_path / "store")
    try:
        assert version_of(store) is None
        store.write(lambda tx: tx.set_note("other", "1"))
        assert version_of(store) is None
        store.write(remove_facts)
        first = version_of(store)
        store.write(remove_facts)
        assert None not in (first, version_of(store))
        assert version_of(store) != first
    finally:
        store.close()


def test_what_is_not_committed_leaves_the_version_as_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")

    def fail(tx: Tx) -> None:
        remove_facts(tx)
        raise ValueError

    try:
        store.write(remove_facts)
        before = version_of(store)
        with pytest.raises(ValueError):
            store.write(fail)
        assert version_of(store) == before
    finally:
        store.close()

"""Connections that are kept between transactions: what fails in one transaction is not there in the next, and many
threads have a connection each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from everword.stores.sqlite import SqliteStore

THREADS = 8  # more than the connections that are kept


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt], ids=["failed", "interrupted"])
def test_nothing_of_a_transaction_that_ended_early_is_in_the_next(tmp_path: Path, error: type[BaseException]) -> None:
    connections: list[object] = []

    def end_early(tx: Any) -> None:
        connections.append(tx.connection)
        tx.set_note("lost", "words")
        raise error

    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        for _ in range(THREADS):
            with pytest.raises(error):
                store.write(end_early)
            assert store.read(lambda tx: tx.note("lost")) is None
        store.write(lambda tx: tx.set_note("kept", "words"))
        assert store.read(lambda tx: tx.note("kept")) == "words"
    if error is KeyboardInterrupt:  # it says nothing of the connection, which is used again
        assert len(set(map(id, connections))) == 1


def test_threads_that_read_at_once_have_a_connection_each(tmp_path: Path) -> None:
    barrier = Barrier(THREADS)

    def read(tx: Any) -> tuple[str | None, int]:
        barrier.wait(60)  # all of them have begun
        return tx.note("kept"), id(tx.connection)

    with closing(SqliteStore(tmp_path / "memory.db")) as store, ThreadPoolExecutor(THREADS) as pool:
        store.write(lambda tx: tx.set_note("kept", "words"))
        for _ in range(2):
            found = [future.result() for future in [pool.submit(store.read, read) for _ in range(THREADS)]]
            assert {note for note, _ in found} == {"words"}
            assert len({connection for _, connection in found}) == THREADS

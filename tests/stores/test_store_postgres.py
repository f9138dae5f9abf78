"""B11: a PostgreSQL server that goes away for a moment costs a second try, and its password is never shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from recollect.config import Settings
from recollect.errors import ConfigError, StoreBusy, StoreError
from recollect.model import Filter
from recollect.ports import Tx
from recollect.stores.postgres import PostgresStore
from recollect.testing.samples import conversation, keep, message
from recollect.testing.transaction_contract import PATIENCE, at_once
from recollect.wiring import open_store


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url)) as store:
        yield store


def cut_off(url: str) -> None:
    """End every other connection to this database, as a restart of the server does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
            [int(PATIENCE * 1000)],
        )


def test_a_connection_lost_between_transactions_is_not_noticed(store: PostgresStore, postgres_url: str) -> None:
    store.write(lambda tx: keep(tx, message(1)))
    cut_off(postgres_url)
    assert store.read(lambda tx: tx.messages(Filter("s"))) == [message(1)]
    cut_off(postgres_url)
    store.write(lambda tx: keep(tx, message(2)))


def test_a_connection_lost_in_a_transaction_has_it_run_again(store: PostgresStore, postgres_url: str) -> None:
    runs: list[int] = []

    def write(tx: Tx) -> None:
        tx.lock_conversation(conversation())
        runs.append(len(runs))
        if len(runs) == 1:
            cut_off(postgres_url)
        keep(tx, message(1))

    store.write(write)
    assert runs == [0, 1]
    assert store.read(lambda tx: tx.messages(Filter("s"))) == [message(1)]


def test_many_threads_share_a_few_connections(store: PostgresStore) -> None:
    """More of them than connections, each with several transactions."""
    at_once(40, lambda number: [store.write(lambda tx: keep(tx, message(conversation=str(number)))) for _ in [0]])
    assert len(store.read(lambda tx: tx.conversations())) == 40


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    url = "postgresql://alex:secret-word@127.0.0.1:1/memory?connect_timeout=1"
    with pytest.raises(StoreError) as caught:
        PostgresStore(url, busy_seconds=0.01)
    assert "127.0.0.1" in str(caught.value)
    assert "secret-word" not in str(caught.value)


def test_an_address_that_is_none_is_a_setting_that_is_wrong() -> None:
    with pytest.raises(ConfigError, match="postgresql://user:password@host/database"):
        open_store("postgresql://host:port/memory", Settings())


def test_a_name_shows_no_password(postgres_url: str) -> None:
    url = postgres_url.replace("postgres:@", "postgres:secret-word@")
    with closing(PostgresStore(url)) as store:
        assert "secret-word" not in store.name + repr(store)


def test_a_row_that_stays_locked_is_busy(store: PostgresStore, postgres_url: str) -> None:
    """The wait for another's lock has an end, and the error says that trying again will do."""
    store.write(lambda tx: tx.lock_conversation(conversation()))
    with psycopg.connect(postgres_url) as other, closing(PostgresStore(postgres_url, busy_seconds=0.2)) as hasty:
        other.execute("SELECT * FROM recollect.conversations FOR UPDATE")
        with pytest.raises(StoreBusy, match="try again"):
            hasty.write(lambda tx: tx.lock_conversation(conversation()))
    store.write(lambda tx: keep(tx, message(1)))

"""B11: a PostgreSQL server that goes away for a moment costs a second try, and its password is never shown."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

import psycopg
import pytest
from postgres_proxy import PostgresProxy
from sqlalchemy.engine import make_url

from everword.config import Settings
from everword.errors import ConfigError, StoreAway, StoreBusy, StoreError
from everword.model import Filter
from everword.ports import Tx
from everword.stores.postgres import PostgresStore, array_text, parse_url
from everword.testing.samples import PATIENCE, append_messages, make_conversation, make_message, run_at_once
from everword.wiring import open_store


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
    store.write(lambda tx: append_messages(tx, make_message(1)))
    cut_off(postgres_url)
    assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]
    cut_off(postgres_url)
    store.write(lambda tx: append_messages(tx, make_message(2)))


def test_a_connection_lost_in_a_transaction_has_it_run_again(store: PostgresStore, postgres_url: str) -> None:
    runs: list[int] = []

    def write(tx: Tx) -> None:
        tx.lock_conversation(make_conversation())
        runs.append(len(runs))
        if len(runs) == 1:
            cut_off(postgres_url)
        append_messages(tx, make_message(1))

    store.write(write)
    assert runs == [0, 1]
    assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]


def test_many_threads_share_a_few_connections(store: PostgresStore) -> None:
    """More of them than connections, each with several transactions."""
    run_at_once(
        40,
        lambda number: [
            store.write(lambda tx: append_messages(tx, make_message(conversation=str(number)))) for _ in [0]
        ],
    )
    assert len(store.read(lambda tx: tx.conversations())) == 40


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    url = "postgresql://alex:secret-word@127.0.0.1:1/memory?connect_timeout=1"
    with pytest.raises(StoreError) as caught:
        PostgresStore(url, busy_seconds=0.01)
    assert "127.0.0.1" in str(caught.value)
    assert "secret-word" not in str(caught.value)


def test_a_server_that_does_not_answer_is_named_while_it_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever opens a store chooses how long that waits, and the error says what to check."""
    with pytest.raises(StoreAway, match=r"refused.*check that PostgreSQL runs there, and the host and the port"):
        PostgresStore("postgresql://alex:secret-word@127.0.0.1:1/memory", server_seconds=1.0)
    (message,) = caplog.messages
    assert message.startswith("waiting up to 1 seconds")
    assert "127.0.0.1:1" in message
    assert "secret-word" not in message


class Knocks:
    """A first address of a server, at which nobody answers; it counts who tries."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._tries = threading.Semaphore(0)
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):
            while True:
                self._listening.accept()[0].close()
                self._tries.release()

    def wait(self, count: int) -> None:
        for _ in range(count):
            assert self._tries.acquire(timeout=PATIENCE)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


def test_a_server_that_refuses_connections_for_a_while_is_waited_for(postgres_url: str) -> None:
    """F18: as one that is restarted does, when a store is opened and later. When the second try knocks, the first was
    refused."""
    wire = PostgresProxy(postgres_url)
    with closing(Knocks()) as knocks, ThreadPoolExecutor() as pool:
        hosts = "".join(f"&host=127.0.0.1:{port}" for port in (knocks.port, wire.port))
        name = make_url(postgres_url).database
        opening = pool.submit(PostgresStore, f"postgresql://postgres:@/{name}?sslmode=disable{hosts}")
        knocks.wait(2)
        with wire:
            store = opening.result(PATIENCE)
        writing = pool.submit(store.write, lambda tx: append_messages(tx, make_message(1)))
        knocks.wait(4)
        with PostgresProxy(postgres_url, wire.port), closing(store):
            writing.result(PATIENCE)
            assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]


def test_a_database_that_does_not_exist_is_told_at_once(postgres_url: str) -> None:
    """What waiting does not mend is not waited for."""
    url = make_url(postgres_url).set(database="no_such_database").render_as_string(hide_password=False)
    with pytest.raises(StoreError, match=r"no_such_database.*create the database") as caught:
        PostgresStore(url, busy_seconds=PATIENCE)
    assert not isinstance(caught.value, StoreBusy)


def test_an_address_that_is_none_is_a_setting_that_is_wrong() -> None:
    with pytest.raises(ConfigError, match="postgresql://user:password@host/database"):
        open_store("postgresql://host:port/memory", Settings())


def test_a_name_shows_no_password(postgres_url: str) -> None:
    url = postgres_url.replace("postgres:@", "postgres:secret-word@")
    with closing(PostgresStore(url)) as store:
        assert "secret-word" not in store.name + repr(store)


def test_a_row_that_stays_locked_is_busy(store: PostgresStore, postgres_url: str) -> None:
    """The wait for another's lock has an end, and the error says that trying again will do."""
    store.write(lambda tx: tx.lock_conversation(make_conversation()))
    with psycopg.connect(postgres_url) as other, closing(PostgresStore(postgres_url, busy_seconds=0.2)) as hasty:
        other.execute("SELECT * FROM everword.conversations FOR UPDATE")
        with pytest.raises(StoreBusy, match="try again"):
            hasty.write(lambda tx: tx.lock_conversation(make_conversation()))
    store.write(lambda tx: append_messages(tx, make_message(1)))


def test_a_store_that_is_closed_under_a_thread_leaves_no_connection(postgres_url: str) -> None:
    """Not even to the garbage collector: a connection that it finds open is a warning in whatever runs then."""
    store = PostgresStore(postgres_url)
    is_reading, may_end = threading.Event(), threading.Event()
    used = list[Any]()

    def read(tx: Any) -> None:
        used.append(tx.connection.connection.driver_connection)
        is_reading.set()
        may_end.wait(PATIENCE)

    reader = threading.Thread(target=store.read, args=(read,))
    reader.start()
    assert is_reading.wait(PATIENCE)
    store.close()
    may_end.set()
    reader.join(PATIENCE)
    assert used[0].closed


def test_texts_of_any_kind_are_members_of_an_array(postgres_url: str) -> None:
    texts = [
        "plain",
        "",
        "NULL",
        'a "quoted" word',
        "back\\slash",
        "a,b",
        "{}",
        " spaces ",
        "雪 ❄",
        "line\nbreak",
        "tab\t",
        "'",
    ]
    with psycopg.connect(postgres_url) as connection:
        read = connection.execute("SELECT %s::text[]", [array_text([*texts, "plain"])]).fetchall()[0][0]
    assert read == texts


@pytest.mark.parametrize("password", ["a@b", "a@b@c", "a%40b", "a:b/c", ""])
def test_a_password_in_an_address_may_hold_an_at(password: str) -> None:
    address = parse_url(f"postgresql://al:{password}@host:5433/db?sslmode=require")
    assert (address.username, address.password, address.host) == ("al", password.replace("%40", "@"), "host")
    assert (address.port, address.database, address.query["sslmode"]) == (5433, "db", "require")
    socket = parse_url("postgresql:///db?host=/tmp/a@b&user=al@c")
    assert (socket.host, socket.query["host"], socket.query["user"]) == (None, "/tmp/a@b", "al@c")

"""A store that Citus spreads over machines; `make test-citus` runs this."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest
from cli_driver import everword, succeeded
from postgres_databases import CitusServer, PostgresServer

from everword import Memory
from everword.errors import SchemaMismatch, StoreBusy
from everword.model import Filter
from everword.ports import Tx
from everword.stores.postgres import PostgresStore
from everword.testing.samples import append_messages, make_conversation, make_message

SPACES = [f"s{number}" for number in range(8)]


@pytest.fixture
def by_machine(postgres: PostgresServer, postgres_url: str) -> list[str]:
    """The address of one database by way of each machine, the coordinator first."""
    assert isinstance(postgres, CitusServer)
    return [postgres.address_by(machine, postgres_url) for machine in range(3)]


def test_the_note_of_a_transaction_lies_beside_its_rows(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        for space in SPACES:
            message = make_message(space=space)
            store.write(lambda tx, message=message: append_messages(tx, message))  # type: ignore[misc]
    with psycopg.connect(postgres_url) as connection:
        places: dict[int, int] = dict(connection.execute("SELECT shardid, nodeport FROM citus_shards").fetchall())

        def rows_of(table: str) -> list[tuple[str, int]]:
            rows = connection.execute(f"SELECT space FROM everword.{table}").fetchall()
            shard = f"SELECT get_shard_id_for_distribution_column('everword.{table}', %s::text)"
            return [(space, places[connection.execute(shard, [space]).fetchall()[0][0]]) for (space,) in rows]

        of_rows, of_notes = rows_of("messages"), rows_of("commits")
    assert sorted(of_rows) == sorted(of_notes)
    assert len({port for _, port in of_rows}) == 2


def test_a_row_that_stays_locked_is_busy_on_every_machine(by_machine: list[str]) -> None:
    with closing(PostgresStore(by_machine[0])) as store:
        store.write(lambda tx: append_messages(tx, make_message()))
    held = "SELECT FROM everword.conversations WHERE space = 's' FOR UPDATE"
    for address in by_machine:
        with (
            closing(PostgresStore(address, busy_seconds=0.2)) as store,
            psycopg.connect(by_machine[0]) as connection,
        ):
            connection.execute(held)
            with pytest.raises(StoreBusy):
                store.write(lambda tx: tx.lock_conversation(make_conversation()))


def test_a_lock_holds_on_every_machine(by_machine: list[str]) -> None:
    has_lock, may_end = threading.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        tx.lock("facts", "s", "ann")
        has_lock.set()
        may_end.wait(60)

    with closing(PostgresStore(by_machine[1])) as one, closing(PostgresStore(by_machine[2], busy_seconds=0.2)) as other:
        holder = threading.Thread(target=one.write, args=[hold])
        holder.start()
        assert has_lock.wait(60)
        with pytest.raises(StoreBusy):
            other.write(lambda tx: tx.lock("facts", "s", "ann"))
        other.write(lambda tx: tx.lock("facts", "s", "bob"))
        may_end.set()
        holder.join()


def test_every_machine_can_be_asked_and_told(by_machine: list[str]) -> None:
    """Numbers of passages come from none of them."""
    for number, address in enumerate(by_machine):
        with Memory(address, followers=False) as memory:
            memory.conversation("kitchen", user="ann").add("user", f"I keep the kettle number {number} in Delft.")
            memory.settle(60)
            hits = memory.search("kettle in Delft", user="ann", limit=10)
            assert len(hits) == number + 1
            assert memory.verify().faults == ()


def test_a_table_that_is_left_out_is_named_and_spread_by_the_next_migration(by_machine: list[str]) -> None:
    coordinator = by_machine[0]
    with closing(PostgresStore(coordinator)) as store:
        store.write(lambda tx: append_messages(tx, make_message()))
    with psycopg.connect(coordinator, autocommit=True) as connection:
        connection.execute("SELECT undistribute_table('everword.receipts')")
    with pytest.raises(SchemaMismatch, match="receipts is not"):
        PostgresStore(coordinator)
    PostgresStore(coordinator, migrate=True).close()
    with closing(PostgresStore(coordinator)) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message()]


def test_what_was_there_moves_with_nothing_left_on_the_coordinator(postgres: PostgresServer) -> None:
    assert isinstance(postgres, CitusServer)
    with postgres.database(migrated=False) as address:
        PostgresStore(address, migrate=True).close()
        with closing(PostgresStore(address)) as store:
            store.write(lambda tx: append_messages(tx, make_message()))
        succeeded("migrate", "--citus", address)
        with closing(PostgresStore(address)) as store:
            assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message()]
            assert len(store.machines()) == 2
        with psycopg.connect(address) as connection:
            assert connection.execute("SELECT pg_relation_size('everword.messages')").fetchone() == (0,)


def test_doctor_tells_where_the_tables_lie(postgres_url: str) -> None:
    result = everword("doctor", env={"EVERWORD_STORE": postgres_url})
    with closing(PostgresStore(postgres_url)) as store:
        names = [machine.name for machine in store.machines()]
    assert len(names) == 2
    assert all(f"{name}: " in result.output for name in names)

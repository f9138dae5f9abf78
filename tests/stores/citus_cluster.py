"""A store that Citus spreads over machines; `make test-citus` runs this."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

import httpx2
import psycopg
import pytest
from cli_driver import everword, succeeded
from engine_doubles import step_view
from postgres_databases import CitusServer, PostgresServer
from postgres_proxy import Break, PostgresProxy
from sqlalchemy import event
from sqlalchemy.engine import make_url
from test_store_commit import COUNTED, FIGURES
from test_store_spaces import ACROSS_SPACES, change, work

from everword import MachineAway, Memory
from everword.errors import SchemaMismatch, StoreBusy
from everword.model import Filter
from everword.ports import Tx
from everword.stores.postgres import PostgresStore
from everword.testing.doubles import FrozenClock, ScriptedLLM
from everword.testing.samples import append_messages, make_conversation, make_message
from everword.testing.serving import Serving

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
    with pytest.raises(SchemaMismatch, match="but not the tables receipts"):
        PostgresStore(coordinator)
    PostgresStore(coordinator, migrate=True).close()
    with closing(PostgresStore(coordinator)) as store:
        assert store.read(lambda tx: tx.messages(Filter("s"))) == [make_message()]


def test_what_was_there_moves_with_nothing_left_on_the_coordinator(postgres: PostgresServer) -> None:
    assert isinstance(postgres, CitusServer)
    with postgres.database(migrated=False) as empty:
        address = postgres.address_by(0, empty)
        PostgresStore(address, migrate=True).close()
        with closing(PostgresStore(address)) as store:
            store.write(lambda tx: append_messages(tx, make_message()))
        advice = everword("doctor", env={"EVERWORD_STORE": address}).output
        assert "not distributed; to distribute the tables over 2 machines" in advice
        on_another = everword("migrate", "--citus", postgres.address_by(1, address))
        assert "is not the coordinator of its cluster" in on_another.output
        assert "the tables are distributed over 2 machines" in succeeded("migrate", "--citus", address)
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


def test_each_statement_asks_one_machine(postgres_url: str) -> None:
    """But those that are listed as looking into all spaces."""
    statements: dict[str, Any] = {}

    def note(_: object, __: object, statement: str, values: Any, *more: object) -> None:
        if statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            statements.setdefault(statement, values[0] if isinstance(values, list) else values)

    store = PostgresStore(postgres_url)
    event.listen(store.engine, "before_cursor_execute", note)
    with Memory(store, followers=False, chat=ScriptedLLM(default="I see.")) as memory:
        work(memory)
        change(memory)
    asking_many = set()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("SET search_path TO everword, public")
        for statement, values in statements.items():
            plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN (COSTS OFF) {statement}", values or None))
            if any(int(count) > 1 for count in re.findall(r"Task Count: (\d+)", plan)):
                asking_many.add(" ".join(statement.split()))
    assert len(statements) > 100
    assert {one for one in asking_many if not any(part in one for part in ACROSS_SPACES)} == set()


@contextmanager
def wire_to_a_machine(postgres: CitusServer, url: str, number: int = 1) -> Iterator[tuple[PostgresProxy, str]]:
    """A wire between the coordinator and one of the other machines, and a space that lies there."""
    address = postgres.address_by(number, url)
    machine = make_url(address)
    move = "SELECT citus_update_node(nodeid, nodename, %s) FROM pg_dist_node WHERE nodeport = %s"
    where = "SELECT get_shard_id_for_distribution_column('everword.usage', %s::text)"
    postgres.set({"citus.node_conninfo": "sslmode=disable"})
    with PostgresProxy(address) as wire, psycopg.connect(postgres.address_by(0, url), autocommit=True) as admin:
        rows: list[tuple[int, int]] = admin.execute("SELECT shardid, nodeport FROM citus_shards").fetchall()
        ports = dict(rows)
        shards = {space: admin.execute(where, [space]).fetchall()[0][0] for space in SPACES}
        admin.execute(move, [wire.port, machine.port])
        try:
            yield wire, next(space for space in SPACES if ports[shards[space]] == machine.port)
        finally:
            admin.execute(move, [machine.port, wire.port])


@pytest.mark.parametrize("way", ["answer", "question"])
def test_a_commit_that_another_machine_does_not_answer_is_made_once(
    postgres: PostgresServer, postgres_url: str, way: Break
) -> None:
    assert isinstance(postgres, CitusServer)
    with ExitStack() as stack:
        wire, space = stack.enter_context(wire_to_a_machine(postgres, postgres_url))
        store = stack.enter_context(closing(PostgresStore(postgres.address_by(0, postgres_url))))

        def count_call(tx: Tx) -> None:
            tx.put("usage", [COUNTED | FIGURES | {"space": space, "calls": 1}], add=("calls",))

        for number in (1, 2, 3):
            wire.break_commit("usage", way)
            store.write(count_call)
            assert wire.broken.is_set()
            assert [row["calls"] for row in store.read(lambda tx: tx.rows("usage"))] == [number]


def test_spaces_on_other_machines_are_served_while_one_is_away(postgres: PostgresServer, postgres_url: str) -> None:
    """The error says at once which it is, and what is written elsewhere is found."""
    assert isinstance(postgres, CitusServer)
    with ExitStack() as stack:
        wire, lost_space = stack.enter_context(wire_to_a_machine(postgres, postgres_url))
        memory = stack.enter_context(Memory(postgres.address_by(0, postgres_url), telemetry="off", index_seconds=30))
        chats = {space: memory.conversation("c", user="ann", space=space) for space in SPACES}
        for chat in chats.values():
            chat.add("user", "I keep a kettle in Delft.")
        wire.hang_up()
        with pytest.raises(MachineAway, match="a machine with part of the database cannot be reached"):
            chats[lost_space].add("user", "And a teapot in Bonn.")
        served = 0
        for space, chat in chats.items():
            with suppress(MachineAway):
                chat.add("user", "And a teapot in Bonn.")
                served += 1
                hits = memory.search("teapot in Bonn", user="ann", space=space)
                assert any("teapot" in hit.message.content for hit in hits)
        assert 0 < served < len(SPACES)


def test_doctor_names_a_machine_that_is_away(postgres: PostgresServer, postgres_url: str) -> None:
    assert isinstance(postgres, CitusServer)
    with wire_to_a_machine(postgres, postgres_url) as (wire, _):
        wire.hang_up()
        result = everword("doctor", env={"EVERWORD_STORE": postgres.address_by(0, postgres_url)})
    assert re.search(rf"fail machines +cannot be reached: \S+:{wire.port};", result.output)
    assert "fail log             not checked, because a machine cannot be reached" in result.output
    assert result.output.count(str(wire.port)) == 1


@pytest.mark.parametrize("number", [1, 2])
def test_a_server_is_ready_while_a_machine_is_away(postgres: PostgresServer, postgres_url: str, number: int) -> None:
    """It serves the spaces of the others, whether or not the default space is among them."""
    assert isinstance(postgres, CitusServer)
    with ExitStack() as stack:
        wire, lost_space = stack.enter_context(wire_to_a_machine(postgres, postgres_url, number))
        store = stack.enter_context(closing(PostgresStore(postgres.address_by(0, postgres_url))))
        server = stack.enter_context(Serving(store, followers=False))
        client = stack.enter_context(httpx2.Client(base_url=server.url))
        wire.hang_up()
        assert client.get("/v1/conversations", params={"space": lost_space}).status_code == 503
        assert client.get("/readyz").json() == {"status": "ready"}


def test_a_worker_finds_what_is_new_on_other_machines_while_one_is_away(
    postgres: PostgresServer, postgres_url: str
) -> None:
    """It was told nothing: it looks into all spaces of the machines that answer."""
    assert isinstance(postgres, CitusServer)
    with ExitStack() as stack:
        wire, lost_space = stack.enter_context(wire_to_a_machine(postgres, postgres_url))
        address = postgres.address_by(0, postgres_url)
        writer, worker = (
            stack.enter_context(Memory(address, telemetry="off", followers=False, clock=FrozenClock()))
            for _ in range(2)
        )
        writer.conversation("first", user="ann", space=lost_space).add("user", "I live in Bern.")
        step_view(worker, "index")  # which embedder there is is noted on every machine
        for space in SPACES:
            writer.conversation("c", user="ann", space=space).add("user", "I keep a kettle in Delft.")
        wire.hang_up()
        step_view(worker, "index")
        found = {space for space in {*SPACES} - {lost_space} if can_find(writer, space)}
        assert 0 < len(found) < len(SPACES)
        for space in found:
            writer.conversation("c", user="ann", space=space).add("user", "I keep a teapot in Bonn.")
        step_view(worker, "index")
        assert all(can_find(writer, space, "teapot in Bonn") for space in found)


def can_find(memory: Memory, space: str, text: str = "kettle in Delft") -> bool:
    with suppress(MachineAway):
        return any(text in hit.message.content for hit in memory.search(text, user="ann", space=space))
    return False

"""F17: what was asked for is written once, also if the connection breaks at the COMMIT.

A wire to the real server breaks there, after the server has heard the COMMIT and before. In both cases the outcome is
the one whoever asked is told, and no change is made twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import psycopg
import pytest
from postgres_proxy import PATIENCE, Break, PostgresProxy

from recollect import Memory
from recollect.adapters.anthropic import MemoryTool
from recollect.model import Filter
from recollect.ports import Tx
from recollect.stores.postgres import PostgresStore
from recollect.testing.samples import keep, message
from recollect.testing.serving import Serving

COUNTED = {"space": "s", "day": "2026-01-01", "role": "chat", "task": "reply", "model": "m", "outcome": "ok"}
FIGURES = {"tokens_in": 0, "tokens_out": 0, "milliseconds": 0}


@pytest.fixture
def wire(postgres_url: str) -> Iterator[PostgresProxy]:
    with PostgresProxy(postgres_url) as proxy:
        yield proxy


@pytest.fixture
def memory(wire: PostgresProxy) -> Iterator[Memory]:
    with Memory(wire.url, followers=False, telemetry="off") as memory:
        yield memory


@pytest.fixture(params=["answer", "question"])
def way(request: pytest.FixtureRequest) -> Break:
    """What is lost: the answer to a COMMIT, or the COMMIT itself."""
    way: Break = request.param
    return way


def count_call(tx: Tx) -> None:
    """One more: a change that shows if it is made twice."""
    tx.put("usage", [COUNTED | FIGURES | {"calls": 1}], add=("calls",))


def calls(url: str) -> int:
    with closing(PostgresStore(url)) as store:
        rows = store.read(lambda tx: tx.rows("usage"))
    return sum(row["calls"] for row in rows)


# -- the store


def test_what_is_counted_is_counted_once(wire: PostgresProxy, postgres_url: str, way: Break) -> None:
    with closing(PostgresStore(wire.url)) as store:
        for number in range(1, 9):  # by the sixth time, the driver speaks in prepared statements
            wire.break_commit("usage", way)
            store.write(count_call)
            assert wire.broken.is_set()
            assert calls(postgres_url) == number


def test_the_value_is_that_of_the_run_that_was_kept(wire: PostgresProxy, way: Break) -> None:
    runs: list[int] = []

    def write(tx: Tx) -> int:
        runs.append(len(runs))
        count_call(tx)
        return len(runs)

    with closing(PostgresStore(wire.url)) as store:
        wire.break_commit("usage", way)
        assert store.write(write) == {"answer": 1, "question": 2}[way]


def test_a_commit_that_arrives_late_is_refused(wire: PostgresProxy, postgres_url: str) -> None:
    """The client has gone and looked, and there was nothing; so nothing may come of it any more."""
    with closing(PostgresStore(wire.url)) as store, psycopg.connect(postgres_url, autocommit=True) as watcher:
        wire.break_commit("usage", "late")
        writer = threading.Thread(target=store.write, args=[count_call])
        writer.start()
        assert wire.broken.wait(PATIENCE)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while writer.is_alive() and watcher.execute(waiting).fetchone() == (0,):
            pass  # until the second try waits for the row the first has changed
        answers = wire.deliver()
        writer.join(PATIENCE)
    assert answers[0][:1] == b"E"
    assert calls(postgres_url) == 1


def test_a_transaction_that_wrote_nothing_is_simply_run_again(wire: PostgresProxy) -> None:
    with closing(PostgresStore(wire.url)) as store:
        store.write(lambda tx: keep(tx, message(1)))
        wire.break_commit("messages", "question")
        assert store.write(lambda tx: tx.messages(Filter("s"))) == [message(1)]


# -- what is told to whoever asked


def test_messages_are_appended_once(memory: Memory, wire: PostgresProxy, way: Break) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.add("user", "one")
    wire.break_commit("messages", way)
    second = chat.add("user", "two")
    third = chat.add("user", "three")
    assert [message.content for message in chat.history()] == ["one", "two", "three"]
    assert (second.turn, third.turn) == (2, 3)
    assert memory.verify().ok


def test_an_erasure_says_what_it_erased(memory: Memory, wire: PostgresProxy, way: Break) -> None:
    memory.conversation("demo", user="alex").add("user", "something private")
    wire.break_commit("erasures", way)
    assert memory.erase(user="alex").messages == 1


def test_the_memory_tool_inserts_once(memory: Memory, wire: PostgresProxy, way: Break) -> None:
    tool = MemoryTool(memory, user="alex")
    tool.call({"command": "create", "path": "/memories/a.txt", "file_text": "one\n"})
    wire.break_commit("documents", way)
    tool.call({"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": "two\n"})
    assert tool.call({"command": "view", "path": "/memories/a.txt"}).count("two") == 1


def test_feedback_counts_once(memory: Memory, wire: PostgresProxy, way: Break) -> None:
    chat = memory.conversation("demo", user="alex")
    chat.add_user_message("Let us talk about gardening and tomatoes.")
    once = chat.feedback("t1", 1)
    wire.break_commit("topic_notes", way)
    chat.feedback("t1", 1)
    other = memory.conversation("other", user="alex")
    other.add_user_message("Let us talk about gardening and tomatoes.")
    assert other.feedback("t1", 1).importance == once.importance
    assert chat.topics()[0].importance == other.feedback("t1", 1).importance


# -- over HTTP

ROOT = "/v1/spaces/default"
NOTES = {"namespace": ["notes"]}


@pytest.fixture
def http(wire: PostgresProxy) -> Iterator[httpx2.Client]:
    with Serving(wire.url, followers=False) as server, httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        yield client


def change(http: httpx2.Client, text: str, **more: Any) -> httpx2.Response:
    changes = [{**NOTES, "key": "a", "value": {"text": text}}]
    return http.post(f"{ROOT}/documents", json={"changes": changes, **more})


def test_a_conditional_change_that_was_made_is_not_refused(
    http: httpx2.Client, wire: PostgresProxy, way: Break
) -> None:
    assert change(http, "one").status_code == 200
    tag = http.get(f"{ROOT}/documents", params=NOTES).json()["tag"]
    wire.break_commit("documents", way)
    assert change(http, "two", tag=tag, **NOTES).status_code == 200


def test_an_idempotency_key_is_not_held_by_nobody(http: httpx2.Client, wire: PostgresProxy, way: Break) -> None:
    body = {"text": "The user lives in Delft."}
    wire.break_commit("answers", way)
    answers = [http.post("/v1/users/alex/remember", json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content

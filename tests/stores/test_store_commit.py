"""F17: what was asked for is written once, also if the connection breaks at the COMMIT.

A wire to the real server breaks there, after the server has heard the COMMIT and before. In both cases the outcome is
the one whoever asked is told, and no change is made twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import psycopg
import pytest
from postgres_databases import PostgresServer
from postgres_proxy import PATIENCE, Break, PostgresProxy

from everword import CommitUnknown, Memory
from everword.adapters.anthropic import MemoryTool
from everword.model import Filter
from everword.ports import Tx
from everword.stores.postgres import PostgresStore
from everword.testing.samples import append_messages, make_message
from everword.testing.serving import Serving

COUNTED = {"space": "s", "day": "2026-01-01", "role": "chat", "task": "reply", "model": "m", "outcome": "ok"}
HASTE = 0.3  # seconds that a store waits for a server that stays away
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


def test_a_commit_that_arrives_late_is_refused(
    wire: PostgresProxy, postgres: PostgresServer, postgres_url: str
) -> None:
    """The client has gone and looked, and there was nothing; so nothing may come of it any more."""
    with closing(PostgresStore(wire.url)) as store, psycopg.connect(postgres_url, autocommit=True) as watcher:
        wire.break_commit("usage", "late")
        writer = threading.Thread(target=store.write, args=[count_call])
        writer.start()
        assert wire.broken.wait(PATIENCE)
        while writer.is_alive() and watcher.execute(postgres.lock_waits).fetchone() == (0,):
            pass  # until the second try waits for the row the first has changed
        answers = wire.deliver()
        writer.join(PATIENCE)
    assert answers[0][:1] == b"E"
    assert calls(postgres_url) == 1


def test_a_transaction_that_wrote_nothing_is_simply_run_again(wire: PostgresProxy) -> None:
    with closing(PostgresStore(wire.url)) as store:
        store.write(lambda tx: append_messages(tx, make_message(1)))
        wire.break_commit("messages", "question")
        assert store.write(lambda tx: tx.messages(Filter("s"))) == [make_message(1)]


def test_a_server_that_stays_away_leaves_it_open_and_the_error_says_so(
    wire: PostgresProxy, postgres_url: str, way: Break
) -> None:
    with closing(PostgresStore(wire.url, busy_seconds=HASTE)) as store:
        wire.refuse_after_break = True
        wire.break_commit("usage", way)
        with pytest.raises(CommitUnknown, match="It is not known whether the change was stored") as caught:
            store.write(count_call)
        assert "read the data before you repeat it" in str(caught.value)
    assert calls(postgres_url) == {"answer": 1, "question": 0}[way]


def test_notes_of_connections_that_are_gone_are_swept_up(postgres_url: str) -> None:
    for _ in range(3):
        with closing(PostgresStore(postgres_url)) as store:
            store.write(count_call)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("UPDATE everword.commits SET at = '2001-01-01'")
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM everword.commits").fetchone() == (1,)


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

REMEMBER = "/v1/users/alex/remember"

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
    wire.break_commit("answers", way)
    answers = [remember(http), remember(http)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content


def remember(http: httpx2.Client) -> httpx2.Response:
    body = {"text": "The user lives in Delft."}
    return http.post(REMEMBER, json=body, headers={"Idempotency-Key": "k1"})


def remember_when_free(http: httpx2.Client) -> httpx2.Response:
    """The answer under the same key, as soon as nobody is said to be at work on it."""
    deadline = time.monotonic() + PATIENCE
    while (answer := remember(http)).status_code == 409 and time.monotonic() < deadline:
        pass
    return answer


@pytest.fixture
def hasty(wire: PostgresProxy) -> Iterator[httpx2.Client]:
    store = PostgresStore(wire.url, busy_seconds=HASTE)
    with Serving(store, followers=False) as server, httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        wire.refuse_after_break = True
        yield client
    store.close()


def test_a_key_whose_request_may_have_been_done_says_so_later_too(
    hasty: httpx2.Client, wire: PostgresProxy, way: Break
) -> None:
    """It neither claims that somebody is at work on it nor does it a second time."""
    wire.break_commit("statements", way)
    first = remember(hasty)
    assert (first.status_code, first.json()["code"]) == (504, "commit_unknown")
    wire.refusing = False
    again = remember_when_free(hasty)
    assert (again.status_code, again.json()) == (504, first.json())
    kept = hasty.get("/v1/users/alex/profile").json()["statements"]
    assert len(kept) == {"answer": 1, "question": 0}[way]


def test_a_key_that_was_perhaps_claimed_by_nobody_is_free_again(
    hasty: httpx2.Client, wire: PostgresProxy, way: Break
) -> None:
    """The claim itself is what was lost: nothing was done, and whoever asks again gets it done."""
    wire.break_commit("answers", way)
    first = remember(hasty)
    assert (first.status_code, first.json()["code"]) == (503, "store_busy")
    wire.refusing = False
    assert remember_when_free(hasty).status_code == 200


def test_what_strangers_are_told_of_a_store_that_is_away(wire: PostgresProxy, caplog: pytest.LogCaptureFixture) -> None:
    """F18: whether it is ready, and which part is not: neither an address nor an error. Those are logged."""
    store = PostgresStore(wire.url, busy_seconds=HASTE)
    with Serving(store, auth=True, followers=False) as server, httpx2.Client(base_url=server.url) as client:
        assert client.get("/readyz").json() == {"status": "ready"}
        key = server.key()
        wire.hang_up()
        answers = [client.get("/readyz"), client.get("/v1/space", headers={"Authorization": f"Bearer {key}"})]
    store.close()
    assert [answer.status_code for answer in answers] == [503, 503]
    for answer in answers:
        assert not any(word in answer.text for word in ("127.0.0.1", str(wire.port), "everword_test", "postgres"))
    assert answers[0].json()["code"] == "store_busy"
    assert answers[0].json()["errors"] == [{"field": "store", "reason": "does not answer"}]
    assert str(wire.port) in caplog.text

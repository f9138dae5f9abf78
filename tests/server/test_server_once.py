"""G8: under an idempotency key a request is done once, whatever is removed meanwhile; its words do not stay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

from everword import AnswerGone, Client
from everword.memory import idempotency
from everword.stores.tables import TABLES
from everword.testing import FrozenClock, ScriptedLLM
from everword.testing.serving import Serving

HER = "/v1/conversations/hers/messages"
KEY = {"Idempotency-Key": "k"}
REPLY = "/v1/conversations/c/reply"
FACTS = "/v1/users/alex/facts"
REMEMBER = "/v1/users/alex/remember"
ASK = {"text": "Say it.", "user": "alex"}
CHESS = {"text": "Alex plays chess"}
BIKE = {"category": "possession", "key": "bike", "value": "red"}


def told(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def tell_hers(http: httpx2.Client) -> None:
    words = {"messages": [{"role": "user", "content": "at 7", "platform_id": "p1"}], "user": "zoe"}
    assert http.post(HER, json=words).status_code == 200


def edit_hers(http: httpx2.Client) -> httpx2.Response:
    return http.patch(f"{HER}/p1", json={"text": "at 8", "user": "zoe"})


REMOVALS: dict[str, Callable[[httpx2.Client], httpx2.Response]] = {
    "an edit": edit_hers,
    "a deletion": lambda http: http.delete(f"{HER}/p1", params={"user": "zoe"}),
    "of a conversation": lambda http: http.delete("/v1/conversations/hers", params={"user": "zoe"}),
    "an erasure": lambda http: http.post("/v1/users/zoe/erase"),
    "a move": lambda http: http.post("/v1/conversations/hers/move", json={"to": "other"}),
    "a merge": lambda http: http.post("/v1/users/zoe/merge", json={"into": "zoe2"}),
}


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.parametrize("removal", REMOVALS.values(), ids=list(REMOVALS))
@pytest.mark.checklist("G8")
def test_what_others_edit_or_remove_makes_no_request_run_again(
    store_url: str, removal: Callable[[httpx2.Client], httpx2.Response]
) -> None:
    model = ScriptedLLM(["First.", "Second.", "Third."])
    with (
        Serving(store_url, chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        tell_hers(http)
        requests = {
            "reply": (REPLY, ASK),
            "stream": (REPLY, ASK | {"stream": True}),
            "fact": (FACTS, BIKE),
            "remember": (REMEMBER, CHESS),
        }

        def send_all() -> list[httpx2.Response]:
            return [
                http.post(url, json=body, headers={"Idempotency-Key": key}) for key, (url, body) in requests.items()
            ]

        assert [answer.status_code for answer in send_all()] == [200] * len(requests)
        assert removal(http).status_code == 200
        assert [told(answer) for answer in send_all()] == [(410, "answer_gone")] * len(requests)
        assert told(http.post(REMEMBER, json={"text": "Alex skis"}, headers={"Idempotency-Key": "remember"})) == (
            422,
            "key_reused",
        )
        assert len(model.requests) == 2
        assert len(http.get("/v1/conversations/c/messages").json()["items"]) == 4
        assert len(http.get(FACTS, params={"history": True}).json()["items"]) == 1
        assert len(http.get("/v1/users/alex/profile").json()["statements"]) == 1


@pytest.mark.every_store
@pytest.mark.checklist("G8")
def test_what_was_erased_does_not_come_back_by_its_key(store_url: str) -> None:
    with Serving(store_url, followers=False) as server, httpx2.Client(base_url=server.url) as http:
        messages = "/v1/conversations/dm:alex/messages"
        named_otherwise = "/v1/conversations/chat/messages"
        words = {"messages": [{"role": "user", "content": "I play chess"}], "user": "alex"}
        assert http.post(REMEMBER, json=CHESS, headers=KEY).status_code == 200
        assert http.post(messages, json=words, headers=KEY).status_code == 200
        assert http.post(named_otherwise, json=words, headers=KEY).status_code == 200
        assert http.post("/v1/users/alex/erase").status_code == 200
        assert told(http.post(REMEMBER, json=CHESS, headers=KEY)) == (410, "answer_gone")
        assert told(http.post(messages, json=words, headers=KEY)) == (410, "answer_gone")
        assert [added["kept"] for added in http.post(named_otherwise, json=words, headers=KEY).json()] == ["erased"]
        new = {"messages": [{"role": "user", "content": "I am back"}], "user": "alex"}
        assert http.post(messages, json=new).status_code == 200
        assert told(http.post(messages, json=words, headers=KEY)) == (410, "answer_gone")
        rows = server.store.read(lambda tx: {name: tx.rows(name) for name in TABLES})
        assert "chess" not in str(rows)
        assert "alex" not in str(rows["answers"] + rows["answer_bodies"])


@pytest.mark.every_store
@pytest.mark.checklist("G8")
def test_messages_whose_conversation_was_moved_are_not_added_under_its_old_name(store_url: str) -> None:
    with Serving(store_url, followers=False) as server, httpx2.Client(base_url=server.url) as http:
        words = {"messages": [{"role": "user", "content": text} for text in ("one", "two")]}
        assert http.post("/v1/conversations/old/messages", json=words, headers=KEY).status_code == 200
        assert http.post("/v1/conversations/old/move", json={"to": "new"}).status_code == 200
        assert told(http.post("/v1/conversations/old/messages", json=words, headers=KEY)) == (410, "answer_gone")
        batches = {"batches": [{"conversation": "old", **words}]}
        assert http.post("/v1/messages", json=batches, headers=KEY).status_code == 200  # another request
        assert len(http.get("/v1/conversations/new/messages").json()["items"]) == 2
        assert len(http.get("/v1/conversations/old/messages").json()["items"]) == 2


@pytest.mark.checklist("G8")
def test_a_row_of_a_request_is_of_hashes_that_nobody_can_guess(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "a.db"), followers=False) as server, httpx2.Client(base_url=server.url) as http:
        sent = http.build_request("POST", REMEMBER, json=CHESS)
        assert http.send(sent).status_code == 200
        assert http.post(REMEMBER, json=CHESS, headers={"Idempotency-Key": "zoe-1"}).status_code == 200
        assert http.post("/v1/users/alex/erase").status_code == 200
        (row,) = server.store.read(lambda tx: tx.rows("answers"))
        assert b"zoe" not in json.dumps(row, default=str).encode()
        request = f"POST {REMEMBER}?\n".encode() + sent.content
        assert bytes(row["request"]) != sha256(request).digest()
        assert (row["status"], row["body"]) == (200, None)


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
@pytest.mark.checklist("G8")
def test_what_is_under_way_while_something_is_removed_is_done_once(store_url: str) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half, ", gate, "whole."], "Again."])
    with (
        Serving(store_url, chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url, timeout=120) as http,
        ThreadPoolExecutor(1) as threads,
    ):
        tell_hers(http)
        first = threads.submit(http.post, REPLY, json=ASK, headers=KEY)
        server.run(model.waiting.wait())
        assert http.post("/v1/users/zoe/erase").status_code == 200
        assert told(http.post(REPLY, json=ASK, headers=KEY)) == (409, "in_progress")

        async def open_gate() -> None:
            gate.set()

        server.run(open_gate())
        assert first.result(30).json()["text"] == "Half, whole."
        assert told(http.post(REPLY, json=ASK, headers=KEY)) == (410, "answer_gone")
        assert "whole" not in str(server.store.read(lambda tx: [*tx.rows("answers"), *tx.rows("answer_bodies")]))
        assert len(model.requests) == 1


@pytest.mark.checklist("G8")
def test_a_removal_that_is_repeated_is_answered_alike_whatever_comes_after(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "a.db"), followers=False) as server, httpx2.Client(base_url=server.url) as http:
        tell_hers(http)
        said = {"messages": [{"role": "user", "content": "at 7"}], "user": "kim"}
        assert http.post("/v1/conversations/kims/messages", json=said).status_code == 200
        document = {"value": {"a": 1}}
        url = "/v1/spaces/default/documents/d?namespace=n"
        kept = http.put(url, json=document, headers={"Idempotency-Key": "d"})
        first = http.post("/v1/users/zoe/erase", headers=KEY)
        assert first.json()["messages"] == 1
        assert http.post("/v1/users/kim/erase").status_code == 200
        assert http.post("/v1/users/zoe/erase", headers=KEY).json() == first.json()
        assert http.put(url, json=document, headers={"Idempotency-Key": "d"}).json() == kept.json()


MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("start", [timedelta(0), timedelta(hours=12), timedelta(days=1) - timedelta(microseconds=1)])
@pytest.mark.checklist("G8")
def test_a_key_counts_for_a_whole_day_at_any_hour(tmp_path: Path, start: timedelta) -> None:
    clock = FrozenClock(MIDNIGHT + start)
    with (
        Serving(str(tmp_path / "a.db"), followers=False, clock=clock) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        tell_hers(http)
        answers = [http.post(FACTS, json=BIKE, headers=KEY)]
        for pause in (timedelta(hours=1), timedelta(hours=22, minutes=59, seconds=59)):
            clock.advance(pause)
            answers.append(http.post(FACTS, json=BIKE, headers=KEY))
        assert [answer.json() for answer in answers] == [answers[0].json()] * 3
        assert edit_hers(http).status_code == 200
        assert told(http.post(FACTS, json=BIKE, headers=KEY)) == (410, "answer_gone")
        clock.advance(timedelta(hours=25))
        assert http.post(FACTS, json=BIKE, headers=KEY).status_code == 200
        assert len(server.store.read(lambda tx: tx.rows("answers"))) == 1


@pytest.mark.checklist("G8")
def test_a_server_whose_clock_is_behind_finds_the_key_too(tmp_path: Path) -> None:
    clock = FrozenClock(MIDNIGHT + timedelta(seconds=1))
    with (
        Serving(str(tmp_path / "a.db"), followers=False, clock=clock) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        first = http.post(FACTS, json=BIKE, headers=KEY)
        clock.advance(timedelta(seconds=-2))
        assert http.post(FACTS, json=BIKE, headers=KEY).json() == first.json()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.checklist("G8")
@pytest.mark.checklist("G12")
def test_servers_on_one_store_do_a_request_once_between_them(store_url: str) -> None:
    with Serving(store_url, followers=False) as one, Serving(store_url, followers=False) as other:

        def remember(url: str) -> int:
            return httpx2.post(f"{url}{REMEMBER}", json=CHESS, headers=KEY, timeout=60).status_code

        with ThreadPoolExecutor(4) as threads:
            statuses = set(threads.map(remember, [one.url, other.url] * 2))
        assert 200 in statuses <= {200, 409}
        for url in (one.url, other.url):
            assert remember(url) == 200
            assert len(httpx2.get(f"{url}/v1/users/alex/profile", timeout=60).json()["statements"]) == 1


@pytest.mark.checklist("G8")
def test_a_request_whose_server_died_is_not_done_again(tmp_path: Path) -> None:
    clock = FrozenClock()
    with (
        Serving(str(tmp_path / "a.db"), followers=False, clock=clock) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        request = http.build_request("POST", REMEMBER, json=CHESS, headers=KEY)
        content = f"POST {REMEMBER}?\n".encode() + request.content
        held = idempotency.build_keyed_request("default", "anonymous", "k", content)
        assert server.run(idempotency.claim(server.memory.runtime, held)).state == "new"
        assert told(http.send(request)) == (409, "in_progress")
        clock.advance(timedelta(minutes=11))
        assert told(http.send(request)) == (504, "commit_unknown")
        assert http.get("/v1/users/alex/profile").json()["statements"] == []
        # It was only slow, and is done now.
        server.run(idempotency.keep_answer(server.memory.runtime, held, 200, b"[]"))
        assert http.send(request).json() == []


@pytest.mark.checklist("G8")
def test_the_keys_of_older_days_are_removed_some_at_a_time(tmp_path: Path) -> None:
    clock = FrozenClock()
    with Serving(str(tmp_path / "a.db"), followers=False, clock=clock) as server:

        def claim(number: int) -> idempotency.KeyedRequest:
            request = idempotency.build_keyed_request("default", "a", str(number), b"x")
            assert server.run(idempotency.claim(server.memory.runtime, request)).state == "new"
            return request

        for number in range(idempotency.SWEPT + 50):
            done = claim(number)
            server.run(idempotency.keep_answer(server.memory.runtime, done, 200, b"[]"))
        clock.advance(timedelta(days=2))
        counts = []
        for number in (1_000, 1_001):
            claim(number)
            counts.append(server.store.read(lambda tx: [len(tx.rows(name)) for name in ("answers", "answer_bodies")]))
        assert counts == [[51, 50], [2, 0]]


@pytest.mark.checklist("G8")
def test_a_client_says_that_its_write_was_done_and_does_not_repeat_it(
    answering_once: Callable[[int, Any], tuple[str, list[str]]],
) -> None:
    url, keys = answering_once(410, {"code": "answer_gone", "detail": "done already"})
    with Client(url) as memory, pytest.raises(AnswerGone, match="done already"):
        memory.remember("Alex plays chess", user="alex", space="default")
    assert len(keys) == 1


@pytest.fixture
def answering_once() -> Iterator[Callable[[int, Any], tuple[str, list[str]]]]:
    """Starts a server that answers every request alike, and gives its address and the keys that it was sent."""
    servers: list[HTTPServer] = []

    def start(status: int, document: Any) -> tuple[str, list[str]]:
        keys: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                keys.append(self.headers["Idempotency-Key"])
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", keys

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()

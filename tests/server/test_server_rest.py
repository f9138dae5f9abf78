"""REST: what is asked twice is done once, lists come in pages, contexts have tags, replies come in pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from everword import EmbedderError, EverwordError, ModelBusy, ModelNonsense, ModelRefused, ModelTimeout
from everword.memory import idempotency
from everword.server.routes import conversations
from everword.server.routes.answers import PAGE_BYTES
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

MESSAGES = "/v1/conversations/c/messages"


def say(*words: str, **more: Any) -> dict[str, Any]:
    return {"user": "alex", "messages": [{"role": "user", "content": one} | more for one in words]}


@pytest.fixture
def model() -> ScriptedLLM:
    return ScriptedLLM(["First.", "Second.", "Third."], chunk=3)


@pytest.fixture
def server(tmp_path: Path, model: ScriptedLLM) -> Iterator[Serving]:
    with Serving(str(tmp_path / "memory.db"), chat=model, followers=False) as running:
        yield running


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as client:
        yield client


# -- once


def test_messages_with_the_same_key_are_kept_once(http: httpx2.Client) -> None:
    key = {"Idempotency-Key": "a"}
    first = http.post(MESSAGES, json=say("one", "two"), headers=key).json()
    again = http.post(MESSAGES, json=say("one", "two"), headers=key).json()
    assert [one["new"] for one in first + again] == [True, True, False, False]
    assert [one["message"] for one in first] == [one["message"] for one in again]
    other = http.post(MESSAGES, json=say("one", "three"), headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert len(http.post(MESSAGES, json=say("one"), headers={"Idempotency-Key": "b"}).json()) == 1
    assert [one["content"] for one in http.get(MESSAGES).json()["items"]] == ["one", "two", "one"]
    batch = {"batches": [{"conversation": "d", **say("x")}, {"conversation": "e", **say("y")}]}
    for new in (True, False):
        done = http.post("/v1/messages", json=batch, headers=key).json()
        assert [one["new"] for each in done for one in each] == [new, new]


def test_a_turn_with_the_same_key_asks_the_model_once(http: httpx2.Client, model: ScriptedLLM) -> None:
    ask = {"text": "Say it.", "user": "alex"}
    key = {"Idempotency-Key": "a"}
    first = http.post("/v1/conversations/c/reply", json=ask, headers=key)
    again = http.post("/v1/conversations/c/reply", json=ask, headers=key)
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    other = http.post("/v1/conversations/c/reply", json=ask | {"text": "Other."}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    streamed = [http.post("/v1/conversations/c/reply", json=ask | {"stream": True}, headers={"Idempotency-Key": "s"})]
    streamed.append(
        http.post("/v1/conversations/c/reply", json=ask | {"stream": True}, headers={"Idempotency-Key": "s"})
    )
    assert [whole(one.text) for one in streamed] == ["Second.", "Second."]
    assert len(model.requests) == 2
    assert len(http.get(MESSAGES).json()["items"]) == 4


def test_a_key_whose_request_is_under_way_waits_and_one_that_failed_may_try_again(server: Serving) -> None:
    with httpx2.Client(base_url=server.url) as http:
        ask = {"text": "Alex plays chess"}
        url = "/v1/users/alex/remember"
        request = http.build_request("POST", url, json=ask)
        # The same claim that a request which is being worked on has made.
        content = f"POST {url}?\n".encode() + request.content
        held = idempotency.build_keyed_request("default", "anonymous", "k", content)
        assert server.run(idempotency.claim(server.memory.runtime, held)).state == "new"
        busy = http.post(url, content=request.content, headers=request.headers | {"Idempotency-Key": "k"})
        assert (busy.status_code, busy.json()["code"], busy.headers["Retry-After"]) == (409, "in_progress", "1")
        server.run(idempotency.release_claim(server.memory.runtime, held))
        done = http.post(url, content=request.content, headers=request.headers | {"Idempotency-Key": "k"})
        assert done.status_code == 200
        failed = [http.post(url, json={"text": ""}, headers={"Idempotency-Key": "f"}).status_code for _ in range(2)]
        assert failed == [422, 422]


@pytest.mark.every_store
def test_what_was_answered_is_erased_with_the_person(store_url: str) -> None:
    with Serving(store_url, followers=False) as server, httpx2.Client(base_url=server.url) as http:
        key = {"Idempotency-Key": "k"}
        assert http.post("/v1/users/alex/remember", json={"text": "Alex plays chess"}, headers=key).status_code == 200
        assert b"chess" in server.store.read(lambda tx: tx.rows("answer_bodies"))[0]["body"]
        assert http.post("/v1/users/alex/erase").status_code == 200
        assert "chess" not in str(server.store.read(lambda tx: [*tx.rows("answers"), *tx.rows("answer_bodies")]))


# -- pages


def test_lists_come_in_pages(http: httpx2.Client) -> None:
    http.post(MESSAGES, json=say(*(f"number {n}" for n in range(25))))
    turns: list[list[int]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = http.get(MESSAGES, params={"limit": 10} | ({"cursor": cursor} if cursor else {})).json()
        turns.append([one["turn"] for one in page["items"]])
        cursor = page["next"]
    assert turns == [list(range(16, 26)), list(range(6, 16)), list(range(1, 6))]
    for name in "dab":
        http.post(f"/v1/conversations/{name}/messages", json=say("hello"))
    first = http.get("/v1/conversations?limit=2").json()
    http.post("/v1/conversations/a/messages", json=say("hello again"))
    rest = http.get("/v1/conversations", params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == ["b", "a", "d", "c"]
    assert rest["next"] is None or http.get("/v1/conversations", params={"cursor": rest["next"]}).json()["items"] == []
    assert http.get("/v1/conversations?limit=1").json()["items"][0]["id"] == "a"
    assert http.get("/v1/conversations?cursor=a").status_code == 422
    for n in range(3):
        http.post(f"/v1/users/u{n}/names", json={"name": f"Name {n}"})
    pages = [http.get("/v1/people?limit=2").json()]
    pages.append(http.get("/v1/people", params={"limit": 2, "cursor": pages[0]["next"]}).json())
    assert [one["id"] for page in pages for one in page["items"]] == ["u0", "u1", "u2"]
    assert pages[1]["next"] is None
    assert http.get("/v1/people?cursor=gone").status_code == 410
    assert http.get(f"{MESSAGES}?cursor=x").status_code == 422
    assert http.get(f"{MESSAGES}?limit=0").status_code == 422


def test_a_page_of_long_messages_ends_before_it_is_as_large_as_all_of_them(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PAGE_BYTES == 8 << 20
    monkeypatch.setattr(conversations, "PAGE_BYTES", PAGE_BYTES // 20)
    for _ in range(4):
        assert http.post(MESSAGES, json=say(*["x" * 12_500] * 20)).status_code == 200
    first = http.get(MESSAGES, params={"limit": 1_000}).json()
    assert [one["turn"] for one in first["items"]] == list(range(31, 81))
    rest = http.get(MESSAGES, params={"limit": 1_000, "cursor": first["next"]}).json()
    assert [one["turn"] for one in rest["items"]] == list(range(1, 31))
    assert rest["next"] is None


# -- contexts


def test_a_context_that_has_not_changed_is_not_sent_again(http: httpx2.Client) -> None:
    http.post(MESSAGES, json=say("I prefer Python."))
    asked = {"text": "Which language?", "user": "alex", "budget": "compact"}
    first = http.get("/v1/conversations/c/context", params=asked)
    tag = first.headers["ETag"]
    same = http.get("/v1/conversations/c/context", params=asked, headers={"If-None-Match": f'"other", {tag}'})
    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    assert first.json()["receipt"]["budget"]["total"] == 8_000
    assert http.post("/v1/conversations/c/context", json=asked).json() == first.json()
    http.post(MESSAGES, json=say("No, I prefer Rust now."))
    changed = http.get("/v1/conversations/c/context", params=asked, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["ETag"] != tag) == (200, True)


# -- replies


def events(text: str) -> list[tuple[str, Any]]:
    """Server-sent events, as a browser reads them."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def whole(text: str) -> str:
    told = events(text)
    assert told[-1][0] == "done"
    assert "".join(data["text"] for name, data in told if name == "text") == told[-1][1]["text"]
    return str(told[-1][1]["text"])


def test_a_reply_comes_in_pieces(http: httpx2.Client) -> None:
    ask = {"text": "Say it.\nOn two lines.", "user": "alex", "stream": True}
    with http.stream("POST", "/v1/conversations/c/reply", json=ask) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = events("".join(answer.iter_text()))
    assert [name for name, _ in told] == ["text", "text", "done"]
    assert [one["role"] for one in http.get(MESSAGES).json()["items"]] == ["user", "assistant"]


def test_a_model_that_fails_is_a_problem_before_the_stream_and_an_event_in_it(tmp_path: Path) -> None:
    model = ScriptedLLM([ModelBusy("try later"), ["Half a ", ModelBusy("try later")], ModelBusy("try later")])
    ask = {"text": "Say it.", "user": "alex", "stream": True}
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        at_once = http.post("/v1/conversations/c/reply", json=ask, headers={"Idempotency-Key": "k"})
        assert (at_once.status_code, at_once.json()["code"], at_once.headers["Retry-After"]) == (503, "model_busy", "1")
        halfway = http.post("/v1/conversations/c/reply", json=ask, headers={"Idempotency-Key": "k"})
        assert [name for name, _ in events(halfway.text)] == ["text", "error"]
        assert events(halfway.text)[-1][1]["status"] == 503
        failed = http.post("/v1/conversations/c/reply", json=ask | {"stream": False})
        assert failed.status_code == 503
        kept = [one["content"] for one in http.get(MESSAGES).json()["items"]]
        assert kept == ["Say it.", "Half a", "Say it."]  # the same key: the question is there once


@pytest.mark.parametrize(
    "error", [ModelBusy, ModelRefused, ModelTimeout, ModelNonsense, EmbedderError], ids=lambda kind: kind.__name__
)
@pytest.mark.checklist("F18")
def test_no_problem_names_a_models_address_or_repeats_what_it_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: type[EverwordError]
) -> None:
    words = "m at http://10.0.0.7:8000/v1 refused, saying 'I keep bees'"
    ask = {"text": "Say it.", "user": "alex"}
    with (
        Serving(str(tmp_path / "a.db"), chat=ScriptedLLM([error(words), [error(words)]]), followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        answers = [http.post("/v1/conversations/c/reply", json=ask | {"stream": stream}) for stream in (False, True)]
    for told in (*(answer.text for answer in answers), caplog.text):
        assert "10.0.0.7" not in told
        assert "bees" not in told


def test_whoever_stops_listening_leaves_what_they_heard(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half of it, ", gate, "and the rest."]])
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        ask = {"text": "Tell me.", "stream": True}
        with http.stream("POST", "/v1/conversations/c/reply", json=ask) as answer:
            assert "Half of it" in next(text for text in answer.iter_text() if text)
        for _ in range(1_000):
            kept = http.get(MESSAGES).json()["items"]
            if len(kept) == 2:
                break
        assert [one["content"] for one in kept] == ["Tell me.", "Half of it,"]
        assert kept[1]["metadata"]["everword"]["partial"] is True


# -- problems, and the description


def test_every_problem_is_a_document(http: httpx2.Client) -> None:
    wrong = {
        "GET /nowhere": 404,
        "DELETE /v1/search": 405,
        "GET /v1/users/alex/facts?category=nothing": 422,
        "GET /v1/users/alex/facts/f/why": 404,
        f"GET {MESSAGES}?user={'x' * 300}": 422,
        "GET /v1/conversations/a%00b/messages": 422,
        "GET /v1/conversations/a%1fb/messages": 422,
    }
    for route, status in wrong.items():
        answer = http.request(*route.split(" ", 1))
        told = answer.json()
        assert (answer.status_code, told["status"], told["type"]) == (status, status, "about:blank"), route
        assert answer.headers["content-type"] == "application/problem+json"
        assert told["title"]
        assert told["detail"]
        assert answer.headers["X-Request-Id"]
    low = http.post("/v1/search", json={"query": "databases", "floor": -0.5})
    assert (low.status_code, [one["field"] for one in low.json()["errors"]]) == (422, ["body.floor"])
    bad = http.post("/v1/search", json={"query": 7, "wrong": "a secret word"})
    assert {one["field"] for one in bad.json()["errors"]} == {"body.query", "body.wrong"}
    assert "a secret word" not in bad.text
    assert http.post("/v1/search", content=b"{", headers={"Content-Type": "application/json"}).status_code == 422
    nested = b'{"query": ' + b"[" * 100_000 + b"}"
    assert http.post("/v1/search", content=nested, headers={"Content-Type": "application/json"}).status_code in (
        400,
        422,
    )
    lone = http.post("/v1/search", content=b'{"query": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert lone.status_code == 422


def test_whatever_an_id_is_made_of_it_is_one(http: httpx2.Client) -> None:
    ids = ["a/b", "a b?c#d", "🙂", "über", "%2F", "a%b", "..%2f", "a//b", "日本"]
    for id in ids:
        added = http.post(f"/v1/conversations/{quote(id, safe='')}/messages", json=say("hello"))
        assert added.json()[0]["message"]["conversation"] == id
    assert {one["id"] for one in http.get("/v1/conversations").json()["items"]} == set(ids)


def test_the_description_is_complete(http: httpx2.Client) -> None:
    document = http.get("/openapi.json").json()
    text = json.dumps(document)
    assert "HTTPValidationError" not in text
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(names) == len(set(names))
    for path, item in document["paths"].items():
        for method, operation in item.items():
            where = f"{method} {path}"
            assert operation.get("description"), where
            assert operation["tags"], where
            for status in ("401", "403", "422", "429", "500", "503"):
                assert status in operation["responses"], where
            if path.startswith("/v1/"):
                assert operation["security"], where
    requests = [schema for name, schema in document["components"]["schemas"].items() if name.endswith("In")]
    assert all(schema["additionalProperties"] is False for schema in requests)
    without = [schema["title"] for schema in requests if not schema.get("examples")]
    assert set(without) <= {"UserIn", "BatchesIn"}

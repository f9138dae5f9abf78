"""A stranger at the door: whatever is asked, however wrongly, the answer has its shape and nothing is half done."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from everword import AsyncMemory
from everword.memory import idempotency
from everword.ports import Request
from everword.server import ServerOptions
from everword.server.app import create_app
from everword.testing import FrozenClock, ScriptedLLM
from everword.testing.serving import Serving

MESSAGES = "/v1/conversations/c/messages"
JSON = {"Content-Type": "application/json"}
PAGE = "https://app.example"
SECRET = "the vault opens at seven"
SECURITY = ("X-Content-Type-Options", "X-Frame-Options", "Content-Security-Policy", "Cache-Control", "X-Request-Id")


def say(*words: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": one} for one in words]}


def broken(request: Request) -> str:
    raise KeyError(SECRET)  # what nobody foresaw


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("hostile") / "memory.db")
    options = ServerOptions(origins=(PAGE,))
    with Serving(store, chat=ScriptedLLM(default=broken), followers=False, options=options) as running:
        yield running


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as client:
        yield client


def told(answer: httpx2.Response) -> tuple[int, str]:
    """A problem's status and code, once it is one."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document = answer.json()
    assert (document["status"], document["type"]) == (answer.status_code, "about:blank")
    assert document["title"]
    assert document["detail"]
    return answer.status_code, document["code"]


# -- once


def test_a_key_that_comes_with_more_or_other_messages_keeps_none_of_them(http: httpx2.Client) -> None:
    path, key = "/v1/conversations/once/messages", {"Idempotency-Key": "a"}
    assert http.post(path, json=say("one", "two"), headers=key).status_code == 200
    for words in (["one", "two", "three"], ["other", "two"], ["other", "two", "three"], ["two", "one", "new", "newer"]):
        assert told(http.post(path, json=say(*words), headers=key)) == (422, "key_reused"), words
        batch = {"batches": [{"conversation": "once2", **say("one")}]}
        assert http.post("/v1/messages", json=batch, headers=key).status_code == 200
        more = {"batches": [{"conversation": "new", **say("x")}, {"conversation": "once2", **say("one", *words)}]}
        assert told(http.post("/v1/messages", json=more, headers=key)) == (422, "key_reused"), words
    assert [one["content"] for one in http.get(path).json()["items"]] == ["one", "two"]
    assert [one["content"] for one in http.get("/v1/conversations/once2/messages").json()["items"]] == ["one"]
    assert http.get("/v1/conversations/new/messages").json()["items"] == []
    again = http.post(path, json=say("one", "two"), headers=key).json()
    assert [one["new"] for one in again] == [False, False]


def test_two_who_come_at_once_with_one_key_are_one(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half, ", gate, "whole."]])
    ask, key = {"text": "Say it."}, {"Idempotency-Key": "k"}
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url, timeout=120) as http,
        ThreadPoolExecutor(1) as threads,
    ):
        first = threads.submit(http.post, "/v1/conversations/c/reply", json=ask, headers=key)
        server.run(model.waiting.wait())
        second = http.post("/v1/conversations/c/reply", json=ask, headers=key)
        assert told(second) == (409, "in_progress")
        assert second.headers["Retry-After"] == "1"
        server.run(opened(gate))
        assert first.result(30).json()["text"] == "Half, whole."
        assert http.post("/v1/conversations/c/reply", json=ask, headers=key).json() == first.result().json()
        assert len(http.get(MESSAGES).json()["items"]) == 2


async def opened(gate: asyncio.Event) -> None:
    gate.set()


@pytest.mark.checklist("F18")
def test_an_erasure_that_is_asked_for_again_answers_alike(http: httpx2.Client) -> None:
    """Whoever lost the answer is not told that nothing was erased."""
    words = {"messages": [{"role": "user", "content": "my secret", "author": "zoe"}]}
    assert http.post("/v1/conversations/zoes/messages", json=words).status_code == 200
    answers = [http.post("/v1/users/zoe/erase", headers={"Idempotency-Key": "e"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["messages"] == 1
    assert told(http.post("/v1/users/zoe/erase", headers={"Idempotency-Key": "other"})) == (404, "not_found")


@pytest.mark.checklist("F18")
def test_what_was_begun_before_an_erasure_is_done_once_and_its_answer_not_kept(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half, ", gate, "whole."]])
    ask, key = {"text": "Say it."}, {"Idempotency-Key": "k"}
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url, timeout=120) as http,
        ThreadPoolExecutor(1) as threads,
    ):
        words = {"messages": [{"role": "user", "content": "my secret", "author": "zoe"}]}
        assert http.post(MESSAGES, json=words).status_code == 200
        first = threads.submit(http.post, "/v1/conversations/other/reply", json=ask, headers=key)
        server.run(model.waiting.wait())
        assert http.post("/v1/users/zoe/erase").status_code == 200
        assert told(http.post("/v1/conversations/other/reply", json=ask, headers=key)) == (409, "in_progress")
        server.run(opened(gate))
        assert first.result(30).json()["text"] == "Half, whole."
        assert "whole" not in str(server.store.read(lambda tx: [*tx.rows("answers"), *tx.rows("answer_bodies")]))


def test_an_answer_is_kept_for_a_day_and_a_claim_whose_holder_died_is_not_done_again(tmp_path: Path) -> None:
    clock = FrozenClock()
    with (
        Serving(str(tmp_path / "a.db"), followers=False, clock=clock) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        url, key = "/v1/users/alex/names", {"Idempotency-Key": "k"}

        def forget() -> httpx2.Response:
            return http.post("/v1/users/alex/forget", json={"what": "nothing at all"}, headers=key)

        assert http.post(url, json={"name": "Al"}).status_code == 200
        seen = [forget().headers.get("Idempotent-Replayed") for _ in range(2)]
        clock.advance(timedelta(hours=49))
        seen.append(forget().headers.get("Idempotent-Replayed"))
        assert seen == [None, "true", None]
        held = idempotency.build_keyed_request("default", "anonymous", "d", b'POST /v1/users/alex/undo?\n{"id":"x"}')
        assert server.run(idempotency.claim(server.memory.runtime, held)).state == "new"
        assert server.run(idempotency.claim(server.memory.runtime, held)).state == "busy"
        clock.advance(timedelta(minutes=11))
        assert server.run(idempotency.claim(server.memory.runtime, held)).state == "unknown"


def test_whoever_hung_up_may_ask_again_under_the_same_key(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedLLM([["Half of it, ", gate], "All of it."])
    ask, key = {"text": "Tell me.", "stream": True}, {"Idempotency-Key": "k"}
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        with http.stream("POST", "/v1/conversations/c/reply", json=ask, headers=key) as answer:
            assert "Half" in next(text for text in answer.iter_text() if text)
        for _ in range(1_000):
            again = http.post("/v1/conversations/c/reply", json=ask, headers=key)
            if again.status_code != 409:
                break
        assert "All of it." in again.text
        said = [one["content"] for one in http.get(MESSAGES).json()["items"]]
        assert said == ["Tell me.", "Half of it,", "All of it."]


# -- bodies


def test_a_body_that_cannot_be_read_says_why(http: httpx2.Client) -> None:
    def sent(body: bytes, kind: str | None = "application/json") -> httpx2.Response:
        return http.post("/v1/search", content=body, headers={} if kind is None else {"Content-Type": kind})

    good = b'{"query": "x"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
        answer = sent(good, kind)
        assert told(answer) == (415, "media_type"), kind
        assert "application/json" in answer.json()["detail"]
    for kind in ("application/json; charset=utf-8", "application/vnd.any+json", "APPLICATION/JSON"):
        assert sent(good, kind).status_code == 200, kind
    broken = sent(b'{"query": ')
    assert told(broken) == (422, "invalid_input")
    assert broken.json()["errors"] == [{"field": "body", "reason": "is not JSON: Expecting value (at character 11)"}]
    for body in (
        b'{"query": "\xff"}',
        '{"query": "ü"}'.encode("latin-1"),
        b"\x1f\x8b\x08",
        b'{"limit": %s}' % (b"1" * 5000),
    ):
        assert told(sent(body)) == (400, "bad_request"), body[:20]
        assert sent(body).json()["detail"].startswith("the request body ")
    for body in (b'{"query": ' + b"[" * 100_000, b'{"query": "x", "y": ' + b"[" * 150 + b"]" * 150 + b"}"):
        assert told(sent(body)) == (400, "bad_request")
        assert "nested deeper than 100 levels" in sent(body).json()["detail"]
    assert "more than 1,000,000 values" in sent(b"[" + b"1," * 1_100_000 + b"1]").json()["detail"]
    assert told(sent('{"query": "x"}'.encode("utf-16"))) == (400, "bad_request")
    assert told(sent(b"")) == (422, "invalid_input")
    assert told(sent(b"[1]")) == (422, "invalid_input")
    assert told(sent(b"x" * (9 << 20))) == (413, "too_large")


def test_what_was_kept_can_be_read_again_however_deep_it_is_nested(http: httpx2.Client) -> None:
    for depth in (62, 63, 64, 96, 97, 480):
        nested = "[" * depth + "]" * depth
        body = f'{{"messages": [{{"role": "user", "content": "x", "metadata": {{"a": {nested}}}}}]}}'
        path = f"/v1/conversations/deep{depth}/messages"
        kept = http.post(path, content=body, headers=JSON)
        read = http.get(path)
        assert read.status_code == 200, depth
        assert len(read.json()["items"]) == (kept.status_code == 200), depth
        assert kept.status_code == (200 if depth < 64 else 422 if depth < 97 else 400), depth
        assert http.get("/v1/export", params={"conversation": f"deep{depth}"}).text.count("\n") == len(
            read.json()["items"]
        )


# -- addresses and methods


def test_an_address_that_is_not_text_is_refused_and_not_guessed(http: httpx2.Client) -> None:
    for address in (
        "/v1/conversations/%ff/messages",
        "/v1/conversations/a%2Fb%C3/messages",
        "/v1/conversations?user=%fe",
        "/v1/users/%ed%a0%80/facts",
    ):
        assert told(http.get(address)) == (400, "bad_request"), address
    assert told(http.post("/v1/conversations/%ff%fe/messages", json=say("x"))) == (400, "bad_request")
    assert http.get("/v1/conversations/%C3%BC/messages?user=%F0%9F%99%82").status_code == 200


def test_a_slash_too_many_leads_nowhere(http: httpx2.Client) -> None:
    """A redirect would be built from the Host header, and over http: a key would go where nobody meant it to."""
    for address in ("/v1/conversations/", "/healthz/", "/v1/search/"):
        assert told(http.get(address)) == (404, "no_route"), address


def test_head_is_answered_as_get_without_the_body(server: Serving, http: httpx2.Client) -> None:
    http.post(MESSAGES, json=say("hello"))
    for path in ("/healthz", "/readyz", "/openapi.json", MESSAGES, "/v1/export", "/v1/users/a/facts/x/why", "/nowhere"):
        head, get = http.head(path), http.get(path)
        assert (head.status_code, head.content) == (get.status_code, b""), path
        same = ("content-type", "content-length", "x-frame-options")
        assert [head.headers.get(name) for name in same] == [get.headers.get(name) for name in same], path
    assert told(http.get("/v1/search")) == (405, "method")
    assert http.head("/v1/search").status_code == 405
    # On one connection, whose next answer begins where this one ended.
    with socket.create_connection(("127.0.0.1", server.port)) as wire:
        wire.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        heard = b"".join(iter(lambda: wire.recv(65536), b""))
    assert [heard.count(part) for part in (b"HTTP/1.1 200 OK", b'{"status":"ok"}')] == [2, 1]


def test_a_method_that_is_not_there_names_those_that_are(http: httpx2.Client) -> None:
    for method, path, allowed in (
        ("DELETE", MESSAGES, "GET, HEAD, POST"),
        ("POST", "/v1/spaces/s/documents/k", "DELETE, GET, HEAD, PUT"),
        ("OPTIONS", "/v1/search", "POST"),
        ("PATCH", "/healthz", "GET, HEAD"),
        ("ANYTHING", "/v1/search", "POST"),
    ):
        answer = http.request(method, path)
        assert told(answer) == (405, "method")
        assert answer.headers["Allow"] == allowed, path


def test_a_tag_is_known_again_however_it_comes_back(http: httpx2.Client) -> None:
    http.post(MESSAGES, json=say("I prefer Python."))
    address = "/v1/conversations/c/context?text=Which"
    tag = http.get(address).headers["ETag"]
    for given in (tag, f"W/{tag}", f'"x" , W/{tag}', "*"):
        answer = http.get(address, headers={"If-None-Match": given})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag), given
    for given in ("", '"x"', tag.strip('"'), 'W/"x"'):
        assert http.get(address, headers={"If-None-Match": given}).status_code == 200, given


def test_a_cursor_of_elsewhere_leads_nowhere(http: httpx2.Client) -> None:
    """One of another space, of another list, or made up: it names nothing here, and tells nothing of there."""
    said = {"user": "ann", "messages": [{"role": "user", "content": "My name is Ann. I live in Oslo. I have a cat."}]}
    for space in ("one", "two"):
        http.post("/v1/conversations/c/messages", json=said, params={"space": space})
        http.post("/v1/users/ann/names", json={"name": "Annie"}, params={"space": space})
        http.post("/v1/users/bob/names", json={"name": "Bobby"}, params={"space": space})
    theirs = http.get("/v1/people", params={"space": "one", "limit": 1}).json()["next"]
    assert theirs == "ann"
    here = {"space": "three", "cursor": theirs}
    for path in ("/v1/people", "/v1/users/ann/facts", "/v1/conversations/c/topics"):
        assert told(http.get(path, params=here)) == (410, "cursor_over"), path
    assert told(http.get("/v1/conversations", params=here)) == (422, "invalid_input")
    talks = http.get("/v1/conversations", params={"space": "one"}).json()["items"]
    place = f"{int(datetime.fromisoformat(talks[-1]['last_message_at']).timestamp()) + 1}000000.c"
    elsewhere = http.get("/v1/conversations", params={"space": "three", "cursor": place})
    assert elsewhere.json() == {"items": [], "next": None}
    for cursor in ("-1", "0", "1e3", "９", "9" * 20, "x", " 1"):
        assert told(http.get(MESSAGES, params={"cursor": cursor})) == (422, "invalid_input"), cursor
    for path in ("/v1/conversations", "/v1/people", MESSAGES):
        assert told(http.get(path, params={"cursor": "x" * 300})) == (422, "invalid_input"), path
        assert http.get(path, params={"cursor": "\x00"}).status_code in (410, 422), path


# -- browsers


def test_every_answer_keeps_browsers_careful(http: httpx2.Client) -> None:
    ask = {"text": "hi"}
    address = "/v1/conversations/c/context?text=x"
    answers = [
        http.get("/nowhere"),
        http.delete("/v1/search"),
        http.post("/v1/search", content=b"{", headers=JSON),
        http.post("/v1/search", content=b"x" * (9 << 20), headers=JSON),
        http.get("/healthz", headers={"Host": "evil.example"}),
        http.get("/v1/conversations/%ff/messages"),
        http.get("/v1/export"),
        http.get(address, headers={"If-None-Match": http.get(address).headers["ETag"]}),
        http.post("/v1/conversations/broken/reply", json=ask),
        http.post("/v1/conversations/broken/reply", json=ask | {"stream": True}),
        http.options("/v1/search", headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"}),
        http.options("/v1/search", headers={"Origin": "https://x.example", "Access-Control-Request-Method": "POST"}),
    ]
    assert [answer.status_code for answer in answers] == [404, 405, 422, 413, 403, 400, 200, 304, 500, 500, 200, 400]
    for answer in answers:
        assert [name for name in SECURITY if name not in answer.headers] == [], answer.request.url
        if answer.status_code >= 400:
            told(answer)
            assert SECRET not in answer.text


def test_a_page_that_is_named_may_send_and_read_every_header(server: Serving, http: httpx2.Client) -> None:
    source = Path(create_app.__code__.co_filename).parent
    paths = [*source.rglob("*.py"), *source.rglob("*.json")]
    written = "".join(path.read_text(encoding="utf-8") for path in paths)
    ours = set(re.findall(r'"(X-Everword-[A-Za-z-]+)"', written))
    assert len(ours) >= 6
    wanted = {*ours, "Authorization", "Idempotency-Key", "If-None-Match", "X-Request-Id", "traceparent"}
    wanted |= {"Mcp-Protocol-Version", "Last-Event-ID", "X-Stainless-Lang"}
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": ",".join(sorted(wanted)).lower()}
    before = http.options("/v1/search", headers=asked | {"Origin": PAGE})
    assert before.status_code == 200, before.text
    allowed = {name.strip().lower() for name in before.headers["Access-Control-Allow-Headers"].split(",")}
    assert {name.lower() for name in wanted} <= allowed
    assert "PUT" in before.headers["Access-Control-Allow-Methods"]
    for answer in (
        http.get("/healthz", headers={"Origin": PAGE}),
        http.post("/v1/conversations/b/reply", json={"text": "x"}, headers={"Origin": PAGE}),
    ):
        shown = {name.strip() for name in answer.headers["Access-Control-Expose-Headers"].split(",")}
        sent = {"ETag", "Retry-After", "Idempotent-Replayed", "X-Request-Id", "WWW-Authenticate"}
        assert sent | {"X-Everword-Conversation", "X-Everword-Tokens"} <= shown
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE, "of an error nobody foresaw, too"
    refused = http.options("/v1/search", headers=asked | {"Origin": "https://elsewhere.example"})
    assert told(refused) == (400, "origin")
    assert "access-control-allow-origin" not in refused.headers


# -- streams


def test_events_are_framed_whatever_is_said(tmp_path: Path) -> None:
    words = "a\nb\r\nc\rd\u2028e\u2029f\x85g\x0bh\n\nevent: done\ndata: x\n\n🙂 \ud83d end"
    model = ScriptedLLM([[*words]])
    with (
        Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        answer = http.post("/v1/conversations/c/reply", json={"text": "hi", "stream": True})
        # As the standard says: lines end at \n, \r or \r\n, and events at an empty line.
        lines = re.split(b"\r\n|\n|\r", answer.content)
        assert {line.partition(b":")[0] for line in lines} == {b"event", b"data", b""}
        data = [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]
        said = "".join(one["text"] for one in data[:-1])
        assert said == data[-1]["text"] == http.get(MESSAGES).json()["items"][-1]["content"]
        assert said == words.replace("\ud83d", "\ufffd")
        assert [line for line in lines if line.startswith(b"event: ")][-1] == b"event: done"
        assert lines.count(b"event: done") == 1


def test_every_route_is_counted_under_its_own_name_and_nothing_else(tmp_path: Path) -> None:
    """However many addresses and methods somebody invents, there are no more labels."""
    from everword.follow.model_calls import ActivityCounter

    counting = ActivityCounter()

    async def ask() -> None:
        app = create_app(AsyncMemory(str(tmp_path / "a.db"), followers=False, telemetry="off"), telemetry=counting)
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")
        async with app.router.lifespan_context(app), http:
            for n in range(20):
                await http.get(f"/invented/{n}")
                await http.request(f"INVENTED{n}", "/v1/search")
                await http.get(f"/v1/conversations/{n}/messages")
                await http.get(f"/mcp/{n}")

    asyncio.run(ask())
    kinds = {(one.kind, one.outcome) for one in counting.activities() if one.what == "request"}
    assert len(kinds) <= 6, kinds


# -- the description


def test_on_openais_routes_every_problem_is_described_in_openais_shape(http: httpx2.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    for path in ("/v1/models/{name}", "/v1/chat/completions", "/v1/embeddings"):
        for operation in paths[path].values():
            bad = {code: one["content"] for code, one in operation["responses"].items() if code >= "400"}
            assert {"400", "413", "415", "422", "500"} <= set(bad)
            assert {tuple(content) for content in bad.values()} == {("application/json",)}, path
    wrong = http.get("/v1/models/a%1fb")
    assert (wrong.status_code, wrong.headers["content-type"]) == (422, "application/json")
    assert wrong.json()["error"]["type"] == "invalid_request_error"

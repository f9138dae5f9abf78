"""The endpoint embedder against a real loopback server that answers well, badly, late or not at all."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from everword.errors import EmbedderError, InvalidInput, MissingExtra
from everword.models.embedding.endpoint import EndpointEmbedder
from everword.ports import Embedder, Vectors

pytest.importorskip("openai")

KEY = "sk-very-secret-key"
Rows = list[dict[str, Any]]


def vector(text: str) -> list[float]:
    """Any function of the text that tells texts apart."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 3.0, -1.0]


@dataclass
class Service:
    """What the server does: `bend` changes an honest answer; `statuses` are used up first, one a request."""

    bend: Callable[[Rows], Any] = lambda rows: rows
    statuses: list[int] = field(default_factory=list)
    body: bytes | None = None
    content_type: str = "application/json"
    hang: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def answer(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        if self.hang:
            self.released.wait()
        if self.statuses:
            status = self.statuses.pop(0)
            return status, json.dumps({"error": {"message": f"no luck with {KEY} today"}}).encode()
        if self.body is not None:
            return 200, self.body
        rows = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(asked["input"])]
        reply = {"object": "list", "model": asked["model"], "data": self.bend(rows), "usage": {}}
        return 200, json.dumps(reply).encode()


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.requests.append(asked | {"path": self.path})
            service.keys.add(self.headers["Authorization"])
            status, body = service.answer(asked)
            self.send_response(status)
            self.send_header("Content-Type", service.content_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After-Ms", "1")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up waiting is part of the test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.released.set()
            server.shutdown()
            thread.join()


def embed(service: Service, *texts: str, retries: int = 0, **options: Any) -> Vectors:
    async def once() -> Vectors:
        embedder = EndpointEmbedder(service.url, KEY, "some-model", retries=retries, **options)
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.close()

    with serving(service):
        return asyncio.run(once())


def refused(service: Service, *texts: str, retries: int = 0, **options: Any) -> str:
    with pytest.raises(EmbedderError) as caught:
        embed(service, *(texts or ("hello", "there")), retries=retries, **options)
    message = str(caught.value)
    assert "some-model at http://127.0.0.1:" in message
    assert KEY not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def unit(*texts: str) -> Vectors:
    rows = np.array([vector(text) for text in texts])
    expected: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return expected


def test_batches_keep_their_order_and_are_normalised() -> None:
    service = Service()
    texts = [f"text {'x' * n}" for n in range(10)]
    assert np.allclose(embed(service, *texts, width=4, batch=4), unit(*texts))
    assert [len(asked["input"]) for asked in service.requests] == [4, 4, 2]
    assert {asked["path"] for asked in service.requests} == {"/v1/embeddings"}
    assert {asked["encoding_format"] for asked in service.requests} == {"float"}
    assert service.keys == {f"Bearer {KEY}"}


def test_a_shuffled_answer_is_put_in_order() -> None:
    assert np.allclose(
        embed(Service(bend=lambda rows: rows[::-1]), "one", "three", "seventeen"),
        unit("one", "three", "seventeen"),
    )


def test_blank_texts_are_not_sent() -> None:
    service = Service()
    vectors = embed(service, "", "word", " \n", width=4)
    assert [asked["input"] for asked in service.requests] == [["word"]]
    assert np.allclose(vectors[1], unit("word")[0])
    assert not vectors[[0, 2]].any()


def test_odd_texts_can_be_sent() -> None:
    vectors = embed(Service(), "half \ud83d a pair", "\x00 null", "我 👍", width=4)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_the_width_is_asked_once_and_then_named() -> None:
    async def use(url: str) -> None:
        embedder = EndpointEmbedder(url, KEY, "some-model")
        port: Embedder = embedder
        with pytest.raises(EmbedderError, match="ready"):
            _ = port.identity
        await embedder.ready()
        await embedder.ready()
        assert (port.width, port.identity) == (4, "endpoint/some-model/4")
        assert (await port.embed([])).shape == (0, 4)
        await port.close()

    with serving(Service()) as service:
        asyncio.run(use(service.url))
        assert len(service.requests) == 1


def test_a_failure_that_passes_is_tried_again() -> None:
    service = Service(statuses=[500, 429])
    assert np.allclose(embed(service, "word", width=4, retries=2), unit("word"))
    assert len(service.requests) == 3


def set_value(key: str, value: object) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[:-1], rows[-1] | {key: value}]


@pytest.mark.parametrize(
    ("bend", "complaint"),
    [
        (lambda rows: rows[1:], "1 vectors for 2 texts"),
        (lambda rows: rows * 2, "4 vectors for 2 texts"),
        (lambda rows: None, "no list of vectors"),
        (lambda rows: "nonsense", "no list of vectors"),
        (set_value("index", 0), "not numbered"),
        (set_value("index", 7), "not numbered"),
        (set_value("index", None), "not numbered"),
        (set_value("index", [1]), "not of numbers"),
        (set_value("embedding", [1.0, float("nan"), 0.0, 0.0]), "not finite"),
        (set_value("embedding", [1.0, float("inf"), 0.0, 0.0]), "not finite"),
        (set_value("embedding", [0.0, 0.0, 0.0, 0.0]), "only zeros"),
        (set_value("embedding", [1.0]), "unequal width"),
        (set_value("embedding", "AAAA"), "not of numbers"),
        (set_value("embedding", None), "not of numbers"),
        (lambda rows: [row | {"embedding": []} for row in rows], "not lists of numbers"),
        (lambda rows: [row | {"embedding": 1.0} for row in rows], "not lists of numbers"),
        (lambda rows: [1, 2], "not numbered"),
    ],
)
def test_a_lying_endpoint_is_refused(bend: Callable[[Rows], Any], complaint: str) -> None:
    message = refused(Service(bend=bend), width=4)
    assert complaint in message
    assert "check that the address is an OpenAI-compatible API" in message


def test_another_width_is_refused() -> None:
    assert "returned vectors of length 4, not 8. Set `width`" in refused(Service(), width=8)


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (400, "refused (HTTP 400);"),
        (401, "refused the key (HTTP 401); check the key"),
        (403, "refused the key (HTTP 403); check the key"),
        (404, "knows no such model or path"),
        (429, "too many requests or no credit left"),
        (500, "failed (HTTP 500);"),
    ],
)
def test_refusals_say_what_to_do_and_keep_the_key(status: int, complaint: str) -> None:
    assert complaint in refused(Service(statuses=[status]))


@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b"null", b"[]", b"{}"])
def test_answers_of_another_kind_are_refused(content_type: str, body: bytes) -> None:
    assert "OpenAI-compatible API" in refused(Service(body=body, content_type=content_type))


def test_a_server_that_hangs() -> None:
    assert "no answer in time" in refused(Service(hang=True), timeout=0.1)


def test_no_server() -> None:
    with serving(Service()) as gone:
        pass
    with pytest.raises(EmbedderError, match="cannot be reached"):
        asyncio.run(EndpointEmbedder(gone.url, KEY, "some-model", retries=0).embed(["hello"]))


def test_secrets_are_not_shown() -> None:
    embedder = EndpointEmbedder("https://user:pass-word@host.invalid/v1?token=abc", KEY, "some-model")
    shown = repr(embedder) + str(embedder)
    assert "https://host.invalid/v1" in shown
    assert not any(secret in shown for secret in (KEY, "pass-word", "abc"))
    asyncio.run(embedder.close())


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"base_url": "host/v1"}, "base_url"),
        ({"base_url": "http://host:port/v1"}, "base_url"),
        ({"base_url": "ftp://host"}, "base_url"),
        ({"batch": 0}, "batch"),
        ({"width": 0}, "width"),
    ],
)
def test_unusable_settings_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        EndpointEmbedder(**({"base_url": "http://host/v1", "key": KEY, "model": "some-model"} | options))


def test_without_the_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'everword\[openai\]'"):
        EndpointEmbedder("http://host/v1", KEY, "some-model")

"""A chat server on the loopback interface that does what a test tells it: answers well, badly, late or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
PATIENCE = 120.0  # seconds a broken test may hang; no passing test waits for it


@dataclass
class Service:
    """What the server does: one step a request, the last one again and again; and what it saw."""

    steps: Sequence[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    released: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Event = field(default_factory=threading.Event)
    time_passes: Callable[[], object] = lambda: None  # for the client: more than it has patience for
    url: str = ""

    def step(self) -> Step:
        return self.steps[min(len(self.requests), len(self.steps)) - 1]


class Exchange(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    service: Service

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.service.requests.append(asked)
        self.service.paths.append(self.path)
        self.service.keys.add(self.headers["Authorization"])
        try:
            self.service.step()(self)
        except ConnectionError:  # whoever leaves while something is being sent has hung up, too
            self.service.hung_up.set()
            self.close_connection = True

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def start(self, content_type: str = "text/event-stream") -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, data: object) -> None:
        self.chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def until_hung_up(self) -> None:
        """Blocks until the client closes the connection."""
        self.connection.settimeout(PATIENCE)
        if self.connection.recv(1) == b"":
            self.service.hung_up.set()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


Step = Callable[[Exchange], None]


@contextmanager
def serving(*steps: Step) -> Iterator[Service]:
    service = Service(steps)

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is part of the test."""

    class Handler(Exchange):
        pass

    Handler.service = service
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


def delta(text: object, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def says(content: object, usage: object = USAGE, finish: object = "stop") -> Step:
    """A whole answer."""
    message = {"role": "assistant", "content": content}
    reply = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
    return replies(json.dumps(reply).encode())


def replies(body: bytes) -> Step:
    return lambda exchange: exchange.send(200, body)


def streams(*pieces: object, usage: object = USAGE, finish: str | None = "stop", done: bool = True) -> Step:
    """An answer in pieces, as OpenAI sends them."""

    def step(exchange: Exchange) -> None:
        exchange.start()
        exchange.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})
        for piece in pieces:
            exchange.event(delta(piece))
        if finish:
            exchange.event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage:
            exchange.event({"choices": [], "usage": usage})
        if done:
            exchange.chunk(b"data: [DONE]\n\n")
        exchange.chunk(b"")

    return step


def sends(*chunks: bytes) -> Step:
    """A stream of just these bytes."""

    def step(exchange: Exchange) -> None:
        exchange.start()
        for chunk in (*chunks, b""):
            exchange.chunk(chunk)

    return step


def fails(status: int, message: str = "no luck", headers: dict[str, str] | None = None) -> Step:
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": None}}).encode()
    return lambda exchange: exchange.send(status, body, headers)


def unless(understood: Callable[[dict[str, Any]], bool], complaint: str, then: Step, status: int = 400) -> Step:
    """Refuses what it does not understand."""

    def step(exchange: Exchange) -> None:
        (then if understood(exchange.service.requests[-1]) else fails(status, complaint))(exchange)

    return step


def falls_silent(exchange: Exchange) -> None:
    """Says no more. That takes no time: the client's clock is moved on."""
    exchange.service.time_passes()
    exchange.service.released.wait(PATIENCE)


def waits_for_the_end(exchange: Exchange) -> None:
    """Says nothing until the client gives up."""
    exchange.until_hung_up()


def stays_open(*pieces: str) -> Step:
    """Says these, and then nothing until the client gives up."""

    def step(exchange: Exchange) -> None:
        exchange.start()
        for piece in pieces:
            exchange.event(delta(piece))
        exchange.until_hung_up()

    return step


def drops(*pieces: str) -> Step:
    """Breaks off after these, in the middle of the next."""

    def step(exchange: Exchange) -> None:
        exchange.start()
        for piece in pieces:
            exchange.event(delta(piece))
        exchange.wfile.write(b'ff\r\ndata: {"choi')
        exchange.close_connection = True

    return step


def endless(data: bytes, content_type: str = "text/event-stream") -> Step:
    """Sends this over and over until nobody listens."""

    def step(exchange: Exchange) -> None:
        exchange.start(content_type)
        while True:
            exchange.chunk(data)

    return step

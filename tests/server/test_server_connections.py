"""Who does not say what they want is not waited on: heads of requests have a time, bodies have a size."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from everword.server.connections import Connection
from everword.testing.serving import Serving

PATIENCE = 120.0
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setattr(Connection, "patience", 0.2)
    with Serving(str(tmp_path / "a.db"), followers=False) as running:
        yield running


def connected(server: Serving, *said: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    for part in said:
        made.sendall(part)
    return made


def answer(talk: socket.socket) -> bytes:
    """What comes until it is closed, or the whole of one short answer."""
    got = b""
    while part := talk.recv(1 << 16):
        got += part
        if b'"}' in got:
            break
    return got


@pytest.mark.parametrize("said", [b"", b"GET", HEAD], ids=["nothing", "a word", "half a head"])
def test_a_head_that_does_not_come_is_not_waited_for(server: Serving, said: bytes) -> None:
    with connected(server, said) as talk:
        assert answer(talk) == b""


def test_nor_is_the_next_one_on_the_same_connection(server: Serving) -> None:
    with connected(server, HEAD + b"\r\n") as talk:
        assert answer(talk).startswith(b"HTTP/1.1 200")
        talk.sendall(HEAD)
        assert answer(talk) == b""


def test_a_body_may_take_its_time(server: Serving) -> None:
    head = b"POST /v1/conversations/c/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    length = f"Connection: close\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
    with connected(server, head + length + BODY[:5]) as slow:
        with connected(server, HEAD) as silent:  # whose time begins later, and is over before
            assert answer(silent) == b""
        slow.sendall(BODY[5:])
        assert answer(slow).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "wrong",
    [
        b"Content-Length: 5\r\nContent-Length: 50\r\n",
        b"Content-Length: -5\r\n",
        b"Content-Length: " + b"9" * 5_000 + b"\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
    ],
    ids=["two lengths", "less than nothing", "more digits than a number has", "another coding"],
)
def test_a_length_that_is_none_is_refused(server: Serving, wrong: bytes) -> None:
    with connected(server, b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\n" + wrong + b"\r\nhello") as talk:
        assert answer(talk).split(b" ")[1] in (b"400", b"501")


def test_what_is_sent_after_an_answer_is_not_read_for_ever(server: Serving) -> None:
    """A body that was refused for its length, and comes all the same."""
    with connected(server, b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n") as talk:
        assert answer(talk).startswith(b"HTTP/1.1 413")
        with pytest.raises(OSError):  # noqa: PT012  until the server has hung up
            while True:
                talk.sendall(b"x" * 1_000)


def test_requests_that_are_sent_without_waiting_are_answered_in_order(server: Serving) -> None:
    search = b'{"query": "hello"}'
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    post = head + b"Content-Length: 18\r\n\r\n" + search
    last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with connected(server, HEAD + b"\r\n" + post + HEAD.replace(b"GET", b"HEAD") + b"\r\n" + last) as talk:
        got = b""
        while part := talk.recv(1 << 16):
            got += part
    assert re.findall(rb"HTTP/1\.1 (\d+)", got) == [b"200", b"200", b"200", b"404"]

"""A request that could be read in two ways is refused, and nothing after it on the connection is answered."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from everword.testing.serving import Serving

PATIENCE = 120.0
SMUGGLED = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"  # 404, if it is answered
LINE = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"query": "hello"}'
CHUNKED = LINE + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: 18\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("framing")
    with Serving(str(folder / "a.db"), followers=False) as running:
        yield running


def statuses(server: Serving, *sent: bytes) -> list[int]:
    """The statuses of all answers until the server closes the connection. The client closes its side last."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        for part in sent:
            client.sendall(part)
        received = b""
        while part := client.recv(1 << 16):
            received += part
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", received)]


LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HEADS = {
    "a length and a coding": LINE + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a coding and a length": LINE + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "a coding after its colon's spaces": LINE + LENGTH + b"Transfer-Encoding:\t chunked \r\n\r\n" + BODY,
    "two lengths that differ": LINE + LENGTH + b"Content-Length: 5\r\n\r\n" + BODY,
    "two lengths that agree": LINE + LENGTH + LENGTH + b"\r\n" + BODY,
    "a list of lengths": LINE + b"Content-Length: 18, 18\r\n\r\n" + BODY,
    "a length with a sign": LINE + b"Content-Length: +18\r\n\r\n" + BODY,
    "a length with an underscore": LINE + b"Content-Length: 1_8\r\n\r\n" + BODY,
    "a hexadecimal length": LINE + b"Content-Length: 0x12\r\n\r\n" + BODY,
    "no length": LINE + b"Content-Length:\r\n\r\n" + BODY,
    "two codings": LINE + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a list of codings": LINE + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a coding before chunked": LINE + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an empty item in the list": LINE + b"Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n",
    "another coding": LINE + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "identity": LINE + b"Transfer-Encoding: identity\r\n" + LENGTH + b"\r\n" + BODY,
    "a vertical tab before chunked": LINE + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a coding in HTTP/1.0": CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n",
    "a head with bare LF": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "one header with bare LF": LINE + b"X-A: b\n" + LENGTH + b"\r\n" + BODY,
    "an empty line with bare LF": LINE + LENGTH + b"\n" + BODY,
    "a bare CR in a value": LINE + b"X-A: b\rTransfer-Encoding: chunked\r\n" + LENGTH + b"\r\n" + BODY,
    "a folded line": LINE + b"X-A: b\r\n folded\r\n" + LENGTH + b"\r\n" + BODY,
    "a folded coding": LINE + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": LINE + b"Content-Length : 18\r\n\r\n" + BODY,
    "a space before the first header": b"GET /healthz HTTP/1.1\r\n Host: localhost\r\n\r\n",
    "NUL in a value": LINE + b"X-A: b\x00c\r\n" + LENGTH + b"\r\n" + BODY,
    "a control character in a value": LINE + b"X-A: b\x01c\r\n" + LENGTH + b"\r\n" + BODY,
    "NUL in a name": LINE + b"X\x00A: b\r\n" + LENGTH + b"\r\n" + BODY,
    "a header without a name": LINE + b": b\r\n" + LENGTH + b"\r\n" + BODY,
    "a line without a colon": LINE + b"chunked\r\n" + LENGTH + b"\r\n" + BODY,
    "two hosts": LINE + b"Host: elsewhere\r\n" + LENGTH + b"\r\n" + BODY,
    "no version": b"GET /healthz\r\nHost: localhost\r\n\r\n",
}
CHUNKS = {
    "with a sign": b"+12\r\n",
    "with an underscore": b"1_2\r\n",
    "with 0x": b"0x12\r\n",
    "with a space before it": b" 12\r\n",
    "with a space after it": b"12 \r\n",
    "that is empty": b"\r\n",
    "that is negative": b"-12\r\n",
    "larger than any": b"f" * 17 + b"\r\n",
    "with bare LF": b"12\n",
    "with an extension in two lines": b"12;a=\n\r\n",
    "with a bare CR in its extension": b"12;a=\rb\r\n",
    "with NUL in its extension": b"12;a=\x00\r\n",
    "with an extension that is too long": b"12;" + b"a" * 300 + b"\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_an_ambiguous_head_is_refused_and_nothing_after_it_is_answered(server: Serving, head: bytes) -> None:
    assert statuses(server, head + SMUGGLED + LAST) == [400]


@pytest.mark.parametrize("size", CHUNKS.values(), ids=CHUNKS)
def test_an_odd_size_of_a_chunk_is_refused_and_nothing_after_it_is_answered(server: Serving, size: bytes) -> None:
    assert statuses(server, CHUNKED + size + BODY + b"\r\n0\r\n\r\n" + SMUGGLED + LAST) == [400]


def test_a_chunk_ends_where_it_says(server: Serving) -> None:
    for footer in (b"\n", b"xx", b"\rx", b""):
        assert statuses(server, CHUNKED + b"12\r\n" + BODY + footer + b"0\r\n\r\n" + SMUGGLED + LAST) == [400]
    assert statuses(server, CHUNKED + b"12\r\n" + BODY + b"\r\n0\r\n\n" + SMUGGLED + LAST) == [400]
    assert statuses(server, CHUNKED + b"12\r\n" + BODY + b"\r\n0\r\nX-A: b\n\r\n" + SMUGGLED + LAST) == [400]


def test_what_is_ambiguous_after_a_good_request_is_refused(server: Serving) -> None:
    good = LINE + LENGTH + b"\r\n" + BODY
    assert statuses(server, good + HEADS["a length and a coding"] + SMUGGLED + LAST) == [200, 400]


def test_a_request_that_comes_in_parts_is_refused_as_well(server: Serving) -> None:
    head = HEADS["one header with bare LF"]
    assert statuses(server, head[:60], head[60:-30], head[-30:] + SMUGGLED + LAST) == [400]


def test_what_is_refused_says_what_to_send(server: Serving) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(HEADS["a length and a coding"])
        answer = b""
        while part := client.recv(1 << 16):
            answer += part
    assert b"connection: close" in answer.lower()
    assert b"Send one Content-Length, or Transfer-Encoding: chunked" in answer


def test_plain_requests_are_answered(server: Serving) -> None:
    """One length, or chunks, also with short extensions and trailers, in any case of letters."""
    for request in (
        LINE + LENGTH + b"\r\n" + BODY,
        LINE + b"Content-Length: 0018\r\n\r\n" + BODY,
        LINE.replace(b"Content-Type", b"CONTENT-TYPE")
        + b"transfer-encoding:Chunked\r\n\r\n12\r\n"
        + BODY
        + b"\r\n0\r\n\r\n",
        CHUNKED + b"A;a=b\r\n" + BODY[:10] + b"\r\n08\r\n" + BODY[10:] + b"\r\n0\r\nX-A: b\r\n\r\n",
        LINE + b"X-A: \xc3\xbc\tb\r\n" + LENGTH + b"\r\n" + BODY,
    ):
        assert statuses(server, request + SMUGGLED + LAST) == [200, 404, 200]

"""F15: a body that comes slowly, or never, takes nothing from others: it has a time, and a rate, and it gives way."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import llm_server
import pytest
from prepared_programs import PreparedProgram

from everword import Memory
from everword.server import ServerOptions
from everword.server.connections import Connection
from everword.testing.serving import Serving

PATIENCE = 120.0
FILES = 256  # of the server's process, as some systems begin with
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
QUICK = ServerOptions(body_idle=0.3, body_seconds=20.0, body_rate=0)


def head(length: int) -> bytes:
    return (
        b"POST /v1/conversations/c/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + f"Content-Length: {length}\r\n\r\n".encode()
    )


def connected(port: int, said: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.sendall(said)
    return made


def whole_answer(talk: socket.socket) -> bytes:
    """What comes until the other side closes."""
    got = b""
    while part := talk.recv(1 << 16):
        got += part
    return got


def problem(answer: bytes) -> dict[str, Any]:
    return json.loads(answer.partition(b"\r\n\r\n")[2])  # type: ignore[no-any-return]


@contextmanager
def serving(folder: Path, options: ServerOptions) -> Iterator[Serving]:
    with Serving(str(folder / "a.db"), followers=False, options=options, grace=1) as running:
        yield running


@pytest.mark.checklist("F15")
def test_a_body_that_stops_is_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, QUICK) as server, connected(server.port, head(len(BODY)) + BODY[:5]) as talk:
        answer = whole_answer(talk)
    assert answer.startswith(b"HTTP/1.1 408")
    assert problem(answer)["code"] == "too_slow"
    assert "send it faster" in problem(answer)["detail"]


@pytest.mark.parametrize(
    "options",
    [
        ServerOptions(body_idle=0.3, body_seconds=20.0, body_rate=100_000),
        ServerOptions(body_idle=20.0, body_seconds=0.3, body_rate=0),
    ],
    ids=["below the rate", "beyond the time"],
)
@pytest.mark.checklist("F15")
def test_a_body_that_comes_letter_by_letter_is_not_waited_for(tmp_path: Path, options: ServerOptions) -> None:
    with serving(tmp_path, options) as server, connected(server.port, head(1 << 20) + b"{") as talk:
        for _ in range(int(PATIENCE / 0.02)):
            answered, _, _ = select.select([talk], [], [], 0.02)
            if answered:
                break
            talk.sendall(b" ")
        assert talk.recv(1 << 16).startswith(b"HTTP/1.1 408")


@pytest.mark.checklist("F15")
def test_a_body_that_comes_in_parts_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path, ServerOptions()) as server, connected(server.port, head(len(BODY)) + BODY[:5]) as talk:
        with connected(server.port, HEALTH) as other:
            assert whole_answer(other).startswith(b"HTTP/1.1 200")
        talk.sendall(BODY[5:])
        assert talk.recv(1 << 16).startswith(b"HTTP/1.1 200")


@pytest.mark.checklist("F15")
def test_those_who_wait_longest_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "most", 4)
    with serving(tmp_path, ServerOptions()) as server, ExitStack() as stack:
        waiting = [stack.enter_context(connected(server.port, head(9) + b"{"))]
        for _ in range(3):
            with connected(server.port, HEALTH) as other:  # the one before is known to have been taken
                assert whole_answer(other).startswith(b"HTTP/1.1 200")
            waiting.append(stack.enter_context(connected(server.port, head(9) + b"{")))
        with connected(server.port, HEALTH) as other:
            assert whole_answer(other).startswith(b"HTTP/1.1 200")
        assert whole_answer(waiting[0]) == b""  # it was closed
        readable, _, _ = select.select(waiting[1:], [], [], 0)
        assert readable == []


PAGE = b"GET /v1/conversations/c/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LARGE = 12 << 20  # bytes of an answer: more than the buffers of both sides have room for
PIECE = {"choices": [{"index": 0, "delta": {"content": "word " * 2_000}}]}


def reluctant(port: int, said: bytes) -> socket.socket:
    """Somebody who asks for something and takes no more than the beginning."""
    talk = socket.socket()
    talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    talk.settimeout(PATIENCE)
    talk.connect(("127.0.0.1", port))
    talk.sendall(said)
    assert talk.recv(1) == b"H"
    return talk


@pytest.mark.checklist("F15")
def test_whoever_does_not_take_an_answer_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Serving(str(tmp_path / "a.db"), followers=False, secrets="keep", grace=1) as server:
        server.run(server.memory.conversation("c", user="alex").add("user", "x" * LARGE))
        with reluctant(server.port, PAGE) as talk:
            monkeypatch.setattr(Connection, "most", 1)
            with connected(server.port, HEALTH) as other:
                assert whole_answer(other).startswith(b"HTTP/1.1 200")
            assert len(whole_answer(talk)) < LARGE


@pytest.mark.checklist("F15")
def test_no_model_goes_on_speaking_to_somebody_who_does_not_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "unread_patience", 0.3)
    body = json.dumps({"text": "Tell me all of it.", "user": "alex", "stream": True}).encode()
    asked = head(len(body)).replace(b"/messages", b"/reply") + body
    with (
        llm_server.serving(llm_server.endless(b"data: " + json.dumps(PIECE).encode() + b"\n\n")) as service,
        Serving(str(tmp_path / "a.db"), chat_url=service.url, chat_model="m", followers=False, grace=1) as server,
        reluctant(server.port, asked),
    ):
        assert service.hung_up.wait(PATIENCE)
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:  # the turn has ended
        history = memory.conversation("c", user="alex").history()
    assert history[-1].role == "assistant"
    assert history[-1].metadata["everword"]["partial"] is True


SERVE_WITH_FEW_FILES = """
import resource, sys
from everword.cli.main import main
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["everword", "serve", "--port", "0"]
main()
"""


@pytest.mark.checklist("F15")
def test_half_sent_requests_do_not_keep_others_from_being_answered(tmp_path: Path) -> None:
    """More of them than the process has files."""
    log = tmp_path / "server.log"
    with log.open("wb") as file:
        process = PreparedProgram[bytes](
            [sys.executable, "-c", SERVE_WITH_FEW_FILES, str(FILES)],
            stderr=file,
            cwd=tmp_path,
            env=os.environ | {"EVERWORD_FOLLOWERS": "false"},
        )
    try:
        port = None
        for _ in range(int(PATIENCE * 20)):
            port = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
            if port or process.poll() is not None:
                break
            threading.Event().wait(0.05)
        assert port is not None, log.read_text()
        with ExitStack() as stack:
            for _ in range(320):
                stack.enter_context(connected(int(port[1]), head(1 << 20) + b"{"))
            with connected(int(port[1]), HEALTH) as other:
                assert whole_answer(other).startswith(b"HTTP/1.1 200")
    finally:
        process.kill()
        process.wait()


READ_LISTS = """
import gc, json, sys
from everword.config import Settings
from everword.server.hosting import application
app = application(Settings(store=sys.argv[1]), auth=False)
before = sum(each["collections"] for each in gc.get_stats())
lists = json.loads("[" + "[]," * 1_000_000 + "[]]")
print(sum(each["collections"] for each in gc.get_stats()) - before)
"""


@pytest.mark.checklist("F15")
def test_a_body_of_many_lists_is_not_looked_through_again_and_again(tmp_path: Path) -> None:
    """By Python's collector, as often as once for every 700 of them, while nobody else is answered."""
    command = [sys.executable, "-c", READ_LISTS, str(tmp_path / "a.db")]
    with PreparedProgram[str](command, stdout=subprocess.PIPE, text=True) as process:
        printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert int(printed) < 100

"""A client among strangers: whatever it is given, and whatever answers it, it does as a memory here, or says why."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everword import Client, Draft, EverwordError, InvalidInput, Memory, NotFound, ServerError, errors
from everword.client import parse_error
from everword.model import Resolved, Unknown
from everword.server.problems import RESERVED, SPEAKING, problem_of
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving
from everword.values_to_json import dumps, from_json_value

NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001
SURROGATE = "\ud800"
LINES = "one\u2028two\u2029three\x85four\x0bfive\x0csix\x1cseven\r\neight"


# -- the same errors, whatever is given

ODD: list[Callable[[Any], Any]] = [
    lambda memory: memory.conversation("c").add("user", "x", metadata={"x": object()}),
    lambda memory: memory.conversation("c").add("user", "x", metadata={"x": {1, 2}}),
    lambda memory: memory.conversation("c").add("user", "x", metadata={"x": b"bytes"}),
    lambda memory: memory.conversation("c").add("user", "x", metadata={"x": datetime(2026, 1, 1, tzinfo=UTC)}),
    lambda memory: memory.conversation("c").add("user", "x", metadata={1: 2}),
    lambda memory: memory.conversation("c").add("user", "x", metadata=[1]),
    lambda memory: memory.conversation("c").add("user", 7),
    lambda memory: memory.conversation("c").add("user", SURROGATE),
    lambda memory: memory.conversation("c").add("user", "x\x00"),
    lambda memory: memory.conversation("c").add("user", "x", time=NAIVE),
    lambda memory: memory.conversation("c").add("user", "x", time="now"),
    lambda memory: memory.conversation("c").add("user", "x", author=""),
    lambda memory: memory.conversation("c").add("user", "x", name=7),
    lambda memory: memory.conversation("c").extend([Draft("user", "x", metadata={"x": float("inf")})]),
    lambda memory: memory.conversation("").history(),
    lambda memory: memory.conversation("c").history(limit=0),
    lambda memory: memory.conversation("c").history(limit=-1),
    lambda memory: memory.conversation("c").history(limit=True),
    lambda memory: memory.conversation("c").history(before=0),
    lambda memory: memory.conversation("c").context(SURROGATE),
    lambda memory: memory.conversation("c").search_topics("x", limit=0),
    lambda memory: memory.conversations(limit=0),
    lambda memory: memory.conversations(user=""),
    lambda memory: memory.conversations(user=SURROGATE),
    lambda memory: memory.conversations(after=SURROGATE),
    lambda memory: memory.search(SURROGATE),
    lambda memory: memory.search("x", limit=1_001),
    lambda memory: memory.search("x", after=NAIVE),
    lambda memory: memory.search("x", space=""),
    lambda memory: memory.facts(user=""),
    lambda memory: memory.facts(user=SURROGATE),
    lambda memory: memory.facts(user="a\nb"),
    lambda memory: memory.facts(user="alex", category="nothing"),
    lambda memory: memory.fact_history(SURROGATE, user="alex"),
    lambda memory: memory.profile(user=""),
    lambda memory: memory.remember("x", user=""),
    lambda memory: memory.who_is(SURROGATE),
    lambda memory: memory.add_name("", user="alex"),
    lambda memory: memory.add_name("Al", user="alex", kind="nothing"),
    lambda memory: memory.set_time_zone("nowhere"),
    lambda memory: list(memory.export(user="")),
    lambda memory: memory.erase(user=""),
    lambda memory: memory.why("", user="alex"),
    lambda memory: memory.why(SURROGATE, user="alex"),
    lambda memory: memory.search("x", after="2020"),
    lambda memory: memory.search("x", before=2020),
    lambda memory: memory.search(object()),
    lambda memory: memory.facts(user="alex", as_of="2020-01-01T00:00:00Z"),
    lambda memory: memory.conversation("c").add("user", "x", time="2020-01-01T00:00:00Z"),
    lambda memory: memory.conversation("c").add_user_message("x", time="2020-01-01T00:00:00Z"),
    lambda memory: memory.add_name(object(), user="alex"),
    lambda memory: memory.profile(user="alex", wait=float("nan")),
    lambda memory: memory.profile(user="alex", wait=-1),
    lambda memory: memory.digests(wait=float("nan")),
    lambda memory: memory.documents().namespaces(offset=-1),
    lambda memory: memory.documents(space=""),
    lambda memory: memory.documents().search(query=SURROGATE),
    lambda memory: memory.documents().search(query="x\x00"),
    lambda memory: memory.documents().search(offset=-1),
    lambda memory: memory.documents().namespaces(limit=0),
    lambda memory: memory.documents().namespaces(prefix="notes"),
]


def test_what_breaks_a_rule_here_breaks_it_there(tmp_path: Path) -> None:
    with (
        Memory(str(tmp_path / "here.db"), followers=False) as here,
        Serving(str(tmp_path / "there.db"), followers=False) as server,
        Client(server.url) as there,
    ):
        for number, attempt in enumerate(ODD):
            for memory in (here, there):
                with pytest.raises(InvalidInput) as raised:
                    attempt(memory)
                assert raised.value.reason, (number, type(memory))
        assert list(there.export()) == []


def test_waits_are_as_long_as_one_likes(tmp_path: Path) -> None:
    """A server waits for five minutes at most, at a time."""
    with (
        Memory(str(tmp_path / "here.db"), followers=False) as here,
        Serving(str(tmp_path / "there.db"), followers=False) as server,
        Client(server.url) as there,
    ):
        for memory in (here, there):
            memory.settle(1_000)
            memory.settle(0)
            assert memory.profile(user="alex", wait=1_000).facts == ()
            assert memory.digests(wait=1_000) == []
            assert memory.documents().namespaces(depth=1_000) == []


def test_ids_of_dots_and_slashes_lead_nowhere_else(tmp_path: Path) -> None:
    ids = [".", "..", "../..", "a/../b", "...", "%2e%2e", "?", "#", " a ", "\\", "*"]
    with Serving(str(tmp_path / "a.db"), followers=False) as server, Client(server.url) as memory:
        for id in ids:
            memory.conversation(id, user=id).add("user", f"I am {id}")
            assert [one.content for one in memory.conversation(id, user=id).history()] == [f"I am {id}"]
            with pytest.raises(NotFound, match="topic"):
                memory.conversation(id, user=id).get_full_topic_history("..")
            assert [one.content for one in memory.export(user=id)] == [f"I am {id}"]
            assert memory.facts(user=id) == []
        assert sorted(one.id for one in memory.conversations()) == sorted(ids)


def test_lines_end_where_the_server_ends_them_and_not_where_somebody_wrote_something_like_it(tmp_path: Path) -> None:
    model = ScriptedLLM([[*LINES]])
    with Serving(str(tmp_path / "a.db"), chat=model, followers=False) as server, Client(server.url) as memory:
        memory.conversation("c").add("user", LINES)
        assert [one.content for one in memory.export()] == [LINES]
        assert "".join(memory.conversation("c").stream("Say it.")) == LINES


# -- every error is itself again


def every(kind: type[EverwordError]) -> Iterator[type[EverwordError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from every(one)


PARTS: dict[type[EverwordError], tuple[Any, ...]] = {
    errors.InvalidInput: ("one", "two"),
    errors.SecretRefused: ("one", "two"),
    errors.MissingExtra: ("one", "two"),
    errors.DamagedMessage: ("space", "conversation", 7, "why"),
    errors.Forbidden: ("not_you", "what happened"),
    errors.MessagesLost: ("what happened", 3),
}
# What a client makes of errors that have parts it is not told.
AS_ANOTHER = {
    errors.DamagedMessage: errors.StoreError,
    errors.Forbidden: errors.ScopeError,
    errors.StoreAway: errors.StoreBusy,
    errors.MachineAway: errors.StoreBusy,
    errors.MessagesLost: errors.StoreError,
}


NOT_OF_A_SERVER = (
    EverwordError,
    errors.ImportFailed,
    ServerError,
    errors.PlatformBusy,
    errors.PlatformRefused,
)  # what a server does not raise


def test_every_error_of_a_memory_is_the_same_error_over_http() -> None:
    own = [kind for kind in every(EverwordError) if kind.__module__ == "everword.errors"]
    assert len(own) > 20
    for kind in own:
        error = kind(*PARTS.get(kind, ("what happened",)))
        problem = problem_of(error)
        back = parse_error(problem.status, dumps(problem.document()))
        if kind in NOT_OF_A_SERVER:
            assert isinstance(back, ServerError)
            continue
        words = str(error)
        if issubclass(kind, RESERVED) and kind not in SPEAKING:  # whose words name an address
            words = " ".join((kind.__doc__ or "").split())
        assert (type(back), str(back)) == (AS_ANOTHER.get(kind, kind), words), kind


def test_a_problem_of_any_shape_is_an_error_of_ours() -> None:
    for content in (
        b"",
        b"<html>",
        b"[]",
        b"7",
        b'"x"',
        b"null",
        b'{"code": "invalid_input", "detail": "x", "errors": 7}',
        b'{"code": "invalid_input", "detail": "x", "errors": [7]}',
        b'{"code": "invalid_input", "detail": "x", "errors": [{}]}',
        b'{"code": 7, "detail": null}',
        b'{"code": [], "detail": {}}',
    ):
        assert isinstance(parse_error(500, content), ServerError | InvalidInput), content


def test_a_newer_server_may_say_more() -> None:
    found = from_json_value(
        Resolved | Unknown, {"user": "alex", "name": "Alex", "how": "nickname", "since": "2027"} | RESOLVED
    )
    assert isinstance(found, Resolved)
    with pytest.raises(InvalidInput, match="same version"):
        from_json_value(Resolved | Unknown, {"entirely": "else"})
    with pytest.raises(InvalidInput, match="same version"):
        from_json_value(Resolved | Unknown, 7)


RESOLVED = json.loads(dumps(Resolved("alex", "Alex")))


# -- servers that are none


@contextmanager
def answering(*answers: bytes, wait: threading.Event | None = None) -> Iterator[tuple[str, list[bytes]]]:
    """Something that listens, notes what it is sent, and answers each connection with the next of these bytes."""
    heard: list[bytes] = []
    door = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            try:
                peer, _ = door.accept()
            except OSError:
                return
            with peer:
                heard.append(whole(peer))
                peer.sendall(answer)
                if wait is not None:
                    wait.wait(120)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}", heard
    finally:
        if wait is not None:
            wait.set()
        door.shutdown(socket.SHUT_RDWR)
        door.close()
        thread.join(120)


def whole(peer: socket.socket) -> bytes:
    """A request to its end: who hangs up on one that was not read breaks the connection, and that is another test."""
    heard = b""
    while True:
        head, end, body = heard.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if end and len(body) >= int(length[1] if length else 0):
            return heard
        some = peer.recv(1 << 16)
        if not some:
            return heard
        heard += some


def http(status: str, body: bytes, **headers: str) -> bytes:
    told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{told}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


STRANGE = {
    "a web page": http("200 OK", b"<html>Welcome</html>", Content_Type="text/html"),
    "no text": http("200 OK", b"\xff\xfe", Content_Type="application/json"),
    "nothing": http("204 No Content", b""),
    "another shape": http("200 OK", b'{"hello": 1}', Content_Type="application/json"),
    "a list": http("200 OK", b"[]", Content_Type="application/json"),
    "a redirect": http("301 Moved Permanently", b"", Location="https://elsewhere.example/"),
    "a refusal": http("418 I'm a teapot", b"{}"),
}


@pytest.mark.parametrize("answer", STRANGE.values(), ids=STRANGE)
def test_what_is_no_server_of_ours_is_an_error_that_says_so(answer: bytes) -> None:
    with (
        answering(answer) as (url, _),
        Client(url) as memory,
        pytest.raises(EverwordError, match="as an everword server"),
    ):
        memory.conversations()
    with (
        answering(answer) as (url, _),
        Client(url) as memory,
        pytest.raises(EverwordError, match=r"as an everword server|ended"),
    ):
        list(memory.conversation("c").stream("hi"))
    if b"[]" not in answer and b"204" not in answer:
        with (
            answering(answer) as (url, _),
            Client(url) as memory,
            pytest.raises(EverwordError, match="as an everword server"),
        ):
            list(memory.export())


def test_a_server_that_does_not_answer_is_given_up_and_not_asked_again() -> None:
    gate = threading.Event()
    with answering(b"", b"", wait=gate) as (url, heard), Client(url, timeout=0.2) as memory:
        with pytest.raises(ServerError, match="did not answer"):
            memory.remember("Alex plays chess", user="alex")
        while not heard:  # whoever listens may be slow as well
            threading.Event().wait(0.01)
        assert len(heard) == 1


def test_a_stream_that_breaks_off_is_an_error_and_is_not_asked_for_again() -> None:
    begun = b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: text\ndata: {"text": "Half"}\n\n'
    with answering(begun, begun) as (url, heard), Client(url) as memory:
        said: list[str] = []
        with pytest.raises(ServerError, match="before it was complete"):
            said.extend(memory.conversation("c").stream("Tell me."))
        assert (said, len(heard)) == (["Half"], 1)
    chunked = begun.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n", 1)
    with (
        answering(chunked) as (url, _),
        Client(url) as memory,
        pytest.raises(ServerError, match="closed the connection"),
    ):
        list(memory.conversation("c").stream("Tell me."))
    odd = begun + b": a comment\nid: 7\nevent:done\ndata:{}\n\n"
    with answering(odd) as (url, _), Client(url) as memory:
        assert list(memory.conversation("c").stream("Tell me.")) == ["Half"]


def test_an_answer_that_is_being_worked_on_is_waited_for() -> None:
    """The connection broke in the middle of a long turn; the server goes on, and whoever asks again is told to wait."""
    busy = http("409 Conflict", b'{"code": "in_progress", "detail": "later"}', Retry_After="0")
    done = http("200 OK", dumps([]), Content_Type="application/json")
    with answering(b"", *[busy] * 8, done) as (url, heard), Client(url) as memory:
        assert memory.remember("Alex plays chess", user="alex") == []
        keys = {re.search(rb"idempotency-key: (\S+)", one.lower())[1] for one in heard}  # type: ignore[index]
        assert (len(heard), len(keys)) == (10, 1)
    busy = busy.replace(b"Retry-After: 0", b"Retry-After: 1")  # seconds
    with answering(*[busy] * 10) as (url, heard), Client(url, timeout=1.5) as memory:
        with pytest.raises(ServerError, match="later"):
            memory.remember("Alex plays chess", user="alex")
        assert len(heard) < 10


# -- secrets


def test_a_key_is_shown_by_nothing() -> None:
    key = "rk_0123_geheimes"
    for wrong in (f"{key}ü", f"{key}\n", f"{key} x", f"{key}\x00", 7):
        with pytest.raises(InvalidInput, match="key") as raised:
            Client("http://127.0.0.1:9", wrong)  # type: ignore[arg-type]
        assert "geheimes" not in f"{raised.value!r} {raised.value.__context__!r}"
    url = "http://alex:geheimes@127.0.0.1:9/sub?token=geheimes"
    with pytest.raises(InvalidInput, match="base_url") as refused:
        Client(url)
    assert "geheimes" not in str(refused.value)
    with Client("http://alex:geheimes@127.0.0.1:9", key) as memory:
        chat = memory.conversation("c")
        shown = f"{memory!r} {chat!r} {memory.documents()!r} {vars(memory)!r}"
        with pytest.raises(ServerError) as unreachable:
            chat.history()
        assert "geheimes" not in shown + str(unreachable.value) + repr(unreachable.value)
        assert "127.0.0.1:9" in str(unreachable.value)


# -- threads and processes


def test_a_client_goes_on_in_a_process_that_was_forked(tmp_path: Path) -> None:
    """As workers of web servers are: the client is made before, with connections open, and each uses it for itself."""
    with Serving(str(tmp_path / "a.db"), followers=False) as server, Client(server.url) as memory:
        chat, documents = memory.conversation("c"), memory.documents()
        chat.add("user", "before")
        assert in_a_fork(lambda: str([chat.add("user", "in the child").turn, documents.namespaces()])) == "[2, []]"
        chat.add("user", "after")
        assert [one.content for one in chat.history()] == ["before", "in the child", "after"]
        assert in_a_fork(lambda: closed(memory)) == "closed"
        assert len(chat.history()) == 3


def test_a_memory_says_in_a_forked_process_that_it_belongs_to_another(tmp_path: Path) -> None:
    """Its connections to the store must not be shared; what it must not do is wait for ever."""
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        chat = memory.conversation("c")
        chat.add("user", "before")
        assert "open it again" in in_a_fork(lambda: str(chat.history()))
        assert in_a_fork(lambda: closed(memory)) == "closed"
        assert len(chat.history()) == 1


def closed(memory: Memory | Client) -> str:
    memory.close()
    return "closed"


def in_a_fork(work: Callable[[], str]) -> str:
    """What it says in a child of this process, or what it raised there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                said = work()
            except Exception as error:  # noqa: BLE001
                said = f"{type(error).__name__}: {error}"
            os.write(writing, said.encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with open(reading, "rb") as answer:
            heard: list[bytes] = []
            listening = threading.Thread(target=lambda: heard.append(answer.read()), daemon=True)
            listening.start()
            listening.join(120)
            if listening.is_alive():
                os.kill(child, 9)
                listening.join(120)
                return "it waited for ever"
            return heard[0].decode()
    finally:
        os.waitpid(child, 0)

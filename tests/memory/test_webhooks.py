"""Webhooks: every event reaches its receiver, signed, in order within a conversation, whatever is away meanwhile."""

from __future__ import annotations

import base64
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prepared_programs import PreparedProgram

from everword import ConfigError, Draft, Memory
from everword.model import ViewState
from everword.testing import FrozenClock

KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
CITIES = ("Oslo", "Bergen", "Lyon", "Delft", "Porto")


class Receiver:
    """A program that takes webhooks on loopback. `status` is what it answers; it keeps what it took."""

    def __init__(self) -> None:
        self.status = 204
        self.taken: list[dict[str, Any]] = []
        self.tries: list[dict[str, Any]] = []
        self.asked = threading.Event()
        self.answers = threading.Event()
        self.answers.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.take(self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.loses_answers = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?team=a"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        id, timestamp = handler.headers["webhook-id"], handler.headers["webhook-timestamp"]
        signed = hmac.new(KEY, f"{id}.{timestamp}.".encode() + body, sha256).digest()
        event = {"id": id, "path": handler.path, **json.loads(body)}
        event["is_signed"] = handler.headers["webhook-signature"] == f"v1,{base64.b64encode(signed).decode()}"
        self.tries.append(event)
        self.asked.set()
        self.answers.wait(30)
        status = self.status
        if status < 300:
            self.taken.append(event)  # before the answer, upon which the next one comes
        if self.loses_answers and len(self.tries) % 40 == 20:
            return
        if status == 302:
            handler.send_response(status)
            handler.send_header("location", self.url)
        else:
            handler.send_response(status)
        handler.end_headers()

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it took, each id once."""
        return list({event["id"]: event for event in self.taken}.values())

    def values(self, conversation: str) -> list[str]:
        """The values of the facts that were learnt in a conversation, in order."""
        return [
            event["data"]["fact"]["value"]
            for event in self.events
            if event["type"] == "fact.learnt" and event["data"]["conversation"] == conversation
        ]

    def close(self) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    program = Receiver()
    yield program
    program.close()


def hooked(store: str, url: str, **options: Any) -> Memory:
    return Memory(store, webhook_urls=url, webhook_secret=SECRET, followers=False, **options)


def webhooks_of(memory: Memory) -> ViewState:
    return next(state for state in memory.stats().views if state.view == "webhooks")


def kinds(receiver: Receiver) -> list[str]:
    return [event["type"] for event in receiver.events]


@pytest.mark.every_store
def test_facts_erasures_and_digests_are_told(store_url: str, receiver: Receiver) -> None:
    with hooked(store_url, receiver.url) as memory:
        message = memory.conversation("chat", user="alex").add("user", "I live in Oslo.")
        memory.settle()
        memory.conversation("chat", user="alex").add("user", "I moved to Bergen.")
        memory.settle()
        assert kinds(receiver)[0] == "fact.learnt"
        assert "fact.changed" in kinds(receiver)
        first = receiver.events[0]
        assert first["is_signed"]
        assert first["path"] == "/hook?team=a"
        assert first["data"]["space"] == "default"
        assert first["data"]["user"] == "alex"
        assert first["data"]["fact"]["value"] == "Oslo"
        assert first["timestamp"] == message.time.isoformat()
        assert webhooks_of(memory).behind == 0

        memory.conversation("chat", user="alex").delete(message.id)
        memory.settle()
        erased = next(event for event in receiver.events if event["type"] == "message.erased")
        assert erased["data"]["messages"] == [{"id": message.id, "turn": 1}]
        gone = [event for event in receiver.events if event["type"] == "fact.changed" and not event["data"]["fact"]]
        assert [event["data"]["id"] for event in gone] == [first["data"]["id"]]

        memory.conversation("lounge").add("user", "We met at the harbour today.", author="sam")
        assert memory.digests()
        memory.settle()
        digest = next(event for event in receiver.events if event["type"] == "digest.written")
        assert (digest["data"]["user"], digest["data"]["conversation"]) == ("sam", "lounge")
        assert "harbour" in digest["data"]["text"]


@pytest.mark.every_store
def test_a_receiver_that_was_down_for_an_hour_gets_every_event_in_order(store_url: str, receiver: Receiver) -> None:
    clock = FrozenClock()
    receiver.status = 503
    with hooked(store_url, receiver.url, clock=clock) as memory:
        for city in CITIES:
            for chat in ("first", "second"):
                memory.conversation(chat, user=chat).add("user", f"I visited {city} last year.")
            memory.settle()
            clock.advance(timedelta(minutes=12))
        assert not receiver.taken
        assert len(receiver.tries) < 40, "the pause between two tries grows"
        state = webhooks_of(memory)
        assert state.behind >= 10
        assert state.error is not None
        assert "503" in state.error
        assert "team=a" not in state.error
        receiver.status = 200
        clock.advance(timedelta(minutes=10))
        memory.settle()
        assert webhooks_of(memory).behind == 0
    for chat in ("first", "second"):
        positions = [next(i for i, value in enumerate(receiver.values(chat)) if city in value) for city in CITIES]
        assert positions == sorted(positions)


@pytest.mark.checklist("D8", "G21")
def test_after_an_hour_down_a_kill_and_lost_answers_every_event_came_once_by_its_id_and_in_order(
    tmp_path: Path, receiver: Receiver
) -> None:
    store = str(tmp_path / "memory.db")
    child = kill_while_sending(store, receiver)
    clock = FrozenClock(datetime.now(UTC))
    receiver.status = 503
    receiver.answers.set()
    journeys = [(f"visited {city}", year) for year in range(1990, 2014) for city in CITIES]
    with hooked(store, receiver.url, clock=clock) as memory:
        drafts = [Draft("user", f"I {value} in {year}.") for value, year in journeys]
        memory.conversation("journeys", user="sam").extend(drafts)
        for _ in range(6):
            memory.settle()
            clock.advance(timedelta(minutes=10))
        assert not receiver.taken
        waiting = webhooks_of(memory).behind
        assert waiting > 100, "more than one step sends of a conversation"
        receiver.status, receiver.loses_answers = 200, True
        while webhooks_of(memory).behind:
            memory.settle()
            clock.advance(timedelta(minutes=10))
    ids = [event["id"] for event in receiver.taken]
    assert len(ids) > len(set(ids)) == waiting, "what was lost came again under its id"
    assert child in set(ids)
    facts = [event["data"]["fact"] for event in receiver.events if event["data"]["user"] == "sam"]
    assert [(fact["value"], int(fact["valid_from"][:4])) for fact in facts] == journeys


CHILD = """
import sys
from everword import Memory
store, url, secret = sys.argv[1:]
with Memory(store, webhook_urls=url, webhook_secret=secret) as memory:
    memory.conversation("chat", user="alex").add("user", "I live in Oslo.")
    memory.settle()
    print("never said", flush=True)
"""


def kill_while_sending(store: str, receiver: Receiver) -> str:
    """Kill a process while it waits for the answer to an event; return the event's id."""
    receiver.answers.clear()
    child = PreparedProgram[bytes]([sys.executable, "-c", CHILD, store, receiver.url, SECRET], stdout=subprocess.PIPE)
    assert receiver.asked.wait(60)
    os.kill(child.pid, signal.SIGKILL)
    assert child.communicate()[0] == b""
    id: str = receiver.tries[0]["id"]
    return id


def test_an_event_goes_to_the_receiver_of_its_space_alone(tmp_path: Path, receiver: Receiver) -> None:
    other = Receiver()
    with hooked(str(tmp_path / "memory.db"), f"team={receiver.url}, staff={other.url}") as memory:
        for space, city in (("team", "Oslo"), ("staff", "Lyon"), ("default", "Delft")):
            memory.conversation("chat", user="alex", space=space).add("user", f"I live in {city}.")
        other.status = 500
        memory.settle()
        assert [event["data"]["space"] for event in receiver.taken] == ["team"], "the dead one holds up nobody"
        assert [event["data"]["space"] for event in other.tries] == ["staff"]
    other.close()


def test_what_is_erased_before_it_is_sent_is_never_sent(tmp_path: Path, receiver: Receiver) -> None:
    clock = FrozenClock()
    receiver.status = 503
    path = tmp_path / "memory.db"
    with hooked(str(path), receiver.url, clock=clock) as memory:
        memory.conversation("chat", user="alex").add("user", "I live in Oslo.")
        memory.settle()
        tried = len(receiver.tries)
        memory.erase(user="alex")
        receiver.status = 200
        clock.advance(timedelta(hours=1))
        memory.settle()
    assert b"Oslo" not in json.dumps(receiver.tries[tried:]).encode()
    assert set(kinds(receiver)) == {"message.erased", "fact.changed"}
    assert b"alex" not in json.dumps(receiver.taken).encode()
    assert all(b"Oslo" not in file.read_bytes() for file in tmp_path.iterdir())


def test_an_event_that_is_refused_holds_up_its_conversation_alone_and_not_for_ever(
    tmp_path: Path, receiver: Receiver
) -> None:
    clock = FrozenClock()
    receiver.status = 422
    with hooked(str(tmp_path / "memory.db"), receiver.url, clock=clock) as memory:
        memory.conversation("chat", user="alex").add("user", "I live in Oslo.")
        memory.settle()
        for _ in range(99):
            clock.advance(timedelta(minutes=10))
            memory.settle()
        assert {event["type"] for event in receiver.tries} == {"fact.learnt"}
        assert webhooks_of(memory).behind == 0
        receiver.status = 200
        memory.conversation("chat", user="alex").add("user", "My dog is called Rex.")
        memory.settle()
        assert receiver.taken


def test_a_redirect_is_not_followed(tmp_path: Path, receiver: Receiver) -> None:
    receiver.status = 302
    with hooked(str(tmp_path / "memory.db"), receiver.url) as memory:
        memory.conversation("chat", user="alex").add("user", "I live in Oslo.")
        memory.settle()
        assert len(receiver.tries) == 1
        assert "302" in str(webhooks_of(memory).error)


def test_every_process_notes_events_and_one_with_the_address_sends_them(tmp_path: Path, receiver: Receiver) -> None:
    store = str(tmp_path / "memory.db")
    with Memory(store, followers=False) as memory:
        memory.conversation("before", user="alex").add("user", "I live in Oslo.")
        memory.settle()
    with hooked(store, receiver.url) as memory:
        memory.settle()
    with Memory(store, followers=False) as memory:
        memory.conversation("chat", user="sam").add("user", "I live in Lyon.")
        memory.settle()
        assert webhooks_of(memory).behind == 1
    with hooked(store, receiver.url) as memory:
        memory.settle()
    assert [event["data"]["fact"]["value"] for event in receiver.events] == ["Lyon"]
    with Memory(store, followers=False, webhook_urls="off") as memory:
        memory.conversation("chat", user="sam").add("user", "I have a cat.")
        memory.settle()
        assert "webhooks" not in {state.view for state in memory.stats().views}


def test_only_events_that_are_wanted_are_sent(tmp_path: Path, receiver: Receiver) -> None:
    with hooked(str(tmp_path / "memory.db"), receiver.url, webhook_events="message.erased") as memory:
        chat = memory.conversation("chat", user="alex")
        message = chat.add("user", "I live in Oslo.")
        memory.settle()
        chat.delete(message.id)
        memory.settle()
    assert kinds(receiver) == ["message.erased"]


def test_events_are_sent_in_the_background(tmp_path: Path, receiver: Receiver) -> None:
    with Memory(str(tmp_path / "memory.db"), webhook_urls=receiver.url, webhook_secret=SECRET) as memory:
        memory.conversation("chat", user="alex").extend([Draft("user", "I live in Oslo.")])
        assert receiver.asked.wait(60)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"webhook_urls": "http://app.example.com/hook"}, "not encrypted"),
        ({"webhook_urls": "https://me:password1@app.example.com"}, "without a password"),
        ({"webhook_urls": "ftp://app.example.com"}, "must be like https"),
        ({"webhook_urls": "https://a.example,https://b.example"}, "two addresses for all spaces"),
        ({"webhook_urls": "https://a.example", "webhook_secret": "hunter2hunter2"}, "whsec_"),
        ({"webhook_urls": "https://a.example", "webhook_events": "fact.lost"}, "is not an event"),
    ],
)
def test_wrong_settings_are_refused_at_once(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    options = {"webhook_secret": SECRET, **options}
    with pytest.raises(ConfigError, match=problem) as failure, Memory(str(tmp_path / "memory.db"), **options):
        pass
    assert "hunter2" not in str(failure.value)
    assert SECRET not in str(failure.value)

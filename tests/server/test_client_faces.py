"""A memory on a server has the face of one that is here: the same methods, the same results, the same errors."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from everword import (
    AsyncClient,
    Batch,
    Budget,
    Change,
    Client,
    Draft,
    EverwordError,
    InvalidInput,
    Memory,
    ModelTimeout,
    NoModel,
    NotFound,
    ScopeError,
    ServerError,
)
from everword.client import AsyncClientConversation, AsyncClientDocuments
from everword.memory.blocking import BlockingDocuments
from everword.memory.memory import MemoryEngine
from everword.memory.operations.conversation import AsyncConversation
from everword.memory.operations.documents import AsyncDocuments
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

# `open` takes no options on a server; `views` are not served; only the server opens conversations and sees for callers;
# what a process holds in memory (`degraded`) a server says in its answers and in `stats`.
ONLY_HERE = {"open", "views", "open_conversation", "degraded", "seen_by"}
THEN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def public(kind: type) -> dict[str, Any]:
    """The methods and properties of a class, without the parts that it makes when they are first used."""
    members = inspect.getmembers(kind, lambda one: not isinstance(one, cached_property))
    return {name: one for name, one in members if not name.startswith("_")}


def taken(method: Any) -> list[tuple[str, Any, Any]]:
    parameters = inspect.signature(method).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (MemoryEngine, AsyncClient),
        (AsyncConversation, AsyncClientConversation),
        (AsyncDocuments, AsyncClientDocuments),
    ],
)
def test_every_method_of_a_memory_is_one_of_a_client(here: type, there: type) -> None:
    own, other = public(here), public(there)
    assert set(own) - ONLY_HERE == set(other) - ONLY_HERE
    for name in set(own) - ONLY_HERE:
        assert taken(own[name]) == taken(other[name]), name
        assert inspect.iscoroutinefunction(own[name]) == inspect.iscoroutinefunction(other[name]), name


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Memory | Client]]:
    """A memory by the name of where it is: "here" or "there"."""
    servers: list[Serving] = []
    memories: list[Memory | Client] = []

    def open_(where: str, model: ScriptedLLM | None = None) -> Memory | Client:
        path = str(tmp_path / f"{where}.db")
        made: Memory | Client
        if where == "here":
            made = Memory(path, chat=model, followers=False)
        else:
            servers.append(Serving(path, auth=True, chat=model, followers=False).__enter__())
            key = servers[-1].key(space=(), scopes=("read", "write", "admin"))
            made = Client(servers[-1].url, key)
        memories.append(made)
        return made

    yield open_
    for memory in memories:
        memory.close()
    for server in servers:
        server.__exit__(None, None, None)


def talk(memory: Memory | Client) -> Iterator[Any]:
    """A program, and what it saw: the same wherever the memory is."""
    chat = memory.conversation("über/uns?#1", user="alex")
    told = chat.add("user", "My name is Alex. I live in Berlin. 🙂", time=THEN, platform_id="p1", metadata={"n": 1.5})
    yield (told.turn, told.author, told.user, told.content, told.time, told.metadata, told.platform_id)
    yield chat.add("user", "again", platform_id="p1").id == told.id
    added = chat.extend([Draft("assistant", "Noted.", time=THEN), Draft("user", "I prefer Python.", time=THEN)])
    yield [(one.new, one.message.turn, one.message.role) for one in added]
    memory.add_many([Batch("default", "channel", None, [Draft("user", "Hello from Bo", author="bo", time=THEN)])])
    memory.settle()
    yield [message.content for message in chat.history()]
    yield [message.turn for message in chat.history(limit=1)], [m.turn for m in chat.history(limit=5, before=3)]
    yield [(one.id, one.user, one.turns) for one in memory.conversations()]
    yield [hit.message.content for hit in memory.search("Python", user="alex", limit=1)]
    yield [(hit.message.content, hit.relevance) for hit in memory.search("Which do I prefer?", user="alex", floor=0.5)]
    yield memory.search("Write a haiku about the sea", user="alex", floor=0.5)  # F4
    yield sorted((fact.key, fact.value, fact.active) for fact in memory.facts(user="alex"))
    fact = next(one for one in memory.facts(user="alex") if one.key == "location")
    yield [message.content for message in memory.why(fact.id, user="alex")]
    yield [one.value for one in memory.fact_history("location", user="alex")]
    context = chat.context("Which language?", budget=Budget.compact())
    yield context.receipt.budget, [section.name for section in context.receipt.sections], context.messages[-1]
    yield [one.text for one in memory.remember("Alex plays chess", user="alex")]
    gone = memory.forget("chess", user="alex")
    yield gone.found, [one.text for one in memory.undo(gone.id or "", user="alex").statements]
    memory.add_name("Al", user="alex", kind="nickname")
    yield memory.who_is("Al"), memory.who_is("nobody at all")
    memory.remove_name("Al", user="alex")
    yield memory.who_is("Al")
    yield sorted(member.id for member in memory.people())
    profile = memory.profile(user="alex", wait=0)
    yield profile.name, [one.text for one in profile.statements]
    memory.set_time_zone("Europe/Berlin")
    yield [(one.user, one.kind, one.first) for one in memory.digests(day=date(2026, 3, 1))]
    yield chat.add_user_message("Which trains go to Lisbon?", 0.9).title != "", chat.add_assistant_message("Many.").id
    topic = chat.topics()[0]
    yield chat.tag_topic(topic.id, "travel").tags, chat.feedback(topic.id, 1).id == topic.id
    yield chat.get_topic_stats().total_messages, len(chat.get_full_topic_history()), chat.get_topic_context()[0]["role"]
    yield [hit.topic.id for hit in chat.search_topics("travel", limit=1)] == [topic.id]
    chunk = chat.archive()
    yield chunk and (chunk.first, chunk.reason), chat.archive()
    yield (
        [episode.id for episode in chat.episodes()],
        len(chat.archived()),
        chat.standalone("Which trains go to Lisbon?"),
    )
    answer = chat.command("Everword, what do you know about me?")
    yield answer and (answer.kind, answer.person), chat.command("hello there")
    yield from keep(memory.documents())
    yield len(list(memory.export(user="alex"))), len(list(memory.export(conversation="channel")))
    memory.rebuild("facts")
    yield memory.retry(), memory.retry("facts", conversation="chat"), memory.settle()
    redaction = memory.redact(user="alex")
    yield redaction.messages, redaction.kinds, redaction.conversations, memory.redact(dry_run=True).dry_run
    yield memory.retain().dry_run, memory.stats().messages, memory.verify().ok
    move = memory.move_conversation(chat.id, to="talk", dry_run=True)
    yield move.conversations, move.moved, memory.move_conversation(chat.id, to="talk").conversations
    yield memory.undo_move(memory.audit()[0].id).conversations, memory.merge_users("bo", into="ben").moved
    yield memory.undo_move(memory.audit()[0].id).into, memory.verify().ok
    preview = chat.delete("p1", dry_run=True)
    yield preview.messages, preview.conversations, preview.views, chat.delete("p1").messages, chat.delete(2).messages
    yield memory.delete(query="prefer python").conversations, memory.delete_conversation("über/uns?#1").dry_run
    yield memory.erase(user="bo").messages, [(line.kind, line.what, line.count) for line in memory.audit()]


def keep(documents: BlockingDocuments) -> Iterator[Any]:
    """What a program keeps under keys of its own."""
    notes, value = ("notes", "über/uns?#1"), {"text": "Alex has an otter 🦦", "stars": 5, "deep": [1, {"é": None}]}
    put = documents.put(notes, "/a/../b.md", value, user="alex")
    yield put.space, put.namespace, put.key, put.value, put.user, put.created_at == put.updated_at, put.score
    yield documents.get(notes, "/a/../b.md") == put, documents.get(notes, "b.md"), documents.get((), "b.md")
    kept = documents.apply([Change(notes, "..", {"n": 1}, None, ("a horse",)), Change(("other",), ".", {"n": 2})])
    yield [(one.namespace, one.key, one.value) for one in kept]
    yield documents.get(notes, "..") == kept[0], documents.get(("other",), ".") == kept[1], documents.apply([])
    yield [one.key for one in documents.search(("notes",), query="animals that swim", where={"stars": {"$gte": 4}})]
    yield [one.key for one in documents.search(query="a horse", limit=1)], len(documents.search(limit=10_000, offset=1))
    yield documents.namespaces(), documents.namespaces(prefix=("*",), suffix=("über/uns?#1",), depth=1)
    yield documents.namespaces(limit=1, offset=1)
    yield documents.edit(notes, lambda found: ([Change(notes, "n", {"n": len(found)})], sorted(found)))
    yield documents.edit(notes, lambda found: ((), found["n"].value))
    yield documents.remove(notes, "n"), documents.remove(notes, "n"), documents.remove(("other",), ".")


def test_a_program_moves_to_a_server_by_one_line(opened: Callable[[str], Any]) -> None:
    here, there = list(talk(opened("here"))), list(talk(opened("there")))
    for number, (one, other) in enumerate(zip(here, there, strict=True)):
        assert one == other, f"step {number}"


def test_a_turn_is_the_same_here_and_there(opened: Callable[..., Any]) -> None:
    seen = []
    for where in ("here", "there"):
        memory = opened(where, ScriptedLLM(["Hello, Alex.", "One two three."], chunk=5))
        chat = memory.conversation("chat", user="alex")
        reply = chat.reply("Hi, I am Alex.", system="Be kind.", platform_id="first")
        pieces = list(chat.stream("Count."))
        assert len(pieces) > 1
        told = (reply.text, reply.message.turn, reply.receipt.tokenizer, len(reply.rounds), "".join(pieces))
        seen.append((told, [(m.role, m.content) for m in chat.history()]))
    assert seen[0] == seen[1]


WRONG: list[tuple[type[EverwordError], Callable[[Any], Any]]] = [
    (InvalidInput, lambda memory: memory.conversation("c").add("robot", "hi")),
    (InvalidInput, lambda memory: memory.conversation("c").add("user", "")),
    (InvalidInput, lambda memory: memory.conversation("c").add("user", "hi", metadata={"x": float("nan")})),
    (InvalidInput, lambda memory: memory.search("x", limit=0)),
    (InvalidInput, lambda memory: memory.search("x", floor=1.5)),
    (InvalidInput, lambda memory: memory.rebuild("nothing")),
    (InvalidInput, lambda memory: memory.remember("", user="alex")),
    (NotFound, lambda memory: memory.why("nothing", user="alex")),
    (NotFound, lambda memory: memory.erase(user="nobody")),
    (NotFound, lambda memory: memory.undo("nothing", user="alex")),
    (NoModel, lambda memory: memory.conversation("c").reply("hi")),
    (NoModel, lambda memory: list(memory.conversation("c").stream("hi"))),
    (InvalidInput, lambda memory: memory.documents().put(("a",), "k", None)),
    (InvalidInput, lambda memory: memory.documents().put("notes", "k", {})),
    (InvalidInput, lambda memory: memory.documents().put((), "k", {})),
    (InvalidInput, lambda memory: memory.documents().put(("a",), "k", {"x": {1, 2}})),
    (InvalidInput, lambda memory: memory.documents().put(("a",), "", {})),
    (InvalidInput, lambda memory: memory.documents().get(("a",), "")),
    (InvalidInput, lambda memory: memory.documents().search(limit=0)),
    (ScopeError, lambda memory: memory.conversation("hers", user="bo").add("user", "hi")),
]


def test_what_is_wrong_here_is_wrong_there_in_the_same_way(opened: Callable[[str], Any]) -> None:
    for memory in (opened("here"), opened("there")):
        memory.conversation("hers", user="ann").add("user", "mine")
        for kind, attempt in WRONG:
            with pytest.raises(kind):
                attempt(memory)
        assert [message.content for message in memory.export()] == ["mine"]


def test_an_error_in_the_middle_of_a_stream_is_raised_and_what_was_seen_is_kept(opened: Callable[..., Any]) -> None:
    memory = opened("there", ScriptedLLM([["Once ", "upon ", ModelTimeout("no more words in time")]]))
    chat, heard = memory.conversation("c", user="alex"), list[str]()
    with pytest.raises(ModelTimeout, match="No answer in time"):  # by its kind: a model's own words stay here
        heard.extend(chat.stream("Tell me a story."))
    assert [m.content for m in chat.history()] == ["Tell me a story.", "Once upon"]


def test_a_client_says_what_is_missing_and_never_shows_its_key(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="http://"):
        Client("localhost:8000")
    with Serving(str(tmp_path / "a.db"), auth=True, followers=False) as server:
        key = server.key(scopes=("read",))
        with Client(server.url + "/v1", key) as memory:
            assert key not in repr(memory)
            assert key not in repr(memory.conversation("c"))
            with pytest.raises(ScopeError, match="scope 'write'"):
                memory.conversation("c").add("user", "hi")
            with pytest.raises(ScopeError, match="gives no access to the requested space"):
                memory.conversations(space="other")
        with Client(server.url) as stranger, pytest.raises(ScopeError, match="the API key is missing"):
            stranger.conversations()
        url = server.url
    with Client(url, "rk_a_b") as nobody, pytest.raises(ServerError, match="is the server running"):
        nobody.conversations()
    with pytest.raises(EverwordError, match="closed"):
        nobody.conversations()


async def many(url: str) -> list[int]:
    async with AsyncClient(url, space="crowd") as memory:
        chat = memory.conversation("c", user="alex")
        kept = await asyncio.gather(*(chat.add("user", f"number {n}") for n in range(20)))
        assert {message.space async for message in memory.export()} == {"crowd"}
        return sorted(message.turn for message in kept)


def test_an_asynchronous_client_asks_many_things_at_once(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "a.db"), followers=False) as server:
        assert asyncio.run(many(server.url)) == list(range(1, 21))


class Moody(BaseHTTPRequestHandler):
    """A server that hangs up, is busy, and answers at last: always the same request."""

    keys: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.keys.append(self.headers["Idempotency-Key"])
        if len(self.keys) == 1:
            self.close_connection = True
            return
        busy = len(self.keys) == 2
        body = json.dumps({"code": "store_busy", "detail": "later"} if busy else {"done": True}).encode()
        self.send_response(503 if busy else 200)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_write_that_got_no_answer_is_sent_again_under_the_same_key() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Moody) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with Client(f"http://127.0.0.1:{server.server_port}") as memory:
                memory.add_name("Al", user="alex")
        finally:
            server.shutdown()
    assert len(Moody.keys) == 3
    assert len(set(Moody.keys)) == 1

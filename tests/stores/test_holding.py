"""D10: a disk that takes nothing, or a PostgreSQL that is away, does not stop a conversation. What is said meanwhile is
held in memory, read like everything else, and written in order and once; whoever asks is told when it begins and ends.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cli_driver import everword, json_lines, succeeded
from engine_doubles import PATIENCE, StoreDouble
from llm_server import Exchange, serving, streams
from outages import (
    Outage,
    small_disk,
    with_full_disk,
    with_full_file,
    with_read_only_file,
    without_file,
    without_folder,
)
from postgres_proxy import PostgresProxy
from postgres_server import stoppable_server
from sample_sizes import sample

from everword import (
    AsyncMemory,
    Batch,
    Client,
    Degraded,
    Draft,
    InvalidInput,
    Memory,
    MessagesLost,
    ScopeError,
    StoreBusy,
    StoreUnwritable,
)
from everword.config import Settings
from everword.model import Conversation
from everword.stores.outage_buffer import LAST_MESSAGES, RECENT, HeldQueue, HeldWrite, RecentMessages
from everword.testing import ScriptedLLM
from everword.testing.samples import T0, make_message
from everword.testing.serving import Serving
from everword.wiring import open_store

COUNT = sample(500)
FEW = sample(100)  # enough for what fails in the same way
EACH = sample(20, least=10)  # of one of several writers
BEFORE = "The spare key hangs behind the barometer."
LONG = "It goes on and on. " * 1_000  # more than any page of a file has room for


class Notices:
    """What a memory tells about being degraded."""

    def __init__(self) -> None:
        self.told: list[Degraded] = []
        self._over = threading.Event()

    def __call__(self, degraded: Degraded) -> None:
        self.told.append(degraded)
        if degraded.is_over:
            self._over.set()

    def wait_until_over(self) -> None:
        assert self._over.wait(PATIENCE), "it is not over"


@pytest.fixture
def notices() -> Notices:
    return Notices()


@contextmanager
def opened(url: str, notices: Notices, limit: int = 2 * COUNT, **options: Any) -> Iterator[tuple[Memory, Any]]:
    store = open_store(url, Settings(busy_seconds=1))
    with Memory(store, hold_messages=limit, on_degraded=notices, followers=False, telemetry="off", **options) as memory:
        yield memory, store


def say(number: int) -> str:
    """A line of its own kind for each number."""
    return f"Parcel number{number} weighs {number} grams and is wrapped in brown paper."


def check_whole(memory: Memory, expected: list[str]) -> None:
    """Everything is there, once and in order, and the chain proves it."""
    history = memory.conversation("c", user="alex").history()
    assert [message.content for message in history] == expected
    assert [message.turn for message in history] == list(range(1, len(expected) + 1))
    assert all(message.degraded is None for message in history)
    assert memory.verify().ok
    assert memory.degraded is None


def talk_meanwhile(memory: Memory, count: int = COUNT) -> None:
    """Say hundreds of things while nothing can be written; all of them can be read at once."""
    chat = memory.conversation("c", user="alex")
    for number in range(count):
        added = chat.add("user", say(number), platform_id=f"p{number}")
        assert added.turn == number + 2
        if number % 100 == 99:
            assert added.degraded is not None
            shown = str(chat.context(f"What does parcel number{number - 60} weigh?").messages)
            assert all(say(recent) in shown for recent in (number, number - 1, number - 60))
            last = chat.history(limit=3)
            assert [message.content for message in last] == [say(number - 2), say(number - 1), say(number)]
            assert memory.search(f"number{number - 60}", user="alex")[0].message.content == say(number - 60)
        if number == 99:
            assert BEFORE in str(chat.context("Where does the spare key hang?").messages), "what was said before"
    assert len(chat.history()) == count + 1


@contextmanager
def disk(folder: Path, kind: str) -> Iterator[tuple[str, Outage]]:
    """The address of a store, and how its disk fails."""
    if kind == "full disk":
        with small_disk(folder) as is_small:
            yield str(folder / "memory.db"), with_full_disk if is_small else with_full_file
    elif kind == "folder gone":
        yield f"json:{folder / 'memory.json'}", without_folder
    else:
        outages: dict[str, Outage] = {"read-only": with_read_only_file, "file gone": without_file}
        yield str(folder / "memory.db"), outages.get(kind, with_full_file)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("full disk", COUNT), ("read-only", FEW), ("full file", FEW), ("file gone", FEW), ("folder gone", FEW)],
)
@pytest.mark.checklist("D10")
def test_a_disk_that_takes_nothing_loses_nothing(
    tmp_path: Path, notices: Notices, kind: str, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    with disk(folder, kind) as (url, outage):
        with opened(url, notices) as (memory, store):
            memory.conversation("c", user="alex").add("user", BEFORE)
            with outage(store):
                talk_meanwhile(memory, count)
                degraded = memory.stats().degraded
                assert degraded is not None
                assert degraded == memory.degraded
                assert count - 100 < degraded.held <= count
                (begun,) = notices.told
                assert (begun.is_over, begun.since) == (False, degraded.since)
            after = memory.conversation("c", user="alex").add("user", "And now?")
            assert (after.turn, after.degraded) == (count + 2, None)
            check_whole(memory, [BEFORE, *map(say, range(count)), "And now?"])
            assert [told.is_over for told in notices.told] == [False, True]
            assert notices.told[1].held == degraded.held
        with opened(url, notices) as (memory, _):
            check_whole(memory, [BEFORE, *map(say, range(count)), "And now?"])
    assert len(notices.told) == 2
    assert len([record for record in caplog.records if record.name == "everword.held"]) == 2


@pytest.mark.checklist("D10")
def test_a_server_that_is_away_loses_nothing(notices: Notices) -> None:
    """PostgreSQL stops and starts again: nothing can even be read meanwhile, and what this process knows is shown."""
    with stoppable_server() as server, opened(server.url, notices) as (memory, _):
        chat = memory.conversation("c", user="alex")
        chat.add("user", BEFORE)
        server.stop()
        talk_meanwhile(memory)
        assert BEFORE in str(chat.history(limit=COUNT + 1)[0])
        assert memory.degraded is not None
        assert memory.degraded.held == COUNT
        server.start()
        notices.wait_until_over()
        assert chat.add("user", "And now?").degraded is None
        check_whole(memory, [BEFORE, *map(say, range(COUNT)), "And now?"])
    assert [(told.held, told.is_over) for told in notices.told] == [(1, False), (COUNT, True)]
    assert {told.reason for told in notices.told} == {"the database's server cannot be reached"}


@pytest.mark.checklist("D10")
def test_a_write_that_was_made_and_not_answered_is_not_made_again(postgres_url: str, notices: Notices) -> None:
    with PostgresProxy(postgres_url) as wire, opened(wire.url, notices) as (memory, _):
        chat = memory.conversation("c", user="alex")
        wire.refuse_after_break = True
        wire.break_commit("messages", "answer")
        assert chat.add("user", "first").degraded is not None
        assert chat.add("user", "second").turn == 2
        wire.refusing = False
        notices.wait_until_over()
        check_whole(memory, ["first", "second"])


# -- what is held, and what is not


@pytest.mark.checklist("D10")
def test_nothing_is_held_unless_a_setting_allows_it(tmp_path: Path, notices: Notices) -> None:
    with opened(str(tmp_path / "memory.db"), notices, limit=0) as (memory, store), without_file(store):
        with pytest.raises(StoreUnwritable):
            memory.conversation("c", user="alex").add("user", "Hello")
        assert memory.degraded is None
    assert not notices.told


@pytest.mark.checklist("D10")
def test_beyond_the_bound_is_a_clear_error(tmp_path: Path, notices: Notices) -> None:
    with opened(str(tmp_path / "memory.db"), notices, limit=3) as (memory, store):
        chat = memory.conversation("c", user="alex")
        with without_file(store):
            chat.extend([Draft("user", "one"), Draft("user", "two")])
            with pytest.raises(StoreUnwritable, match=r"2 of 3 messages \(setting hold_messages\)"):
                chat.extend([Draft("user", "three"), Draft("user", "four")])
            chat.add("user", "three")
            with pytest.raises(StoreUnwritable, match="3 of 3 messages"):
                chat.add("user", "four")
            assert [message.content for message in chat.history()] == ["one", "two", "three"]
        chat.add("user", "four")
        check_whole(memory, ["one", "two", "three", "four"])


@pytest.mark.checklist("D10")
def test_what_is_refused_or_known_is_so_while_messages_are_held(tmp_path: Path, notices: Notices) -> None:
    with opened(str(tmp_path / "memory.db"), notices) as (memory, store):
        chat = memory.conversation("c", user="alex")
        first = chat.add("user", "first", platform_id="p1")
        with without_file(store):
            second = chat.add("user", "second", platform_id="p2")
            assert [added.new for added in chat.extend([Draft("user", "again", platform_id="p1")])] == [False]
            (known,) = chat.extend([Draft("user", "again", platform_id="p2")])
            assert (known.new, known.message, known.degraded) == (False, second, memory.degraded)
            with pytest.raises(InvalidInput, match="content"):
                chat.add("user", "")
            with pytest.raises(ScopeError):
                memory.conversation("c", user="kim").add("user", "Not mine")
            memory.conversation("d", user="kim").add("user", "Mine")
            with pytest.raises(ScopeError):
                memory.conversation("d", user="alex").add("user", "Not mine")
            with pytest.raises(StoreUnwritable):
                memory.erase(user="kim")  # else what is held would be written after it
            assert [hit.message.content for hit in memory.search("second", user="alex")] == ["second"]
        chat.add("user", "third")
        check_whole(memory, ["first", "second", "third"])
        assert [m.content for m in memory.conversation("d", user="kim").history()] == ["Mine"]
        assert first.degraded is None


@pytest.mark.checklist("D10")
def test_nothing_is_made_of_a_message_that_is_only_held(tmp_path: Path, notices: Notices) -> None:
    """A file that may not grow refuses a long message and would still take a short row: what would rest on a message
    that is not in the log is refused with it, and nobody is told that it is remembered."""
    with opened(str(tmp_path / "memory.db"), notices) as (memory, store):
        chat = memory.conversation("c", user="alex")
        memory.remember("Alex keeps bees", user="alex")
        fact = memory.add_fact("preference", "colour", "blue", user="alex").fact
        assert fact is not None
        before = [memory.profile(user="alex").statements, memory.facts(user="alex")]
        attempts: list[Callable[[], object]] = [
            lambda: memory.remember("Alex steers", user="alex"),
            lambda: memory.forget("that Alex keeps bees", user="alex"),
            lambda: memory.add_fact("possession", "boat", "Pinta", user="alex"),
            lambda: memory.edit_fact(fact.id, "red", user="alex"),
            lambda: memory.delete_fact(fact.id, user="alex"),
            lambda: chat.command("Remember that I steer", addressed=True),
            lambda: chat.command("Forget that I keep bees", addressed=True),
        ]
        with with_full_file(store):
            chat.add("user", LONG)
            assert memory.degraded is not None
            for attempt in attempts:
                with pytest.raises(StoreUnwritable):
                    attempt()
            asked = chat.command("What do you know about me?", addressed=True)
            assert asked is not None
            assert "bees" in asked.text
            assert [memory.profile(user="alex").statements, memory.facts(user="alex")] == before
        memory.settle()
        memory.rebuild("facts")
        memory.settle()
        assert [memory.profile(user="alex").statements, memory.facts(user="alex")] == before
        assert [statement.text for statement in memory.remember("Alex steers", user="alex")] == ["alex steers."]
        assert [message.content for message in chat.history() if message.role == "user"] == [
            LONG,
            "What do you know about me?",
        ]
        assert memory.verify().ok


@pytest.mark.checklist("D10")
def test_two_conversations_and_many_writers_keep_their_order(tmp_path: Path, notices: Notices) -> None:
    """The disk takes every third transaction or so: what one caller says one after the other stays in order."""
    store = StoreDouble(open_store(str(tmp_path / "memory.db"), Settings()))
    attempts = 0

    def fail_often(tx: object) -> None:
        nonlocal attempts
        attempts += 1
        if attempts % 3:
            raise StoreUnwritable("the disk is full", "the disk is full")

    async def talk(memory: AsyncMemory, writer: int) -> None:
        for number in range(EACH):
            batches = [Batch("default", name, None, [Draft("user", f"{writer}: {number}")]) for name in ("c", "d")]
            await memory.add_many(batches)

    async def talk_at_once() -> None:
        async with AsyncMemory(store, hold_messages=1000, on_degraded=notices, followers=False) as memory:
            store.inside = fail_often
            await asyncio.gather(*(talk(memory, writer) for writer in range(8)))
            store.inside = lambda tx: None
            await memory.settle()
            for name in ("c", "d"):
                contents = [message.content for message in await memory.conversation(name).history()]
                assert len(contents) == len({*contents}) == 8 * EACH
                for writer in range(8):
                    own = [text for text in contents if text.startswith(f"{writer}:")]
                    assert own == [f"{writer}: {number}" for number in range(EACH)]
            assert (await memory.verify()).ok

    asyncio.run(talk_at_once())
    assert [told.is_over for told in notices.told] == [False, True] * (len(notices.told) // 2)


@pytest.mark.checklist("D10")
def test_a_busy_database_is_no_outage(tmp_path: Path, notices: Notices) -> None:
    store = StoreDouble(open_store(str(tmp_path / "memory.db"), Settings()))
    with Memory(store, hold_messages=10, on_degraded=notices, followers=False) as memory:

        def be_busy(tx: object) -> None:
            raise StoreBusy("others write")

        store.inside = be_busy
        with pytest.raises(StoreBusy):
            memory.conversation("c", user="alex").add("user", "Hello")
        store.inside = lambda tx: None
        assert memory.conversation("c", user="alex").history() == []
    assert not notices.told


# -- the end


@pytest.mark.checklist("D10")
def test_closing_writes_what_is_held_or_says_what_is_lost(tmp_path: Path, notices: Notices) -> None:
    url = str(tmp_path / "memory.db")
    with opened(url, notices) as (memory, store), without_file(store):
        memory.conversation("c", user="alex").add("user", "kept")
    assert [told.is_over for told in notices.told] == [False, True]

    def lose_two() -> None:
        with opened(url, notices) as (memory, store):
            closed = without_file(store)
            closed.__enter__()
            try:
                memory.conversation("c", user="alex").extend([Draft("user", "lost"), Draft("user", "lost too")])
                memory.close()
            finally:
                closed.__exit__(None, None, None)

    with pytest.raises(MessagesLost, match="2 messages held in memory") as raised:
        lose_two()
    assert raised.value.count == 2
    with opened(url, notices) as (memory, _):
        check_whole(memory, ["kept"])


# -- a turn


@pytest.mark.checklist("D10")
def test_a_turn_goes_on_while_the_disk_takes_nothing(tmp_path: Path, notices: Notices) -> None:
    model = ScriptedLLM(["Noted.", "[REQUEST_TIER:3:m1]", "Behind the barometer.", "Still there."])
    with opened(str(tmp_path / "memory.db"), notices, chat=model) as (memory, store):
        chat = memory.conversation("c", user="alex")
        assert chat.reply(BEFORE).degraded is None
        with without_file(store):
            reply = chat.reply("Where is the spare key?")
            assert (reply.text, reply.message.turn) == ("Behind the barometer.", 4)
            assert reply.degraded is not None
            assert reply.degraded.held == 2
            assert "".join(chat.stream("Are you sure about the key?")) == "Still there."
            assert "Behind the barometer." in str(model.requests[-1].messages)
            assert [message.turn for message in chat.history()] == [1, 2, 3, 4, 5, 6]
        memory.settle()
        assert [message.content for message in chat.history()][2:] == [
            "Where is the spare key?",
            "Behind the barometer.",
            "Are you sure about the key?",
            "Still there.",
        ]
        assert memory.verify().ok
        assert memory.search("Are you sure about the key?", user="alex")[0].message.turn == 5


# -- the faces


@pytest.mark.checklist("D10")
def test_a_server_says_that_it_holds_messages(tmp_path: Path) -> None:
    said = {"user": "alex", "messages": [{"role": "user", "content": "Hello"}]}
    path = "/v1/conversations/c/messages"
    with Serving(str(tmp_path / "memory.db"), hold_messages=10, followers=False, chat=ScriptedLLM(["Hi."])) as server:
        with httpx2.Client(base_url=server.url) as http, Client(server.url) as client, without_file(server.store):
            answer = http.post(path, json=said, headers={"Idempotency-Key": "a"})
            assert answer.status_code == 200
            degraded = answer.json()[0]["degraded"]
            assert (degraded["held"], degraded["reason"]) == (1, "the file was removed or replaced")
            assert answer.headers["Everword-Degraded"].startswith("held=1, since=")
            (again,) = http.post(path, json=said, headers={"Idempotency-Key": "a"}).json()
            assert (again["new"], again["degraded"]["held"]) == (False, 1)
            added = client.conversation("c", user="alex").add("user", "Once more")
            assert added.degraded is not None
            assert client.conversation("c", user="alex").reply("Well?").degraded is not None
            assert [message.turn for message in client.conversation("c", user="alex").history()] == [1, 2, 3, 4]
            health = http.get("/healthz").json()
            assert (health["status"], health["held"]) == ("degraded", 4)
            assert http.get("/v1/stats").json()["degraded"]["held"] == 4
        with httpx2.Client(base_url=server.url) as http:
            after = http.post(path, json=said)
            assert (after.json()[0]["degraded"], after.json()[0]["message"]["turn"]) == (None, 5)
            assert "Everword-Degraded" not in after.headers
            assert http.get("/healthz").json() == {"status": "ok"}


@pytest.mark.checklist("D10")
def test_a_server_acknowledges_only_what_is_on_the_disk_unless_told(tmp_path: Path) -> None:
    said = {"user": "alex", "messages": [{"role": "user", "content": "Hello"}]}
    with (
        Serving(str(tmp_path / "memory.db"), followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
        without_file(server.store),
    ):
        answer = http.post("/v1/conversations/c/messages", json=said)
        assert (answer.status_code, answer.json()["code"]) == (507, "store_unwritable")


@pytest.mark.checklist("D10")
def test_a_chat_warns_once_and_says_when_it_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def moving(source: str, target: str, reply: str) -> Any:
        def step(exchange: Exchange) -> None:
            os.rename(source, target)
            streams(reply)(exchange)

        return step

    steps = [moving("everword.db", "gone.db", "One."), streams("Two."), moving("gone.db", "everword.db", "Three.")]
    with serving(*steps) as service:
        model = {"EVERWORD_CHAT_URL": service.url, "EVERWORD_CHAT_MODEL": "small", "EVERWORD_FOLLOWERS": "false"}
        result = everword("chat", input="First\nSecond\nThird\n", env=model)
    assert (result.exit_code, result.stdout) == (0, "One.\nTwo.\nThree.\n")
    begun, over = result.stderr.splitlines()
    assert begun.startswith("warning: the file was removed or replaced: what is said is held in memory")
    assert over == "warning: the store takes messages again: 4 messages held in memory written"
    kept = [line["content"] for line in json_lines(succeeded("history", "chat", "--json"))]
    with serving(moving("everword.db", "gone.db", "Four.")) as service:
        result = everword("chat", input="Fourth\n", env=model | {"EVERWORD_CHAT_URL": service.url})
    assert (result.exit_code, result.stdout) == (1, "Four.\n")
    assert result.stderr.splitlines()[-1].startswith("error: 1 message held in memory could not be written: lost")
    assert kept == ["First", "One.", "Second", "Two.", "Third", "Three."]


# -- the queue


def held_write(turn: int, content: str = "x") -> HeldWrite:
    message = make_message(turn, content)
    conversation = Conversation(message.space, message.conversation, "alex", T0, T0, turns=turn)
    return HeldWrite(lambda tx: tx.save_conversation(conversation, [message]), (message,), (conversation,))


@pytest.mark.checklist("D10")
def test_the_queue_is_bounded_and_gives_the_oldest_first() -> None:
    queue = HeldQueue(3)
    writes = [held_write(turn) for turn in (1, 2, 3)]
    for write in writes:
        assert queue.has_room(write)
        queue.push(write)
    assert not queue.has_room(held_write(4))
    assert queue.oldest(2) == writes[:2]
    queue.drop(writes[:1])
    assert (queue.count, queue.oldest(0)) == (2, writes[1:2])
    place = ("s", writes[0].messages[0].conversation)
    assert queue.conversations[place].messages == (*writes[1].messages, *writes[2].messages)
    assert not HeldQueue(3).has_room(held_write(1, "x" * (65 << 20)))


@pytest.mark.checklist("D10")
def test_of_each_conversation_the_last_messages_are_known_for_a_while() -> None:
    recent = RecentMessages()
    messages = [make_message(turn) for turn in range(1, LAST_MESSAGES + 10)]
    conversation = Conversation("s", messages[0].conversation, "alex", T0, T0, turns=len(messages))
    place = (conversation.space, conversation.id)
    recent.note(conversation, messages[:-1], T0)
    recent.note(conversation, messages[-1:], T0)
    known = recent.find(place, T0 + RECENT)
    assert known is not None
    assert list(known.messages) == messages[-LAST_MESSAGES:]
    assert recent.find(place, T0 + RECENT + timedelta(seconds=1)) is None
    recent.clear()
    assert recent.find(place, T0) is None

"""`erase` takes one person out of everything, in one transaction, and nobody else; nothing but a wish calls it."""

from __future__ import annotations

import ast
import re
import threading
import time
from pathlib import Path

import psycopg
import pytest
from engine_doubles import PATIENCE, GatedEmbedder, StoreDouble
from raw_tables import path_of

import everword
from everword import Draft, Memory, NotFound, StoreError
from everword.config import Settings
from everword.memory.blocking import BlockingConversation
from everword.ports import Tx
from everword.wiring import open_store

# Words nobody else uses, whose stems are shorter than they are; and all that is left of them once stemmed.
SECRET = "My flibbertigibbets were zorbling near the Quuxberg"
TRACES = ("flibbertigibbet", "zorbl", "quuxberg", "alexandra", "platform-of-alexandra", "attached-by-alexandra")


def fill(memory: Memory) -> None:
    """Two chats of Alexandra's, one of Kim's, and a channel of both; in two spaces."""
    for name in ("chat 1", "chat 2"):
        chat = memory.conversation(name, user="alexandra")
        chat.add("user", SECRET, platform_id=f"platform-of-alexandra {name}")
        chat.add(
            "assistant", f"Tell me more about the flibbertigibbets of {name}", metadata={"attached-by-alexandra": 1}
        )
    memory.conversation("chat 3", user="kim").add("user", "Kim keeps parrots", platform_id="p")
    memory.conversation("chat 1", user="alexandra", space="elsewhere").add("user", "parrots in another space")
    channel = memory.conversation("general")
    channel.add("user", "Kim says hello to the parrots", author="kim")
    channel.add("user", f"{SECRET}, said to all", author="alexandra")
    channel.add("assistant", "The parrots say hello to all")
    channel.add("assistant", "Zorbling, I see", user="alexandra")
    channel.add("user", "Kim again", author="kim")


def traces(url: str) -> list[str]:
    """What is left of the secret in the files, or in all tables of the server; one space keeps her name."""
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as server:
            names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everword'").fetchall()
            rows = [server.execute(f"SELECT t::text FROM everword.{n} t").fetchall() for (n,) in names]
        held = "\n".join(row for table in rows for (row,) in table).encode()
    else:
        path = path_of(url)
        held = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    return [trace for trace in TRACES if trace.encode() in held.lower()]


# -- what is gone


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
def test_not_a_word_is_left_behind(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        memory.erase(user="alexandra", space="elsewhere")
        memory.settle()
        assert traces(store_url) == list(TRACES), "or this test looks in the wrong place"
        memory.erase(user="alexandra")
        assert traces(store_url) == []
        memory.settle()
        memory.rebuild()
        memory.settle()
        assert traces(store_url) == []
    assert traces(store_url) == []


def test_nothing_finds_or_shows_it_any_more(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        memory.settle()
        assert memory.search("flibbertigibbets", user="alexandra")
        memory.erase(user="alexandra")
        for query in ("flibbertigibbets zorbling", SECRET, "Tell me more"):
            assert all("flibber" not in hit.message.content for hit in memory.search(query, limit=100))
            assert memory.search(query, user="alexandra") == []
        assert memory.conversation("chat 1", user="alexandra").history() == []
        today, question = memory.conversation("chat 2").context("Hello?", markers=False).messages
        assert re.fullmatch(r"\d{1,2}[A-Z][a-z]{2}\d{4} [A-Z][a-z]{2}", today["content"]), "only which day it is"
        assert question["content"] == "Hello?"
        assert memory.conversations(user="alexandra") == []
        assert list(memory.export(user="alexandra")) == []
        assert not any(m.content for m in memory.export(conversation="chat 1"))
        assert memory.stats().users == 2, "kim here, alexandra elsewhere"


def test_places_stay_and_the_chain_holds(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        before = memory.verify()
        memory.erase(user="alexandra")
        after = memory.verify()
        assert after.ok
        assert (after.messages, after.erased) == (before.messages - 6, 6)
        assert after.root == before.root, "a root noted before proves the rest still"
        kept = list(memory.export(conversation="general"))
        assert [(m.turn, m.erased) for m in kept] == [(1, False), (2, True), (3, False), (4, True), (5, False)]
        gone = kept[1]
        assert (gone.author, gone.user, gone.content, gone.metadata, gone.seal.salt) == ("", None, "", {}, b"")
    with Memory(store_url) as memory:
        assert memory.verify() == after


def test_everybody_else_is_left_alone(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        memory.settle()

        def others() -> object:
            found = [hit.message.id for hit in memory.search("parrots", limit=100) if hit.parts["text"]]
            elsewhere = [m.content for m in memory.export(space="elsewhere")]
            return list(memory.export(user="kim")), sorted(found), elsewhere

        before = others()
        channel = [m for m in memory.conversation("general").history() if m.turn in (1, 3, 5)]
        memory.erase(user="alexandra")
        assert others() == before
        assert memory.conversation("general").history() == channel
        assert memory.conversation("chat 3", user="kim").add("user", "and on").turn == 2


def test_it_says_what_it_removed(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        memory.settle()
        entries = memory.stats().entries
        erasure = memory.erase(user="alexandra")
        assert (erasure.space, erasure.messages, erasure.conversations, erasure.entries) == ("default", 6, 3, 6)
        assert "alexandra" not in repr(erasure)
        stats = memory.stats()
        assert (stats.erased, stats.messages, stats.entries) == (6, 5, entries - 6)
        again = memory.erase(user="alexandra", space="elsewhere")
        assert (again.messages, again.conversations) == (1, 1)
        assert again.id != erasure.id


def test_somebody_unknown_is_not_found_and_nothing_happens(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        before = memory.verify()
        for user, space in (
            ("nobody", None),
            ("alexandra", "nowhere"),
            ("ALEXANDRA", None),
            ("alex", None),
            ("%", None),
        ):
            with pytest.raises(NotFound, match="nothing was erased"):
                memory.erase(user=user, space=space)
        memory.erase(user="alexandra")
        with pytest.raises(NotFound):
            memory.erase(user="alexandra")
        assert memory.verify().erased == before.erased + 6


# -- coming back


@pytest.mark.checklist("C1")
def test_the_same_message_delivered_again_is_kept_out(store_url: str) -> None:
    """C1: a platform that delivers an erased message again does not bring it back."""
    with Memory(store_url) as memory:
        fill(memory)
        memory.erase(user="alexandra")
        draft = Draft("user", SECRET, author="alexandra", user="alexandra", platform_id="platform-of-alexandra chat 1")
        (again,) = memory.conversation("chat 1").extend([draft])
        assert (again.new, again.message.erased, again.message.turn) == (False, True, 1)
        assert not set(traces(store_url)) & {"flibbertigibbet", "zorbl", "quuxberg"}
        assert memory.conversation("chat 1").add("user", "new words", platform_id="another").turn == 3


def test_whoever_was_erased_can_come_back_to_the_same_conversation(store_url: str) -> None:
    with Memory(store_url) as memory:
        fill(memory)
        memory.erase(user="alexandra")
    with Memory(store_url) as memory:
        chat = memory.conversation("chat 1", user="alexandra")
        assert chat.add("user", "I am back, with a walrus").turn == 3
        assert [m.content for m in chat.history()] == ["I am back, with a walrus"]
        assert [hit.message.turn for hit in memory.search("walrus", user="alexandra")] == [3]
        assert memory.conversations(user="alexandra")[0].id == "chat 1"
        with pytest.raises(everword.ScopeError):
            memory.conversation("chat 1", user="kim").history()
        assert memory.erase(user="alexandra").messages == 1
        assert memory.verify().ok


# -- at once, or not at all


@pytest.mark.every_store
def test_a_failing_store_leaves_everything(store_url: str) -> None:
    store = StoreDouble(open_store(store_url, Settings()))
    with Memory(store, followers=False) as memory:
        fill(memory)
        memory.settle()
        before = (memory.verify(), memory.stats(), list(memory.export()), memory.conversations())

        def fail(_: Tx) -> None:
            raise StoreError("the disk is gone")

        store.inside = fail
        with pytest.raises(StoreError, match="the disk is gone"):
            memory.erase(user="alexandra")
        assert (memory.verify(), memory.stats(), list(memory.export()), memory.conversations()) == before
        assert memory.search("flibbertigibbets", user="alexandra")


@pytest.mark.every_store
def test_what_was_being_indexed_while_it_was_erased_stays_out(store_url: str) -> None:
    """A follower has read the words already and comes to store them after the erasure."""
    embedder = GatedEmbedder()
    with Memory(store_url, embedder=embedder) as memory:
        memory.conversation("general").add("user", SECRET, author="alexandra")
        memory.conversation("general").add("user", "Kim keeps parrots", author="kim")
        embedder.wait_until_entered()
        memory.erase(user="alexandra")
        embedder.open()
        memory.settle()
        assert memory.stats().entries == 1
        assert memory.search("parrots")
        assert traces(store_url) == []


def test_what_is_added_during_an_erasure_is_not_lost(postgres_url: str) -> None:
    """Two transactions on one conversation: the erasure waits for the other and builds on what it left."""
    with Memory(postgres_url, followers=False) as memory:
        chat = memory.conversation("chat", user="alexandra")
        chat.add("user", SECRET)
        erasing = threading.Thread(target=memory.erase, kwargs={"user": "alexandra"})

        def meanwhile(_: Tx) -> None:
            erasing.start()
            wait_for_a_lock(postgres_url)

        store = StoreDouble(open_store(postgres_url, Settings()))
        store.inside = meanwhile
        with Memory(store, followers=False) as other:
            other.conversation("chat").add("assistant", "a reply that comes meanwhile")
        erasing.join()
        assert memory.verify().ok
        assert chat.add("user", "next").turn == 3
        assert memory.verify().ok


def test_a_follower_that_comes_while_it_is_erased_reads_nothing(postgres_url: str) -> None:
    """It finds the conversation behind, and the erasure not yet committed: it must wait and then see tombstones."""
    store, embedder = StoreDouble(open_store(postgres_url, Settings())), GatedEmbedder()
    with (
        Memory(store, followers=False) as memory,
        Memory(postgres_url, embedder=embedder, followers=False) as worker,
    ):
        memory.conversation("general").add("user", SECRET, author="alexandra")
        memory.conversation("general").add("user", "Kim keeps parrots", author="kim")
        following = threading.Thread(target=worker.settle)

        def meanwhile(_: Tx) -> None:
            following.start()
            wait_for_a_lock(postgres_url, embedder)

        store.inside = meanwhile
        memory.erase(user="alexandra")
        embedder.open()
        following.join()
        assert worker.stats().entries == 1
        assert traces(postgres_url) == []


def test_two_erasures_at_once_are_one(postgres_url: str) -> None:
    store = StoreDouble(open_store(postgres_url, Settings()))
    with Memory(store, followers=False) as first, Memory(postgres_url, followers=False) as second:
        for number in range(3):
            first.conversation(f"channel {number}").add("user", SECRET, author="alexandra")
        outcomes: list[str] = []

        def erase_again() -> None:
            try:
                second.erase(user="alexandra")
            except NotFound:
                outcomes.append("not found")

        again = threading.Thread(target=erase_again)

        def meanwhile(_: Tx) -> None:
            again.start()
            wait_for_a_lock(postgres_url)

        store.inside = meanwhile
        assert first.erase(user="alexandra").messages == 3
        again.join()
        assert outcomes == ["not found"]
        assert first.verify().ok


def wait_for_a_lock(url: str, embedder: GatedEmbedder | None = None) -> None:
    """Until some transaction waits for another (or has gone on to embed)."""
    with psycopg.connect(url, autocommit=True) as server:
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        deadline = time.monotonic() + PATIENCE
        while not (row := server.execute(waiting).fetchone()) or not row[0]:
            if embedder is not None and embedder.entered:
                return
            assert time.monotonic() < deadline, "nobody waits"


# -- never by itself


def test_only_the_method_of_that_name_erases() -> None:
    """Every call of something named `erase` or `erase_person` in the package, by module and function."""
    root = Path(everword.__file__).parent
    callers = set()
    for path in root.rglob("*.py"):
        if "testing" in path.parts:
            continue
        source = path.read_text(encoding="utf-8")
        if not re.search(r"\.erase(_person)?\(", source):
            continue
        for function in ast.walk(ast.parse(source)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                callers |= {(path.relative_to(root).as_posix(), function.name) for call in erasing_calls(function)}
    assert {(module, name) for module, name in callers if not module.startswith("cli/")} == {
        ("memory/blocking.py", "erase"),
        ("memory/operations/changes.py", "erase"),
        ("changes/removal.py", "put_tombstones"),  # the one place that removes messages
        ("bots/commands.py", "_erase"),  # after the person was asked twice
        (
            "server/web/administration.py",
            "erase",
        ),  # the form of that page, after its preview and with the scope `admin`
    }
    assert calls_by_name(root, "put_tombstones") == {"remove_messages", "expire_page", "remove_expired_messages"}
    assert calls_by_name(root, "remove_messages") == {"erase_person", "delete_messages"}
    assert {name for module, name in callers if module.startswith("cli/")} <= {"erase"}
    assert not any("erase" in name for name in vars(BlockingConversation))


def calls_by_name(root: Path, name: str) -> set[str]:
    """The functions of the package that call a function of this name."""
    sources = [path.read_text(encoding="utf-8") for path in root.rglob("*.py")]
    return {
        function.name
        for source in sources
        if name in source
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def erasing_calls(function: ast.AST) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("erase", "erase_person")
    ]


def test_nothing_else_that_can_be_called_removes_a_message(store_url: str) -> None:
    """Every other method, called: the messages of before are all there, to the character."""
    with Memory(store_url) as memory:
        fill(memory)
        before = list(memory.export())
        chat = memory.conversation("chat 1", user="alexandra")
        chat.add("user", "more", platform_id="platform-of-alexandra chat 1")
        chat.extend([Draft("user", "and more")])
        chat.history(limit=1)
        chat.context("What now?")
        memory.search("parrots")
        memory.rebuild()
        memory.settle()
        memory.rebuild(space="default")
        memory.settle()
        memory.conversations(user="kim")
        memory.stats()
        memory.verify()
        kept = {m.id: m for m in memory.export()}
        assert [kept[m.id] for m in before] == before
        assert len(kept) == len(before) + 1

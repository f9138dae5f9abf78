"""F18: what an erasure leaves behind. Not the person's id, in no table and no file; and where the words cannot leave
the files yet, because another program still reads them, the erasure says so and names the command that clears them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from everword import Memory, NotFound
from everword.config import Settings
from everword.log.append_and_read import new_id
from everword.log.checks_and_seals import tombstone
from everword.model import Erasure, Filter
from everword.ports import Tx
from everword.stores.sqlite import SqliteStore
from everword.testing import FrozenClock
from everword.testing.samples import claim_place
from everword.wiring import open_store

PERSON = "alexandra-77"
WORDS = "flibbertigibbets were zorbling near the Quuxberg"


def held(url: str) -> bytes:
    """All bytes of the files of a store, or all rows of a server's tables."""
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as server:
            names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everword'").fetchall()
            rows = [server.execute(f"SELECT t::text FROM everword.{n} t").fetchall() for (n,) in names]
        return "\n".join(row for table in rows for (row,) in table).encode()
    path = Path(url.removeprefix("json:"))
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))


def live(memory: Memory) -> None:
    """A person's life in a space: chats of their own, one called by their id, a channel, what they told by command,
    what others told of them, names, documents, digests."""
    memory.conversation("chat", user=PERSON).add("user", f"I live in Berlin. My {WORDS}", name="Alexandra")
    memory.conversation(f"telegram:{PERSON}", user=PERSON).add("user", f"I work as a baker. {WORDS}")
    memory.conversation(f"telegram:{PERSON}~2", user=PERSON).add("user", f"I play chess. {WORDS}")
    memory.conversation(f"channels/{PERSON}").add("user", "Nobody else is here", author=PERSON)
    channel = memory.conversation("general")
    channel.add("user", "I like parrots", author=PERSON, name="Alexandra")
    channel.add("user", "I keep a parrot", author="kim")
    memory.remember("Alexandra likes tea", user=PERSON)
    memory.remember("Alexandra likes figs", user=PERSON, speaker="kim")
    memory.remember("Kim likes tea", user="kim", speaker=PERSON)
    memory.forget("tea", user=PERSON)
    memory.add_name("Allie", user=PERSON, kind="nickname")
    memory.documents().put(("memories", PERSON), "k", {"text": "a document"})
    memory.settle()
    memory.digests()
    memory.profile(user=PERSON)


def begin_digest(tx: Tx) -> None:
    """As one leaves it that was killed while it made a digest of the person."""
    now = FrozenClock().now()
    claim_place(tx, "digesting", "default", f"week 2026-01-01 UTC {PERSON}", "somebody", now, now)


@pytest.mark.every_store
@pytest.mark.checklist("F18")
def test_the_id_of_a_person_is_gone_with_them(store_url: str) -> None:
    with closing(open_store(store_url, Settings())) as store:
        store.write(begin_digest)
    with Memory(store_url) as memory:
        live(memory)
        assert PERSON.encode() in held(store_url), "or this test looks in the wrong place"
        erasure = memory.erase(user=PERSON)
        assert erasure.left == ()
        assert PERSON.encode() not in held(store_url)
        assert memory.verify().ok
        memory.settle()
        memory.rebuild()
        memory.settle()
        assert [message.author for message in memory.conversation("general").history()] == ["kim"]
        assert PERSON.encode() not in held(store_url)
        with pytest.raises(NotFound):
            memory.erase(user=PERSON)
    with Memory(store_url) as memory:
        assert memory.verify().ok
    assert PERSON.encode() not in held(store_url)


@pytest.mark.checklist("F18")
def test_whoever_was_erased_can_tell_something_again(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.remember("Alexandra likes tea", user=PERSON)
        memory.erase(user=PERSON)
        memory.remember("Alexandra likes figs", user=PERSON)
        assert len(memory.profile(user=PERSON, wait=0).statements) == 1
        assert memory.erase(user=PERSON).messages == 1
        assert memory.verify().ok
        assert PERSON.encode() not in held(store_url)


@pytest.mark.every_store
@pytest.mark.checklist("F18")
def test_an_id_that_an_older_version_left_is_erased(store_url: str) -> None:
    """There the conversation kept its name, and nothing else was left to find the person by."""
    with Memory(store_url, followers=False) as memory:
        memory.remember("Alexandra likes tea", user=PERSON)
    with closing(open_store(store_url, Settings())) as store:
        store.write(erase_as_before)
    assert f"profile:{PERSON}".encode() in held(store_url)
    with Memory(store_url, followers=False) as memory:
        memory.erase(user=PERSON)
        assert PERSON.encode() not in held(store_url)
        assert memory.verify().ok
        with pytest.raises(NotFound):
            memory.erase(user=PERSON)


def erase_as_before(tx: Tx) -> None:
    now = FrozenClock().now()
    (said,) = tx.messages(Filter("default", user=PERSON))
    tx.erase(Erasure(new_id(now), "default", now, 1, 1, 0), [tombstone(said)])
    for table in ("statements", "facts", "findings"):
        tx.remove(table, {"space": "default", "user_id": PERSON})
    (owner,) = tx.conversations("default")
    tx.save_conversation(type(owner)(owner.space, owner.id, None, now, now, owner.turns, owner.head))


@pytest.mark.checklist("F18")
def test_a_conversation_of_others_keeps_its_name(store_url: str) -> None:
    """Only what was the person's own is renamed: a channel is called as those in it call it."""
    with Memory(store_url, followers=False) as memory:
        memory.conversation(f"about:{PERSON}").add("user", "we like her", author="kim")
        memory.conversation(f"about:{PERSON}").add("user", "thanks", author=PERSON)
        memory.erase(user=PERSON)
        assert [message.content for message in memory.conversation(f"about:{PERSON}").history()] == ["we like her"]
        assert memory.verify().ok


# -- the files of SQLite


@pytest.mark.checklist("F18")
def test_words_that_a_reader_keeps_in_the_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(SqliteStore(path, busy_seconds=0.2)) as memory:
        memory.conversation("chat", user=PERSON).add("user", WORDS)
        memory.settle()
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)
            erasure = memory.erase(user=PERSON)
            assert erasure.messages == 1
            assert len(erasure.left) == 1
            assert "memory.db-wal" in erasure.left[0]
            assert "everword scrub" in erasure.left[0]
            assert b"flibbertigibbet" in held(str(path)), "or nothing is left, and it should not be said"
            assert PERSON not in str(erasure.left)
            reader.execute("ROLLBACK")
        assert memory.verify().ok
    with closing(open_store(str(path), Settings())) as store:
        assert store.scrub() == ()
        assert b"flibbertigibbet" not in held(str(path))
        assert PERSON.encode() not in held(str(path))


@pytest.mark.checklist("F18")
def test_a_reader_who_ends_in_time_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(str(path)) as memory:
        memory.conversation("chat", user=PERSON).add("user", WORDS)
        memory.settle()
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("SELECT count(*) FROM messages").fetchone()
            assert memory.erase(user=PERSON).left == ()
            assert b"flibbertigibbet" not in held(str(path))


@pytest.mark.checklist("F18")
def test_an_erasure_whose_files_cannot_be_cleared_is_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = str(tmp_path / "memory.db")
    with Memory(url) as memory:
        memory.conversation("chat", user=PERSON).add("user", WORDS)
        memory.conversation("other", user="kim").add("user", "I keep a parrot")
        memory.settle()
    with closing(sqlite3.connect(url)) as file, file:
        file.execute("UPDATE fulltext_data SET block = x'00' WHERE id > 10")  # which clearing has to go through
    with Memory(url, followers=False) as memory:
        erasure = memory.erase(user=PERSON)
        assert erasure.messages == 1
        assert [line for line in erasure.left if "`everword scrub`" in line]
        assert "could not be cleared" in caplog.text
        with pytest.raises(NotFound):
            memory.erase(user=PERSON)


@pytest.mark.checklist("F18")
def test_what_retention_takes_out_is_told_alike(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(SqliteStore(path, busy_seconds=0.2), retain_messages=1) as memory:
        long_ago = FrozenClock().now().replace(year=2001)
        memory.conversation("chat", user=PERSON).add("user", WORDS, time=long_ago)
        memory.settle()
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM messages").fetchone()
            done = memory.retain(dry_run=False)
        assert done.count == 1
        assert "everword scrub" in done.left[0]
        assert memory.retain(dry_run=False).left == ()
        assert b"flibbertigibbet" not in held(str(path))


@pytest.mark.every_store
def test_stores_that_leave_nothing_say_nothing(kind: str, addresses: Callable[[str, str], str]) -> None:
    with closing(open_store(addresses(kind, "memory"), Settings())) as store:
        assert store.scrub() == ()

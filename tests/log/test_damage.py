"""F15: a message that cannot be read harms itself alone. It is named by its place, never by its words; all the others
can be read, searched, proved, exported and copied."""

from __future__ import annotations

import logging
import sqlite3
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from engine_doubles import settle_index
from filled_store import make_filled

from everword import Memory
from everword.config import Settings
from everword.errors import DamagedMessage, StoreError
from everword.log.append_and_read import verify
from everword.memory.transfer import copy_store
from everword.model import Draft, Filter
from everword.ports import Tx
from everword.wiring import open_store

SECRET = "quuxberg"
TURNS = 5
AT = 3  # the turn that is damaged

# What is done to a message, by kind of store, and the column that is named.
BYTES = f"CAST(x'{SECRET.encode().hex()}20ff' AS TEXT)"
SQLITE = {
    f"content = {BYTES}": "content",
    f"author = {BYTES}": "author",
    f"id = {BYTES}": "id",
    f"metadata = {BYTES}": "metadata",
    f"content = x'{SECRET.encode().hex()}'": "content",
    f"content = '{SECRET}' || char(0) || 'x'": "content",
    "digest = 100000000000": "digest",
    "salt = 'text'": "salt",
    "user_id = x'00'": "user_id",
    f"time = '{SECRET}'": "time",
}
BOTH = {
    f"metadata = '{{\"{SECRET}\": '": "metadata",
    f"metadata = '[\"{SECRET}\"]'": "metadata",
    f"metadata = '{{\"{SECRET}\": NaN}}'": "metadata",
    f"metadata = '{{\"{SECRET}\": 1e999}}'": "metadata",
    f'metadata = \'{{"{SECRET}": "\\ud800"}}\'': "metadata",
    f"metadata = '{'[' * 3_000}'": "metadata",
    "time = 9223372036854775807": "time",
    f"role = '{SECRET}'": "role",
}
DAMAGES = [("sqlite", change, column) for change, column in (SQLITE | BOTH).items()]
DAMAGES += [("postgresql", change, column) for change, column in BOTH.items()]
KINDS = ["sqlite", "postgresql"]
UNREADABLE = {"sqlite": f"content = {BYTES}", "postgresql": f"content = '{SECRET}', metadata = '{{'"}


def speak(url: str) -> None:
    with Memory(url, followers=False) as memory:
        for name, user in (("chat", "alex"), ("other", "kim")):
            said = [f"{SECRET} of {user}, number {turn}, about parrots" for turn in range(1, TURNS + 1)]
            drafts = [Draft("user", text, metadata={"n": turn}) for turn, text in enumerate(said, 1)]
            memory.conversation(name, user=user).extend(drafts)
        memory.settle()


def make_spoken(url: str) -> None:
    """A store in which that was said: spoken once, and copied to where no file can be."""
    if not url.startswith("postgresql:"):
        make_filled(url, speak)
        return
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "memory.db"))
        make_filled(path, speak)
        with closing(open_store(path, Settings())) as source, closing(open_store(url, Settings())) as target:
            copy_store(source, target, ignore)


def damage(url: str, change: str, conversation: str = "chat", turn: int = AT) -> None:
    where = f"WHERE conversation = '{conversation}' AND turn = {turn}"
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as server:
            server.execute(f"UPDATE everword.messages SET {change} {where}")
    else:
        with closing(sqlite3.connect(url)) as file, file:
            file.execute(f"UPDATE messages SET {change} {where}")


@pytest.fixture
def damaged_url(request: pytest.FixtureRequest, addresses: Callable[[str, str], str]) -> str:
    """A store, of each kind that can hold one, with a message that cannot be read."""
    url = addresses(request.param, "memory")
    make_spoken(url)
    damage(url, UNREADABLE[request.param])
    return url


def told(error: BaseException) -> str:
    """All that a traceback would show of an error."""
    return "".join(traceback.format_exception(error))


def whole_chat(tx: Tx) -> object:
    return tx.messages(Filter("default", conversation="chat"))


# -- the store


@pytest.mark.checklist("F15")
def test_what_cannot_be_read_is_named_by_its_place(addresses: Callable[[str, str], str]) -> None:
    for kind in KINDS:
        url = addresses(kind, "memory")
        make_spoken(url)
        with closing(open_store(url, Settings())) as store:
            (whole,) = store.read(lambda tx: tx.rows("messages", where={"conversation": "chat", "turn": AT}))
            for change, column in [(change, column) for of, change, column in DAMAGES if of == kind]:
                damage(url, change)
                for look in (
                    whole_chat,
                    lambda tx: tx.messages(Filter("default", conversation="chat"), newest=True, limit=3),
                    lambda tx: tx.messages(Filter("default", conversation="chat"), after=("chat", AT - 1), limit=1),
                    lambda tx: tx.messages(Filter("default")),
                    lambda tx: tx.rows("messages", damaged=raising),
                ):
                    with pytest.raises(DamagedMessage, match=column) as caught:
                        store.read(look)
                    place = (caught.value.space, caught.value.conversation, caught.value.turn)
                    assert place == ("default", "chat", AT), change
                assert SECRET not in told(caught.value), change
                if column != "id":
                    with pytest.raises(DamagedMessage, match=column):
                        store.read(lambda tx: tx.find_messages("default", ids=[whole["id"]]))  # noqa: B023
                store.write(lambda tx: tx.put("messages", [whole]))  # noqa: B023
            assert store.read(verify).ok


def raising(error: StoreError, _: object) -> None:
    raise error


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_the_others_are_read_and_the_place_is_kept(damaged_url: str) -> None:
    with closing(open_store(damaged_url, Settings())) as store:
        for asked in ({}, {"newest": True}, {"newest": True, "limit": 4}, {"limit": 4}, {"after": ("chat", 2)}):
            damaged: list[DamagedMessage] = []
            where = Filter("default", conversation="chat")
            found = store.read(lambda tx: tx.messages(where, damaged=damaged.append, **asked))  # noqa: B023
            turns = [message.turn for message in found]
            assert turns == list(range(1, TURNS + 1))[-len(turns) :] if "newest" in asked else turns == sorted(turns)
            assert [message.turn for message in found if message.erased] == [AT]
            assert [error.turn for error in damaged] == [AT]
        ids = [row["id"] for row in store.read(lambda tx: tx.rows("messages", damaged=lambda *_: None))]
        assert len(ids) == 2 * TURNS - 1


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("conversations", f"user_id = {BYTES}"),
        ("conversations", "head = 7"),
        ("conversations", f"created_at = '{SECRET}'"),
        ("tiers", f"tier2 = {BYTES}"),
    ],
)
@pytest.mark.checklist("F15")
def test_a_row_of_another_table_is_named_by_its_key(tmp_path: Path, table: str, change: str) -> None:
    url = str(tmp_path / "memory.db")
    make_spoken(url)
    column = "id" if table == "conversations" else "conversation"
    with closing(sqlite3.connect(url)) as file, file:
        file.execute(f"UPDATE {table} SET {change} WHERE {column} = 'chat'")
    with closing(open_store(url, Settings())) as store, pytest.raises(StoreError, match=table) as caught:
        store.read(lambda tx: tx.rows(table, damaged=raising))
    assert "'chat'" in str(caught.value)
    assert SECRET not in told(caught.value)
    with Memory(url, followers=False) as memory, pytest.raises(StoreError) as caught:
        list(memory.conversations() if table == "conversations" else memory.conversation("chat").context("?").messages)
    assert SECRET not in told(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.checklist("F15")
def test_a_damaged_time_is_counted_and_is_no_date(kind: str, addresses: Callable[[str, str], str]) -> None:
    url = addresses(kind, "memory")
    make_spoken(url)
    damage(url, "time = 9223372036854775807")
    with Memory(url, followers=False) as memory:
        counts = memory.stats()
    assert counts.messages == 2 * TURNS
    assert counts.first is not None
    assert counts.last is not None
    assert counts.last.year < 9999


def tell(url: str) -> None:
    with Memory(url, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "I live in Berlin.")
        memory.settle()


@pytest.mark.parametrize(
    "change", ["'{\"%s\": 1}'", "replace(found, 'category', '%s')", "replace(found, '\"since\"', '\"%s\"')"]
)
@pytest.mark.checklist("F15")
def test_a_damaged_finding_is_named_by_its_place(tmp_path: Path, change: str) -> None:
    url = str(tmp_path / "memory.db")
    make_filled(url, tell)
    with closing(sqlite3.connect(url)) as file, file:
        file.execute(f"UPDATE findings SET found = {change % SECRET}")
    place = "message 1 of conversation 'chat'"
    with Memory(url, followers=False) as memory, pytest.raises(StoreError, match=place) as caught:
        memory.remember("I live in Delft", user="alex")
    assert SECRET not in told(caught.value)


# -- the memory


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_verify_names_it_and_goes_on(damaged_url: str) -> None:
    damage(damaged_url, "content = 'forged'", "other", 2)
    with Memory(damaged_url, followers=False) as memory:
        proof = memory.verify()
    assert [(fault.conversation, fault.turn) for fault in proof.faults] == [("chat", AT), ("other", 2)]
    assert "cannot be read" in proof.faults[0].problem
    assert SECRET not in str(proof.faults[0])
    assert proof.messages == 2 * TURNS - 1


@pytest.mark.parametrize("turn", [1, TURNS])
@pytest.mark.checklist("F15")
def test_verify_names_the_first_and_the_last(tmp_path: Path, turn: int) -> None:
    url = str(tmp_path / "memory.db")
    make_spoken(url)
    damage(url, f"content = {BYTES}", turn=turn)
    with Memory(url, followers=False) as memory:
        assert [fault.turn for fault in memory.verify().faults] == [turn]


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_the_conversation_goes_on_without_it(damaged_url: str, caplog: pytest.LogCaptureFixture) -> None:
    readable = [turn for turn in range(1, TURNS + 1) if turn != AT]
    with caplog.at_level(logging.DEBUG), Memory(damaged_url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert [message.turn for message in chat.history()] == readable
        assert [message.turn for message in chat.history(limit=3)] == readable[-3:]
        hits = memory.search("parrots", user="alex", limit=10)
        assert sorted(hit.message.turn for hit in hits) == readable
        shown = str(chat.context("What about the parrots?").messages)
        assert f"number {AT - 1}" in shown
        assert f"number {AT}," not in shown
        assert chat.add("user", "and on we go").turn == TURNS + 1
        memory.settle()
        assert memory.search("and on we go", user="alex", limit=1)[0].message.turn == TURNS + 1
    assert f"message {AT} of 'chat'" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_an_export_is_refused_or_salvaged(damaged_url: str) -> None:
    with Memory(damaged_url, followers=False) as memory:
        with pytest.raises(StoreError, match=rf"1 of the store.*message {AT} of 'chat'.*--salvage") as caught:
            list(memory.export())
        assert SECRET not in told(caught.value)
        saved = [(message.conversation, message.turn) for message in memory.export(salvage=True)]
        assert len(list(memory.export(conversation="other"))) == TURNS
    assert len(saved) == 2 * TURNS - 1
    assert ("chat", AT) not in saved


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_a_copy_is_refused_or_salvaged(damaged_url: str, addresses: Callable[[str, str], str]) -> None:
    for kind in ("sqlite", "json", "postgresql"):
        url = addresses(kind, "copy")
        with closing(open_store(damaged_url, Settings())) as source, closing(open_store(url, Settings())) as target:
            with pytest.raises(StoreError, match=f"message {AT} of 'chat'.*--salvage") as caught:
                copy_store(source, target, ignore)
            assert SECRET not in told(caught.value)
            damaged: list[StoreError] = []
            assert copy_store(source, target, ignore, damaged.append)["messages"] == 2 * TURNS
            assert [error.turn for error in damaged if isinstance(error, DamagedMessage)] == [AT]
        with Memory(url, followers=False) as memory:
            proof = memory.verify()
            assert (proof.ok, proof.messages, proof.erased) == (True, 2 * TURNS - 1, 1)
            assert memory.conversation("chat", user="alex").add("user", "on").turn == TURNS + 1
            settle_index(memory)
            assert sorted(hit.message.turn for hit in memory.search("parrots", user="alex"))[:2] == [1, 2]


def ignore(table: str, rows: int) -> None:
    pass


@pytest.mark.checklist("F15")
def test_a_conversation_is_salvaged_from_its_messages(tmp_path: Path) -> None:
    url, copy = str(tmp_path / "memory.db"), str(tmp_path / "copy.db")
    make_spoken(url)
    with closing(sqlite3.connect(url)) as file, file:
        file.execute("UPDATE conversations SET head = 7, turns = 'many' WHERE id = 'chat'")
    damaged: list[StoreError] = []
    with closing(open_store(url, Settings())) as source, closing(open_store(copy, Settings())) as target:
        copy_store(source, target, ignore, damaged.append)
    assert len(damaged) == 1
    with Memory(copy, followers=False) as memory:
        assert memory.verify().ok
        assert len(memory.conversation("chat", user="alex").history()) == TURNS


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15", "F18")
def test_a_damaged_message_is_erased_with_its_person(damaged_url: str) -> None:
    with Memory(damaged_url, followers=False) as memory:
        assert memory.erase(user="alex").messages == TURNS
        assert memory.verify().ok
        assert [message.erased for message in memory.export(conversation="chat")] == [True] * TURNS
    if not damaged_url.startswith("postgresql:"):
        assert b"quuxberg of alex" not in Path(damaged_url).read_bytes()


@pytest.mark.parametrize("damaged_url", KINDS, indirect=True)
@pytest.mark.checklist("F15")
def test_a_damaged_message_that_is_over_goes_too(damaged_url: str) -> None:
    damage(damaged_url, "time = 0")
    with Memory(damaged_url, followers=False, retain_messages=30) as memory:
        assert memory.retain(dry_run=False).count == 1
        assert memory.verify().ok


# -- a damaged page of the file


def long_talk(url: str) -> None:
    with Memory(url, followers=False) as memory:
        drafts = [Draft("user", f"{SECRET} <{turn}> " + "word " * 100) for turn in range(1, 61)]
        memory.conversation("long", user="alex").extend(drafts)
        memory.conversation("short", user="kim").add("user", "a word of kim")


def destroy_page(path: Path, mark: bytes) -> None:
    """Overwrite the page of the file that holds a text."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    page = data.index(mark) // size
    data[page * size : page * size + 64] = b"\xee" * 64
    path.write_bytes(data)


@pytest.mark.checklist("F15")
def test_what_stands_on_other_pages_is_salvaged(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", str(tmp_path / "copy.db")
    make_filled(str(path), long_talk)
    destroy_page(path, b"<30>")
    damaged: list[StoreError] = []
    with closing(open_store(str(path), Settings())) as source, closing(open_store(copy, Settings())) as target:
        with pytest.raises(DamagedMessage) as caught:
            source.read(lambda tx: tx.messages(Filter("default", conversation="long")))
        assert SECRET not in told(caught.value)
        faults = source.read(verify).faults
        copy_store(source, target, ignore, damaged.append)
    lost = [error.turn for error in damaged if isinstance(error, DamagedMessage)]
    assert 30 in lost
    assert len(lost) < 12
    assert [fault.turn for fault in faults] == lost
    with Memory(str(path), followers=False) as memory:
        assert len(list(memory.export(salvage=True))) == 61 - len(lost)
        assert len(memory.conversation("long", user="alex").history()) == 60 - len(lost)
    with Memory(copy, followers=False) as memory:
        assert memory.stats().messages == 61 - len(lost)


@pytest.mark.checklist("F15")
def test_without_its_index_the_log_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_filled(str(path), long_talk)
    with closing(sqlite3.connect(path)) as file:
        (page,) = file.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_messages_1'"
        ).fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : (page - 1) * size + 64] = b"\xee" * 64
    path.write_bytes(data)
    with Memory(str(path), followers=False) as memory:
        assert [message.turn for message in memory.export(conversation="long")] == list(range(1, 61))


@pytest.mark.parametrize("change", ["time = NULL", "time = 9223372036854775807", f"terms = {BYTES}", "terms = NULL"])
@pytest.mark.checklist("F15")
def test_a_damaged_passage_names_the_index(tmp_path: Path, change: str) -> None:
    url = str(tmp_path / "memory.db")
    make_spoken(url)
    with closing(sqlite3.connect(url)) as file, file:
        file.execute("PRAGMA writable_schema = ON")
        file.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'entries'")
    with closing(sqlite3.connect(url)) as file, file:
        file.execute(f"UPDATE entries SET {change}")
    with Memory(url, followers=False) as memory:
        with pytest.raises(StoreError, match="everword rebuild index") as caught:
            memory.search("parrots", user="alex")
        assert SECRET not in told(caught.value)
        memory.rebuild("index")
        settle_index(memory)
        assert len(memory.search("parrots", user="alex")) == TURNS


@pytest.mark.checklist("F15")
def test_an_id_that_is_no_longer_proved_is_not_repeated(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    make_spoken(url)
    damage(url, f"id = '{SECRET}'")
    with Memory(url, followers=False) as memory:
        faults = [str(fault) for fault in memory.verify().faults]
    assert faults == [f"default/chat turn {AT}: was changed"]


@pytest.mark.checklist("F15")
def test_an_erasure_that_is_not_noted_is_not_repeated(tmp_path: Path) -> None:
    url = str(tmp_path / "memory.db")
    make_spoken(url)
    damage(url, f"erasure = '{SECRET}'")
    with Memory(url, followers=False) as memory:
        faults = [str(fault) for fault in memory.verify().faults]
    assert len(faults) == 2
    assert SECRET not in str(faults)


@pytest.mark.checklist("F15")
def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_filled(str(path), speak)
    content = path.read_bytes()
    assert content.count(b"CREATE TABLE tiers") == 1
    path.write_bytes(content.replace(b"CREATE TABLE tiers", b"CREATE TABLE \xc1iers"))
    with pytest.raises(StoreError, match="is damaged") as caught:
        Memory(str(path)).__enter__()
    assert SECRET not in told(caught.value)

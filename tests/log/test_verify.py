"""`verify` proves the log whole: what was changed behind the engine's back is found, and its place is named."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from raw_tables import Row, change, rows_of

from everword import Draft, Memory, Verification
from everword.config import Settings
from everword.log.checks_and_seals import compute_digest, seal_message
from everword.model import Filter, Message
from everword.wiring import open_store

Edit = Callable[[list[Row]], None]
TURNS = 5


def fill(url: str) -> Verification:
    with Memory(url, followers=False) as memory:
        for space, name in (("default", "chat"), ("default", "other"), ("guild", "chat")):
            chat = memory.conversation(name, user="alex", space=space)
            chat.extend(Draft("user", f"{space} {name} {n}", metadata={"n": n}) for n in range(1, TURNS + 1))
        memory.conversation("gone", user="kim").extend([Draft("user", "one"), Draft("assistant", "two")])
        memory.erase(user="kim")
        return memory.verify()


def verify(url: str) -> Verification:
    with Memory(url, followers=False) as memory:
        return memory.verify()


def at(rows: list[Row], turn: int, space: str = "guild", conversation: str = "chat") -> Row:
    return next(r for r in rows if (r["space"], r["conversation"], r["turn"]) == (space, conversation, turn))


def setting(turn: int, column: str, value: Any) -> Edit:
    def edit(rows: list[Row]) -> None:
        row = at(rows, turn)
        row[column] = value(row[column]) if callable(value) else value

    return edit


def a_moment_later(time: Any) -> Any:
    if isinstance(time, int):
        return time + 1
    return (datetime.fromisoformat(time) + timedelta(microseconds=1)).isoformat()


def other_metadata(metadata: Any) -> Any:
    return metadata.replace("2", "3") if isinstance(metadata, str) else {"n": 3}


def deleting(*turns: int) -> Edit:
    def edit(rows: list[Row]) -> None:
        for turn in turns:
            rows.remove(at(rows, turn))

    return edit


def swapping(one: int, two: int, *columns: str) -> Edit:
    def edit(rows: list[Row]) -> None:
        first, second = at(rows, one), at(rows, two)
        for column in columns:
            first[column], second[column] = second[column], first[column]

    return edit


def inserting(turn: int) -> Edit:
    """A message of the forger's own at the end, with a seal copied from another."""
    return lambda rows: rows.append({**at(rows, TURNS), "turn": turn, "id": "forged", "content": "I owe you money"})


def replaying(rows: list[Row]) -> None:
    """Another conversation's message, seal and all, in the place of one of ours."""
    theirs = at(rows, 2, "default", "other")
    at(rows, 2).update({name: theirs[name] for name in ("content", "time", "metadata", "salt", "digest", "link")})


def tombstone(rows: list[Row]) -> None:
    """As an erased message looks, down to the last column; the mark is copied from a true erasure."""
    true = at(rows, 1, "default", "gone")
    at(rows, 2).update({n: true[n] for n in ("author", "user_id", "content", "time", "metadata", "erasure", "salt")})


# What is done to the messages of guild/chat, and the turns that must be named.
FORGERIES: dict[str, tuple[Edit, set[int]]] = {
    "content": (setting(2, "content", "something else"), {2}),
    "a space more": (setting(2, "content", lambda content: content + " "), {2}),
    "author": (setting(2, "author", "kim"), {2}),
    "user": (setting(2, "user_id", "kim"), {2}),
    "role": (setting(2, "role", "assistant"), {2}),
    "id": (setting(2, "id", "another"), {2}),
    "time": (setting(2, "time", a_moment_later), {2}),
    "metadata": (setting(2, "metadata", other_metadata), {2}),
    "platform id": (setting(2, "platform_id", "p"), {2}),
    "the first": (setting(1, "content", "x"), {1}),
    "the last": (setting(TURNS, "content", "x"), {TURNS}),
    "a row in the middle deleted": (deleting(3), {3}),
    "the first row deleted": (deleting(1), {1}),
    "the last row deleted": (deleting(TURNS), {TURNS}),
    "the last rows deleted": (deleting(TURNS - 1, TURNS), {TURNS - 1}),
    "all rows deleted": (deleting(*range(1, TURNS + 1)), {1}),
    "two rows swapped": (swapping(2, 3, "turn"), {2, 3}),
    "two contents swapped": (swapping(2, 3, "content", "metadata"), {2, 3}),
    "what was said swapped, with seals": (swapping(2, 4, *("id", "content", "metadata", "salt", "digest")), {2, 4}),
    "a row added at the end": (inserting(TURNS + 1), {TURNS + 1}),
    "a row added after a gap": (inserting(TURNS + 3), {TURNS + 1}),
    "a message from elsewhere": (replaying, {2}),
}


def test_what_was_changed_is_found_and_named(store_url: str) -> None:
    """One store for all the forgeries, each mended before the next."""
    fill(store_url)
    whole = rows_of(store_url, "messages")
    for name, (edit, turns) in FORGERIES.items():
        change(store_url, "messages", edit)
        found = verify(store_url)
        assert not found.ok, name
        named = {(fault.space, fault.conversation, fault.turn) for fault in found.faults}
        assert {("guild", "chat", turn) for turn in turns} <= named, name
        assert {place[:2] for place in named} == {("guild", "chat")}, name
        assert str(found.faults[0]).startswith(f"guild/chat turn {min(turns)}: "), name
        restore(store_url, whole)


def restore(url: str, whole: list[Row]) -> None:
    def edit(rows: list[Row]) -> None:
        rows[:] = whole

    change(url, "messages", edit)
    assert verify(url).ok


def test_a_forged_erasure_is_found(store_url: str) -> None:
    """A message made to look erased: whether it keeps its words, has an unknown mark, or one that is in use."""
    fill(store_url)
    whole = rows_of(store_url, "messages")
    for edit in (setting(2, "erasure", "forged"), setting(2, "erasure", ""), tombstone):
        change(store_url, "messages", edit)
        assert not verify(store_url).ok
        restore(store_url, whole)
    change(store_url, "messages", setting(2, "erasure", "forged"))
    assert any((f.space, f.conversation, f.turn) == ("guild", "chat", 2) for f in verify(store_url).faults)


def test_an_erasure_that_was_taken_back_is_found(store_url: str) -> None:
    """The words of an erased message cannot be put back: nobody can make them fit the chain."""
    fill(store_url)
    change(store_url, "messages", lambda rows: at(rows, 1, "default", "gone").update(erasure=None, content="one"))
    assert ("default", "gone", 1) in {(f.space, f.conversation, f.turn) for f in verify(store_url).faults}


def test_a_conversation_cut_short_with_its_count_is_found(store_url: str) -> None:
    """The last message and the count together: the link to the last message is still kept."""
    fill(store_url)
    change(store_url, "messages", deleting(TURNS))

    def count_less(rows: list[Row]) -> None:
        next(r for r in rows if (r["space"], r["id"]) == ("guild", "chat"))["turns"] = TURNS - 1

    alter_conversations(store_url, count_less)
    assert [str(f)[:22] for f in verify(store_url).faults] == ["guild/chat turn 4: is "]


def alter_conversations(url: str, edit: Edit) -> None:
    """Messages refer to their conversation, so they step aside while it is replaced."""
    aside = rows_of(url, "messages")
    change(url, "messages", list.clear)
    change(url, "conversations", edit)
    change(url, "messages", lambda rows: rows.extend(aside))


def test_a_message_sealed_anew_without_its_chain_is_found(store_url: str) -> None:
    """The seal is right for what is there now; the link is still the one of what was there before."""
    fill(store_url)
    message = replace(chat_of(store_url)[1], content="I owe you money")
    seal = as_kept(store_url, compute_digest(message, message.seal.salt))
    change(store_url, "messages", lambda rows: at(rows, 2).update(content=message.content, digest=seal))
    assert [str(fault) for fault in verify(store_url).faults] == [
        f"guild/chat turn 2: does not follow from the message before it (message {message.id})"
    ]


def chat_of(url: str) -> list[Message]:
    with closing(open_store(url, Settings())) as store:
        return store.read(lambda tx: tx.messages(Filter("guild", conversation="chat")))


def as_kept(url: str, value: bytes) -> Any:
    return b64encode(value).decode() if url.startswith("json:") else value


# -- the root


def test_the_root_stands_for_everything_and_changes_with_it(store_url: str) -> None:
    first = fill(store_url)
    assert first.ok
    assert (first.conversations, first.messages, first.erased) == (4, 3 * TURNS, 2)
    seen = {first.root}
    with Memory(store_url) as memory:
        assert memory.verify() == first
        memory.settle()
        memory.search("chat", space="guild")
        memory.rebuild()
        memory.settle()
        memory.conversation("chat", user="alex").extend([])
        assert memory.verify() == first, "reading, indexing and adding nothing leave the log alone"
        for conversation, content in (("chat", "same"), ("chat", "same"), ("new", "same")):
            memory.conversation(conversation, user="alex").add("user", content)
            seen.add(memory.verify().root)
    assert len(seen) == 4
    assert verify(store_url).root in seen


def test_a_forger_who_mends_the_whole_chain_is_given_away_by_the_root(store_url: str) -> None:
    before = fill(store_url)
    chain: dict[int, Message] = {}
    link = b""
    for message in chat_of(store_url):
        content = "I owe you money" if message.turn == 2 else message.content
        chain[message.turn] = seal_message(replace(message, content=content), link, message.seal.salt)
        link = chain[message.turn].seal.link

    def rewrite(rows: list[Row]) -> None:
        for turn, message in chain.items():
            seal = {name: as_kept(store_url, getattr(message.seal, name)) for name in ("digest", "link")}
            at(rows, turn).update(content=message.content, **seal)

    def move_head(rows: list[Row]) -> None:
        next(r for r in rows if (r["space"], r["id"]) == ("guild", "chat"))["head"] = as_kept(store_url, link)

    change(store_url, "messages", rewrite)
    alter_conversations(store_url, move_head)
    after = verify(store_url)
    assert after.ok, "nothing in the store itself can tell"
    assert after.root != before.root


def test_a_conversation_that_vanished_altogether_is_given_away_by_the_root(store_url: str) -> None:
    before = fill(store_url)
    change(store_url, "messages", deleting(*range(1, TURNS + 1)))
    alter_conversations(
        store_url, lambda rows: rows.remove(next(r for r in rows if (r["space"], r["id"]) == ("guild", "chat")))
    )
    after = verify(store_url)
    assert after.root != before.root
    assert after.conversations == before.conversations - 1

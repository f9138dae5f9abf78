"""Samples for the store contract: how a store is opened, and messages, conversations and passages to put into it.

Each function fills in everything that a test does not set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Barrier
from typing import Any, Protocol, TypeVar

from everword.model import Conversation, Entry, Filter, Message, Role, Seal
from everword.ports import PassageCandidate, Store, Tx

T0 = datetime(2024, 5, 17, 9, 30, 15, 123_456, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WIDTH = 16

# Ids that are syntax in some language, and ids in other scripts; in order of their characters.
ODD_IDS = (
    " leading",
    '"quoted"',
    "%",
    "%41",
    "'; DROP TABLE messages; --",
    "../up/and/down",
    "A",
    "Z",
    "\\backslash\\",
    "_",
    "a",
    "a b",
    "z{}[]|",
    "Ärger",
    "é",
    "Привет",
    "مرحبا",
    "ไทย",
    "日本語",
    "\uffee",
    "😀 emoji",
)

ODD_TEXTS = (
    "",
    " ",
    "plain",
    "two\nlines\r\nand\ttabs",
    "back\\slash \\n \\u0041 \\",
    'it\'s "quoted" `so`',
    "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "中文 日本語 한국어 ไทย",
    "עברית مرحبا \u202eright to left\u202c",
    "combining e\u0301 and \u00e9",
    "\u200b\ufeff\u2028\u2029\x01\x1b\x7f",
    "{'json': [1, 2]} %s :name ? $1 -- /* */",
)

ODD_METADATA: tuple[Mapping[str, Any], ...] = (
    {},
    {"nested": {"list": [1, [2, {"deep": None}]], "empty": {}, "none": []}},
    {"ключ": "значение", "emoji 👋": "日本語", "quote\"'\\": "\n\t"},
    {"big": 2**70, "negative": -(2**63), "zero": 0},
    {"tenth": 0.1, "small": 5e-324, "large": 1.7976931348623157e308, "whole": 2.0, "minus": -0.0},
    {"yes": True, "no": False, "nothing": None, "": "an empty key"},
)


class OpenStore(Protocol):
    """Opens the store of a name: the same one for the same name."""

    def __call__(self, name: str = "memory") -> Store: ...


def make_conversation(
    id: str = "c", *, space: str = "s", user: str | None = "alex", turns: int = 0, at: datetime = T0
) -> Conversation:
    return Conversation(space, id, user, created_at=at, changed_at=at, turns=turns, head=b"\x00\xff" * turns)


def make_message(
    turn: int = 1,
    content: str = "hello",
    *,
    space: str = "s",
    conversation: str = "c",
    id: str | None = None,
    role: Role = "user",
    author: str = "alex",
    user: str | None = "alex",
    time: datetime = T0,
    platform_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    expires_at: datetime | None = None,
    reply_to: str | None = None,
) -> Message:
    """A message with a seal of its own: bytes of every value, so that a store that treats them as text fails."""
    name = id or f"{conversation}-{turn}"
    digest = sha256(f"{space}/{name}".encode()).digest()
    return Message(
        space=space,
        conversation=conversation,
        turn=turn,
        id=name,
        role=role,
        author=author,
        user=user,
        content=content,
        time=time,
        platform_id=platform_id,
        metadata=metadata or {},
        expires_at=expires_at,
        reply_to=reply_to,
        seal=Seal(b"\x00salt\xff", digest, digest[::-1]),
    )


def append_messages(tx: Tx, *messages: Message, user: str | None = "alex", at: datetime = T0) -> None:
    """Append messages to their conversations, which are created if necessary."""
    for new_message in messages:
        fresh = make_conversation(new_message.conversation, space=new_message.space, user=user, at=at)
        latest = tx.lock_conversation(fresh)
        turns = max(latest.turns, new_message.turn)
        grown = replace(latest, turns=turns, head=new_message.seal.link, changed_at=at)
        tx.save_conversation(grown, [new_message])


def make_entry(
    source: Message,
    terms: Sequence[str] = ("hello",),
    vector: Sequence[float] = (),
    *,
    part: int = 0,
    language: str = "en",
) -> Entry:
    """A passage of a message."""
    return Entry(
        space=source.space,
        conversation=source.conversation,
        turn=source.turn,
        part=part,
        message_id=source.id,
        user=source.user,
        role=source.role,
        time=source.time,
        language=language,
        terms=tuple(terms),
        vector=vector if len(vector) else axis(0),
        author=source.author,
        expires_at=source.expires_at,
    )


def axis(number: int) -> list[float]:
    """The unit vector along one axis."""
    return [float(i == number) for i in range(WIDTH)]


def append_and_index(tx: Tx, *messages: Message, terms: Sequence[str] = ("hello",)) -> None:
    """Append messages and index them."""
    append_messages(tx, *messages)
    tx.index.put_entries([make_entry(message, terms) for message in messages])


def find_matches(
    tx: Tx, groups: Sequence[Sequence[str]], where: Filter | None = None, limit: int = 100
) -> tuple[list[PassageCandidate], list[int]]:
    """The passages with one of the terms, oldest first, and how many of the scope have each."""
    where = where or Filter("s")
    postings = tx.index.postings(where, groups, limit)
    docs = sorted({doc for posting in postings for doc in posting.docs})
    candidates = sorted(tx.index.candidates(where, docs, groups), key=lambda candidate: candidate.doc)
    assert [candidate.doc for candidate in candidates] == docs
    return candidates, [posting.frequency for posting in postings]


# -- leases of one place


def claim_place(tx: Tx, view: str, space: str, conversation: str, holder: str, now: datetime, until: datetime) -> bool:
    return bool(tx.claim(view, [(space, conversation)], holder, now, until))


def holds_place(tx: Tx, view: str, space: str, conversation: str, holder: str) -> bool:
    return bool(tx.held_leases(view, [(space, conversation)], holder))


def release_place(
    tx: Tx,
    view: str,
    space: str,
    conversation: str,
    holder: str,
    *,
    error: str | None = None,
    retry_at: datetime | None = None,
) -> None:
    tx.release(view, [(space, conversation)], holder, error=error, retry_at=retry_at)


def failures_at(tx: Tx, view: str, space: str, conversation: str) -> int:
    rows = tx.rows("leases", where={"space": space, "view": view, "conversation": conversation})
    return rows[0]["failures"] if rows else 0


def make_tombstone(original: Message) -> Message:
    """A tombstone as a store sees it: the same place, other values."""
    return replace(
        original,
        author="",
        user=None,
        content="",
        time=datetime(1970, 1, 1, tzinfo=UTC),
        platform_id=None if original.platform_id is None else f"erased:{original.platform_id}",
        metadata={},
        erased=True,
        seal=replace(original.seal, salt=b""),
    )


R = TypeVar("R")
MEET = 0.3  # seconds to wait for another transaction; in a store with one transaction at a time they never meet
PATIENCE = 30.0  # seconds until a test that waits for ever fails


class CallerError(Exception):
    """An error that the function of a transaction raises itself."""


def run_at_once(count: int, work: Callable[[int], R]) -> list[R]:
    """Run the same thing in several threads that start together."""
    start = Barrier(count)

    def run(number: int) -> R:
        start.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))

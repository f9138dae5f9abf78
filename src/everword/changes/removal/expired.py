"""Removes for good what has expired: messages leave tombstones, as deleted ones do; statements and documents go.

It was shown to nobody from the moment it expired. Nothing was derived from it that is still there, so no view has to be
made anew. Each page is a transaction of its own, under the locks of the writers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from everword.changes.removal.messages import drop_answers, lock_conversations, put_tombstones
from everword.errors import DamagedMessage
from everword.facts.view import LOCK
from everword.facts.viewers import CHANNEL, PEOPLE
from everword.log.audit import Order, note_removal
from everword.log.rules import has_expired
from everword.log.tables import is_empty, new_id, unreadable_message
from everword.model import Filter, Message
from everword.ports import Tx

PAGE = 1_000  # messages or rows in one transaction
UNTOUCHED = ("window", "episodes", "digests", "topics", "titles")  # views that have nothing of messages that expire
KEYS = {"statements": ("space", "user_id", "id"), "documents": ("space", "namespace", "key")}

Row = Mapping[str, Any]


def read_page(tx: Tx, where: Filter, after: tuple[str, int]) -> list[Message]:
    """A page of messages. It includes messages that cannot be read: they are to be removed, too."""
    errors: dict[tuple[str, int], DamagedMessage] = {}

    def note(error: DamagedMessage) -> None:
        errors[error.conversation, error.turn] = error

    page = tx.messages(where, after=after, limit=PAGE, damaged=note)
    places = [(message.conversation, message.turn) for message in page]
    return [
        unreadable_message(errors[place]) if place in errors else message
        for place, message in zip(places, page, strict=True)
    ]


# -- messages


def count_expired(tx: Tx, space: str, now: datetime) -> int:
    """How many messages of a space have expired."""
    count = 0
    after = ("", 0)
    while page := read_page(tx, Filter(space, expired_by=now), after):
        count += len(page)
        after = (page[-1].conversation, page[-1].turn)
    return count


def remove_expired_messages(tx: Tx, space: str, order: Order, what: str) -> int:
    """Replace a page of messages that have expired by tombstones; returns how many."""
    where = Filter(space, expired_by=order.at)
    conversations = lock_conversations(
        tx, space, {message.conversation for message in read_page(tx, where, ("", 0))}, order.at
    )
    # Read them again, now that nobody else can change them.
    messages = [message for message in read_page(tx, where, ("", 0)) if message.conversation in conversations]
    if not messages:
        return 0
    drop_answers(tx, space)
    put_tombstones(tx, space, messages, replace(order, what=what), keep=UNTOUCHED, id=new_id(order.at))
    for conversation in conversations.values():
        if is_empty(tx, conversation):  # nobody speaks there any more, and nobody hears anything
            tx.remove(PEOPLE, {"space": space, "kind": CHANNEL, "name": conversation.id})
            drop_empty_chunks(tx, space, conversation.id)
    return len(messages)


def drop_empty_chunks(tx: Tx, space: str, conversation: str) -> None:
    """Delete the chunks of an empty conversation without episodes: with them it would still be listed."""
    place = {"space": space, "conversation": conversation}
    if not tx.rows("episodes", limit=1, where=place):
        tx.remove("chunks", place)


# -- statements and documents


def find_expired(tx: Tx, table: str, space: str | None, now: datetime) -> Iterator[Row]:
    """The rows of a table that have expired, of one space or of all."""
    after: Row | None = None
    while rows := tx.rows(table, after, PAGE, where={} if space is None else {"space": space}):
        yield from (row for row in rows if has_expired(row["expires_at"], now))
        after = rows[-1]


def remove_expired_rows(tx: Tx, table: str, space: str, rows: Sequence[Row], order: Order, what: str) -> int:
    """Remove those of the rows of a space that are still there and have expired; returns how many."""
    for scope in sorted({row["user_id"] if table == "statements" else row["namespace"] for row in rows}):
        tx.lock(LOCK if table == "statements" else table, space, scope)
    count = 0
    for row in rows:
        where = {name: row[name] for name in KEYS[table]}
        current = tx.rows(table, limit=1, where=where)
        if current and has_expired(current[0]["expires_at"], order.at):
            count += tx.remove(table, where)
    if count:
        drop_answers(tx, space)
        note_removal(tx, space, order, count, what)
    return count

"""Converts messages and conversations to rows and back; and builds conditions that several statements share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Table, and_, func, or_

from recollect.model import ROLES, Conversation, Message, Seal
from recollect.secrets.marks import Marks, MaskedParts, marks_from_json, marks_to_json, mask_parts
from recollect.stores.columns import EPOCH, Instant, Object, parse_strict_object
from recollect.stores.schema import FOLLOWS, conversations, cursors, leases

V = TypeVar("V")

BYTES = (bytes, memoryview)
UNREADABLE = "a value of the row is of another kind than its column"
BATCH = 500  # values in one IN (...): every database takes this many


def to_conversation(row: Sequence[Any]) -> Conversation:
    """A conversation from a row as the driver gives it. Raises ValueError, TypeError or OverflowError if a value has a
    wrong type."""
    space, id, user, created_at, changed_at, turns, head, changes, changes_head = row
    if not (type(turns) is type(changes) is int) or type(id) is not str:
        raise ValueError(UNREADABLE)
    if type(head) not in BYTES or type(changes_head) not in BYTES:
        raise ValueError(UNREADABLE)
    times = EPOCH + timedelta(0, 0, created_at), EPOCH + timedelta(0, 0, changed_at)
    return Conversation(space, id, user, *times, turns, bytes(head), changes, bytes(changes_head))


def conversation_row(value: Conversation) -> dict[str, Any]:
    return {
        "space": value.space,
        "id": value.id,
        "user_id": value.user,
        "created_at": value.created_at,
        "changed_at": value.changed_at,
        "turns": value.turns,
        "head": value.head,
        "changes": value.changes,
        "changes_head": value.changes_head,
    }


def to_message(row: Any) -> Message:
    """A message from a row as the driver gives it, its secrets masked. This must be fast: a context reads some hundred
    messages.

    Raises ValueError, TypeError or OverflowError if a value has a wrong type; `value_problem` says which one.
    """
    (
        space,
        conversation,
        turn,
        id,
        role,
        author,
        user,
        content,
        at,
        platform_id,
        data,
        erasure,
        salt,
        digest,
        link,
        expires_at,
        secrets,
    ) = row
    if (
        not (type(id) is type(author) is type(content) is str)
        or not (type(turn) is type(at) is int)
        or role not in ROLES
        or "\x00" in content
        or (user is not None and type(user) is not str)
        or (platform_id is not None and type(platform_id) is not str)
        or (expires_at is not None and type(expires_at) is not int)
    ):
        raise ValueError(UNREADABLE)
    if not (type(salt) is type(digest) is type(link) is bytes):
        if type(salt) not in BYTES or type(digest) not in BYTES or type(link) not in BYTES:
            raise ValueError(UNREADABLE)
        salt, digest, link = map(bytes, (salt, digest, link))
    metadata: Mapping[str, Any] = parse_strict_object(data) if data != "{}" else {}
    marks: Marks = ()
    original: MaskedParts | None = None
    if secrets is not None:
        marks = marks_from_json(secrets)
        original = (content, metadata, marks)
        content, metadata, marks = mask_parts(content, metadata, marks)
    return Message(
        space,
        conversation,
        turn,
        id,
        role,
        author,
        user,
        content,
        EPOCH + timedelta(0, 0, at),
        platform_id,
        metadata,
        erasure is not None,
        None if expires_at is None else EPOCH + timedelta(0, 0, expires_at),
        Seal(salt, digest, link),
        (),
        None,
        None,
        marks,
        original,
    )


def message_row(message: Message, erasure: str | None = None) -> dict[str, Any]:
    """The row of a message, with what was said in it, as a driver takes it: to have SQLAlchemy convert the values takes
    longer than to write them."""
    message = message.as_said
    return {
        "space": message.space,
        "conversation": message.conversation,
        "turn": message.turn,
        "id": message.id,
        "role": message.role,
        "author": message.author,
        "user_id": message.user,
        "content": message.content,
        "time": Instant.encode(message.time),
        "platform_id": message.platform_id,
        "metadata": Object.encode(message.metadata),
        "erasure": erasure,
        "salt": message.seal.salt,
        "digest": message.seal.digest,
        "link": message.seal.link,
        "expires_at": Instant.encode(message.expires_at),
        "secrets": marks_to_json(message.secrets),
    }


def at(table: Table, view: str, space: str, conversation: str) -> tuple[Any, ...]:
    return table.c.space == space, table.c.view == view, table.c.conversation == conversation


def view_join(table: Any, view: str) -> Any:
    """Joins a view's row to its conversation."""
    return and_(
        table.c.space == conversations.c.space,
        table.c.view == view,
        table.c.conversation == conversations.c.id,
    )


def progress_target(view: str) -> tuple[Any, Any]:
    """The turn a view has to reach, and the tables to read it from: the end of the log, or another view's cursor."""
    leader = FOLLOWS.get(view)
    if leader is None:
        return conversations.c.turns, conversations
    before = cursors.alias("before")
    return func.coalesce(before.c.turn, 0), conversations.outerjoin(before, view_join(before, leader))


def lease_is_free(now: Any) -> Any:
    """A condition: nobody holds the lease, and no retry has to be waited for."""
    return and_(
        or_(leases.c.until.is_(None), leases.c.until <= now),
        or_(leases.c.retry_at.is_(None), leases.c.retry_at <= now),
    )


def batches(values: Iterable[V]) -> list[list[V]]:
    unique_values = list(dict.fromkeys(values))
    if 0 < len(unique_values) <= BATCH:
        return [unique_values]
    return [unique_values[i : i + BATCH] for i in range(0, len(unique_values), BATCH)]


def turn_conditions(messages: Sequence[Message], table: Table) -> Iterator[tuple[Any, ...]]:
    """Conditions for the rows that a table has of these messages, some hundred turns at a time."""
    sorted_messages = sorted(messages, key=lambda m: (m.space, m.conversation, m.turn))
    for (space, conversation), group in groupby(sorted_messages, key=lambda m: (m.space, m.conversation)):
        for turns in batches(message.turn for message in group):
            yield table.c.space == space, table.c.conversation == conversation, table.c.turn.in_(turns)

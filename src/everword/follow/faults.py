"""Decides what caused a failure, and sets aside the message that a view fails on.

If a store, an embedder or a model is unavailable, the messages are not the cause: work on them is tried again later.
Every other error is caused by the message that was being worked on. That message is set aside: the view skips it, and a
row says which message it is, how often it failed and when it is tried again. The row and the log name the place of the
message and the kind of the error, never its content: the text of a foreign error may repeat that.

A message that was changed after a view had read it has such a row too, with no failure: the view is to read it again.
The row is written in the transaction of the change, so that no crash can lose it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Literal

from everword.errors import (
    ConfigError,
    DamagedMessage,
    EmbedderError,
    EmbedderRefused,
    EverwordError,
    MissingExtra,
    ModelError,
    StoreError,
)
from everword.log.append_and_read import warn_of_damage
from everword.model import Filter, Message, SetAside
from everword.ports import ConversationKey, Tx

TABLE = "set_aside"
FIRST_RETRY = timedelta(seconds=1)
LONGEST_RETRY = timedelta(minutes=10)
FIRST_AGAIN = timedelta(minutes=1)  # until a message that was set aside is tried again
LONGEST_AGAIN = timedelta(days=1)  # a failure on a message is mostly fixed by a new version
OUTSIDE = (StoreError, EmbedderError, ModelError, ConfigError, MissingExtra, ImportError, OSError, MemoryError)

Fault = Literal["message", "doubtful", "outside"]


def fault_of(error: BaseException) -> Fault:
    """Whether a failure is caused by a message, by something outside, or possibly by either."""
    if isinstance(error, DamagedMessage):
        return "message"
    if isinstance(error, EmbedderRefused) or type(error) is StoreError:
        return "doubtful"  # a database or an embedder that refuses: this value, or all of them
    if isinstance(error, OUTSIDE) or type(error) is EverwordError:
        return "outside"
    return "message"


def affects_all_messages(error: BaseException) -> bool:
    """Whether a failure means that no message can be worked on: the store is unavailable, or the settings are wrong."""
    return isinstance(error, StoreError | ConfigError | MissingExtra) and type(error) is not StoreError


def reason_of(error: BaseException) -> str:
    """A description of an error that does not repeat the content of a message."""
    name = type(error).__name__
    if isinstance(error, DamagedMessage):
        return f"{name}: {error.reason}"
    return f"{name}: {error}" if isinstance(error, EverwordError) else name


def kind_of(error: BaseException) -> str:
    """The same for an error that a message caused: some of our own errors, too, repeat the value they refuse."""
    return reason_of(error) if isinstance(error, DamagedMessage) else type(error).__name__


def backoff(failures: int, first: timedelta = FIRST_RETRY, longest: timedelta = LONGEST_RETRY) -> timedelta:
    """A pause that doubles with each failure, up to a limit, with some random jitter."""
    wait: timedelta = first * (1 << min(failures, 20))
    return min(wait, longest) * random.uniform(0.75, 1.0)


def put_set_aside(tx: Tx, row: SetAside, now: datetime, *, retry: bool) -> None:
    """Record that a view failed on a message; `retry` says whether it is tried again automatically."""
    pause = backoff(max(row.failures - 1, 0), FIRST_AGAIN, LONGEST_AGAIN)
    retry_at = now + pause if retry else None
    tx.put(TABLE, [key_of(row) | {"failures": row.failures, "retry_at": retry_at, "error": row.error}])


def request_reading(tx: Tx, view: str, messages: Iterable[Message], now: datetime, reason: str) -> None:
    """Have a view read messages again that it has read before: they, or what it read them with, were changed."""
    rows = [
        {"space": message.space, "view": view, "conversation": message.conversation, "turn": message.turn}
        | {"failures": 0, "retry_at": now, "error": reason}
        for message in messages
    ]
    tx.put(TABLE, rows)


def remove_set_aside(tx: Tx, row: SetAside) -> None:
    tx.remove(TABLE, key_of(row))


def is_set_aside(tx: Tx, row: SetAside) -> bool:
    """Whether a message that was set aside is still set aside."""
    return bool(tx.rows(TABLE, limit=1, where=key_of(row)))


def key_of(row: SetAside) -> dict[str, Any]:
    return {"space": row.space, "view": row.view, "conversation": row.conversation, "turn": row.turn}


def set_aside_rows(tx: Tx, view: str, place: ConversationKey) -> list[SetAside]:
    """The messages of a conversation on which a view failed."""
    where = {"space": place[0], "view": view, "conversation": place[1]}
    return [SetAside(**row) for row in tx.rows(TABLE, where=where) if row["failures"]]


def readable_messages(tx: Tx, view: str, where: Filter, *, after: int, upto: int) -> list[Message]:
    """The messages of a conversation after a turn and up to another, without those that this view has set aside. A
    message that cannot be read counts as erased."""
    assert where.conversation is not None
    omitted_turns = {row.turn for row in set_aside_rows(tx, view, (where.space, where.conversation))}
    messages = tx.messages(where, after=(where.conversation, after), upto=upto, damaged=warn_of_damage)
    return [message for message in messages if message.turn not in omitted_turns]


def messages_around_damage(
    tx: Tx, where: Filter, *, after: int, upto: int
) -> tuple[list[Message], list[DamagedMessage]]:
    """The messages of a conversation after a turn and up to another; and those of them that cannot be read."""
    assert where.conversation is not None
    damages: list[DamagedMessage] = []
    messages = tx.messages(where, after=(where.conversation, after), upto=upto, damaged=damages.append)
    unreadable_turns = {error.turn for error in damages}
    return [message for message in messages if message.turn not in unreadable_turns], damages

"""Rows of the log and back, and rows that cannot be read, named by their key and never by their contents.

Many rows are read at once, and that read fails as a whole: for bytes that are not text, a value of a wrong type, or a
damaged page of the file. Then the keys are read, which are mostly in an index of their own, and each row by its key:
so the damaged row is known, and all others can be used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Table,
    bindparam,
    literal_column,
    select,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator

from everword.errors import DamagedMessage, SchemaMismatch, StoreBusy, StoreError, StoreUnwritable
from everword.model import EPOCH, ROLES, Conversation, Message, Seal
from everword.ports import OnDamagedMessage, OnDamagedRow
from everword.secrets import Marks, MaskedParts, marks_from_json, marks_to_json, mask_parts
from everword.stores.tables import (
    UNDECODED,
    Instant,
    Object,
    UnreadableRow,
    messages,
    parse_strict_object,
    value_problem,
)

V = TypeVar("V")

BYTES = (bytes, memoryview)
TEXT_OR_NONE = (str, type(None))
INT_OR_NONE = (int, type(None))
UNREADABLE = "a value of the row is of another kind than its column"
BATCH = 500  # values in one IN (...): every database takes this many


def to_conversation(row: Sequence[Any]) -> Conversation:
    """A conversation from a row as the driver gives it. Raises ValueError, TypeError or OverflowError if a value has a
    wrong type."""
    space, id, user, created_at, changed_at, turns, head, changes, changes_head, last, *_ = row
    if not (type(turns) is type(changes) is type(last) is int) or type(id) is not str:
        raise ValueError(UNREADABLE)
    if type(head) not in BYTES or type(changes_head) not in BYTES:
        raise ValueError(UNREADABLE)
    times = EPOCH + timedelta(0, 0, created_at), EPOCH + timedelta(0, 0, changed_at)
    return Conversation(
        space, id, user, *times, turns, bytes(head), changes, bytes(changes_head), Instant.decode(last or None)
    )


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
        "last_message_at": Instant.encode(value.last_message_at) or 0,
    }


def to_bytes(value: Any) -> bytes:
    if type(value) not in BYTES:
        raise ValueError(UNREADABLE)
    return bytes(value)


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
        reply_to,
    ) = row
    if (
        not (type(id) is type(author) is type(content) is str)
        or not (type(turn) is type(at) is int)
        or role not in ROLES
        or "\x00" in content
        or type(user) not in TEXT_OR_NONE
        or type(platform_id) not in TEXT_OR_NONE
        or type(expires_at) not in INT_OR_NONE
        or type(reply_to) not in TEXT_OR_NONE
    ):
        raise ValueError(UNREADABLE)
    if not (type(salt) is type(digest) is type(link) is bytes):
        salt, digest, link = map(to_bytes, (salt, digest, link))
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
        reply_to,
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
        "reply_to": message.reply_to,
    }


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


NOT_TEXT = "Could not decode to UTF-8"  # how the message of SQLite's driver begins, before it repeats the text
PAGE_DAMAGED = "its page in the file is damaged"
REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_READONLY: "the file is read-only",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
}

RawRow = dict[str, Any]


class RowReader:
    """How a transaction reads rows: many at once, and where that fails, one by one."""

    connection: Connection

    def _fetch_raw(self, query: Any, params: Mapping[str, Any]) -> Sequence[Any]:
        """Rows as the driver gives them: to convert many into SQLAlchemy rows takes longer than to read them."""
        rows: Sequence[Any] = self.connection.execute(query, params).cursor.fetchall()
        return rows

    def is_damage(self, error: DBAPIError) -> bool:
        """Whether the database says that a row or its page cannot be read."""
        return False

    @contextmanager
    def bad_text_as_bytes(self) -> Iterator[None]:
        """Within it, text that cannot be decoded comes as bytes. Most databases never store such text."""
        yield

    @contextmanager
    def naming_damage(self, table: Table, query: Any, params: Mapping[str, Any]) -> Iterator[None]:
        """Within it the rows of a query are read: if one cannot be, an error is raised that names it."""
        try:
            yield
        except DBAPIError as error:
            if not self.is_damage(error):
                raise
        except (UnreadableRow, *UNDECODED):
            pass
        else:
            return
        raise self.first_damage(table, query, params)

    def first_damage(self, table: Table, query: Any, params: Mapping[str, Any]) -> StoreError:
        for row, problem in rows_one_by_one(self, table, query, params):
            if problem is not None:
                return damage_error(table, row, problem)
        return StoreError(f"{table.name} cannot be read, though each of its rows can: restore a backup")

    def fetch_messages(
        self,
        query: Any,
        params: Mapping[str, Any],
        on_damage: OnDamagedMessage | None,
        keep_place: bool = False,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Message]:
        """The messages of a query. One that cannot be read is passed to `on_damage` and left out, or replaced by an
        erased message if `keep_place` is set; without `on_damage`, it is raised."""
        try:
            return [to_message(row) for row in self._fetch_raw(query, params)]
        except (UnreadableRow, *UNDECODED):
            readable_messages: list[Message] = []
        for row, problem in rows_one_by_one(self, messages, query, params, newest):
            if limit is not None and len(readable_messages) == limit:
                break
            if problem is None:
                readable_messages.append(to_message(tuple(row.values())))
                continue
            error = damage_error(messages, row, problem)
            if on_damage is None or not isinstance(error, DamagedMessage):
                raise error
            on_damage(error)
            if keep_place and error.turn:
                readable_messages.append(tombstone_for(error))
        return readable_messages

    def fetch_readable_rows(
        self,
        table: Table,
        query: Any,
        params: Mapping[str, Any],
        limit: int | None,
        newest: bool,
        on_damage: OnDamagedRow,
    ) -> list[Mapping[str, Any]]:
        """The rows of which every value can be read; the others are passed to `on_damage`, each with its readable
        columns."""
        dialect = self.connection.dialect
        readable_rows: list[Mapping[str, Any]] = []
        try:
            page = [dict(zip(table.c.keys(), row, strict=True)) for row in self._fetch_raw(query, params)]
        except UnreadableRow:
            page = None
        if page is not None and not any(row_problem(table, row) for row in page):
            return [decode_row(table, row, dialect) for row in page]
        for row, problem in rows_one_by_one(self, table, query, params, newest):
            if limit is not None and len(readable_rows) == limit:
                break  # only readable rows count: an empty page means the end of the table
            if problem is None:
                readable_rows.append(decode_row(table, row, dialect))
            else:
                on_damage(damage_error(table, row, problem), decode_row(table, row, dialect))
        return readable_rows


def damage_reason(error: BaseException | None) -> str | None:
    """What a SQLite error says about a row or page that cannot be read; None if it is about something else."""
    if not isinstance(error, sqlite3.DatabaseError):
        return None
    if str(error).startswith(NOT_TEXT):
        return "bytes that are not text"
    is_corrupt = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT
    return "a page of the file is damaged" if is_corrupt else None


def sqlite_error(error: DBAPIError, name: str) -> StoreError:
    """Our error for an error of SQLite."""
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{name}: other writers kept the database busy for too long; nothing was written, try again")
    if code in REASONS:
        return StoreUnwritable(f"{name}: {REASONS[code]}; this transaction was not stored", REASONS[code])
    if code == sqlite3.SQLITE_NOTADB:
        return SchemaMismatch(f"{name} is not a SQLite database; name another file")
    reason = damage_reason(error.orig)
    if reason is not None:
        return StoreError(
            f"{name} is damaged ({reason}); restore a backup, or copy what is readable: everword copy --salvage"
        )
    return StoreError(f"{name}: {error.orig}")


def text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def strip_text(error: BaseException) -> None:
    """Remove the text that SQLite repeats in its error when it cannot decode it: it must not reach a log."""
    if isinstance(error, sqlite3.OperationalError) and str(error).startswith(NOT_TEXT):
        error.args = (NOT_TEXT,)


def rows_one_by_one(
    reader: RowReader, table: Table, query: Any, params: Mapping[str, Any], newest: bool = False
) -> Iterator[tuple[RawRow, str | None]]:
    """The rows of a query one by one, without its limit and as the driver gives them; each with its problem, if it has
    one."""
    with reader.bad_text_as_bytes():
        for key, number in row_keys(reader, table, query, params, newest):
            row, problem = read_row(reader, table, key, number)
            if row is not None:
                yield row, problem or row_problem(table, row)
            elif problem is not None:
                yield key, problem


def row_keys(
    reader: RowReader, table: Table, query: Any, params: Mapping[str, Any], newest: bool
) -> list[tuple[RawRow, int | None]]:
    """The keys of the rows of a query; each with its rowid, if no index can be used to find the row."""
    names = [key.name for key in table.primary_key]
    keys = query.with_only_columns(*table.primary_key).limit(None)
    try:
        rows = reader.connection.execute(keys, params).cursor.fetchall()
        return [(dict(zip(names, row, strict=True)), None) for row in rows]
    except (sqlite3.DatabaseError, DBAPIError) as error:
        if damage_reason(getattr(error, "orig", error)) is None:
            raise
    keys_with_rowid = sorted(keys_by_rowid(reader, table, keys, params), reverse=newest)
    return [(dict(zip(names, row[:-1], strict=True)), row[-1]) for row in keys_with_rowid]


def keys_by_rowid(reader: RowReader, table: Table, keys: Any, params: Mapping[str, Any]) -> list[Any]:
    """The keys read without an index, each with its rowid, in no order."""
    rowid: Any = literal_column(f"{table.name}.rowid")
    rows: list[Any] = []
    try:
        last = reader.connection.execute(select(rowid).select_from(table).order_by(rowid.desc()).limit(1)).scalar()
    except DBAPIError as error:
        raise UnreadableRow(f"{table.name} cannot be read: {PAGE_DAMAGED}; restore a backup") from error
    key_query = keys.add_columns(rowid).order_by(None).where(rowid == bindparam("the_number"))
    for candidate in range(1, (last or 0) + 1):
        try:
            rows += reader.connection.execute(key_query, {**params, "the_number": candidate}).cursor.fetchall()
        except (sqlite3.DatabaseError, DBAPIError) as error:
            if damage_reason(getattr(error, "orig", error)) is None:
                raise
    return rows


def read_row(reader: RowReader, table: Table, key: RawRow, number: int | None) -> tuple[RawRow | None, str | None]:
    """The row with a key or a rowid; or its problem, if it cannot be read; neither if there is no such row."""
    for column in table.primary_key:
        problem = value_problem(column, key[column.name])
        if problem is not None:
            return None, problem
    # Times are compared as they are stored, because the key was not decoded.
    conditions = [column == bindparam(f"at_{column.name}", type_=storage_type(column)) for column in table.primary_key]
    params = {f"at_{name}": value for name, value in key.items()}
    if number is not None:
        conditions = [literal_column(f"{table.name}.rowid") == bindparam("the_number")]
        params = {"the_number": number}
    try:
        row = reader.connection.execute(select(table).where(*conditions), params).cursor.fetchone()
    except (sqlite3.DatabaseError, DBAPIError) as error:
        if damage_reason(getattr(error, "orig", error)) is None:
            raise
        return None, PAGE_DAMAGED
    return (None, None) if row is None else (dict(zip(table.c.keys(), row, strict=True)), None)


def storage_type(column: Column[Any]) -> Any:
    return BigInteger() if isinstance(column.type, Instant) else column.type


def row_problem(table: Table, row: Mapping[str, Any]) -> str | None:
    """The first problem of a row."""
    problems = (value_problem(column, row[column.name]) for column in table.c)
    problem = next((problem for problem in problems if problem is not None), None)
    if problem is None and table is messages and row["role"] not in ROLES:
        return "its role is none of ours"
    return problem


def damage_error(table: Table, row: Mapping[str, Any], problem: str) -> StoreError:
    """The error that names a row."""
    if table is messages:
        # If the key of a row is damaged, its place is not known: the turn is 0.
        has_place = all(value_problem(column, row[column.name]) is None for column in table.primary_key)
        turn = row["turn"] if has_place else 0
        return DamagedMessage(bytes_to_text(row["space"]), bytes_to_text(row["conversation"]), turn, problem)
    key = ", ".join(f"{column.name} {bytes_to_text(row[column.name])!r}" for column in table.primary_key)
    return StoreError(f"the row of {table.name} with {key} cannot be read: {problem}; restore a backup")


def tombstone_for(error: DamagedMessage) -> Message:
    """An erased message in the place of a damaged one, for callers that continue without it."""
    return Message(error.space, error.conversation, error.turn, "", "user", "", None, "", EPOCH, erased=True)


def bytes_to_text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def decode_row(table: Table, row: Mapping[str, Any], dialect: Dialect) -> RawRow:
    """The decoded values of a row as the driver gives it; of a damaged row, only the columns that can be read."""
    values: RawRow = {}
    for column in table.c:
        if column.name in row and value_problem(column, row[column.name]) is None:
            kind = column.type
            value = row[column.name]
            values[column.name] = (
                kind.process_result_value(value, dialect) if isinstance(kind, TypeDecorator) else value
            )
    return values

"""Rows that cannot be read: found one by one, named by their place, never by what they hold.

A whole page of rows is read at once and fails as a whole: for bytes that are no text, a value of another kind, or a
page of the file that is damaged. Then the keys are read, which mostly stand in an index of their own, and each row
by its key: what is wrong with one is known, and all others are there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Dialect, Table, bindparam, literal_column, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator

from recollect.errors import DamagedMessage, StoreError
from recollect.model import ROLES, Message
from recollect.stores.columns import EPOCH, UNDECODED, Instant, Unreadable, value_problem
from recollect.stores.rows import to_message
from recollect.stores.schema import messages

NOT_TEXT = "Could not decode to UTF-8"  # as SQLite's driver begins, before it repeats what it could not decode
PAGE_DAMAGED = "its page in the file is damaged"

Raw = dict[str, Any]
Tell = Callable[[StoreError, Mapping[str, Any]], None]


class ReadingTx:
    """How a transaction reads rows: many at once, and where that fails, one by one."""

    connection: Connection

    def _raw(self, query: Any, asked: Mapping[str, Any]) -> Sequence[Any]:
        """Rows as the driver gives them: of many, to make them SQLAlchemy's takes longer than to find them."""
        found: Sequence[Any] = self.connection.execute(query, asked).cursor.fetchall()
        return found

    def is_damage(self, error: DBAPIError) -> bool:
        """Whether the database says that a row or its page cannot be read."""
        return False

    @contextmanager
    def tolerant(self) -> Iterator[None]:
        """Within it, text that cannot be decoded comes as bytes. Most databases keep no such text."""
        yield

    @contextmanager
    def naming_damage(self, table: Table, query: Any, asked: Mapping[str, Any]) -> Iterator[None]:
        """If a row of the query cannot be read, say which."""
        try:
            yield
        except (Unreadable, *UNDECODED):
            raise self.first_damage(table, query, asked) from None
        except DBAPIError as error:
            if not self.is_damage(error):
                raise
            raise self.first_damage(table, query, asked) from None

    def first_damage(self, table: Table, query: Any, asked: Mapping[str, Any]) -> StoreError:
        for row, problem in each_row(self, table, query, asked):
            if problem is not None:
                return damage(table, row, problem)
        return StoreError(f"{table.name} cannot be read, though each of its rows can: restore a backup")

    def decoded_messages(
        self,
        query: Any,
        asked: Mapping[str, Any],
        damaged: Callable[[DamagedMessage], None] | None,
        keep_place: bool = False,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Message]:
        """The messages of a query. What cannot be read is told to `damaged` and left out, or given as an erased message
        where the place is to be kept; without `damaged`, it is raised."""
        try:
            return [to_message(row) for row in self._raw(query, asked)]
        except (Unreadable, *UNDECODED):
            found: list[Message] = []
        for row, problem in each_row(self, messages, query, asked, newest):
            if limit is not None and len(found) == limit:
                break
            if problem is None:
                found.append(to_message(tuple(row.values())))
                continue
            error = damage(messages, row, problem)
            if damaged is None or not isinstance(error, DamagedMessage):
                raise error
            damaged(error)
            if keep_place and error.turn:
                found.append(tombstone_of(error))
        return found

    def readable_rows(
        self, table: Table, query: Any, asked: Mapping[str, Any], limit: int | None, newest: bool, damaged: Tell
    ) -> list[Mapping[str, Any]]:
        """The rows of which every value can be read; the others are told, each with what can be read of it."""
        dialect, found = self.connection.dialect, list[Mapping[str, Any]]()
        try:
            page = [dict(zip(table.c.keys(), row, strict=True)) for row in self._raw(query, asked)]
        except Unreadable:
            page = []
        problems = [row_problem(table, row) for row in page]
        if page and not any(problems):
            return [typed_row(table, row, dialect) for row in page]
        for row, problem in each_row(self, table, query, asked, newest):
            if limit is not None and len(found) == limit:
                break  # of those that can be read: an empty page is the end of the table
            if problem is None:
                found.append(typed_row(table, row, dialect))
            else:
                damaged(damage(table, row, problem), typed_row(table, row, dialect))
        return found


def damage_of(error: BaseException | None) -> str | None:
    """What a SQLite error says of a row or page that cannot be read; None if it is about something else."""
    if not isinstance(error, sqlite3.DatabaseError):
        return None
    if str(error).startswith(NOT_TEXT):
        return "bytes that are not text"
    damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT
    return "a page of the file is damaged" if damaged else None


def strip_text(error: BaseException) -> None:
    """SQLite repeats what it could not decode in its error: nobody is to find that in a log."""
    if isinstance(error, sqlite3.OperationalError) and str(error).startswith(NOT_TEXT):
        error.args = (NOT_TEXT,)


def each_row(
    source: ReadingTx, table: Table, query: Any, asked: Mapping[str, Any], newest: bool = False
) -> Iterator[tuple[Raw, str | None]]:
    """The rows of a query one by one, without its limit and as the driver gives them; with each, what is wrong with
    it, if something is."""
    with source.tolerant():
        for key, number in keys_of(source, table, query, asked, newest):
            row, problem = row_at(source, table, key, number)
            if row is not None:
                yield row, problem or row_problem(table, row)
            elif problem is not None:
                yield key, problem


def keys_of(
    source: ReadingTx, table: Table, query: Any, asked: Mapping[str, Any], newest: bool
) -> list[tuple[Raw, int | None]]:
    """The keys of the rows of a query; with the number of each row, if no index can be used to find it."""
    names = [key.name for key in table.primary_key]
    keys = query.with_only_columns(*table.primary_key).limit(None)
    try:
        found = source.connection.execute(keys, asked).cursor.fetchall()
        return [(dict(zip(names, row, strict=True)), None) for row in found]
    except (sqlite3.DatabaseError, DBAPIError) as error:
        if damage_of(getattr(error, "orig", error)) is None:
            raise
    numbered = sorted(keys_by_number(source, table, keys, asked), reverse=newest)
    return [(dict(zip(names, row[:-1], strict=True)), row[-1]) for row in numbered]


def keys_by_number(source: ReadingTx, table: Table, keys: Any, asked: Mapping[str, Any]) -> list[Any]:
    """The keys without the help of an index, each with the number of its row, in no order."""
    number: Any = literal_column(f"{table.name}.rowid")
    found: list[Any] = []
    try:
        last = source.connection.execute(select(number).select_from(table).order_by(number.desc()).limit(1)).scalar()
    except DBAPIError as error:
        raise Unreadable(f"{table.name} cannot be read: {PAGE_DAMAGED}; restore a backup") from error
    single = keys.add_columns(number).order_by(None).where(number == bindparam("the_number"))
    for at in range(1, (last or 0) + 1):
        try:
            found += source.connection.execute(single, {**asked, "the_number": at}).cursor.fetchall()
        except (sqlite3.DatabaseError, DBAPIError) as error:
            if damage_of(getattr(error, "orig", error)) is None:
                raise
    return found


def row_at(source: ReadingTx, table: Table, key: Raw, number: int | None) -> tuple[Raw | None, str | None]:
    """The row with a key, or with a number; or what is in the way of it; neither if there is none."""
    for column in table.primary_key:
        problem = value_problem(column, key[column.name])
        if problem is not None:
            return None, problem
    # Times are asked for as they are stored: a key was not decoded.
    here = [column == bindparam(f"at_{column.name}", type_=stored_type(column)) for column in table.primary_key]
    asked = {f"at_{name}": value for name, value in key.items()}
    if number is not None:
        here = [literal_column(f"{table.name}.rowid") == bindparam("the_number")]
        asked = {"the_number": number}
    try:
        row = source.connection.execute(select(table).where(*here), asked).cursor.fetchone()
    except (sqlite3.DatabaseError, DBAPIError) as error:
        if damage_of(getattr(error, "orig", error)) is None:
            raise
        return None, PAGE_DAMAGED
    return (None, None) if row is None else (dict(zip(table.c.keys(), row, strict=True)), None)


def stored_type(column: Column[Any]) -> Any:
    return BigInteger() if isinstance(column.type, Instant) else column.type


def row_problem(table: Table, row: Mapping[str, Any]) -> str | None:
    """The first thing wrong with a row."""
    problems = (value_problem(column, row[column.name]) for column in table.c)
    problem = next((one for one in problems if one is not None), None)
    if problem is None and table is messages and row["role"] not in ROLES:
        return "its role is none of ours"
    return problem


def damage(table: Table, row: Mapping[str, Any], problem: str) -> StoreError:
    """The error that names a row."""
    if table is messages:
        # Of a row whose key is damaged the place is not known: it has turn 0.
        is_placed = all(value_problem(column, row[column.name]) is None for column in table.primary_key)
        turn = row["turn"] if is_placed else 0
        return DamagedMessage(readable(row["space"]), readable(row["conversation"]), turn, problem)
    key = ", ".join(f"{column.name} {readable(row[column.name])!r}" for column in table.primary_key)
    return StoreError(f"the row of {table.name} with {key} cannot be read: {problem}; restore a backup")


def tombstone_of(error: DamagedMessage) -> Message:
    """What a damaged message is for whoever goes on without it: a place in the log, and nothing in it."""
    return Message(error.space, error.conversation, error.turn, "", "user", "", None, "", EPOCH, erased=True)


def readable(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def typed_row(table: Table, row: Mapping[str, Any], dialect: Dialect) -> Raw:
    """A row as any other is given, from one as the driver gives it; of a damaged row, the columns that can be read."""
    made: Raw = {}
    for column in table.c:
        if column.name in row and value_problem(column, row[column.name]) is None:
            kind, value = column.type, row[column.name]
            made[column.name] = kind.process_result_value(value, dialect) if isinstance(kind, TypeDecorator) else value
    return made

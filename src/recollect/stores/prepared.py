"""Statements that are compiled once and then run by the driver itself.

For each statement SQLAlchemy makes a context, a result and rows: for a query of one row that takes longer than the
query itself. Here a statement is compiled for its shape once, and what is left for each run is to convert its values.
Errors are those that SQLAlchemy raises.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import Dialect, Float, LargeBinary
from sqlalchemy.exc import DBAPIError

Convert = Callable[[Any], Any]
Key = tuple[Any, str, tuple[str, ...], tuple[tuple[str, int], ...]]

LISTS = (list, tuple)  # the parameters of a query that stand for several values
MAX_PREPARED = 2_000  # statements in their compiled form; all are dropped when there are more

_prepared: dict[Key, PreparedStatement] = {}


class PreparedStatement:
    """A statement as text for the driver, with what converts its parameters and the columns of its result."""

    def __init__(self, statement: Any, dialect: Dialect, params: Mapping[str, Any], lists: Sequence[str]) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=None if statement.is_select else list(params))
        sources = {name: [name] for name in compiled.binds}
        self.sql: str = compiled.string
        self._error: type[Exception] = dialect.loaded_dbapi.Error
        self._is_named = compiled.positiontup is None  # the driver takes a value by its name, and not by its position
        positions: Sequence[str] = compiled.positiontup or list(compiled.binds)
        if any(name in compiled.binds for name in lists):
            full_lists = {name: pad_list(params[name], list_room(len(params[name]))) for name in lists}
            expanded = compiled.construct_expanded_state({**params, **full_lists})
            self.sql = expanded.statement
            sources |= {name: list(members) for name, members in expanded.parameter_expansion.items()}
            positions = expanded.positiontup or [member for members in sources.values() for member in members]
        self._constants = {
            name: bind.value for name, bind in compiled.binds.items() if not bind.required and name in positions
        }
        self._lists = {name: sources[name] for name in lists if name in sources}
        converters = {
            member: bind_converter(compiled.binds[name].type, dialect)
            for name, members in sources.items()
            for member in members
        }
        self._names = tuple(positions)
        self._pick_values = value_picker(self._names)
        self._converters = [
            (place, convert) for place, name in enumerate(positions) if (convert := converters[name]) is not None
        ]
        columns = statement.selected_columns if statement.is_select else statement.exported_columns
        self.columns = tuple(column.key for column in columns)
        readers = [result_converter(column.type, dialect) for column in columns]
        self._readers = [(place, reader) for place, reader in enumerate(readers) if reader is not None]

    def values(self, params: Mapping[str, Any]) -> list[Any] | dict[str, Any]:
        """The parameters in the order, or by the names, and in the form in which the driver takes them."""
        if self._constants:
            params = {**self._constants, **params}
        if self._lists:
            params = dict(params)
            for name, members in self._lists.items():
                params |= zip(members, pad_list(params[name], len(members)), strict=True)
        values = [*self._pick_values(params)]
        for place, convert in self._converters:
            values[place] = convert(values[place])
        return dict(zip(self._names, values, strict=True)) if self._is_named else values

    def run(self, cursor: Any, params: Mapping[str, Any]) -> list[Any]:
        """Run the statement on a cursor of the driver; returns its rows as the driver gives them."""
        try:
            rows: list[Any] = cursor.execute(self.sql, self.values(params)).fetchall()
        except self._error as error:
            raise wrap_error(self.sql, error, self._error) from error
        return rows

    def run_for_each(self, cursor: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run the statement for each of these rows."""
        try:
            cursor.executemany(self.sql, map(self.values, rows))
        except self._error as error:
            raise wrap_error(self.sql, error, self._error) from error

    def rows_by_name(self, rows: Sequence[Sequence[Any]]) -> list[Mapping[str, Any]]:
        """Rows of the driver with the values that the columns stand for, by the names of the columns."""
        rows_by_name = [dict(zip(self.columns, row, strict=True)) for row in rows]
        for place, reader in self._readers if rows_by_name else ():
            name = self.columns[place]
            for row_by_name in rows_by_name:
                row_by_name[name] = reader(row_by_name[name])
        return cast(list[Mapping[str, Any]], rows_by_name)

    def convert_rows(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Rows of the driver with the values that the columns stand for."""
        if not self._readers or not rows:
            return rows
        converted_rows = [*map(list, rows)]
        for place, reader in self._readers:
            for row in converted_rows:
                row[place] = reader(row[place])
        return converted_rows


def value_picker(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """What takes the values with these names out of a mapping."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda params: [params[name] for name in names]


def bind_converter(kind: Any, dialect: Dialect) -> Convert | None:
    """What makes a value for the driver: for our own types their `encode`, without what is around it."""
    converter: Convert | None = getattr(kind, "encode", None)
    if isinstance(kind, LargeBinary) and dialect.name == "sqlite":  # the driver takes bytes
        return None
    return converter or kind.dialect_impl(dialect).bind_processor(dialect)


def result_converter(kind: Any, dialect: Dialect) -> Convert | None:
    """What makes a value of a column of the driver's: for our own types their `decode`, without what is around it."""
    converter: Convert | None = getattr(kind, "decode", None)
    if isinstance(kind, Float):  # the driver gives a number
        return None
    return converter or kind.dialect_impl(dialect).result_processor(dialect, None)


def prepare(statement: Any, dialect: Dialect, params: Mapping[str, Any]) -> PreparedStatement:
    """A statement for parameters of this shape: these names, and room for as many members in each list."""
    key: Key
    if statement.is_select:
        sizes: tuple[tuple[str, int], ...] = ()
        for name, value in params.items():  # as a generator it takes longer, and most have none
            if type(value) in LISTS:
                sizes += ((name, list_room(len(value))),)
        key = statement, dialect.name, (), sizes
    else:
        key = statement, dialect.name, tuple(params), ()
    found = _prepared.get(key)
    if found is None:
        if len(_prepared) >= MAX_PREPARED:
            _prepared.clear()
        found = _prepared[key] = PreparedStatement(statement, dialect, params, [name for name, _ in key[3]])
    return found


def list_room(size: int) -> int:
    """For how many members a list of this size is compiled: a power of two, since to compile a statement for each size
    takes longer than to run it."""
    return 1 << (size - 1).bit_length() if size else 0


def pad_list(members: Sequence[Any], room: int) -> list[Any]:
    """A list of values with so many members: what is in it more than once is looked for once."""
    return [*members, *([members[-1]] * (room - len(members)) if members else ())]


@contextmanager
def driver_transaction(connection: Any, begin: str, commit: bool) -> Iterator[None]:
    """Run `begin`, and at the end COMMIT or ROLLBACK; ROLLBACK, too, if anything fails. A transaction is often a single
    query, and to have SQLAlchemy run these would cost more than the query."""
    run_text(connection, begin)
    try:
        yield
        run_text(connection, "COMMIT" if commit else "ROLLBACK")
    except BaseException:
        with suppress(DBAPIError):  # it may have ended already
            run_text(connection, "ROLLBACK")
        raise


def run_text(connection: Any, sql: str) -> None:
    """Run a statement without parameters or rows."""
    run_on_cursor(open_cursor(connection), sql)


def run_on_cursor(cursor: Any, sql: str) -> None:
    """Run a statement without parameters or rows on a cursor of SQLite's driver."""
    try:
        cursor.execute(sql)
    except sqlite3.Error as error:
        raise wrap_error(sql, error) from error


def wrap_error(sql: str, error: Exception, kind: type[Exception] = sqlite3.Error) -> BaseException:
    """An error of the driver as SQLAlchemy would raise it, without the values of the statement."""
    return DBAPIError.instance(sql, None, error, kind, hide_parameters=True)


def open_cursor(connection: Any) -> Any:
    """A cursor of the driver. SQLite's keeps a mark of each, and lets these go some hundred at a time."""
    return connection.connection.driver_connection.cursor()

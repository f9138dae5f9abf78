"""Runs statements on a connection by the driver itself, as SQLAlchemy would: listeners are told, errors are its own.

The driver is an extra that may be missing: whoever has a connection has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, PendingRollbackError

from recollect.stores.prepared import PreparedStatement, wrap_error

STATEMENTS = "recollect statements"  # in what is noted of a connection: those that the server has prepared for it


# Who changes the schema holds the lock alone: no transaction that has read the version goes on meanwhile.
WRITING = "BEGIN; SELECT pg_advisory_xact_lock_shared(hashtext('recollect schema'))"
CHANGING = "BEGIN; SELECT pg_advisory_xact_lock(hashtext('recollect schema'))"


def run_text(connection: Connection, sql: str) -> str | None:
    """Run statements without parameters by the driver itself; it opens no transactions of its own. Returns the first
    value of the last one, if it has rows."""
    from recollect.stores.postgres_driver.server_statements import run_plain

    tell_listeners(connection, sql, {})
    driver: Any = connection.connection.driver_connection
    try:
        return run_plain(driver, sql)
    except connection.dialect.loaded_dbapi.Error as error:
        if driver.closed:
            connection.exec_driver_sql(sql)  # it fails, too, and the pool learns that the server is away
        raise wrap_error(sql, error, connection.dialect.loaded_dbapi.Error) from error


def run_on_server(connection: Connection, prepared: PreparedStatement, params: Mapping[str, Any]) -> list[Any] | None:
    """Run a statement that the server has prepared; None if it has to be run by the driver."""
    from recollect.stores.postgres_driver.server_statements import ServerStatements

    statements = connection.info.get(STATEMENTS)
    if statements is None:
        driver: Any = connection.connection.driver_connection
        statements = connection.info[STATEMENTS] = ServerStatements(driver)
    try:
        rows: list[Any] | None = statements.run(prepared, params)
    except connection.dialect.loaded_dbapi.Error as error:
        raise wrap_error(prepared.sql, error, connection.dialect.loaded_dbapi.Error) from error
    return rows


def tell_listeners(connection: Connection, sql: str, params: Mapping[str, Any]) -> None:
    """Tell whoever listens to statements of one that the driver runs itself."""
    for told in connection.engine.dispatch.before_cursor_execute:
        told(connection, None, sql, params, None, False)


@contextmanager
def rolling_back(connection: Connection) -> Iterator[None]:
    """ROLLBACK if anything fails. The caller has to end the transaction inside the block."""
    try:
        yield
    except BaseException:
        # If the connection is what failed, the server has rolled back already.
        with suppress(DBAPIError, PendingRollbackError):
            connection.exec_driver_sql("ROLLBACK")
        raise


def drop_statements(connection: Any, record: Any) -> None:
    """Drop what is prepared for a connection that goes back to the pool: it is not known what else was dropped."""
    statements = record.info.pop(STATEMENTS, None)
    if statements is not None and connection is not None:
        statements.drop()

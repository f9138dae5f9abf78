"""Connections that stay open from one transaction to the next.

To take a connection from SQLAlchemy's pool and to give it back takes longer than a small query: an object is made for
it each time, and a transaction is rolled back that has ended already. So the connections used last are kept, and the
pool is asked only if more are needed at once, or if something has failed. A database that is busy is tried again
after a pause.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, PendingRollbackError

MOST = 4  # connections that are kept while nobody uses them
FIRST_PAUSE = 0.005  # seconds between two attempts at a busy database
LONGEST_PAUSE = 0.25  # seconds


def wrap_error(sql: str, error: Exception, kind: type[Exception]) -> BaseException:
    """An error of the driver as SQLAlchemy would raise it, without the values of the statement."""
    return DBAPIError.instance(sql, None, error, kind, hide_parameters=True)


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


@dataclass(slots=True)
class OpenConnection:
    """A connection of SQLAlchemy's, and the driver's beneath it, which SQLAlchemy looks up in three steps each time.
    `answer` has the rows of the statement that began its transaction."""

    connection: Connection
    driver: Any
    answer: Sequence[Any] = ()

    def run(self, sql: str) -> list[Any]:
        """Run a statement without parameters by the driver itself, or several of them in one message; returns the rows
        of the last one. A transaction is often a single query, and to have SQLAlchemy begin and end it would take as
        long."""
        driver_error = self.connection.dialect.loaded_dbapi.Error
        try:
            cursor = self.driver.execute(sql)
            while hasattr(cursor, "nextset") and cursor.nextset():
                pass
            return [] if cursor.description is None else list(cursor.fetchall())
        except driver_error as error:
            if getattr(self.driver, "closed", False):
                self.connection.exec_driver_sql(sql)  # it fails, too, and the pool learns that the server is away
            raise wrap_error(sql, error, driver_error) from error

    def roll_back(self) -> bool:
        """Roll the transaction back; False if the connection has failed, or the transaction has ended already."""
        try:
            self.run("ROLLBACK")
        except (DBAPIError, PendingRollbackError):  # the server has rolled back, if the connection is what failed
            return False
        return True


class OpenConnections:
    """The connections of an engine that nobody uses now, the one used last at the end: its page cache holds what it
    wrote. Safe for threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[OpenConnection] = []
        self._is_closed = False

    @contextmanager
    def transaction(self, begin: Sequence[str], end: str | None = None) -> Iterator[OpenConnection]:
        """A transaction on a connection, from one message to the other; without `end`, the caller ends it. If
        anything fails, it is rolled back, and the connection goes back to the pool, which resets it. One that is
        interrupted (Ctrl-C) has not failed, and its connection is kept: who is interrupted again while the pool holds
        its lock would leave it locked."""
        open_connection = self._take_begun(begin)
        try:
            yield open_connection
            if end is not None:
                open_connection.run(end)
        except BaseException as error:
            if open_connection.roll_back() and not isinstance(error, Exception):
                self.give_back(open_connection)
            else:
                open_connection.connection.close()
            raise
        self.give_back(open_connection)

    def take(self) -> OpenConnection:
        """A connection, which is given back or, after an error, closed."""
        try:
            open_connection = self._idle.pop()
        except IndexError:
            connection = self._engine.connect()
            return OpenConnection(connection, connection.connection.driver_connection)
        # Whoever listens to the pool is told as if it came from there.
        if listeners := self._engine.pool.dispatch.checkout:
            listeners(open_connection.driver, None, None)
        return open_connection

    def give_back(self, open_connection: OpenConnection) -> None:
        if len(self._idle) >= MOST:
            open_connection.connection.close()
            return
        self._idle.append(open_connection)
        if self._is_closed:  # asked afterwards: another thread may close them at any moment
            self.drop_idle()

    def _take_begun(self, begin: Sequence[str]) -> OpenConnection:
        """A connection on which a transaction was begun. If a connection that was kept is broken, the server may have
        closed it since; nothing was done on it, and another one is taken."""
        while True:
            is_kept = bool(self._idle)
            open_connection = self.take()
            try:
                for message in begin:
                    open_connection.answer = open_connection.run(message)
            except BaseException as error:
                open_connection.connection.close()
                if is_kept and isinstance(error, DBAPIError) and error.connection_invalidated:
                    continue
                raise
            return open_connection

    def drop_idle(self) -> None:
        """Close what nobody uses now."""
        with suppress(IndexError):  # another thread may have taken the last one
            while True:
                self._idle.pop().connection.close()

    def close(self) -> None:
        """Close what nobody uses now, and the others when they are given back."""
        self._is_closed = True
        self.drop_idle()


class RetryPauses:
    """The waits between attempts at a busy database: growing pauses, up to a deadline."""

    def __init__(self, seconds: float, start: float | None = None) -> None:
        """So many seconds are counted from `start`, a time of the monotonic clock, or from now."""
        self._deadline = (time.monotonic() if start is None else start) + seconds
        self._pause = FIRST_PAUSE

    def wait(self) -> bool:
        """Pause before the next attempt; False, without a pause, if there is no time for one."""
        if time.monotonic() + self._pause > self._deadline:
            return False
        # Jitter, so that two writers that collided once do not collide again.
        time.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return True

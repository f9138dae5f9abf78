"""Connections that stay open from one transaction to the next.

To take a connection from SQLAlchemy's pool and to give it back takes longer than a small query: an object is made for
it each time, and a transaction is rolled back that has ended already. So the connections used last are kept, and the
pool is asked only if more are needed at once, or if something has failed. A database that is busy is tried again
after a pause.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, PendingRollbackError

T = TypeVar("T")

MOST = 4  # connections that are kept while nobody uses them
FIRST_PAUSE = 0.005  # seconds between two attempts at a busy database
LONGEST_PAUSE = 0.25  # seconds


def run_on_driver(connection: Connection, driver: Any, sql: str) -> list[Any]:
    """Run a statement without parameters by the driver itself, or several of them in one message; returns the rows of
    the last one. A transaction is often a single query, and to have SQLAlchemy begin and end it would take as long."""
    try:
        cursor = driver.execute(sql)
        while hasattr(cursor, "nextset") and cursor.nextset():
            pass
        return [] if cursor.description is None else list(cursor.fetchall())
    except connection.dialect.loaded_dbapi.Error as error:
        if getattr(driver, "closed", False):
            connection.exec_driver_sql(sql)  # it fails, too, and the pool learns that the server is away
        raise wrap_error(sql, error, connection.dialect.loaded_dbapi.Error) from error


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


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """A connection of SQLAlchemy's, and the driver's beneath it, which SQLAlchemy looks up in three steps each time."""

    connection: Connection
    driver: Any

    def run(self, sql: str) -> list[Any]:
        return run_on_driver(self.connection, self.driver, sql)


class OpenConnections:
    """The connections of an engine that nobody uses now, the one used last at the end: its page cache holds what it
    wrote. Safe for threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[OpenConnection] = []
        self._is_closed = False

    @contextmanager
    def use(self, begin: Callable[[Connection], None] | None = None) -> Iterator[Connection]:
        """A connection. After an error it is given back to the pool, which resets it. `begin` is run on it first. If
        that fails on a connection that was kept, the server may have closed it since; nothing was done on it, and
        another one is taken."""
        open_connection = self.take() if begin is None else self._take_begun(begin)
        try:
            yield open_connection.connection
        except BaseException:
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
        if told := self._engine.pool.dispatch.checkout:
            told(open_connection.driver, None, None)
        return open_connection

    def give_back(self, open_connection: OpenConnection) -> None:
        if len(self._idle) >= MOST:
            open_connection.connection.close()
            return
        self._idle.append(open_connection)
        if self._is_closed:  # asked afterwards: another thread may close them at any moment
            self.drop_idle()

    def _take_begun(self, begin: Callable[[Connection], None]) -> OpenConnection:
        while True:
            is_kept = bool(self._idle)
            open_connection = self.take()
            try:
                begin(open_connection.connection)
            except BaseException as error:
                open_connection.connection.close()
                if is_kept and isinstance(error, DBAPIError):
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


class PooledTransaction(Generic[T]):
    """One transaction of SQLite's driver on a connection that is kept open. It ends with `end`; if anything fails, with
    ROLLBACK, and its connection goes back to the pool, which resets it. One that is interrupted (Ctrl-C) has not
    failed, and its connection is kept: who is interrupted again while the pool holds its lock would leave it locked.

    It is a class, since a generator for each of these steps takes longer than the steps.
    """

    __slots__ = ("_begin", "_connections", "_end", "_make_tx", "_open_connection")

    def __init__(
        self,
        connections: OpenConnections,
        begin: str,
        end: str,
        make_tx: Callable[[OpenConnection], T],
    ) -> None:
        """`make_tx` makes what the transaction is worked with, of a connection."""
        self._connections = connections
        self._begin = begin
        self._end = end
        self._make_tx = make_tx

    def __enter__(self) -> T:
        open_connection = self._open_connection = self._connections.take()
        try:
            open_connection.run(self._begin)
            return self._make_tx(open_connection)
        except BaseException:
            open_connection.connection.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._roll_back(needs_reset=issubclass(kind, Exception))
            return
        try:
            self._open_connection.run(self._end)
        except BaseException:
            self._roll_back()
            raise
        self._connections.give_back(self._open_connection)

    def _roll_back(self, *, needs_reset: bool = True) -> None:
        try:
            self._open_connection.run("ROLLBACK")
        except DBAPIError:  # it may have ended already
            needs_reset = True
        if needs_reset:
            self._open_connection.connection.close()
        else:
            self._connections.give_back(self._open_connection)


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

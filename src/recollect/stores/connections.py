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

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

MOST = 4  # connections that are kept while nobody uses them
FIRST_PAUSE = 0.005  # seconds between two attempts at a busy database
LONGEST_PAUSE = 0.25  # seconds


class OpenConnections:
    """The connections of an engine that nobody uses now, the one used last at the end: its page cache holds what it
    wrote. Safe for threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Connection] = []
        self._is_closed = False

    @contextmanager
    def use(self, begin: Callable[[Connection], None] | None = None) -> Iterator[Connection]:
        """A connection. After an error it is given back to the pool, which resets it. `begin` is run on it first. If
        that fails on a connection that was kept, the server may have closed it since; nothing was done on it, and
        another one is taken."""
        connection = self._take() if begin is None else self._take_begun(begin)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if len(self._idle) >= MOST:
            connection.close()
            return
        self._idle.append(connection)
        if self._is_closed:  # asked afterwards: another thread may close them at any moment
            self.drop_idle()

    def _take(self) -> Connection:
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._engine.connect()
        # Whoever listens to the pool is told as if it came from there.
        if told := self._engine.pool.dispatch.checkout:
            told(connection.connection.driver_connection, None, None)
        return connection

    def _take_begun(self, begin: Callable[[Connection], None]) -> Connection:
        while True:
            is_kept = bool(self._idle)
            connection = self._take()
            try:
                begin(connection)
            except BaseException as error:
                connection.close()
                if is_kept and isinstance(error, DBAPIError):
                    continue
                raise
            return connection

    def drop_idle(self) -> None:
        """Close what nobody uses now."""
        with suppress(IndexError):  # another thread may have taken the last one
            while True:
                self._idle.pop().close()

    def close(self) -> None:
        """Close what nobody uses now, and the others when they are given back."""
        self._is_closed = True
        self.drop_idle()


class RetryPauses:
    """The waits between attempts at a busy database: growing pauses, up to a deadline."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    def wait(self) -> bool:
        """Pause before the next attempt; False, without a pause, if there is no time for one."""
        if time.monotonic() + self._pause > self._deadline:
            return False
        # Jitter, so that two writers that collided once do not collide again.
        time.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return True

"""A connection that is not waited on for ever.

Until the head of a request is there, nobody knows who asks: whoever sends it a letter a minute, or not at all, would
hold a connection for nothing, and with many of them the server. The web server itself bounds only the time between two
requests. Whoever is let in may take their time with the body, which the door bounds. Whoever does not take what they
asked for would hold it, the connection, and the model that is speaking to them: that has a time, too.

A process has so many files and no more, and each connection is one. Before they are all taken, whoever waits for
nothing but the other side gives way: so many who send half of something cannot keep others from being answered.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if sys.platform != "win32":
    import resource

RESERVED = 128  # files of a process that are no connections to it: the store's, those to models, logs
UNLIMITED = 10_000  # connections, where the system names no limit to files


def allow_many_files() -> None:
    """Have as many open files as the system allows this process: many systems begin with a few hundred."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # it stays at what it is
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connections_allowed() -> int:
    """How many connections a process may have at a time, so that some files are left."""
    if sys.platform == "win32":
        return UNLIMITED
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return UNLIMITED if files == resource.RLIM_INFINITY else max(files - RESERVED, files // 2, 1)


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The web server's own, closed if a request's head is not there in time, if what is sent is not taken in time, or
    if it is in the way of others."""

    patience = 20.0  # seconds from the first letter, or from the beginning
    unread_patience = 60.0  # seconds in which some of what waits to be sent (48 KiB, by asyncio's marks) must be taken
    most: int | None = None  # connections at a time; None: as many as the process has files for
    cycle: Any  # the request being answered, or the last that was
    connections: set[Any]  # all of this server
    _begun = 0.0
    _timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None  # while the other side does not take what is sent

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._begun = asyncio.get_running_loop().time()
        self._expect()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_busy():
            self._relax()
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        self._forget_unread()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        loop = asyncio.get_running_loop()
        self._unread_timer = loop.call_later(self.unread_patience, self.transport.abort)

    def resume_writing(self) -> None:
        self._forget_unread()
        super().resume_writing()

    def _make_room(self) -> None:
        """If there are too many, the oldest of those that wait for the other side is closed."""
        most = connections_allowed() if self.most is None else self.most
        if len(self.connections) <= most:
            return
        waiting = [other for other in self.connections if other is not self and other._waits()]
        if waiting:
            min(waiting, key=lambda other: other._begun).transport.abort()

    def _waits(self) -> bool:
        """Whether nothing happens here until the other side does something: between requests, in one half sent, or in
        an answer half taken."""
        if self._unread_timer is not None:  # even if it is to be closed once all is taken
            return True
        return not self.transport.is_closing() and (not self._is_busy() or self.cycle.more_body)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.patience, self._hang_up)

    def _relax(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget_unread(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _hang_up(self) -> None:
        self._timer = None
        if not self._is_busy():
            self.transport.close()

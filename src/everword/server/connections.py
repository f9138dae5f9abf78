"""Connections with time limits.

Until the head of a request is complete, the server does not know who calls: a client that sends it byte by byte, or not
at all, would hold a connection for nothing, and many of them would block the server. The web server itself limits only
the time between two requests. The time of the body is limited by the door. A client that does not read its answer would
hold the answer, the connection, and the model that is writing it: that has a time limit, too.

A process has a limited number of files, and each connection is one. Before they run out, the oldest connection that
only waits for its client is closed: so many half-sent requests cannot keep others from being answered.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from everword.request_smuggling import StrictProtocol
from everword.server import WHOLE_BODY

if sys.platform != "win32":
    import resource

RESERVED = 128  # files of a process that are not incoming connections: the store's, those to models, logs
UNLIMITED = 10_000  # connections, where the system names no limit to files


def allow_many_files() -> None:
    """Raise the limit of open files to what the system allows: many systems start with a few hundred."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # it stays at what it is
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def max_connections() -> int:
    """How many connections a process may have at a time, so that some files are left for the rest."""
    if sys.platform == "win32":
        return UNLIMITED
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return UNLIMITED if files == resource.RLIM_INFINITY else max(files - RESERVED, files // 2, 1)


class Connection(StrictProtocol):
    """The web server's connection. It is closed if a request's head is not complete in time, if the client does not
    read its answer in time, or if others need its place. The parser of HTTP is the same whatever else is installed:
    another answers differently to what is wrong."""

    patience = 20.0  # seconds for a request's head, from its first byte or from the start of the connection
    unread_patience = 60.0  # seconds in which some of what waits to be sent (48 KiB, by asyncio's marks) must be read
    most: int | None = None  # connections at a time; None: as many as the process has files for
    connections: set[Any]  # all of this server
    began_at = 0.0  # by the event loop's clock
    _timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None  # while the client does not read what is sent

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self.began_at = asyncio.get_running_loop().time()
        self._start_timer()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_busy():
            self._cancel_timer()
        else:
            self._start_timer()

    def handle_events(self) -> None:
        super().handle_events()
        cycle = self.cycle
        if cycle is not None and WHOLE_BODY not in cycle.scope:  # it is new, and runs only after this
            cycle.scope[WHOLE_BODY] = not cycle.more_body

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        self._cancel_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        loop = asyncio.get_running_loop()
        self._unread_timer = loop.call_later(self.unread_patience, self.transport.abort)

    def resume_writing(self) -> None:
        self._cancel_unread_timer()
        super().resume_writing()

    def _make_room(self) -> None:
        """If there are too many connections, close the oldest of those that wait for their client."""
        limit = max_connections() if self.most is None else self.most
        if len(self.connections) <= limit:
            return
        waiting = [other for other in self.connections if other is not self and other.is_waiting()]
        if waiting:
            min(waiting, key=lambda other: other.began_at).transport.abort()

    def is_waiting(self) -> bool:
        """Whether nothing happens until the client does something: between requests, in a half-sent request, or in a
        half-read answer."""
        if self._unread_timer is not None:  # even if it closes once all is read
            return True
        return not self.transport.is_closing() and (not self._is_busy() or self.cycle.more_body)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.patience, self._hang_up)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cancel_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _hang_up(self) -> None:
        self._timer = None
        if not self._is_busy():
            self.transport.close()

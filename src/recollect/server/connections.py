"""A connection that is not waited on for ever.

Until the head of a request is there, nobody knows who asks: whoever sends it a letter a minute, or not at all, would
hold a connection for nothing, and with many of them the server. The web server itself bounds only the time between two
requests. Whoever is let in may take their time with the body, which the door bounds.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The web server's own, closed if a request's head is not there in time."""

    patience = 20.0  # seconds from the first letter, or from the beginning
    cycle: Any  # the request being answered, or the last that was
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_busy():
            self._relax()
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.patience, self._hang_up)

    def _relax(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        if not self._is_busy():
            self.transport.close()

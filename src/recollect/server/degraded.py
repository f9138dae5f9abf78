"""Says in every answer of a server that it holds messages in memory, while it does: they are not on the disk yet."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.memory.memory import MemoryEngine
from recollect.model import Degraded

HEADER = "Recollect-Degraded"


class DegradedHeader:
    """The middleware that adds the header to answers."""

    def __init__(self, app: ASGIApp, memory: MemoryEngine) -> None:
        self._app = app
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_message(message: Message) -> None:
            if message["type"] == "http.response.start":
                degraded = self._memory.degraded
                if degraded is not None:
                    MutableHeaders(scope=message)[HEADER] = header_value(degraded)
            await send(message)

        await self._app(scope, receive, send_message if scope["type"] == "http" else send)


def header_value(degraded: Degraded) -> str:
    return f'held={degraded.held}, since="{degraded.since.isoformat()}", reason="{degraded.reason}"'

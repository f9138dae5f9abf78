"""What comes in on a pipe, so that nobody waits for an answer that never comes.

A line that is no message of the protocol has no answer of the SDK's. Where it is JSON all the same and names a request,
as one does that holds half an emoji, its client waits: so it is told that this was not understood.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

NOT_UNDERSTOOD = "this is no request that can be read: is its JSON well-formed, and its text whole characters?"


class Heard:
    """A stream of messages, less those that cannot be read."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    @property
    def last_context(self) -> Any:
        return self._incoming.last_context

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(item := await self._incoming.receive(), ValidationError):
            await self._refuse(item)
        message: SessionMessage | Exception = item
        return message

    async def __anext__(self) -> SessionMessage | Exception:
        while isinstance(item := await anext(self._incoming), ValidationError):
            await self._refuse(item)
        message: SessionMessage | Exception = item
        return message

    async def _refuse(self, error: ValidationError) -> None:
        id = asked_in(error.errors()[0]["input"])
        if id is not None:
            told = ErrorData(code=PARSE_ERROR, message=NOT_UNDERSTOOD)
            await self._outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=told)))

    async def aclose(self) -> None:
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def asked_in(line: object) -> str | int | None:
    """The id of the request that a line holds, if it can be made out."""
    try:
        found = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    id = found.get("id") if isinstance(found, dict) and "method" in found else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None

"""Answers unreadable lines on a pipe, so that no client waits for an answer that never comes.

The SDK does not answer a line that is no message of the protocol. If the line is JSON and names a request, such as one
that contains half an emoji, its client waits for an answer: so we send an error for it.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

NOT_UNDERSTOOD = "this is no request that can be read: is its JSON well-formed, and its text whole characters?"


class ReadableMessages:
    """A stream of messages without those that cannot be read, which are answered with an error."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

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
        id = request_id_of(error.errors()[0]["input"])
        if id is not None:
            refusal = ErrorData(code=PARSE_ERROR, message=NOT_UNDERSTOOD)
            await self._outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=refusal)))

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


def request_id_of(line: object) -> str | int | None:
    """The id of the request in a line, if it has one."""
    try:
        request = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    id = request.get("id") if isinstance(request, dict) and "method" in request else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None

"""Answers unreadable lines on a pipe, so that no client waits for an answer that never comes.

The SDK does not answer a line that is no message of the protocol. If the line is JSON and names a request, such as one
that contains half an emoji, its client waits for an answer: so we send an error for it. A line that goes beyond the
limits of JSON (`parsing.LIMITS`) is answered before the SDK parses it.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from everword.parsing import LIMITS, UnreadableJson, check_json, json_events, read_json

NOT_UNDERSTOOD = "this is no request that can be read: is its JSON well-formed, and its text whole characters?"


class CheckedLines:
    """The lines of standard input that are within the limits; any other is answered with an error on `outgoing`, which
    has to be set before the first line is read."""

    outgoing: Any = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while line := await anyio.to_thread.run_sync(read_line):
            try:
                check_json(line)
            except UnreadableJson as error:
                await send_refusal(self.outgoing, find_request_id(line), f"this line {error}")
            else:
                return line.decode("utf-8", "replace")
        raise StopAsyncIteration


def read_line() -> bytes:
    """The next line of standard input. Of one that is too long, only the beginning is kept."""
    line = part = sys.stdin.buffer.readline(LIMITS.size + 1)
    while part and not part.endswith(b"\n"):
        part = sys.stdin.buffer.readline(LIMITS.size)
    return line


async def send_refusal(outgoing: Any, id: str | int | None, reason: str) -> None:
    error = ErrorData(code=PARSE_ERROR, message=reason)
    await outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=error)))


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
            await send_refusal(self._outgoing, id, NOT_UNDERSTOOD)

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
        request = read_json(line) if isinstance(line, str) else line
    except UnreadableJson:
        return None
    id = request.get("id") if isinstance(request, dict) and "method" in request else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def find_request_id(line: bytes) -> str | int | None:
    """The id of the request in a line that is too much to be parsed as a whole."""
    depth = 0
    key = ""
    with suppress(UnreadableJson):
        for event, value in json_events(io.BytesIO(line)):
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            key = value if event == "map_key" and depth == 1 else key
            if depth == 1 and key == "id" and event in ("number", "string") and isinstance(value, str | int):
                return value
    return None

"""Refuses HTTP requests whose end two programs could see in different places.

Behind a proxy, requests of several clients come on one connection. If the proxy and we disagree about where a request
ends, the rest of it is read as the next one, in another's name. So what leaves room for two readings is refused with
400, and the connection is closed: two lengths, a length beside a transfer coding, a coding other than `chunked`, lines
that end with LF alone, folded lines, control characters, odd sizes of chunks. The parser, h11, accepts several of these
and chooses one reading.
"""

from __future__ import annotations

import re
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

REFUSAL = (
    "This request could be read in two ways. Send one Content-Length, or Transfer-Encoding: chunked in HTTP/1.1, and "
    "headers without control characters, one a line, each line ended by CRLF."
)
HEAD_BYTES = 16 << 10  # of a head, or of the size of a chunk: as h11 has it
# LF without CR, CR without LF, other control characters, a line that continues the one before.
_AMBIGUOUS = re.compile(rb"(?<!\r)\n|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\n[ \t]")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}(?:;[\t\x20-\x7e\x80-\xff]{0,256})?\r\n")


class StrictBuffer(ReceiveBuffer):
    """The bytes that were received and not read yet: gives heads, trailers and sizes of chunks only if they can be read
    in one way."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        received = bytes(self._data)
        lines: list[bytearray] | None = super().maybe_extract_lines()
        if lines is not None:
            if _AMBIGUOUS.search(received, 0, len(received) - len(self._data)):
                raise h11.RemoteProtocolError("the request contains an ambiguous line end or character")
            check_framing(lines)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line: bytearray | None = super().maybe_extract_next_line()
        if line is not None and not _CHUNK_SIZE.fullmatch(line):
            raise h11.RemoteProtocolError("the request contains a chunk with an ambiguous size")
        return line


def check_framing(lines: list[bytearray]) -> None:
    """Refuse a head that says more than once, or in an unusual way, how long the body is."""
    fields = [line.lower().partition(b":")[::2] for line in lines[1:]]
    lengths = [value.strip() for name, value in fields if name.strip() == b"content-length"]
    codings = [value.strip() for name, value in fields if name.strip() == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1 or not all(length.isdigit() for length in lengths):
        raise h11.RemoteProtocolError("the request has an ambiguous body length")
    if codings and (codings != [b"chunked"] or not lines[0].endswith(b" HTTP/1.1")):
        raise h11.RemoteProtocolError("the request has an ambiguous transfer coding")


class StrictConnection(h11.Connection):
    """The state of a connection, whose buffer is strict."""

    def __init__(self, max_incomplete_event_size: int) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size)
        self._receive_buffer = StrictBuffer()


class StrictProtocol(H11Protocol):
    """The web server's connection, which refuses ambiguous requests and closes after them."""

    cycle: Any  # the request being answered, or the last that was

    def __init__(self, config: Any, *args: Any, **options: Any) -> None:
        super().__init__(config, *args, **options)
        self.conn = StrictConnection(config.h11_max_incomplete_event_size or HEAD_BYTES)

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:
            self.cycle.disconnected = True  # what it still sends goes nowhere
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(REFUSAL)
        else:  # an answer has begun
            self.transport.close()

"""Parses server-sent events from bytes that come in chunks cut anywhere.

Only what a chat stream uses: the data of each event; comments and other fields are skipped. The bytes of an unfinished
line are bounded, so that a server that never ends a line cannot fill our memory.
"""

from __future__ import annotations

from recollect.models.chat.trouble import Trouble

LONGEST = 2 << 20  # bytes of one event
DONE = "[DONE]"


class EventParser:
    """`feed` takes bytes and returns the data of the events that are now complete."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._buffer = bytearray()
        self._data: list[bytes] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[str]:
        events: list[str] = []
        has_line_end = self._buffer.endswith(b"\r") or b"\n" in chunk or b"\r" in chunk
        self._buffer += chunk
        if has_line_end:
            # A carriage return at the end may be the first half of "\\r\\n": it waits for the next byte.
            tail = b"\r" if self._buffer.endswith(b"\r") else b""
            text = bytes(self._buffer).removesuffix(tail).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *lines, last = text.split(b"\n")
            self._buffer = bytearray(last + tail)
            events = [event for line in lines if (event := self._read_line(line)) is not None]
        if len(self._buffer) + self._data_size > LONGEST:
            raise self._trouble.foreign_answer(f"an event of more than {LONGEST >> 20} MiB")
        return events

    def _read_line(self, line: bytes) -> str | None:
        """Takes one line; returns the data of an event if the line ends one."""
        if line.startswith(b"data:"):
            data = line[5:].removeprefix(b" ")
            self._data.append(data)
            self._data_size += len(data)
        if line or not self._data:
            return None
        raw = b"\n".join(self._data)
        self._data = []
        self._data_size = 0
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
        raise self._trouble.foreign_answer("bytes that are not UTF-8")

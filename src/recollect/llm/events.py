"""Server-sent events out of bytes that come in pieces cut anywhere.

Only what a chat stream uses: the data of each event; comments and other fields are passed over. What is held back
for the end of a line is bounded, so that a server that never ends one cannot fill our memory.
"""

from __future__ import annotations

from recollect.llm.trouble import Trouble

LONGEST = 2 << 20  # bytes of one event
DONE = "[DONE]"


class Events:
    """`feed` it bytes, get the data of the events that are now complete."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[str]:
        found: list[str] = []
        ended = self._rest.endswith(b"\r") or b"\n" in chunk or b"\r" in chunk
        self._rest += chunk
        if ended:
            # A carriage return at the end may be half of a line's end: it waits for the next byte.
            tail = b"\r" if self._rest.endswith(b"\r") else b""
            text = bytes(self._rest).removesuffix(tail).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *lines, last = text.split(b"\n")
            self._rest = bytearray(last + tail)
            found = [event for line in lines if (event := self._line(line)) is not None]
        if len(self._rest) + self._held > LONGEST:
            raise self._trouble.foreign(f"an event of more than {LONGEST >> 20} MiB")
        return found

    def _line(self, line: bytes) -> str | None:
        """One line in; an event's data out, if the line ends one."""
        if line.startswith(b"data:"):
            data = line[5:].removeprefix(b" ")
            self._data.append(data)
            self._held += len(data)
        if line or not self._data:
            return None
        raw, self._data, self._held = b"\n".join(self._data), [], 0
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
        raise self._trouble.foreign("bytes that are not UTF-8")

"""One way to read every format: `open_records` detects the format of a file and yields its messages.

Errors of the file as a whole (missing, empty, unknown) raise `ImportFailed` at once. After that nothing is
raised: a message that cannot be read is a `BadRecord` in its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from types import TracebackType
from zoneinfo import ZoneInfo

from recollect.errors import ImportFailed, InvalidInput
from recollect.formats import chatgpt, claude, discord, jsonl, telegram
from recollect.formats.detect import FORMATS, describe_formats, format_of
from recollect.formats.record import Options
from recollect.formats.source import STANDARD_INPUT, Source, Stream
from recollect.model import BadRecord, Record

_READERS: dict[str, Callable[[Stream, Options], Iterator[Record | BadRecord]]] = {
    "recollect": jsonl.read,
    "chatgpt": chatgpt.read,
    "claude": claude.read,
    "discord": discord.read,
    "telegram": telegram.read,
}


class Reader(Iterator[Record | BadRecord]):
    """The records of one file, in its order. It is read once, and closes itself at the end or with `close`.

    `total_bytes` is None for standard input. `suggested_space` is the place the file says it comes from: the
    id of a Discord guild.
    """

    def __init__(self, source: Source, format: str, options: Options) -> None:
        self.format = format
        self.total_bytes = source.total_bytes
        self.suggested_space = _space(source) if format == "discord" else None
        self._options = options
        self._stream: Stream | None = None
        self._records = self._read(source)

    @property
    def bytes_read(self) -> int:
        return 0 if self._stream is None else self._stream.position

    def _read(self, source: Source) -> Generator[Record | BadRecord, None, None]:
        name = ""
        try:
            with closing(source.parts()) as parts:
                for name, stream in parts:
                    self._stream = stream
                    for record in _READERS[self.format](stream, self._options):
                        yield replace(record, where=f"{name}, {record.where}") if name else record
        except ImportFailed as error:
            yield BadRecord(name or source.name, str(error))

    def __next__(self) -> Record | BadRecord:
        return next(self._records)

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._records.close()


def open_records(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    user: str | None = None,
    assistant_ids: Collection[str] = (),
    timezone: str | None = None,
) -> Reader:
    """Open a file to import and read its records one by one. `-` is standard input, JSON Lines only.

    `format` is one of `FORMATS`; without it the content decides. `user` is whose chats these are, for chats
    with one person whose file does not say. `assistant_ids` are the authors that were the assistant, in
    channels. `timezone` names the zone of times that have none, such as "Europe/Berlin".
    """
    if format is not None and format not in FORMATS:
        raise ImportFailed(f"there is no format {format!r}. {describe_formats()}")
    if os.fspath(path) == STANDARD_INPUT and format not in (None, "recollect"):
        raise ImportFailed(f"standard input is read as JSON Lines only: save it to a file to import {format}")
    assistants = [assistant_ids] if isinstance(assistant_ids, str) else assistant_ids
    options = Options(user, frozenset(assistants), _zone(timezone))
    source = Source.of(path)
    return Reader(source, format or format_of(source), options)


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidInput("timezone", f"there is no zone {name!r}; name one such as Europe/Berlin or UTC") from None


def _space(source: Source) -> str | None:
    with closing(source.parts()) as parts:
        _, stream = next(parts)
        return discord.guild_id(stream)

"""Other programs' exports, and our own, read as messages ready for the log.

Each format has one function, `read(stream, options)`: bytes in, records out, in the order of the file. A reader keeps
what was said as it was said, with its true time, author and id, and holds one message or one conversation in memory at
a time. `open_records` detects the format of a file and yields its messages. Errors of the file as a whole (missing,
empty, unknown) raise `ImportFailed` at once. After that nothing is raised: what cannot be read is a `BadRecord` in its
place.

The format is that of the first key that only one format has at that place (`detect`). Only the beginning of a file is
looked at, and not its name. A sign is at most two levels deep, so the path to a key is known for those levels alone:
the path of every level would take memory in the square of the depth.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from types import TracebackType
from zoneinfo import ZoneInfo

from everword.errors import ImportFailed, InvalidInput
from everword.formats import assistants, channels, jsonl, memories
from everword.formats.jsonl import dump
from everword.formats.source import STANDARD_INPUT, Options, Source, Stream, tables_of
from everword.model import BadRecord, Record
from everword.strict_json import BrokenJson, UnreadableJson, json_events

__all__ = ["FORMATS", "BadRecord", "Reader", "Record", "detect", "dump", "open_records"]

_READERS: dict[str, Callable[[Stream, Options], Iterator[Record | BadRecord]]] = {
    "everword": jsonl.read,
    "chatgpt": assistants.read_chatgpt,
    "claude": assistants.read_claude,
    "discord": channels.read_discord,
    "telegram": channels.read_telegram,
    "slack": channels.read_slack,
    "whatsapp": channels.read_whatsapp,
    "mem0": memories.read_mem0,
    "zep": memories.read_zep,
    "langgraph": memories.read_langgraph,
    "mcp": memories.read_mcp,
    "letta": memories.read_letta,
    "hindsight": memories.read_hindsight,
}
FORMATS = {
    "everword": "JSON Lines, one message or one conversation a line",
    "chatgpt": "ChatGPT's conversations.json, or its zip",
    "claude": "Claude's conversations.json, or its zip",
    "discord": "a channel from DiscordChatExporter, as JSON",
    "telegram": "Telegram Desktop's result.json",
    "slack": "a workspace's export, as a zip",
    "whatsapp": "a chat's text file, or its zip",
    "mem0": "memories as JSON, points of its Qdrant collection as JSON, or history.db",
    "zep": "edges, facts and episodes of Zep or Graphiti, as JSON",
    "langgraph": "the file of a SqliteStore, or items as JSON",
    "mcp": "memory.json of the Model Context Protocol's memory server",
    "letta": "an agent file, .af",
    "hindsight": "memories of a bank, as JSON",
}
HEAD_BYTES = 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

_SIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "everword": ("role", "content", "erased"),
        "chatgpt": ("mapping",),
        "claude": ("chat_messages",),
        "discord": ("guild", "channel"),
        "telegram": ("personal_information", "contacts", "frequent_contacts", "chats", "left_chats"),
        "mcp": ("entityType", "observations", "relationType"),
        "letta": ("agents", "agent_type", "core_memory", "in_context_message_indices", "mcp_servers"),
        "zep": ("edges", "episodes", "facts", "relevant_facts"),
    },
    "item": {
        "chatgpt": ("mapping",),
        "claude": ("chat_messages", "conversations_memory", "project_memories"),
        "slack": ("ts", "client_msg_id"),
        "mem0": ("memory", "payload"),
        "zep": ("fact", "source_node_uuid", "source_description"),
        "langgraph": ("namespace",),
        "hindsight": ("fact_type", "occurred_start", "mentioned_at"),
    },
    "results.item": {"mem0": ("memory",), "hindsight": ("text", "context", "occurred_start", "mentioned_at")},
    "memories.item": {"mem0": ("memory",)},
    "points.item": {"mem0": ("payload",)},
    "result.points.item": {"mem0": ("payload",)},
    "items.item": {"langgraph": ("namespace",), "hindsight": ("text", "context", "fact_type", "mentioned_at")},
    "messages.item": {
        "everword": ("role", "content"),
        "telegram": ("date", "date_unixtime", "from", "from_id", "actor", "text"),
    },
}
_TABLES = {"mem0": ("history", {"memory_id", "new_memory"}), "langgraph": ("store", {"prefix", "key", "value"})}
_FORMAT_OF = {(place, key): format for place, signs in _SIGNS.items() for format, keys in signs.items() for key in keys}
_SIGN_DEPTH = max(place.count(".") + 1 for place in _SIGNS)


class Reader(Iterator[Record | BadRecord]):
    """The records of one file, in its order. It is read once, and closes itself at the end or with `close`.

    `total_bytes` is None for standard input. `suggested_space` is the place the file says it comes from: the
    id of a Discord guild. `left_out` counts what was read so far and cannot be taken over, by what it is.
    """

    def __init__(self, source: Source, format: str, options: Options) -> None:
        self.format = format
        self.total_bytes = source.total_bytes
        self.suggested_space = _space(source) if format == "discord" else None
        self.left_out = options.left_out
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
    if os.fspath(path) == STANDARD_INPUT and format not in (None, "everword"):
        raise ImportFailed(f"standard input can contain JSON Lines only; to import {format}, give a file")
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
        raise InvalidInput(
            "timezone", f"{name!r} is not a time zone; use a name such as Europe/Berlin or UTC"
        ) from None


def _space(source: Source) -> str | None:
    with closing(source.parts()) as parts:
        _, stream = next(parts)
        return channels.guild_id(stream)


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format the file has, one of `FORMATS`."""
    return format_of(Source.of(path))


def format_of(source: Source) -> str:
    if source.path is None:
        return "everword"
    with closing(source.parts()) as parts:
        _, stream = next(parts)
        head = stream.read(HEAD_BYTES)
    if source.is_database:
        return _format_of_database(source)
    if not head.strip():
        raise ImportFailed(f"{source.name} is empty")
    if head.startswith(_UTF16):
        raise ImportFailed(f"{source.name} is encoded as UTF-16; save it as UTF-8")
    if channels.is_slack_export(source):
        return "slack"
    if channels.is_whatsapp_chat(head):
        return "whatsapp"
    try:
        format = _first_sign(head)
    except UnreadableJson as error:
        raise ImportFailed(f"{source.name} {error}") from None
    if format is None:
        raise ImportFailed(f"{source.name} is in an unknown format. {describe_formats()}")
    return format


def _format_of_database(source: Source) -> str:
    """The format of a SQLite file: that of the table which only one program makes."""
    tables = tables_of(source.name)
    for format, (table, columns) in _TABLES.items():
        if columns <= tables.get(table, set()):
            return format
    raise ImportFailed(f"{source.name} is a database in an unknown format. {describe_formats()}")


def describe_formats() -> str:
    """The known formats, as a sentence for an error message."""
    return "Known: " + "; ".join(f"{name} ({description})" for name, description in FORMATS.items()) + "."


def _first_sign(head: bytes) -> str | None:
    """The format whose sign comes first. The head may end in the middle of a value, or be no JSON at all."""
    places: list[str | None] = []  # of the open lists and objects; None for those that are deeper than any sign
    lists: list[bool] = []
    key = ""
    with suppress(BrokenJson):
        for event, value in json_events(io.BytesIO(head), many=True):
            if event == "map_key":
                key = value
                if (places[-1], key) in _FORMAT_OF:
                    return _FORMAT_OF[places[-1] or "", key]
            elif event in ("start_map", "start_array"):
                places.append(_place_in(places, "item" if lists and lists[-1] else key))
                lists.append(event == "start_array")
            elif event in ("end_map", "end_array"):
                places.pop()
                lists.pop()
    return None


def _place_in(places: list[str | None], step: str) -> str | None:
    """The place of a list or an object that is this step from the innermost open one."""
    if not places:
        return ""
    if len(places) > _SIGN_DEPTH:
        return None
    return f"{places[-1]}.{step}" if places[-1] else step

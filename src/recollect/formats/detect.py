"""Which format a file has, by what is in it: the first key that only one format has at that place decides.

Only the beginning of a file is looked at, and not its name.
"""

from __future__ import annotations

import io
import os
from contextlib import closing
from typing import Any

import ijson

from recollect.errors import ImportFailed
from recollect.formats.source import Source

FORMATS = {
    "recollect": "JSON Lines, one message or one conversation a line",
    "chatgpt": "ChatGPT's conversations.json, or its zip",
    "claude": "Claude's conversations.json, or its zip",
    "discord": "a channel from DiscordChatExporter, as JSON",
    "telegram": "Telegram Desktop's result.json",
}
HEAD_BYTES = 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

_SIGNS: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "recollect": ("role", "content", "erased"),
        "chatgpt": ("mapping",),
        "claude": ("chat_messages",),
        "discord": ("guild", "channel"),
        "telegram": ("personal_information", "contacts", "frequent_contacts", "chats", "left_chats"),
    },
    "item": {"chatgpt": ("mapping",), "claude": ("chat_messages",)},
    "messages.item": {
        "recollect": ("role", "content"),
        "telegram": ("date", "date_unixtime", "from", "from_id", "actor", "text"),
    },
}
_FORMAT_OF = {(place, key): format for place, signs in _SIGNS.items() for format, keys in signs.items() for key in keys}


def detect(path: str | os.PathLike[str]) -> str:
    """The name of the format the file has, one of `FORMATS`."""
    return format_of(Source.of(path))


def format_of(source: Source) -> str:
    if source.path is None:
        return "recollect"
    with closing(source.parts()) as parts:
        _, stream = next(parts)
        head = stream.read(HEAD_BYTES)
    if not head.strip():
        raise ImportFailed(f"{source.name} is empty")
    if head.startswith(_UTF16):
        raise ImportFailed(f"{source.name} is UTF-16: save it as UTF-8")
    format = _first_sign(head)
    if format is None:
        raise ImportFailed(f"{source.name} is in no format known here. {describe_formats()}")
    return format


def describe_formats() -> str:
    """The known formats, as a sentence for an error message."""
    return "Known: " + "; ".join(f"{name} ({description})" for name, description in FORMATS.items()) + "."


def _first_sign(head: bytes) -> str | None:
    events: Any = ijson.parse(io.BytesIO(head), multiple_values=True)
    try:
        for prefix, event, value in events:
            if event == "map_key" and (prefix, value) in _FORMAT_OF:
                return _FORMAT_OF[prefix, value]
    except (ijson.JSONError, ValueError, ArithmeticError):
        return None  # the head ends in the middle of a value, or is not JSON at all
    return None

"""Which format a file has, by what is in it: the first key that only one format has at that place decides.

Only the beginning of a file is looked at, and not its name. A sign is at most two levels deep, so the path to a key is
known for those levels alone: the path of every level would take memory in the square of the depth.
"""

from __future__ import annotations

import io
import os
from contextlib import closing, suppress

from recollect.errors import ImportFailed
from recollect.formats.source import Source
from recollect.parsing import BrokenJson, UnreadableJson, json_events

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
_SIGN_DEPTH = max(place.count(".") + 1 for place in _SIGNS)


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
    try:
        format = _first_sign(head)
    except UnreadableJson as error:
        raise ImportFailed(f"{source.name} {error}") from None
    if format is None:
        raise ImportFailed(f"{source.name} is in no format known here. {describe_formats()}")
    return format


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

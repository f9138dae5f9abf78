"""Telegram Desktop's `result.json`: one chat, or all of an account's.

The true time is `date_unixtime`: `date` is the clock on the wall where the export was made, and says not where. An
id is unique in its chat only. What Telegram itself says (somebody joined, a title changed) has the role system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from recollect.errors import ImportFailed
from recollect.formats.fields import (
    epoch,
    given,
    identifier,
    listing,
    mapping,
    mapping_or_none,
    mappings,
    moment,
    present,
    text,
    text_or_none,
)
from recollect.formats.record import BadRecord, Options, Record, attempt
from recollect.formats.source import Stream
from recollect.formats.values import EACH, START, WRONG, Path, walk
from recollect.model import Draft, Role

_OWNER = ("personal_information", "user_id")
_CHATS: tuple[Path, ...] = ((), ("chats", "list", EACH), ("left_chats", "list", EACH))
_HEADER = ("name", "type", "id")
_PLACES = (
    _OWNER,
    *((*chat, name) for chat in _CHATS for name in _HEADER),
    *((*chat, "messages", EACH) for chat in _CHATS),
)
# Chats of one person: with somebody, with a bot, or with themselves.
_PERSONAL = ("personal_chat", "bot_chat", "saved_messages")
_BARE_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_MEDIA = {
    "photo": "photo",
    "location_information": "location",
    "contact_information": "contact",
    "invoice_information": "invoice",
    "game_title": "game",
    "poll": "poll",
    "file": "file",
}


class _Mended(Stream):
    """The bytes of an export with `\\x1F` written as `\\u001F`: Telegram Desktop writes control characters as no JSON does."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data = self._rest + self._stream.read(size)
        self._rest = b""
        if b"\\" not in data[-4:] and b"\\x" not in data:
            return data
        mended = _BARE_ESCAPE.sub(_unicode_escape, data)
        return mended


def _unicode_escape(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else b"\\u00" + match[1]

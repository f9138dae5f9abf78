"""Telegram Desktop's `result.json`: one chat, or all of an account's.

The true time is `date_unixtime`: `date` is the local time where the export was made, without its zone. An id is
unique in its chat only. Notices of Telegram (somebody joined) have the role system. A chat belongs to one person
if they wrote it to themselves or to the assistant; a chat of two people belongs to neither.
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
    drop_empty,
    epoch,
    identifier,
    listing,
    mapping,
    mapping_or_empty,
    mappings,
    moment,
    optional,
    text,
    text_or_empty,
)
from recollect.formats.record import Options, attempt
from recollect.formats.source import Stream
from recollect.formats.values import EACH, WRONG, Path, walk
from recollect.model import BadRecord, Draft, Record, Role
from recollect.model.clean_names import clean_name

_OWNER = ("personal_information", "user_id")
_LISTED: tuple[Path, ...] = (("chats", "list", EACH), ("left_chats", "list", EACH))
_CHATS: tuple[Path, ...] = ((), *_LISTED)
_HEADER = ("name", "type", "id")
_PLACES = (
    _OWNER,
    *((*chat, name) for chat in _CHATS for name in _HEADER),
    *((*chat, "messages", EACH) for chat in _CHATS),
)
_OWN_NOTES = "saved_messages"
_LEFT_OUT = "unsupported"  # a message that Telegram Desktop could not export: it writes its id and no more
_BARE_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_MEDIA = {
    "photo": "photo",
    "location_information": "location",
    "contact_information": "contact",
    "invoice_information": "invoice",
    "game_title": "game",
    "file": "file",
}


class _RepairedStream:
    """The bytes of an export, with the invalid escape `\\x1F` of a control character written as `\\u001F`."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data = self._rest
        while chunk := self._stream.read(size):
            data += chunk
            if end := _whole_end(data):
                self._rest = data[end:]
                data = data[:end]
                return _BARE_ESCAPE.sub(_json_escape, data) if b"\\x" in data else data
        self._rest = b""
        return data


def _whole_end(data: bytes) -> int:
    """Where the data ends, without an escape that the end of the chunk has cut off."""
    slash = data.rfind(b"\\", -3)
    before = data[: slash + 1]
    is_literal = (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
    return len(data) if slash < 0 or is_literal or data[slash + 1 : slash + 2] not in b"x" else slash


def _json_escape(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else b"\\u00" + match[1]


@dataclass(slots=True)
class _Chat:
    """The chat being read: the fields before its messages, and how many messages have been read."""

    where: str = ""
    header: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    user: str | None = None
    about: dict[str, Any] = field(default_factory=dict)
    messages: int = 0

    def place(self, number: int) -> str:
        return f"{self.where}message {number}"

    def open(self, owner: Any, options: Options) -> None:
        self.id = identifier(self.header.get("id"), "id")
        kind = text_or_empty(self.header.get("type"), "type")
        self.about = drop_empty(title=text_or_empty(self.header.get("name"), "name"), chat_type=kind)
        if kind == _OWN_NOTES or options.assistant_ids & {self.id, f"user{self.id}"}:
            account = optional(identifier, owner, "user_id")
            self.user = options.user or (f"user{account}" if account else None)


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of one chat, or of every chat of a full export."""
    owner: Any = None
    chats = 0
    has_messages = False
    chat = _Chat()
    try:
        for path, value in walk(_RepairedStream(stream), _PLACES):
            if value is WRONG:
                has_messages = True
                reason = f"{'.'.join(path) or 'the file'}: not as Telegram Desktop writes it"
                yield BadRecord(chat.place(chat.messages + 1), reason)
            elif path == _OWNER:
                owner = value
            elif path in _LISTED:
                chats += 1
                chat = _Chat(f"conversation {chats}, ")
            elif path[-1:] == ("messages",):
                has_messages = True
                yield from attempt(chat.place(1), partial(chat.open, owner, options))
            elif path[-1:] == (EACH,):
                chat.messages += 1
                if chat.id:
                    place = chat.place(chat.messages)
                    yield from attempt(place, partial(_record, value, chat, options, place, stream.position))
            elif path and path[:-1] in _CHATS:
                chat.header[path[-1]] = value
        if not has_messages:
            raise ImportFailed("there is no list of messages in the file")
    except ImportFailed as error:
        yield BadRecord(chat.place(chat.messages + 1), str(error))


def _record(message: Any, chat: _Chat, options: Options, where: str, position: int) -> Record | None:
    fields = mapping(message, "message")
    kind = text_or_empty(fields.get("type"), "type") or "message"
    if kind == _LEFT_OUT:
        return None
    label = "actor" if kind == "service" else "from"
    name = clean_name(fields.get(label))
    author = optional(identifier, fields.get(f"{label}_id"), f"{label}_id")
    content, links = _words(fields)
    role: Role = "user"
    if kind == "service":
        role = "system"
        content = _notice(fields, name, content)
    elif author is not None and options.assistant_ids & {author, author.removeprefix("user")}:
        role = "assistant"
    if not content.strip():
        content = _placeholder(fields)
    if not content:
        return None
    draft = Draft(
        role=role,
        content=content,
        author=author,
        user=chat.user,
        time=_time(fields, "date", options),
        platform_id=identifier(fields.get("id"), "id"),
        metadata={**chat.about, **_metadata(fields, name, links, options)},
    )
    chat.about = {}
    return Record(chat.id, chat.user, draft, where, position)


def _time(fields: dict[str, Any], name: str, options: Options) -> datetime:
    stamp = fields.get(f"{name}_unixtime")
    if stamp is None:
        return moment(text(fields.get(name), name), name, options.zone)
    if isinstance(stamp, str):
        try:
            stamp = int(stamp)
        except ValueError:
            raise ImportFailed(f"{name}_unixtime: expected seconds since 1970") from None
    return epoch(stamp, f"{name}_unixtime")


def _words(fields: dict[str, Any]) -> tuple[str, list[str]]:
    """The text of a message, put together from its pieces, and the addresses that only its links show."""
    words = fields.get("text")
    if words is None:
        words = fields.get("text_entities")
    if isinstance(words, str):
        return text(words, "text"), []
    texts: list[str] = []
    links: list[str] = []
    for piece in listing(words, "text"):
        if isinstance(piece, str):
            texts.append(text(piece, "text"))
            continue
        entity = mapping(piece, "text")
        texts.append(text_or_empty(entity.get("text"), "text.text"))
        if entity.get("href") is not None:
            links.append(text(entity["href"], "text.href"))
    return "".join(texts), links


def _notice(fields: dict[str, Any], actor: str, content: str) -> str:
    """A notice of Telegram as text."""
    action = text_or_empty(fields.get("action"), "action").replace("_", " ")
    names = listing(fields.get("members"), "members")
    members = [text_or_empty(member, "members") or "somebody" for member in names]
    details = [
        text_or_empty(fields.get("title"), "title") or text_or_empty(fields.get("new_title"), "new_title"),
        ", ".join(members),
        text_or_empty(fields.get("information_text"), "information_text"),
        content,
    ]
    return ": ".join(filter(None, [actor, action, *details])) or "[service message]"


def _placeholder(fields: dict[str, Any]) -> str:
    """The content of a message without words: a poll, or a placeholder such as `[photo]`."""
    poll = mapping_or_empty(fields.get("poll"), "poll")
    if poll:
        lines = [f"[poll: {text_or_empty(poll.get('question'), 'poll.question')}]"]
        for answer in mappings(poll.get("answers"), "poll.answers"):
            lines.append(f"- {text_or_empty(answer.get('text'), 'poll.answers.text')}")
        return "\n".join(lines)
    kind = text_or_empty(fields.get("media_type"), "media_type").replace("_", " ")
    emoji = text_or_empty(fields.get("sticker_emoji"), "sticker_emoji")
    file = text_or_empty(fields.get("file_name"), "file_name")
    kind = kind or next((name for key, name in _MEDIA.items() if fields.get(key) is not None), "")
    detail = emoji or file or text_or_empty(fields.get("place_name"), "place_name")
    return f"[{kind}: {detail}]" if kind and detail else f"[{kind}]" if kind else ""


def _metadata(fields: dict[str, Any], name: str, links: list[str], options: Options) -> dict[str, Any]:
    """The metadata of a message: what is known of it besides its words."""
    media = drop_empty(
        type=fields.get("media_type"),
        photo=fields.get("photo"),
        file=fields.get("file"),
        name=fields.get("file_name"),
        mime=fields.get("mime_type"),
        seconds=fields.get("duration_seconds"),
        location=fields.get("location_information"),
        place=fields.get("place_name"),
        contact=fields.get("contact_information"),
        poll=fields.get("poll"),
    )
    edited_at = fields.get("edited") or fields.get("edited_unixtime")
    return drop_empty(
        name=name,
        action=optional(text, fields.get("action"), "action"),
        links=links,
        media=media,
        reply_to=optional(identifier, fields.get("reply_to_message_id"), "reply_to_message_id"),
        forwarded_from=optional(text, fields.get("forwarded_from"), "forwarded_from"),
        via_bot=optional(text, fields.get("via_bot"), "via_bot"),
        signature=optional(text, fields.get("author"), "author"),
        edited=_time(fields, "edited", options).isoformat() if edited_at else None,
        reactions=[
            drop_empty(emoji=item.get("emoji"), count=item.get("count"))
            for item in mappings(fields.get("reactions"), "reactions")
        ],
    )

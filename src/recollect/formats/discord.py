"""A channel of Discord, as DiscordChatExporter writes it in JSON: the guild, the channel, then its messages.

Every author has the role user: a bot is the assistant only if the caller says so, since a guild has many bots
and at most one of them is ours. Notices of Discord (somebody joined, a message was pinned) have the role system.
A message with nothing in it, not even an attachment, is skipped. A direct chat belongs to one person only if the
other is the assistant; a chat of two people belongs to neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recollect.errors import ImportFailed
from recollect.formats.fields import (
    drop_empty,
    identifier,
    mapping,
    mapping_or_empty,
    mappings,
    moment,
    optional,
    text_or_empty,
)
from recollect.formats.record import Options, attempt
from recollect.formats.source import Stream
from recollect.formats.values import EACH, START, walk
from recollect.model import BadRecord, Draft, Record, Role
from recollect.model.clean_names import clean_name

_GUILD = ("guild",)
_CHANNEL = ("channel",)
_MESSAGES = ("messages",)
_MESSAGE = ("messages", EACH)

# Types of messages by an author (the last three: a command's answer, a thread's first message, a context menu's
# answer, which the exporter writes as numbers); every other type is a notice of Discord.
_SPOKEN = ("Default", "Reply", "20", "21", "23")
_DIRECT = "DirectTextChat"
_NO_GUILD = "0"  # what the exporter writes for direct messages


@dataclass(frozen=True, slots=True)
class _Channel:
    id: str
    user: str | None
    about: dict[str, Any]

    @classmethod
    def of(cls, channel: Any, guild: Any, options: Options) -> _Channel:
        fields = mapping(channel, "channel")
        is_direct = text_or_empty(fields.get("type"), "channel.type") == _DIRECT
        return cls(
            id=identifier(fields.get("id"), "channel.id"),
            user=options.user if is_direct and options.assistant_ids else None,
            about=drop_empty(
                channel=text_or_empty(fields.get("name"), "channel.name"),
                guild=text_or_empty(mapping_or_empty(guild, "guild").get("name"), "guild.name"),
            ),
        )


def guild_id(stream: Stream) -> str | None:
    """The id of the guild, which stands before the messages; None if there is none."""
    try:
        for path, value in walk(stream, (_GUILD, _MESSAGE)):
            if path == _GUILD:
                id = identifier(mapping(value, "guild").get("id"), "guild.id")
                return None if id == _NO_GUILD else id
            if path == _MESSAGES:
                return None
    except ImportFailed:
        return None
    return None


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of the channel, in order."""
    number = 0
    about: dict[tuple[str, ...], Any] = {}
    channel: _Channel | None = None
    try:
        for path, value in walk(stream, (_GUILD, _CHANNEL, _MESSAGE)):
            if path in (_GUILD, _CHANNEL):
                about[path] = value
            elif path == _MESSAGES and value is START:
                channel = _Channel.of(about.get(_CHANNEL), about.get(_GUILD), options)
            elif path == _MESSAGE and channel is not None:
                number += 1
                where = f"message {number}"
                for record in attempt(where, partial(_record, value, channel, options, where, stream.position)):
                    yield record
                    if isinstance(record, Record):
                        channel = replace(channel, about={})
            elif value is not START:
                raise ImportFailed(f"{'.'.join(path) or 'the file'}: not as DiscordChatExporter writes it")
        if channel is None:
            raise ImportFailed("there is no list of messages in the file")
    except ImportFailed as error:
        yield BadRecord(f"message {number + 1}", str(error))


def _record(message: Any, channel: _Channel, options: Options, where: str, position: int) -> Record | None:
    fields = mapping(message, "message")
    kind = text_or_empty(fields.get("type"), "type") or "Default"
    author = mapping(fields.get("author"), "author")
    author_id = identifier(author.get("id"), "author.id")
    role: Role = "user"
    if kind not in _SPOKEN:
        role = "system"
    elif author_id in options.assistant_ids:
        role = "assistant"
    content = text_or_empty(fields.get("content"), "content")
    if not content.strip():
        content = _placeholders(fields) or (f"[{kind}]" if role == "system" else "")
    if not content:
        return None
    draft = Draft(
        role=role,
        content=content,
        author=author_id,
        user=channel.user,
        time=moment(fields.get("timestamp"), "timestamp", options.zone),
        platform_id=identifier(fields.get("id"), "id"),
        metadata={**channel.about, **_metadata(fields, author, kind, options)},
    )
    return Record(channel.id, channel.user, draft, where, position)


def _metadata(fields: dict[str, Any], author: dict[str, Any], kind: str, options: Options) -> dict[str, Any]:
    """The metadata of a message: what is known of it besides its words."""
    edited_at = fields.get("timestampEdited")
    reference = mapping_or_empty(fields.get("reference"), "reference")
    return drop_empty(
        name=clean_name(author.get("nickname"), author.get("name")),
        bot=author.get("isBot") is True,
        type=None if kind == "Default" else kind,
        edited=None if edited_at is None else moment(edited_at, "timestampEdited", options.zone).isoformat(),
        pinned=fields.get("isPinned") is True,
        reply_to=optional(identifier, reference.get("messageId"), "reference.messageId"),
        mentions=[identifier(item.get("id"), "id") for item in mappings(fields.get("mentions"), "mentions")],
        attachments=[
            drop_empty(name=_file_name(item), url=item.get("url"), size=item.get("fileSizeBytes"))
            for item in mappings(fields.get("attachments"), "attachments")
        ],
        stickers=[_sticker_name(item) for item in mappings(fields.get("stickers"), "stickers")],
        embeds=[
            drop_empty(title=item.get("title"), url=item.get("url"), description=item.get("description"))
            for item in mappings(fields.get("embeds"), "embeds")
        ],
        reactions=[
            drop_empty(emoji=mapping_or_empty(item.get("emoji"), "emoji").get("name"), count=item.get("count"))
            for item in mappings(fields.get("reactions"), "reactions")
        ],
    )


def _placeholders(fields: dict[str, Any]) -> str:
    """The content of a message without words: placeholders such as `[sticker: name]`."""
    lines = [f"[attachment: {_file_name(item)}]" for item in mappings(fields.get("attachments"), "attachments")]
    lines += [f"[sticker: {_sticker_name(item)}]" for item in mappings(fields.get("stickers"), "stickers")]
    for embed in mappings(fields.get("embeds"), "embeds"):
        title = text_or_empty(embed.get("title"), "title") or text_or_empty(embed.get("url"), "url")
        lines += [f"[embed: {title or 'untitled'}]", text_or_empty(embed.get("description"), "description")]
    forwarded_message = mapping_or_empty(fields.get("forwardedMessage"), "forwardedMessage")
    if forwarded_message:
        words = text_or_empty(forwarded_message.get("content"), "forwardedMessage.content")
        lines += ["[forwarded message]", words or _placeholders({**forwarded_message, "forwardedMessage": None})]
    return "\n".join(filter(None, lines))


def _file_name(attachment: dict[str, Any]) -> str:
    return text_or_empty(attachment.get("fileName"), "fileName") or "unnamed"


def _sticker_name(sticker: dict[str, Any]) -> str:
    return text_or_empty(sticker.get("name"), "name") or "unnamed"

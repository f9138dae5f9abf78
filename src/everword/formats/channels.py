"""Exports of chat platforms: a channel of Discord, Telegram Desktop's `result.json`, a workspace of Slack, and a chat
of WhatsApp.

A channel of Discord is as DiscordChatExporter writes it in JSON: the guild, the channel, then its messages.

Every author has the role user: a bot is the assistant only if the caller says so, since a guild has many bots
and at most one of them is ours. Notices of Discord (somebody joined, a message was pinned) have the role system.
A message with nothing in it, not even an attachment, is skipped. A direct chat belongs to one person only if the
other is the assistant; a chat of two people belongs to neither.

Telegram writes one chat, or all of an account's. The true time is `date_unixtime`: `date` is the local time where the
export was made, without its zone. An id is unique in its chat only. Notices of Telegram (somebody joined) have the role
system. A chat belongs to one person if they wrote it to themselves or to the assistant.

Slack's export has `users.json`, lists of channels, and a file of each channel and day. The files of one zip are read in
one go, names first. A channel keeps its id, so that it may be renamed between two exports. Marks of Slack in a text are
replaced by what people see: names for ids, labels for links. A direct chat belongs to one person only if the other is
the assistant.

WhatsApp writes a text file, one message after the other, with local dates as the phone writes them. The order of day
and month is that of the phone: it follows from a number above 12, or from the dates going forward; if neither says it,
months come first where the clock has AM and PM. The zone is not in the file. A chat is named by its file, as WhatsApp
names it after the chat ("WhatsApp Chat with Ann.txt"); one that was renamed to a generic name, by its first message.
Lines without a name are notices of WhatsApp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from everword.errors import ImportFailed
from everword.formats.jsonl import RepeatCounter
from everword.formats.source import (
    EACH,
    SLACK_DAY,
    SLACK_LISTS,
    START,
    WRONG,
    Options,
    Path,
    Source,
    Stream,
    attempt,
    drop_empty,
    elements,
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
    walk,
)
from everword.model import BadRecord, Draft, Record, Role
from everword.model.people import clean_name

_GUILD = ("guild",)
_CHANNEL = ("channel",)
_MESSAGES = ("messages",)
_MESSAGE = ("messages", EACH)

# Types of messages by an author (the last three: a command's answer, a thread's first message, a context menu's
# answer, which the exporter writes as numbers); every other type is a notice of Discord.
_SPOKEN = ("Default", "Reply", "20", "21", "23")
_DIRECT = "DirectTextChat"
_NO_GUILD = "0"  # what the exporter writes for direct messages
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


def read_discord(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
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
                for record in attempt(where, partial(_discord_record, value, channel, options, where, stream.position)):
                    yield record
                    if isinstance(record, Record):
                        channel = replace(channel, about={})
            elif value is not START:
                raise ImportFailed(
                    f"{'.'.join(path) or 'the file'}: is not in the format that DiscordChatExporter writes"
                )
        if channel is None:
            raise ImportFailed("the file contains no list of messages")
    except ImportFailed as error:
        yield BadRecord(f"message {number + 1}", str(error))


def _discord_record(message: Any, channel: _Channel, options: Options, where: str, position: int) -> Record | None:
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
        metadata={**channel.about, **_discord_metadata(fields, author, kind, options)},
        reply_to=_discord_reply(fields),
    )
    return Record(channel.id, channel.user, draft, where, position)


def _discord_reply(fields: dict[str, Any]) -> str | None:
    """The id of the message that a message answers."""
    reference = mapping_or_empty(fields.get("reference"), "reference")
    return optional(identifier, reference.get("messageId"), "reference.messageId")


def _discord_metadata(fields: dict[str, Any], author: dict[str, Any], kind: str, options: Options) -> dict[str, Any]:
    """The metadata of a message: what is known of it besides its words."""
    edited_at = fields.get("timestampEdited")
    return drop_empty(
        name=clean_name(author.get("nickname"), author.get("name")),
        bot=author.get("isBot") is True,
        type=None if kind == "Default" else kind,
        edited=None if edited_at is None else moment(edited_at, "timestampEdited", options.zone).isoformat(),
        pinned=fields.get("isPinned") is True,
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


def read_telegram(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
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
                    yield from attempt(place, partial(_telegram_record, value, chat, options, place, stream.position))
            elif path and path[:-1] in _CHATS:
                chat.header[path[-1]] = value
        if not has_messages:
            raise ImportFailed("the file contains no list of messages")
    except ImportFailed as error:
        yield BadRecord(chat.place(chat.messages + 1), str(error))


def _telegram_record(message: Any, chat: _Chat, options: Options, where: str, position: int) -> Record | None:
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
        metadata={**chat.about, **_telegram_metadata(fields, name, links, options)},
        reply_to=optional(identifier, fields.get("reply_to_message_id"), "reply_to_message_id"),
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


def _telegram_metadata(fields: dict[str, Any], name: str, links: list[str], options: Options) -> dict[str, Any]:
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
        forwarded_from=optional(text, fields.get("forwarded_from"), "forwarded_from"),
        via_bot=optional(text, fields.get("via_bot"), "via_bot"),
        signature=optional(text, fields.get("author"), "author"),
        edited=_time(fields, "edited", options).isoformat() if edited_at else None,
        reactions=[
            drop_empty(emoji=item.get("emoji"), count=item.get("count"))
            for item in mappings(fields.get("reactions"), "reactions")
        ],
    )


# -- Slack

_USERS = "users.json"
_MARK = re.compile(r"<(?P<kind>[@#!]?)(?P<id>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
# Subtypes of messages that somebody wrote; every other is a notice of Slack.
_WRITTEN = frozenset(
    {"", "bot_message", "me_message", "file_share", "file_comment", "thread_broadcast", "reply_broadcast"}
)


def is_slack_export(source: Source) -> bool:
    return any(SLACK_DAY.search(member) for member in source.members)


def read_slack(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of one day of one channel; of a list, the names in it."""
    folder, _, base = stream.name.rpartition("/")
    number = 0
    try:
        for value in elements(stream):
            number += 1
            if base == _USERS or base in SLACK_LISTS:
                yield from attempt(f"entry {number}", partial(_note_name, base, value, options))
                continue
            place = f"message {number}"
            channel = folder.rpartition("/")[2] if SLACK_DAY.search(stream.name) else "slack"
            yield from attempt(
                place, partial(_slack_record, value, channel, number == 1, options, place, stream.position)
            )
    except ImportFailed as error:
        yield BadRecord(f"message {number + 1}", str(error))


def _note_name(base: str, value: Any, options: Options) -> None:
    """Keep the name of a person, or the id of a channel and whose it is."""
    fields = mapping(value, "entry")
    id = identifier(fields.get("id"), "id")
    if base == _USERS:
        profile = mapping_or_empty(fields.get("profile"), "profile")
        names = (profile.get("display_name"), profile.get("real_name"), fields.get("real_name"), fields.get("name"))
        options.names[id] = clean_name(*names) or id
        return
    name = text_or_empty(fields.get("name"), "name") or id
    options.names[f"#{name}"] = id
    options.names[id] = name
    members = [identifier(member, "members") for member in listing(fields.get("members"), "members")]
    people = [member for member in members if member not in options.assistant_ids]
    if base == "dms.json" and len(members) == 2 and len(people) == 1:
        options.names[f"owner of {id}"] = options.user or people[0]


def _slack_record(
    value: Any, channel: str, is_first: bool, options: Options, where: str, position: int
) -> Record | None:
    fields = mapping(value, "message")
    stamp = text(fields.get("ts"), "ts")
    subtype = text_or_empty(fields.get("subtype"), "subtype")
    if subtype == "tombstone":
        options.left_out["deleted messages"] += 1
        return None
    author = optional(identifier, fields.get("user") or fields.get("bot_id"), "user")
    content = _plain_words(text_or_empty(fields.get("text"), "text"), options.names)
    files = [
        text_or_empty(file.get("name"), "files.name") or "unnamed" for file in mappings(fields.get("files"), "files")
    ]
    options.left_out["contents of files"] += len(files)
    content = (
        (content.strip() and content)
        or "\n".join(f"[attachment: {name}]" for name in files)
        or _attachment_texts(fields)
    )
    if not content:
        return None
    role: Role = "user"
    if subtype not in _WRITTEN:
        role = "system"
    elif author in options.assistant_ids:
        role = "assistant"
    conversation = options.names.get(f"#{channel}", channel)
    owner = options.names.get(f"owner of {conversation}")
    thread = optional(text, fields.get("thread_ts"), "thread_ts")
    name = clean_name(options.names.get(author or ""), fields.get("username"), _name_in_profile(fields))
    draft = Draft(
        role=role,
        content=content,
        author=author,
        user=owner,
        time=epoch(_seconds(stamp), "ts"),
        platform_id=stamp,
        metadata=drop_empty(
            title=f"#{options.names.get(conversation, channel)}" if is_first and owner is None else None,
            name=name if role != "system" else None,
            type=subtype,
            files=files,
            reactions=[
                drop_empty(emoji=item.get("name"), count=item.get("count"))
                for item in mappings(fields.get("reactions"), "reactions")
            ],
            edited=bool(fields.get("edited")),
        ),
        reply_to=thread if thread != stamp else None,
    )
    return Record(conversation, owner, draft, where, position)


def _seconds(stamp: str) -> float:
    try:
        return float(stamp)
    except ValueError:
        raise ImportFailed("ts: expected seconds since 1970") from None


def _name_in_profile(fields: dict[str, Any]) -> Any:
    profile = mapping_or_empty(fields.get("user_profile"), "user_profile")
    return profile.get("display_name") or profile.get("real_name")


def _attachment_texts(fields: dict[str, Any]) -> str:
    """The text of what a bot attached to a message without words."""
    texts = [item.get("fallback") or item.get("text") for item in mappings(fields.get("attachments"), "attachments")]
    return "\n".join(item for item in texts if isinstance(item, str))


def _plain_words(content: str, names: dict[str, str]) -> str:
    def show(mark: re.Match[str]) -> str:
        label, id = mark["label"], mark["id"]
        if mark["kind"] == "@":
            return f"@{names.get(id) or label or id}"
        if mark["kind"] == "#":
            return f"#{label or names.get(id) or id}"
        if mark["kind"] == "!":
            return label or f"@{id.partition('^')[0]}"
        return f"{label} ({id})" if label and label not in id else id

    return _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], _MARK.sub(show, content))


# -- WhatsApp

LONGEST_LINE = 1 << 20  # bytes
MOST_LINES = 10_000  # of one message
SAMPLE = 2_000  # messages that tell day and month apart
_START = re.compile(
    r"^[\u200e\u200f]*\[?(?P<a>\d{1,4})(?P<between>[./-]) ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{2,4}),? "
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?:[ \u202f\u00a0]?(?P<half>[AaPp])\.?[ \u00a0]?[Mm]\.?)?"
    r"(?:\] | ?[-\u2013] )"
)
_AUTHOR = re.compile(r"^(?P<who>[^\n:]{1,120}?): ")
_INVISIBLE = "\u200e\u200f\u202a\u202c\ufeff"
_FILE = re.compile(r"^<(?:attached|Anhang|adjunto|joint|allegato): (.+)>$|^(.+) \((?:file attached|Datei angehängt)\)$")
_OMITTED = re.compile(
    r"^<Media omitted>$|^(image|video|audio|sticker|GIF|document|Contact card) omitted$", re.IGNORECASE
)
_DELETED = re.compile(r"^(?:This message was deleted|You deleted this message)\.?$")
_NAME = re.compile(
    r"(?:WhatsApp Chat (?:with|-)|WhatsApp-Chat mit|Chat de WhatsApp con|Discussion WhatsApp avec) (.+?)(?: ?\(\d+\))?$"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message as it stands in the file: the parts of its date, and its text with its author."""

    date: re.Match[str]
    body: str
    number: int
    position: int

    def time(self, order: str, zone: tzinfo = UTC) -> datetime:
        numbers = dict(zip(order, (int(self.date[name]) for name in "abc"), strict=True))
        year = numbers["y"] + 2000 if numbers["y"] < 100 else numbers["y"]
        hour = int(self.date["hour"])
        if half := self.date["half"]:
            hour = hour % 12 + 12 * (half in "pP")
        try:
            minute, second = int(self.date["minute"]), int(self.date["second"] or 0)
            return datetime(year, numbers["m"], numbers["d"], hour, minute, second, tzinfo=zone)
        except ValueError:
            raise ImportFailed("the message has a date that does not exist") from None


def is_whatsapp_chat(head: bytes) -> bool:
    """Whether a file begins as WhatsApp's do."""
    return _START.match(head[:200].decode("utf-8", "ignore").lstrip("\ufeff")) is not None


def read_whatsapp(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of a chat, in its order."""
    try:
        if options.zone is None:
            raise ImportFailed(
                "WhatsApp exports contain times without a time zone; give the zone, as in --timezone Europe/Berlin"
            )
        entries = _entries(stream)
        sample = [entry for entry, _ in zip(entries, range(SAMPLE), strict=False)]
        if not sample:
            raise ImportFailed("the file contains no message")
        order = _date_order(sample)
        chat = _chat_name(stream.name) or blake2b(sample[0].body.encode(), digest_size=8).hexdigest()
        occurrences = RepeatCounter()
        for entries_ in (sample, entries):
            for entry in entries_:
                where = f"line {entry.number}"
                for record in attempt(where, partial(_whatsapp_record, entry, order, chat, options, where)):
                    yield occurrences.name(record) if isinstance(record, Record) else record
    except ImportFailed as error:
        yield BadRecord("the file", str(error))


def _chat_name(path: str) -> str:
    """The name of the chat in that of its file, or of the zip or folder around it."""
    for part in reversed(re.split(r"[/\\]", path)):
        if match := _NAME.search(re.sub(r"\.(?:txt|zip)$", "", part)):
            return match[1].strip()
    return ""


def _entries(stream: Stream) -> Iterator[_Entry]:
    """The messages; a line that begins with no date belongs to the one before."""
    date: re.Match[str] | None = None
    lines: list[str] = []
    first = number = position = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        start = _START.match(line)
        if start is None:
            if date is not None and len(lines) < MOST_LINES:
                lines.append(line)
            continue
        if date is not None:
            yield _Entry(date, "\n".join(lines), first, position)
        date, lines, first, position = start, [line[start.end() :]], number, stream.position
    if date is not None:
        yield _Entry(date, "\n".join(lines), first, position)


def _date_order(entries: list[_Entry]) -> str:
    """Which of a date's three numbers are day, month and year, as "dmy"."""
    if any(len(entry.date["a"]) == 4 for entry in entries):
        return "ymd"
    if entries[0].date["between"] == ".":
        return "dmy"
    if any(int(entry.date["a"]) > 12 for entry in entries):
        return "dmy"
    if any(int(entry.date["b"]) > 12 for entry in entries):
        return "mdy"
    backwards = {
        order: sum(after.time(order) < before.time(order) for before, after in pairwise(entries))
        for order in ("dmy", "mdy")
    }
    if backwards["dmy"] != backwards["mdy"]:
        return min(backwards, key=lambda order: backwards[order])
    return "mdy" if any(entry.date["half"] for entry in entries) else "dmy"


def _whatsapp_record(entry: _Entry, order: str, chat: str, options: Options, where: str) -> Record | None:
    time = entry.time(order, options.zone or UTC)
    body = text(entry.body, "text").lstrip(_INVISIBLE)
    author = _AUTHOR.match(body)
    content = body[author.end() :].strip(_INVISIBLE) if author else body
    if _DELETED.match(content):
        options.left_out["deleted messages"] += 1
        return None
    if omitted := _OMITTED.match(content):
        options.left_out["pictures, sound and files"] += 1
        content = f"[{(omitted[1] or 'attachment').lower()}]"
    elif file := _FILE.match(content):
        options.left_out["pictures, sound and files"] += 1
        content = f"[attachment: {file[1] or file[2]}]"
    if not content.strip():
        return None
    name = clean_name(author["who"].strip("~\u202f " + _INVISIBLE)) if author else None
    role: Role = "user" if name else "system"
    if name in options.assistant_ids:
        role = "assistant"
    owner = options.user if options.assistant_ids else None
    draft = Draft(
        role=role,
        content=content,
        author=(owner if owner and role == "user" else name) or None,
        user=owner,
        time=time.astimezone(UTC),
        metadata=drop_empty(name=name, title=chat if entry.number == 1 else None),
    )
    return Record(f"whatsapp:{chat}", owner, draft, where, entry.position)

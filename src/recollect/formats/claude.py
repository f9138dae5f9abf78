"""Claude's `conversations.json`: a list of conversations, each with its messages in order.

The content of a message is the text of its text blocks, unchanged; tools and thinking go to the metadata. The
text of an attachment was pasted in by the person who wrote the message, so it is part of the content: it follows
their words under a heading of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from recollect.errors import ImportFailed
from recollect.formats.fields import (
    drop_empty,
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
from recollect.formats.values import elements
from recollect.model import BadRecord, Draft, Record, Role

_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of an export, conversation by conversation."""
    number = 0
    try:
        for value in elements(stream):
            number += 1
            where = f"conversation {number}"
            try:
                fields = mapping(value, "conversation")
                messages = listing(fields.get("chat_messages"), "chat_messages")
                chat = _Chat.of(fields, options)
            except ImportFailed as error:
                yield BadRecord(where, str(error))
            else:
                yield from _records(messages, chat, where, stream.position)
    except ImportFailed as error:
        yield BadRecord(f"conversation {number + 1}", str(error))


@dataclass(frozen=True, slots=True)
class _Chat:
    id: str
    title: str
    user: str | None
    time: datetime | None
    options: Options

    @classmethod
    def of(cls, fields: dict[str, Any], options: Options) -> _Chat:
        account = mapping_or_empty(fields.get("account"), "account")
        return cls(
            id=identifier(fields.get("uuid"), "uuid"),
            title=text_or_empty(fields.get("name"), "name"),
            user=options.user or optional(identifier, account.get("uuid"), "account.uuid"),
            time=optional(partial(moment, zone=options.zone), fields.get("created_at"), "created_at"),
            options=options,
        )


def _records(messages: list[Any], chat: _Chat, where: str, position: int) -> Iterator[Record | BadRecord]:
    about = drop_empty(title=chat.title)
    before = chat.time
    for number, message in enumerate(messages, start=1):
        place = f"{where}, message {number}"
        for record in attempt(place, partial(_record, message, chat, about, before, place, position)):
            if isinstance(record, Record):
                about = {}
                before = record.draft.time
            yield record


def _record(
    message: Any, chat: _Chat, about: dict[str, Any], before: datetime | None, where: str, position: int
) -> Record | None:
    fields = mapping(message, "message")
    attachments = mappings(fields.get("attachments"), "attachments")
    files = [_file_name(file) for file in mappings(fields.get("files"), "files")]
    blocks = mappings(fields.get("content"), "content")
    others = [block for block in blocks if block.get("type") != "text"]
    content = _content(fields, blocks, attachments, files)
    if not content:
        return None
    sender = text(fields.get("sender"), "sender")
    if sender not in _ROLES:
        raise ImportFailed("sender: expected human or assistant")
    created_at = fields.get("created_at")
    time = before if created_at is None else moment(created_at, "created_at", chat.options.zone)
    if time is None:
        raise ImportFailed("created_at: neither the message nor its conversation says when it was")
    details = drop_empty(
        attachments=[_attachment_metadata(item) for item in attachments],
        files=files,
        blocks=others,
        reply_to=optional(identifier, fields.get("parent_message_uuid"), "parent_message_uuid"),
    )
    draft = Draft(
        role=_ROLES[sender],
        content=content,
        author=chat.user if sender == "human" else None,
        user=chat.user,
        time=time,
        platform_id=identifier(fields.get("uuid"), "uuid"),
        metadata={**about, **details},
    )
    return Record(chat.id, chat.user, draft, where, position)


def _content(
    fields: dict[str, Any], blocks: list[dict[str, Any]], attachments: list[dict[str, Any]], files: list[str]
) -> str:
    """The words of a message and of its attachments; if there are none, placeholders such as `[attachment: a.png]`."""
    words = [text(block.get("text"), "text") for block in blocks if block.get("type") == "text"]
    body = "\n\n".join(filter(None, words))
    if not blocks:
        body = text_or_empty(fields.get("text"), "text")
    attachment_texts = [
        f"[attachment: {_file_name(item)}]\n{content}"
        for item in attachments
        if (content := text_or_empty(item.get("extracted_content"), "extracted_content"))
    ]
    if body.strip() or attachment_texts:
        return "\n\n".join(filter(None, [body, *attachment_texts]))
    placeholders = [f"[attachment: {name}]" for name in [*map(_file_name, attachments), *files]]
    return "\n".join(placeholders or [f"[{_block_label(block)}]" for block in blocks if block.get("type") != "text"])


def _attachment_metadata(item: dict[str, Any]) -> dict[str, Any]:
    return drop_empty(name=_file_name(item), type=item.get("file_type"), size=item.get("file_size"))


def _file_name(file: dict[str, Any]) -> str:
    return text_or_empty(file.get("file_name"), "file_name") or "unnamed"


def _block_label(block: dict[str, Any]) -> str:
    kind = text_or_empty(block.get("type"), "type") or "block"
    name = text_or_empty(block.get("name"), "name")
    return f"{kind}: {name}" if name else kind

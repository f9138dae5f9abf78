"""Our own format, JSON Lines: one message a line, or one whole conversation a line as `{"messages": […]}`.

What `dump` writes, `read` gives back: the same draft, conversation and id. A line that names neither an `id`
nor a `platform_id` gets a platform id made of its content and of how often the file had that content before, so
that a file imported twice is stored once and an "ok" said twice is stored twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from typing import Any

from everword.errors import ImportFailed, InvalidInput
from everword.formats.source import (
    Options,
    Stream,
    attempt,
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
from everword.model import ROLES, BadRecord, Conversation, Draft, Message, Record, Role
from everword.strict_json import LIMITS, UnreadableJson, read_json

DEFAULT_CONVERSATION = "imported"
LONGEST_LINE_BYTES = LIMITS.size

# Fields of a line that is a whole conversation which apply to each of its messages.
_SHARED = ("space", "conversation", "owner", "user", "time")
_OWN = (
    "turn",
    "id",
    "role",
    "author",
    "platform_id",
    "content",
    "metadata",
    "erased",
    "expires_at",
    "reply_to",
    "messages",
)
_FIELDS = frozenset((*_SHARED, *_OWN))
_ROLES: dict[str, Role] = {role: role for role in ROLES} | {"developer": "system", "function": "tool"}


def dump(message: Message, conversation: Conversation | None = None) -> str:
    """The message as one line, without a line end. With its conversation, the line says whose chat it is."""
    place = {"space": message.space, "conversation": message.conversation}
    if message.erased:
        return _line({**place, "turn": message.turn, "id": message.id, "erased": True})
    owner = {} if conversation is None else {"owner": conversation.user}
    fields = {
        "turn": message.turn,
        "id": message.id,
        "role": message.role,
        "author": message.author,
        "user": message.user,
        "time": _utc_text(message.time),
        "expires_at": None if message.expires_at is None else _utc_text(message.expires_at),
        "platform_id": message.platform_id,
        "reply_to": message.reply_to,
        "content": message.content,
        "metadata": dict(message.metadata) or None,
    }
    return _line({**place, **owner, **{name: value for name, value in fields.items() if value is not None}})


def _utc_text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _line(fields: Mapping[str, Any]) -> str:
    try:
        return json.dumps(fields, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput("metadata", f"cannot be written as JSON: {error}") from error


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of a JSON Lines file. An erased one is skipped: it has no content."""
    number = 0
    occurrences = RepeatCounter()
    try:
        for line in _lines(stream):
            number += 1
            where = f"line {number}"
            if line is None:
                yield BadRecord(where, f"longer than {LONGEST_LINE_BYTES >> 20} MiB")
            elif not line.isspace():
                yield from _messages(line, where, stream.position, options, occurrences)
    except ImportFailed as error:
        yield BadRecord(f"line {number + 1}", str(error))


def _lines(stream: Stream) -> Iterator[bytes | None]:
    """Each line; None for one that is too long, so that a file without line ends cannot fill the memory."""
    while line := stream.readline(LONGEST_LINE_BYTES):
        if len(line) < LONGEST_LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE_BYTES)
        yield None


def _messages(
    line: bytes, where: str, position: int, options: Options, occurrences: RepeatCounter
) -> Iterator[Record | BadRecord]:
    try:
        fields = mapping(_parse_line(line), "line")
        if "messages" not in fields:
            record = _record(fields, where, position, options)
            if record is not None:
                yield record if _has_name(record) else occurrences.name(record)
            return
        messages = listing(fields["messages"], "messages")
        digest = blake2b(_canonical_json(messages).encode(), digest_size=8).hexdigest()
        common = {name: fields[name] for name in _SHARED if name in fields}
        common["conversation"] = fields.get("conversation") or fields.get("id") or f"line:{digest}"
        line_extra = {name: value for name, value in fields.items() if name not in _FIELDS or name == "metadata"}
    except ImportFailed as error:
        yield BadRecord(where, str(error))
        return
    for index, message in enumerate(messages, start=1):
        place = f"{where}, message {index}"
        extra = line_extra if index == 1 else {}
        make = partial(_conversation_message, message, common, extra, f"{digest}/{index}", place, position, options)
        yield from attempt(place, make)


def _conversation_message(
    message: Any,
    common: Mapping[str, Any],
    extra: Mapping[str, Any],
    name: str,
    where: str,
    position: int,
    options: Options,
) -> Record | None:
    """One message of a line that is a whole conversation, named by the line's content and its place in it."""
    fields = {**extra, **common, **mapping(message, "message")}
    if fields.pop("messages", None) is not None:
        raise ImportFailed("messages: a message cannot contain other messages")
    record = _record(fields, where, position, options)
    if record is None or _has_name(record):
        return record
    return _with_name(record, blake2b(f"{record.conversation}/{name}".encode(), digest_size=8).hexdigest())


def _parse_line(line: bytes) -> Any:
    try:
        value = read_json(line)
    except UnreadableJson as error:
        raise ImportFailed(f"the line {error}") from None
    if b"\\ud" in line.lower():
        text(_canonical_json(value), "line")
    return value


def _canonical_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _record(fields: dict[str, Any], where: str, position: int, options: Options) -> Record | None:
    if _is_erased(fields):
        return None
    extra = {name: value for name, value in fields.items() if name not in _FIELDS}
    metadata = dict(mapping_or_empty(fields.get("metadata"), "metadata"))
    role = _role(fields, extra)
    content = _content(fields, metadata)
    if extra:
        earlier = metadata.get("extra", {})
        metadata["extra"] = {**(earlier if isinstance(earlier, dict) else {"extra": earlier}), **extra}
    user = optional(identifier, fields.get("user"), "user")
    owner = optional(identifier, fields.get("owner"), "owner")
    if "owner" not in fields:
        user = owner = user or options.user
    time = fields.get("time")
    expires_at = fields.get("expires_at")
    draft = Draft(
        role=role,
        content=content,
        author=optional(identifier, fields.get("author"), "author"),
        user=user,
        time=None if time is None else moment(time, "time", options.zone),
        platform_id=optional(identifier, fields.get("platform_id"), "platform_id"),
        metadata=metadata,
        id=optional(identifier, fields.get("id"), "id"),
        expires_at=None if expires_at is None else moment(expires_at, "expires_at", options.zone),
        reply_to=optional(identifier, fields.get("reply_to"), "reply_to"),
    )
    conversation = optional(identifier, fields.get("conversation"), "conversation") or DEFAULT_CONVERSATION
    space = optional(identifier, fields.get("space"), "space")
    return Record(conversation, owner, draft, where, position, space)


def _is_erased(fields: Mapping[str, Any]) -> bool:
    flag = fields.get("erased", False)
    if not isinstance(flag, bool):
        raise ImportFailed("erased: expected true or false")
    return flag


def _role(fields: Mapping[str, Any], extra: dict[str, Any]) -> Role:
    role = text(fields.get("role"), "role")
    if role not in _ROLES:
        raise ImportFailed(f"role: expected one of {', '.join(ROLES)}")
    if role not in ROLES:
        extra["role"] = role
    return _ROLES[role]


def _content(fields: Mapping[str, Any], metadata: dict[str, Any]) -> str:
    """The content: text, or what OpenAI's format has in its place, a list of parts or calls of tools."""
    content = fields.get("content")
    if content is None and fields.get("tool_calls"):
        calls = mappings(fields["tool_calls"], "tool_calls")
        functions = [mapping_or_empty(call.get("function"), "function") for call in calls]
        return "\n".join(f"[tool call: {text_or_empty(function.get('name'), 'name')}]" for function in functions)
    if not isinstance(content, list):
        return text(content, "content")
    parts = mappings(content, "content")
    others = [part for part in parts if part.get("type") != "text"]
    if others:
        metadata["parts"] = others
    return "\n".join(
        text(part.get("text"), "text") if part.get("type") == "text" else f"[{text(part.get('type'), 'type')}]"
        for part in parts
    )


def _has_name(record: Record) -> bool:
    return record.draft.id is not None or record.draft.platform_id is not None


def _with_name(record: Record, name: str) -> Record:
    return replace(record, draft=replace(record.draft, platform_id=f"line:{name}"))


class RepeatCounter:
    """Gives ids to lines without one, made of their content and how often the file had that content before."""

    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}

    def name(self, record: Record) -> Record:
        draft = record.draft
        time = None if draft.time is None else draft.time.isoformat()
        content = json.dumps([record.conversation, draft.author, draft.role, time, draft.content])
        digest = blake2b(content.encode(), digest_size=16).digest()
        count = self._counts[digest] = self._counts.get(digest, 0) + 1
        return _with_name(record, blake2b(digest + count.to_bytes(8), digest_size=8).hexdigest())

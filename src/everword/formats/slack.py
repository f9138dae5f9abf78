"""A workspace's export from Slack: `users.json`, lists of channels, and a file of each channel and day.

The files of one zip are read in one go, names first. A channel keeps its id, so that it may be renamed between two
exports. Marks of Slack in a text are replaced by what people see: names for ids, labels for links. A direct chat
belongs to one person only if the other is the assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from everword.errors import ImportFailed
from everword.formats.fields import (
    Options,
    attempt,
    drop_empty,
    epoch,
    identifier,
    listing,
    mapping,
    mapping_or_empty,
    mappings,
    optional,
    text,
    text_or_empty,
)
from everword.formats.source import SLACK_DAY, SLACK_LISTS, Source, Stream, elements
from everword.model import BadRecord, Draft, Record, Role
from everword.model.people import clean_name

_USERS = "users.json"
_MARK = re.compile(r"<(?P<kind>[@#!]?)(?P<id>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
# Subtypes of messages that somebody wrote; every other is a notice of Slack.
_WRITTEN = frozenset(
    {"", "bot_message", "me_message", "file_share", "file_comment", "thread_broadcast", "reply_broadcast"}
)


def is_export(source: Source) -> bool:
    return any(SLACK_DAY.search(member) for member in source.members)


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
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
            yield from attempt(place, partial(_record, value, channel, number == 1, options, place, stream.position))
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


def _record(value: Any, channel: str, is_first: bool, options: Options, where: str, position: int) -> Record | None:
    fields = mapping(value, "message")
    stamp = text(fields.get("ts"), "ts")
    subtype = text_or_empty(fields.get("subtype"), "subtype")
    if subtype == "tombstone":
        options.left_out["deleted messages"] += 1
        return None
    author = optional(identifier, fields.get("user") or fields.get("bot_id"), "user")
    content = _words(text_or_empty(fields.get("text"), "text"), options.names)
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


def _words(content: str, names: dict[str, str]) -> str:
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

"""Versions of a message: what it said before it was edited, and whether another text for a message that is known by its
id is a version of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from everword.log.rules import ONCE
from everword.log.secret_policy import holds_placeholder, masked
from everword.model import Draft, Kept, LogChange, Message, Version
from everword.model.notes import notes_key


def older_versions(message: Message, changes: Iterable[LogChange]) -> tuple[Version, ...]:
    """What a message said before it was edited, the oldest first."""
    versions: list[Version] = []
    for change in changes:
        is_edit = change.kind == "edit" and change.turn == message.turn and not change.erased
        if is_edit and change.before != change.after:  # else it only proves what the message says since a redaction
            since = versions[-1].until if versions else message.time
            before = change.before
            versions.append(Version(before["content"], before["metadata"], since, change.at, change.by))
    return tuple(versions)


def says_same(draft: Draft, message: Message) -> bool:
    """Whether a draft says what a message says that is known by its id: a secret and its placeholder are the same."""
    content = message.as_said.content
    if draft.role != message.role or draft.content in (content, message.masked.content):
        return draft.role == message.role
    return holds_placeholder(content) and masked(draft.content) == content


def kept_as(draft: Draft, message: Message, versions: Iterable[Version]) -> Kept:
    """What became of a draft whose message was known before. A text that the message once had is known too."""
    if message.erased:
        return "erased"
    is_older = draft.role == message.role and any(version.content == draft.content for version in versions)
    return "known" if is_older or says_same(draft, message) else "refused"


def may_be_version(draft: Draft, message: Message) -> bool:
    """Whether a draft can be a new version of a known message. One that is named by the key of its request is the same
    request again, from before the message was edited."""
    is_repeated = (draft.platform_id or "").startswith(ONCE)
    return not (message.erased or is_repeated or says_same(draft, message)) and draft.role == message.role


def edited_metadata(message: Message, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a new version. What the memory itself noted there stays."""
    notes = {
        name: value for name, value in message.as_said.metadata.items() if name == notes_key(message.as_said.metadata)
    }
    return {**metadata, **notes}

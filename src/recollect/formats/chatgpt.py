"""ChatGPT's `conversations.json`: a list of conversations, each a tree of messages.

The path from the root to the current node is the conversation. Messages that were regenerated or edited away
are kept too, in `<id>/branch/<leaf>`, from the point where they leave what was read before: every message of
the tree is in exactly one conversation. A message without words (technical, empty or hidden) is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
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
from recollect.formats.values import elements
from recollect.model import ROLES, BadRecord, Draft, Record, Role
from recollect.model.clean_names import clean_name

# The fields that hold the words of a content without parts, whatever its type; several are joined in this order.
_WORDS = (
    "title",
    "text",
    "result",
    "content",
    "summary",
    "url",
    "user_profile",
    "user_instructions",
    "model_set_context",
)
_MEDIA = ("image", "audio", "video")
_SETTINGS = ("user_editable_context", "model_editable_context")


def read(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of an export, conversation by conversation."""
    number = 0
    try:
        for value in elements(stream):
            number += 1
            where = f"conversation {number}"
            try:
                conversation = _Conversation.of(value, where, stream.position, options)
            except ImportFailed as error:
                yield BadRecord(where, str(error))
            else:
                yield from conversation.records()
    except ImportFailed as error:
        yield BadRecord(f"conversation {number + 1}", str(error))


@dataclass(frozen=True, slots=True)
class _Conversation:
    id: str
    title: str
    time: datetime | None
    nodes: dict[str, Any]
    current: Any
    where: str
    position: int
    options: Options
    times: dict[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any, where: str, position: int, options: Options) -> _Conversation:
        fields = mapping(value, "conversation")
        nodes = mapping(fields.get("mapping"), "mapping")
        id = fields.get("conversation_id") or fields.get("id") or next(iter(nodes), None)
        return cls(
            id=identifier(id, "conversation_id"),
            title=text_or_empty(fields.get("title"), "title"),
            time=optional(moment, fields.get("create_time"), "create_time"),
            nodes=nodes,
            current=fields.get("current_node"),
            where=where,
            position=position,
            options=options,
        )

    def records(self) -> Iterator[Record | BadRecord]:
        first = True
        for leaf, fork, thread in _threads(self.nodes, self.current):
            name = self.id
            where = self.where
            about = drop_empty(title=self.title)
            if not first:
                name = f"{self.id}/branch/{leaf}"
                where = f"{self.where}, branch {leaf}"
                about = drop_empty(branch_of=self.id, follows=fork, title=self.title)
            first = False
            before = self.times.get(fork or "")
            number = 1
            for id in thread:
                place = f"{where}, message {number}"
                for record in attempt(place, partial(self.record, id, name, about, before, place)):
                    number += 1
                    if isinstance(record, Record):
                        about = {}
                        before = record.draft.time
                    yield record
                if before is not None:
                    self.times[id] = before

    def record(self, id: str, name: str, about: dict[str, Any], before: datetime | None, where: str) -> Record | None:
        """The message of a node, in the conversation of that name; None if nothing was said in it."""
        node = mapping(self.nodes[id], f"node {id}")
        message = mapping_or_empty(node.get("message"), "message")
        metadata = mapping_or_empty(message.get("metadata"), "metadata")
        if not message or metadata.get("is_visually_hidden_from_conversation"):
            return None
        kind, content, parts = _content(mapping_or_empty(message.get("content"), "content"))
        attachments = _attachments(metadata)
        if not content.strip():
            content = "\n".join(f"[attachment: {item['name']}]" for item in attachments)
        if not content:
            return None
        author = mapping(message.get("author"), "author")
        role = _role(author, kind)
        time = optional(epoch, message.get("create_time") or None, "create_time") or before or self.time
        if time is None:
            raise ImportFailed("create_time: neither the message nor its conversation says when it was")
        recipient = text_or_empty(message.get("recipient"), "recipient")
        details = drop_empty(
            content_type=None if kind == "text" else kind,
            recipient=None if recipient == "all" else recipient,
            model=optional(text, metadata.get("model_slug"), "model_slug"),
            attachments=attachments,
            parts=parts,
        )
        user = self.options.user
        author_name = clean_name(author.get("name"))
        draft = Draft(
            role=role,
            content=content,
            author=author_name or (user if role == "user" else None),
            user=user,
            time=time,
            platform_id=identifier(message.get("id") or id, "id"),
            metadata={**about, **details},
        )
        return Record(name, user, draft, where, self.position)


def _threads(nodes: dict[str, Any], current: Any) -> Iterator[tuple[str, str | None, list[str]]]:
    """The thread of the current node, then those of the other leaves: leaf, node it forks from, its nodes.

    A thread goes up from its leaf to the first node that another thread has. Nodes that no leaf leads to (they
    can only be in a circle) come last, so that none is lost.
    """
    parents = {id: node.get("parent") if isinstance(node, dict) else None for id, node in nodes.items()}
    inner = {parent for parent in parents.values() if isinstance(parent, str)}
    leaves = [id for id in nodes if id not in inner]
    if not isinstance(current, str) or current not in nodes:
        current = leaves[-1] if leaves else None
    used_ids: set[str] = set()
    for leaf in chain((current,), leaves, nodes):
        thread: list[str] = []
        id = leaf
        while isinstance(id, str) and id in nodes and id not in used_ids:
            used_ids.add(id)
            thread.append(id)
            id = parents[id]
        if thread:
            yield leaf, id if isinstance(id, str) and id in nodes else None, thread[::-1]


def _role(author: dict[str, Any], kind: str) -> Role:
    name = text(author.get("role"), "author.role")
    if kind in _SETTINGS:
        return "system"
    for role in ROLES:
        if role == name:
            return role
    raise ImportFailed(f"author.role: expected one of {', '.join(ROLES)}")


def _content(content: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """The type of a content, its words, and those of its parts that are not words."""
    kind = text_or_empty(content.get("content_type"), "content_type") or "text"
    if "parts" in content:
        return kind, *_parts(listing(content["parts"], "parts"))
    if "thoughts" in content:
        thoughts = mappings(content["thoughts"], "thoughts")
        texts = [text_or_empty(item.get(name), name) for item in thoughts for name in ("summary", "content")]
        return kind, "\n\n".join(filter(None, texts)), []
    words = [text(content[name], name) for name in _WORDS if isinstance(content.get(name), str)]
    details = drop_empty(**{name: value for name, value in content.items() if name != "content_type"})
    if words or not details:
        return kind, "\n".join(filter(None, words)), []
    return kind, f"[{kind}]", [details]


def _parts(parts: list[Any]) -> tuple[str, list[dict[str, Any]]]:
    texts: list[str] = []
    others: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        if part is None or isinstance(part, str):
            texts.append(text_or_empty(part, "part"))
            continue
        fields = mapping(part, f"parts[{index}]")
        kind = text_or_empty(fields.get("content_type"), "content_type")
        if isinstance(fields.get("text"), str):
            texts.append(text(fields["text"], "text"))
            continue
        others.append(fields)
        texts.append(f"[{next((medium for medium in _MEDIA if medium in kind), kind or 'part')}]")
    return "\n".join(filter(None, texts)), others


def _attachments(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        drop_empty(
            name=text_or_empty(item.get("name"), "name") or "unnamed",
            id=item.get("id"),
            type=item.get("mime_type") or item.get("mimeType"),
            size=item.get("size"),
        )
        for item in mappings(metadata.get("attachments"), "attachments")
    ]

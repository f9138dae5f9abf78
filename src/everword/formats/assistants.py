"""Exports of assistants, a `conversations.json` each: ChatGPT's and Claude's. `registry` lists every format.

ChatGPT's is a list of conversations, each a tree of messages.

The path from the root to the current node is the conversation. Messages that were regenerated or edited away
are kept too, in `<id>/branch/<leaf>`, from the point where they leave what was read before: every message of
the tree is in exactly one conversation. A message without words (technical, empty or hidden) is skipped.

Claude's is a list of conversations, each with its messages in order. The content of a message is the text of its text
blocks, unchanged; tools and thinking go to the metadata. The text of an attachment was pasted in by the person who
wrote the message, so it is part of the content: it follows their words under a heading of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from everword.errors import ImportFailed
from everword.formats.memories import known_lines, known_text
from everword.formats.source import (
    Options,
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
)
from everword.model import ROLES, BadRecord, Draft, Record, Role
from everword.model.people import clean_name

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
UNTITLED = "New chat"  # what ChatGPT calls a chat until it has a title
_RECAP = "reasoning_recap"  # "Thought for 12 seconds"
# Marks of citations: 【4:0†source】, and names of sources between private characters.
_CITATION = re.compile(r" ?【[^【】]*†[^【】]*】| ?\ue200(?!entity\ue202)[^\ue200\ue201]*\ue201")
_ENTITY = re.compile(r'\ue200entity\ue202\["[^"]*","([^"]*)"[^\ue200\ue201]*\ue201')  # keeps the name that is shown
_MARKS = dict.fromkeys(range(0xE200, 0xE207))
_BIO = "bio"  # the tool by which ChatGPT remembers
_DATED = re.compile(r"^\d+\. \[(\d{4}-\d\d-\d\d)\]\.? ?(.+)$", re.MULTILINE)
_MEDIA = ("image", "audio", "video")
_SETTINGS = ("user_editable_context", "model_editable_context")
_CLAUDE_ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


ReadConversation = Callable[[Any, str, int, Options], Iterator[Record | BadRecord]]


def read_chatgpt(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of an export of ChatGPT, conversation by conversation."""
    return _read_conversations(stream, options, lambda *place: _Conversation.of(*place).records())


def read_claude(stream: Stream, options: Options) -> Iterator[Record | BadRecord]:
    """The messages of an export of Claude, conversation by conversation."""
    return _read_conversations(stream, options, _claude_records)


def _read_conversations(stream: Stream, options: Options, read: ReadConversation) -> Iterator[Record | BadRecord]:
    number = 0
    try:
        for value in elements(stream):
            number += 1
            where = f"conversation {number}"
            try:
                records = read(value, where, stream.position, options)
            except ImportFailed as error:
                yield BadRecord(where, str(error))
            else:
                yield from records
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
        title = text_or_empty(fields.get("title"), "title")
        return cls(
            id=identifier(id, "conversation_id"),
            title="" if title == UNTITLED else title,
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
                    if isinstance(record, Record) and self.options.user:
                        yield from _chatgpt_memories(record, self.options.user)
                if before is not None:
                    self.times[id] = before

    def record(self, id: str, name: str, about: dict[str, Any], before: datetime | None, where: str) -> Record | None:
        """The message of a node, in the conversation of that name; None if nothing was said in it."""
        node = mapping(self.nodes[id], f"node {id}")
        message = mapping_or_empty(node.get("message"), "message")
        metadata = mapping_or_empty(message.get("metadata"), "metadata")
        if not message or metadata.get("is_visually_hidden_from_conversation"):
            return None
        kind, content, parts = _chatgpt_content(mapping_or_empty(message.get("content"), "content"))
        attachments = _chatgpt_attachments(metadata)
        if not content.strip():
            content = "\n".join(f"[attachment: {item['name']}]" for item in attachments)
        if not content:
            return None
        author = mapping(message.get("author"), "author")
        role = _chatgpt_role(author, kind)
        time = optional(epoch, message.get("create_time") or None, "create_time") or before or self.time
        if time is None:
            raise ImportFailed("create_time: neither the message nor its conversation has a time")
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


def _chatgpt_memories(record: Record, person: str) -> Iterator[Record]:
    """What ChatGPT remembers of the person as of a message: what it told its memory, `bio`, or the list of all that it
    knew, each with its day."""
    draft = record.draft
    metadata = draft.metadata
    if metadata.get("recipient") == _BIO and draft.role == "assistant":
        texts = [(draft.content, draft.time)]
    elif metadata.get("content_type") == "model_editable_context":
        days = [
            (match[2], datetime.fromisoformat(f"{match[1]}T00:00:00+00:00")) for match in _DATED.finditer(draft.content)
        ]
        texts = [(content, day) for content, day in days]
    else:
        return
    for content, time in texts:
        for line in known_lines(content):
            yield known_text("chatgpt", "", line, person, time, record.where, record.position)


def _threads(nodes: dict[str, Any], current: Any) -> Iterator[tuple[str, str | None, list[str]]]:
    """The thread of the current node, then those of the other leaves: leaf, node it forks from, its nodes.

    A thread goes up from its leaf to the first node that another thread has. Nodes that no leaf leads to (they
    can only be in a circle) come last, so that none is lost.
    """
    parents = {id: _parent(node, nodes) for id, node in nodes.items()}
    inner = set(parents.values())
    leaves = [id for id in nodes if id not in inner]
    if not isinstance(current, str) or current not in nodes:
        current = leaves[-1] if leaves else None
    used_ids: set[str] = set()
    for leaf in chain((current,), leaves, nodes):
        thread: list[str] = []
        id = leaf
        while id is not None and id not in used_ids:
            used_ids.add(id)
            thread.append(id)
            id = parents[id]
        if thread:
            yield leaf, id, thread[::-1]


def _parent(node: Any, nodes: dict[str, Any]) -> str | None:
    """The id of the node before a node, if there is such a node."""
    parent = node.get("parent") if isinstance(node, dict) else None
    return parent if isinstance(parent, str) and parent in nodes else None


def _chatgpt_role(author: dict[str, Any], kind: str) -> Role:
    name = text(author.get("role"), "author.role")
    if kind in _SETTINGS:
        return "system"
    for role in ROLES:
        if role == name:
            return role
    raise ImportFailed(f"author.role: expected one of {', '.join(ROLES)}")


def _chatgpt_content(content: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """The type of a content, its words, and those of its parts that are not words. How long the model thought is no
    part of what it said, and the marks of its citations point to nothing outside the page."""
    kind = text_or_empty(content.get("content_type"), "content_type") or "text"
    if kind == _RECAP:
        return kind, "", []
    if "parts" in content:
        raw_text, others = _parts(listing(content["parts"], "parts"))
        return kind, _ENTITY.sub(r"\1", _CITATION.sub("", raw_text)).translate(_MARKS), others
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


def _chatgpt_attachments(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        drop_empty(
            name=text_or_empty(item.get("name"), "name") or "unnamed",
            id=item.get("id"),
            type=item.get("mime_type") or item.get("mimeType"),
            size=item.get("size"),
        )
        for item in mappings(metadata.get("attachments"), "attachments")
    ]


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


def _claude_records(value: Any, where: str, position: int, options: Options) -> Iterator[Record | BadRecord]:
    fields = mapping(value, "conversation")
    if "conversations_memory" in fields or "project_memories" in fields:
        return _claude_memories(fields, where, position, options)
    messages = listing(fields.get("chat_messages"), "chat_messages")
    return _chat_records(messages, _Chat.of(fields, options), where, position)


def _claude_memories(fields: dict[str, Any], where: str, position: int, options: Options) -> Iterator[Record]:
    """What Claude remembers of the person, line by line. It has no dates."""
    person = options.user or optional(identifier, fields.get("account_uuid"), "account_uuid")
    projects = mapping_or_empty(fields.get("project_memories"), "project_memories")
    memories = {"": text_or_empty(fields.get("conversations_memory"), "conversations_memory")} | {
        project: text_or_empty(content, "project_memories") for project, content in projects.items()
    }
    for project, content in memories.items():
        for line in known_lines(content):
            yield known_text("claude", project, line, person, None, where, position, project=project)


def _chat_records(messages: list[Any], chat: _Chat, where: str, position: int) -> Iterator[Record | BadRecord]:
    about = drop_empty(title=chat.title)
    before = chat.time
    for number, message in enumerate(messages, start=1):
        place = f"{where}, message {number}"
        for record in attempt(place, partial(_claude_record, message, chat, about, before, place, position)):
            if isinstance(record, Record):
                about = {}
                before = record.draft.time
            yield record


def _claude_record(
    message: Any, chat: _Chat, about: dict[str, Any], before: datetime | None, where: str, position: int
) -> Record | None:
    fields = mapping(message, "message")
    attachments = mappings(fields.get("attachments"), "attachments")
    files = [_file_name(file) for file in mappings(fields.get("files"), "files")]
    blocks = mappings(fields.get("content"), "content")
    others = [block for block in blocks if block.get("type") != "text"]
    content = _claude_content(fields, blocks, attachments, files)
    if not content:
        return None
    sender = text(fields.get("sender"), "sender")
    if sender not in _CLAUDE_ROLES:
        raise ImportFailed("sender: expected human or assistant")
    created_at = fields.get("created_at")
    time = before if created_at is None else moment(created_at, "created_at", chat.options.zone)
    if time is None:
        raise ImportFailed("created_at: neither the message nor its conversation has a time")
    details = drop_empty(
        attachments=[_attachment_metadata(item) for item in attachments],
        files=files,
        blocks=others,
        reply_to=optional(identifier, fields.get("parent_message_uuid"), "parent_message_uuid"),
    )
    draft = Draft(
        role=_CLAUDE_ROLES[sender],
        content=content,
        author=chat.user if sender == "human" else None,
        user=chat.user,
        time=time,
        platform_id=identifier(fields.get("uuid"), "uuid"),
        metadata={**about, **details},
    )
    return Record(chat.id, chat.user, draft, where, position)


def _claude_content(
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

"""What other memories know of people: mem0, Zep and Graphiti, LangGraph's stores, MCP's reference server, Letta,
Hindsight.

Each text is a `Record` with `about`: an import keeps it word for word at the date on which the other memory learnt it,
and remembers it. The id is made of the other memory's id and of the text, so that a text which changed there since is
added and the old one stays history. What is so no longer has `until` in its metadata: it is kept and can be found, and
is not remembered. Vectors, tools and settings are not taken over; the reader counts what it leaves out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from typing import Any, TypeAlias

from everword.errors import ImportFailed
from everword.formats.source import (
    EACH,
    START,
    WRONG,
    Options,
    Path,
    Stream,
    attempt,
    drop_empty,
    elements,
    identifier,
    listing,
    mapping,
    mapping_or_empty,
    mappings,
    moment,
    optional,
    table_rows,
    tables_of,
    text,
    text_or_empty,
    walk,
)
from everword.model import ROLES, BadRecord, Draft, Record, Role
from everword.strict_json import UnreadableJson, read_json

Records: TypeAlias = Iterator[Record | BadRecord]
ReadItem: TypeAlias = Callable[[Any, str, int], Record | None]

_LISTS: tuple[Path, ...] = ((EACH,), ("results", EACH), ("memories", EACH), ("items", EACH))
_POINTS: tuple[Path, ...] = (("points", EACH), ("result", "points", EACH))
_GENERIC = frozenset(
    {"memories", "memory", "facts", "profile", "profiles", "store", "users", "user", "items", "default"}
)
_UNKNOWN = re.compile(r"[:=]\s*(?:\?|n/a|none|null|unknown|\[[^\]]*\])?\s*$", re.IGNORECASE)  # "Last name: ?"
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?\s*)")
_BULLET = re.compile(r"^\s*(?:[-*•#]+|\d+[.)])\s+")
_LABELLED = re.compile(r"^(?P<who>[^():\n]{1,80}?)\s*(?:\((?P<kind>user|assistant|system|tool)\))?:\s+")
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "agent"})
_ROLES: dict[str, Role] = {role: role for role in ROLES} | {"human": "user", "ai": "assistant", "function": "tool"}
_TEXT_FIELDS = ("content", "text", "memory", "data", "fact", "value")
_USER_ENTITIES = frozenset({"user", "default user", "the user", "me", "human"})
_VERBS = frozenset({"has", "is", "was", "were", "will", "can", "did", "had", "never", "used", "went", "got"})
_OF_PERSON = re.compile(r"(?<![a-z])(?:human|user|person|customer)(?![a-z])", re.IGNORECASE)
_OF_AGENT = re.compile(r"(?<!\w)(?:I|my|me)(?!\w)")  # whoever writes about a person is the agent
_LETTA: tuple[Path, ...] = (
    ("name",),
    ("agents", EACH, "name"),
    *((*place, name, EACH) for place in ((), ("agents", EACH)) for name in ("messages", "core_memory")),
    *((name, EACH) for name in ("blocks", "files", "tools", "sources", "mcp_servers")),
)
_LEFT_OUT_OF_AGENTS = {
    "files": "files",
    "tools": "tools",
    "sources": "sources of documents",
    "mcp_servers": "servers of tools",
}
NO_OWNER = "the file does not say whose memory this is: give --user"


def known_text(
    source: str,
    id: Any,
    content: str,
    person: str | None,
    time: datetime | None,
    where: str,
    position: int,
    **details: Any,
) -> Record:
    """What another memory knew of a person, as a record."""
    if not person:
        raise ImportFailed(NO_OWNER)
    if not content.strip():
        raise ImportFailed("has no text")
    digest = blake2b(f"{id}\0{content}".encode(), digest_size=12).hexdigest()
    draft = Draft(
        role="user",
        content=content,
        author=person,
        user=person,
        time=time,
        platform_id=f"{source}:{digest}",
        metadata={"from": source, **drop_empty(**details)},
    )
    return Record(f"{source}:{person}", person, draft, where, position, about=person)


def known_lines(content: str) -> list[str]:
    """The lines of a longer text that say something: no headings, and no keys without a value."""
    lines = [
        _BULLET.sub("", line).replace("**", "").strip() for line in content.splitlines() if not _HEADING.fullmatch(line)
    ]
    return [line for line in lines if line and not _UNKNOWN.search(line)]


def _read_items(stream: Stream, paths: Sequence[Path], read: ReadItem, word: str) -> Records:
    """The record that `read` makes of each value at these paths."""
    number = 0
    try:
        for _, value in walk(stream, paths):
            if value is START:
                continue
            number += 1
            if value is WRONG:
                yield BadRecord(f"{word} {number}", "is not the list that it should be")
            else:
                where = f"{word} {number}"
                yield from attempt(where, partial(read, value, where, stream.position))
    except ImportFailed as error:
        yield BadRecord(f"{word} {number + 1}", str(error))


def _first_time(fields: dict[str, Any], *names: str) -> datetime | None:
    """The time under the first of these names that has one. Without a zone it is in UTC, as these programs write it."""
    for name in names:
        value = fields.get(name)
        if value not in (None, ""):
            return moment(value, name, UTC)
    return None


# -- mem0


def read_mem0(stream: Stream, options: Options) -> Records:
    """The memories of mem0: what `get_all` and its exports give, the points of its Qdrant collection as JSON, or its
    `history.db`, which does not say of whom they are."""
    if stream.is_database:
        return _read_history(stream, options)
    return _read_items(stream, (*_LISTS, *_POINTS), partial(_mem0_record, options), "memory")


def _mem0_record(options: Options, value: Any, where: str, position: int) -> Record:
    fields = mapping(value, "memory")
    id = identifier(fields.get("id"), "id")
    if "payload" in fields:  # a point of the vector store
        options.left_out["vectors"] += bool(fields.get("vector"))
        fields = mapping(fields["payload"], "payload")
    last_day = _first_time(fields, "expiration_date")  # at its end, in UTC, mem0 stops to show it
    record = known_text(
        "mem0",
        id,
        text(fields.get("memory", fields.get("data")), "memory"),
        optional(identifier, fields.get("user_id"), "user_id") or options.user,
        _first_time(fields, "updated_at", "created_at"),
        where,
        position,
        agent=fields.get("agent_id"),
        categories=fields.get("categories"),
        extra=fields.get("metadata"),
    )
    return replace(record, draft=replace(record.draft, expires_at=last_day and last_day + timedelta(days=1)))


def _read_history(stream: Stream, options: Options) -> Records:
    """The last text of each memory, and the earlier ones as what is so no longer."""
    last_rows: dict[Any, dict[str, Any]] = {}
    columns = ("memory_id", "new_memory", "event", "created_at", "updated_at")
    for row in table_rows(stream.name, "history", columns):
        last_rows[row["memory_id"]] = {"event": row["event"], "time": row["updated_at"] or row["created_at"]}
    counts: Counter[Any] = Counter()
    totals = Counter(row["memory_id"] for row in table_rows(stream.name, "history", ("memory_id",)))
    for number, row in enumerate(table_rows(stream.name, "history", columns), 1):
        id = row["memory_id"]
        counts[id] += 1
        last = last_rows[id]
        if last["event"] == "DELETE":
            options.left_out["deleted memories"] += row["event"] == "DELETE"
            continue
        until = None if counts[id] == totals[id] else last["time"]
        yield from attempt(f"row {number}", partial(_history_record, options, row, until, f"row {number}"))


def _history_record(options: Options, row: dict[str, Any], until: Any, where: str) -> Record:
    time = _first_time(row, "updated_at", "created_at")
    return known_text(
        "mem0", row["memory_id"], text(row["new_memory"], "new_memory"), options.user, time, where, 0, until=until
    )


# -- Zep and Graphiti


def read_zep(stream: Stream, options: Options) -> Records:
    """A graph of Graphiti or Zep: its episodes as messages, and the facts of its edges."""
    lists = ("edges", "facts", "relevant_facts", "episodes", "messages")
    paths = (*((name, EACH) for name in (*lists, "nodes", "entities")), (EACH,))
    return _read_items(stream, paths, partial(_zep_record, options), "item")


def _zep_record(options: Options, value: Any, where: str, position: int) -> Record | None:
    fields = mapping(value, "item")
    person = options.user or optional(identifier, fields.get("group_id") or None, "group_id")
    if "fact" not in fields and "content" not in fields:
        identifier(fields.get("uuid"), "uuid")
        options.left_out["entities and their summaries"] += 1
        return None
    if not person:
        raise ImportFailed(NO_OWNER)
    if "fact" in fields:
        ends = _first_time(fields, "invalid_at", "expired_at")
        return known_text(
            "zep",
            identifier(fields.get("uuid"), "uuid"),
            text(fields["fact"], "fact"),
            person,
            _first_time(fields, "valid_at", "created_at"),
            where,
            position,
            until=None if ends is None else ends.isoformat(),
            relation=fields.get("name"),
        )
    return _episode(fields, person, where, position, options)


def _episode(fields: dict[str, Any], person: str, where: str, position: int, options: Options) -> Record:
    content = text(fields["content"], "content")
    kind = text_or_empty(fields.get("role_type"), "role_type") or "user"
    speaker = text_or_empty(fields.get("role"), "role")
    labelled = _LABELLED.match(content) if fields.get("source") == "message" and not speaker else None
    if labelled is not None:  # "ann (user): hello", as Graphiti wants its messages to be written
        speaker, content = labelled["who"], content[labelled.end() :]
        kind = labelled["kind"] or ("assistant" if speaker.lower() in _ASSISTANTS else "user")
    conversation = optional(identifier, fields.get("session_id") or fields.get("thread_id"), "session_id")
    draft = Draft(
        role=_ROLES.get(kind, "system"),
        content=content,
        author=person if kind == "user" else None,
        user=person,
        time=_first_time(fields, "valid_at", "created_at"),
        platform_id=identifier(fields.get("uuid"), "uuid"),
        metadata=drop_empty(speaker=speaker, source=fields.get("source_description")),
    )
    return Record(conversation or f"zep:{person}", person, draft, where, position)


# -- LangGraph


def read_langgraph(stream: Stream, options: Options) -> Records:
    """The items of a store of LangGraph: the file of its `SqliteStore`, or items as JSON."""
    if not stream.is_database:
        return _read_items(stream, _LISTS, partial(_item_record, options), "item")
    return _items_of_store(stream, options)


def _items_of_store(stream: Stream, options: Options) -> Records:
    columns = ("prefix", "key", "value", "created_at", "updated_at")
    for number, row in enumerate(table_rows(stream.name, "store", columns), 1):
        yield from attempt(f"row {number}", partial(_item_record, options, row, f"row {number}", 0))
    if "store_vectors" in tables_of(stream.name):
        options.left_out["vectors"] += sum(1 for _ in table_rows(stream.name, "store_vectors", ("key",)))


def _item_record(options: Options, value: Any, where: str, position: int) -> Record:
    fields = mapping(value, "item")
    stored = fields.get("value")
    if "prefix" in fields:
        space = text(fields["prefix"], "prefix").split(".")
        try:
            stored = read_json(stored if isinstance(stored, bytes) else text(stored, "value").encode())
        except UnreadableJson as error:
            raise ImportFailed(f"value: {error}") from None
    else:
        space = [identifier(part, "namespace") for part in listing(fields.get("namespace"), "namespace")]
    owners = [part for part in space if part.lower() not in _GENERIC]
    return known_text(
        "langgraph",
        f"{'.'.join(space)}/{identifier(fields.get('key'), 'key')}",
        _words_of(stored),
        options.user or (owners[0] if len(owners) == 1 else None),
        _first_time(fields, "updated_at", "created_at"),
        where,
        position,
        namespace=space,
        value=stored if isinstance(stored, dict) and len(stored) > 1 else None,
    )


def _words_of(value: Any) -> str:
    """The text of a value: that of its one text, or its fields, one a line."""
    if isinstance(value, str):
        return text(value, "value")
    fields = mapping(value, "value")
    for name in _TEXT_FIELDS:
        inner = fields.get(name)
        if isinstance(inner, str | dict) and inner:
            return _words_of(inner)
    lines = _field_lines(fields)
    if not lines:
        raise ImportFailed("value: is empty")
    return text("\n".join(lines), "value")


def _field_lines(fields: dict[str, Any], outer_name: str = "") -> list[str]:
    """The fields that hold something, one a line; those of an inner object after its name."""
    lines: list[str] = []
    for name, value in sorted(fields.items()):
        if isinstance(value, dict):
            lines += _field_lines(value, f"{outer_name}{name} ")
        elif value not in (None, "", []):
            lines.append(f"{outer_name}{name}: {_line_of(value)}")
    return lines


def _line_of(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# -- MCP's reference memory server


def read_mcp(stream: Stream, options: Options) -> Records:
    """The entities and relations of `memory.json`, one a line. They have no dates."""
    number = 0
    try:
        for value in elements(stream, many=True):
            number += 1
            yield from _graph_records(value, f"line {number}", stream.position, options)
    except ImportFailed as error:
        yield BadRecord(f"line {number + 1}", str(error))


def _graph_records(value: Any, where: str, position: int, options: Options) -> Records:
    try:
        fields = mapping(value, "line")
        if "relationType" in fields:
            ends = [text(fields.get(name), name) for name in ("from", "relationType", "to")]
            texts = [relation_sentence(*ends)]
        else:
            name = text(fields.get("name"), "name")
            kind = text_or_empty(fields.get("entityType"), "entityType")
            texts = [
                observation_sentence(name, kind, text(line, "observations"))
                for line in listing(fields.get("observations"), "observations")
            ]
            options.left_out["entities without observations"] += not texts
        for content in filter(None, texts):
            yield known_text("mcp", "", content, options.user, None, where, position)
    except ImportFailed as error:
        yield BadRecord(where, str(error))


def relation_sentence(*ends: str) -> str:
    """A relation as a sentence: from what, which relation, to what."""
    return " ".join(map(_name_in_words, ends))


def is_user(name: str) -> bool:
    """Whether an entity is called as assistants call the person they talk to."""
    return fold(name) in _USER_ENTITIES


def observation_sentence(name: str, kind: str, observation: str) -> str:
    """An observation as a sentence that names what it is about; the user's own are left as they are."""
    if is_user(name):
        return observation
    words = _name_in_words(name)
    if words.lower() in observation.lower():
        return observation
    verb = observation.split(" ", 1)[0].lower()
    if verb.endswith("s") or verb in _VERBS:
        return f"{words} {observation[:1].lower()}{observation[1:]}"
    return f"{words}: {observation}" if not kind else f"{words} ({kind}): {observation}"


def _name_in_words(name: str) -> str:
    return "the user" if is_user(name) else " ".join(name.replace("_", " ").split())


def fold(name: str) -> str:
    return name.lower().replace("_", " ").strip()


# -- Letta


def read_letta(stream: Stream, options: Options) -> Records:
    """An agent file of Letta: its messages, and the lines of its memory blocks about the person."""
    agent = ""
    number = 0
    try:
        for path, value in walk(stream, _LETTA):
            if value is START:
                continue
            if value is WRONG:
                yield BadRecord(f"item {number + 1}", "is not what it should be")
            elif path[-1] == "name":
                agent = text_or_empty(value, "name")
            elif path[0] in _LEFT_OUT_OF_AGENTS:
                options.left_out[_LEFT_OUT_OF_AGENTS[path[0]]] += 1
            else:
                number += 1
                where = f"{path[-2].rstrip('s').replace('_', ' ')} {number}"
                read = _block_records if path[-2] in ("blocks", "core_memory") else _letta_message
                yield from read(value, agent, where, stream.position, options)
    except ImportFailed as error:
        yield BadRecord(f"item {number + 1}", str(error))


def _block_records(value: Any, agent: str, where: str, position: int, options: Options) -> Records:
    try:
        fields = mapping(value, "block")
        label = text_or_empty(fields.get("label"), "label")
        time = _first_time(fields, "updated_at", "created_at")
        if not _OF_PERSON.search(label):
            options.left_out["memory blocks of the agent itself"] += 1
            return
        for line in known_lines(text(fields.get("value"), "value")):
            if _OF_AGENT.search(line):
                options.left_out["lines of the agent about itself"] += 1
                continue
            yield known_text("letta", label, line, options.user, time, where, position, block=label)
    except ImportFailed as error:
        yield BadRecord(where, str(error))


def _letta_message(value: Any, agent: str, where: str, position: int, options: Options) -> Records:
    return attempt(where, partial(_letta_record, value, agent, where, position, options))


def _letta_record(value: Any, agent: str, where: str, position: int, options: Options) -> Record | None:
    fields = mapping(value, "message")
    role = text(fields.get("role"), "role")
    content = _letta_words(fields, role)
    if not content:
        options.left_out["messages of the program (prompts, tools, heartbeats)"] += 1
        return None
    if not options.user:
        raise ImportFailed(NO_OWNER)
    time = _first_time(fields, "created_at", "date")
    id = identifier(fields.get("id") or blake2b(f"{time}{content}".encode(), digest_size=8).hexdigest(), "id")
    conversation = f"letta:{agent or 'agent'}"
    author = options.user if role == "user" else None
    # The ids of agent files count from 0 in each file: the time tells one file's messages from another's.
    platform_id = f"{id}@{time.isoformat()}" if time else id
    draft = Draft(_ROLES[role], content, author, options.user, time, platform_id)
    return Record(conversation, options.user, draft, where, position)


def _letta_words(fields: dict[str, Any], role: str) -> str:
    """What was said: users' words are wrapped in JSON, and an agent may speak by a tool, `send_message`."""
    if role not in ("user", "assistant"):
        return ""
    parts = fields.get("content") or fields.get("text") or ""
    if isinstance(parts, list):
        parts = "\n".join(
            text_or_empty(part.get("text"), "text") for part in mappings(parts, "content") if part.get("type") == "text"
        )
    words = text(parts, "content").strip()
    if role == "assistant":
        calls = [
            mapping_or_empty(call.get("function"), "function")
            for call in mappings(fields.get("tool_calls"), "tool_calls")
        ]
        sent = [
            _without_wrapper(text_or_empty(call.get("arguments"), "arguments"))
            for call in calls
            if call.get("name") == "send_message"
        ]
        return "\n".join(filter(None, sent)) or ("" if calls else words)
    return _without_wrapper(words) if words.startswith("{") else words


def _without_wrapper(words: str) -> str:
    """The message in a JSON object that the program made; nothing if it is an event of the program's own."""
    try:
        value = read_json(words.encode())
    except UnreadableJson:
        return words
    if not isinstance(value, dict) or value.get("type", "user_message") != "user_message":
        return ""
    return text_or_empty(value.get("message"), "message").strip()


# -- Hindsight


def read_hindsight(stream: Stream, options: Options) -> Records:
    """The memories of a bank of Hindsight, as its API lists or recalls them."""
    return _read_items(stream, _LISTS, partial(_hindsight_record, options), "memory")


def _hindsight_record(options: Options, value: Any, where: str, position: int) -> Record | None:
    fields = mapping(value, "memory")
    kind = text_or_empty(fields.get("fact_type") or fields.get("type"), "type")
    if kind in ("observation", "opinion"):
        options.left_out[f"{kind}s that Hindsight wrote itself"] += 1
        return None
    person = options.user or optional(identifier, fields.get("bank_id") or None, "bank_id")
    return known_text(
        "hindsight",
        identifier(fields.get("id"), "id"),
        text(fields.get("text"), "text"),
        person,
        _first_time(fields, "mentioned_at", "date", "occurred_start"),
        where,
        position,
        happened=fields.get("occurred_start"),
        context=fields.get("context"),
        kind=kind,
    )

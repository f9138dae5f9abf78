"""What may enter the log, how it is sealed, and how changes of it are proved.

Every value is checked once, here, before any store sees it: so all stores accept and refuse the same things,
with an error that names the field and the reason. A message's digest covers all its fields and a random salt;
its link covers the digest and the link of the message before. Erasing a message removes the salt with
the words: the chain still holds, and the digest that stays behind says nothing about them.

Every conversation has a second chain, of the changes made to it. A message is stored as it is now; its own seal proves
what it was when it was said, and each change proves what it made of that. So nothing can be altered without a trace,
although people may edit what they said.

What expires is shown until that moment and not at it. Over HTTP and on the command line a moment is an ISO 8601 time
with its offset, and a span a number with its unit, as in `10m`, `2h` or `7d`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from everword.errors import InvalidInput
from everword.log.secret_policy import holds_placeholder, masked
from everword.model import (
    EPOCH,
    ROLES,
    Conversation,
    Draft,
    Fault,
    Kept,
    LogChange,
    Message,
    Role,
    Seal,
    Version,
    from_microseconds,
    to_microseconds,
)
from everword.model.log import notes_key, own_notes
from everword.strict_json import UnreadableJson, check_nesting, read_json
from everword.word_lists import lazy_pattern

MAX_ID = 256  # characters
MAX_ID_BYTES = 768  # of UTF-8: three ids fit into one index row of every database
MAX_CONTENT = 16 << 20  # bytes of UTF-8
MAX_METADATA = 1 << 20  # bytes of JSON
PROFILE_PREFIX = "profile:"  # begins the name of the conversation with what somebody told by command; their id follows
ERASED_PREFIX = (
    "erased:"  # begins the new name of a conversation whose old one named an erased person; a random id follows
)
ONCE = "once:"  # begins the platform id of a message that has none, made of the key of its request
PARTS = lazy_pattern(r"[:/~]")  # separates the parts of a conversation's name
AHEAD = timedelta(days=1)  # a clock may be wrong by hours, not by days
# The range of times that are accepted. Rules compute dates some centuries from them ("ninety years ago"), which must
# also be in the calendar of Python, from the year 1 to 9999.
FIRST_TIME = datetime(1900, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(2201, 1, 1, tzinfo=UTC)
ORIGINAL_TIME = "original_time"  # in the metadata of an imported message whose own time is not accepted
CONTROL = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
SURROGATE = lazy_pattern("[\ud800-\udfff]")
SPEAKERS: dict[Role, str] = {"assistant": "assistant", "system": "system", "tool": "tool", "user": "user"}
MAX_TURN = 2**31 - 1  # messages in one conversation
# Made once: `json.dumps` would make one for each message.
_write_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_write_fields = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
CURSOR_TIME = re.compile(r"-?\d{1,16}", re.ASCII)  # microseconds since 1970, within three centuries
SPAN = re.compile(r"(?P<count>\d{1,12}(?:\.\d{1,6})?)(?P<unit>[smhdw])", re.ASCII)
T = TypeVar("T")
Ranges = Sequence[Sequence[int]]  # turns, as pairs of the first and the last


def check_id(field: str, value: object) -> str:
    """An id chosen by the caller: any script, any printable character, on one line."""
    if type(value) is str and len(value) <= MAX_ID and value.isascii() and value.isprintable() and value.strip():
        return value
    if not isinstance(value, str):
        raise InvalidInput(field, f"must be text, not {type(value).__name__}")
    if not value.strip():
        raise InvalidInput(field, "is empty")
    if len(value) > MAX_ID:
        raise InvalidInput(field, f"has {len(value)} characters; at most {MAX_ID} are allowed")
    if len(value.encode("utf-8", "replace")) > MAX_ID_BYTES:
        raise InvalidInput(field, f"has more than {MAX_ID_BYTES} bytes as UTF-8")
    if CONTROL.search(value):
        raise InvalidInput(field, "contains a control character or a line break")
    if SURROGATE.search(value):
        raise InvalidInput(field, "contains a lone surrogate, which is not text")
    return value


def check_cursor(field: str, value: object) -> tuple[datetime, str]:
    """The place in the list of conversations that a cursor names: the time of the newest message, and the id."""
    moment, _, id = value.partition(".") if isinstance(value, str) else ("", "", "")
    if not CURSOR_TIME.fullmatch(moment):
        raise InvalidInput(field, "must be the `cursor` of a conversation or the `next` value of a page")
    return from_microseconds(int(moment)), check_id(field, id)


def profile_conversation(speaker: str) -> str:
    """The conversation that keeps what a speaker tells by command. A long id is replaced by its hash."""
    name = f"{PROFILE_PREFIX}{speaker}"
    fits = len(name) <= MAX_ID and len(name.encode()) <= MAX_ID_BYTES
    return name if fits else f"{PROFILE_PREFIX}{hashlib.sha256(speaker.encode()).hexdigest()}"


def names_person(conversation: str, user: str) -> bool:
    """Whether a conversation's name contains the user: as `profile:alex`, `telegram/alex~2` and `alex` do for alex."""
    return conversation in (user, profile_conversation(user)) or user in PARTS.split(conversation)


def check_number(field: str, value: object, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(field, f"must be a whole number, not {type(value).__name__}")
    if not 1 <= value <= limit:
        raise InvalidInput(field, f"is {value}; must be from 1 to {limit:,}")
    return value


def check_items(field: str, values: object, kind: type | None = None) -> list[Any]:
    """The items of a list or of another iterable, all of one kind if it is given."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(field, f"must be a list, not {type(values).__name__}")
    items = list(values)
    wrong_items = [item for item in items if kind is not None and not isinstance(item, kind)]
    if kind is not None and wrong_items:
        raise InvalidInput(field, f"contains a {type(wrong_items[0]).__name__}; each item must be a {kind.__name__}")
    return items


def check_share(field: str, value: object) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, f"must be a number from 0 to 1, not {type(value).__name__}")
    if not 0 <= value <= 1:
        raise InvalidInput(field, f"is {value}; must be from 0 to 1")
    return float(value)


def check_choice(field: str, value: object, choices: Sequence[T]) -> T:
    """The one of the choices that the value is."""
    for choice in choices:
        if value == choice:
            return choice
    raise InvalidInput(field, f"is {value!r}; must be one of {', '.join(map(str, choices))}")


def check_role(value: object) -> Role:
    return check_choice("role", value, ROLES)


def check_text(field: str, value: object, *, limit: int = MAX_CONTENT) -> str:
    if not isinstance(value, str):
        raise InvalidInput(field, f"must be text, not {type(value).__name__}")
    if "\x00" in value:
        raise InvalidInput(field, f"contains NUL (at character {value.index(chr(0)) + 1}); remove it")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field,
            f"contains a lone surrogate (at character {error.start + 1}), which is not text; "
            "re-encode it: text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')",
        ) from None
    if size > limit:
        raise InvalidInput(field, f"has {size:,} bytes; at most {limit:,} are allowed")
    return value


def check_time(field: str, value: object, now: datetime | None = None) -> datetime:
    """A time in UTC, in the accepted years. One far after `now` is refused: it would be the newest message for ever."""
    if not isinstance(value, datetime):
        raise InvalidInput(field, f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; use datetime.now(timezone.utc) or add tzinfo")
    if not FIRST_TIME <= value < END_OF_TIME:
        years = f"{FIRST_TIME.year} to {END_OF_TIME.year - 1}"
        raise InvalidInput(field, f"is {value.isoformat()}; must be in the years {years} (UTC)")
    value = value.astimezone(UTC)
    if now is not None and value > now + AHEAD:
        raise InvalidInput(field, f"is {value.isoformat()}; must not be more than one day in the future")
    return value


def check_expiry(field: str, value: object, now: datetime) -> datetime:
    """The moment in UTC at which something expires, after now: a moment as it is, a span counted from now."""
    if isinstance(value, timedelta):
        try:
            value = now + value
        except OverflowError:
            raise InvalidInput(field, f"is {value}, which is too far in the future") from None
    elif not isinstance(value, datetime):
        raise InvalidInput(field, f"must be a datetime or a timedelta, not {type(value).__name__}")
    moment = check_time(field, value)
    if moment <= now:
        raise InvalidInput(field, f"is {moment.isoformat()}, which is in the past; give a time in the future")
    return moment


def clamp_time(draft: Draft, now: datetime) -> Draft:
    """An imported draft with a time that the log accepts: one that is too early becomes the earliest accepted time, one
    in the future becomes `now`, and the original goes into the metadata."""
    time = draft.time
    if time is None or time.utcoffset() is None or (time >= FIRST_TIME and time - AHEAD <= now):
        return draft
    accepted = FIRST_TIME if time < FIRST_TIME else now
    return replace(draft, time=accepted, metadata={**draft.metadata, ORIGINAL_TIME: time.isoformat()})


def canonical_json(metadata: Mapping[str, Any]) -> str:
    """Metadata as canonical JSON: equal metadata gives equal text."""
    return _write_canonical(dict(metadata)) if metadata else "{}"


def check_day(field: str, value: object) -> date | None:
    """The day, or None; of a moment, the day it is in UTC."""
    if isinstance(value, datetime):
        return check_time(field, value).astimezone(UTC).date()
    if value is None or isinstance(value, date):
        return value
    raise InvalidInput(field, f"must be a date, not {type(value).__name__}")


def check_metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput("metadata", f"must be a mapping, not {type(value).__name__}")
    if not value:
        return {}
    try:
        check_nesting(value)
        text = canonical_json(value)
    except UnreadableJson as error:
        raise InvalidInput("metadata", str(error)) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("metadata", f"cannot be written as JSON: {error}") from None
    check_text("metadata", text, limit=MAX_METADATA)
    if "\\u0000" in text.replace("\\\\", ""):  # a backslash in the data is written as two
        raise InvalidInput("metadata", "contains NUL; remove it")
    try:
        copy: dict[str, Any] = read_json(text)
    except UnreadableJson as error:
        raise InvalidInput("metadata", str(error)) from None
    return copy


def check_draft(draft: Draft, conversation: Conversation, now: datetime) -> Draft:
    """The draft with every field checked and filled in; raises InvalidInput for the first that is wrong."""
    role = check_role(draft.role)
    content = check_text("content", draft.content)
    metadata = check_metadata(draft.metadata)
    if not content.strip() and not metadata:
        raise InvalidInput("content", "is empty, and the message has no metadata; give a text or metadata")
    author = draft.author
    if author is None:
        author = (conversation.user if role == "user" else None) or SPEAKERS[role]
    author = check_id("author", author)
    user = draft.user if draft.user is not None else conversation.user
    if user is None and role == "user":
        user = author
    return Draft(
        role=role,
        content=content,
        author=author,
        user=None if user is None else check_id("user", user),
        time=now if draft.time is None else check_time("time", draft.time, now),
        platform_id=None if draft.platform_id is None else check_id("platform_id", draft.platform_id),
        metadata=metadata,
        id=None if draft.id is None else check_id("id", draft.id),
        expires_at=None if draft.expires_at is None else check_expiry("expires", draft.expires_at, now),
        reply_to=None if draft.reply_to is None else check_id("reply_to", draft.reply_to),
    )


# -- the chain


def compute_digest(message: Message, salt: bytes) -> bytes:
    """A digest of what was said; it does not depend on what of that is marked as a secret."""
    message = message.as_said
    fields = [
        message.space,
        message.conversation,
        message.turn,
        message.id,
        message.role,
        message.author,
        message.user,
        message.content,
        to_microseconds(message.time),
        message.platform_id,
        canonical_json(message.metadata),
    ]
    if message.expires_at is not None:
        fields.append(to_microseconds(message.expires_at))  # a number: what follows is text
    if message.reply_to is not None:
        fields.append(message.reply_to)
    return hashlib.sha256(salt + _write_fields(fields).encode()).digest()


def compute_link(previous_link: bytes, message_digest: bytes) -> bytes:
    return hashlib.sha256(previous_link + message_digest).digest()


def seal_message(message: Message, previous_link: bytes, salt: bytes) -> Message:
    message_digest = compute_digest(message, salt)
    return replace(message, seal=Seal(salt, message_digest, compute_link(previous_link, message_digest)))


def tombstone(message: Message) -> Message:
    """An erased message with only its place and its chain: no words, no names, no time, no salt.

    The platform's id stays as a hash, so that the same message is recognised and refused when it is delivered again.
    """
    return replace(
        message,
        author="",
        user=None,
        content="",
        time=EPOCH,
        platform_id=None if message.platform_id is None else hash_platform_id(message.platform_id),
        metadata={},
        erased=True,
        expires_at=None,
        reply_to=None,
        secrets=(),
        original=None,
        seal=replace(message.seal, salt=b""),
    )


def hash_platform_id(platform_id: str) -> str:
    return "erased:" + hashlib.sha256(platform_id.encode()).hexdigest()


def message_problem(message: Message, turn: int, previous_link: bytes | None, original: Message | None) -> str | None:
    """What is wrong with a message that should have this turn and follow this link (None: not known). `original` is the
    message as it was said, None if that is erased. Its id is named only if its digest proves it: in a damaged row it
    may be anything, even what somebody said."""
    if message.turn != turn:
        return "is missing" if message.turn > turn else "is there twice"
    if message.erased and any((message.author, message.user, message.content, message.metadata, message.seal.salt)):
        return "is marked as erased and is not empty"
    is_known = not message.erased and original is not None
    if is_known and compute_digest(original or message, message.seal.salt) != message.seal.digest:
        return "was changed"
    if previous_link is not None and compute_link(previous_link, message.seal.digest) != message.seal.link:
        return "does not follow from the message before it" + ("" if message.erased else f" (message {message.id})")
    return None


def tail_problem(conversation: Conversation, turns: int, last_link: bytes | None) -> str | None:
    """What is wrong with the end of a conversation whose last message has this turn and link (None: not known)."""
    if turns != conversation.turns:
        return f"is missing: the conversation counts {conversation.turns} messages"
    return None if last_link in (None, conversation.head) else "is not the message the conversation ended with"


def fault(conversation: Conversation, turn: int, reason: str) -> Fault:
    return Fault(conversation.space, conversation.id, turn, reason)


def parse_expiry(field: str, text: str | None) -> datetime | timedelta | None:
    """What a text says about when something expires; None if there is none."""
    if text is None:
        return None
    span = SPAN.fullmatch(text.strip())
    if span is not None:
        try:
            return timedelta(seconds=float(span["count"]) * SECONDS[span["unit"]])
        except OverflowError:
            raise InvalidInput(field, f"is {text!r}, which is too long a time span") from None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            field, f"is {text!r}; write a time span such as 10m, 2h or 7d, or a time such as 2026-05-31T09:00:00Z"
        ) from None
    return check_time(field, moment)


def format_expiry(field: str, value: object) -> str:
    """The text by which a server is told when something expires."""
    if isinstance(value, timedelta):
        return f"{value / timedelta(seconds=1):.6f}s"
    return check_time(field, value).isoformat()


def first_expiry(*moments: datetime | None) -> datetime | None:
    """The first of some moments; None if none is given."""
    return min((moment for moment in moments if moment is not None), default=None)


def has_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Whether something that expires at a moment, or never, is gone now."""
    return expires_at is not None and expires_at <= now


def compute_change_digest(change: LogChange, salt: bytes) -> bytes:
    """A digest of all fields but the conversation's name: that may be changed later."""
    fields = [
        change.space,
        change.number,
        change.kind,
        change.turn,
        to_microseconds(change.at),
        change.by,
        canonical_json(change.before),
        canonical_json(change.after),
    ]
    return hashlib.sha256(salt + json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()).digest()


def seal_change(change: LogChange, previous_link: bytes, salt: bytes) -> LogChange:
    digest = compute_change_digest(change, salt)
    return replace(change, seal=Seal(salt, digest, compute_link(previous_link, digest)))


def is_sealed(change: LogChange) -> bool:
    """Whether a change is what its seal proves; an erased one is proved by its place alone."""
    return change.erased or compute_change_digest(change, change.seal.salt) == change.seal.digest


def erase_change(change: LogChange, unproved: Iterable[int] = ()) -> LogChange:
    """A change with only its place and its chain. Of a move, the turns stay of messages that nothing proves without the
    names that are gone: they are still in their chain."""
    turns = to_ranges(unproved)
    before: dict[str, Any] = {"turns": turns} if turns else {}
    return replace(change, by="", before=before, after={}, erased=True, seal=replace(change.seal, salt=b""))


def is_emptied(change: LogChange) -> bool:
    """Whether an erased change holds nothing that was said, and no name."""
    if change.by or change.after or change.seal.salt:
        return False
    turns = change.before.get("turns", [])
    is_numbers = all(len(pair) == 2 and all(type(turn) is int for turn in pair) for pair in turns)
    return set(change.before) <= {"turns"} and (not turns or (change.kind == "move" and is_numbers))


# -- what a message was


def edited_fields(message: Message) -> dict[str, Any]:
    """What an edit can change of a message."""
    message = message.as_said
    return {"content": message.content, "metadata": dict(message.metadata)}


def contains_turn(ranges: Ranges, turn: int) -> bool:
    return any(first <= turn <= last for first, last in ranges)


def to_ranges(turns: Iterable[int]) -> list[list[int]]:
    """Turns as pairs of the first and the last of each run."""
    ranges: list[list[int]] = []
    for turn in sorted(turns):
        if ranges and ranges[-1][1] == turn - 1:
            ranges[-1][1] = turn
        else:
            ranges.append([turn, turn])
    return ranges


def undo_change(message: Message, change: LogChange) -> Message:
    """The message as it was before a change."""
    before = change.before
    if change.kind == "edit":
        if change.turn != message.turn:
            return message
        return replace(message, content=before["content"], metadata=before["metadata"])
    return give_names(message, change, change.before)


def give_names(message: Message, change: LogChange, names: Mapping[str, Any]) -> Message:
    """The message with the names that a move gave it, or took from it: those of `names`."""
    before = change.before
    if message.turn > before["upto"]:
        return message
    if message.original is not None:
        return give_names(message.as_said, change, names).masked
    return replace(
        message,
        conversation=names.get("conversation", message.conversation),
        user=names["person"] if contains_turn(before["owned"], message.turn) else message.user,
        author=names["person"] if contains_turn(before["written"], message.turn) else message.author,
        metadata=with_audience(message.metadata, names["channel"])
        if contains_turn(before.get("heard", ()), message.turn)
        else message.metadata,
    )


def with_audience(metadata: Mapping[str, Any], channel: str) -> dict[str, Any]:
    """The metadata of a change of a fact, for another name of the channel that sees it."""
    return {**metadata, notes_key(metadata): {**own_notes(metadata), "audience": channel}}


def concerns(change: LogChange, turn: int) -> bool:
    """Whether a change may have changed the message at a turn."""
    if change.kind == "edit":
        return change.turn == turn
    return contains_turn(change.before.get("turns", ()), turn) if change.erased else True


def original_message(message: Message, changes: Sequence[LogChange]) -> Message | None:
    """The message as it was said, which its seal proves; None if what it was is erased."""
    message = message.as_said
    for change in reversed(changes):
        if not concerns(change, message.turn):
            continue
        if change.erased:
            return None
        message = undo_change(message, change)
    return message


# -- what can be wrong


def change_problem(change: LogChange, number: int, previous_link: bytes) -> str | None:
    """What is wrong with a change that should have this number and follow this link."""
    if change.number != number:
        return f"change {number} is missing"
    if change.erased and not is_emptied(change):
        return f"change {number} is marked as erased and is not empty"
    if not is_sealed(change):
        return f"change {number} was changed"
    if compute_link(previous_link, change.seal.digest) != change.seal.link:
        return f"change {number} does not follow from the change before it"
    return None


def changes_end_problem(conversation: Conversation, changes: Sequence[LogChange]) -> str | None:
    """What is wrong with the end of a conversation's changes."""
    if len(changes) != conversation.changes:
        return f"a change is missing: the conversation counts {conversation.changes} changes"
    last_link = changes[-1].seal.link if changes else b""
    return None if last_link == conversation.changes_head else "the last change is not the one it ended with"


def is_as_changed(message: Message, changes: Sequence[LogChange]) -> bool:
    """Whether a message is what its last change made of it, and each change began with what the one before had made."""
    message = message.as_said
    for change in reversed(changes):
        if not concerns(change, message.turn):
            continue
        if change.erased:
            return True  # what it was before that is not known
        if not is_result(message, change):
            return False
        message = undo_change(message, change)
    return True


def is_result(message: Message, change: LogChange) -> bool:
    """Whether a message is what a change made of it."""
    if change.kind == "edit":
        return edited_fields(message) == dict(change.after)
    return give_names(message, change, change.after) == message


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

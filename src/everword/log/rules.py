"""What may enter the log, and how it is sealed.

Every value is checked once, here, before any store sees it: so all stores accept and refuse the same things,
with an error that names the field and the reason. A message's digest covers all its fields and a random salt;
its link covers the digest and the link of the message before. Erasing a message removes the salt with
the words: the chain still holds, and the digest that stays behind says nothing about them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from everword.errors import InvalidInput
from everword.model import ROLES, Conversation, Draft, Fault, Message, Role, Seal
from everword.parsing import UnreadableJson, check_nesting, read_json
from everword.word_lists import lazy_pattern

MAX_ID = 256  # characters
MAX_ID_BYTES = 768  # of UTF-8: three ids fit into one index row of every database
MAX_CONTENT = 16 << 20  # bytes of UTF-8
MAX_METADATA = 1 << 20  # bytes of JSON
TOLD = "profile:"  # begins the name of the conversation with what somebody told by command; their id follows
ERASED = "erased:"  # begins the new name of a conversation whose old one named an erased person; a random id follows
ONCE = "once:"  # begins the platform id of a message that has none, made of the key of its request
PARTS = lazy_pattern(r"[:/~]")  # separates the parts of a conversation's name
AHEAD = timedelta(days=1)  # a clock may be wrong by hours, not by days
# The range of times that are accepted. Rules compute dates some centuries from them ("ninety years ago"), which must
# also be in the calendar of Python, from the year 1 to 9999.
FIRST_TIME = datetime(1900, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(2201, 1, 1, tzinfo=UTC)
ORIGINAL_TIME = "original_time"  # in the metadata of an imported message whose own time is not accepted
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
CONTROL = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
SURROGATE = lazy_pattern("[\ud800-\udfff]")
SPEAKERS: dict[Role, str] = {"assistant": "assistant", "system": "system", "tool": "tool", "user": "user"}
MAX_TURN = 2**31 - 1  # messages in one conversation


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


def profile_conversation(speaker: str) -> str:
    """The conversation that keeps what a speaker tells by command. A long id is replaced by its hash."""
    name = f"{TOLD}{speaker}"
    fits = len(name) <= MAX_ID and len(name.encode()) <= MAX_ID_BYTES
    return name if fits else f"{TOLD}{hashlib.sha256(speaker.encode()).hexdigest()}"


def names_person(conversation: str, user: str) -> bool:
    """Whether a conversation's name contains the user: as `profile:alex`, `telegram/alex~2` and `alex` do for alex."""
    return conversation in (user, profile_conversation(user)) or user in PARTS.split(conversation)


def check_number(field: str, value: object, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(field, f"must be a whole number, not {type(value).__name__}")
    if not 1 <= value <= limit:
        raise InvalidInput(field, f"is {value}; must be 1 to {limit:,}")
    return value


def check_items(field: str, values: object, kind: type | None = None) -> list[Any]:
    """The items of a list or of another iterable, all of one kind if it is given."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(field, f"must be a list, not {type(values).__name__}")
    items = list(values)
    strangers = [item for item in items if kind is not None and not isinstance(item, kind)]
    if kind is not None and strangers:
        raise InvalidInput(field, f"has a {type(strangers[0]).__name__}; all must be {kind.__name__}")
    return items


def check_role(value: object) -> Role:
    for role in ROLES:
        if value == role:
            return role
    raise InvalidInput("role", f"is {value!r}; must be one of {', '.join(ROLES)}")


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
        raise InvalidInput(field, f"is {value.isoformat()}, more than a day in the future")
    return value


def check_expiry(field: str, value: object, now: datetime) -> datetime:
    """The moment in UTC at which something expires, after now: a moment as it is, a span counted from now."""
    if isinstance(value, timedelta):
        try:
            value = now + value
        except OverflowError:
            raise InvalidInput(field, f"is {value}, which no calendar reaches") from None
    elif not isinstance(value, datetime):
        raise InvalidInput(field, f"must be a datetime or a timedelta, not {type(value).__name__}")
    moment = check_time(field, value)
    if moment <= now:
        raise InvalidInput(field, f"is {moment.isoformat()}, which is over; it must be in the future")
    return moment


def clamp_time(draft: Draft, now: datetime) -> Draft:
    """An imported draft with a time that the log accepts: one that is too early becomes the earliest accepted time, one
    in the future becomes `now`, and the original goes into the metadata."""
    time = draft.time
    if time is None or time.utcoffset() is None or (time >= FIRST_TIME and time - AHEAD <= now):
        return draft
    accepted = FIRST_TIME if time < FIRST_TIME else now
    return replace(draft, time=accepted, metadata={**draft.metadata, ORIGINAL_TIME: time.isoformat()})


# Made once: `json.dumps` would make one for each message.
_write_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_write_fields = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def canonical_json(metadata: Mapping[str, Any]) -> str:
    """Metadata as canonical JSON: equal metadata gives equal text."""
    return _write_canonical(dict(metadata)) if metadata else "{}"


def check_day(field: str, value: object) -> date | None:
    """The day, or None; of a moment, the day it is in UTC."""
    if isinstance(value, datetime):
        return check_time(field, value).astimezone(UTC).date()
    if value is None or isinstance(value, date):
        return value
    raise InvalidInput(field, f"is a {type(value).__name__}; must be a date")


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
        raise InvalidInput("content", "is empty, and there is no metadata: nothing to keep")
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
        (message.time - EPOCH) // MICROSECOND,
        message.platform_id,
        canonical_json(message.metadata),
    ]
    if message.expires_at is not None:
        fields.append((message.expires_at - EPOCH) // MICROSECOND)
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
    if message.erased and (message.author or message.user or message.content or message.metadata or message.seal.salt):
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

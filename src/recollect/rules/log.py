"""What may enter the log, and how it is sealed.

Every value is checked once, here, before any store sees it: so all stores accept and refuse the same things,
with an error that names the field and the reason. A message's digest covers all its fields and a random salt;
its link covers the digest and the link of the message before. Erasing a message removes the salt with
the words: the chain still holds, and the digest that stays behind says nothing about them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.errors import InvalidInput
from recollect.model import ROLES, Conversation, Draft, Fault, Message, Role, Seal

MAX_ID = 256  # characters
MAX_ID_BYTES = 768  # of UTF-8: three ids fit into one index row of every database
MAX_CONTENT = 16 << 20  # bytes of UTF-8
MAX_METADATA = 1 << 20  # bytes of JSON
TOLD = "profile:"  # the conversation in which is kept what somebody told by command: this and their id
ERASED = "erased:"  # a conversation whose own name named the person it was of: this and an id drawn by chance
PARTS = re.compile(r"[:/~]")  # between the parts of a conversation's name
AHEAD = timedelta(days=1)  # a clock may be wrong by hours, not by days
# From and until when a time may be. Rules reckon with dates some centuries from it ("ninety years ago"), which the
# calendar of Python, from the year 1 to 9999, must have, too.
FIRST_TIME = datetime(1900, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(2201, 1, 1, tzinfo=UTC)
ORIGINAL_TIME = "original_time"  # in the metadata of an imported message whose own time cannot be
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
SURROGATE = re.compile("[\ud800-\udfff]")
SPEAKERS: dict[Role, str] = {"assistant": "assistant", "system": "system", "tool": "tool", "user": "user"}


def checked_id(field: str, value: object) -> str:
    """An id chosen by the caller: any script, any printable character, on one line."""
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


def told_in(speaker: str) -> str:
    """The conversation that keeps what somebody tells. An id that is long already is stood for by its hash."""
    whole = f"{TOLD}{speaker}"
    fits = len(whole) <= MAX_ID and len(whole.encode()) <= MAX_ID_BYTES
    return whole if fits else f"{TOLD}{hashlib.sha256(speaker.encode()).hexdigest()}"


def names_person(conversation: str, user: str) -> bool:
    """Whether a conversation's name tells whose it is: as `profile:alex`, `telegram/alex~2` and `alex` do of alex."""
    return conversation in (user, told_in(user)) or user in PARTS.split(conversation)


def checked_number(field: str, value: object, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(field, f"must be a whole number, not {type(value).__name__}")
    if not 1 <= value <= most:
        raise InvalidInput(field, f"is {value}; must be 1 to {most:,}")
    return value


def checked_role(value: object) -> Role:
    for role in ROLES:
        if value == role:
            return role
    raise InvalidInput("role", f"is {value!r}; must be one of {', '.join(ROLES)}")


def checked_text(field: str, value: object, *, limit: int = MAX_CONTENT) -> str:
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


def checked_time(field: str, value: object, now: datetime | None = None) -> datetime:
    """A time as aware UTC, in the years that dates can be reckoned from; one after `now` would be the newest message
    for ever."""
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


def within_years(draft: Draft) -> Draft:
    """A draft from elsewhere with a time that may enter the log: of one too early or too late, the nearest that may,
    and what it was in the metadata."""
    time = draft.time
    if time is None or time.utcoffset() is None or FIRST_TIME <= time < END_OF_TIME:
        return draft
    nearest = FIRST_TIME if time < FIRST_TIME else END_OF_TIME - MICROSECOND
    return replace(draft, time=nearest, metadata={**draft.metadata, ORIGINAL_TIME: time.isoformat()})


def canonical(metadata: Mapping[str, Any]) -> str:
    """Metadata as the one text that stands for it."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def checked_metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput("metadata", f"must be a mapping, not {type(value).__name__}")
    if not value:
        return {}
    try:
        text = canonical(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("metadata", f"cannot be written as JSON: {error}") from None
    checked_text("metadata", text, limit=MAX_METADATA)  # before it is walked through, which takes longer
    if not keys_are_text(value):
        raise InvalidInput("metadata", "has a key that is not text")
    if "\\u0000" in text.replace("\\\\", ""):  # a backslash of the caller's own is written as two
        raise InvalidInput("metadata", "contains NUL; remove it")
    kept: dict[str, Any] = json.loads(text)
    return kept


def keys_are_text(metadata: Mapping[str, Any]) -> bool:
    """Of what can be written as JSON, which would turn a number into a text for a key and say nothing."""
    unread: list[Any] = [dict(metadata)]
    while unread:
        value = unread.pop()
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                return False
            value = value.values()
        unread += [inner for inner in value if isinstance(inner, (dict, list, tuple))]
    return True


def checked(draft: Draft, conversation: Conversation, now: datetime) -> Draft:
    """The draft with every field checked and filled in; raises InvalidInput for the first that is wrong."""
    role = checked_role(draft.role)
    content = checked_text("content", draft.content)
    metadata = checked_metadata(draft.metadata)
    if not content.strip() and not metadata:
        raise InvalidInput("content", "is empty, and there is no metadata: nothing to keep")
    author = draft.author
    if author is None:
        author = (conversation.user if role == "user" else None) or SPEAKERS[role]
    author = checked_id("author", author)
    user = draft.user if draft.user is not None else conversation.user
    if user is None and role == "user":
        user = author
    return Draft(
        role=role,
        content=content,
        author=author,
        user=None if user is None else checked_id("user", user),
        time=now if draft.time is None else checked_time("time", draft.time, now),
        platform_id=None if draft.platform_id is None else checked_id("platform_id", draft.platform_id),
        metadata=metadata,
        id=None if draft.id is None else checked_id("id", draft.id),
    )


# -- the chain


def digest(message: Message, salt: bytes) -> bytes:
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
        canonical(message.metadata),
    ]
    return hashlib.sha256(salt + json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()).digest()


def link(before: bytes, digest: bytes) -> bytes:
    return hashlib.sha256(before + digest).digest()


def sealed(message: Message, before: bytes, salt: bytes) -> Message:
    covered = digest(message, salt)
    return replace(message, seal=Seal(salt, covered, link(before, covered)))


def tombstone(message: Message) -> Message:
    """What is left of an erased message: its place and its chain. No words, no names, no time, no salt.

    The platform's id stays as a hash, so that the same message, delivered again, is known and kept out.
    """
    return replace(
        message,
        author="",
        user=None,
        content="",
        time=EPOCH,
        platform_id=None if message.platform_id is None else erased_platform_id(message.platform_id),
        metadata={},
        erased=True,
        seal=replace(message.seal, salt=b""),
    )


def erased_platform_id(platform_id: str) -> str:
    return "erased:" + hashlib.sha256(platform_id.encode()).hexdigest()


def problem(message: Message, expected: int, before: bytes | None) -> str | None:
    """What is wrong with a message that should have this turn and follow this link, if that is known. Its id is named
    where its digest proves it: in the row of a damaged message it may be anything, also what somebody said."""
    if message.turn != expected:
        return "is missing" if message.turn > expected else "is there twice"
    if message.erased and (message.author or message.user or message.content or message.metadata or message.seal.salt):
        return "is marked as erased and is not empty"
    if not message.erased and digest(message, message.seal.salt) != message.seal.digest:
        return "was changed"
    if before is not None and link(before, message.seal.digest) != message.seal.link:
        return "does not follow from the message before it" + ("" if message.erased else f" (message {message.id})")
    return None


def tail_problem(conversation: Conversation, turns: int, last: bytes | None) -> str | None:
    """What is wrong with the end of a conversation whose messages ended at this turn and link, if that is known."""
    if turns != conversation.turns:
        return f"is missing: the conversation counts {conversation.turns} messages"
    return None if last in (None, conversation.head) else "is not the message the conversation ended with"


def fault(conversation: Conversation, turn: int, what: str) -> Fault:
    return Fault(conversation.space, conversation.id, turn, what)

"""Fields of unknown type, read as the type they should have.

Every function takes a value and the name it has in the file, and either returns the value as that type or
raises `ImportFailed` with the name and what was expected. No reader touches a value from a file in any other
way, so a string where an object should be is a bad record and never a traceback. A bad record is a value, not an
exception (`attempt`): it never stops the reading, and the caller decides what to do with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, TypeVar

from everword.errors import ImportFailed
from everword.formats.source import Refused
from everword.model import BadRecord, Record
from everword.parsing import KEPT_DEPTH

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST_SECOND = 253_402_300_799  # the end of the year 9999


def optional(read: Callable[[Any, str], T], value: Any, name: str) -> T | None:
    """`read(value, name)`, or None if the file has no value."""
    return None if value is None else read(value, name)


def mapping(value: Any, name: str) -> dict[str, Any]:
    if isinstance(value, Refused):
        raise ImportFailed(f"{name}: {value.reason}")
    if not isinstance(value, dict):
        raise ImportFailed(f"{name}: expected an object, found {_kind(value)}")
    return value


def mapping_or_empty(value: Any, name: str) -> dict[str, Any]:
    """An object; an empty one where the file has nothing."""
    return {} if value is None else mapping(value, name)


def listing(value: Any, name: str) -> list[Any]:
    """A list; an empty one where the file has nothing."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ImportFailed(f"{name}: expected a list, found {_kind(value)}")
    return value


def mappings(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects; an empty one where the file has nothing."""
    return [mapping(item, f"{name}[{index}]") for index, item in enumerate(listing(value, name))]


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ImportFailed(f"{name}: expected text, found {_kind(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ImportFailed(f"{name}: holds half a character (a lone surrogate); remove it") from None
    return value


def text_or_empty(value: Any, name: str) -> str:
    """Text; an empty one where the file has nothing."""
    return "" if value is None else text(value, name)


def identifier(value: Any, name: str) -> str:
    """An id: text that is not empty, or a whole number, written as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > 128:
            raise ImportFailed(f"{name}: too large for an id")
        return str(value)
    if isinstance(value, str) and value:
        return text(value, name)
    raise ImportFailed(f"{name}: expected an id, found {_kind(value) if value != '' else 'empty text'}")


def moment(value: Any, name: str, zone: tzinfo | None = None) -> datetime:
    """A time in UTC, from ISO 8601 text or seconds since the epoch; `zone` is that of text with none."""
    if not isinstance(value, str):
        return epoch(value, name)
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise ImportFailed(f"{name}: not a time; write it as 2025-01-31T12:00:00Z") from None
    if time.tzinfo is None:
        if zone is None:
            raise ImportFailed(f"{name}: a time without a zone; add one (Z, +02:00) or give a timezone")
        time = time.replace(tzinfo=zone)
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ImportFailed(f"{name}: a time outside the years 1 to 9999") from None


def epoch(value: Any, name: str) -> datetime:
    """A time in UTC, from seconds since the epoch: a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ImportFailed(f"{name}: expected a time, found {_kind(value)}")
    if not -LATEST_SECOND <= value <= LATEST_SECOND:
        raise ImportFailed(f"{name}: out of range; a number is in seconds since 1970, not milliseconds")
    try:
        return EPOCH + timedelta(seconds=float(value))
    except OverflowError:
        raise ImportFailed(f"{name}: a time outside the years 1 to 9999") from None


def plain(value: Any, name: str, depth: int = 1) -> Any:
    """A value as metadata stores it, at this depth of the metadata: any JSON writer can write it."""
    if isinstance(value, dict | list) and depth == KEPT_DEPTH:
        raise ImportFailed(f"{name}: nested deeper than {KEPT_DEPTH} levels")
    if isinstance(value, dict):
        return {key: plain(item, name, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, name, depth + 1) for item in value]
    if isinstance(value, Decimal):
        number = float(value)
        if number in (float("inf"), float("-inf")):
            raise ImportFailed(f"{name}: a number too large")
        return number
    return value


def drop_empty(**fields: Any) -> dict[str, Any]:
    """Metadata without the empty fields."""
    values = {name: value for name, value in fields.items() if value not in (None, "", [], {}, False)}
    return {name: plain(value, name) for name, value in values.items()}


def _kind(value: Any) -> str:
    """The kind of a value, in words for a person."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float | Decimal):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say: whose chats these are, who the assistant is, the zone of bare times.

    `left_out` counts what a reader does not take over, in words for a person. `names` are those that an earlier part
    of the same file gave its ids.
    """

    user: str | None = None
    assistant_ids: frozenset[str] = frozenset()
    zone: tzinfo | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)


def attempt(where: str, make: Callable[[], Record | None]) -> Iterator[Record | BadRecord]:
    """The record that `make` returns, or a bad record with the reason it raises; nothing if it returns None."""
    try:
        record = make()
    except ImportFailed as error:
        yield BadRecord(where, str(error))
    else:
        if record is not None:
            yield record

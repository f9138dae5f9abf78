"""The nouns as JSON, both ways: what a server sends, a client reads back into the same values.

A value is an object of its fields. Times are ISO 8601 with their offset, days are dates, spans of time are seconds.
What proves the log (`seal`, `head`) stays in the store. Whoever reads passes over fields they do not know, and takes
the default for one that is missing, so that a client and a server of neighbouring versions understand each other.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from recollect.errors import InvalidInput
from recollect.model import Conversation, Episode, Forgotten, Message

T = TypeVar("T")

LEFT_OUT: dict[type, tuple[str, ...]] = {Message: ("seal",), Conversation: ("head",)}
COMPUTED: dict[type, tuple[str, ...]] = {Episode: ("id",), Forgotten: ("found",)}
SHAPE = "does not have the shape it should; are server and client of the same version?"


@cache
def sent(kind: Any) -> tuple[str, ...]:
    """The names of what is sent of a kind of value."""
    own = tuple(field.name for field in fields(kind) if field.name not in LEFT_OUT.get(kind, ()))
    return own + COMPUTED.get(kind, ())


def plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    made = shallow(value)
    if isinstance(made, dict):
        return {str(key): plain(one) for key, one in made.items()}
    return [plain(one) for one in made] if isinstance(made, list) else made


def dumps(value: Any) -> bytes:
    """A value as JSON, however deep what it holds is nested."""
    return json.dumps(value, default=shallow, ensure_ascii=False, separators=(",", ":")).encode()


def shallow(value: Any) -> Any:
    """One step towards what JSON knows."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if is_dataclass(value):
        kind: Any = type(value)
        return {name: getattr(value, name) for name in sent(kind)}
    return dict(value) if isinstance(value, Mapping) else list(value)


def read(kind: Any, value: Any) -> Any:
    """A value of this kind from its JSON; raises InvalidInput if it is none."""
    try:
        return _read(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InvalidInput("the answer", SHAPE) from error


def _read(kind: Any, value: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or origin is Literal or is_typeddict(kind):
        return value
    if origin in (Union, types.UnionType):
        return _read_union(inner, value)
    if is_dataclass(kind):
        return _read_fields(kind, value)
    if isinstance(kind, type) and issubclass(kind, datetime):
        return datetime.fromisoformat(value)
    if kind is date:
        return date.fromisoformat(value)
    if kind is timedelta:
        return timedelta(seconds=value)
    if origin is tuple:
        each = inner[:1] * len(value) if inner[-1:] == (...,) else inner
        return tuple(_read(one, item) for one, item in zip(each, value, strict=True))
    if origin in (list, Sequence):
        return [_read(inner[0], one) for one in value]
    if origin in (dict, Mapping):
        return {key: _read(inner[1], one) for key, one in value.items()}
    if kind is float:
        return float(value)
    if isinstance(kind, type) and kind in (str, int, bool) and not isinstance(value, kind):
        raise TypeError(kind.__name__)
    return value


def _read_union(kinds: Sequence[Any], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    options = [kind for kind in kinds if kind is not type(None)]
    if len(options) == 1:
        return _read(options[0], value)
    # Of several kinds it is the one of whose fields it has all it must, and most; it may have others.
    given = {*value}
    known = {kind: len(given & {*sent(kind)}) for kind in options if needed(kind) <= given}
    if not any(known.values()):
        raise TypeError("none of these")
    return _read(max(known, key=lambda kind: known[kind]), value)


def needed(kind: Any) -> set[str]:
    return {field.name for field, _ in _fields(kind) if field.default is MISSING and field.default_factory is MISSING}


def _read_fields(kind: Any, value: Any) -> Any:
    given = {}
    for field, hint in _fields(kind):
        if field.name in value:
            given[field.name] = _read(hint, value[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(field.name)
    return kind(**given)


@cache
def _fields(kind: Any) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind)
    return [(field, hints[field.name]) for field in fields(kind) if field.name not in LEFT_OUT.get(kind, ())]

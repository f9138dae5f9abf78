"""Converts the model's values to JSON and back: a client reads what a server sends into the same values.

A value is an object of its fields. Times are ISO 8601 with their offset, days are dates, spans of time are seconds.
What proves the log (`seal`, `head`, `changes_head`) and what a masked message said (`original`) stay in the store; what
became of a message that was added, and that messages are held in memory, is said of what was just added (`Added`,
`Reply`), not of each message. A reader ignores fields it does not know, and takes the default for one that is missing,
so that a client and a server of neighbouring versions understand each other.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from everword import errors
from everword.errors import InvalidInput
from everword.model import Conversation, Episode, Forgotten, Message

T = TypeVar("T")

# What each error is called on the wire, and its status. The first class that fits counts: from the special to the
# general.
ERROR_CODES: dict[str, tuple[type[errors.EverwordError], int]] = {
    "secret_refused": (errors.SecretRefused, 422),
    "invalid_input": (errors.InvalidInput, 422),
    "not_found": (errors.NotFound, 404),
    "not_yours": (errors.ScopeError, 403),
    "no_model": (errors.NoModel, 503),
    "model_timeout": (errors.ModelTimeout, 504),
    "model_refused": (errors.ModelRefused, 502),
    "model_busy": (errors.ModelBusy, 503),
    "model_spent": (errors.ModelSpent, 503),
    "model_cut_off": (errors.ModelCutOff, 502),
    "model_nonsense": (errors.ModelNonsense, 502),
    "model_failed": (errors.ModelError, 502),
    "embedder_refused": (errors.EmbedderRefused, 502),
    "embedder_failed": (errors.EmbedderError, 502),
    "answer_gone": (errors.AnswerGone, 410),  # some clients retry a 409
    "not_settled": (errors.NotSettled, 409),
    "store_busy": (errors.StoreBusy, 503),
    "commit_unknown": (errors.CommitUnknown, 504),
    "store_locked": (errors.StoreLocked, 503),
    "store_closed": (errors.StoreClosed, 503),
    "store_unwritable": (errors.StoreUnwritable, 507),
    "schema_mismatch": (errors.SchemaMismatch, 503),
    "embedder_mismatch": (errors.EmbedderMismatch, 503),
    "store_failed": (errors.StoreError, 503),
    "missing_extra": (errors.MissingExtra, 501),
    "config": (errors.ConfigError, 500),
    "unavailable": (errors.EverwordError, 503),
}

LEFT_OUT: dict[type, tuple[str, ...]] = {
    Message: ("seal", "kept", "degraded", "original"),
    Conversation: ("head", "changes", "changes_head"),
}
COMPUTED: dict[type, tuple[str, ...]] = {Episode: ("id",), Forgotten: ("found",)}
SHAPE = "does not have the expected shape; check that server and client have the same version"


@cache
def wire_fields(kind: Any) -> tuple[str, ...]:
    """The names of the fields that are sent for a type."""
    return tuple(field.name for field in fields_on_the_wire(kind)) + COMPUTED.get(kind, ())


def fields_on_the_wire(kind: Any) -> list[Field[Any]]:
    """The fields of a type that are neither computed nor kept back."""
    return [field for field in fields(kind) if field.name not in LEFT_OUT.get(kind, ())]


def dumps(value: Any) -> bytes:
    """A value as JSON bytes, however deeply it is nested."""
    return _encode(value).encode()


def to_json_value(value: Any) -> Any:
    """A value as JSON types."""
    return json.loads(_encode(value))


def to_json_shallow(value: Any) -> Any:
    """A value as JSON types at its top level only; what it holds is left as it is."""
    kind: Any = type(value)
    if kind is datetime:
        return value.isoformat()
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in wire_fields(kind)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return dict(value) if isinstance(value, Mapping) else list(value)


# Made once: `json.dumps` would make one for each answer.
_encode = json.JSONEncoder(default=to_json_shallow, ensure_ascii=False, separators=(",", ":")).encode


def from_json_value(kind: Any, value: Any) -> Any:
    """A value of this type from its JSON value; raises InvalidInput if it does not fit."""
    try:
        return _from_json(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InvalidInput("the answer", SHAPE) from error


_FROM_PLAIN: Mapping[Any, Any] = {
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    timedelta: lambda seconds: timedelta(seconds=seconds),
    float: float,
}
"""How values are read whose JSON is a string or a number of another type."""


def _from_json(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    inner = get_args(kind)
    if kind is Any or origin is Literal or is_typeddict(kind):
        return value
    if origin in (Union, types.UnionType):
        return _from_json_union(inner, value)
    if hasattr(kind, "__dataclass_fields__"):
        return _from_json_fields(kind, value)
    if kind in _FROM_PLAIN:
        return _FROM_PLAIN[kind](value)
    if origin in (tuple, list, Sequence):
        item_kinds = inner if origin is tuple and inner[-1:] != (...,) else inner[:1] * len(value)
        items = [_from_json(item_kind, item) for item_kind, item in zip(item_kinds, value, strict=True)]
        return tuple(items) if origin is tuple else items
    if origin in (dict, Mapping):
        return {key: _from_json(inner[1], item) for key, item in value.items()}
    if isinstance(kind, type) and kind in (str, int, bool) and not isinstance(value, kind):
        raise TypeError(kind.__name__)
    return value


def _from_json_union(kinds: Sequence[Any], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    options = [kind for kind in kinds if kind is not type(None)]
    if len(options) == 1 or all(get_origin(kind) is Literal for kind in options):
        return _from_json(options[0], value)
    # Of several types, take the one that shares most fields with the value, among those whose required fields it has.
    names = {*value}
    shared_fields = {kind: len(names & {*wire_fields(kind)}) for kind in options if mandatory_fields(kind) <= names}
    if not any(shared_fields.values()):
        raise TypeError("none of these")
    return _from_json(max(shared_fields, key=lambda kind: shared_fields[kind]), value)


def mandatory_fields(kind: Any) -> set[str]:
    return {
        field.name
        for field, _ in _fields_with_types(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }


def _from_json_fields(kind: Any, value: Any) -> Any:
    values = {}
    for field, hint in _fields_with_types(kind):
        if field.name in value:
            values[field.name] = _from_json(hint, value[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(field.name)
    return kind(**values)


@cache
def _fields_with_types(kind: Any) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind)
    return [(field, hints[field.name]) for field in fields_on_the_wire(kind)]

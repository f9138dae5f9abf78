"""A message as a program has it: a draft, or a mapping in the shape of OpenAI's messages.

A mapping has a role and content, as `{"role": "user", "content": "Hi"}`, and may have the fields of a draft. Tool calls
and other parts are kept as the OpenAI endpoint keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from everword.errors import InvalidInput
from everword.model import Draft
from everword.openai.messages import INSTRUCTIONS, check_messages, parse_message, text_of

EXPIRES = "expires"  # as `add` names it
OWN_FIELDS = (frozenset(field.name for field in fields(Draft)) | {EXPIRES}) - {"role", "content"}
WIRE_FIELDS = frozenset(
    {"role", "content", "name", "refusal", "audio", "tool_calls", "tool_call_id", "function_call", "annotations"}
)


def as_draft(message: object) -> Draft:
    """The draft of a message; raises InvalidInput if it is neither a draft nor a mapping with a role and content."""
    if isinstance(message, Draft):
        return message
    if not isinstance(message, Mapping):
        kind = type(message).__name__
        raise InvalidInput("messages", f'has a {kind}; give Draft("user", "Hi") or {{"role": "user", "content": "Hi"}}')
    unknown = sorted(map(str, message.keys() - OWN_FIELDS - WIRE_FIELDS))
    if unknown:
        raise InvalidInput(
            "messages", f"has the unknown field {unknown[0]!r}; known are {', '.join(sorted(OWN_FIELDS | WIRE_FIELDS))}"
        )
    (wire,) = check_messages([{name: message[name] for name in message.keys() & WIRE_FIELDS}])
    if wire["role"] in INSTRUCTIONS:
        draft = Draft("system", text_of(wire))
    else:
        draft = parse_message(wire).draft()
    own: dict[str, Any] = {name: message[name] for name in message.keys() & OWN_FIELDS if message[name] is not None}
    if EXPIRES in own:
        own["expires_at"] = own.pop(EXPIRES)
    metadata = dict(draft.metadata)
    if wire.get("name") is not None:
        metadata["name"] = wire["name"]
    if isinstance(own.get("metadata"), Mapping):
        metadata |= own.pop("metadata")
    return replace(draft, **{"metadata": metadata, **own})

"""The drop-in endpoint in the API's description: the fields that we read; all others are passed on."""

from __future__ import annotations

from typing import Any

from recollect.openai import messages

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": TEXT,
                "type": TEXT,
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
ERRORS = {
    400: "Something in the request is not as it should be.",
    401: "There is no key, or it opens nothing.",
    403: "The key does not open that space, or is another user's.",
    404: "There is no such model.",
    413: "The body is too large.",
    429: "Too many requests, here or at the model's server; `Retry-After` says when to come again.",
    502: "The model's server failed, or sent something that is no answer.",
    503: "No model is configured, or the memory is not available.",
    504: "The model did not answer in time.",
}
EVENT = {"type": "object", "properties": {"data": {"type": "string", "description": "A chunk, an error, or [DONE]."}}}
USAGE = {
    "type": "object",
    "properties": dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), NUMBER),
}
MESSAGES = [{"role": "user", "content": "What is my name?"}]


def request_body(required_names: list[str], properties: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "required": required_names, "properties": properties, "additionalProperties": True}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


def header_parameter(name: str, about: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": about, "schema": TEXT}


CHAT = request_body(
    ["messages"],
    {
        "model": {"type": "string", "description": "A configured model, one of its server, or `recollect`."},
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": messages.MESSAGES,
            "items": {
                "type": "object",
                "required": ["role"],
                "properties": {
                    "role": {"enum": ["system", "developer", "user", "assistant", "tool", "function"]},
                    "content": {"anyOf": [TEXT, {"type": "array", "items": {"type": "object"}}, {"type": "null"}]},
                },
                "additionalProperties": True,
            },
        },
        "stream": {"type": ["boolean", "null"]},
        "user": {"type": ["string", "null"], "description": "Whose memory it is."},
        "recollect": {
            "type": "object",
            "description": "The same as the headers, for clients that can set none.",
            "properties": {
                "conversation": TEXT,
                "space": TEXT,
                "user": TEXT,
                "memory": {"type": "boolean"},
                "budget": {"type": "integer", "minimum": 1},
            },
            "additionalProperties": False,
        },
    },
    {"model": "recollect", "messages": MESSAGES, "user": "alex"},
) | {
    "parameters": [
        header_parameter(
            "X-Recollect-Conversation", "Which conversation; without it, the one that begins as the messages do."
        ),
        header_parameter("X-Recollect-User", "Whose memory it is, if the body does not say."),
        header_parameter("X-Recollect-Memory", "`off`: nothing is shown and nothing is kept."),
        header_parameter("X-Recollect-Budget", "How many tokens the model may be sent."),
    ]
}
EMBEDDING = request_body(
    ["input"],
    {
        "model": TEXT,
        "input": {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 2048}]},
        "encoding_format": {"enum": ["float", "base64"]},
    },
    {"model": "recollect", "input": "two bicycle shops"},
)
COMPLETION = {
    "type": "object",
    "required": ["choices"],
    "properties": {"choices": {"type": "array", "items": {"type": "object"}}, "usage": USAGE},
}
MODEL = {
    "type": "object",
    "required": ["id", "object", "created", "owned_by"],
    "properties": {"id": TEXT, "object": TEXT, "created": NUMBER, "owned_by": TEXT},
}
MODELS = {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": MODEL}}}
EMBEDDINGS = {
    "type": "object",
    "required": ["data", "model", "usage"],
    "properties": {"data": {"type": "array", "items": {"type": "object"}}, "model": TEXT, "usage": USAGE},
}


def responses(answer: dict[str, Any], *, stream: bool = False) -> dict[int | str, dict[str, Any]]:
    """The responses of a route."""
    content: dict[str, Any] = {"application/json": {"schema": answer}}
    if stream:
        content["text/event-stream"] = {"schema": EVENT}
    good: dict[int | str, dict[str, Any]] = {200: {"description": "As OpenAI answers.", "content": content}}
    bad = {
        code: {"description": about, "content": {"application/json": {"schema": ERROR}}}
        for code, about in ERRORS.items()
    }
    return good | bad

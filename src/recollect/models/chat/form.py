"""The form of a request to a server: as rich as the server accepts, found out by trying.

Servers that call themselves compatible differ in what they accept: a JSON Schema, only "some JSON", or neither; the
usage at the end of a stream; a temperature; the limit under its old name or its new one; a limit that leaves room for
thinking. A `Form` is what one server accepts. It starts with everything, each refusal removes one thing, and the form
that worked is remembered.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recollect.model import ChatMessage
from recollect.ports import Request

SHAPES = ("json_schema", "json_object", "words")
DOUBTFUL = (400, 404, 422)  # HTTP states that may mean: not in this form
ABOUT_CONTEXT = re.compile(r"context[_ ](?:length|window|size)", re.IGNORECASE)
ABOUT_LIMIT = re.compile(
    rf"max(?:imum)?[_ ](?:completion[_ ]|output[_ ]|new[_ ])?tokens|(?:output|completion) tokens"
    rf"|{ABOUT_CONTEXT.pattern}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Form:
    """What a server accepts, as far as is known. `refused_limit` is the smallest limit of tokens it has refused."""

    shape: str = SHAPES[0]
    usage: bool = True
    temperature: bool = True
    limit: str = "max_tokens"
    refused_limit: int | None = None

    def simpler_form(self, request: Request, stream: bool, status: int, server_text: str) -> Form | None:
        """The form to try after a refusal; None if the form cannot have been the reason.

        What the server names in its refusal is dropped first. If it names nothing, the schema is dropped first.
        """
        if status not in DOUBTFUL:
            return None
        if request.max_tokens is not None and self.limit == "max_tokens" and "max_completion_tokens" in server_text:
            return replace(self, limit="max_completion_tokens")
        if self._has_thinking_tokens(request) and ABOUT_LIMIT.search(server_text):
            return replace(self, refused_limit=request.token_limit)
        if request.temperature is not None and self.temperature and "temperature" in server_text:
            return replace(self, temperature=False)
        asked_usage = stream and self.usage and status != 404
        if asked_usage and ("stream_options" in server_text or "include_usage" in server_text):
            return replace(self, usage=False)
        if request.schema is not None and self.shape != SHAPES[-1]:
            return replace(self, shape=SHAPES[SHAPES.index(self.shape) + 1])
        return replace(self, usage=False) if asked_usage else None

    def body(self, model: str, request: Request, stream: bool) -> dict[str, Any]:
        """The request in this form."""
        body: dict[str, Any] = {"model": model, "messages": self._messages(request), "stream": stream}
        if request.temperature is not None and self.temperature:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[self.limit] = request.token_limit if self._has_thinking_tokens(request) else request.max_tokens
        if stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        if request.schema is not None and self.shape == "json_schema":
            schema = {"name": "answer", "schema": dict(request.schema), "strict": is_strict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.shape == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _has_thinking_tokens(self, request: Request) -> bool:
        """Whether a request in this form leaves the model room for thinking."""
        limit = request.token_limit
        return limit is not None and request.thinking_tokens > 0 and limit < (self.refused_limit or math.inf)

    def _messages(self, request: Request) -> list[ChatMessage]:
        messages = [ChatMessage(role=m["role"], content=replace_surrogates(m["content"])) for m in request.messages]
        if request.schema is None or self.shape == "json_schema":
            return messages
        instruction = schema_instruction(request.schema)
        systems = [place for place, message in enumerate(messages) if message["role"] == "system"]
        if not systems:
            return [ChatMessage(role="system", content=instruction), *messages]
        last = messages[systems[-1]]
        messages[systems[-1]] = ChatMessage(role="system", content=f"{last['content']}\n\n{instruction}")
        return messages


def schema_instruction(schema: Mapping[str, Any]) -> str:
    """An instruction for a server that cannot guarantee the schema."""
    return (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It must follow this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
    )


def is_strict(schema: object) -> bool:
    """Whether every object in a schema is closed: OpenAI guarantees such schemas, and rejects others in strict mode."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        is_closed_object = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
            properties
        )
        return is_closed_object and all(is_strict(item) for item in properties.values())
    return all(is_strict(item) for item in schema.values())


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")

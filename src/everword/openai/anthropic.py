"""Anthropic's Messages API over a model's server that speaks chat completions only.

`chat_body` writes a request as one of chat completions: fields that both have, and unknown ones, are passed on as they
are; hints for a cache are left out. A budget of thinking is passed on as an effort; the request is repeated without it
if the server refuses that. Earlier blocks of thinking are left out, as the model's own; what a server calls reasoning
comes back as a block of it. Tools that Anthropic runs itself and files by id are refused. `MessageWriter` writes the
answer, whole and in events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from everword.errors import InvalidInput
from everword.openai.request_layouts import (
    THOUGHTS,
    Block,
    BlockWriter,
    Event,
    Fields,
    content_blocks,
    result_text,
    tool_call,
)
from everword.strict_json import UnreadableJson, read_json

OWN = (
    "messages", "system", "max_tokens", "metadata", "stop_sequences", "thinking", "tools", "tool_choice", "betas",
    "output_config", "output_format",
)  # fmt: skip
NEEDS_ANTHROPIC_API = "needs a model server with Anthropic's API and the setting EVERWORD_CHAT_APIS=messages"
EFFORT = "reasoning_effort"
EFFORTS = ((2_000, "low"), (8_000, "medium"))  # by the tokens for thinking; more is "high"
CHOICES = {"auto": "auto", "any": "required", "none": "none"}
REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


def check_messages(body: Fields) -> list[Fields]:
    """The messages of a request; raises InvalidInput if they have not the API's shape."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("messages", "must be a list with at least one message")
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            raise InvalidInput(f"messages[{number}].role", "must be user or assistant")
        check_content(f"messages[{number}].content", message.get("content"))
        for place, block in enumerate(content_blocks(message["content"])):
            if block.get("type") == "tool_result":
                check_content(f"messages[{number}].content[{place}].content", block.get("content") or "")
    if not isinstance(body.get("max_tokens"), int) or isinstance(body["max_tokens"], bool):
        raise InvalidInput("max_tokens", "must be a whole number")
    if body.get("system"):
        check_content("system", body["system"])
    return messages


def check_content(field_path: str, content: Any) -> None:
    is_blocks = isinstance(content, list) and all(isinstance(block, dict) for block in content)
    if not isinstance(content, str) and not is_blocks:
        raise InvalidInput(field_path, "must be text or a list of blocks")
    for number, block in enumerate(content_blocks(content)):
        if not isinstance(block.get("text") or "", str):
            raise InvalidInput(f"{field_path}[{number}].text", "must be text")


def chat_body(body: Fields) -> Fields:
    """A request as one of chat completions."""
    chat = {name: value for name, value in body.items() if name not in OWN}
    messages = chat_messages(check_messages(body))
    orders = result_text({"content": body.get("system")})
    chat["messages"] = [{"role": "system", "content": orders}, *messages] if orders else messages
    chat["max_completion_tokens"] = body["max_tokens"]
    if body.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    if tools := body.get("tools"):
        if not isinstance(tools, list):
            raise InvalidInput("tools", "must be a list")
        chat["tools"] = [chat_tool(number, tool) for number, tool in enumerate(tools)]
    return chat | tool_choice(body.get("tool_choice")) | reply_format(body) | thinking_effort(body.get("thinking"))


def thinking_effort(thinking: Any) -> Fields:
    """How much a model is to think, as chat completions say it, if the request gives a budget."""
    tokens = thinking.get("budget_tokens") if isinstance(thinking, dict) and thinking.get("type") == "enabled" else None
    if not isinstance(tokens, int):
        return {}
    return {EFFORT: next((effort for most, effort in EFFORTS if tokens <= most), "high")}


def reply_format(body: Fields) -> Fields:
    """The JSON schema that the reply is to have, if the request gives one."""
    options = body.get("output_config") or {}
    form = body.get("output_format") or (options.get("format") if isinstance(options, dict) else options)
    if not form:
        return {}
    if not isinstance(form, dict) or form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        raise InvalidInput("output_config.format", "must be an object with the type json_schema and a schema")
    schema = {"name": "reply", "schema": form["schema"], "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def chat_tool(number: int, tool: Any) -> Fields:
    if not isinstance(tool, dict) or tool.get("type") not in (None, "custom"):
        raise InvalidInput(f"tools[{number}]", f"is a tool that Anthropic runs itself, which {NEEDS_ANTHROPIC_API}")
    names = {"name": "name", "description": "description", "input_schema": "parameters", "strict": "strict"}
    return {"type": "function", "function": {names[name]: value for name, value in tool.items() if name in names}}


def tool_choice(choice: Any) -> Fields:
    if choice is None:
        return {}
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind == "tool":
        options: Fields = {"tool_choice": {"type": "function", "function": {"name": choice.get("name")}}}
    elif kind in CHOICES:
        options = {"tool_choice": CHOICES[kind]}
    else:
        raise InvalidInput("tool_choice", "must be an object with the type auto, any, tool or none")
    return options | ({"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {})


def chat_messages(messages: list[Fields]) -> list[Fields]:
    """Messages as those of chat completions: results of tools are messages of their own."""
    chat: list[Fields] = []
    for number, message in enumerate(messages):
        blocks = content_blocks(message["content"])
        parts: list[Fields] = []
        for place, block in enumerate(blocks):
            if block.get("type") == "tool_result":
                id = block.get("tool_use_id")
                chat.append({"role": "tool", "tool_call_id": id, "content": result_text(block)})
                others = [part for part in content_blocks(block.get("content")) if part.get("type") != "text"]
                parts += [chat_part(number, place, part) for part in others]
            elif block.get("type") not in ("tool_use", *THOUGHTS):
                parts.append(chat_part(number, place, block))
        calls = [tool_call(b.get("id"), b.get("name"), b.get("input")) for b in blocks if b.get("type") == "tool_use"]
        if parts or calls:
            content = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts or None
            chat.append({"role": message["role"], "content": content, **({"tool_calls": calls} if calls else {})})
    return chat


def chat_part(number: int, place: int, block: Fields) -> Fields:
    kind = block.get("type")
    block_source = block.get("source")
    source: Fields = block_source if isinstance(block_source, dict) else {}
    if kind == "text":
        return {"type": "text", "text": block.get("text") or ""}
    if kind == "image" and source.get("type") in ("base64", "url"):
        return {"type": "image_url", "image_url": {"url": source_url(source)}}
    if kind == "document" and source.get("type") == "text":
        return {"type": "text", "text": source.get("data") or ""}
    if kind == "document" and source.get("type") == "base64":
        file = {"filename": block.get("title") or "document", "file_data": source_url(source)}
        return {"type": "file", "file": file}
    raise InvalidInput(f"messages[{number}].content[{place}]", f"is of the type {kind!r}, which {NEEDS_ANTHROPIC_API}")


def source_url(source: Fields) -> str:
    if source["type"] == "url":
        return str(source.get("url"))
    return f"data:{source.get('media_type')};base64,{source.get('data')}"


# -- the answer


class MessageWriter(BlockWriter):
    """Writes a reply as a message. `tokens` are those of the prompt, as far as they are known at its beginning."""

    def __init__(self, id: str, body: Mapping[str, Any], tokens: int) -> None:
        super().__init__()
        self._id = id
        self._body = body
        self._tokens = tokens

    def begin(self) -> Iterator[Event]:
        yield {"type": "message_start", "message": self._frame([], None)}

    def open_block(self, block: Block) -> Iterator[Event]:
        content = block_content(block, with_text=False)
        yield {"type": "content_block_start", "index": block.place, "content_block": content}

    def write_piece(self, block: Block, text: str) -> Iterator[Event]:
        kind, name = DELTAS.get(block.kind, ("text_delta", "text"))
        yield {"type": "content_block_delta", "index": block.place, "delta": {"type": kind, name: text}}

    def close_block(self, block: Block) -> Iterator[Event]:
        yield {"type": "content_block_stop", "index": block.place}

    def last(self) -> Iterator[Event]:
        message = self.document()
        delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
        yield {"type": "message_stop"}

    def document(self) -> dict[str, Any]:
        content = [block_content(block, with_text=True) for block in self.blocks]
        return self._frame(content, REASONS.get(self.finish_reason, "end_turn"))

    def _frame(self, content: list[Fields], stop_reason: str | None) -> dict[str, Any]:
        cached_tokens = (self.usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        tokens = (self.usage.get("prompt_tokens") or self._tokens) - cached_tokens
        usage = {"input_tokens": tokens, "output_tokens": self.usage.get("completion_tokens") or 0}
        usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": cached_tokens}
        model = self.model or str(self._body.get("model") or "")
        frame = {"id": self._id, "type": "message", "role": "assistant", "model": model, "content": content}
        return frame | {"stop_reason": stop_reason, "stop_sequence": None, "usage": usage}


DELTAS = {
    "thinking": ("thinking_delta", "thinking"),
    "call": ("input_json_delta", "partial_json"),
    "custom": ("input_json_delta", "partial_json"),
}


def block_content(block: Block, *, with_text: bool) -> Fields:
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": block.text if with_text else "", "signature": ""}
    if block.kind in ("call", "custom"):
        arguments = read_arguments(block.text) if with_text else {}
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}
    return {"type": "text", "text": block.text if with_text else ""}


def read_arguments(text: str) -> Any:
    """The arguments of a call. What is not JSON is kept as text, as a model may have been cut off."""
    try:
        return read_json(text) if text.strip() else {}
    except UnreadableJson:
        return {"arguments": text}

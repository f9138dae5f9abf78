"""OpenAI's Responses API over a model's server that speaks chat completions only.

`chat_body` writes a request as one of chat completions: fields that both have, and unknown ones, are passed on as they
are. What chat completions cannot do (tools that OpenAI runs itself, files by id, work in the background) is refused,
never left out. `ResponseWriter` writes the answer, whole and in events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from everword.errors import InvalidInput
from everword.openai.request_layouts import Block, BlockWriter, Event, Fields, item_call, response_items

OWN = (
    "input", "instructions", "previous_response_id", "conversation", "text", "reasoning", "max_output_tokens", "tools",
    "tool_choice", "store", "metadata", "include", "truncation", "background", "stream_options", "max_tool_calls",
    "prompt",
)  # fmt: skip
NEEDS_RESPONSES_API = "needs a model server with the Responses API and the setting EVERWORD_CHAT_APIS=responses"
ECHOED: Mapping[str, Any] = {
    "instructions": None, "max_output_tokens": None, "metadata": {}, "parallel_tool_calls": True,
    "previous_response_id": None, "reasoning": {"effort": None, "summary": None}, "temperature": None,
    "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": None, "truncation": "disabled",
}  # fmt: skip


def check_items(body: Fields) -> list[Fields]:
    """The items of a request's input; raises InvalidInput if they have not the API's shape."""
    items = body.get("input")
    if not items or not isinstance(items, str | list):
        raise InvalidInput("input", "must be text or a list of items")
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            raise InvalidInput(f"input[{number}]", "must be an object")
        content = item.get("content")
        if item.get("role") and not (
            isinstance(content, str) or (isinstance(content, list) and all(isinstance(p, dict) for p in content))
        ):
            raise InvalidInput(f"input[{number}].content", "must be text or a list of parts")
    return response_items(body)


def chat_body(body: Fields) -> Fields:
    """A request as one of chat completions."""
    for name in ("background", "prompt"):
        if body.get(name):
            raise InvalidInput(name, NEEDS_RESPONSES_API)
    chat = {name: value for name, value in body.items() if name not in OWN}
    chat["messages"] = chat_messages(body)
    if body.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    if body.get("max_output_tokens") is not None:
        chat["max_completion_tokens"] = body["max_output_tokens"]
    if tools := [chat_tool(number, tool) for number, tool in enumerate(list_of(body, "tools"))]:
        chat["tools"] = tools
    if body.get("tool_choice") is not None:
        chat["tool_choice"] = chat_choice(body["tool_choice"])
    return chat | text_options(body)


def list_of(body: Fields, name: str) -> list[Fields]:
    values = body.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InvalidInput(name, "must be a list of objects")
    return values


def fields_of(body: Fields, name: str) -> Fields:
    fields = body.get(name) or {}
    if not isinstance(fields, dict):
        raise InvalidInput(name, "must be an object")
    return fields


def text_options(body: Fields) -> Fields:
    """How the reply is to be: its format, how long, and how much reasoning_tokens goes before it."""
    text, options = fields_of(body, "text"), Fields()
    form = fields_of(text, "format")
    if form.get("type") == "json_schema":
        options["response_format"] = {"type": "json_schema", "json_schema": without(form, "type")}
    elif form.get("type") not in (None, "text"):
        options["response_format"] = form
    if text.get("verbosity"):
        options["verbosity"] = text["verbosity"]
    if effort := fields_of(body, "reasoning").get("effort"):
        options["reasoning_effort"] = effort
    return options


def without(fields: Fields, *names: str) -> Fields:
    return {name: value for name, value in fields.items() if name not in names}


def chat_tool(number: int, tool: Fields) -> Fields:
    kind = tool.get("type")
    if kind not in ("function", "custom"):
        raise InvalidInput(f"tools[{number}].type", f"is {kind!r}, which {NEEDS_RESPONSES_API}")
    return {"type": kind, kind: without(tool, "type")}


def chat_choice(choice: Any) -> Any:
    if isinstance(choice, dict) and choice.get("type") in ("function", "custom"):
        return {"type": choice["type"], choice["type"]: without(choice, "type")}
    if not isinstance(choice, str):
        raise InvalidInput("tool_choice", f"chooses a tool that {NEEDS_RESPONSES_API}")
    return choice


def chat_messages(body: Fields) -> list[Fields]:
    """The messages of a request. What a model did in one turn, its text and its calls, are one message."""
    orders = body.get("instructions")
    messages: list[Fields] = [{"role": "system", "content": orders}] if isinstance(orders, str) and orders else []
    for number, item in enumerate(check_items(body)):
        message = chat_message(number, item)
        before = messages[-1] if messages else {}
        if message is None:
            continue
        if message.get("tool_calls") and before.get("role") == "assistant":
            messages[-1] = {**before, "tool_calls": [*before.get("tool_calls", []), *message["tool_calls"]]}
        else:
            messages.append(message)
    return messages


def chat_message(number: int, item: Fields) -> Fields | None:
    """An item as a message; None for thoughts, which chat completions cannot take back."""
    kind = item.get("type") or "message"
    if kind == "message":
        if item.get("role") not in ("system", "developer", "user", "assistant"):
            raise InvalidInput(f"input[{number}].role", "must be one of system, developer, user, assistant")
        return {"role": item["role"], "content": chat_content(f"input[{number}].content", item.get("content"))}
    if kind == "reasoning":
        return None
    if kind == "function_call":
        return {"role": "assistant", "content": None, "tool_calls": [item_call(item)]}
    if kind == "custom_tool_call":
        call = {"name": item.get("name"), "input": item.get("input") or ""}
        calls = [{"id": item.get("call_id"), "type": "custom", "custom": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if kind in ("function_call_output", "custom_tool_call_output"):
        content = chat_content(f"input[{number}].output", item.get("output"))
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    raise InvalidInput(f"input[{number}].type", f"is {kind!r}, which {NEEDS_RESPONSES_API}")


def chat_content(field_path: str, content: Any) -> Any:
    """Text, or parts. Several texts of a reply stay parts; one alone is text, as more servers take it."""
    if not isinstance(content, list):
        return content
    parts = [chat_part(f"{field_path}[{number}]", part) for number, part in enumerate(content)]
    return parts[0]["text"] if len(parts) == 1 and parts[0].get("type") == "text" else parts


def chat_part(field_path: str, part: Any) -> Fields:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("input_text", "output_text"):
        return {"type": "text", "text": part.get("text") or ""}
    if kind in ("input_image", "input_file") and part.get("file_id"):
        raise InvalidInput(field_path, f"refers to a file by its ID, which {NEEDS_RESPONSES_API}")
    if kind == "input_image":
        detail = {"detail": part["detail"]} if part.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": part.get("image_url"), **detail}}
    if kind == "input_file":
        return {"type": "file", "file": without(part, "type")}
    if not isinstance(part, dict):
        raise InvalidInput(field_path, "must be an object")
    return part


# -- the answer


class ResponseWriter(BlockWriter):
    """Writes a reply as a response. `new_id` makes the ids of its items."""

    def __init__(self, id: str, created: int, body: Mapping[str, Any], new_id: Callable[[], str]) -> None:
        super().__init__()
        self._id = id
        self._created = created
        self._body = body
        self._new_id = new_id
        self._item_ids: dict[int, str] = {}
        self._count = 0

    def _event(self, kind: str, **fields: Any) -> Event:
        self._count += 1
        return {"type": f"response.{kind}", "sequence_number": self._count - 1, **fields}

    def begin(self) -> Iterator[Event]:
        frame = self._frame("in_progress", [])
        yield self._event("created", response=frame)
        yield self._event("in_progress", response=frame)

    def open_block(self, block: Block) -> Iterator[Event]:
        self._item_ids[block.place] = f"{PREFIXES[block.kind]}_{self._new_id()}"
        item = self._item(block, "in_progress") | ({"content": []} if block.kind not in CALLS else {})
        yield self._event("output_item.added", output_index=block.place, item=item)
        if block.kind in PARTS:
            yield self._event("content_part.added", **self._place(block), part=part_of(block))

    def write_piece(self, block: Block, text: str) -> Iterator[Event]:
        extra_fields: dict[str, Any] = {"logprobs": []} if block.kind == "text" else {}
        yield self._event(f"{DELTAS[block.kind]}.delta", **self._place(block), delta=text, **extra_fields)

    def close_block(self, block: Block) -> Iterator[Event]:
        extra_fields: dict[str, Any] = {DONE[block.kind]: block.text}
        if block.kind == "text":
            extra_fields["logprobs"] = []
        elif block.kind == "call":
            extra_fields["name"] = block.name
        yield self._event(f"{DELTAS[block.kind]}.done", **self._place(block), **extra_fields)
        if block.kind in PARTS:
            yield self._event("content_part.done", **self._place(block), part=part_of(block))
        yield self._event("output_item.done", output_index=block.place, item=self._item(block, "completed"))

    def last(self) -> Iterator[Event]:
        document = self.document()
        yield self._event(document["status"], response=document)

    def document(self) -> dict[str, Any]:
        reason = CUTS.get(self.finish_reason)
        status = "incomplete" if reason else "completed"
        items = [self._item(block, "completed") for block in self.blocks]
        document = self._frame(status, items)
        document["incomplete_details"] = {"reason": reason} if reason else None
        return document | {"usage": response_usage(self.usage)}

    def _place(self, block: Block) -> dict[str, Any]:
        place = {"item_id": self._item_ids[block.place], "output_index": block.place}
        return place if block.kind in CALLS else {**place, "content_index": 0}

    def _frame(self, status: str, items: Sequence[Fields]) -> dict[str, Any]:
        echo_fields = {
            name: usual if self._body.get(name) is None else self._body[name] for name, usual in ECHOED.items()
        }
        frame = {"id": self._id, "object": "response", "created_at": self._created, "status": status}
        model = self.model or str(self._body.get("model") or "")
        frame |= {"error": None, "incomplete_details": None, "model": model, "output": list(items)}
        return frame | echo_fields | {"store": True, "user": self._body.get("user"), "usage": None}

    def _item(self, block: Block, status: str) -> Fields:
        id = self._item_ids[block.place]
        if block.kind == "thinking":
            return {"id": id, "type": "reasoning", "summary": [], "content": [part_of(block)]}
        if block.kind in CALLS:
            call = {"call_id": block.id, "name": block.name, DONE[block.kind]: block.text}
            return {"id": id, "type": CALLS[block.kind], "status": status, **call}
        content = [part_of(block)]
        return {"id": id, "type": "message", "status": status, "role": "assistant", "content": content}


CALLS = {"call": "function_call", "custom": "custom_tool_call"}
PARTS = ("text", "refusal")
PREFIXES = {"thinking": "rs", "text": "msg", "refusal": "msg", "call": "fc", "custom": "ctc"}
DELTAS = {
    "thinking": "reasoning_text",
    "text": "output_text",
    "refusal": "refusal",
    "call": "function_call_arguments",
    "custom": "custom_tool_call_input",
}
DONE = {"thinking": "text", "text": "text", "refusal": "refusal", "call": "arguments", "custom": "input"}
CUTS = {"length": "max_output_tokens", "content_filter": "content_filter"}


def part_of(block: Block) -> Fields:
    if block.kind == "thinking":
        return {"type": "reasoning_text", "text": block.text}
    if block.kind == "refusal":
        return {"type": "refusal", "refusal": block.text}
    return {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}


def response_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The usage as this API names it."""
    cached_tokens = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    reasoning_tokens = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    counts = {"input_tokens": usage.get("prompt_tokens") or 0, "output_tokens": usage.get("completion_tokens") or 0}
    return {
        **counts,
        "input_tokens_details": {"cached_tokens": cached_tokens, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
        "total_tokens": sum(counts.values()),
    }

"""What the memory reads of a request and a reply of each API, and where it puts its texts. All else stays as it is.

A `Shape` reads plain data, as it travels: messages come out as OpenAI's chat completions write them, which the log
keeps. The memory's texts are added beside a program's messages: what lasts after the instructions at the beginning,
what is about the question right before it. Nothing of the request is changed, moved or left out.

A reply of chat completions goes into another API in blocks: thoughts, text, calls of tools. A whole reply is one chunk.
A block of thoughts or text ends when another begins; calls stay open until the reply ends, since a server may send
theirs in turn. `BlockWriter` keeps what came, and a subclass writes the events of its API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everword.openai.messages import INSTRUCTIONS

Fields = dict[str, Any]
THOUGHTS = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class Collector:
    """Puts the events of a stream together: text, and calls of tools by their place."""

    read: Callable[[Fields], Iterator[tuple[int | None, Fields]]]
    text: str = ""
    calls: dict[int, Fields] = field(default_factory=dict)

    def add(self, event: Fields) -> None:
        for place, part in self.read(event):
            if place is None:
                self.text += part["text"]
                continue
            call = self.calls.setdefault(
                place, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            )
            call["id"] = part.get("id") or call["id"]
            call["function"]["name"] += part.get("name") or ""
            call["function"]["arguments"] += part.get("arguments") or ""

    def message(self) -> Fields:
        calls = [self.calls[place] for place in sorted(self.calls)]
        return {"content": self.text, **({"tool_calls": calls} if calls else {})}


@dataclass(frozen=True, slots=True)
class Shape:
    """How an API writes messages: those of a request, where texts of the memory are put, a reply, and a stream."""

    messages: Callable[[Fields], list[Fields]]
    with_texts: Callable[[Fields, Sequence[str]], Fields]
    reply: Callable[[Fields], Fields]
    read_event: Callable[[Fields], Iterator[tuple[int | None, Fields]]]

    def collector(self) -> Collector:
        return Collector(self.read_event)


def tool_call(id: Any, name: Any, arguments: Any) -> Fields:
    content = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": str(id or ""), "type": "function", "function": {"name": str(name or ""), "arguments": content}}


def role_of(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)


def beside_question(messages: Sequence[Any], texts: Sequence[str], role: str) -> list[Any]:
    """Messages of a program with those of the memory: what lasts after the instructions they begin with, the rest right
    before the last message of the user."""
    memory_messages = [{"role": role, "content": text} for text in texts]
    roles = [role_of(message) for message in messages]
    start = next((place for place, speaker in enumerate(roles) if speaker not in INSTRUCTIONS), len(roles))
    question = max((place for place, speaker in enumerate(roles) if speaker == "user"), default=start)
    question = max(question, start)
    return [
        *messages[:start],
        *memory_messages[:1],
        *messages[start:question],
        *memory_messages[1:],
        *messages[question:],
    ]


# -- OpenAI's chat completions


def chat_messages(fields: Fields) -> list[Fields]:
    return list(fields["messages"])


def chat_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    role = next((role for role in map(role_of, fields["messages"]) if role in INSTRUCTIONS), "system")
    return {**fields, "messages": beside_question(fields["messages"], texts, role)}


def chat_reply(response: Fields) -> Fields:
    message: Fields = response["choices"][0]["message"]
    return message


def chat_event(event: Fields) -> Iterator[tuple[int | None, Fields]]:
    for choice in event.get("choices") or ():
        delta = choice.get("delta")
        if choice.get("index") == 0 and delta is not None:
            yield None, {"text": delta.get("content") or ""}
            for part in delta.get("tool_calls") or ():
                function = part.get("function") or {}
                call = {"id": part.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}
                yield part["index"], call


# -- OpenAI's responses


def response_items(fields: Fields) -> list[Any]:
    items = fields.get("input") or ""
    return [{"role": "user", "content": items}] if isinstance(items, str) else list(items)


def response_messages(fields: Fields) -> list[Fields]:
    """The messages of a request. What a model did in one turn, its text and its calls, are one message."""
    messages: list[Fields] = []
    for item in response_items(fields):
        message = item_message(item)
        if message is None:
            continue
        before = messages[-1] if messages else {}
        if message["role"] == "assistant" and message.get("tool_calls") and before.get("role") == "assistant":
            messages[-1] = {**before, "tool_calls": [*before.get("tool_calls", []), *message["tool_calls"]]}
        else:
            messages.append(message)
    return messages


def item_message(item: Fields) -> Fields | None:
    """An item of OpenAI's responses as a message; None for one that says nothing, as thoughts."""
    if item.get("role"):
        return item
    if item.get("type") == "function_call":
        return {"role": "assistant", "content": "", "tool_calls": [item_call(item)]}
    if item.get("type") == "function_call_output":
        output = item.get("output")
        content = output if isinstance(output, str) else json.dumps(output)
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    return None


def item_call(item: Fields) -> Fields:
    return tool_call(item.get("call_id"), item.get("name"), item.get("arguments") or "")


def response_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    return {**fields, "input": beside_question(response_items(fields), texts, "developer")}


def response_reply(response: Fields) -> Fields:
    items: list[Fields] = response.get("output") or []
    parts = [part for item in items if item.get("type") == "message" for part in item.get("content") or ()]
    text = "".join(part.get("text") or "" for part in parts if part.get("type") == "output_text")
    calls = [item_call(item) for item in items if item.get("type") == "function_call"]
    return {"content": text, **({"tool_calls": calls} if calls else {})}


def response_event(event: Fields) -> Iterator[tuple[int | None, Fields]]:
    item = event.get("item") or {}
    if event.get("type") == "response.output_text.delta":
        yield None, {"text": event["delta"]}
    elif event.get("type") == "response.output_item.done" and item.get("type") == "function_call":
        call = {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments")}
        yield event["output_index"], call


# -- Anthropic's messages


def anthropic_messages(fields: Fields) -> list[Fields]:
    return [part for message in fields["messages"] for part in block_messages(message)]


def content_blocks(content: Any) -> list[Fields]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def result_text(block: Fields) -> str:
    return "\n".join(part.get("text") or "" for part in content_blocks(block.get("content")))


def block_messages(message: Fields) -> Iterator[Fields]:
    """A message of Anthropic's: results of tools are messages of their own, before what else it says."""
    blocks = content_blocks(message.get("content"))
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": result_text(block)}
    calls = [tool_call(b.get("id"), b.get("name"), b.get("input")) for b in blocks if b.get("type") == "tool_use"]
    spoken_blocks = [b for b in blocks if b.get("type") not in ("tool_result", "tool_use", *THOUGHTS)]
    if spoken_blocks or calls:
        yield {"role": message.get("role"), "content": spoken_blocks, **({"tool_calls": calls} if calls else {})}


def anthropic_with_texts(fields: Fields, texts: Sequence[str]) -> Fields:
    """Anthropic's API has instructions beside the messages, not among them."""
    own_system = fields.get("system")
    own_system = own_system if isinstance(own_system, str | list | tuple) else ()  # the library has a value for "none"
    blocks = content_blocks(own_system) if own_system else []
    memory_blocks = [{"type": "text", "text": text} for text in texts]
    return {**fields, "system": [*blocks, *memory_blocks]} if memory_blocks else fields


def anthropic_reply(response: Fields) -> Fields:
    return next(block_messages({"role": "assistant", "content": response.get("content")}), {"content": ""})


def anthropic_event(event: Fields) -> Iterator[tuple[int | None, Fields]]:
    block = event.get("content_block") or {}
    delta = event.get("delta") or {}
    if event.get("type") == "content_block_start" and block.get("type") == "tool_use":
        yield event["index"], {"id": block.get("id"), "name": block.get("name")}
    elif event.get("type") == "content_block_delta" and delta.get("type") == "text_delta":
        yield None, {"text": delta["text"]}
    elif event.get("type") == "content_block_delta" and delta.get("type") == "input_json_delta":
        yield event["index"], {"arguments": delta["partial_json"]}


CHAT = Shape(chat_messages, chat_with_texts, chat_reply, chat_event)
RESPONSES = Shape(response_messages, response_with_texts, response_reply, response_event)
ANTHROPIC = Shape(anthropic_messages, anthropic_with_texts, anthropic_reply, anthropic_event)


REASONING = ("reasoning_content", "reasoning")  # where servers put what a model thinks
Event = dict[str, Any]


@dataclass(slots=True)
class Block:
    """One part of a reply. `kind` is thinking, text, refusal, call or custom; `id` and `name` are those of a call."""

    kind: str
    place: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class BlockWriter:
    """Writes the events of one reply."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.model = ""
        self.finish_reason = "stop"
        self.usage: Mapping[str, Any] = {}
        self._open: Block | None = None
        self._calls: dict[int, Block] = {}

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Event]:
        """The events of a chunk, or of a whole reply."""
        self.model = self.model or str(chunk.get("model") or "")
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            message = choice.get("delta") or choice.get("message") or {}
            yield from self._feed_texts(message)
            for number, part in enumerate(message.get("tool_calls") or ()):
                yield from self._feed_call(part.get("index", number), part)
            self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def end(self) -> Iterator[Event]:
        """The events that close what is open."""
        yield from self._close_text()
        for block in self._calls.values():
            yield from self.close_block(block)

    def _feed_texts(self, message: Mapping[str, Any]) -> Iterator[Event]:
        thoughts = next((message[name] for name in REASONING if isinstance(message.get(name), str)), "")
        for kind, text in (
            ("thinking", thoughts),
            ("text", message.get("content")),
            ("refusal", message.get("refusal")),
        ):
            if not isinstance(text, str) or not text:
                continue
            if self._open is None or self._open.kind != kind:
                yield from self._close_text()
                self._open = self._add_block(Block(kind, len(self.blocks)))
                yield from self.open_block(self._open)
            yield from self._add_piece(self._open, text)

    def _feed_call(self, index: int, part: Mapping[str, Any]) -> Iterator[Event]:
        kind = "custom" if "custom" in part or part.get("type") == "custom" else "call"
        details = part.get("custom" if kind == "custom" else "function") or {}
        block = self._calls.get(index)
        if block is None:
            yield from self._close_text()
            id, name = str(part.get("id") or f"call_{index}"), str(details.get("name") or "")
            block = self._calls[index] = self._add_block(Block(kind, len(self.blocks), id, name))
            yield from self.open_block(block)
        text = details.get("input" if kind == "custom" else "arguments")
        if isinstance(text, str) and text:
            yield from self._add_piece(block, text)

    def _add_block(self, block: Block) -> Block:
        self.blocks.append(block)
        return block

    def _add_piece(self, block: Block, text: str) -> Iterator[Event]:
        block.pieces.append(text)
        yield from self.write_piece(block, text)

    def _close_text(self) -> Iterator[Event]:
        if self._open is not None:
            block, self._open = self._open, None
            yield from self.close_block(block)

    def whole(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """A reply that came as a whole."""
        for _ in (*self.begin(), *self.feed(reply), *self.end()):
            pass
        return self.document()

    # -- what an API writes

    def begin(self) -> Iterator[Event]:
        """The events before the first block."""
        raise NotImplementedError

    def open_block(self, block: Block) -> Iterator[Event]:
        raise NotImplementedError

    def write_piece(self, block: Block, text: str) -> Iterator[Event]:
        raise NotImplementedError

    def close_block(self, block: Block) -> Iterator[Event]:
        raise NotImplementedError

    def last(self) -> Iterator[Event]:
        """The events after the last block."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """The reply as a whole."""
        raise NotImplementedError

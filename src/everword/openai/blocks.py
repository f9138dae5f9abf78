"""A reply of chat completions on its way into another API, which sends it in blocks: thoughts, text, calls of tools.

A whole reply is one chunk. A block of thoughts or text ends when another begins; calls stay open until the reply ends,
since a server may send theirs in turn. `BlockWriter` keeps what came, and a subclass writes the events of its API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

THOUGHTS = ("reasoning_content", "reasoning")  # where servers put what a model thinks
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
        thoughts = next((message[name] for name in THOUGHTS if isinstance(message.get(name), str)), "")
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

"""A model's server on loopback for real coding agents: answers every request in the provider's own stream, and keeps
what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True
    reply = "Understood."

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def prompts(self) -> list[str]:
        """What the model was sent, as text, oldest first; without requests that are about something else."""
        ways = ("/messages", "/responses", "/chat/completions", "streamGenerateContent", ":generateContent")
        return [json.dumps(body, ensure_ascii=False) for path, body in self.requests if any(w in path for w in ways)]


class Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:
        self.answer("application/json", b"{}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else {}
        self.server.requests.append((self.path, body))
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self.stream(anthropic_events(self.server.reply))
        elif path.endswith("/responses"):
            self.stream(responses_events(self.server.reply))
        elif path.endswith("/chat/completions"):
            self.stream(completions_events(self.server.reply))
        elif path.endswith(":streamGenerateContent"):
            self.stream([("", gemini_answer(self.server.reply))])
        elif path.endswith(":generateContent"):
            self.answer("application/json", json.dumps(gemini_answer(self.server.reply)).encode())
        else:
            self.answer("application/json", b"{}")

    def stream(self, events: list[tuple[str, Any]]) -> None:
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in events]
        self.answer("text/event-stream", "".join(lines).encode())

    def answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def anthropic_events(text: str) -> list[tuple[str, Any]]:
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    message |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


def responses_events(text: str) -> list[tuple[str, Any]]:
    item: dict[str, Any] = {"id": "i", "type": "message", "role": "assistant", "status": "completed"}
    item |= {"content": [{"type": "output_text", "text": text, "annotations": []}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    response = {"id": "r", "object": "response", "status": "completed", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "i", "delta": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return [(event["type"], event) for event in events]


def completions_events(text: str) -> list[tuple[str, Any]]:
    def chunk(delta: dict[str, Any], end: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    return [("", chunk({"role": "assistant", "content": text}, None)), ("", chunk({}, "stop"))]


def gemini_answer(text: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}


@contextmanager
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()

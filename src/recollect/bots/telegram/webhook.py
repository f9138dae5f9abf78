"""A server for Telegram's webhook: one address, which takes updates that carry the secret, and nothing else.

An update is answered once it is in the queue. Behind it stands whatever speaks TLS: Telegram calls only `https`.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from recollect.bots.telegram.platform import TelegramPlatform
from recollect.errors import ConfigError
from recollect.framing import StrictProtocol
from recollect.parsing import UnreadableJson, read_json

PATH = "/telegram"
SECRET_HEADER = b"x-telegram-bot-api-secret-token"
MOST_BYTES = 1 << 20  # of an update

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class WebhookApp:
    """An ASGI application that takes Telegram's updates."""

    def __init__(self, platform: TelegramPlatform, secret: str) -> None:
        self._platform = platform
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        status = await self._take_request(scope, receive)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def _take_request(self, scope: Scope, receive: Receive) -> int:
        """Take a request, and return the status of the answer."""
        if scope["path"] != PATH:
            return 404
        if scope["method"] != "POST":
            return 405
        secret = dict(scope["headers"]).get(SECRET_HEADER, b"")
        if not hmac.compare_digest(secret, self._secret):
            return 403
        body = await read_body(receive)
        if body is None:
            return 413
        try:
            data = read_json(body)
        except UnreadableJson:
            return 400
        if not isinstance(data, dict) or not isinstance(data.get("update_id"), int):
            return 400
        await self._platform.put_update(data)
        return 200


async def read_body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too long or does not end."""
    body = b""
    while True:
        part = await receive()
        if part["type"] == "http.disconnect":
            return None
        body += bytes(part.get("body", b""))
        if len(body) > MOST_BYTES:
            return None
        if not part.get("more_body"):
            return body


def open_webhook_socket(host: str, port: int) -> socket.socket:
    """A socket that listens for Telegram's calls."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"cannot listen on {host}:{port}: {reason}; choose another --port") from error


class WebhookServer(uvicorn.Server):
    """A server whose process handles signals itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve_webhook(platform: TelegramPlatform, secret: str, listener: socket.socket) -> AsyncIterator[None]:
    """Serve the webhook on a socket within this block."""
    app = WebhookApp(platform, secret)
    server = WebhookServer(
        uvicorn.Config(app, http=StrictProtocol, ws="none", log_config=None, access_log=False, lifespan="off")
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await task

"""A server for tests: a real one, on a free port of the loopback interface, in a thread of its own.

    with Serving("memory.db", chat=ScriptedLLM(["Hello."])) as server:
        httpx.get(server.url + "/healthz")

With `auth`, it requires keys: `server.key(space="team", scopes=("read",))` makes one. All other arguments go to
`AsyncMemory`. Needs the extra `[server]`.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from itertools import cycle
from types import TracebackType
from typing import Any, ClassVar, Self

from everword.config import Settings
from everword.library import AsyncMemory
from everword.ports import Store
from everword.wiring import open_store

PATIENCE = 30.0  # seconds
TICK, TICKS = 0.1, 864_000  # seconds, and how many are counted


class Serving:
    """A server that runs as long as its `with` block."""

    _descriptions: ClassVar[list[Any]] = [None]  # of the API, once one is made: all servers have the same

    def __init__(
        self, store: str | Store, *, auth: bool = False, options: Any = None, grace: int = 10, **memory_options: Any
    ) -> None:
        from everword.server import ServerOptions
        from everword.server.app import create_app
        from everword.server.keys import Keys, load_session_secret

        self.store = open_store(store, Settings()) if isinstance(store, str) else store
        self.memory = AsyncMemory(self.store, **{"telemetry": "off"} | memory_options)
        if options is None and auth:
            options = ServerOptions(session_secret=load_session_secret(self.store))
        self.app = create_app(self.memory, options, keys=Keys(self.store) if auth else None)
        self.app.openapi_schema = self._descriptions[0]
        self._grace = grace
        self._ready = threading.Event()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="everword serving", daemon=True)
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def key(self, *, space: str | Iterable[str] = "default", **key_options: Any) -> str:
        """The text of a new key."""
        from everword.server.keys import create_key

        spaces = [space] if isinstance(space, str) else list(space)
        return create_key(self.store, spaces=spaces, **{"name": "a test"} | key_options)[1]

    def __enter__(self) -> Self:
        from everword.server.hosting import open_listening_socket

        self._socket = open_listening_socket("127.0.0.1", 0)
        self.port: int = self._socket.getsockname()[1]
        self._thread.start()
        if not self._ready.wait(PATIENCE) or self._failure is not None:
            raise RuntimeError("the server did not start") from self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._thread.join(PATIENCE)
        self._descriptions[0] = self.app.openapi_schema
        self._socket.close()
        if self._failure is not None and error is None:
            raise self._failure

    def stop(self) -> None:
        """Stop the server as a signal would: requests under way are finished first."""
        self._server.should_exit = True
        with suppress(RuntimeError):  # it has stopped already
            self._loop.call_soon_threadsafe(self._stopping.set)

    def run(self, work: Any) -> Any:
        """Run a coroutine on the server's own loop and wait for it: for calls of `memory` itself."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def _run(self) -> None:
        import uvicorn

        from everword.server.connections import Connection

        class Server(uvicorn.Server):
            async def startup(inner, sockets: list[socket.socket] | None = None) -> None:
                self._loop = asyncio.get_running_loop()
                await super().startup(sockets)
                self._ready.set()

            async def main_loop(inner) -> None:
                """As in uvicorn, but it does not sleep on for a tenth of a second when it is to stop."""
                for counter in cycle(range(TICKS)):
                    if await inner.on_tick(counter):
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._stopping.wait(), TICK)

        config = uvicorn.Config(
            self.app,
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=self._grace,
        )
        self._server = Server(config)
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        except BaseException as error:  # noqa: BLE001  raised in the other thread, which waits
            self._failure = error
        finally:
            self._ready.set()

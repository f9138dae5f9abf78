"""A client for programs without an event loop: the blocking interface of a memory, over an `AsyncClient`."""

from __future__ import annotations

from recollect.client.memory import AsyncClient
from recollect.engine.sync import BlockingMemory


class Client(BlockingMemory):
    """A memory on a server: `with Client("http://127.0.0.1:8000", key) as memory: …`.

    `key` is one that `recollect keys create` showed; a server on loopback may need none. `space` is the one meant when
    a call names none: else the key's own. `timeout` is in seconds, for each answer or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        client = AsyncClient(base_url, key, space=space, timeout=timeout)
        super().__init__(client)
        self._private.forked = client.connection.reopen_after_fork

    def __repr__(self) -> str:
        return repr(self._inner)

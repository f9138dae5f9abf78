"""A memory on a server, with the same interface as one in this process: a program switches by changing one line.

    with Memory("everword.db") as memory: …
    with Client("http://127.0.0.1:8000", key) as memory: …

`AsyncClient` is the same with await. Needs the extra `[client]`.
"""

from __future__ import annotations

from everword.client.memory import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]

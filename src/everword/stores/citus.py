"""A PostgreSQL database that Citus spreads over several machines: every table by its space, the two that belong to no
space on all of them. `everword migrate --citus URL` spreads one, and a later `everword migrate` spreads new tables.

A table that Citus does not know would be written apart from the others: a server that fails in between would keep one
half of a change. So a store with such a table is not opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from everword.errors import ConfigError, SchemaMismatch
from everword.stores.tables import TABLES

SCHEMA = "everword"
ON_ALL = ("meta", "api_keys")  # on every machine: both are read without a space
FIRST = "conversations"  # messages refer to it, so it is spread first; all others lie beside it
OWN_TABLES = (FIRST, *(name for name in TABLES if name != FIRST), "commits", "locks")

HAS_CITUS = text("SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL")
SPREAD_TABLES = text(
    "SELECT relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace "
    "JOIN pg_dist_partition ON logicalrelid = c.oid WHERE nspname = :schema"
)
IS_COORDINATOR = text("SELECT groupid = 0 FROM pg_dist_local_group")
MACHINES = text(
    "SELECT nodename || ':' || nodeport, CASE WHEN citus_check_connection_to_node(nodename, nodeport) "
    "THEN (SELECT coalesce(sum(shard_size), 0) FROM citus_shards AS shard "
    "WHERE (shard.nodename, shard.nodeport) = (node.nodename, node.nodeport)) END "
    "FROM pg_dist_node AS node WHERE noderole = 'primary' AND isactive AND shouldhaveshards ORDER BY 1"
)
MOST_SKEW = 2.0

# What Citus says if a machine has not answered a COMMIT: whether it was kept there is not known.
NOT_ANSWERED = "could not commit transaction for shard"

# The same settings count on every machine that a transaction asks.
REACHING_ALL = "SET LOCAL citus.propagate_set_commands = 'local'"

# The spaces that have rows of a table that meet a condition, from each machine that answers. Each is asked for what it
# holds itself: a query for all machines fails if one of them is away.
SPACES_THERE = text(
    """
    SELECT answer.result FROM (
        SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports, array_agg(command) AS commands FROM (
            SELECT nodename, nodeport, format('SELECT json_agg(space) FROM (%s) AS parts', string_agg(format(
                'SELECT space FROM %s WHERE %s', shard_name(logicalrelid, shardid), CAST(:condition AS text)
            ), ' UNION ')) AS command
            FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
            WHERE logicalrelid = CAST(:table AS regclass) AND noderole = 'primary' GROUP BY nodename, nodeport
        ) AS machines
    ) AS machines, master_run_on_worker(names, ports, commands, true) AS answer
    WHERE answer.success AND answer.result <> ''
    """
)

# The bytes of each table on all machines together, if something was written to it; see `postgres.SIZES`.
OWN_SIZE = """
SELECT CASE WHEN pg_relation_size(c.oid) > 0 OR coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) > 0
    OR i.indexrelid IS NULL OR pg_relation_size(i.indexrelid) > current_setting('block_size')::bigint
    THEN pg_total_relation_size(c.oid) ELSE 0 END FROM pg_class AS c
    LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary WHERE c.oid = '%s'::regclass
"""
SIZES = text(
    "SELECT name, sum(placement.result::bigint) FROM unnest(CAST(:tables AS text[])) AS name, "
    "run_command_on_placements(name::regclass, :own_size) AS placement "
    "GROUP BY name HAVING sum(placement.result::bigint) > 0"
).bindparams(own_size=OWN_SIZE)

# Transactions on any machine that may see what was removed: those that began before a time of the coordinator.
MARK = text("SELECT clock_timestamp()::text")
OLDER_THERE = """
SELECT count(*) FROM (
    SELECT xact_start AS since FROM pg_stat_activity WHERE pid <> pg_backend_pid()
        AND (datname IS NULL OR datname = current_database()) AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)
        AND backend_type = 'client backend'
    UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT '-infinity' FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
) AS open WHERE since <= %L
"""
OLDER = text(
    "SELECT coalesce(sum(result::bigint), 0) FROM run_command_on_all_nodes(format(:older_there, CAST(:mark AS text)))"
).bindparams(older_there=OLDER_THERE)
REWRITE_NOTES = "SELECT run_command_on_workers('VACUUM FULL pg_catalog.pg_statistic')"


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that stores data, and how many bytes of ours it stores; None if it cannot be reached."""

    name: str
    size: int | None


def skew_of(machines: Sequence[Machine]) -> float:
    """How many times as much the fullest machine holds as those that can be reached hold on average."""
    sizes = [machine.size for machine in machines if machine.size is not None]
    return max(sizes) * len(sizes) / sum(sizes) if any(sizes) else 1.0


def has_citus(connection: Connection) -> bool:
    return bool(connection.execute(HAS_CITUS).scalar())


def tables_left_out(connection: Connection) -> list[str] | None:
    """The tables of a spread database that Citus does not know; None if it is not spread."""
    if not has_citus(connection):
        return None
    known_names = set(connection.execute(SPREAD_TABLES, {"schema": SCHEMA}).scalars())
    return [name for name in OWN_TABLES if name not in known_names] if known_names else None


def check_spread(connection: Connection, name: str) -> bool:
    """Whether a database is spread; raises if some of its tables are not."""
    left_out = tables_left_out(connection)
    if left_out:
        raise SchemaMismatch(
            f"Citus distributes {name}, but not the tables {', '.join(left_out)}; run `everword migrate --citus` on "
            "this database first"
        )
    return left_out is not None


def read_machines(connection: Connection) -> list[Machine]:
    rows = connection.execute(MACHINES)
    return [Machine(name, None if size is None else int(size)) for name, size in rows]


def spaces_there(connection: Connection, table: str, condition: str) -> list[str]:
    """The spaces, on machines that answer, with rows of a table that meet a condition."""
    params = {"table": f"{SCHEMA}.{table}", "condition": condition}
    return [space for result in connection.execute(SPACES_THERE, params).scalars() for space in json.loads(result)]


def check_is_coordinator(connection: Connection, name: str) -> None:
    """Raise if this is another machine of a cluster: only the coordinator can change tables."""
    if has_citus(connection) and not connection.execute(IS_COORDINATOR).scalar():
        raise ConfigError(
            f"{name} is not the coordinator of its cluster: run the command with the coordinator's address"
        )


def begin_steps(connection: Connection) -> None:
    """Before steps on tables that may be spread: one transaction changes many tables, one after the other."""
    if has_citus(connection):
        connection.exec_driver_sql("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")


def spread_tables(connection: Connection, name: str) -> None:
    """Spread all tables that are not yet, with what they hold."""
    if not has_citus(connection):
        raise ConfigError(
            f"{name} has no Citus. As an administrator, run `CREATE EXTENSION citus` in this database on each machine. "
            "On the coordinator, run `SELECT citus_add_node('HOST', 5432)` for each other machine (docs/scale.md)"
        )
    if not read_machines(connection):
        raise ConfigError(
            f"{name} has no machine that stores data: on the coordinator run `SELECT citus_add_node('HOST', 5432)` "
            "for each machine (docs/scale.md)"
        )
    left_out = tables_left_out(connection)
    tables = OWN_TABLES if left_out is None else left_out
    for table in tables:
        full_name = f"{SCHEMA}.{table}"
        if table in ON_ALL:
            connection.exec_driver_sql(f"SELECT create_reference_table('{full_name}')")
        else:
            beside = "" if table == FIRST else f", colocate_with => '{SCHEMA}.{FIRST}'"
            connection.exec_driver_sql(f"SELECT create_distributed_table('{full_name}', 'space'{beside})")
    for table in tables:  # what the coordinator still holds of them, which no erasure would reach
        if table not in ON_ALL:
            connection.exec_driver_sql(f"SELECT truncate_local_data_after_distributing_table('{SCHEMA}.{table}')")

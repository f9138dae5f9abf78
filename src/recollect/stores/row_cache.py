"""Reads rows of any table, and caches those that will be read again soon.

What is cached has the version that its table had. It is used in a transaction that sees the same version, or a later
one if all changes in between are known, since this process has made them, and none of them concerns it. So it is right
with several processes on one file, after a rollback, and in a snapshot that is older than the cache.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypeAlias

from sqlalchemy import Table

from recollect.ports import Vectors
from recollect.stores import queries, schema
from recollect.stores.damage import OnDamage, RowReader
from recollect.stores.prepared import list_room, pad_list
from recollect.stores.vectors import Key, nearest_keys, stack_vectors, unit_vectors

MAX_CACHED = 16_384  # rows of queries that are cached, and queries; those of facts and summaries have about a kilobyte
MAX_CHANGES = 64  # transactions whose changes are known
MAX_CHANGED = 64  # rows that one of them has changed; of more it is not known which
LONGEST = 256  # characters of a text by which rows are found
PLAIN = (str, int, bool, type(None))
ANY = object()  # stands for a value that is not known

Where: TypeAlias = Mapping[str, Any]
"""Values of columns that rows have; a tuple means any of its values."""
Version: TypeAlias = tuple[str | None, str | None]
"""The version of a table, and how often something was removed from the store."""


@dataclass(frozen=True, slots=True)
class CachedRows:
    """What was read of the rows of a table that have the values of `where`, their keys, and the version it had."""

    version: Version
    table: str
    where: Where
    keys: Collection[Key]
    rows: list[Any]

    def may_change_with(self, row: Mapping[str, Any]) -> bool:
        """Whether it may be other rows after a row was stored: that was one of them, or is one of them now."""
        if queries.key_reader(schema.TABLES[self.table])(row) in self.keys:
            return True
        for name, required_value in self.where.items():
            value = row.get(name, ANY)
            if value is not ANY and (
                value not in required_value if isinstance(required_value, tuple) else value != required_value
            ):
                return False
        return True


class RowCache:
    """The rows of queries as a process has read them, each with the version that its table had, and the last changes
    that the process has made. Safe for threads; all rows are dropped when they are too many."""

    def __init__(self) -> None:
        self._entries: dict[Any, CachedRows] = {}
        self._row_count = 0
        # By a table and its version after a change: the version before, and the rows that were stored.
        self._changes: OrderedDict[tuple[str, str | None], tuple[str | None, Sequence[Mapping[str, Any]]]]
        self._changes = OrderedDict()
        self._lock = Lock()

    def find(self, key: Any, version: Version) -> list[Any] | None:
        """The rows of a query in a version of its table; None if they are not known."""
        entry = self._entries.get(key)
        if entry is None or entry.version == version:
            return None if entry is None else entry.rows
        if not self._is_same_in(version, entry):
            return None
        with self._lock:
            if self._entries.get(key) is entry:
                self._entries[key] = replace(entry, version=version)
        return entry.rows

    def put(self, key: Any, entry: CachedRows) -> None:
        with self._lock:
            earlier = self._entries.pop(key, None)
            self._row_count += 1 + len(entry.rows) - (0 if earlier is None else 1 + len(earlier.rows))
            if self._row_count > MAX_CACHED:
                self._entries.clear()
                self._row_count = 1 + len(entry.rows)
            self._entries[key] = entry

    def note_change(self, table: str, before: str | None, after: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note that a transaction, which is about to be committed, has stored these rows of a table, and has changed
        nothing else in it. If it is not committed, nobody ever sees the version after it."""
        with self._lock:
            self._changes[table, after] = before, [*map(without_contents, rows)]
            if len(self._changes) > MAX_CHANGES:
                self._changes.popitem(last=False)

    def _is_same_in(self, version: Version, entry: CachedRows) -> bool:
        """Whether what was cached is the same in another version."""
        if version[1] != entry.version[1]:
            return False
        token = version[0]
        for _ in range(MAX_CHANGES):
            change = self._changes.get((entry.table, token))
            if change is None or any(map(entry.may_change_with, change[1])):
                return False
            token = change[0]
            if token == entry.version[0]:
                return True
        return False


def without_contents(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a row by which it may be found."""
    return {
        name: value
        for name, value in row.items()
        if type(value) in PLAIN and not (isinstance(value, str) and len(value) > LONGEST)
    }


class TableReader(RowReader):
    """How a transaction reads the rows of any table. If it `caches_rows`, those that are kept are not even read again
    while their table is the same."""

    caches_rows = False

    # Of statements that are built once and kept: a database may keep them in a form that is faster to run.

    def fetch(self, query: Any, params: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """The rows of a query that is kept."""
        return self.connection.execute(query, params).all()

    def fetch_named(self, query: Any, params: Mapping[str, Any], kept: bool = False) -> list[Mapping[str, Any]]:
        """The rows of a query that is kept, with the names of their columns; rows may be `kept`, too."""
        result = self.connection.execute(query, params)
        names = tuple(result.keys())
        return [dict(zip(names, row, strict=True)) for row in result]

    def rows(
        self,
        table: str,
        after: Mapping[str, Any] | None = None,
        limit: int | None = None,
        *,
        where: Where | None = None,
        newest: bool = False,
        damaged: OnDamage | None = None,
        kept: bool = False,
    ) -> list[Mapping[str, Any]]:
        where = where or {}
        if kept and self.caches_rows and after is None and damaged is None:
            return [*self._find_kept_rows(table, where, limit, newest)]
        source = schema.TABLES[table]
        limits = after is not None, limit is not None, newest
        query = queries.rows_query(source, queries.comparison_shape(where), *limits)
        params = queries.comparison_values(where) | {"most": limit}
        if after is not None:
            params |= {f"after_{name}": after[name] for name in queries.key_names(source)}
        if damaged is not None:
            return self.fetch_readable_rows(source, query, params, limit, newest, damaged)
        with self.naming_damage(source, query, params):
            return self.fetch_named(query, params, kept)

    def _find_kept_rows(self, table: str, where: Where, limit: int | None, newest: bool) -> list[Mapping[str, Any]]:
        """Rows of the cache, or rows that are read for it."""
        key = (table, tuple(where.items()), limit, newest)
        rows = self.find_cached(table, key)
        if rows is None:
            name = queries.column_of_few(where) if limit is None else None
            if name is None:
                rows = self._read_kept_rows(table, where, limit, newest)
            else:
                rows = self._find_rows_by_value(table, where, name, newest)
            self._cache_rows(table, key, where, rows)
        return rows

    def _find_rows_by_value(self, table: str, where: Where, name: str, newest: bool) -> list[Mapping[str, Any]]:
        """Rows that have one of a few values in a column. They are cached value by value, since they are asked for
        again with others; those of all values that are not known are read at once."""
        conditions = {value: {**where, name: (value,)} for value in where[name]}
        keys = {value: (table, tuple(condition.items()), None, newest) for value, condition in conditions.items()}
        known_rows = {value: self.find_cached(table, key) for value, key in keys.items()}
        unknown = tuple(value for value, rows in known_rows.items() if rows is None)
        new_rows: dict[Any, list[Mapping[str, Any]]] = {value: [] for value in unknown}
        for row in self._read_kept_rows(table, {**where, name: unknown}, None, newest) if unknown else ():
            new_rows[row[name]].append(row)
        for value, rows in new_rows.items():
            self._cache_rows(table, keys[value], conditions[value], rows)
        all_rows = [row for rows in (*known_rows.values(), *new_rows.values()) if rows for row in rows]
        return sorted(all_rows, key=queries.key_reader(schema.TABLES[table]), reverse=newest)

    def _read_kept_rows(self, table: str, where: Where, limit: int | None, newest: bool) -> list[Mapping[str, Any]]:
        source = schema.TABLES[table]
        shape = queries.comparison_shape(where)
        query = queries.rows_query(source, shape, False, limit is not None, newest)
        params = queries.comparison_values(where) | {"most": limit}
        with self.naming_damage(source, query, params):
            return self.fetch_named(query, params, kept=True)

    def _cache_rows(self, table: str, key: Any, where: Where, rows: list[Mapping[str, Any]]) -> None:
        self.add_cached(table, key, where, [*map(queries.key_reader(schema.TABLES[table]), rows)], rows)

    def find_cached(self, table: str, key: Any) -> list[Any] | None:
        """What was read of a table before, if it still is so; nobody changes it."""
        return None

    def add_cached(self, table: str, key: Any, where: Where, keys: Collection[Key], rows: list[Any]) -> None:
        """Cache what was read of the rows of a table with the values of `where`, which have these keys, if this store
        caches rows."""

    def near(
        self,
        table: str,
        vector: Vectors,
        limit: int,
        *,
        where: Where,
        known: Sequence[Mapping[str, Any]] = (),
    ) -> list[tuple[Mapping[str, Any], float]]:
        source = schema.TABLES[table]
        query = queries.vectors_query(source, queries.comparison_shape(where))
        cache_key = (query, *where.values())
        vectors = self.find_cached(table, cache_key)
        if vectors is None:
            vectors = self._read_unit_vectors(query, queries.comparison_values(where))
            self.add_cached(table, cache_key, where, vectors[0] if vectors else (), vectors)
        if not vectors:
            return []
        keys, unit_rows = vectors
        best = nearest_keys(keys, unit_rows, vector, limit)
        read_key = queries.key_reader(source)
        rows = {read_key(row): row for row in known}
        unread = [key for key, _ in best if key not in rows]
        if unread:
            rows |= {read_key(row): row for row in self.rows_by_key(source, unread)}
        return [(rows[key], score) for key, score in best]

    def _read_unit_vectors(self, query: Any, params: Mapping[str, Any]) -> list[Any]:
        """The keys of the rows of a query of vectors, and the vectors as a matrix of unit rows; nothing if there are
        none."""
        rows = self.fetch(query, params)
        keys = [tuple(row[1:]) for row in rows]
        return [keys, unit_vectors(stack_vectors([row[0] for row in rows]))] if rows else []

    def rows_by_key(self, source: Table, keys: Sequence[tuple[Any, ...]]) -> list[Mapping[str, Any]]:
        """The rows of a table with these keys."""
        room = list_room(len(keys))
        params = {
            f"{column.name}_{number}": value
            for number, key in enumerate(pad_list(keys, room))
            for column, value in zip(source.primary_key, key, strict=True)
        }
        return self.fetch_named(queries.rows_by_key_query(source, room), params)

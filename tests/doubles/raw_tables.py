"""Behind the engine's back: the rows of a store, read and replaced without it.

SQLite and PostgreSQL are opened by their own drivers; of a JSON store the file itself is edited. In all three a row
is a mapping of the columns' names, with the values as that kind of store keeps them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg.rows import dict_row

from everword.topics.stored_topics import decode_pack

Row = dict[str, Any]


def path_of(url: str) -> Path:
    """The file of a SQLite or JSON store."""
    return Path(url.removeprefix("json:"))


def rows_of(url: str, table: str) -> list[Row]:
    """All rows of a table."""
    found: list[Row] = []
    change(url, table, found.extend, keep=True)
    return found


def change(url: str, table: str, edit: Callable[[list[Row]], object], *, keep: bool = False) -> None:
    """Hand a table's rows to `edit`, and put what it left of them in their place (unless told to keep them)."""
    if url.startswith("json:"):
        data = json.loads(path_of(url).read_text(encoding="utf-8"))
        edit(data[table])
        if not keep:
            path_of(url).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    elif url.startswith("postgresql:"):
        with psycopg.connect(url, row_factory=dict_row) as server:
            replace(lambda sql, values=(): server.execute(cast(LiteralString, sql), values), table, edit, "%s", keep)
    else:
        with closing(sqlite3.connect(path_of(url))) as file, file:
            file.row_factory = sqlite3.Row
            replace(file.execute, table, edit, "?", keep)


def replace(
    execute: Callable[..., Any], table: str, edit: Callable[[list[Row]], object], mark: str, keep: bool
) -> None:
    place = f"everword.{table}" if mark == "%s" else table
    rows = [dict(row) for row in execute(f"SELECT * FROM {place} ORDER BY 1, 2").fetchall()]
    edit(rows)
    if keep:
        return
    execute(f"DELETE FROM {place}")
    for row in rows:
        marks = ", ".join(mark for _ in row)
        execute(f"INSERT INTO {place} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def held(url: str) -> bytes:
    """All bytes of the files of a store, or all rows of a server's tables; and what is packed in them."""
    packs = (
        [] if url.startswith("json:") else [decode_pack(bytes(row["packed"])) for row in rows_of(url, "topic_packs")]
    )
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as server:
            names = server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everword'").fetchall()
            rows = [server.execute(f"SELECT t::text FROM everword.{n} t").fetchall() for (n,) in names]
        return ("\n".join(row for table in rows for (row,) in table).encode() + repr(packs).encode()).lower()
    path = path_of(url)
    return (b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*")) + repr(packs).encode()).lower()


def words_held(url: str, *words: str) -> list[str]:
    """Those of the words, in lower case, that are anywhere in a store."""
    everything = held(url)
    return [word for word in words if word.encode() in everything]

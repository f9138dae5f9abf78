"""Brings a database to today's schema, by the numbered steps of `schema_steps.sql`. The number of the last step that it
has run is in `meta`. A step that has been released never changes: a database that has run it would not get the change.

SQLite and JSON run missing steps when they are opened, under the write lock; a PostgreSQL server runs them when asked
(`everword migrate URL`), so that no program changes a shared database just by starting. A program that has a database
open when another one runs steps writes there no more: each of its transactions that writes reads the number first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from everword.errors import SchemaMismatch
from everword.stores.tables import parse_meta_number

SPELLING = {
    "sqlite": {
        "key": "TEXT",
        "blob": "BLOB",
        "empty": "x''",
        "vector": "BLOB",
        "clustered": " WITHOUT ROWID",
        "tsv": "",
    },
    "postgresql": {
        "key": 'TEXT COLLATE "C"',
        "blob": "BYTEA",
        "empty": "''",
        "vector": "halfvec",
        "clustered": "",
        "tsv": ", tsv tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim(terms), '  '))) STORED",
    },
}
READ_VERSION = "SELECT value FROM meta WHERE key = 'schema'"
MADE = re.compile(r"CREATE (?:(?:UNIQUE|VIRTUAL) )?\w+ (?:IF NOT EXISTS )?(?P<name>\w+)")
DROPPED = re.compile(r"DROP INDEX (?:IF EXISTS )?(?P<name>\w+)")
ADDED = re.compile(r"ALTER TABLE (?P<table>\w+) ADD COLUMN (?P<column>.+)")
CONDITION = re.compile(r"IF (?P<unless>NOT )?(?P<table>\w+)(?:\.(?P<column>\w+))?: ")


def read_steps(text: str) -> list[dict[str, str]]:
    """The steps of `schema_steps.sql`, each as its SQL for each database."""
    steps: list[dict[str, str]] = []
    dialects: Collection[str] = ()
    for line in text.splitlines(keepends=True):
        heading = line.removeprefix("-- ").strip() if line.startswith("-- ") else None
        if heading is None:
            for dialect in dialects:
                steps[-1][dialect] += line
        elif heading.startswith("step "):
            steps.append(dict.fromkeys(SPELLING, ""))
            dialects = SPELLING
        elif heading in SPELLING or heading == "both":
            dialects = SPELLING if heading == "both" else (heading,)
    return steps


STEPS = read_steps(Path(__file__).with_name("schema_steps.sql").read_text(encoding="utf-8"))
CURRENT = len(STEPS)
EXPECTED = str(CURRENT)


def schema_version(connection: Connection) -> int:
    """The number of the last step that this database has run; 0 for an empty one."""
    if not inspect(connection).has_table("meta"):
        return 0
    number = connection.execute(text(READ_VERSION)).scalar()
    return parse_meta_number(number)


def check_version(number: int, name: str) -> None:
    """Refuse a database that is not exactly at today's step."""
    if number > CURRENT:
        raise SchemaMismatch(
            f"{name} was written by a newer version of everword (schema {number}, not {CURRENT}); upgrade everword"
        )
    if number < CURRENT:
        raise SchemaMismatch(
            f"{name} has the old schema {number}, but this version of everword needs {CURRENT}; run "
            "`everword migrate` on this store first"
        )


def check_unmigrated(value: object, name: str) -> None:
    """Refuse a transaction on a database that has another schema than the one it was opened with; `value` is what
    `READ_VERSION` gives in this transaction. A process of an older version would not erase what a newer one keeps."""
    if value != EXPECTED:
        number = parse_meta_number(value if isinstance(value, str) else None)
        raise SchemaMismatch(
            f"another program changed {name} from schema {CURRENT} to {number}, so nothing was done. "
            "Restart this program with the newer version of everword"
        )


def migrate(connection: Connection, name: str, upto: int | None = None) -> int:
    """Run the missing steps inside the caller's transaction. Returns how many."""
    number = schema_version(connection)
    goal = CURRENT if upto is None else upto
    if number > CURRENT:
        check_version(number, name)
    if (number, goal, connection.dialect.name) == (0, CURRENT, "sqlite"):
        for statement in new_file_statements():
            connection.exec_driver_sql(statement)
    else:
        for place in range(number, goal):
            run_step(connection, step_statements(STEPS[place], connection.dialect.name))
    if number < goal:
        connection.execute(
            text(
                "INSERT INTO meta (key, value) VALUES ('schema', :n) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
            ),
            {"n": str(goal)},
        )
    return max(goal - number, 0)


@cache
def new_file_statements() -> Sequence[str]:
    """What makes an empty SQLite database the same as all steps do, and faster: each table with the columns that later
    steps add, and nothing that changes rows or what an older text of a step has made."""
    definitions: dict[str, str] = {}
    for statement in chain.from_iterable(step_statements(step, "sqlite") for step in STEPS):
        if addition := ADDED.fullmatch(statement):
            columns, key, rest = definitions[addition["table"]].partition("PRIMARY KEY (")
            definitions[addition["table"]] = f"{columns}{addition['column']}, {key}{rest}"
        elif creation := MADE.match(statement):
            definitions.setdefault(creation["name"], statement)
        elif removal := DROPPED.fullmatch(statement):
            definitions.pop(removal["name"], None)
    return list(definitions.values())


def step_statements(step: Mapping[str, str], dialect: str) -> list[str]:
    """The statements of a step in the SQL of a database, split at semicolons; a semicolon inside a trigger has a
    backslash before it."""
    parts = step[dialect].replace("\\;", "\0").split(";")
    texts = [part.replace("\0", ";").strip() for part in parts if part.strip()]
    for word, meaning in SPELLING[dialect].items():
        texts = [statement.replace("{" + word + "}", meaning) for statement in texts]
    return texts


def run_step(connection: Connection, step: Sequence[str]) -> None:
    """Run the statements of a step. One with a condition runs only if there is such a table or column by then."""
    for statement in step:
        condition = CONDITION.match(statement)
        if condition is None:
            connection.exec_driver_sql(statement)
        elif has_table_or_column(connection, condition["table"], condition["column"]) is (condition["unless"] is None):
            connection.exec_driver_sql(statement[condition.end() :])


def has_table_or_column(connection: Connection, table: str, column: str | None) -> bool:
    """Whether a database has a table, and in it a column if one is named."""
    inspector = inspect(connection)
    if column is None or not inspector.has_table(table):
        return inspector.has_table(table)
    return column in {info["name"] for info in inspector.get_columns(table)}

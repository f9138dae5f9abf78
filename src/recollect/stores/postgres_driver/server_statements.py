"""Statements that a PostgreSQL server keeps prepared for a connection, run by the client library itself.

psycopg makes a cursor for each statement, looks at its text and its parameters again, and waits in Python: for a query
of one row that takes twice as long as the query. Here what is sent is a name and values. Only what is run often, and
whose parameters all have a type in the text, is run so; everything else is left to psycopg.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from secrets import token_hex
from typing import Any

from psycopg import Connection
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from recollect.stores.prepared import PreparedStatement

OFTEN = 3  # runs on a connection after which a statement is prepared: preparing takes as long as a run
MOST = 400  # statements of a connection
UNKNOWN_STATEMENT = "26000"  # the server has no such statement
DONE = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
PARAMETER = re.compile(r"%\((\w+)\)s(?=(::)?)")
ENCODINGS: Mapping[type, Callable[[Any], bytes | None]] = {
    str: str.encode,
    int: lambda value: b"%d" % value,
    float: lambda value: repr(value).encode(),
    bytes: lambda value: b"\\x" + value.hex().encode(),
    type(None): lambda value: None,
}


class ServerStatements:
    """The statements that the server has prepared for one connection, by their text."""

    def __init__(self, driver: Connection[Any]) -> None:
        self._driver = driver
        self._transformer = Transformer(driver)
        self._token = token_hex(8).encode()  # another connection behind a pooler never has these names
        self._numbers = count()
        self._runs: Counter[str] = Counter()
        self._prepared: dict[str, tuple[bytes, list[str]]] = {}
        self._is_open = driver.info.encoding == "utf-8"

    def run(self, statement: PreparedStatement, params: Mapping[str, Any]) -> list[Any] | None:
        """The rows of a statement; None if it is to be run by psycopg."""
        found = self._prepared.get(statement.sql) or self._prepare(statement.sql)
        if found is None:
            return None
        name, parameter_names = found
        values = statement.values(params)
        assert isinstance(values, dict)
        data: Any = encode_values([values[parameter] for parameter in parameter_names])
        if data is None:
            return None
        result = self._driver.pgconn.exec_prepared(name, data)
        if result.status not in DONE:
            error = error_from_result(result)
            if error.sqlstate == UNKNOWN_STATEMENT:
                self._prepared.clear()
            raise error
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _prepare(self, sql: str) -> tuple[bytes, list[str]] | None:
        """Prepare a statement that is run often."""
        self._runs[sql] += 1
        if not self._is_open or self._runs[sql] < OFTEN or len(self._prepared) >= MOST:
            return None
        numbered = number_parameters(sql)
        if numbered is None:
            self._runs[sql] = -MOST
            return None
        text, parameter_names = numbered
        name = b"recollect_%s_%d" % (self._token, next(self._numbers))
        check_result(self._driver.pgconn.prepare(name, text.encode()))
        self._prepared[sql] = name, parameter_names
        return self._prepared[sql]

    def drop(self) -> None:
        """Drop the statements of a connection that is idle. Some may be dropped already: the driver drops all of a
        connection when it resets one."""
        if self._prepared and not self._driver.closed:
            names = [name for name, _ in self._prepared.values()]
            self._driver.pgconn.exec_(b";".join(b"DEALLOCATE " + name for name in names))
        self._prepared.clear()


def number_parameters(sql: str) -> tuple[str, list[str]] | None:
    """A statement with numbers in place of the names of its parameters, and the names in order; None if one of them has
    no type, and the server would have to guess it."""
    names: list[str] = []
    if not all(match[2] for match in PARAMETER.finditer(sql)):
        return None

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return PARAMETER.sub(number, sql).replace("%%", "%"), names


def encode_values(values: list[Any]) -> list[bytes | None] | None:
    """Values as the server reads them; None if there is one of another type, or a text that has no end where it ends:
    psycopg says what is wrong with that."""
    data: list[bytes | None] = []
    for value in values:
        encode = ENCODINGS.get(type(value))
        encoded = None if encode is None else encode(value)
        if encode is None or (encoded is not None and b"\x00" in encoded):
            return None
        data.append(encoded)
    return data


def run_plain(driver: Connection[Any], sql: str) -> str | None:
    """Run statements without parameters. Returns the first value of the last one, if it has rows."""
    result = driver.pgconn.exec_(sql.encode())
    check_result(result)
    value = result.get_value(0, 0) if result.ntuples else None
    return None if value is None else value.decode()


def check_result(result: PGresult) -> None:
    if result.status not in DONE:
        raise error_from_result(result)

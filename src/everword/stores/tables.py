"""The tables, defined once for every database, and the types of their columns: each value is stored exactly.

`tables.txt` has the tables. A column is text unless its kind is named; `*` is a part of the primary key, and `?` may be
missing. Migrations create the tables, and a test compares the two.

Every primary key begins with the space, so that the same schema can be used on a sharded PostgreSQL. The one
exception is `meta`, which is about the store itself. `conversations`, `messages`, `changes` and `erasures` are the log;
`cursors` and `leases` say how far each view is and who works on it, `set_aside` which messages a view skipped because
it failed on them; `audit` has a line for each removal and move; `receipts` what the models were shown for the last
replies; `events` what a receiver is still to be told; all other tables are views, and can be dropped and rebuilt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Column, Dialect, Float, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, UserDefinedType

from everword.errors import StoreError
from everword.model import EPOCH, to_microseconds
from everword.secrets import marks_from_json

write_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
# What the decoding of a value may raise.
UNDECODED = (ValueError, TypeError, OverflowError, RecursionError)
VECTOR_HEADER = 4  # bytes before the numbers of a vector in PostgreSQL's binary form: its width


class UnreadableRow(StoreError):
    """One of the rows of a query cannot be read; which one is not known yet."""


def unreadable_value(kind: str) -> UnreadableRow:
    return UnreadableRow(
        f"a value that should be {kind} cannot be read; `everword verify` names messages that are damaged"
    )


class Instant(TypeDecorator[datetime]):
    """An aware UTC time, stored as whole microseconds since 1970: exact, ordered, the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return self.encode(value)

    @staticmethod
    def encode(value: datetime | None) -> int | None:
        return None if value is None else to_microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return self.decode(value)

    @staticmethod
    def decode(value: int | None) -> datetime | None:
        try:
            return None if value is None else EPOCH + timedelta(0, 0, value)  # by name it takes a third longer
        except UNDECODED:
            raise unreadable_value("a time") from None


class Object(TypeDecorator[dict[str, Any]]):
    """A JSON object, stored as canonical text: exactly what was hashed, number for number."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str | None:
        return self.encode(value)

    @staticmethod
    def encode(value: Mapping[str, Any] | None) -> str:
        return write_canonical(value) if value else "{}"

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any]:
        return self.decode(value)

    @staticmethod
    def decode(value: str | None) -> dict[str, Any]:
        try:
            return json.loads(value) if value and value != "{}" else {}
        except UNDECODED:
            raise unreadable_value("a JSON object") from None


class Names(TypeDecorator[tuple[str, ...]]):
    """A few ids in order, stored as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps(list(value or ()), ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return self.decode(value)

    @staticmethod
    def decode(value: str | None) -> tuple[str, ...]:
        if not value or value == "[]":  # mostly, as in thousands of topics without tags
            return ()
        try:
            return tuple(json.loads(value))
        except UNDECODED:
            raise unreadable_value("a list of names") from None


class Blob(LargeBinary):
    """Bytes as the driver gives them. `LargeBinary` would turn a number, which only damage can put there, into that
    many zero bytes."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        return None


class MarkList(Text):
    """Marks of secrets, as JSON: see `everword.secrets`."""


class Halfvec(UserDefinedType[str]):
    """pgvector's half-precision vector, as text on the wire; of any width, or of a fixed one."""

    cache_ok = True

    def __init__(self, width: int | None = None) -> None:
        self.width = width

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec" if self.width is None else f"halfvec({self.width})"


class VectorBytes(FunctionElement[bytes]):
    """A column of vectors as bytes: PostgreSQL sends its numbers as text, which takes twenty times as long to read."""

    inherit_cache = True


@compiles(VectorBytes)
def compile_plain(element: VectorBytes, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(VectorBytes, "postgresql")
def compile_binary(element: VectorBytes, compiler: Any, **options: Any) -> str:
    return f"halfvec_send({compiler.process(element.clauses, **options)})"


class Vector(TypeDecorator[bytes]):
    """A vector as float16 bytes in every database, so that a cosine is the same in each."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        kind: Any = Halfvec() if dialect.name == "postgresql" else LargeBinary()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "postgresql":
            return value
        return vector_text(np.frombuffer(value, dtype=np.float16))

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None or dialect.name != "postgresql":
            return None if value is None else bytes(value)
        return np.frombuffer(value, ">f2", offset=VECTOR_HEADER).astype(np.float16).tobytes()

    def column_expression(self, column: Any) -> Any:
        expression = VectorBytes(column)
        expression.type = self  # so that its values are converted
        return expression


def vector_text(vector: Any) -> str:
    """A vector in pgvector's notation. Six digits give every float16 back exactly."""
    return "[" + ",".join(f"{x:.6g}" for x in vector.tolist()) + "]"


# -- tables

KINDS: dict[str, Any] = {
    "": Text,
    "int": Integer,
    "bigint": BigInteger,
    "float": Float,
    "bytes": Blob,
    "time": Instant,
    "object": Object,
    "names": Names,
    "vector": Vector,
    "marks": MarkList,
}


def parse_table(line: str, metadata: MetaData) -> Table:
    """A table from its line: its name, and its columns in order."""
    table_name, _, columns = line.partition(" = ")
    table = Table(table_name, metadata)
    for column in columns.split():
        name, _, kind = column.strip("*?").partition(":")
        is_key = column.startswith("*")
        can_miss = column.endswith("?")
        table.append_column(Column(name, KINDS[kind], primary_key=is_key, nullable=can_miss, autoincrement=False))
    return table


metadata = MetaData()
for _line in Path(__file__).with_name("tables.txt").read_text(encoding="utf-8").replace("\n    ", " ").splitlines():
    parse_table(_line, metadata)
TABLES: dict[str, Table] = dict(metadata.tables)

meta = TABLES["meta"]
conversations = TABLES["conversations"]
messages = TABLES["messages"]
erasures = TABLES["erasures"]
cursors = TABLES["cursors"]
leases = TABLES["leases"]
set_aside = TABLES["set_aside"]
entries = TABLES["entries"]
vectors = TABLES["vectors"]
tallies = TABLES["tallies"]
tiers = TABLES["tiers"]
chunks = TABLES["chunks"]
people = TABLES["people"]
topic_notes = TABLES["topic_notes"]
events = TABLES["events"]

LOG = (conversations, messages, TABLES["changes"], erasures)
VIEW_TABLES = {
    view: tuple(TABLES[name] for name in names)
    for view, names in {
        "index": ("entries", "vectors", "tallies"),
        "tiers": ("tiers",),
        "topics": ("topics", "topic_heads", "topic_turns", "topic_packs", "topic_summaries"),
        "window": ("chunks", "episodes"),
        "episodes": (),
        "facts": ("facts", "findings"),
        "digests": ("days", "digests"),
        "titles": (),
    }.items()
}
# Views that follow another view's cursor, and not the log itself.
FOLLOWS = {"window": "topics", "episodes": "window", "topics": "index", "titles": "topics", "vectors": "index"}
# What reads ahead for a view: it has a cursor of its own, and what it stores is in that view's tables.
AHEAD_OF = {"first_facts": "facts"}
# Views of a conversation that are rebuilt after something in it was erased.
AFRESH = ("window", "episodes", "digests", "topics", "titles")
# Tables of which something is cached, each with the columns that say whose a row is: each of these scopes has another
# version after a transaction that has changed it. To change the value of such a column, remove the row first.
VERSIONED = {"facts": ("user_id",), "episodes": ("conversation", "user_id")}


# -- whether a value can be read


def parse_meta_number(value: object) -> int:
    """A number that the store keeps about itself in `meta`; 0 if there is none."""
    if value is None:
        return 0
    if not isinstance(value, str) or not value.isdecimal():
        raise StoreError("a number in the table `meta` cannot be read; restore a backup")
    return int(value)


def parse_finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("JSON cannot represent an infinite number")
    return value


def refuse_constant(name: str) -> Any:
    raise ValueError("NaN and Infinity are not valid JSON")


STRICT = json.JSONDecoder(parse_constant=refuse_constant, parse_float=parse_finite)


def parse_strict_object(text: str) -> dict[str, Any]:
    """The JSON object in a text. Raises ValueError if it is none, or one that could not be written again."""
    value = STRICT.decode(text)
    if type(value) is not dict:
        raise ValueError("no JSON object")
    if (
        "\\u" in text
    ):  # we write it only for control characters; anything else may be a lone surrogate, which is not text
        json.dumps(value, ensure_ascii=False).encode()
    return value


def is_time(value: Any) -> bool:
    try:
        return type(value) is int and EPOCH + timedelta(microseconds=value) is not None
    except OverflowError:
        return False


def is_object(value: Any) -> bool:
    try:
        return type(value) is str and parse_strict_object(value) is not None
    except (ValueError, RecursionError):
        return False


def is_name_list(value: Any) -> bool:
    try:
        names = STRICT.decode(value) if type(value) is str else None
    except (ValueError, RecursionError):
        return False
    return type(names) is list and all(type(name) is str for name in names)


def is_mark_list(value: Any) -> bool:
    try:
        return type(value) is str and marks_from_json(value) is not None
    except (ValueError, RecursionError):
        return False


def is_vector(value: Any) -> bool:
    """Float16 as bytes; those of PostgreSQL, which checks them itself, have a header."""
    return type(value) is bytes and len(value) % 2 == 0


def is_bytes(value: Any) -> bool:
    return type(value) in (bytes, memoryview)


def is_text(value: Any) -> bool:
    return type(value) is str and "\x00" not in value


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def is_integer(value: Any) -> bool:
    return type(value) is int


# The first type that fits decides: our own types come before the types they are based on.
READABLE: tuple[tuple[type, str, Callable[[Any], bool]], ...] = (
    (Instant, "a time", is_time),
    (Object, "a JSON object", is_object),
    (Names, "a list of names", is_name_list),
    (Vector, "a vector", is_vector),
    (LargeBinary, "bytes", is_bytes),
    (Float, "a number", is_number),
    (Integer, "a whole number", is_integer),
    (MarkList, "marks of secrets", is_mark_list),
    (Text, "text", is_text),
)


def readable_type(column: Column[Any]) -> tuple[str, Callable[[Any], bool]]:
    """What a value of a column is, in words, and what checks it."""
    for kind, description, is_readable in READABLE:
        if isinstance(column.type, kind):
            return description, is_readable
    return "a value", lambda value: True


def value_problem(column: Column[Any], value: Any) -> str | None:
    """What is wrong with a value as a driver gives it. Names the column and never repeats the value."""
    if value is None:
        return None if column.nullable else f"its {column.name} is missing"
    description, is_readable = readable_type(column)
    return None if is_readable(value) else f"its {column.name} is not {description}"

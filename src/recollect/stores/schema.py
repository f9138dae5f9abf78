"""The tables, once, for every database. Migrations create them; a test holds the two against each other.

Every primary key begins with the space, so that the same schema can be spread over a sharded PostgreSQL. The
one exception is `meta`, which is about the store itself. `conversations`, `messages` and `erasures` are the
log; `cursors` and `leases` say how far each view has got and who is at work on it; the rest are views, and
can be thrown away.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Column, Dialect, Float, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator, UserDefinedType

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Instant(TypeDecorator[datetime]):
    """An aware UTC time, kept as whole microseconds since 1970: exact, ordered, the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + timedelta(microseconds=value)


class Object(TypeDecorator[dict[str, Any]]):
    """A JSON object, kept as canonical text: what was hashed is what is stored, number for number."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str | None:
        return json.dumps(value or {}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any]:
        return json.loads(value) if value and value != "{}" else {}


class Names(TypeDecorator[tuple[str, ...]]):
    """A few ids in order, kept as JSON."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps(list(value or ()), ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple(json.loads(value or "[]"))


class Halfvec(UserDefinedType[str]):
    """pgvector's half-precision vector, as text on the wire; of any width, or of one."""

    cache_ok = True

    def __init__(self, width: int | None = None) -> None:
        self.width = width

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec" if self.width is None else f"halfvec({self.width})"


class Vector(TypeDecorator[bytes]):
    """A vector as float16 bytes, in every database: so that a cosine means the same in each."""

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
        return np.array(value.strip("[]").split(","), dtype=np.float32).astype(np.float16).tobytes()


def vector_text(vector: Any) -> str:
    """A vector in pgvector's notation. Six digits give every float16 back exactly."""
    return "[" + ",".join(f"{x:.6g}" for x in vector.tolist()) + "]"


metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

conversations = Table(
    "conversations",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("user_id", Text),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("head", LargeBinary, nullable=False),
)

messages = Table(
    "messages",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("user_id", Text),
    Column("content", Text, nullable=False),
    Column("time", Instant, nullable=False),
    Column("platform_id", Text),
    Column("metadata", Object, nullable=False),
    Column("erasure", Text),
    Column("salt", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("link", LargeBinary, nullable=False),
)

erasures = Table(
    "erasures",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("messages", Integer, nullable=False),
)

cursors = Table(
    "cursors",
    metadata,
    Column("space", Text, primary_key=True),
    Column("view", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("space", Text, primary_key=True),
    Column("view", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("holder", Text),
    Column("until", Instant),
    Column("failures", Integer, nullable=False),
    Column("retry_at", Instant),
    Column("error", Text),
)

entries = Table(
    "entries",
    metadata,
    Column("space", Text, primary_key=True),
    Column("doc", BigInteger, primary_key=True, autoincrement=False),
    Column("conversation", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("time", Instant, nullable=False),
    Column("language", Text, nullable=False),
    Column("length", Integer, nullable=False),
    Column("terms", Text, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("doc", BigInteger, primary_key=True, autoincrement=False),
    Column("vec", Vector, nullable=False),
)

tallies = Table(
    "tallies",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("language", Text, primary_key=True),
    Column("docs", Integer, nullable=False),
    Column("words", BigInteger, nullable=False),
)

tiers = Table(
    "tiers",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("tier1", Text, nullable=False),
    Column("tier2", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("required", Integer, nullable=False),
    Column("raised_at", Integer),
)

chunks = Table(
    "chunks",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("last", Integer, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("archived_at", Instant, nullable=False),
)

episodes = Table(
    "episodes",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("level", Integer, primary_key=True),
    Column("first", Integer, primary_key=True),
    Column("last", Integer, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("began", Instant, nullable=False),
    Column("ended", Instant, nullable=False),
    Column("summary", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("parent", Integer),
    Column("base", Text, nullable=False),
    Column("base_last", Integer, nullable=False),
    Column("vec", Vector),
)

facts = Table(
    "facts",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("category", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("importance", Float, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("sources", Names, nullable=False),
    Column("subject", Text),
    Column("audience", Text),
    Column("active", Integer, nullable=False),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("retired_at", Instant),
    Column("retired_by", Text),
)

findings = Table(
    "findings",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("slot", Text, primary_key=True),
    Column("time", Instant, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("audience", Text),
    Column("found", Object, nullable=False),
)

statements = Table(
    "statements",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("audience", Text),
    Column("sources", Names, nullable=False),
    Column("active", Integer, nullable=False),
    Column("retired_at", Instant),
    Column("retired_by", Text),
)

people = Table(
    "people",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("since", Instant, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("space", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
)

LOG: tuple[Table, ...] = (conversations, messages, erasures)
VIEW_TABLES: dict[str, tuple[Table, ...]] = {
    "index": (entries, vectors, tallies),
    "tiers": (tiers,),
    "window": (chunks, episodes),
    "episodes": (),
    "facts": (facts, findings),
}
FOLLOWS = {"window": "index", "episodes": "window"}  # views that follow another view's cursor, and not the log itself
AFRESH = ("window", "episodes")  # views of a conversation that are made anew after something in it was erased
TABLES: dict[str, Table] = dict(metadata.tables)

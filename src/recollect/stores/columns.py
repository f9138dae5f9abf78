"""The kinds of columns that databases do not have alike: times, JSON, lists of ids, vectors. Each is kept exactly."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Dialect, LargeBinary, Text
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

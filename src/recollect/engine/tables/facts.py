"""Facts as rows of their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from recollect.model import Fact
from recollect.ports import Tx

TABLE = "facts"


def facts_of(tx: Tx, space: str, person: str, *, active: bool = False) -> list[Fact]:
    """The facts about a person, in order of id."""
    where: dict[str, Any] = {"space": space, "user_id": person}
    return [to_fact(row) for row in tx.rows(TABLE, where=where | {"active": 1} if active else where)]


def facts_with_keys(tx: Tx, space: str, person: str, category: str, keys: tuple[str, ...]) -> list[Fact]:
    """The facts about a person in a category that have one of these keys."""
    where = {"space": space, "user_id": person, "category": category, "key": keys}
    return [to_fact(row) for row in tx.rows(TABLE, where=where)]


def facts_in(tx: Tx, space: str, person: str | None = None) -> list[Fact]:
    """The facts of a space that hold now; of one person, if given."""
    where: dict[str, Any] = {"space": space, "active": 1}
    return [to_fact(row) for row in tx.rows(TABLE, where=where if person is None else where | {"user_id": person})]


def put_facts(tx: Tx, facts: Iterable[Fact]) -> None:
    tx.put(TABLE, [fact_row(fact) for fact in facts])


NAMES = tuple(field.name for field in fields(Fact) if field.name not in ("user", "active"))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in NAMES} | {"user_id": fact.user, "active": int(fact.active)}


def to_fact(row: Mapping[str, Any]) -> Fact:
    return Fact(**{name: row[name] for name in NAMES}, user=row["user_id"], active=bool(row["active"]))

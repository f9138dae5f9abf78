"""Facts as rows of their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from operator import itemgetter
from typing import Any

from everword.model import Fact
from everword.ports import WHOLE_SPACE, Tx

TABLE = "facts"


def facts_of(tx: Tx, space: str, person: str, *, active: bool = False) -> list[Fact]:
    """The facts about a person, in order of id."""
    where: dict[str, Any] = {"space": space, "user_id": person}
    return [to_fact(row) for row in tx.rows(TABLE, where=where | {"active": 1} if active else where)]


def fact_with_id(tx: Tx, space: str, person: str, id: str) -> Fact | None:
    """The fact about a person that has this id."""
    return next(map(to_fact, tx.rows(TABLE, where={"space": space, "user_id": person, "id": id})), None)


def active_facts_by_person(tx: Tx, space: str, people: Iterable[str]) -> dict[str, list[Fact]]:
    """The facts that hold now about each of some people, in order of id. They are read at once, and nobody changes
    them."""
    names = tuple(dict.fromkeys(people))

    def read_facts() -> dict[str, list[Fact]]:
        facts: dict[str, list[Fact]] = {person: [] for person in names}
        for row in tx.rows(TABLE, where={"space": space, "user_id": names, "active": 1}):
            facts[row["user_id"]].append(to_fact(row))
        return facts

    scope = TABLE, space, names[0] if len(names) == 1 else WHOLE_SPACE
    return tx.cache.get(tx, scope, names, read_facts) if names else {}


def former_facts_of(tx: Tx, space: str, person: str) -> list[Fact]:
    """The facts about a person that no longer hold, in order of id."""
    return [to_fact(row) for row in tx.rows(TABLE, where={"space": space, "user_id": person, "active": 0})]


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
IN_ORDER = tuple(field.name for field in fields(Fact))
get_values = itemgetter(*({"user": "user_id"}.get(name, name) for name in IN_ORDER))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in NAMES} | {"user_id": fact.user, "active": int(fact.active)}


def to_fact(row: Mapping[str, Any]) -> Fact:
    """A person may have a thousand: values are given in order, which takes half as long as by name."""
    return Fact(*get_values({**row, "active": bool(row["active"])}))

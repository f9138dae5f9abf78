"""Statements, each built once for the shape it has: to build one costs more than to run it.

What a statement is asked with is bound when it runs. The shape is what makes its text another one: the table, the
columns that are compared, the order, whether a value is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Integer, Table, bindparam, select, tuple_

from recollect.model import Filter
from recollect.stores.schema import conversations, cursors, leases, messages, meta

Shape = tuple[str, ...]
How = Literal["value", "none", "some"]  # a column is compared with a value, with NULL, or with several values
Compared = tuple[tuple[str, How], ...]
After = Literal["", "turn", "place"]  # from where on messages are read: their beginning, a turn, a conversation's turn

_COLUMNS = {"user": "user_id"}  # where a column has another name than the filter's field


def shape(where: Filter) -> Shape:
    """Which fields of a filter say something."""
    fields = ("user", "author", "conversation", "role", "after", "before")
    return ("space", *(name for name in fields if getattr(where, name) is not None))


def values(where: Filter) -> dict[str, Any]:
    """What a filter's fields say, as the conditions of its shape want it."""
    return {f"the_{name}": getattr(where, name) for name in shape(where)}


@lru_cache(maxsize=256)
def conditions(table: Table, fields: Shape) -> tuple[Any, ...]:
    """A filter as SQL, for any table that has the columns."""

    def one(name: str) -> Any:
        wanted: Any = bindparam(f"the_{name}")
        if name == "after":
            return table.c.time >= wanted
        if name == "before":
            return table.c.time < wanted
        return table.c[_COLUMNS.get(name, name)] == wanted

    return tuple(map(one, fields))


@lru_cache(maxsize=256)
def of_messages(fields: Shape, after: After, upto: bool, limited: bool, newest: bool, among: bool = False) -> Any:
    """Messages by conversation and turn."""
    keys = (messages.c.conversation, messages.c.turn)
    query = select(messages).where(*conditions(messages, fields))
    if among:
        query = query.where(messages.c.conversation.in_(bindparam("among", expanding=True)))
    if after == "turn":
        query = query.where(messages.c.turn > bindparam("after_turn"))
    elif after == "place":
        query = query.where(tuple_(*keys) > tuple_(bindparam("after_conversation"), bindparam("after_turn")))
    if upto:
        query = query.where(messages.c.turn <= bindparam("upto"))
    query = query.order_by(*(key.desc() for key in keys)) if newest else query.order_by(*keys)
    return query.limit(bindparam("most", type_=Integer)) if limited else query


MESSAGES_BY_ID = select(messages).where(
    messages.c.space == bindparam("space"), messages.c.id.in_(bindparam("ids", expanding=True))
)
MESSAGES_BY_PLATFORM_ID = select(messages).where(
    messages.c.space == bindparam("space"),
    messages.c.conversation == bindparam("conversation"),
    messages.c.platform_id.in_(bindparam("ids", expanding=True)),
)


def compared(where: Mapping[str, Any]) -> Compared:
    return tuple(
        (name, "none" if value is None else "some" if isinstance(value, tuple) else "value")
        for name, value in where.items()
    )


def given(where: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a comparison of columns is run with."""
    return {f"the_{name}": value for name, value in where.items() if value is not None}


def equal(table: Table, where: Compared) -> list[Any]:
    """Columns that have the values given, or one of them."""

    def one(name: str, how: How) -> Any:
        if how == "none":
            return table.c[name].is_(None)
        wanted: Any = bindparam(f"the_{name}", expanding=how == "some")
        return table.c[name].in_(wanted) if how == "some" else table.c[name] == wanted

    return [one(name, how) for name, how in where]


@lru_cache(maxsize=512)
def of_rows(table: Table, where: Compared, after: bool, limited: bool, newest: bool) -> Any:
    """Rows of any table in the order of its key."""
    keys = list(table.primary_key)
    query = select(table).where(*equal(table, where))
    query = query.order_by(*(key.desc() for key in keys)) if newest else query.order_by(*keys)
    if after:
        past = (bindparam(f"after_{key.name}", type_=key.type) for key in keys)
        query = query.where(tuple_(*keys) > tuple_(*past))
    return query.limit(bindparam("most", type_=Integer)) if limited else query


@lru_cache(maxsize=64)
def by_keys(table: Table) -> Any:
    """The rows of any table that have one of these keys."""
    return select(table).where(tuple_(*table.primary_key).in_(bindparam("keys", expanding=True)))


@lru_cache(maxsize=256)
def of_vectors(table: Table, where: Compared) -> Any:
    """The vectors of a table's rows with their keys."""
    return select(table.c.vec, *table.primary_key).where(*equal(table, where), table.c.vec.is_not(None))


def _at(table: Table) -> tuple[Any, ...]:
    names = ("space", "view", "conversation")
    return tuple(table.c[name] == bindparam(f"at_{name}") for name in names)


def place(view: str, space: str, conversation: str) -> dict[str, str]:
    """Where a view is at work, as the statements below want it."""
    return {"at_view": view, "at_space": space, "at_conversation": conversation}


CURSOR = select(cursors.c.turn).where(*_at(cursors))
HOLDER = select(leases.c.holder).where(*_at(leases))
FAILURES = select(leases.c.failures).where(*_at(leases))


def _at_each(table: Table) -> tuple[Any, ...]:
    several = table.c.conversation.in_(bindparam("at_each", expanding=True))
    return table.c.space == bindparam("at_space"), table.c.view == bindparam("at_view"), several


CURSORS = select(cursors.c.conversation, cursors.c.turn).where(*_at_each(cursors))
HOLDERS = (
    select(leases.c.conversation, leases.c.holder, leases.c.until)
    .where(*_at_each(leases))
    .order_by(leases.c.conversation)  # locked in one order by everybody
)
NOTE = select(meta.c.value).where(meta.c.key == bindparam("key"))
FIND_CONVERSATION = select(conversations).where(
    conversations.c.space == bindparam("space"), conversations.c.id == bindparam("id")
)

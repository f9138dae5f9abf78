"""Statements, each built once for its shape: to build one costs more than to run it.

The values are bound when a statement runs. The shape is everything that changes its text: the table, the columns that
are compared, the order, whether a value is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from itertools import dropwhile
from operator import attrgetter
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Integer,
    Table,
    TableClause,
    Text,
    and_,
    bindparam,
    column,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    table,
    tuple_,
    type_coerce,
    update,
)

from everword.model import Conversation, Filter
from everword.ports import VERSION_NOTE
from everword.stores.columns import Instant
from everword.stores.schema import chunks, conversations, entries, leases, messages, meta, vectors

Shape = tuple[str, ...]
ComparisonKind = Literal[
    "value", "none", "some"
]  # a column is compared with a value, with NULL, or with several values
Comparison = tuple[tuple[str, ComparisonKind], ...]
After = Literal[
    "", "turn", "place"
]  # where messages start: at the beginning, after a turn, or after a turn of a conversation

# A condition: a conversation is new, has a message that is not erased, or what is kept of messages that expired.
HAS_SOMETHING = or_(
    and_(conversations.c.turns == 0, conversations.c.changes == 0),
    *(
        exists().where(table.c.space == conversations.c.space, table.c.conversation == conversations.c.id, *conditions)
        for table, conditions in ((messages, [messages.c.erasure.is_(None)]), (chunks, []))
    ),
)

DAY = 86_400_000_000  # microseconds
MARKED = "marked"
_COLUMNS = {"user": "user_id"}  # where a column has another name than the filter's field


def untyped(source: Table) -> TableClause:
    """A table whose values are written as they are given."""
    return table(source.name, *(column(name) for name in source.columns.keys()))  # noqa: SIM118


def filter_shape(where: Filter) -> Shape:
    """The fields of a filter that are set."""
    fields = ("user", "author", "conversation", "role", "after", "before", "expired_by", MARKED)
    return ("space", *(name for name in fields if getattr(where, name) is not None))


def filter_values(where: Filter) -> dict[str, Any]:
    """The values of a filter, as parameters for the conditions of its shape."""
    return {f"the_{name}": getattr(where, name) for name in filter_shape(where) if name != MARKED}


@lru_cache(maxsize=256)
def filter_conditions(table: Table, fields: Shape) -> tuple[Any, ...]:
    """A filter as SQL, for any table that has the columns."""

    def condition(name: str) -> Any:
        if name == MARKED:
            return table.c.secrets.is_not(None)
        parameter: Any = bindparam(f"the_{name}")
        if name == "after":
            return table.c.time >= parameter
        if name == "before":
            return table.c.time < parameter
        if name == "expired_by":
            return table.c.expires_at <= parameter
        return table.c[_COLUMNS.get(name, name)] == parameter

    return tuple(map(condition, fields))


@lru_cache(maxsize=256)
def messages_query(
    fields: Shape, after: After, has_upto: bool, has_limit: bool, newest: bool, among: bool = False
) -> Any:
    """Messages by conversation and turn."""
    keys = (messages.c.conversation, messages.c.turn)
    query = select(messages).where(*filter_conditions(messages, fields))
    if among:
        query = query.where(messages.c.conversation.in_(bindparam("among", expanding=True)))
    if after == "turn":
        query = query.where(messages.c.turn > bindparam("after_turn"))
    elif after == "place":
        query = query.where(tuple_(*keys) > tuple_(bindparam("after_conversation"), bindparam("after_turn")))
    if has_upto:
        query = query.where(messages.c.turn <= bindparam("upto"))
    query = query.order_by(*(key.desc() for key in keys)) if newest else query.order_by(*keys)
    return query.limit(bindparam("most", type_=Integer)) if has_limit else query


MESSAGES_BY_ID = select(messages).where(
    messages.c.space == bindparam("space"), messages.c.id.in_(bindparam("ids", expanding=True))
)
MESSAGES_BY_PLATFORM_ID = select(messages).where(
    messages.c.space == bindparam("space"),
    messages.c.conversation == bindparam("conversation"),
    messages.c.platform_id.in_(bindparam("ids", expanding=True)),
)


@lru_cache(maxsize=16)
def passages_after_query(fields: Shape) -> Any:
    """Passages after a doc, at most so many, with the columns of a `PassageBlock`."""
    numbers = ("doc", "time", "length", "turn", "traits", "expires_at")
    names = ("message_id", "conversation", "role", "author", "language")
    columns = [entries.c[name] for name in (*numbers, *names, "terms")]
    is_after = entries.c.doc > bindparam("after_doc")
    query = select(*columns).where(*filter_conditions(entries, fields), is_after).order_by(entries.c.doc)
    return query.limit(bindparam("most", type_=Integer))


@lru_cache(maxsize=16)
def docs_upto_query(fields: Shape) -> Any:
    """The docs of a scope up to one."""
    conditions = filter_conditions(entries, fields)
    return select(entries.c.doc).where(*conditions, entries.c.doc <= bindparam("upto_doc")).order_by(entries.c.doc)


@lru_cache(maxsize=16)
def vectors_after_query(fields: Shape) -> Any:
    """Vectors after a doc and up to another."""
    is_between = (vectors.c.doc > bindparam("after_doc"), vectors.c.doc <= bindparam("upto_doc"))
    query = select(vectors.c.doc, vectors.c.vec).where(*filter_conditions(vectors, fields), *is_between)
    return query.order_by(vectors.c.doc)


def comparison_shape(where: Mapping[str, Any]) -> Comparison:
    return tuple((name, comparison_kind(value)) for name, value in where.items())


def comparison_kind(value: Any) -> ComparisonKind:
    """How a column is compared with a value. With a tuple of one it is as with the value: that needs no list in SQL."""
    if value is None:
        return "none"
    return "some" if isinstance(value, tuple) and len(value) != 1 else "value"


def comparison_values(where: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a comparison of columns is run with."""
    return {
        f"the_{name}": value[0] if isinstance(value, tuple) and len(value) == 1 else value
        for name, value in where.items()
        if value is not None
    }


@lru_cache(maxsize=64)
def key_names(table: Table) -> tuple[str, ...]:
    return tuple([key.name for key in table.primary_key])


def equality_conditions(table: Table, comparison: Comparison, without_index: Sequence[str] = ()) -> list[Any]:
    """Conditions that each column has its value, or one of its values; for some of them no index is used."""

    def condition(name: str, kind: ComparisonKind) -> Any:
        column: Any = func.coalesce(table.c[name], table.c[name]) if name in without_index else table.c[name]
        if kind == "none":
            return column.is_(None)
        parameter: Any = bindparam(f"the_{name}", expanding=kind == "some")
        return column.in_(parameter) if kind == "some" else column == parameter

    return [condition(name, kind) for name, kind in comparison]


@lru_cache(maxsize=16)
def conversations_query(comparison: Comparison, with_empty: bool) -> Any:
    """Conversations after a space and id, at most so many, in their order."""
    keys = (conversations.c.space, conversations.c.id)
    past = (bindparam(f"after_{key.name}", type_=key.type) for key in keys)
    query = select(conversations).where(*equality_conditions(conversations, comparison), tuple_(*keys) > tuple_(*past))
    query = query if with_empty else query.where(HAS_SOMETHING)
    return query.order_by(*keys).limit(bindparam("most", type_=Integer))


@lru_cache(maxsize=8)
def recent_query(comparison: Comparison, has_before: bool) -> Any:
    """Conversations that hold something, those that changed last first."""
    order = (conversations.c.changed_at, conversations.c.id)
    query = select(conversations).where(*equality_conditions(conversations, comparison), HAS_SOMETHING)
    if has_before:
        place = (bindparam("before_time", type_=BigInteger), bindparam("before_id", type_=Text))
        query = query.where(tuple_(*order) < tuple_(*place))
    return query.order_by(*(key.desc() for key in order)).limit(bindparam("most", type_=Integer))


@cache
def days_query() -> Any:
    """How many messages of a space there are of each day, counted from 1970."""
    day = type_coerce(messages.c.time, BigInteger) // literal(DAY, BigInteger)
    since = messages.c.time >= bindparam("since", type_=Instant)
    in_space = messages.c.space == bindparam("of_space")
    return select(day, func.count()).where(in_space, since, messages.c.erasure.is_(None)).group_by(day)


@lru_cache(maxsize=256)
def delete_statement(table: Table, comparison: Comparison) -> Any:
    return delete(table).where(*equality_conditions(table, comparison))


@lru_cache(maxsize=512)
def rows_query(table: Table, comparison: Comparison, after: bool, has_limit: bool, newest: bool) -> Any:
    """Rows of any table in the order of its key. Few rows that have the values of other columns are found by an index
    of these and sorted: SQLite would read all rows by their key, to have them in its order."""
    keys = list(table.primary_key)
    conditions = equality_conditions(table, comparison)
    order: list[Any] = keys
    if not (after or has_limit or is_found_by_key(table, comparison)):
        order = [func.coalesce(key, key) for key in keys]
        places = [name for name, _ in comparison if name in keys_within_scope(table)]
        conditions = equality_conditions(table, comparison, without_index=places)
    query = select(table).where(*conditions)
    query = query.order_by(*(key.desc() for key in order)) if newest else query.order_by(*order)
    if after:
        # Of rows that are alike in the first columns only the others are compared: so the index finds where to begin.
        same_names = {name for name, kind in comparison if kind == "value"}
        later_keys = list(dropwhile(lambda key: key.name in same_names, keys)) or keys
        past = [bindparam(f"after_{key.name}", type_=key.type) for key in later_keys]
        query = query.where(tuple_(*later_keys) > tuple_(*past) if len(later_keys) > 1 else later_keys[0] > past[0])
    return query.limit(bindparam("most", type_=Integer)) if has_limit else query


def is_found_by_key(table: Table, comparison: Comparison) -> bool:
    """Whether the columns of a comparison are the first of the table's key: then its rows are found in their order."""
    names = {name for name, _ in comparison}
    return names == {key.name for key in list(table.primary_key)[: len(names)]}


def keys_within_scope(table: Table) -> set[str]:
    """The columns of a table's key that are numbers, such as turns and levels: places within a conversation."""
    return {key.name for key in table.primary_key if isinstance(key.type, Integer)}


@lru_cache(maxsize=256)
def vectors_query(table: Table, comparison: Comparison) -> Any:
    """The vectors of a table's rows with their keys."""
    return select(table.c.vec, *table.primary_key).where(
        *equality_conditions(table, comparison), table.c.vec.is_not(None)
    )


def _is_at_any_place(table: Table) -> tuple[Any, ...]:
    is_listed_conversation = table.c.conversation.in_(bindparam("at_each", expanding=True))
    return table.c.space == bindparam("at_space"), table.c.view == bindparam("at_view"), is_listed_conversation


HOLDERS = (
    select(leases.c.conversation, leases.c.holder, leases.c.until)
    .where(*_is_at_any_place(leases))
    .order_by(leases.c.conversation)  # so that everybody locks in the same order
)
VERSIONS = select(meta.c.key, meta.c.value).where(meta.c.key >= VERSION_NOTE, meta.c.key < f"{VERSION_NOTE}\uffff")
NOTE = select(meta.c.value).where(meta.c.key == bindparam("key"))
FIND_CONVERSATION = select(conversations).where(
    conversations.c.space == bindparam("space"), conversations.c.id == bindparam("id")
)

SAVED = ("user_id", "created_at", "changed_at", "turns", "head", "changes", "changes_head")  # of a conversation
GROWN = ("changed_at", "turns", "head")  # what changes of it with a new message
read_ungrown = attrgetter(*(field.name for field in fields(Conversation) if field.name not in GROWN))


def _save_statement(table: Any, names: Sequence[str]) -> Any:
    """Save these columns of a conversation."""
    is_at_place = (table.c.space == bindparam("at_space"), table.c.id == bindparam("at_id"))
    return update(table).where(*is_at_place).values({name: bindparam(name) for name in names})


SAVE_CONVERSATION = _save_statement(conversations, SAVED)
# Not all columns: SQLite would write the entry of the user's index anew, too.
SAVE_GROWTH = _save_statement(untyped(conversations), GROWN)

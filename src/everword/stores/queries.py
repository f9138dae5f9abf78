"""Statements, each built once for its shape (`statement_of`): to build one costs more than to run it.

The values are bound when a statement runs. The shape is everything that changes its text: the table, the columns that
are compared, the order, whether a value is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import dropwhile
from typing import Any, Literal, ParamSpec, TypeVar

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Integer,
    Table,
    TableClause,
    Text,
    and_,
    any_,
    bindparam,
    case,
    column,
    delete,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    table,
    true,
    tuple_,
    type_coerce,
    update,
)

from everword.model import Filter
from everword.ports import STAND_IN, VERSION_NOTE, UpTo
from everword.stores.tables import (
    AHEAD_OF,
    FOLLOWS,
    VIEW_TABLES,
    Instant,
    chunks,
    conversations,
    cursors,
    entries,
    erasures,
    events,
    leases,
    messages,
    meta,
    set_aside,
    tallies,
    vectors,
)

P = ParamSpec("P")
T = TypeVar("T")
Shape = tuple[str, ...]
# A column is compared with a value, with NULL, with several values, or is at most a value.
ComparisonKind = Literal["value", "none", "some", "most"]
Comparison = tuple[tuple[str, ComparisonKind], ...]
After = Literal[
    "", "turn", "place"
]  # where messages start: at the beginning, after a turn, or after a turn of a conversation

Spaces = Literal["all", "one", "some", "none"]  # of which rows are read

DAY = 86_400_000_000  # microseconds
MARKED = "marked"
_COLUMNS = {"user": "user_id"}  # where a column has another name than the filter's field


def statement_of(build: Callable[P, T], *shape: P.args, **_: P.kwargs) -> T:
    """The statement that a function builds from its shape. For the same shape it is the same statement: to build one
    anew takes longer than to run it."""
    statement: T = _build_statement(build, shape)
    return statement


@lru_cache(maxsize=4096)
def _build_statement(build: Callable[..., Any], shape: tuple[Any, ...]) -> Any:
    return build(*shape)


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


def messages_query(
    fields: Shape, after: After, has_upto: bool, has_limit: bool, newest: bool, among: bool, turns: bool
) -> Any:
    """Messages by conversation and turn."""
    keys = (messages.c.conversation, messages.c.turn)
    query = select(messages).where(*filter_conditions(messages, fields))
    if among:
        query = query.where(messages.c.conversation.in_(bindparam("among", expanding=True)))
    if turns:
        query = query.where(messages.c.turn.in_(bindparam("turns", expanding=True)))
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


def passages_after_query(fields: Shape) -> Any:
    """Passages after a doc, at most so many, with the columns of a `PassageBlock`."""
    numbers = ("doc", "time", "length", "turn", "traits", "expires_at")
    names = ("message_id", "conversation", "role", "author", "language")
    columns = [entries.c[name] for name in (*numbers, *names, "terms")]
    is_after = entries.c.doc > bindparam("after_doc")
    query = select(*columns).where(*filter_conditions(entries, fields), is_after).order_by(entries.c.doc)
    return query.limit(bindparam("most", type_=Integer))


def docs_upto_query(fields: Shape) -> Any:
    """The docs of a scope up to one."""
    conditions = filter_conditions(entries, fields)
    return select(entries.c.doc).where(*conditions, entries.c.doc <= bindparam("upto_doc")).order_by(entries.c.doc)


def vectors_after_query(fields: Shape, vector: Any = vectors.c.vec) -> Any:
    """Vectors after a doc and up to another. Whose conversation a passage is of is known from `entries`."""
    table = entries if "conversation" in fields else vectors
    is_between = (table.c.doc > bindparam("after_doc"), table.c.doc <= bindparam("upto_doc"))
    query = select(table.c.doc, vector).where(*filter_conditions(table, fields), *is_between).order_by(table.c.doc)
    return query.join_from(entries, vectors, is_of_passage()) if table is entries else query


def is_of_passage() -> Any:
    """A condition: a vector is of a passage."""
    return and_(
        vectors.c.space == entries.c.space, vectors.c.user_id == entries.c.user_id, vectors.c.doc == entries.c.doc
    )


def comparison_shape(where: Mapping[str, Any]) -> Comparison:
    return tuple((name, comparison_kind(value)) for name, value in where.items())


def comparison_kind(value: Any) -> ComparisonKind:
    """How a column is compared with a value. With a tuple of one it is as with the value: that needs no list in SQL."""
    if value is None:
        return "none"
    if isinstance(value, UpTo):
        return "most"
    return "some" if isinstance(value, tuple) and len(value) != 1 else "value"


def comparison_values(where: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a comparison of columns is run with."""

    def bound_value(value: Any) -> Any:
        if isinstance(value, UpTo):
            return value.end
        return value[0] if isinstance(value, tuple) and len(value) == 1 else value

    return {f"the_{name}": bound_value(value) for name, value in where.items() if value is not None}


def key_names(table: Table) -> tuple[str, ...]:
    return tuple([key.name for key in table.primary_key])


def equality_conditions(table: Table, comparison: Comparison, without_index: Sequence[str] = ()) -> list[Any]:
    """Conditions that each column has its value, or one of its values; for some of them no index is used."""

    def condition(name: str, kind: ComparisonKind) -> Any:
        column: Any = func.coalesce(table.c[name], table.c[name]) if name in without_index else table.c[name]
        if kind == "none":
            return column.is_(None)
        parameter: Any = bindparam(f"the_{name}", expanding=kind == "some")
        if kind == "most":
            return column <= parameter
        return column.in_(parameter) if kind == "some" else column == parameter

    return [condition(name, kind) for name, kind in comparison]


def has_something(comparison: Comparison) -> Any:
    """A condition: a conversation is new, has a message that is not erased, or what is kept of messages that expired.
    Each conversation is looked up by itself: PostgreSQL would read all messages of the store once (`OFFSET` keeps it
    from that)."""
    space: Any = bindparam("the_space") if ("space", "value") in comparison else conversations.c.space
    is_new = and_(conversations.c.turns == 0, conversations.c.changes == 0)
    places = ((messages, (messages.c.erasure.is_(None),)), (chunks, ()))
    return or_(
        is_new,
        *(
            select(table.c.space)
            .where(table.c.space == space, table.c.conversation == conversations.c.id, *conditions)
            .offset(literal_column("0"))
            .exists()
            for table, conditions in places
        ),
    )


def conversations_query(comparison: Comparison) -> Any:
    """Conversations after a space and id, at most so many, in their order."""
    keys = (conversations.c.space, conversations.c.id)
    past = (bindparam(f"after_{key.name}", type_=key.type) for key in keys)
    query = select(conversations).where(*equality_conditions(conversations, comparison), tuple_(*keys) > tuple_(*past))
    return query.order_by(*keys).limit(bindparam("most", type_=Integer))


def recent_query(comparison: Comparison, has_before: bool) -> Any:
    """Conversations that hold something, those with the newest messages first."""
    order = (conversations.c.last_message_at, conversations.c.id)
    query = select(conversations).where(*equality_conditions(conversations, comparison), has_something(comparison))
    if has_before:
        place = (bindparam("before_time", type_=BigInteger), bindparam("before_id", type_=Text))
        query = query.where(tuple_(*order) < tuple_(*place))
    return query.order_by(*(key.desc() for key in order)).limit(bindparam("most", type_=Integer))


# How many messages of a space there are of each day, counted from 1970.
_DAY_NUMBER = type_coerce(messages.c.time, BigInteger) // literal(DAY, BigInteger)
DAYS = (
    select(_DAY_NUMBER, func.count())
    .where(messages.c.space == bindparam("of_space"), messages.c.time >= bindparam("since", type_=Instant))
    .where(messages.c.erasure.is_(None))
    .group_by(_DAY_NUMBER)
)


def delete_statement(table: Table, comparison: Comparison) -> Any:
    return delete(table).where(*equality_conditions(table, comparison))


def rows_query(
    table: Table, comparison: Comparison, after: bool, has_limit: bool, newest: bool, columns: tuple[str, ...] = ()
) -> Any:
    """Rows of any table in the order of its key. Few rows that have the values of other columns are found by an index
    of these and sorted: SQLite would read all rows by their key, to have them in its order."""
    keys = list(table.primary_key)
    conditions = equality_conditions(table, comparison)
    order: list[Any] = keys
    if not (after or has_limit or is_found_by_key(table, comparison)):
        order = [func.coalesce(key, key) for key in keys]
        places = [name for name, _ in comparison if name in keys_within_scope(table)]
        conditions = equality_conditions(table, comparison, without_index=places)
    query = select(*(table.c[name] for name in columns or table.c.keys())).where(*conditions)
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


def vectors_query(table: Table, comparison: Comparison) -> Any:
    """The vectors of a table's rows with their keys."""
    return select(table.c.vec, *table.primary_key).where(
        *equality_conditions(table, comparison), table.c.vec.is_not(None)
    )


def holders_query(comparison: Comparison) -> Any:
    """Leases with their holders and ends; in the order of their key, so that everybody locks in the same order."""
    columns = (leases.c.conversation, leases.c.holder, leases.c.until)
    return select(*columns).where(*equality_conditions(leases, comparison)).order_by(leases.c.conversation)


VERSIONS = select(meta.c.key, meta.c.value).where(meta.c.key >= VERSION_NOTE, meta.c.key < f"{VERSION_NOTE}\uffff")
NOTE = select(meta.c.value).where(meta.c.key == bindparam("key"))
FIND_CONVERSATION = select(conversations).where(
    conversations.c.space == bindparam("space"), conversations.c.id == bindparam("id")
)

SAVED = ("user_id", "created_at", "changed_at", "turns", "head", "changes", "changes_head", "last_message_at")
SAVE_CONVERSATION = (
    update(conversations)
    .where(conversations.c.space == bindparam("at_space"), conversations.c.id == bindparam("at_id"))
    .values({name: bindparam(name) for name in SAVED})
)
LONGER = conversations.c.characters + bindparam("more_characters", type_=BigInteger)
SAVE_LONGER_CONVERSATION = SAVE_CONVERSATION.values(unread=1, characters=LONGER)
NOTE_LENGTH = (
    update(conversations)
    .where(conversations.c.space == bindparam("at_space"), conversations.c.id == bindparam("at_id"))
    .values(characters=LONGER)
)


# -- how far views are: cursors, leases, and what was set aside
#
# `unread` of a conversation is 1 unless every view has read all of it. So what is behind is looked for among few.

WEBHOOKS = "webhooks"
"""The name under which events for receivers are shown among the views, and the note that there are receivers."""
IS_UNREAD = conversations.c.unread == literal_column("1")
IS_LEASED_OR_WAITING = or_(leases.c.until.is_not(None), leases.c.retry_at.is_not(None))


def has_note(view: str) -> bool:
    """Whether `unread` says for a view that it has something to read. The note is of the views that have tables;
    another one, which makes vectors anew, looks at all conversations."""
    return view in VIEW_TABLES or view in AHEAD_OF


def may_be_unread(view: str) -> Any:
    """A condition that holds for every conversation of which a view has something to read."""
    return IS_UNREAD if has_note(view) else true()


def rows_with_work(view: str, since: datetime | None) -> tuple[str, str]:
    """The table and the condition, in SQL, of the conversations that a view may have to read."""
    conditions = ["unread = 1"] if has_note(view) else ["true"]
    conditions += [f"changed_at >= {Instant.encode(since)}"] if since is not None else []
    return conversations.name, " AND ".join(conditions)


def rows_due(view: str, now: datetime) -> tuple[str, str]:
    """The same of the messages that were set aside and are due for a retry."""
    return set_aside.name, f"view = '{view}' AND retry_at <= {Instant.encode(now)}"


def is_read_by_all() -> Any:
    """A condition: the cursor of every view is at the end of the conversation, which is `of_space`."""
    is_at_end = (
        cursors.c.space == bindparam("of_space"),  # by value: on several machines, only one is asked
        cursors.c.conversation == conversations.c.id,
        cursors.c.view.in_([literal_column(f"'{view}'") for view in VIEW_TABLES]),
        cursors.c.turn >= conversations.c.turns,
    )
    finished = select(func.count()).where(*is_at_end).correlate(conversations).scalar_subquery()
    return finished == literal_column(str(len(VIEW_TABLES)))


def _is_one_of() -> tuple[Any, ...]:
    return conversations.c.space == bindparam("of_space"), conversations.c.id.in_(bindparam("ids", expanding=True))


# Of some conversations those whose note is not right, with that note; and what corrects it.
WRONGLY_NOTED = select(conversations.c.id, conversations.c.unread).where(
    *_is_one_of(), conversations.c.unread == case((is_read_by_all(), 1), else_=0)
)
NOTED_AS_UNREAD = select(conversations.c.id).where(*_is_one_of(), IS_UNREAD)
NOTE_AS_READ = update(conversations).where(*_is_one_of(), is_read_by_all()).values(unread=0)


def note_unread_statement(fields: tuple[str, ...]) -> Any:
    """Note all conversations as unread, or those of a space, or one of them."""
    columns = {"space": conversations.c.space, "conversation": conversations.c.id}
    conditions = [column == bindparam(f"the_{name}") for name, column in columns.items() if name in fields]
    return update(conversations).where(*conditions, conversations.c.unread == 0).values(unread=1)


def view_join(table: Any, view: str) -> Any:
    """Joins a view's row to its conversation."""
    return and_(
        table.c.space == conversations.c.space,
        table.c.view == view,
        table.c.conversation == conversations.c.id,
    )


def progress_target(view: str) -> tuple[Any, Any]:
    """The turn a view has to reach, and the tables to read it from: the end of the log, or another view's cursor."""
    leader = FOLLOWS.get(view)
    if leader is None:
        return conversations.c.turns, conversations
    before = cursors.alias("before")
    return func.coalesce(before.c.turn, 0), conversations.outerjoin(before, view_join(before, leader))


def lease_is_free(now: Any) -> Any:
    """A condition: nobody holds the lease, and no retry has to be waited for."""
    return and_(
        or_(leases.c.until.is_(None), leases.c.until <= now),
        or_(leases.c.retry_at.is_(None), leases.c.retry_at <= now),
    )


def is_of_spaces(tx: type[Any], column: Any, spaces: Spaces) -> tuple[Any, ...]:
    """The condition, if there is one, that a row is of a space or of one of several."""
    if spaces == "some":
        return (column == any_(bindparam("of_spaces", type_=ARRAY(Text))),)
    return (tx.without_index(column) == bindparam("of_space"),) if spaces == "one" else ()


def lagging_query(tx: type[Any], view: str, has_since: bool, has_besides: bool, spaces: Spaces) -> Any:
    """The conversations that a view has not finished. With `besides`, those of other spaces: the first of each space
    before the second of any."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    limit = bindparam("most", type_=Integer)
    changed_at = conversations.c.changed_at
    query = (
        select(conversations.c.space, conversations.c.id, cursor_turn.label("done"), turns.label("turns"))
        .select_from(source.outerjoin(cursors, view_join(cursors, view)).outerjoin(leases, view_join(leases, view)))
        .where(may_be_unread(view), turns > cursor_turn, lease_is_free(bindparam("now", type_=Instant)))
    )
    if has_since:
        query = query.where(changed_at >= bindparam("since", type_=Instant))
    query = query.where(*is_of_spaces(tx, conversations.c.space, spaces))
    if not has_besides:
        return query.order_by(changed_at).limit(limit)
    place = func.row_number().over(partition_by=conversations.c.space, order_by=changed_at)
    query = query.where(conversations.c.space.not_in(bindparam("besides", expanding=True)))
    rows = query.add_columns(place.label("place"), changed_at).subquery()
    lags = select(rows.c.space, rows.c.id, rows.c.done, rows.c.turns)
    return lags.order_by(rows.c.place, rows.c.changed_at).limit(limit)


def unseen_query(tx: type[Any], view: str, scope: tuple[str, ...]) -> Any:
    """Whether a view has turns of a space, of what a user may have said or of a conversation to see, also if a worker
    holds the lease; without those that wait for a retry."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    # Not by the key: few conversations are unread, but a space may have very many.
    space = conversations.c.space if "conversation" in scope else tx.without_index(conversations.c.space)
    owner = tx.without_index(conversations.c.user_id)
    conditions = {
        "user": or_(owner == bindparam("of_user"), owner.is_(None)),
        "conversation": conversations.c.id == bindparam("of_conversation"),
    }
    return (
        select(conversations.c.id)
        .select_from(source.outerjoin(cursors, view_join(cursors, view)).outerjoin(leases, view_join(leases, view)))
        .where(
            space == bindparam("of_space"),
            *(conditions[name] for name in scope),
            may_be_unread(view),
            conversations.c.changed_at >= bindparam("since", type_=Instant),
            turns > cursor_turn,
            or_(leases.c.retry_at.is_(None), leases.c.retry_at <= bindparam("now", type_=Instant)),
        )
        .limit(1)
    )


def changed_query(of_conversation: bool) -> Any:
    """Whether a view has to read a message of a space, or of a conversation, again that was changed."""
    places = (set_aside.c.conversation == bindparam("of_conversation"),) if of_conversation else ()
    return (
        select(set_aside.c.turn)
        .where(
            set_aside.c.space == bindparam("of_space"),
            set_aside.c.view == bindparam("of_view"),
            *places,
            set_aside.c.failures == 0,
            set_aside.c.retry_at <= bindparam("now", type_=Instant),
        )
        .limit(1)
    )


def due_query(tx: type[Any], changed: bool, spaces: Spaces) -> Any:
    """Messages that were set aside and are due for a retry: the first of each space before the second of any. With
    `changed`, only those on which nothing failed."""
    place = func.row_number().over(partition_by=set_aside.c.space, order_by=set_aside.c.retry_at)
    conditions = [set_aside.c.view == bindparam("of_view"), set_aside.c.retry_at <= bindparam("now", type_=Instant)]
    conditions += [set_aside.c.failures == 0] if changed else []
    conditions += is_of_spaces(tx, set_aside.c.space, spaces)
    rows = select(set_aside, place.label("place")).where(*conditions).subquery()
    columns = (rows.c[column.name] for column in set_aside.c)
    return select(*columns).order_by(rows.c.place, rows.c.retry_at).limit(bindparam("most", type_=Integer))


def claim_statement(tx: type[Any]) -> Any:
    """An INSERT that gives the lease to a holder, if it is free or theirs."""
    insert = tx.upsert(leases)
    return insert.on_conflict_do_update(
        index_elements=list(leases.primary_key),
        set_={"holder": insert.excluded.holder, "until": insert.excluded.until},
        where=or_(leases.c.holder == bindparam("by"), lease_is_free(bindparam("now", type_=Instant))),
    )


def release_statement(has_error: bool) -> Any:
    place = (
        leases.c.space == bindparam("in_space"),
        leases.c.view == bindparam("of_view"),
        leases.c.conversation == bindparam("in_conversation"),
    )
    return (
        update(leases)
        .where(*place, leases.c.holder == bindparam("by"))
        .values(holder=None, until=None, failures=leases.c.failures + 1 if has_error else 0)
        .values(error=bindparam("error"), retry_at=bindparam("retry_at"))
    )


def view_state_query(tx: type[Any], view: str, of_space: bool) -> Any:
    """One row: the leases of a view, what it has set aside, what it is to read again since that was changed, and how
    many turns it is behind in all. One statement and not three: `settle` asks for every view."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    # A view that follows another may be ahead of it: that must not reduce the sum of the other conversations.
    missing_turns = case((turns > cursor_turn, turns - cursor_turn), else_=0)
    distance = select(func.coalesce(func.sum(missing_turns), 0)).select_from(
        source.outerjoin(cursors, view_join(cursors, view))
    )
    distance = distance.where(may_be_unread(view))
    if view == WEBHOOKS:
        distance = select(func.count()).select_from(events)
    now = bindparam("now", type_=Instant)
    work = select(
        func.count().filter(leases.c.retry_at > now),
        func.count().filter(leases.c.until > now),
        func.count().filter(leases.c.retry_at > now, leases.c.error.startswith(STAND_IN)),
        func.max(leases.c.error),
    ).where(leases.c.view == view, IS_LEASED_OR_WAITING)
    is_changed = set_aside.c.failures == 0
    is_waiting = and_(is_changed, set_aside.c.retry_at > now)
    aside = select(
        func.count().filter(not_(is_changed)),
        func.max(set_aside.c.error).filter(or_(not_(is_changed), is_waiting)),
        func.count().filter(is_changed),
        func.count().filter(is_waiting),
        func.count().filter(is_waiting, set_aside.c.error.startswith(STAND_IN)),
    ).where(set_aside.c.view == view)
    if of_space:
        source_space = events.c.space if view == WEBHOOKS else tx.without_index(conversations.c.space)
        distance = distance.where(source_space == bindparam("of_space"))
        work = work.where(leases.c.space == bindparam("of_space"))
        aside = aside.where(set_aside.c.space == bindparam("of_space"))
    lease_counts, aside_counts = work.subquery(), aside.subquery()
    return select(lease_counts, aside_counts, distance.scalar_subquery()).join_from(lease_counts, aside_counts, true())


def totals_queries(of_space: bool) -> tuple[Any, Any, Any, Any]:
    """Four queries: totals of conversations, of erasures, of passages, and the times of the first and last message.
    They read a row for each conversation, erasure and person, and no messages. Damaged times are left out."""

    def among(table: Any) -> list[Any]:
        return [table.c.space == bindparam("of_space")] if of_space else []

    conversation_totals = select(
        func.count(),
        func.count(conversations.c.space.distinct()),
        func.coalesce(func.sum(conversations.c.turns), 0),
        func.coalesce(func.sum(conversations.c.characters), 0),
    ).where(*among(conversations))
    erasure_totals = select(func.coalesce(func.sum(erasures.c.messages), 0)).where(*among(erasures))
    users = func.count(tallies.c.user_id.distinct()).filter(tallies.c.user_id != "")
    entry_totals = select(func.coalesce(func.sum(tallies.c.docs), 0), users).where(*among(tallies))
    spaces = select(conversations.c.space).where(*among(conversations)).distinct().subquery()
    is_date = messages.c.time.between(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    conditions = (messages.c.space == spaces.c.space, messages.c.erasure.is_(None), is_date)
    first, last = (
        select(end(messages.c.time)).where(*conditions).correlate(spaces).scalar_subquery()
        for end in (func.min, func.max)
    )
    return (
        conversation_totals,
        erasure_totals,
        entry_totals,
        select(func.min(first), func.max(last)).select_from(spaces),
    )

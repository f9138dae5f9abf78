"""How far each view is: cursors, leases, and the counts that `stats` shows.

A cursor is the last turn of a conversation that a view has seen. A lease says who works on it, until when, and how
often in a row that work has failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    Integer,
    and_,
    bindparam,
    case,
    func,
    not_,
    or_,
    select,
    true,
    update,
)

from everword.model import SetAside, Stats, ViewState
from everword.ports import STAND_IN, ConversationKey, Lag
from everword.secrets import marks_from_json
from everword.stores import queries, schema
from everword.stores.columns import Instant, is_mark_list
from everword.stores.rows import batches
from everword.stores.schema import FOLLOWS, conversations, cursors, leases, messages, set_aside, tallies
from everword.stores.sql import SqlTx


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


@lru_cache(maxsize=64)
def lagging_query(view: str, has_since: bool, has_besides: bool) -> Any:
    """The conversations that a view has not finished. With `besides`, those of other spaces: the first of each space
    before the second of any. Every view runs this after every message, so it is built once."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    limit = bindparam("most", type_=Integer)
    changed_at = conversations.c.changed_at
    query = (
        select(conversations.c.space, conversations.c.id, cursor_turn.label("done"), turns.label("turns"))
        .select_from(source.outerjoin(cursors, view_join(cursors, view)).outerjoin(leases, view_join(leases, view)))
        .where(turns > cursor_turn, lease_is_free(bindparam("now", type_=Instant)))
    )
    if has_since:
        query = query.where(changed_at >= bindparam("since", type_=Instant))
    if not has_besides:
        return query.order_by(changed_at).limit(limit)
    place = func.row_number().over(partition_by=conversations.c.space, order_by=changed_at)
    query = query.where(conversations.c.space.not_in(bindparam("besides", expanding=True)))
    rows = query.add_columns(place.label("place"), changed_at).subquery()
    lags = select(rows.c.space, rows.c.id, rows.c.done, rows.c.turns)
    return lags.order_by(rows.c.place, rows.c.changed_at).limit(limit)


@lru_cache(maxsize=64)
def unseen_query(tx: type[SqlTx], view: str) -> Any:
    """Whether a view has turns of a space to see, also if a worker holds the lease; without those that wait for a
    retry."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    return (
        select(conversations.c.id)
        .select_from(source.outerjoin(cursors, view_join(cursors, view)).outerjoin(leases, view_join(leases, view)))
        .where(
            # Not by the key: few conversations changed recently, but a space may have very many.
            tx.without_index(conversations.c.space) == bindparam("of_space"),
            conversations.c.changed_at >= bindparam("since", type_=Instant),
            turns > cursor_turn,
            or_(leases.c.retry_at.is_(None), leases.c.retry_at <= bindparam("now", type_=Instant)),
        )
        .limit(1)
    )


@cache
def changed_query() -> Any:
    """Whether a view has to read a message of a space again that was changed."""
    return (
        select(set_aside.c.turn)
        .where(
            set_aside.c.space == bindparam("of_space"),
            set_aside.c.view == bindparam("of_view"),
            set_aside.c.failures == 0,
            set_aside.c.retry_at <= bindparam("now", type_=Instant),
        )
        .limit(1)
    )


@cache
def due_query(changed: bool) -> Any:
    """Messages that were set aside and are due for a retry: the first of each space before the second of any. With
    `changed`, only those on which nothing failed."""
    place = func.row_number().over(partition_by=set_aside.c.space, order_by=set_aside.c.retry_at)
    conditions = [set_aside.c.view == bindparam("of_view"), set_aside.c.retry_at <= bindparam("now", type_=Instant)]
    conditions += [set_aside.c.failures == 0] if changed else []
    rows = select(set_aside, place.label("place")).where(*conditions).subquery()
    columns = (rows.c[column.name] for column in set_aside.c)
    return select(*columns).order_by(rows.c.place, rows.c.retry_at).limit(bindparam("most", type_=Integer))


@cache
def claim_statement(tx: type[SqlTx]) -> Any:
    """An INSERT that gives the lease to a holder, if it is free or theirs."""
    insert = tx.upsert(leases)
    return insert.on_conflict_do_update(
        index_elements=list(leases.primary_key),
        set_={"holder": insert.excluded.holder, "until": insert.excluded.until},
        where=or_(leases.c.holder == bindparam("by"), lease_is_free(bindparam("now", type_=Instant))),
    )


@cache
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


@lru_cache(maxsize=64)
def state_query(view: str, of_space: bool) -> Any:
    """One row: the leases of a view, what it has set aside, what it is to read again since that was changed, and how
    many turns it is behind in all. One statement and not three: `settle` asks for every view."""
    cursor_turn = func.coalesce(cursors.c.turn, 0)
    turns, source = progress_target(view)
    # A view that follows another may be ahead of it: that must not reduce the sum of the other conversations.
    missing_turns = case((turns > cursor_turn, turns - cursor_turn), else_=0)
    distance = select(func.coalesce(func.sum(missing_turns), 0)).select_from(
        source.outerjoin(cursors, view_join(cursors, view))
    )
    now = bindparam("now", type_=Instant)
    work = select(
        func.count().filter(leases.c.retry_at > now),
        func.count().filter(leases.c.until > now),
        func.count().filter(leases.c.retry_at > now, leases.c.error.startswith(STAND_IN)),
        func.max(leases.c.error),
    ).where(leases.c.view == view)
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
        distance = distance.where(conversations.c.space == bindparam("of_space"))
        work = work.where(leases.c.space == bindparam("of_space"))
        aside = aside.where(set_aside.c.space == bindparam("of_space"))
    lease_counts, aside_counts = work.subquery(), aside.subquery()
    return select(lease_counts, aside_counts, distance.scalar_subquery()).join_from(lease_counts, aside_counts, true())


@cache
def totals_queries(of_space: bool) -> tuple[Any, Any, Any]:
    """Three queries: totals of messages, of conversations, and of entries in the index. Damaged times are left out."""
    is_date = messages.c.time.between(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    message_totals = select(
        func.count(),
        func.count().filter(messages.c.erasure.is_not(None)),
        func.coalesce(func.sum(func.length(messages.c.content)), 0),
        func.min(messages.c.time).filter(messages.c.erasure.is_(None), is_date),
        func.max(messages.c.time).filter(messages.c.erasure.is_(None), is_date),
        func.count(messages.c.user_id.distinct()),
    ).select_from(messages)
    conversation_totals = select(func.count(), func.count(conversations.c.space.distinct())).select_from(conversations)
    entry_totals = select(func.coalesce(func.sum(tallies.c.docs), 0))
    if not of_space:
        return message_totals, conversation_totals, entry_totals
    space: Any = bindparam("of_space")
    return (
        message_totals.where(messages.c.space == space),
        conversation_totals.where(conversations.c.space == space),
        entry_totals.where(tallies.c.space == space),
    )


class ViewTx(SqlTx):
    """The operations on cursors and leases, the same in every database."""

    def lagging(
        self,
        view: str,
        now: datetime,
        *,
        since: datetime | None = None,
        limit: int = 100,
        besides: Collection[str] = (),
    ) -> list[Lag]:
        values: dict[str, Any] = {"now": now, "most": limit}
        values |= {"since": since} if since is not None else {}
        values |= {"besides": sorted(besides)} if besides else {}
        return [Lag(*row) for row in self.fetch(lagging_query(view, since is not None, bool(besides)), values)]

    def unseen(self, view: str, now: datetime, *, space: str, since: datetime) -> bool:
        values = {"now": now, "of_space": space}
        return bool(
            self.fetch(unseen_query(type(self), view), values | {"since": since})
            or self.fetch(changed_query(), values | {"of_view": view})
        )

    def claim(
        self, view: str, places: Sequence[ConversationKey], holder: str, now: datetime, until: datetime
    ) -> frozenset[ConversationKey]:
        if not places:
            return frozenset()
        same_for_all = {"view": view, "failures": 0, "holder": holder, "until": until, "by": holder, "now": now}
        # All workers lock in the same order, so that no two wait for each other.
        rows = [
            {"space": space, "conversation": conversation, **same_for_all} for space, conversation in sorted(places)
        ]
        self.write(leases, claim_statement(type(self)), rows)
        return frozenset(place for place, *lease in self._holders(view, places) if lease == [holder, until])

    def held_leases(self, view: str, places: Sequence[ConversationKey], holder: str) -> frozenset[ConversationKey]:
        return frozenset(place for place, place_holder, _ in self._holders(view, places) if place_holder == holder)

    def _holders(self, view: str, places: Sequence[ConversationKey]) -> Iterator[tuple[ConversationKey, Any, Any]]:
        """The leases on these places, with their holders and ends, locked until the transaction ends."""
        query = self.with_row_locks(queries.HOLDERS)
        for space in sorted({space for space, _ in places}):
            for batch in batches(sorted(conversation for own_space, conversation in places if own_space == space)):
                params = {"at_space": space, "at_view": view, "at_each": batch}
                for conversation, holder, until in self.fetch(query, params):
                    yield (space, conversation), holder, until

    def release(
        self,
        view: str,
        places: Sequence[ConversationKey],
        holder: str,
        *,
        error: str | None = None,
        retry_at: datetime | None = None,
    ) -> None:
        same_for_all = {"of_view": view, "by": holder, "error": error, "retry_at": retry_at}
        rows = [
            {"in_space": space, "in_conversation": conversation, **same_for_all}
            for space, conversation in sorted(places)
        ]
        if rows:
            self.write(leases, release_statement(error is not None), rows)

    def set_aside_due(self, view: str, now: datetime, limit: int, *, changed: bool = False) -> list[SetAside]:
        rows = self.fetch(due_query(changed), {"of_view": view, "now": now, "most": limit})
        return [SetAside(*row) for row in rows]

    def reset_view(self, view: str, space: str | None = None, conversation: str | None = None) -> None:
        for table in (*schema.VIEW_TABLES.get(view, ()), cursors, leases, set_aside):
            values = {"view": view if "view" in table.c else None, "space": space, "conversation": conversation}
            self.delete_rows(table, {name: value for name, value in values.items() if value is not None})

    def stats(self, now: datetime, space: str | None = None) -> Stats:
        of_space = {} if space is None else {"of_space": space}
        message_totals, conversation_totals, entry_totals = (
            self.connection.execute(query, of_space).one() for query in totals_queries(space is not None)
        )
        return Stats(
            store="",
            spaces=conversation_totals[1],
            conversations=conversation_totals[0],
            users=message_totals[5],
            messages=message_totals[0] - message_totals[1],
            erased=message_totals[1],
            characters=message_totals[2],
            first=message_totals[3],
            last=message_totals[4],
            entries=entry_totals[0],
            embedder=self.note("embedder"),
            views=tuple(self.view_state(view, now, space) for view in schema.VIEW_TABLES),
            secrets=self.count_secrets(space),
        )

    def count_secrets(self, space: str | None) -> dict[str, int]:
        """How many messages hold each kind of secret."""
        query = select(messages.c.secrets).where(messages.c.secrets.is_not(None))
        rows = self.connection.execute(query if space is None else query.where(messages.c.space == space))
        counts = Counter[str]()
        for row in rows:
            if is_mark_list(row[0]):  # a row that cannot be read is told by `verify`
                counts.update({mark.kind for mark in marks_from_json(row[0])})
        return dict(counts)

    def view_state(self, view: str, now: datetime, space: str | None) -> ViewState:
        values = {"now": now} | ({} if space is None else {"of_space": space})
        (row,) = self.fetch(state_query(view, space is not None), values)
        waiting, lease_count, standing_in, error, count, reason, *changes, behind = row
        changed, changed_waiting, changed_standing_in = changes
        return ViewState(
            view,
            int(behind) + changed,
            waiting + changed_waiting,
            lease_count,
            error or reason,
            standing_in + changed_standing_in,
            count,
        )

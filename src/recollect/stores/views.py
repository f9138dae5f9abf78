"""How far each view is: cursors, leases, and the counts that `stats` shows.

A cursor is the last turn a view has seen of a conversation. A lease says who is at work on it, until when, and how
often in a row that has failed.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, Table, bindparam, func, or_, select, update
from sqlalchemy import delete as sql_delete

from recollect.model import Stats, ViewState
from recollect.ports import STAND_IN, Lag
from recollect.stores import schema
from recollect.stores.rows import at, free, same, target
from recollect.stores.schema import Instant, conversations, cursors, leases, messages, tallies
from recollect.stores.sql import SqlTx


@lru_cache(maxsize=64)
def behind(view: str, lately: bool) -> Any:
    """Which conversations a view lags in. Asked after every message by every view, so built once."""
    done, (turns, source) = func.coalesce(cursors.c.turn, 0), target(view)
    query = (
        select(conversations.c.space, conversations.c.id, done, turns)
        .select_from(source.outerjoin(cursors, same(cursors, view)).outerjoin(leases, same(leases, view)))
        .where(turns > done, free(bindparam("now", type_=Instant)))
        .order_by(conversations.c.changed_at)
        .limit(bindparam("most", type_=Integer))
    )
    return query.where(conversations.c.changed_at >= bindparam("since", type_=Instant)) if lately else query


class ViewTx(SqlTx):
    """The operations on cursors and leases, the same in every database."""

    def lagging(self, view: str, now: datetime, *, since: datetime | None = None, limit: int = 100) -> list[Lag]:
        values: dict[str, Any] = {"now": now, "most": limit} | ({} if since is None else {"since": since})
        return [Lag(*row) for row in self.connection.execute(behind(view, since is not None), values)]

    def cursor(self, view: str, space: str, conversation: str) -> int:
        query = select(cursors.c.turn).where(*at(cursors, view, space, conversation))
        return self.connection.execute(query).scalar() or 0

    def set_cursor(self, view: str, space: str, conversation: str, turn: int) -> None:
        row = {"view": view, "space": space, "conversation": conversation, "turn": turn}
        insert = self.upsert(cursors)
        self.write(
            cursors,
            insert.on_conflict_do_update(index_elements=list(cursors.primary_key), set_={"turn": insert.excluded.turn}),
            row,
        )

    def claim(self, view: str, space: str, conversation: str, holder: str, now: datetime, until: datetime) -> bool:
        row = {
            "view": view,
            "space": space,
            "conversation": conversation,
            "holder": holder,
            "until": until,
            "failures": 0,
        }
        statement = self.upsert(leases).on_conflict_do_update(
            index_elements=list(leases.primary_key),
            set_={"holder": holder, "until": until},
            where=or_(leases.c.holder == holder, free(now)),
        )
        return self.write(leases, statement.returning(leases.c.holder), row).first() is not None

    def holds(self, view: str, space: str, conversation: str, holder: str) -> bool:
        query = self.locking(select(leases.c.holder).where(*at(leases, view, space, conversation)))
        return self.connection.execute(query).scalar() == holder

    def release(
        self,
        view: str,
        space: str,
        conversation: str,
        holder: str,
        *,
        error: str | None = None,
        retry_at: datetime | None = None,
    ) -> None:
        failures = 0 if error is None else leases.c.failures + 1
        self.write(
            leases,
            update(leases)
            .where(*at(leases, view, space, conversation), leases.c.holder == holder)
            .values(holder=None, until=None, failures=failures, error=error, retry_at=retry_at),
        )

    def failures(self, view: str, space: str, conversation: str) -> int:
        query = select(leases.c.failures).where(*at(leases, view, space, conversation))
        return self.connection.execute(query).scalar() or 0

    def reset_view(self, view: str, space: str | None = None) -> None:
        for table in (*schema.VIEW_TABLES.get(view, ()), cursors, leases):
            statement = sql_delete(table)
            if "view" in table.c:
                statement = statement.where(table.c.view == view)
            if space is not None:
                statement = statement.where(table.c.space == space)
            self.write(table, statement)

    def stats(self, now: datetime, space: str | None = None) -> Stats:
        def one(query: Any, table: Table) -> Any:
            return self.connection.execute(query if space is None else query.where(table.c.space == space)).one()

        kept = one(
            select(
                func.count(),
                func.count().filter(messages.c.erasure.is_not(None)),
                func.coalesce(func.sum(func.length(messages.c.content)), 0),
                func.min(messages.c.time).filter(messages.c.erasure.is_(None)),
                func.max(messages.c.time).filter(messages.c.erasure.is_(None)),
                func.count(messages.c.user_id.distinct()),
            ).select_from(messages),
            messages,
        )
        held = one(
            select(func.count(), func.count(conversations.c.space.distinct())).select_from(conversations),
            conversations,
        )
        indexed = one(select(func.coalesce(func.sum(tallies.c.docs), 0)), tallies)
        return Stats(
            store="",
            spaces=held[1],
            conversations=held[0],
            users=kept[5],
            messages=kept[0] - kept[1],
            erased=kept[1],
            characters=kept[2],
            first=kept[3],
            last=kept[4],
            entries=indexed[0],
            embedder=self.note("embedder"),
            views=tuple(self.view_state(view, now, space) for view in schema.VIEW_TABLES),
        )

    def view_state(self, view: str, now: datetime, space: str | None) -> ViewState:
        turns, source = target(view)
        query = select(func.coalesce(func.sum(turns - func.coalesce(cursors.c.turn, 0)), 0)).select_from(
            source.outerjoin(cursors, same(cursors, view))
        )
        work = select(
            func.count().filter(leases.c.retry_at > now),
            func.count().filter(leases.c.until > now),
            func.count().filter(leases.c.retry_at > now, leases.c.error.startswith(STAND_IN)),
            func.max(leases.c.error),
        ).where(leases.c.view == view)
        if space is not None:
            query, work = query.where(conversations.c.space == space), work.where(leases.c.space == space)
        waiting, leased, standing_in, error = self.connection.execute(work).one()
        behind = int(self.connection.execute(query).scalar() or 0)
        return ViewState(view, behind, waiting, leased, error, standing_in)

"""What every SQL database does the same way: the log, the cursors and leases, and the rows for copying.

A transaction is handed out by `SqlStore.write` and `SqlStore.read` and lives no longer than the function it is
given to. What the databases spell differently (locks, full text, vectors) is in `sqlite` and `postgres`.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import DBAPIError

from recollect.errors import StoreBusy, StoreError
from recollect.model import Conversation, Erasure, Filter, Message, Seal, Stats, ViewState
from recollect.ports import Lag, Tx
from recollect.stores import schema
from recollect.stores.schema import conversations, cursors, erasures, leases, messages, meta, tallies

T = TypeVar("T")
V = TypeVar("V")

FIXED = {
    "space",
    "conversation",
    "turn",
    "id",
    "role",
    "digest",
    "link",
}  # what a tombstone keeps of its message
BATCH = 500  # values in one IN (...): every database takes this many
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.25  # seconds between tries at a busy database


class SqlTx(ABC):
    """One transaction on a connection. `touched` collects the tables written to."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.touched: set[str] = set()

    # -- what the dialects spell differently

    @abstractmethod
    def upsert(self, table: Table) -> Any:
        """An INSERT that can say ON CONFLICT."""

    def locking(self, query: Select[Any]) -> Select[Any]:
        """The query, holding its rows until the transaction ends. A SQLite writer is alone already."""
        return query

    def write(self, table: Table, statement: Any, values: Any = None) -> Any:
        self.touched.add(table.name)
        return (
            self.connection.execute(statement, values)
            if values is not None
            else self.connection.execute(statement)
        )

    # -- the log

    def lock_conversation(self, fresh: Conversation) -> Conversation:
        query = self.locking(
            select(conversations).where(conversations.c.space == fresh.space, conversations.c.id == fresh.id)
        )
        row = self.connection.execute(query).first()
        if row is None:
            self.write(
                conversations, self.upsert(conversations).on_conflict_do_nothing(), conversation_row(fresh)
            )
            row = self.connection.execute(query).one()
        return to_conversation(row)

    def conversation(self, space: str, id: str) -> Conversation | None:
        row = self.connection.execute(
            select(conversations).where(conversations.c.space == space, conversations.c.id == id)
        ).first()
        return None if row is None else to_conversation(row)

    def conversations(
        self,
        space: str | None = None,
        user: str | None = None,
        after: tuple[str, str] = ("", ""),
        limit: int = 1000,
    ) -> list[Conversation]:
        key = tuple_(conversations.c.space, conversations.c.id)
        query = (
            select(conversations)
            .where(key > after)
            .order_by(conversations.c.space, conversations.c.id)
            .limit(limit)
        )
        if space is not None:
            query = query.where(conversations.c.space == space)
        if user is not None:
            query = query.where(conversations.c.user_id == user)
        return [to_conversation(row) for row in self.connection.execute(query)]

    def save_conversation(self, conversation: Conversation) -> None:
        row = conversation_row(conversation)
        table = conversations
        self.write(
            table,
            update(table).where(table.c.space == row.pop("space"), table.c.id == row.pop("id")).values(row),
        )

    def insert_messages(self, new: Sequence[Message]) -> None:
        if new:
            self.write(messages, messages.insert(), [message_row(message) for message in new])

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
    ) -> list[Message]:
        table, found = messages, []
        for some in batches(ids):
            found += self.connection.execute(
                select(table).where(table.c.space == space, table.c.id.in_(some))
            ).all()
        for some in batches(platform_ids):
            found += self.connection.execute(
                select(table).where(
                    table.c.space == space,
                    table.c.conversation == conversation,
                    table.c.platform_id.in_(some),
                )
            ).all()
        return [to_message(row) for row in found]

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Message]:
        table = messages
        keys = (table.c.conversation, table.c.turn)
        query = select(table).where(*conditions(table, where))
        if where.conversation is not None and after[0] == where.conversation:
            query = query.where(table.c.turn > after[1])
        elif after != ("", 0):
            query = query.where(tuple_(*keys) > after)
        if upto is not None:
            query = query.where(table.c.turn <= upto)
        query = query.order_by(*(key.desc() for key in keys)) if newest else query.order_by(*keys)
        rows = self.connection.execute(query if limit is None else query.limit(limit)).all()
        return [to_message(row) for row in (reversed(rows) if newest else rows)]

    def erase(self, erasure: Erasure, tombstones: Sequence[Message]) -> int:
        dropped = self.drop_entries(tombstones)
        table, kept = (
            messages,
            ("author", "user_id", "content", "time", "platform_id", "metadata", "erasure", "salt"),
        )
        here = and_(
            table.c.space == bindparam("in_space"),
            table.c.conversation == bindparam("in_conversation"),
            table.c.turn == bindparam("at_turn"),
        )
        statement = update(table).where(here).values({name: bindparam(name) for name in kept})
        rows = [message_row(message, erasure.id) for message in tombstones]
        for row in rows:
            row |= {"in_space": row["space"], "in_conversation": row["conversation"], "at_turn": row["turn"]}
        self.write(table, statement, [{k: v for k, v in row.items() if k not in FIXED} for row in rows])
        row = {"space": erasure.space, "id": erasure.id, "at": erasure.at, "messages": erasure.messages}
        self.write(erasures, erasures.insert(), row)
        return dropped

    @abstractmethod
    def drop_entries(self, messages: Sequence[Message]) -> int:
        """Take what the index holds of these messages out of it."""

    def erasures(self) -> dict[str, int]:
        return {row.id: row.messages for row in self.connection.execute(select(erasures))}

    def erased_by(self) -> dict[str | None, int]:
        query = select(messages.c.erasure, func.count()).where(messages.c.erasure.is_not(None))
        return {row[0]: row[1] for row in self.connection.execute(query.group_by(messages.c.erasure))}

    # -- views

    def lagging(
        self, view: str, now: datetime, *, since: datetime | None = None, limit: int = 100
    ) -> list[Lag]:
        done = func.coalesce(cursors.c.turn, 0)
        query = (
            select(conversations.c.space, conversations.c.id, done, conversations.c.turns)
            .select_from(
                conversations.outerjoin(cursors, same(cursors, view)).outerjoin(leases, same(leases, view))
            )
            .where(conversations.c.turns > done, free(now))
            .order_by(conversations.c.changed_at)
            .limit(limit)
        )
        if since is not None:
            query = query.where(conversations.c.changed_at >= since)
        return [Lag(*row) for row in self.connection.execute(query)]

    def cursor(self, view: str, space: str, conversation: str) -> int:
        query = select(cursors.c.turn).where(*at(cursors, view, space, conversation))
        return self.connection.execute(query).scalar() or 0

    def set_cursor(self, view: str, space: str, conversation: str, turn: int) -> None:
        row = {"view": view, "space": space, "conversation": conversation, "turn": turn}
        insert = self.upsert(cursors)
        self.write(
            cursors,
            insert.on_conflict_do_update(
                index_elements=list(cursors.primary_key), set_={"turn": insert.excluded.turn}
            ),
            row,
        )

    def claim(
        self, view: str, space: str, conversation: str, holder: str, now: datetime, until: datetime
    ) -> bool:
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
        return bool(self.write(leases, statement, row).rowcount)

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

    # -- the store itself

    def note(self, key: str) -> str | None:
        return self.connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar()

    def set_note(self, key: str, value: str | None) -> None:
        if value is None:
            self.write(meta, sql_delete(meta).where(meta.c.key == key))
            return
        insert = self.upsert(meta)
        self.write(
            meta,
            insert.on_conflict_do_update(index_elements=["key"], set_={"value": insert.excluded.value}),
            {"key": key, "value": value},
        )

    def stats(self, now: datetime, space: str | None = None) -> Stats:
        def one(query: Select[Any], table: Table) -> Row[Any]:
            return self.connection.execute(
                query if space is None else query.where(table.c.space == space)
            ).one()

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
        query = select(
            func.coalesce(func.sum(conversations.c.turns - func.coalesce(cursors.c.turn, 0)), 0)
        ).select_from(conversations.outerjoin(cursors, same(cursors, view)))
        work = select(
            func.count().filter(leases.c.retry_at > now),
            func.count().filter(leases.c.until > now),
            func.max(leases.c.error),
        ).where(leases.c.view == view)
        if space is not None:
            query, work = query.where(conversations.c.space == space), work.where(leases.c.space == space)
        waiting, leased, error = self.connection.execute(work).one()
        return ViewState(view, int(self.connection.execute(query).scalar() or 0), waiting, leased, error)

    def rows(self, table: str, after: Mapping[str, Any] | None, limit: int) -> list[Mapping[str, Any]]:
        source = schema.TABLES[table]
        keys = list(source.primary_key)
        query = select(source).order_by(*keys).limit(limit)
        if after is not None:
            query = query.where(tuple_(*keys) > tuple_(*(literal(after[key.name], key.type) for key in keys)))
        return [dict(row) for row in self.connection.execute(query).mappings()]

    def load(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.write(schema.TABLES[table], schema.TABLES[table].insert(), [dict(row) for row in rows])


# -- rows and values


def to_conversation(row: Row[Any]) -> Conversation:
    return Conversation(
        row.space, row.id, row.user_id, row.created_at, row.changed_at, row.turns, bytes(row.head)
    )


def conversation_row(value: Conversation) -> dict[str, Any]:
    return {
        "space": value.space,
        "id": value.id,
        "user_id": value.user,
        "created_at": value.created_at,
        "changed_at": value.changed_at,
        "turns": value.turns,
        "head": value.head,
    }


def to_message(row: Row[Any]) -> Message:
    (
        space,
        conversation,
        turn,
        id,
        role,
        author,
        user,
        content,
        at,
        platform_id,
        data,
        erasure,
        salt,
        digest,
        link,
    ) = row
    seal = Seal(bytes(salt), bytes(digest), bytes(link))
    return Message(
        space,
        conversation,
        turn,
        id,
        role,
        author,
        user,
        content,
        at,
        platform_id,
        data,
        erasure is not None,
        seal,
    )


def message_row(message: Message, erasure: str | None = None) -> dict[str, Any]:
    return {
        "space": message.space,
        "conversation": message.conversation,
        "turn": message.turn,
        "id": message.id,
        "role": message.role,
        "author": message.author,
        "user_id": message.user,
        "content": message.content,
        "time": message.time,
        "platform_id": message.platform_id,
        "metadata": message.metadata,
        "erasure": erasure,
        "salt": message.seal.salt,
        "digest": message.seal.digest,
        "link": message.seal.link,
    }


def conditions(table: Table, where: Filter) -> Iterator[Any]:
    """A filter as SQL, for any table that has the columns."""
    yield table.c.space == where.space
    if where.user is not None:
        yield table.c.user_id == where.user
    if where.author is not None:
        yield table.c.author == where.author
    if where.conversation is not None:
        yield table.c.conversation == where.conversation
    if where.role is not None:
        yield table.c.role == where.role
    if where.after is not None:
        yield table.c.time >= where.after
    if where.before is not None:
        yield table.c.time < where.before


def at(table: Table, view: str, space: str, conversation: str) -> tuple[Any, ...]:
    return table.c.space == space, table.c.view == view, table.c.conversation == conversation


def same(table: Table, view: str) -> Any:
    """Joins a view's row to its conversation."""
    return and_(
        table.c.space == conversations.c.space,
        table.c.view == view,
        table.c.conversation == conversations.c.id,
    )


def free(now: datetime) -> Any:
    """A lease nobody holds any more, with no retry to wait for."""
    return and_(
        or_(leases.c.until.is_(None), leases.c.until <= now),
        or_(leases.c.retry_at.is_(None), leases.c.retry_at <= now),
    )


def batches(values: Iterable[V]) -> Iterator[list[V]]:
    every = list(dict.fromkeys(values))
    return (every[i : i + BATCH] for i in range(0, len(every), BATCH))


# -- the store


class SqlStore(ABC):
    """Opens transactions, tries again when the database is busy, and translates its errors."""

    def __init__(self, engine: Engine, name: str, busy_seconds: float) -> None:
        self.engine = engine
        self._name = name
        self.busy_seconds = busy_seconds

    @property
    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"

    @abstractmethod
    def reading(self) -> Any:
        """A context manager: one snapshot, as a Tx."""

    @abstractmethod
    def writing(self) -> Any:
        """A context manager: one transaction, as a Tx; commits on leaving."""

    @abstractmethod
    def translate(self, error: DBAPIError) -> StoreError:
        """The database's error as one of ours; StoreBusy means: try again."""

    def read(self, fn: Callable[[Tx], T]) -> T:
        return self._again(fn, self.reading)

    def write(self, fn: Callable[[Tx], T]) -> T:
        return self._again(fn, self.writing)

    def _again(self, fn: Callable[[Tx], T], opened: Callable[[], Any]) -> T:
        deadline, pause = time.monotonic() + self.busy_seconds, FIRST_PAUSE
        while True:
            try:
                with opened() as tx:
                    return fn(tx)
            except DBAPIError as error:
                ours = self.translate(error)
                if not isinstance(ours, StoreBusy) or time.monotonic() + pause > deadline:
                    raise ours from error
            # Jitter, so that two writers who met once do not keep meeting.
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, LONGEST_PAUSE)

    def scrub(self) -> None:
        """Leave no trace of removed rows in the files, as far as the database can."""

    def close(self) -> None:
        self.engine.dispose()


@contextmanager
def transaction(connection: Connection, begin: str, commit: bool) -> Iterator[Connection]:
    """BEGIN as told, and COMMIT or ROLLBACK: the driver itself opens nothing behind our back."""
    connection.exec_driver_sql(begin)
    try:
        yield connection
    except BaseException:
        # If the connection is what failed, the server has rolled back already.
        with suppress(DBAPIError):
            connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT" if commit else "ROLLBACK")

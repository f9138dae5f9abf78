"""What every SQL database does the same way: the log, the cursors and leases, and the rows for copying.

A transaction is handed out by `SqlStore.write` and `SqlStore.read` and lives no longer than the function it is
given to. What the databases spell differently (locks, full text, vectors) is in `sqlite` and `postgres`.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import (
    Connection,
    Engine,
    Table,
    and_,
    bindparam,
    func,
    select,
    tuple_,
    update,
)
from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import DBAPIError, PendingRollbackError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from recollect.errors import DamagedMessage, StoreBusy, StoreError
from recollect.model import Conversation, Erasure, Filter, Message
from recollect.ports import Tx, Vectors
from recollect.stores import queries, schema
from recollect.stores.damage import ReadingTx, Tell, each_row
from recollect.stores.rows import (
    batches,
    conversation_row,
    message_row,
    to_conversation,
    turns_of,
)
from recollect.stores.schema import conversations, cursors, erasures, leases, messages, meta
from recollect.stores.vectors import cosines, stacked, unit

T = TypeVar("T")

FIXED = {
    "space",
    "conversation",
    "turn",
    "id",
    "role",
    "digest",
    "link",
}  # what a tombstone keeps of its message
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.25  # seconds between tries at a busy database


# Built once: on the path of every message, building a statement costs more than running it.
SAVE_CONVERSATION = (
    update(conversations)
    .where(conversations.c.space == bindparam("at_space"), conversations.c.id == bindparam("at_id"))
    .values({name: bindparam(name) for name in ("user_id", "created_at", "changed_at", "turns", "head")})
)
ADD_MESSAGES = messages.insert()


class SqlTx(ReadingTx, ABC):
    """One transaction on a connection. `touched` collects the tables written to."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.touched: set[str] = set()

    # -- what the dialects spell differently

    @staticmethod
    @abstractmethod
    def upsert(table: Table) -> Any:
        """An INSERT that can say ON CONFLICT."""

    def locking(self, query: Any) -> Any:
        """The query, holding its rows until the transaction ends. A SQLite writer is alone already."""
        return query

    def write(self, table: Table, statement: Any, values: Any = None) -> Any:
        self.touched.add(table.name)
        return self.connection.execute(statement, values) if values is not None else self.connection.execute(statement)

    # -- the log

    def lock_conversation(self, fresh: Conversation) -> Conversation:
        query, place = self.locking(queries.FIND_CONVERSATION), {"space": fresh.space, "id": fresh.id}
        with self.naming_damage(conversations, queries.FIND_CONVERSATION, place):
            row = self.connection.execute(query, place).first()
            if row is None:
                self.write(conversations, self.upsert(conversations).on_conflict_do_nothing(), conversation_row(fresh))
                row = self.connection.execute(query, place).one()
            return to_conversation(row)

    def conversation(self, space: str, id: str) -> Conversation | None:
        place = {"space": space, "id": id}
        with self.naming_damage(conversations, queries.FIND_CONVERSATION, place):
            row = self.connection.execute(queries.FIND_CONVERSATION, place).first()
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
            select(conversations).where(key > after).order_by(conversations.c.space, conversations.c.id).limit(limit)
        )
        if space is not None:
            query = query.where(conversations.c.space == space)
        if user is not None:
            query = query.where(conversations.c.user_id == user)
        with self.naming_damage(conversations, query, {}):
            return [to_conversation(row) for row in self.connection.execute(query)]

    def save_conversation(self, conversation: Conversation) -> None:
        row = conversation_row(conversation)
        self.write(conversations, SAVE_CONVERSATION, row | {"at_space": row.pop("space"), "at_id": row.pop("id")})

    def insert_messages(self, new: Sequence[Message]) -> None:
        if new:
            self.write(messages, ADD_MESSAGES, [message_row(message) for message in new])

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: Callable[[DamagedMessage], None] | None = None,
    ) -> list[Message]:
        found: list[Message] = []
        for some in batches(ids):
            found += self.decoded_messages(queries.MESSAGES_BY_ID, {"space": space, "ids": some}, damaged)
        for some in batches(platform_ids):
            asked = {"space": space, "conversation": conversation, "ids": some}
            found += self.decoded_messages(queries.MESSAGES_BY_PLATFORM_ID, asked, damaged)
        return found

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        among: Sequence[str] = (),
        damaged: Callable[[DamagedMessage], None] | None = None,
    ) -> list[Message]:
        asked = queries.values(where) | {"after_turn": after[1], "after_conversation": after[0]}
        asked |= {"upto": upto, "most": limit, "among": list(among)}
        start: queries.After = "place" if after != ("", 0) else ""
        if among or (where.conversation is not None and after[0] == where.conversation):
            start = "turn"
        limits = upto is not None, limit is not None, newest, bool(among)
        query = queries.of_messages(queries.shape(where), start, *limits)
        found = self.decoded_messages(query, asked, damaged, True, limit, newest)
        return found[::-1] if newest else found

    def erase(self, erasure: Erasure, tombstones: Sequence[Message], *, keep: Collection[str] = ()) -> int:
        self.revoke_leases(tombstones)  # first: it waits for whoever is storing at this moment
        dropped = self.drop_entries(tombstones)
        self.drop_tiers(tombstones)
        self.start_afresh(tombstones, keep)
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

    def drop_tiers(self, gone: Sequence[Message]) -> None:
        """What hangs on single messages: their tiers, what was told about topics they opened, and that a view failed
        on them."""
        for table in (schema.tiers, schema.topic_notes, schema.set_aside):
            for place in turns_of(gone, table):
                self.write(table, sql_delete(table).where(*place))

    def start_afresh(self, gone: Sequence[Message], keep: Collection[str] = ()) -> None:
        """What was made of a conversation as a whole is made again from what is left of it."""
        for space, conversation in sorted({(message.space, message.conversation) for message in gone}):
            for view in (view for view in schema.AFRESH if view not in keep):
                by_conversation = (table for table in schema.VIEW_TABLES[view] if "conversation" in table.c)
                for table in (*by_conversation, cursors, schema.set_aside):
                    here = [table.c.space == space, table.c.conversation == conversation]
                    here += [table.c.view == view] if "view" in table.c else []
                    self.write(table, sql_delete(table).where(*here))

    def revoke_leases(self, gone: Sequence[Message]) -> None:
        """Who has read these messages already and is thinking about them must not store what it thought; and nobody
        reads them now: until we end, the rows one would claim are ours."""
        places = sorted({(message.space, message.conversation) for message in gone})
        nobodys = {"holder": None, "until": None, "failures": 0}
        self.put(
            leases.name,
            [
                {"space": space, "view": view, "conversation": conversation, **nobodys}
                for space, conversation in places
                for view in schema.VIEW_TABLES
            ],
        )

    @abstractmethod
    def drop_entries(self, messages: Sequence[Message]) -> int:
        """Take what the index holds of these messages out of it."""

    def rename_conversation(self, space: str, old: str, new: str) -> None:
        there = self.conversation(space, old)
        if there is None:
            return
        # The row first: messages refer to it.
        self.write(conversations, conversations.insert(), conversation_row(replace(there, id=new)))
        for table in schema.TABLES.values():
            for column in (table.c[name] for name in ("conversation", "audience") if name in table.c):
                here = update(table).where(table.c.space == space, column == old)
                self.write(table, here.values({column.name: new}))
        people = schema.people
        spoke_there = (people.c.space == space, people.c.kind == "channel", people.c.name == old)
        self.write(people, update(people).where(*spoke_there).values(name=new))
        place = (conversations.c.space == space, conversations.c.id == old)
        self.write(conversations, sql_delete(conversations).where(*place))

    def erasures(self) -> dict[str, int]:
        return {row.id: row.messages for row in self.connection.execute(select(erasures))}

    def erased_by(self) -> dict[str | None, int]:
        query = select(messages.c.erasure, func.count()).where(messages.c.erasure.is_not(None))
        try:
            return {row[0]: row[1] for row in self.connection.execute(query.group_by(messages.c.erasure))}
        except DBAPIError as error:
            if not self.is_damage(error):
                raise
        every = each_row(self, messages, select(messages).order_by(*messages.primary_key), {})
        return Counter(row["erasure"] for row, problem in every if problem is None and row["erasure"] is not None)

    # -- the store itself

    def note(self, key: str) -> str | None:
        return self.connection.execute(queries.NOTE, {"key": key}).scalar()

    def set_note(self, key: str, value: str | None) -> None:
        if value is None:
            self.write(meta, sql_delete(meta).where(meta.c.key == key))
            return
        self.put(meta.name, [{"key": key, "value": value}])

    def rows(
        self,
        table: str,
        after: Mapping[str, Any] | None = None,
        limit: int | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        newest: bool = False,
        damaged: Tell | None = None,
    ) -> list[Mapping[str, Any]]:
        source = schema.TABLES[table]
        where = where or {}
        query = queries.of_rows(source, queries.compared(where), after is not None, limit is not None, newest)
        asked = queries.given(where) | {"most": limit}
        if after is not None:
            asked |= {f"after_{key.name}": after[key.name] for key in source.primary_key}
        if damaged is not None:
            return self.readable_rows(source, query, asked, limit, newest, damaged)
        with self.naming_damage(source, query, asked):
            return self._named(query, asked)

    def _named(self, query: Any, asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Rows with the names of their columns."""
        found = self.connection.execute(query, asked)
        names = tuple(found.keys())
        return [dict(zip(names, row, strict=True)) for row in found]

    def near(
        self, table: str, vector: Vectors, limit: int, *, where: Mapping[str, Any]
    ) -> list[tuple[Mapping[str, Any], float]]:
        source = schema.TABLES[table]
        keys = list(source.primary_key)
        query = queries.of_vectors(source, queries.compared(where))
        found = self.connection.execute(query, queries.given(where)).all()
        if not found:
            return []
        stored = stacked([row[0] for row in found])
        scores = cosines(unit(stored), unit(vector))
        top = np.argpartition(-scores, limit)[: limit + 1] if len(found) > limit + 1 else range(len(found))
        best = sorted(top, key=lambda i: (-float(scores[i]), tuple(found[i][1:])))[:limit]
        asked = {"keys": [tuple(found[i][1:]) for i in best]}
        rows = {tuple(row[key.name] for key in keys): row for row in self._named(queries.by_keys(source), asked)}
        return [(rows[tuple(found[i][1:])], float(scores[i])) for i in best]

    def put(self, table: str, rows: Sequence[Mapping[str, Any]], add: Sequence[str] = ()) -> None:
        if not rows:
            return
        source = schema.TABLES[table]
        statement = putting(type(self), source, tuple(rows[0]), tuple(add))
        self.write(source, statement, [dict(row) for row in rows])

    def remove(self, table: str, where: Mapping[str, Any]) -> int:
        source = schema.TABLES[table]
        if source in schema.LOG:
            raise StoreError(f"{table} is of the log, from which nothing is removed")
        here = [source.c[name] == value for name, value in where.items()]
        return int(self.write(source, sql_delete(source).where(*here)).rowcount)

    def lock(self, *what: str) -> None:
        """Wait until nobody else holds this lock."""

    def load(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.write(schema.TABLES[table], schema.TABLES[table].insert(), [dict(row) for row in rows])


@lru_cache(maxsize=256)
def putting(tx: type[SqlTx], table: Table, names: tuple[str, ...], add: tuple[str, ...]) -> Any:
    """An INSERT that changes the row that is there; columns to `add` to grow by what is given."""
    insert = tx.upsert(table)
    new = {name: insert.excluded[name] for name in names if not table.c[name].primary_key}
    changed = {name: table.c[name] + value if name in add else value for name, value in new.items()}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed)


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

    @property
    def searches(self) -> int:
        return 1

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
        return self.again(fn, self.reading)

    def write(self, fn: Callable[[Tx], T]) -> T:
        return self.again(fn, self.writing)

    def again(self, fn: Callable[[Any], T], opened: Callable[[], Any]) -> T:
        patience = Patience(self.busy_seconds)
        while True:
            try:
                with opened() as tx:
                    return fn(tx)
            except PoolTimeout as error:
                raise self.no_connection() from error
            except DBAPIError as error:
                ours = self.translate(error)
                if not isinstance(ours, StoreBusy) or not patience.wait():
                    raise ours from error

    def no_connection(self) -> StoreBusy:
        return StoreBusy(f"{self.name}: every connection is in use; nothing was written, try again")

    @property
    def writable(self) -> bool:
        return True

    @abstractmethod
    def scrub(self, full: bool = False) -> tuple[str, ...]:
        """Leave no trace of removed rows in the files, as far as the database can. Returns a line for each thing that
        is still there, with the command that clears it."""

    def close(self) -> None:
        self.engine.dispose()


class Patience:
    """How long a busy database is waited for: pauses that grow, and an end."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    def wait(self) -> bool:
        """Pause before the next try; False, without a pause, if there is no time for one."""
        if time.monotonic() + self._pause > self._deadline:
            return False
        # Jitter, so that two writers who met once do not keep meeting.
        time.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return True


@contextmanager
def transaction(connection: Connection, begin: str, commit: bool) -> Iterator[Connection]:
    """BEGIN as told, and COMMIT or ROLLBACK: the driver itself opens nothing behind our back."""
    with open_transaction(connection, begin):
        yield connection
        connection.exec_driver_sql("COMMIT" if commit else "ROLLBACK")


@contextmanager
def open_transaction(connection: Connection, begin: str) -> Iterator[None]:
    """BEGIN as told, and ROLLBACK if anything fails. Whoever opens it has to end it, inside."""
    connection.exec_driver_sql(begin)
    try:
        yield
    except BaseException:
        # If the connection is what failed, the server has rolled back already.
        with suppress(DBAPIError, PendingRollbackError):
            connection.exec_driver_sql("ROLLBACK")
        raise

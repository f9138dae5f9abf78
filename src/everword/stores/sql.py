"""What every SQL database does the same way: the log, the cursors and leases, and the rows for copying.

`SqlStore.write` and `SqlStore.read` open a transaction and pass it to a function; it ends when the function returns.
What differs between databases (locks, full text, vectors) is in `sqlite` and `postgres`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    Connection,
    Engine,
    Table,
    and_,
    bindparam,
    func,
    select,
    update,
)
from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from everword.errors import MachineAway, StoreBusy, StoreError
from everword.masking import mask_credentials
from everword.model import EPOCH, Conversation, Erasure, Filter, Message, SetAside, Stats, ViewState
from everword.ports import (
    FORMER_EMBEDDER,
    ConversationKey,
    Lag,
    OnDamagedMessage,
    OnDamagedRow,
    Vectors,
    Work,
    by_space,
)
from everword.secrets import marks_from_json
from everword.stores import queries, tables
from everword.stores.connections import RetryPauses
from everword.stores.queries import statement_of
from everword.stores.rows import (
    RowReader,
    batches,
    conversation_row,
    message_row,
    rows_one_by_one,
    to_conversation,
    to_message,
    turn_conditions,
)
from everword.stores.tables import (
    UNDECODED,
    Instant,
    UnreadableRow,
    conversations,
    cursors,
    erasures,
    is_mark_list,
    leases,
    messages,
    meta,
    set_aside,
)
from everword.stores.vectors import nearest_keys, stack_vectors, unit_vectors
from everword.versioned_cache import Cache, Scope

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


CACHE_BYTES = 64 << 20  # of what is made of rows
NO_CACHE = Cache(0)  # of transactions that write: no scope has a version in them

# Built once: it runs for every message, and to build a statement costs more than to run it.
ADD_MESSAGES = queries.untyped(messages).insert()


class SqlTx(RowReader, ABC):
    """One transaction on a connection. `touched` collects the tables written to. Only one that reads has a cache: what
    another writes is not committed yet."""

    def __init__(self, connection: Connection, cache: Cache | None = None) -> None:
        self.connection = connection
        self.touched: set[str] = set()
        self.cache = NO_CACHE if cache is None else cache

    # -- what differs between databases

    @staticmethod
    @abstractmethod
    def upsert(table: Table) -> Any:
        """An INSERT that can say ON CONFLICT."""

    @staticmethod
    def without_index(column: Any) -> Any:
        """The column, where its index is not to be used. SQLite takes any index on an equality; other databases know
        how many rows there are, and a plain column tells a sharded one where to look."""
        return column

    def with_row_locks(self, query: Any) -> Any:
        """The query, locking its rows until the transaction ends. SQLite has only one writer at a time."""
        return query

    def skipping_locked(self, query: Any) -> Any:
        """The query, locking its rows, without those that others have locked."""
        return query

    def write(self, table: Table, statement: Any, values: Any = None) -> Any:
        self.touched.add(table.name)
        return self.connection.execute(statement, values) if values is not None else self.connection.execute(statement)

    def write_rows(self, table: Table, statement: Any, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run a statement that is built once for each of these rows. Returns how many rows it changed."""
        return int(self.write(table, statement, rows).rowcount)

    # -- the log

    def lock_conversation(self, fresh: Conversation) -> Conversation:
        query = self.with_row_locks(queries.FIND_CONVERSATION)
        place = {"space": fresh.space, "id": fresh.id}
        with self.naming_damage(conversations, queries.FIND_CONVERSATION, place):
            rows = self._fetch_raw(query, place)
            if not rows:
                self.write(conversations, self.upsert(conversations).on_conflict_do_nothing(), conversation_row(fresh))
                rows = self._fetch_raw(query, place)
            return to_conversation(rows[0])

    def conversation(self, space: str, id: str) -> Conversation | None:
        place = {"space": space, "id": id}
        with self.naming_damage(conversations, queries.FIND_CONVERSATION, place):
            rows = self._fetch_raw(queries.FIND_CONVERSATION, place)
            return to_conversation(rows[0]) if rows else None

    def conversations(
        self,
        space: str | None = None,
        user: str | None = None,
        after: tuple[str, str] = ("", ""),
        limit: int = 1000,
        recent: bool = False,
        before: tuple[datetime, str] | None = None,
    ) -> list[Conversation]:
        where = {name: value for name, value in (("space", space), ("user_id", user)) if value is not None}
        params = queries.comparison_values(where) | {"most": limit}
        if recent:
            query = statement_of(queries.recent_query, queries.comparison_shape(where), before is not None)
            params |= {} if before is None else {"before_time": Instant.encode(before[0]), "before_id": before[1]}
        else:
            query = statement_of(queries.conversations_query, queries.comparison_shape(where))
            params |= {"after_space": after[0], "after_id": after[1]}
        with self.naming_damage(conversations, query, params):
            return [to_conversation(row) for row in self._fetch_raw(query, params)]

    def save_conversation(self, conversation: Conversation, new_messages: Sequence[Message] = ()) -> None:
        new_rows = [message_row(message) for message in new_messages]
        if new_rows:
            self.write_rows(messages, ADD_MESSAGES, new_rows)
        place = {"at_space": conversation.space, "at_id": conversation.id}
        row = conversation_row(conversation)
        del row["space"], row["id"]
        if new_rows:
            row["more_characters"] = sum(len(new_row["content"]) for new_row in new_rows)
        statement = queries.SAVE_LONGER_CONVERSATION if new_messages else queries.SAVE_CONVERSATION
        self.write_rows(conversations, statement, [row | place])

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: OnDamagedMessage | None = None,
    ) -> list[Message]:
        results: list[Message] = []
        for batch in batches(ids):
            results += self.fetch_messages_by_id(space, batch, damaged)
        for batch in batches(platform_ids) if platform_ids else ():
            params = {"space": space, "conversation": conversation, "ids": batch}
            results += self.fetch_messages(queries.MESSAGES_BY_PLATFORM_ID, params, damaged)
        return results

    def fetch_messages_by_id(self, space: str, ids: Sequence[str], damaged: OnDamagedMessage | None) -> list[Message]:
        query, id_list = self.each_message_by_id(ids)
        try:
            return [to_message(row) for row in self._fetch_raw(query, {"space": space, "id_list": id_list})]
        except (UnreadableRow, *UNDECODED):
            return self.fetch_messages(queries.MESSAGES_BY_ID, {"space": space, "ids": ids}, damaged)

    @abstractmethod
    def each_message_by_id(self, ids: Sequence[str]) -> tuple[Any, str]:
        """A query that looks up each message of a list of ids by itself, and the list as one value."""

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        among: Sequence[str] = (),
        turns: Sequence[int] = (),
        damaged: OnDamagedMessage | None = None,
    ) -> list[Message]:
        params = queries.filter_values(where) | {"after_turn": after[1], "after_conversation": after[0]}
        params |= {"upto": upto, "most": limit, "among": list(among), "turns": list(turns)}
        start: queries.After = "place" if after != ("", 0) else ""
        if among or (where.conversation is not None and after[0] == where.conversation):
            start = "turn"
        limits = upto is not None, limit is not None, newest, bool(among), bool(turns)
        query = statement_of(queries.messages_query, queries.filter_shape(where), start, *limits)
        page = self.fetch_messages(query, params, damaged, True, limit, newest)
        return page[::-1] if newest else page

    def erase(self, erasure: Erasure, tombstones: Sequence[Message], *, keep: Collection[str] = ()) -> int:
        count = self.drop_derived(tombstones, keep)
        self.drop_rows_of_turns(tombstones, tables.topic_notes)
        self.note_lengths(tombstones)
        self.update_messages([message_row(message, erasure.id) for message in tombstones])
        row = {"space": erasure.space, "id": erasure.id, "at": erasure.at, "messages": erasure.messages}
        self.write(erasures, erasures.insert(), row)
        return count

    def rewrite_messages(self, changed: Sequence[Message]) -> None:
        if changed:
            self.drop_derived(changed)
            self.note_lengths(changed)
            self.update_messages([message_row(message) for message in changed])

    def note_lengths(self, changed: Sequence[Message]) -> None:
        """Note how many characters conversations gain or lose by what these messages are to say."""
        growth = Counter[ConversationKey]()
        for message in changed:
            growth[message.space, message.conversation] += len(message.as_said.content)
        place = (messages.c.space, messages.c.conversation)
        for conditions in turn_conditions(changed, messages):
            query = select(*place, func.sum(func.length(messages.c.content))).where(*conditions).group_by(*place)
            for space, conversation, length in self.connection.execute(query):
                growth[space, conversation] -= int(length)
        rows = [
            {"at_space": space, "at_id": conversation, "more_characters": length}
            for (space, conversation), length in sorted(growth.items())
            if length
        ]
        if rows:
            self.write_rows(conversations, queries.NOTE_LENGTH, rows)

    def update_messages(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace the rows of messages, but for what is FIXED."""
        table = queries.untyped(messages)
        is_at_turn = and_(
            table.c.space == bindparam("in_space"),
            table.c.conversation == bindparam("in_conversation"),
            table.c.turn == bindparam("at_turn"),
        )
        names = [column.name for column in messages.c if column.name not in FIXED]
        statement = update(table).where(is_at_turn).values({name: bindparam(name) for name in names})
        places = (("in_space", "space"), ("in_conversation", "conversation"), ("at_turn", "turn"))
        values = [
            {name: row[name] for name in names} | {parameter: row[name] for parameter, name in places} for row in rows
        ]
        self.write(messages, statement, values)

    def drop_derived(self, changed: Sequence[Message], keep: Collection[str] = ()) -> int:
        """Drop what was derived from messages: entries, tiers, and the views of their conversations. Returns how many
        entries there were."""
        self.revoke_leases(changed)  # first: it waits for a worker that is storing at this moment
        count = self.drop_entries(changed)
        self.drop_rows_of_turns(changed, tables.tiers, tables.set_aside)
        self.reset_conversation_views(changed, keep)
        return count

    def drop_rows_of_turns(self, changed: Sequence[Message], *targets: Table) -> None:
        """Delete what these tables have of single messages."""
        for table in targets:
            for conditions in turn_conditions(changed, table):
                self.write(table, sql_delete(table).where(*conditions))

    def reset_conversation_views(self, erased_messages: Sequence[Message], keep: Collection[str] = ()) -> None:
        """Reset the views of whole conversations, so that they are rebuilt from the messages that are left."""
        for space, conversation in sorted({(message.space, message.conversation) for message in erased_messages}):
            for view in (view for view in tables.AFRESH if view not in keep):
                by_conversation = (table for table in tables.VIEW_TABLES[view] if "conversation" in table.c)
                for table in (*by_conversation, cursors, tables.set_aside):
                    where = {"space": space, "conversation": conversation}
                    self.delete_rows(table, where | ({"view": view} if "view" in table.c else {}))

    def delete_rows(self, table: Table, where: Mapping[str, Any]) -> int:
        statement = statement_of(queries.delete_statement, table, queries.comparison_shape(where))
        count = self.write_rows(table, statement, [queries.comparison_values(where)])
        if table is cursors:
            place = {name: where[name] for name in ("space", "conversation") if isinstance(where.get(name), str)}
            statement = statement_of(queries.note_unread_statement, tuple(place))
            self.write_rows(conversations, statement, [queries.comparison_values(place)])
        return count

    def revoke_leases(self, erased_messages: Sequence[Message]) -> None:
        """A worker that has read these messages must not store what it made of them. And no worker can read them now:
        until this transaction ends, it holds the rows that a worker would claim."""
        places = sorted({(message.space, message.conversation) for message in erased_messages})
        unheld_values = {"holder": None, "until": None, "failures": 0}
        self.put(
            leases.name,
            [
                {"space": space, "view": view, "conversation": conversation, **unheld_values}
                for space, conversation in places
                for view in (*tables.VIEW_TABLES, *tables.AHEAD_OF)
            ],
        )

    @abstractmethod
    def drop_entries(self, messages: Sequence[Message]) -> int:
        """Remove these messages from the index."""

    def count_messages(
        self, by: Literal["day", "erasure"], space: str | None = None, since: datetime | None = None
    ) -> dict[Any, int]:
        if by == "erasure":
            return self._count_by_erasure()
        rows = self.fetch(queries.DAYS, {"of_space": space, "since": since})
        return {EPOCH.date() + timedelta(days=int(day)): int(count) for day, count in rows}

    def _count_by_erasure(self) -> dict[Any, int]:
        query = select(messages.c.erasure, func.count()).where(messages.c.erasure.is_not(None))
        try:
            return {row[0]: row[1] for row in self.connection.execute(query.group_by(messages.c.erasure))}
        except DBAPIError as error:
            if not self.is_damage(error):
                raise
        all_rows = rows_one_by_one(self, messages, select(messages).order_by(*messages.primary_key), {})
        return Counter(row["erasure"] for row, problem in all_rows if problem is None and row["erasure"] is not None)

    # -- how far views are

    def lagging(
        self,
        view: str,
        now: datetime,
        *,
        since: datetime | None = None,
        limit: int = 100,
        besides: Collection[str] = (),
        space: str | None = None,
    ) -> list[Lag]:
        values: dict[str, Any] = {"now": now, "most": limit}
        values |= {"since": since} if since is not None else {}
        values |= {"besides": sorted(besides)} if besides else {}
        spaces, in_spaces = self.spaces_to_read(space, *queries.rows_with_work(view, since))
        if spaces == "none":
            return []
        query = statement_of(queries.lagging_query, type(self), view, since is not None, bool(besides), spaces)
        return [Lag(*row) for row in self.fetch(query, values | in_spaces)]

    def spaces_to_read(self, space: str | None, table: str, condition: str) -> tuple[queries.Spaces, dict[str, Any]]:
        """The spaces in which to look for rows of a table that meet a condition: one or all, with its name as a
        value."""
        return ("all", {}) if space is None else ("one", {"of_space": space})

    def unseen(
        self,
        view: str,
        now: datetime,
        *,
        space: str,
        since: datetime,
        user: str | None = None,
        conversation: str | None = None,
    ) -> bool:
        scope = {"user": user, "conversation": conversation}
        scope = {name: value for name, value in scope.items() if value is not None}
        values = {"now": now, "of_space": space} | {f"of_{name}": value for name, value in scope.items()}
        changed = statement_of(queries.changed_query, conversation is not None)
        return bool(
            self.fetch(statement_of(queries.unseen_query, type(self), view, tuple(scope)), values | {"since": since})
            or self.fetch(changed, values | {"of_view": view})
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
        self.write_rows(leases, statement_of(queries.claim_statement, type(self)), rows)
        return frozenset(place for place, *lease in self._holders(view, places) if lease == [holder, until])

    def held_leases(self, view: str, places: Sequence[ConversationKey], holder: str) -> frozenset[ConversationKey]:
        return frozenset(place for place, place_holder, _ in self._holders(view, places) if place_holder == holder)

    def _holders(self, view: str, places: Sequence[ConversationKey]) -> Iterator[tuple[ConversationKey, Any, Any]]:
        """The leases on these places, with their holders and ends, locked until the transaction ends."""
        for space, ids in by_space(places).items():
            for batch in batches(ids):
                where = {"space": space, "view": view, "conversation": tuple(batch)}
                query = self.with_row_locks(statement_of(queries.holders_query, queries.comparison_shape(where)))
                for conversation, holder, until in self.fetch(query, queries.comparison_values(where)):
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
            self.write_rows(leases, statement_of(queries.release_statement, error is not None), rows)

    def set_aside_due(
        self, view: str, now: datetime, limit: int, *, changed: bool = False, space: str | None = None
    ) -> list[SetAside]:
        spaces, in_spaces = self.spaces_to_read(space, *queries.rows_due(view, now))
        if spaces == "none":
            return []
        values = {"of_view": view, "now": now, "most": limit} | in_spaces
        rows = self.fetch(statement_of(queries.due_query, type(self), changed, spaces), values)
        return [SetAside(*row) for row in rows]

    def reset_view(self, view: str, space: str | None = None, conversation: str | None = None) -> None:
        for ahead in (name for name, leader in tables.AHEAD_OF.items() if leader == view):
            self.reset_view(ahead, space, conversation)
        for table in (*tables.VIEW_TABLES.get(view, ()), cursors, leases, set_aside):
            values = {"view": view if "view" in table.c else None, "space": space, "conversation": conversation}
            self.delete_rows(table, {name: value for name, value in values.items() if value is not None})

    def stats(self, now: datetime, space: str | None = None) -> Stats:
        of_space = {} if space is None else {"of_space": space}
        totals = (self.connection.execute(query, of_space).one() for query in queries.totals_queries(bool(of_space)))
        (conversation_count, spaces, turns, characters), (tombstones,), (entry_count, users), (first, last) = totals
        return Stats(
            store="",
            spaces=spaces,
            conversations=conversation_count,
            users=users,
            messages=int(turns) - int(tombstones),
            erased=int(tombstones),
            characters=int(characters),
            first=first,
            last=last,
            entries=int(entry_count),
            embedder=self.note("embedder"),
            views=tuple(self.view_state(view, now, space) for view in self._views()),
            secrets=self.count_secrets(space),
        )

    def _views(self) -> list[str]:
        """The views that there are; vectors have one of their own while they are made anew, events for receivers."""
        notes = {"vectors": FORMER_EMBEDDER, queries.WEBHOOKS: queries.WEBHOOKS}
        return [*tables.VIEW_TABLES, *(view for view, note in notes.items() if self.note(note))]

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
        (row,) = self.fetch(statement_of(queries.view_state_query, type(self), view, space is not None), values)
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

    # -- rows of any table

    def fetch(self, query: Any, params: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """The rows of a query."""
        return self.connection.execute(query, params).all()

    def fetch_named(self, query: Any, params: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The rows of a query, with the names of their columns."""
        result = self.connection.execute(query, params)
        names = tuple(result.keys())
        return [dict(zip(names, row, strict=True)) for row in result]

    def rows(
        self,
        table: str,
        after: Mapping[str, Any] | None = None,
        limit: int | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        newest: bool = False,
        columns: tuple[str, ...] = (),
        damaged: OnDamagedRow | None = None,
    ) -> list[Mapping[str, Any]]:
        where = where or {}
        source = tables.TABLES[table]
        limits = after is not None, limit is not None, newest
        query = statement_of(queries.rows_query, source, queries.comparison_shape(where), *limits, columns)
        params = queries.comparison_values(where) | ({} if limit is None else {"most": limit})
        if after is not None:
            params |= {f"after_{name}": after[name] for name in queries.key_names(source)}
        if damaged is not None:
            return self.fetch_readable_rows(source, query, params, limit, newest, damaged)
        with self.naming_damage(source, query, params):
            return self.fetch_named(query, params)

    def near(
        self,
        table: str,
        vector: Vectors,
        limit: int,
        *,
        where: Mapping[str, Any],
    ) -> list[tuple[Mapping[str, Any], float]]:
        source = tables.TABLES[table]

        def read_vectors() -> tuple[list[tuple[Any, ...]], Vectors]:
            query = statement_of(queries.vectors_query, source, queries.comparison_shape(where))
            vector_rows = self.fetch(query, queries.comparison_values(where))
            vectors = [row[0] for row in vector_rows]
            return [tuple(row[1:]) for row in vector_rows], unit_vectors(stack_vectors(vectors) if vectors else [])

        owner = next(where[column] for column in tables.VERSIONED[table] if column in where)
        name = "vectors", *where.items()
        keys, unit_rows = self.cache.get(self, (table, where["space"], owner), name, read_vectors)
        best = nearest_keys(keys, unit_rows, vector, limit) if keys else []
        return [(dict(zip(queries.key_names(source), key, strict=True)), score) for key, score in best]

    @abstractmethod
    def version(self, scope: Scope) -> str | None: ...

    # -- the store itself

    def note(self, key: str) -> str | None:
        return next((row[0] for row in self.fetch(queries.NOTE, {"key": key})), None)

    def set_note(self, key: str, value: str | None) -> None:
        if value is None:
            self.write(meta, sql_delete(meta).where(meta.c.key == key))
            return
        self.put(meta.name, [{"key": key, "value": value}])

    def put(self, table: str, rows: Sequence[Mapping[str, Any]], add: Sequence[str] = ()) -> None:
        if not rows:
            return
        source = tables.TABLES[table]
        statement = statement_of(upsert_statement, type(self), source, tuple(rows[0]), tuple(add))
        self.write_rows(source, statement, rows)
        if source is cursors:
            self._note_reading({(row["space"], row["conversation"]) for row in rows})

    def _note_reading(self, places: Collection[ConversationKey]) -> None:
        """Note of these conversations, whose cursors were set, whether a view has still to read something of them."""
        for space, ids in by_space(places).items():
            for batch in batches(ids):
                noted = self.fetch(queries.WRONGLY_NOTED, ids_of(space, batch))
                for conversation in (id for id, is_unread in noted if not is_unread):
                    values = {"the_space": space, "the_conversation": conversation}
                    statement = statement_of(queries.note_unread_statement, ("space", "conversation"))
                    self.write_rows(conversations, statement, [values])
                self._note_as_read(space, [id for id, is_unread in noted if is_unread])

    def _note_as_read(self, space: str, ids: Sequence[str]) -> None:
        """Note that all views have read these conversations, but for those that another transaction changes meanwhile.
        Locked first and looked at then: a cursor that was deleted in between is seen to be missing."""
        if ids:
            ids = [row[0] for row in self.fetch(self.skipping_locked(queries.NOTED_AS_UNREAD), ids_of(space, ids))]
        if ids:
            self.write(conversations, queries.NOTE_AS_READ, ids_of(space, ids))

    def remove(self, table: str, where: Mapping[str, Any]) -> int:
        source = tables.TABLES[table]
        if source in tables.LOG:
            raise StoreError(
                f"the table {table} belongs to the log of messages and changes; no row can be removed from it"
            )
        return self.delete_rows(source, where)

    def lock(self, name: str, space: str = "", *name_parts: str) -> None:
        """Wait until nobody else holds this lock."""

    def load(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.write(tables.TABLES[table], tables.TABLES[table].insert(), [dict(row) for row in rows])


def ids_of(space: str, ids: Sequence[str]) -> dict[str, Any]:
    return {"of_space": space, "ids": list(ids)}


def upsert_statement(tx: type[SqlTx], table: Table, names: tuple[str, ...], add: tuple[str, ...]) -> Any:
    """An INSERT that updates an existing row; the columns in `add` are increased by the new value."""
    insert = tx.upsert(table)
    new = {name: insert.excluded[name] for name in names if not table.c[name].primary_key}
    updates = {name: table.c[name] + value if name in add else value for name, value in new.items()}
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=updates)


# -- the store


class SqlStore(ABC):
    """Opens transactions, retries when the database is busy, and translates its errors."""

    def __init__(self, engine: Engine, name: str, busy_seconds: float) -> None:
        self.engine = engine
        self._name = mask_credentials(name)
        self.busy_seconds = busy_seconds

    @property
    def name(self) -> str:
        return self._name

    @property
    def searches(self) -> int:
        return 1

    @property
    def reads_at_once(self) -> bool:
        return False

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
        """Our error for an error of the database; StoreBusy means: try again."""

    def read(self, fn: Work[T]) -> T:
        return self.run_with_retries(fn, self.reading)

    def write(self, fn: Work[T]) -> T:
        return self.run_with_retries(fn, self.writing)

    def run_with_retries(self, fn: Callable[[Any], T], begin: Callable[[], Any]) -> T:
        start = time.monotonic()
        pauses: RetryPauses | None = None
        while True:
            try:
                with begin() as tx:
                    return fn(tx)
            except PoolTimeout as error:
                raise self.no_connection_error() from error
            except DBAPIError as error:
                store_error = self.translate(error)
                pauses = pauses or RetryPauses(self.busy_seconds, start)
                may_pass = isinstance(store_error, StoreBusy) and not isinstance(store_error, MachineAway)
                if not may_pass or not pauses.wait():
                    raise store_error from error

    def no_connection_error(self) -> StoreBusy:
        return StoreBusy(f"{self.name}: every connection is in use; nothing was written, try again")

    @property
    def writable(self) -> bool:
        return True

    @abstractmethod
    def scrub(self, full: bool = False) -> tuple[str, ...]:
        """Leave no trace of removed rows in the files, as far as the database can. Returns a line for everything that
        is still there, with the command that clears it."""

    def close(self) -> None:
        self.engine.dispose()

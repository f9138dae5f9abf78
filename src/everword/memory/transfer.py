"""Imports records of a file into the log, and copies one store into another.

An import appends records in batches, each in one transaction. Every record has an id of its own, so an import that was
stopped can be run again: records that are there already are counted and skipped. A record that cannot be kept is
counted and named, and the import goes on after it. A copy takes every table row by row, with the seals, into an empty
store, so the same chain proves the copy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Any

from everword.errors import DamagedMessage, InvalidInput, ScopeError, SecretRefused, StoreError
from everword.facts.profile_changes import MergeScene, keep_statements
from everword.facts.prompts import remember
from everword.log.append_and_read import COPYING, damage_error, new_id
from everword.log.checks_and_seals import clamp_time, has_expired, profile_conversation
from everword.memory.memory import MemoryEngine
from everword.memory.runtime import Runtime
from everword.model import EPOCH, ROLES, Added, BadRecord, Batch, OnEdit, Record
from everword.model.log import NOTES
from everword.ports import VERSION_NOTE, Store, Tx
from everword.stores.tables import TABLES as STORED

Row = Mapping[str, Any]
DamageHandler = Callable[[StoreError, Row], None]

BATCH = 500  # messages in one transaction
BATCH_BYTES = 8 << 20  # of the file, after which a batch is full, too: its records are held in memory
OVER = "until"  # in the metadata of what another memory knew and what is so no longer: kept, and not remembered
_NO_NAME = re.compile(r"(?:^(?:the )?|\bthe )(?:user|human)\b", re.IGNORECASE)  # what other memories call everybody
ROWS = 1_000  # rows copied at a time
# Who works on what, and answers to repeated requests, are of the running server and not of the memory.
TABLES = tuple(name for name in STORED if name not in ("leases", "answers", "answer_bodies"))


@dataclass(slots=True)
class ImportProgress:
    """The counts of an import so far."""

    read: int = 0
    new: int = 0
    known: int = 0
    edited: int = 0  # these were known with another text, and have a new version now
    refused: int = 0  # these were known with another text, which stays
    erased: int = 0  # these were removed from the log before, and stay out
    expired: int = 0  # these were to be shown until a time that is over, and are left out
    marked: int = 0  # of the new ones, these hold secrets
    secret: int = 0  # these hold secrets and are left out, since the setting refuses them
    bad: list[str] = field(default_factory=list)
    bad_count: int = 0

    def note_bad(self, location: str, reason: str) -> None:
        self.bad_count += 1
        self._list(location, reason)

    def note_secret(self, location: str, reason: str) -> None:
        self.read += 1
        self.secret += 1
        self._list(location, reason)

    def _list(self, location: str, reason: str) -> None:
        if len(self.bad) < 100:
            self.bad.append(f"{location}: {reason}")


async def import_records(
    memory: MemoryEngine,
    records: Iterable[Record | BadRecord],
    *,
    space: str,
    on_edit: OnEdit = "refuse",
    progress: Callable[[ImportProgress], None] = lambda _: None,
) -> ImportProgress:
    """Append records to the log; the totals name those that are bad. What another text for a known message is,
    `on_edit` says."""
    totals = ImportProgress()
    for batch in batch_records(records, totals):
        await import_batch(memory, batch, space, totals, on_edit)
        progress(totals)
    progress(totals)
    return totals


def batch_records(records: Iterable[Record | BadRecord], totals: ImportProgress) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        if isinstance(record, BadRecord):
            totals.note_bad(record.where, record.reason)
            continue
        batch.append(record)
        if len(batch) == BATCH or record.position - batch[0].position >= BATCH_BYTES:
            yield batch
            batch = []
    yield batch


async def import_batch(
    memory: MemoryEngine, batch: list[Record], space: str, totals: ImportProgress, on_edit: OnEdit
) -> None:
    try:
        await add_records(memory, batch, space, totals, on_edit)
    except (InvalidInput, ScopeError):
        # The log refuses one record of the batch: add them one by one, to find and name it.
        for record in batch:
            try:
                await add_records(memory, [record], space, totals, on_edit)
            except SecretRefused as error:  # the setting wants it left out: that is no fault of the file
                totals.note_secret(record.where, str(error))
            except (InvalidInput, ScopeError) as error:
                totals.note_bad(record.where, str(error))


async def add_records(
    memory: MemoryEngine, batch: list[Record], space: str, totals: ImportProgress, on_edit: OnEdit
) -> None:
    def place(record: Record) -> tuple[str, str]:
        return record.conversation, record.user or ""

    now = memory.runtime.parts.clock.now()
    lasting = [record for record in batch if not is_over(record, now)]
    current = [record for record in lasting if record.about is None]
    groups = [list(group) for _, group in groupby(sorted(current, key=place), key=place)]
    batches = [
        Batch(
            space,
            group[0].conversation,
            group[0].user,
            [clamp_time(record.draft, now) for record in group],
            on_edit=on_edit,
        )
        for group in groups
    ]
    results_by_batch = list(await memory.add_many(batches))
    for record in lasting:
        if record.about is not None:
            results_by_batch.append([await add_statement(memory.runtime, record, record.about, space, on_edit, now)])
    totals.read += len(batch) - len(lasting)
    totals.expired += len(batch) - len(lasting)
    for result in chain.from_iterable(results_by_batch):
        totals.read += 1
        totals.marked += result.new and bool(result.message.secrets)
        setattr(totals, result.kept, getattr(totals, result.kept) + 1)


async def add_statement(
    runtime: Runtime, record: Record, person: str, space: str, on_edit: OnEdit, now: datetime
) -> Added:
    """Append what another memory knew of a person to what they told, and remember it as of its date, in one
    transaction: an import that stops leaves no text that is not remembered."""
    draft = clamp_time(record.draft, now)
    draft = replace(draft, metadata={**draft.metadata, NOTES: {"command": "remember"}})
    batch = Batch(space, profile_conversation(person), person, [draft], on_edit=on_edit)

    def remember_text(tx: Tx, additions: list[list[Added]]) -> None:
        message = additions[0][0].message
        if not additions[0][0].new or OVER in message.metadata:
            return
        scene = MergeScene.read(tx, person, message, message.expires_at)
        masked_text = runtime.parts.secrets.mask(message.content)
        inputs = scene.inputs(_NO_NAME.sub(lambda _: scene.name, masked_text))
        if merge := remember.offline(inputs):
            keep_statements(tx, scene, merge, inputs, is_last=True)

    added = (await runtime.append_messages([batch], is_source=True, then=remember_text))[0][0]
    runtime.wake()
    return added


def is_over(record: Record, now: datetime) -> bool:
    """Whether a message of a file has expired."""
    expires_at = record.draft.expires_at
    return isinstance(expires_at, datetime) and has_expired(expires_at, now)


def copy_store(
    source: Store,
    target: Store,
    progress: Callable[[str, int], None],
    salvage: Callable[[StoreError], None] | None = None,
) -> dict[str, int]:
    """Copy everything. The target must be empty; a copy that was stopped must be started again on a new target.

    If a row cannot be read, nothing is copied. With `salvage`, all readable rows are copied, and `salvage` is called
    with the error of each other row. A message that cannot be read keeps its place: the copy has it as an erased one.
    """

    def begin(tx: Tx) -> None:
        if tx.conversations(limit=1) or tx.note(COPYING):
            raise StoreError(f"{target.name} is not empty; copy into a new, empty store")
        tx.set_note(COPYING, source.name)

    def copy(tx: Tx) -> dict[str, int]:
        if salvage is None:
            refuse_damage(tx)
        target.write(begin)
        counts: dict[str, int] = {}
        for table, rows in every_page(tx) if salvage is None else Salvage(salvage).pages(tx):
            target.write(lambda into: into.load(table, rows))  # noqa: B023
            counts[table] = counts.get(table, 0) + len(rows)
            progress(table, counts[table])
        return dict.fromkeys(TABLES, 0) | counts

    counts = source.read(copy)  # one snapshot, however long it takes
    target.write(lambda tx: tx.set_note(COPYING, None))
    return counts


def every_page(tx: Tx, on_damage: DamageHandler | None = None) -> Iterator[tuple[str, list[Row]]]:
    """The rows of every table, in pages."""
    for table in TABLES:
        for rows in table_pages(tx, table, on_damage):
            yield table, copyable_rows(table, rows)


def copyable_rows(table: str, rows: list[Row]) -> list[Row]:
    """The rows without those that describe the store itself."""
    if table != "meta":
        return rows
    return [row for row in rows if row["key"] not in ("schema", COPYING) and not row["key"].startswith(VERSION_NOTE)]


def table_pages(tx: Tx, table: str, on_damage: DamageHandler | None = None) -> Iterator[list[Row]]:
    after: Row | None = None
    while rows := tx.rows(table, after, ROWS, damaged=on_damage):
        yield rows
        if len(rows) < ROWS:
            return
        after = rows[-1]


# -- damaged rows


def refuse_damage(tx: Tx) -> None:
    """Raise if any row of any table cannot be read: the copy would not be complete."""
    errors: list[StoreError] = []
    for _ in every_page(tx, lambda error, _: errors.append(error)):
        pass
    if errors:
        raise damage_error(errors, "To copy what is readable: everword copy --salvage")


UNREAD = {"unread": 1}  # a cursor may be among what cannot be read: views look again


class Salvage:
    """Copies around rows that cannot be read, and puts stand-ins in their place where others depend on it."""

    def __init__(self, report: Callable[[StoreError], None]) -> None:
        self._report = report
        self._now = datetime.now(UTC)
        self._unreadable: list[tuple[StoreError, Row]] = []
        self._erased: Counter[str] = Counter()  # messages of each space

    def pages(self, tx: Tx) -> Iterator[tuple[str, list[Row]]]:
        """The rows of every table, in pages, and then the stand-ins for those that cannot be read."""
        for table in TABLES:
            for rows in table_pages(tx, table, self._note):
                yield (
                    table,
                    copyable_rows(table, [{**row, **UNREAD} for row in rows] if table == "conversations" else rows),
                )
            yield table, self._stand_ins(tx, table)
            self._unreadable.clear()

    def _note(self, error: StoreError, row: Row) -> None:
        self._report(error)
        self._unreadable.append((error, row))

    def _stand_ins(self, tx: Tx, table: str) -> list[Row]:
        if table == "conversations":
            return [recover_conversation_row(tx, row) for _, row in self._unreadable if {"space", "id"} <= row.keys()]
        if table == "messages":
            messages = [
                (error, row) for error, row in self._unreadable if isinstance(error, DamagedMessage) and error.turn
            ]
            self._erased.update(error.space for error, _ in messages)
            return [tombstone_row(error, row, self._erasure(error.space)) for error, row in messages]
        if table == "erasures":
            return [
                {"space": space, "id": self._erasure(space), "at": self._now, "messages": count}
                for space, count in self._erased.items()
            ]
        return []

    def _erasure(self, space: str) -> str:
        """The id of the erasure that counts what was left out of a space: `verify` accepts no other reason."""
        return f"salvage {self._now.isoformat()} {space}"


def tombstone_row(error: DamagedMessage, row: Row, erasure: str) -> Row:
    """The tombstone of a message that cannot be read: its place and, where readable, its chain."""
    return {
        "space": error.space,
        "conversation": error.conversation,
        "turn": error.turn,
        "id": row.get("id") or new_id(datetime.now(UTC)),
        "role": row["role"] if row.get("role") in ROLES else "user",
        "author": "",
        "user_id": None,
        "content": "",
        "time": EPOCH,
        "platform_id": None,
        "metadata": {},
        "erasure": erasure,
        "salt": b"",
        "digest": row.get("digest", b""),
        "link": row.get("link", b""),
        "expires_at": None,
        "secrets": None,
        "reply_to": None,
    }


def recover_conversation_row(tx: Tx, row: Row) -> Row:
    """The row of a conversation, made of its readable fields and of its last message."""
    where = {"space": row["space"], "conversation": row["id"]}
    ends = tx.rows("messages", limit=1, where=where, newest=True, damaged=lambda *_: None)
    last: Row = ends[0] if ends else {"turn": 0, "link": b"", "user_id": None, "time": EPOCH}
    defaults = {"user_id": last["user_id"], "created_at": last["time"], "changed_at": last["time"]}
    changes = tx.rows("changes", limit=1, where=where, newest=True, damaged=lambda *_: None)
    change: Row = changes[0] if changes else {"number": 0, "link": b""}
    defaults |= {"changes": change["number"], "changes_head": change["link"], "last_message_at": 0, "characters": 0}
    return {**defaults, "turns": last["turn"], "head": last["link"], **row, **UNREAD}

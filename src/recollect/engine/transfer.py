"""Moving memories: records of a file into the log, and one store into another.

Importing is appending, in batches, each one transaction. Every record has an id of its own, so an import that was
stopped is simply run again: what is there already is counted and passed over. Copying takes every table row by row,
seals and all, into an empty store, so the copy proves itself by the same chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from recollect.engine.memory import MemoryEngine
from recollect.engine.tables.log import COPYING, EPOCH, Batch, new_id, refusal
from recollect.errors import DamagedMessage, ImportFailed, InvalidInput, ScopeError, StoreError
from recollect.model import ROLES, BadRecord, Record
from recollect.ports import Store, Tx
from recollect.rules.log import within_years

Row = Mapping[str, Any]
Damaged = Callable[[StoreError, Row], None]

BATCH = 500  # messages in one transaction
ROWS = 1_000  # rows copied at a time
TABLES = (
    "meta",
    "conversations",
    "messages",
    "erasures",
    "cursors",
    "set_aside",
    "entries",
    "vectors",
    "tallies",
    "tiers",
    "chunks",
    "episodes",
    "facts",
    "findings",
    "statements",
    "people",
    "spaces",
    "days",
    "digests",
    "topics",
    "topic_heads",
    "topic_turns",
    "topic_packs",
    "topic_summaries",
    "topic_notes",
    "documents",
    "usage",
    "api_keys",
)


@dataclass(slots=True)
class Imported:
    """What an import did so far."""

    read: int = 0
    new: int = 0
    known: int = 0
    bad: list[str] = field(default_factory=list)
    bad_count: int = 0

    def complain(self, where: str, reason: str) -> None:
        self.bad_count += 1
        if len(self.bad) < 100:
            self.bad.append(f"{where}: {reason}")


async def import_records(
    memory: MemoryEngine,
    records: Iterable[Record | BadRecord],
    *,
    space: str,
    skip_bad: bool = False,
    progress: Callable[[Imported], None] = lambda _: None,
) -> Imported:
    """Bring records into the log. The first bad one ends it, unless bad ones are to be skipped."""
    done = Imported()
    for batch in batched(records, done, skip_bad):
        await import_batch(memory, batch, space, done, skip_bad)
        progress(done)
    progress(done)
    return done


def batched(records: Iterable[Record | BadRecord], done: Imported, skip_bad: bool) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        if isinstance(record, BadRecord):
            if not skip_bad:
                yield batch  # what came before it is kept
                raise failed(record.where, record.reason)
            done.complain(record.where, record.reason)
            continue
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


async def import_batch(memory: MemoryEngine, batch: list[Record], space: str, done: Imported, skip_bad: bool) -> None:
    try:
        await add(memory, batch, space, done)
    except (InvalidInput, ScopeError):
        # One record of the batch is refused by the log: one by one, to find and name it.
        for record in batch:
            try:
                await add(memory, [record], space, done)
            except (InvalidInput, ScopeError) as error:
                if not skip_bad:
                    raise failed(record.where, str(error)) from error
                done.complain(record.where, str(error))


async def add(memory: MemoryEngine, batch: list[Record], space: str, done: Imported) -> None:
    def place(record: Record) -> tuple[str, str]:
        return record.conversation, record.user or ""

    groups = [list(group) for _, group in groupby(sorted(batch, key=place), key=place)]
    batches = [
        Batch(space, group[0].conversation, group[0].user, [within_years(record.draft) for record in group])
        for group in groups
    ]
    for added in await memory.add_many(batches):
        done.read += len(added)
        done.new += sum(one.new for one in added)
        done.known += sum(not one.new for one in added)


def failed(where: str, reason: str) -> ImportFailed:
    return ImportFailed(
        f"{where}: {reason}. What came before it is kept; mend it and run the import again, or use --skip-bad"
    )


def copy_store(
    source: Store,
    target: Store,
    progress: Callable[[str, int], None],
    salvage: Callable[[StoreError], None] | None = None,
) -> dict[str, int]:
    """Copy everything. The target must be empty; a copy that was stopped is begun anew on a new target.

    If a row cannot be read, nothing is copied; with `salvage`, it is told of it, and all others are. The place of such
    a message is kept: it stands in the copy as an erased one.
    """

    def begin(tx: Tx) -> None:
        if tx.conversations(limit=1) or tx.note(COPYING):
            raise StoreError(f"{target.name} is not empty; copy into a new store")
        tx.set_note(COPYING, source.name)

    def copy(tx: Tx) -> dict[str, int]:
        if salvage is None:
            refuse_damage(tx)
        target.write(begin)
        copied: dict[str, int] = {}
        for table, rows in every_page(tx) if salvage is None else Salvage(salvage).pages(tx):
            target.write(lambda into: into.load(table, rows))  # noqa: B023
            copied[table] = copied.get(table, 0) + len(rows)
            progress(table, copied[table])
        return dict.fromkeys(TABLES, 0) | copied

    copied = source.read(copy)  # one snapshot, however long it takes
    target.write(lambda tx: tx.set_note(COPYING, None))
    return copied


def every_page(tx: Tx, damaged: Damaged | None = None) -> Iterator[tuple[str, list[Row]]]:
    """Every table, some rows at a time."""
    for table in TABLES:
        for rows in pages(tx, table, damaged):
            yield table, copyable(table, rows)


def copyable(table: str, rows: list[Row]) -> list[Row]:
    """All but what the other store knows of itself."""
    return [row for row in rows if table != "meta" or row["key"] not in ("schema", COPYING)]


def pages(tx: Tx, table: str, damaged: Damaged | None = None) -> Iterator[list[Row]]:
    after: Row | None = None
    while rows := tx.rows(table, after, ROWS, damaged=damaged):
        yield rows
        after = rows[-1]


# -- what cannot be read


def refuse_damage(tx: Tx) -> None:
    """Raise if any row of any table cannot be read: a copy would not be one."""
    damaged: list[StoreError] = []
    for _ in every_page(tx, lambda error, _: damaged.append(error)):
        pass
    if damaged:
        raise refusal(damaged, "To copy what is readable: recollect copy --salvage")


class Salvage:
    """What a copy leaves out, and what stands in its place so that all others keep theirs."""

    def __init__(self, tell: Callable[[StoreError], None]) -> None:
        self._tell = tell
        self._now = datetime.now(UTC)
        self._lost: list[tuple[StoreError, Row]] = []
        self._erased: Counter[str] = Counter()  # messages of each space

    def pages(self, tx: Tx) -> Iterator[tuple[str, list[Row]]]:
        """Every table, some rows at a time, and after them what stands for those that cannot be read."""
        for table in TABLES:
            for rows in pages(tx, table, self._note):
                yield table, copyable(table, rows)
            yield table, self._stand_ins(tx, table)
            self._lost.clear()

    def _note(self, error: StoreError, row: Row) -> None:
        self._tell(error)
        self._lost.append((error, row))

    def _stand_ins(self, tx: Tx, table: str) -> list[Row]:
        if table == "conversations":
            return [conversation_again(tx, row) for _, row in self._lost if {"space", "id"} <= row.keys()]
        if table == "messages":
            lost = [(error, row) for error, row in self._lost if isinstance(error, DamagedMessage) and error.turn]
            self._erased.update(error.space for error, _ in lost)
            return [tombstone_row(error, row, self._erasure(error.space)) for error, row in lost]
        if table == "erasures":
            return [
                {"space": space, "id": self._erasure(space), "at": self._now, "messages": count}
                for space, count in self._erased.items()
            ]
        return []

    def _erasure(self, space: str) -> str:
        """The erasure that counts what was left out of a space: `verify` knows of no other way to be gone."""
        return f"salvage {self._now.isoformat()} {space}"


def tombstone_row(error: DamagedMessage, row: Row, erasure: str) -> Row:
    """What is left of a message that cannot be read: its place and, where that is readable, its chain."""
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
    }


def conversation_again(tx: Tx, row: Row) -> Row:
    """A conversation whose row cannot be read, from what can be, and from its last message."""
    where = {"space": row["space"], "conversation": row["id"]}
    ends = tx.rows("messages", limit=1, where=where, newest=True, damaged=lambda *_: None)
    last: Row = ends[0] if ends else {"turn": 0, "link": b"", "user_id": None, "time": EPOCH}
    guessed = {"user_id": last["user_id"], "created_at": last["time"], "changed_at": last["time"]}
    return {**guessed, "turns": last["turn"], "head": last["link"], **row}

"""Moving memories: records of a file into the log, and one store into another.

Importing is appending, in batches, each one transaction. Every record has an id of its own, so an import that was
stopped is simply run again: what is there already is counted and passed over. Copying takes every table row by row,
seals and all, into an empty store, so the copy proves itself by the same chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from recollect.engine.log import COPYING, Batch
from recollect.engine.memory import MemoryEngine
from recollect.errors import ImportFailed, InvalidInput, ScopeError, StoreError
from recollect.model import BadRecord, Record
from recollect.ports import Store, Tx
from recollect.rules.log import within_years

BATCH = 500  # messages in one transaction
ROWS = 1_000  # rows copied at a time
TABLES = (
    "meta",
    "conversations",
    "messages",
    "erasures",
    "cursors",
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


def copy_store(source: Store, target: Store, progress: Callable[[str, int], None]) -> dict[str, int]:
    """Copy everything. The target must be empty; a copy that was stopped is begun anew on a new target."""

    def begin(tx: Tx) -> None:
        if tx.conversations(limit=1) or tx.note(COPYING):
            raise StoreError(f"{target.name} is not empty; copy into a new store")
        tx.set_note(COPYING, source.name)

    def copy(tx: Tx) -> dict[str, int]:
        copied: dict[str, int] = {}
        for table in TABLES:
            copied[table] = 0
            for rows in pages(tx, table):
                kept = [row for row in rows if table != "meta" or row["key"] not in ("schema", COPYING)]
                target.write(lambda into: into.load(table, kept))  # noqa: B023
                copied[table] += len(kept)
                progress(table, copied[table])
        return copied

    target.write(begin)
    copied = source.read(copy)  # one snapshot, however long it takes
    target.write(lambda tx: tx.set_note(COPYING, None))
    return copied


def pages(tx: Tx, table: str) -> Iterator[list[Mapping[str, Any]]]:
    after: Mapping[str, Any] | None = None
    while rows := tx.rows(table, after, ROWS):
        yield rows
        after = rows[-1]

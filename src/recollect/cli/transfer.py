"""Memories come in, go out and move: import, export, copy.

Each can be stopped at any moment. An import keeps what it has read and goes on when it is run again; an export to a
file leaves the old file until the new one is whole; a copy that was stopped leaves nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from recollect.cli.terminal.opening import (
    conversation_in,
    current_settings,
    engine_of,
    existing,
    file_of,
    opened,
    without_embedder,
)
from recollect.cli.terminal.options import INTERRUPTED, SPACE, StoreCommand, given, masked, printable
from recollect.cli.terminal.settling import settle_or_warn
from recollect.cli.terminal.show import counted, progress

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.engine.memory import MemoryEngine
    from recollect.engine.transfer import Imported
    from recollect.errors import StoreError
    from recollect.formats import Reader
    from recollect.model import BadRecord, Conversation, Message, Record, Verification
    from recollect.ports import Store

FORMATS = ("recollect", "chatgpt", "claude", "discord", "telegram")
STANDARD = "-"


# -- import


@click.command("import", cls=StoreCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.option("--format", type=click.Choice(FORMATS), help="What the files are.  [default: their content says]")
@click.option("--user", metavar="ID", help="Whose chats these are, where the file does not say.")
@click.option(
    "--assistant", metavar="ID", multiple=True, help="An author who is the assistant, in channels; repeatable."
)
@click.option("--timezone", metavar="ZONE", help="The zone of times that have none, such as Europe/Berlin.")
@click.option("--skip-bad", is_flag=True, help="Go on after a record that cannot be read, and report it.")
@click.option("--no-settle", is_flag=True, help="Only keep the messages; a worker makes them searchable.")
def import_(
    files: tuple[str, ...],
    format: str | None,
    user: str | None,
    assistant: tuple[str, ...],
    timezone: str | None,
    skip_bad: bool,
    no_settle: bool,
) -> None:
    """Bring chats into the memory.

    Reads our own JSON Lines (`-` is standard input) and the exports of ChatGPT, Claude, Telegram, and Discord
    (DiscordChatExporter), with their true dates, authors and ids; zip files as they are. A message is kept once,
    however often it is imported: if an import stops, run it again and it goes on. A record that cannot be read ends
    the import with its place in the file, unless --skip-bad is given.

    \b
    recollect import chat.jsonl --user alex
    recollect import conversations.json
    recollect import general.json --space 1098765 --assistant 2012345
    """
    from recollect.formats import open_records

    settings = current_settings()
    settle = settings.followers and not no_settle

    async def bring() -> None:
        wanted = settings if settle else without_embedder(settings)
        async with engine_of(wanted, check_embedder=settle) as (memory, store):
            for file in files:
                options: Any = {"user": user, "assistant_ids": assistant, "timezone": timezone}
                with open_records(file, format, **options) as reader:
                    await bring_file(memory, file, reader, settings, skip_bad)
            if settle:
                await settle_or_warn(memory, store)

    # Ctrl-C is to end a read that waits for input, too; asyncio's own handler would wait with it.
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        asyncio.run(bring())
    except KeyboardInterrupt:
        click.echo("stopped: what was read is kept; run the same command again and it goes on from there", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


async def bring_file(memory: MemoryEngine, file: str, reader: Reader, settings: Settings, skip_bad: bool) -> None:
    from recollect.engine.transfer import Imported, import_records
    from recollect.errors import ImportFailed

    name = "standard input" if file == STANDARD else file
    named: set[str] = {reader.suggested_space} if reader.suggested_space else set()
    so_far, started = Imported(), time.monotonic()
    with progress("{task.fields[messages]:,} messages, {task.fields[rate]:,}/s", bytes_read=True) as bar:
        task = bar.add_task(Path(name).name, total=reader.total_bytes, messages=0, rate=0)

        def note(done: Imported) -> None:
            nonlocal so_far
            so_far = done
            rate = round(done.read / max(time.monotonic() - started, 1e-3))
            bar.update(task, completed=reader.bytes_read, messages=done.read, rate=rate)

        try:
            records = noting_spaces(reader, named)
            await import_records(memory, records, space=settings.space, skip_bad=skip_bad, progress=note)
        except ImportFailed as error:
            raise ImportFailed(f"{name}, {error}") from error
        finally:
            bar.stop()
            report(name, reader.format, so_far)
    hint(named, settings.space)


def noting_spaces(records: Iterable[Record | BadRecord], named: set[str]) -> Iterator[Record | BadRecord]:
    """The records as they are; `named` collects the spaces they name."""
    from recollect.model import Record

    for record in records:
        if isinstance(record, Record) and record.space is not None:
            named.add(record.space)
        yield record


def report(name: str, format: str, done: Imported) -> None:
    for line in done.bad:
        click.echo(f"skipped: {printable(f'{name}, {line}')}", err=True)
    if done.bad_count > len(done.bad):
        click.echo(f"skipped: {printable(name)}, {done.bad_count - len(done.bad):,} more", err=True)
    known = f"{done.known:,} known already, {done.bad_count:,} bad"
    click.echo(f"{printable(name)} ({format}): {counted(done.read, 'message')} read, {done.new:,} new, {known}")


def hint(named: set[str], space: str) -> None:
    """The file names a space of its own, and nobody has said which one to use."""
    others = sorted(named - {space})
    if others and given(SPACE) is None:
        shown = printable(others[0]) + (f" (and {len(others) - 1} more)" if len(others) > 1 else "")
        click.echo(
            f"hint: the file names the space {shown}; it was imported into {space}. To keep spaces apart: --space NAME",
            err=True,
        )


# -- export


@click.command(cls=StoreCommand)
@click.option("--user", metavar="ID", help="Only this person's memory.")
@click.option("--conversation", metavar="ID", help="Only this conversation.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default=STANDARD,
    help="Where to write; - is standard output.",
)
@click.option("--salvage", is_flag=True, help="Leave out what is damaged and cannot be read, and name it.")
def export(user: str | None, conversation: str | None, output: str, salvage: bool) -> None:
    """Write messages as JSON Lines, one a line, in order.

    What is written can be imported again, here or elsewhere, without loss: ids, authors, times and all. A file is
    replaced only once the new one is whole. A message that is damaged and cannot be read ends it, unless --salvage is
    given: then the others are written, those left out are named, and the exit status is 1.

    \b
    recollect export -o backup.jsonl
    recollect export --user alex | gzip > alex.jsonl.gz
    """
    from recollect.engine.tables.log import damaged_messages
    from recollect.formats import dump
    from recollect.model import Filter

    with opened() as here:
        space = here.settings.space
        total = expected(here.store, space, user, conversation)

        @lru_cache(maxsize=1)  # messages come conversation by conversation
        def owner(id: str) -> Conversation | None:
            return here.store.read(lambda tx: tx.conversation(space, id))

        messages = here.memory.export(user=user, conversation=conversation, space=space, salvage=salvage)
        with destination(output) as file:
            count = written(
                messages, total, output, lambda m: file.write(dump(m, owner(m.conversation)).encode() + b"\n")
            )
        where = Filter(space, user=user, conversation=conversation)
        damaged = here.store.read(lambda tx: damaged_messages(tx, where)) if salvage else []
    if output != STANDARD:
        click.echo(f"{output}: {counted(count, 'message')} written", err=True)
    report_left_out(damaged)


def report_left_out(damaged: Sequence[Exception]) -> None:
    """Name what a salvage could not read; the exit status tells of it, too."""
    for error in damaged:
        click.echo(f"left out: {printable(str(error))}", err=True)
    if damaged:
        click.echo(f"{len(damaged):,} left out", err=True)
        raise click.exceptions.Exit(1)


def expected(store: Store, space: str, user: str | None, conversation: str | None) -> int | None:
    """How many messages there will be, where that is known beforehand."""
    from datetime import UTC, datetime

    from recollect.errors import StoreError

    if conversation is not None:
        return conversation_in(store, space, conversation).turns if user is None else None
    if user is not None:
        return None
    try:
        found = store.read(lambda tx: tx.stats(datetime.now(UTC), space))
    except StoreError:  # a damaged file can still be read in part, and then nobody knows how much there is
        return None
    return found.messages + found.erased


def written(messages: Iterable[Message], total: int | None, output: str, write: Callable[[Message], Any]) -> int:
    """Write every message. No bar where it would stand between the lines."""
    count = 0
    with progress("{task.completed:,} messages", shown=output != STANDARD or not sys.stdout.isatty()) as bar:
        task = bar.add_task("exporting", total=total)
        for count, message in enumerate(messages, start=1):
            write(message)
            bar.update(task, completed=count)
    return count


@contextmanager
def destination(output: str) -> Iterator[BinaryIO]:
    """Where bytes go. A plain file appears whole or not at all; a pipe or device is written to as it is."""
    from recollect.errors import InvalidInput

    path = Path(output).resolve()
    if output == STANDARD:
        yield sys.stdout.buffer
    elif not path.parent.is_dir():
        raise InvalidInput("output", f"the folder {Path(output).parent} does not exist; create it first")
    elif path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
    else:
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with open(beside, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


# -- copy


@click.command()
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option("--migrate", is_flag=True, help="Create recollect's schema on DST first, if it is PostgreSQL.")
@click.option("--salvage", is_flag=True, help="Leave out what is damaged and cannot be read, and name it.")
def copy(source: str, target: str, migrate: bool, salvage: bool) -> None:
    """Copy a whole store into an empty one.

    Both may be of any kind. Everything goes along: all spaces, ids, times, seals, tombstones and the index. SRC is read
    as of one moment, and others may go on using it; the copy is verified at the end. If it is stopped, a file that was
    made for it is removed again.

    If something in SRC is damaged and cannot be read, nothing is copied, unless --salvage is given: then all the rest
    is, what was left out is named, and the exit status is 1. A message that was left out is an erased one in the copy.

    \b
    recollect copy recollect.db json:memory.json
    recollect copy recollect.db postgresql://user:password@host/database --migrate
    """
    from recollect.errors import StoreError
    from recollect.wiring import open_store

    settings = current_settings()
    old, new = file_of(source), file_of(target)
    if old is not None and new is not None and old.resolve() == new.resolve():
        raise StoreError(f"{source} and {target} are the same file; copy into a new store")
    fresh = new if new is not None and not new.exists() else None
    damaged: list[StoreError] = []
    origin = open_store(existing(source), settings)
    try:
        copied, proof = into(origin, target, fresh, settings, migrate, damaged.append if salvage else None)
    finally:
        origin.close()
    click.echo(
        f"{masked(target)}: {counted(copied['conversations'], 'conversation')}, "
        f"{counted(copied['messages'], 'message')}, {counted(copied['entries'], 'passage')} of the index"
    )
    for fault in proof.faults:
        click.echo(printable(str(fault)))
    click.echo(f"the copy is {'whole' if proof.ok else 'faulty, as its source is'}: root {proof.root}")
    report_left_out(damaged)
    if not proof.ok:
        raise click.exceptions.Exit(1)


def expected_rows(origin: Store) -> int | None:
    """About how many rows a copy will have; None if a damaged file does not tell."""
    from datetime import UTC, datetime

    from recollect.errors import StoreError

    try:
        found = origin.read(lambda tx: tx.stats(datetime.now(UTC)))
    except StoreError:
        return None
    return found.messages + found.erased + 2 * found.conversations + 2 * found.entries


def into(
    origin: Store,
    target: str,
    fresh: Path | None,
    settings: Settings,
    migrate: bool,
    salvage: Callable[[StoreError], None] | None,
) -> tuple[dict[str, int], Verification]:
    """Copy and verify. If it is stopped, a file that was made for it goes again."""
    from recollect.engine.tables.log import verify
    from recollect.engine.transfer import copy_store
    from recollect.wiring import open_store

    whole = False
    new = open_store(target, settings, migrate=migrate)
    try:
        with progress("{task.completed:,} rows") as bar:
            task, before = bar.add_task("copying", total=expected_rows(origin)), {}

            def note(table: str, count: int) -> None:
                before[table] = count
                bar.update(task, description=f"copying {table}", completed=sum(before.values()))

            copied = copy_store(origin, new, note, salvage)
        proof = new.read(verify)
        whole = True
        return copied, proof
    finally:
        new.close()
        if fresh is not None and not whole:
            for ending in ("", "-wal", "-shm", ".lock", ".tmp"):
                with suppress(OSError):
                    fresh.with_name(fresh.name + ending).unlink(missing_ok=True)

"""Commands that move memories: import, export, copy.

Each can be stopped at any moment. An import keeps what it has read and continues when it is run again; an export to a
file leaves the old file until the new one is complete; a copy that was stopped leaves nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from everword.cli import opening, options
from everword.cli.opening import HelpingProcess, current_settings, settle_or_warn
from everword.cli.options import INTERRUPTED, SPACE, StoreCommand, global_option, printable
from everword.cli.output import plural, print_json, progress_bar
from everword.errors import ImportFailed, InvalidInput, StoreError
from everword.masking import mask_credentials
from everword.model import ON_EDIT, BadRecord, Filter, Message, OnEdit, Record, Stats, Verification

if TYPE_CHECKING:
    from everword.config import Settings
    from everword.formats import Reader
    from everword.memory.memory import MemoryEngine
    from everword.memory.transfer import ImportProgress
    from everword.ports import Store

FORMATS = (
    "everword", "chatgpt", "claude", "discord", "telegram", "slack", "whatsapp",
    "mem0", "zep", "langgraph", "mcp", "letta", "hindsight",
)  # fmt: skip
STANDARD = "-"
UNHEEDED_SECONDS = 1.0  # after which Ctrl-C is taken not to have woken who waits for input


# -- import


@click.command("import", cls=StoreCommand)
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="FILE...")
@click.option("--format", type=click.Choice(FORMATS), help="The format of the files.  [default: detected]")
@click.option("--user", metavar="ID", help="The owner of the imported chats, if FILE does not name an owner.")
@click.option(
    "--assistant",
    "assistant_ids",
    metavar="ID",
    multiple=True,
    help="The id of the assistant in the imported channels (repeatable).",
)
@click.option(
    "--timezone", metavar="ZONE", help="The time zone, such as Europe/Berlin, for times in FILE that have no time zone."
)
@click.option("--skip-bad", is_flag=True, help="Exit with status 0 even if some records of FILE cannot be read.")
@click.option(
    "--on-edit",
    type=click.Choice(ON_EDIT),
    default="refuse",
    help="For an edited message, `refuse` keeps the old text, and `version` stores the new text as a new version.",
)
@click.option(
    "--no-settle",
    is_flag=True,
    help="End the import without indexing the messages; a running `everword worker` will index them.",
)
@options.json_option("Print JSON that counts, for each file, the messages read, new, already stored and unreadable.")
def import_(
    files: tuple[str, ...],
    format: str | None,
    skip_bad: bool,
    on_edit: OnEdit,
    no_settle: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Import chats, or memories from other tools.

    FILE is an export of ChatGPT, Claude, Slack, WhatsApp, Telegram or Discord (DiscordChatExporter). FILE can be a zip
    file that contains an export. FILE can be an export of memories from mem0, Zep, Graphiti, LangGraph, Letta,
    Hindsight or MCP's memory server. FILE can be JSON Lines in everword's own format, which `everword export` writes.
    If FILE is `-`, `everword import` reads JSON Lines from standard input. The import keeps the date, author and id of
    each message. A message is stored once, however often you import it. If an import stops before the end, run the same
    `everword import` command again.

    `everword import` lists the records of FILE that it cannot read, and imports all others. If a record of FILE cannot
    be read, the exit status is 1, unless you give --skip-bad. If you import a message again after its author edited it,
    the store keeps the old text of the message. To store the edited text as a new version of the message, give
    --on-edit version. If the setting `secrets` is `refuse`, messages that contain secrets are listed and not imported.

    \b
    everword import chat.jsonl --user alex
    everword import conversations.json
    everword import general.json --space 1098765 --assistant 2012345
    everword import general.json --on-edit version
    everword import mem0.json
    """
    from everword.formats import open_records

    settings = current_settings()
    settle = settings.followers and not no_settle

    async def import_files() -> None:
        effective_settings = settings if settle else opening.without_embedder(settings)
        async with (
            opening.open_engine(effective_settings, check_embedder=settle) as (memory, store),
            HelpingProcess(memory, settings.store) as helper,
        ):
            bad_count = 0
            for file in files:
                with open_records(file, format, **reading) as reader:
                    helping = helper if settle else None
                    bad_count += await import_file(memory, file, reader, settings, on_edit, helping, as_json)
            if settle:
                await settle_or_warn(memory, store, helper)
        if bad_count and not skip_bad:
            raise ImportFailed(
                f"{plural(bad_count, 'record')} could not be read; all others were imported. Fix these "
                "records and import again, or use --skip-bad"
            )

    try:
        with ctrl_c_ends_reading():
            asyncio.run(import_files())
    except KeyboardInterrupt:
        click.echo("stopped: what was read is kept; run the same command again and it goes on from there", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


@contextmanager
def ctrl_c_ends_reading() -> Iterator[None]:
    """Ctrl-C ends also a read that waits for input; asyncio's own handler would wait for it."""
    handler_event = threading.Event()

    def interrupt(*_: Any) -> None:
        handler_event.set()
        raise KeyboardInterrupt

    old_handler = signal.signal(signal.SIGINT, interrupt)
    try:
        with nullcontext() if sys.platform == "win32" else ctrl_c_until(handler_event):
            yield
    finally:
        signal.signal(signal.SIGINT, old_handler)


@contextmanager
def ctrl_c_until(handler_event: threading.Event) -> Iterator[None]:
    """A signal that comes right before a read does not wake it: a thread sends it again, until it is heeded."""
    main_thread = threading.get_ident()
    read_end, write_end = os.pipe()

    def send_again() -> None:
        while (signal_byte := os.read(read_end, 1)) and signal_byte[0] != signal.SIGINT:
            pass
        while signal_byte and not handler_event.wait(UNHEEDED_SECONDS):
            signal.pthread_kill(main_thread, signal.SIGINT)

    os.set_blocking(write_end, False)
    old_wakeup = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    sender = threading.Thread(target=send_again, name="everword ctrl-c", daemon=True)
    sender.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(old_wakeup)
        handler_event.set()
        os.close(write_end)
        sender.join()
        os.close(read_end)


async def import_file(
    memory: MemoryEngine,
    file: str,
    reader: Reader,
    settings: Settings,
    on_edit: OnEdit,
    helper: HelpingProcess | None,
    as_json: bool,
) -> int:
    """Append the records of a file to the log, and report on it; returns how many are bad. The helper begins to read
    while more are coming."""
    from everword.memory.transfer import ImportProgress, import_records

    name = "standard input" if file == STANDARD else file
    spaces: set[str] = {reader.suggested_space} if reader.suggested_space else set()
    so_far = ImportProgress()
    start = time.monotonic()
    try:
        with progress_bar("{task.fields[messages]:,} messages, {task.fields[rate]:,}/s", bytes_read=True) as bar:
            task = bar.add_task(Path(name).name, total=reader.total_bytes, messages=0, rate=0)

            def show_progress(totals: ImportProgress) -> None:
                nonlocal so_far
                so_far = totals
                if helper is not None:
                    helper.start_if_large(totals.new)
                rate = round(totals.read / max(time.monotonic() - start, 1e-3))
                bar.update(task, completed=reader.bytes_read, messages=totals.read, rate=rate)

            records = collect_spaces(reader, spaces)
            await import_records(memory, records, space=settings.space, on_edit=on_edit, progress=show_progress)
    finally:
        report_import(name, reader.format, so_far, to_stderr=as_json)
        if as_json:
            print_json({"file": name, "format": reader.format, **asdict(so_far), "left_out": reader.left_out})
        report_not_taken(reader.left_out)
    hint_space(spaces, settings.space)
    return so_far.bad_count


def collect_spaces(records: Iterable[Record | BadRecord], spaces: set[str]) -> Iterator[Record | BadRecord]:
    """The records unchanged; `spaces` collects the spaces they name."""

    for record in records:
        if isinstance(record, Record) and record.space is not None:
            spaces.add(record.space)
        yield record


def report_import(name: str, format: str, totals: ImportProgress, *, to_stderr: bool = False) -> None:
    """Print the counts, and the records that are bad."""
    for line in totals.bad:
        click.echo(f"skipped: {printable(f'{name}, {line}')}", err=True)
    skip_count = totals.bad_count + totals.secret
    if skip_count > len(totals.bad):
        click.echo(f"skipped: {printable(name)}, {skip_count - len(totals.bad):,} more", err=True)
    edited = f"{totals.edited:,} edited, " if totals.edited else ""
    refused = f"{totals.refused:,} known with another text, " if totals.refused else ""
    erased = f"{totals.erased:,} erased before, " if totals.erased else ""
    erased += f"{totals.expired:,} expired, " if totals.expired else ""
    erased += f"{totals.secret:,} refused for their secrets, " if totals.secret else ""
    counts = f"{totals.known:,} known already, {edited}{refused}{erased}{totals.bad_count:,} bad"
    summary = f"{printable(name)} ({format}): {plural(totals.read, 'message')} read, {totals.new:,} new, {counts}"
    click.echo(summary, err=to_stderr)
    if totals.marked:
        click.echo(f"{plural(totals.marked, 'message')} with secrets: `everword stats` counts them by kind", err=True)
    if totals.refused:
        click.echo("hint: edited messages keep their old text; to store the new text, use --on-edit version", err=True)


def report_not_taken(left_out: Mapping[str, int]) -> None:
    """Print what is in the file and could not be taken over."""
    counts = [f"{count:,} {what}" for what, count in sorted(left_out.items()) if count]
    if counts:
        click.echo(f"not taken over: {printable(', '.join(counts))}", err=True)


def hint_space(spaces: set[str], space: str) -> None:
    """Print a hint if the file names another space and --space was not given."""
    others = sorted(spaces - {space})
    if others and global_option(SPACE) is None:
        other_names = printable(others[0]) + (f" (and {len(others) - 1} more)" if len(others) > 1 else "")
        click.echo(
            f"hint: the file names the space {other_names}; it was imported into {space}. "
            "To keep spaces apart: --space NAME",
            err=True,
        )


# -- export


@click.command(cls=StoreCommand)
@options.ONE_USER
@options.ONE_CONVERSATION
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default=STANDARD,
    help="The file to export to. With `-o -`, the export goes to standard output.",
)
@click.option("--salvage", is_flag=True, help="Leave out what is damaged in the store, and list it.")
@click.option(
    "--with-secrets", is_flag=True, help="Write secrets, such as API keys, as they are, without placeholders."
)
def export(user: str | None, conversation: str | None, output: str, salvage: bool, with_secrets: bool) -> None:
    """Export messages in order, one JSON object per line.

    `everword import` can read the exported file without loss of ids, authors or times. An existing output file is
    replaced only when the new file is complete. A damaged message stops the export. With --salvage, the export lists
    each damaged message and goes on with the others. If a message is damaged, the exit status is 1, even with
    --salvage. The export writes placeholders for secrets, such as API keys and passwords, unless you give
    --with-secrets.

    \b
    everword export -o backup.jsonl
    everword export --user alex | gzip > alex.jsonl.gz
    """
    from everword.log.append_and_read import find_damaged_messages

    with opening.open_for_reading(log_only=True) as handle:
        space = handle.settings.space
        user = user and handle.find_person(user)
        conversation = conversation and handle.find_conversation(conversation).id
        total = count_messages(handle.store, space, user, conversation)
        messages = handle.memory.export(
            user=user, conversation=conversation, space=space, salvage=salvage, secrets=with_secrets
        )
        with open_output(output) as file:
            count = write_messages(messages, handle.store, space, total, file)
        scope = Filter(space, user=user, conversation=conversation)
        unreadable = handle.store.read(lambda tx: find_damaged_messages(tx, scope)) if salvage else []
    if output != STANDARD:
        click.echo(f"{output}: {plural(count, 'message')} written", err=True)
    report_left_out(unreadable)


def report_left_out(unreadable: Sequence[Exception]) -> None:
    """Print what a salvage could not read; then the exit status is 1."""
    for error in unreadable:
        click.echo(f"left out: {printable(str(error))}", err=True)
    if unreadable:
        click.echo(f"{len(unreadable):,} left out", err=True)
        raise click.exceptions.Exit(1)


def count_messages(store: Store, space: str, user: str | None, conversation: str | None) -> int | None:
    """How many messages an export will have; None if that is not known beforehand."""

    if conversation is not None:
        return opening.find_conversation(store, space, conversation).turns if user is None else None
    if user is not None:
        return None
    stats = read_stats(store, space)
    return None if stats is None else stats.messages + stats.erased


def read_stats(store: Store, space: str | None = None) -> Stats | None:
    """What is in a store; None if a damaged file, which can be read in part, cannot be counted."""
    try:
        return store.read(lambda tx: tx.stats(datetime.now(UTC), space))
    except StoreError:
        return None


def write_messages(messages: Iterable[Message], store: Store, space: str, total: int | None, file: BinaryIO) -> int:
    """Write every message and count them. No progress bar if the messages go to the terminal."""
    from everword.formats import dump

    count = 0
    with progress_bar("{task.completed:,} messages", visible=not file.isatty()) as bar:
        task = bar.add_task("exporting", total=total)
        for id, messages_of_conversation in groupby(messages, key=lambda message: message.conversation):
            owner = opening.read_conversation(store, space, id)
            for message in messages_of_conversation:
                file.write(dump(message, owner).encode() + b"\n")
                count += 1
                bar.update(task, completed=count)
    return count


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """Open the output. A plain file appears complete or not at all; a pipe or device is written to directly."""

    path = Path(output).resolve()
    if output == STANDARD:
        yield sys.stdout.buffer
    elif not path.parent.is_dir():
        raise InvalidInput("output", f"the folder {Path(output).parent} does not exist; create it first")
    elif path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
    else:
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


# -- copy


@click.command()
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option(
    "--migrate", is_flag=True, help="If DST is on PostgreSQL, create everword's tables there before the copy."
)
@click.option("--salvage", is_flag=True, help="Leave out what is damaged in the store, and list it.")
@options.JSON_OBJECT
def copy(source: str, target: str, migrate: bool, salvage: bool, as_json: bool) -> None:
    """Copy a whole store into an empty store.

    SRC is the store to copy, and DST is the empty store; each can be of any kind. `everword copy` copies all spaces,
    ids, times, hashes, the marks of removed messages, and the search index. Other programs can use SRC during the copy:
    DST is a consistent snapshot of SRC. At the end, `everword copy` verifies the copy. If you stop the copy before its
    end, the unfinished file DST is removed.

    If something in SRC is damaged, nothing is copied, unless you give --salvage. With --salvage, `everword copy` lists
    the damaged parts of SRC, and copies all other parts. If something in SRC is damaged, the exit status is 1, even
    with --salvage. In DST, a damaged message of SRC appears as an erased message.

    \b
    everword copy everword.db json:memory.json
    everword copy everword.db postgresql://user:password@host/database --migrate
    """
    from everword.wiring import open_store

    settings = current_settings()
    source_file = opening.store_file(source)
    target_file = opening.store_file(target)
    if source_file is not None and target_file is not None and source_file.resolve() == target_file.resolve():
        raise StoreError(f"{source} and {target} are the same file; give the file of a new store")
    new_file = target_file if target_file is not None and not target_file.exists() else None
    unreadable: list[StoreError] = []
    with closing(open_store(opening.require_existing(source), settings)) as origin:
        row_counts, proof = copy_into(origin, target, new_file, settings, migrate, unreadable if salvage else None)
    if as_json:
        print_json({"copy": mask_credentials(target), "rows": row_counts, "ok": proof.ok, "root": proof.root})
    else:
        click.echo(
            f"{mask_credentials(target)}: {plural(row_counts['conversations'], 'conversation')}, "
            f"{plural(row_counts['messages'], 'message')}, {plural(row_counts['entries'], 'passage')} of the index"
        )
        click.echo(f"the copy is {'whole' if proof.ok else 'faulty, as its source is'}: root {proof.root}")
    for fault in proof.faults:
        click.echo(printable(str(fault)), err=as_json)
    report_left_out(unreadable)
    if not proof.ok:
        raise click.exceptions.Exit(1)


def copy_into(
    origin: Store,
    target: str,
    new_file: Path | None,
    settings: Settings,
    migrate: bool,
    unreadable: list[StoreError] | None,
) -> tuple[dict[str, int], Verification]:
    """Copy and verify; what cannot be read is added to `unreadable`, if there is such a list. If it is stopped, a file
    that was created for it is removed."""
    from everword.log.append_and_read import verify
    from everword.memory.transfer import copy_store
    from everword.wiring import open_store

    is_complete = False
    store = open_store(target, settings, migrate=migrate)
    try:
        stats = read_stats(origin)
        total = None
        if stats is not None:
            total = stats.messages + stats.erased + 2 * stats.conversations + 2 * stats.entries
        with progress_bar("{task.completed:,} rows") as bar:
            task = bar.add_task("copying", total=total)
            rows_so_far = {}

            def show_progress(table: str, count: int) -> None:
                rows_so_far[table] = count
                bar.update(task, description=f"copying {table}", completed=sum(rows_so_far.values()))

            salvage = None if unreadable is None else unreadable.append
            row_counts = copy_store(origin, store, show_progress, salvage)
        proof = store.read(verify)
        is_complete = True
        return row_counts, proof
    finally:
        store.close()
        if new_file is not None and not is_complete:
            for ending in ("", "-wal", "-shm", ".lock", ".tmp"):
                with suppress(OSError):
                    new_file.with_name(new_file.name + ending).unlink(missing_ok=True)

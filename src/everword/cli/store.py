"""Commands on the store as a whole: stats, verify, settings, scrub, migrate, rebuild, retry, worker, backup, restore.

A backup is one file, as of one moment, whoever writes meanwhile, and gets its name only when it is verified. A restore
verifies the backup before it replaces anything, and replaces the store in one step.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from everword.cli import opening, options
from everword.cli.opening import (
    HelpingProcess,
    current_settings,
    open_engine,
    report_followers,
    settle,
    stop_on_signals,
)
from everword.cli.options import SPACE, STORE, StoreCommand, global_option, printable, report_remains
from everword.cli.output import format_time, pick, plural, print_json, show_table, table
from everword.errors import ConfigError, InvalidInput, NotFound, StoreError
from everword.masking import mask_credentials
from everword.model import Activity, Retried, Stats

if TYPE_CHECKING:
    from everword.config import Settings
    from everword.follow.view import Patience
    from everword.model import Verification


# -- stats, verify, settings


@click.command(cls=StoreCommand)
@options.JSON_OBJECT
def stats(as_json: bool) -> None:
    """Show what is in the store, and the state of the store.

    Views are data that everword derives from messages, such as summaries and facts. For each view (derived data),
    `everword stats` shows the number of processed messages and the last error. `everword stats` counts what all
    programs that use the store did: model calls, cache lookups, and fallbacks after a model failed. `everword stats`
    covers all spaces of the store, or the one space that you name with --space.

    \b
    everword stats
    everword stats --space team --json
    """
    from everword.memory.runtime import with_waits

    with opening.open_for_reading(log_only=True) as handle:
        totals = with_waits(handle.memory.stats(space=global_option(SPACE)), models_patience(handle.settings))
    if as_json:
        print_json(totals)
        return
    grid = table("", "")
    grid.show_header = False
    for name, value in stats_lines(totals):
        grid.add_row(name, printable(value))
    show_table(grid)


def models_patience(settings: Settings) -> Mapping[str, Patience]:
    """How long each view waits for the model, with these settings."""
    from everword.memory.runtime import patience_by_view
    from everword.wiring import memory_model_names

    return patience_by_view(settings) if memory_model_names(settings) else {}


def stats_lines(totals: Stats) -> list[tuple[str, str]]:
    lines = [
        ("store", totals.store),
        ("spaces", f"{totals.spaces:,}"),
        ("conversations", f"{totals.conversations:,}"),
        ("users", f"{totals.users:,}"),
        ("messages", f"{totals.messages:,}" + (f" (and {totals.erased:,} erased)" if totals.erased else "")),
        ("with secrets", ", ".join(f"{kind}: {count:,}" for kind, count in sorted(totals.secrets.items())) or "none"),
        ("characters", f"{totals.characters:,}"),
        ("first, last", f"{format_time(totals.first)}, {format_time(totals.last)} (UTC)"),
        ("passages indexed", f"{totals.entries:,}"),
        ("embedder", totals.embedder or "none yet"),
    ]
    for view in totals.views:
        behind = (
            f"{plural(view.behind, 'event')} not sent"
            if view.view == "webhooks"
            else f"{plural(view.behind, 'message')} behind"
        )
        state = behind if view.behind else "up to date"
        if view.waits:
            state += f"; the model does them {view.waits}"
        if view.leased:
            state += f", {plural(view.leased, 'conversation')} being worked on"
        if view.waiting:
            state += f", {plural(view.waiting, 'conversation')} to be tried again"
        if view.set_aside:
            state += f", {plural(view.set_aside, 'message')} failed"
        lines.append((f"view {view.view}", state + (f"; last error: {view.error}" if view.error else "")))
    return [*lines, *map(activity_line, totals.activity)]


def activity_line(activity: Activity) -> tuple[str, str]:
    """A line about the calls of a model, cache or fallback, in all processes so far."""
    details = [plural(activity.count, "call" if activity.what in ("chat", "memory") else "time")]
    details += [f"{activity.tokens:,} tokens"] if activity.tokens else []
    details += [f"{activity.seconds / activity.count:.2f} s each"] if activity.seconds and activity.count else []
    return f"{activity.what} {activity.kind}".rstrip(), f"{activity.outcome}: {', '.join(details)}"


@click.command(cls=StoreCommand)
@options.JSON_OBJECT
def verify(as_json: bool) -> None:
    """Check that no message was changed or lost.

    `everword verify` checks the hash chain of every conversation in every space, and lists each fault. If `everword
    verify` finds a fault, the exit status is 1. `everword verify` prints the root, a hash of all stored messages: write
    the root down outside the store. If a later `everword verify` finds no fault and prints the same root, no message
    has changed. To copy a store that is in use, run `everword backup`. A copy made with `cp` can lack the newest
    messages, and `everword verify` cannot see this from the copy alone.

    \b
    everword verify && echo "all is well"
    """
    with opening.open_for_reading(log_only=True) as handle:
        proof = handle.memory.verify()
    if as_json:
        print_json({"ok": proof.ok, **pick(proof, "conversations messages erased faults root")})
    else:
        show_proof(proof)
    if not proof.ok:
        raise click.exceptions.Exit(1)


def show_proof(proof: Verification) -> None:
    scope = f"{plural(proof.messages, 'message')} in {plural(proof.conversations, 'conversation')}"
    for fault in proof.faults:
        click.echo(f"fault: {printable(str(fault))}")
    erased_note = f", {proof.erased:,} erased" if proof.erased else ""
    click.echo(f"{'whole' if proof.ok else plural(len(proof.faults), 'fault')}: {scope}{erased_note}")
    click.echo(f"root {proof.root}")


@click.command(cls=StoreCommand)
@options.JSON_LINES
def settings(as_json: bool) -> None:
    """Show every setting, its value, and the source of the value.

    Settings come from these sources, highest priority first: command line, environment variables (EVERWORD_STORE, …),
    everword.toml, defaults. everword reads everword.toml in the working folder, unless the environment variable
    EVERWORD_CONFIG names another file. `everword settings` prints *** in place of secret settings, such as keys.

    \b
    EVERWORD_TOKENIZER=estimate everword settings
    """
    active_settings = current_settings()
    sources = setting_sources()
    grid = table("setting", "value", "from")
    for field in dataclasses.fields(active_settings):
        # format(), not str(): a secret is formatted as stars.
        value = f"{getattr(active_settings, field.name)}"
        source = sources.get(field.name, "default")
        if as_json:
            print_json({"setting": field.name, "value": mask_credentials(value), "from": source})
        grid.add_row(field.name, printable(mask_credentials(value)) or "(empty)", source)
    if not as_json:
        show_table(grid)


def setting_sources() -> dict[str, str]:
    """For each setting that is not at its default, where its value comes from."""
    from everword.config import read_environment, read_file

    values = [*read_file(os.environ, Path.cwd()), *read_environment(os.environ)]
    sources = {name: source for name, _, source in values}
    return sources | {
        key.removeprefix("everword."): "command line" for key in (STORE, SPACE) if global_option(key) is not None
    }


# -- scrub, migrate, rebuild, worker


@click.command(cls=StoreCommand)
@options.JSON_OBJECT
def scrub(as_json: bool) -> None:
    """Remove traces of erased data from the store's files.

    `everword erase` and `everword retain` usually remove all traces of erased data themselves. Traces of erased data
    remain if another program is reading the store, or if a table on PostgreSQL is large. `everword erase`
    and `everword retain` list the traces that remain. Run `everword scrub` after the program that was reading the store
    has ended. On PostgreSQL, run `everword scrub` in a quiet hour, because it locks each table while it rewrites the
    table. If traces of erased data are still left, the exit status is 1.

    \b
    everword scrub
    """
    with opening.open_current_store(current_settings()) as store:
        remains = store.scrub(full=True)
    if as_json:
        print_json({"left": remains})
    elif not remains:
        click.echo(f"{store.name}: its files hold nothing that was removed")
    report_remains(remains)


@click.command()
@click.argument("url", required=False)
@click.option(
    "--hnsw",
    is_flag=True,
    help="Build an approximate vector index, for faster search among very many messages.",
)
@click.option("--citus", is_flag=True, help="Distribute the tables over the machines of a Citus cluster.")
def migrate(url: str | None, hnsw: bool, citus: bool) -> None:
    """Create or update everword's tables on a PostgreSQL server.

    URL is the store to migrate, by default the setting `store`. everword updates SQLite and JSON files when it opens
    them, so these files need no migration. You can run `everword migrate` again without harm.

    With --citus, a Citus cluster distributes the spaces over its machines. Each space is on one machine of the cluster.
    With --citus, URL is the address of the cluster's coordinator. Stop servers and workers before you distribute a
    store with --citus. If `everword migrate --citus` fails, no data has moved to other machines. If a store is
    already distributed, `everword migrate` distributes new tables even without --citus.

    \b
    everword migrate postgresql://user:password@host/database
    everword migrate --citus postgresql://user:password@coordinator/database
    """
    from everword.stores.migrations import CURRENT
    from everword.stores.postgres import PostgresStore
    from everword.wiring import open_store

    active_settings = current_settings()
    address = url or active_settings.store
    if opening.store_file(address) is not None:
        if hnsw:
            raise ConfigError("--hnsw works only with PostgreSQL; a store in a file has no HNSW index")
        if citus:
            raise ConfigError("--citus works only with PostgreSQL; a file cannot be distributed over several machines")
        opening.require_existing(address)
    width = embedder_width(active_settings) if hnsw else None
    store = open_store(address, active_settings, migrate=True, hnsw=width, spread=citus)
    with closing(store):
        count = len(store.machines()) if isinstance(store, PostgresStore) and store.spread else 0
    over = f"; the tables are distributed over {plural(count, 'machine')}" if count else ""
    click.echo(f"{store.name}: schema {CURRENT}, the newest{over}")


def embedder_width(active_settings: Settings) -> int:
    from everword.wiring import open_embedder

    async def read_width() -> int:
        embedder = open_embedder(active_settings)
        try:
            await embedder.ready()
            return embedder.width
        finally:
            await embedder.close()

    return asyncio.run(read_width())


def existing_settings() -> Settings:
    """The settings in force; raises if their store does not exist."""
    active_settings = current_settings()
    opening.require_existing(active_settings.store)
    return active_settings


@click.command(cls=StoreCommand)
@click.argument("view")
@options.JSON_OBJECT
def rebuild(view: str, as_json: bool) -> None:
    """Delete a view (derived data), and build the view again.

    VIEW is a kind of data derived from messages, such as `index` or `facts`; `everword stats` lists all views. Run
    `everword rebuild index` after you change the embedder, because search never mixes vectors of two embedders. During
    a rebuild of the index, you can still search by words. In a rebuild, the current model writes facts, summaries and
    other texts again. A rebuild does not change the stored messages. If you stop a rebuild, `everword worker --once`
    continues the rebuild.

    \b
    EVERWORD_EMBEDDER=minilm everword rebuild index
    """
    active_settings = existing_settings()

    async def rebuild_view() -> int:
        async with open_engine(active_settings, check_embedder=False) as (memory, store):
            await memory.rebuild(view, space=global_option(SPACE))
            async with HelpingProcess(memory, active_settings.store) as helper:
                return await settle(memory, store, helper)

    count = asyncio.run(rebuild_view())
    if as_json:
        print_json({"view": view, "messages": count})
    else:
        click.echo(f"{view}: {plural(count, 'message')} brought in")


@click.command(cls=StoreCommand)
@click.option("--view", help="Retry only messages that one view (derived data), such as `facts`, skipped.")
@click.option("--conversation", help="Retry only messages of one conversation.")
@options.JSON_OBJECT
def retry(view: str | None, conversation: str | None, as_json: bool) -> None:
    """Process messages again that caused an error.

    Views are data that everword derives from messages, such as summaries and facts. If an error occurs when a view
    (derived data) is made from a message, the view skips the message. `everword doctor` lists the skipped messages. In
    most cases, everword itself retries a skipped message after a pause, which grows with each failure. The views
    `window` (recent messages) and `topics` depend on the order of messages: for these views, `everword retry` processes
    the whole conversation again. `everword retry` covers all spaces of the store, or the one space that you name with
    --space.

    \b
    everword retry
    everword retry --view facts --conversation demo
    """
    active_settings = existing_settings()

    async def retry_messages() -> Retried:
        async with open_engine(active_settings) as (memory, store):
            outcome = await memory.retry(view, conversation=conversation, space=global_option(SPACE))
            if outcome.tried:
                async with HelpingProcess(memory, active_settings.store) as helper:
                    await settle(memory, store, helper)
            return outcome

    outcome = asyncio.run(retry_messages())
    if as_json:
        print_json(outcome)
    else:
        click.echo(f"{plural(outcome.tried, 'message')} tried again, {outcome.left} failed again")


@click.command(cls=StoreCommand)
@click.option("--once", is_flag=True, help="End as soon as all summaries, facts and the index are up to date.")
@click.option("--view", multiple=True, hidden=True, help="With --once, only this view: for a process that helps.")
def worker(once: bool, view: tuple[str, ...]) -> None:
    """Run a process that updates summaries, facts and the index.

    The worker runs until you stop it with Ctrl-C or SIGTERM. Several workers on one store divide the work among them.
    By default, every program that opens the memory updates summaries, facts and the index, even without a worker. With
    the setting `followers = false`, a program leaves updates of summaries, facts and the index to workers.

    \b
    everword worker
    everword worker --once
    """
    active_settings = existing_settings()

    async def work() -> None:
        with stop_on_signals() as stop:
            async with open_engine(active_settings, follow=True) as (memory, store):
                click.echo(f"following {store.name}; Ctrl-C ends it")
                await report_followers(memory, store, stop)
        click.echo("stopped")

    async def work_once() -> int:
        async with (
            open_engine(active_settings) as (memory, store),
            HelpingProcess(memory, active_settings.store) as helper,
        ):
            return await settle(memory, store, helper, view)

    if once:
        click.echo(f"caught up: {plural(asyncio.run(work_once()), 'message')} brought in")
    else:
        asyncio.run(work())


# -- backup, restore

FILE = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
JSON = "json:"
PG_DUMP = "pg_dump --format=custom --file={file} {url}"
PG_RESTORE = "pg_restore --clean --if-exists --dbname={url} {file}"


@click.command(cls=StoreCommand)
@FILE
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@options.JSON_OBJECT
def backup(file: Path, force: bool, as_json: bool) -> None:
    """Copy the store into a file, even while the store is in use.

    FILE contains everything that was stored before `everword backup` began, in all spaces. The copy is written under a
    temporary name, verified, and then renamed to FILE. You can use FILE like any other store, such as in `everword
    --store FILE search …`. Do not copy a SQLite store with `cp` while the store is in use: its newest messages are in a
    second file. For PostgreSQL, `everword backup` makes no copy: it prints the `pg_dump` command to use, and the exit
    status is 1.

    \b
    everword backup everword-2024-05-01.db
    everword --store json:memory.json backup memory-backup.json
    everword restore everword-2024-05-01.db
    """
    from everword.stores.backup import replace_store

    settings = current_settings()
    source = file_of_store(settings, PG_DUMP, file)
    opening.require_existing(settings.store)
    if file.exists() and (not force or file.samefile(source)):
        remedy = "name another file" if file.samefile(source) else "name another file, or use --force"
        raise StoreError(f"{file} exists; {remedy}")
    with verified_copy(source, file, settings) as (copy, proof):
        replace_store(copy, file)
    report(file, proof, "backed up", as_json)


@click.command(cls=StoreCommand)
@FILE
@click.option("--force", is_flag=True, help="Replace the store if it exists.")
@options.JSON_OBJECT
def restore(file: Path, force: bool, as_json: bool) -> None:
    """Replace the store with a backup.

    FILE is the backup. `everword restore` verifies FILE before it changes the store. If FILE is damaged, the store
    stays as it is. To replace an existing store, give --force, and end all programs that have the store open.

    \b
    everword restore everword-2024-05-01.db
    everword --store other.db restore everword-2024-05-01.db
    everword restore everword-2024-05-01.db --force
    """
    from everword.stores.backup import is_database, replace_store

    settings = current_settings()
    target = file_of_store(settings, PG_RESTORE, file)
    if not file.exists():
        raise NotFound(f"there is no file {file}")
    if is_database(file) is settings.store.startswith(JSON):
        raise StoreError(
            f"{file} cannot replace {settings.store}, because they are different kinds of store; convert "
            "the backup with `everword copy`"
        )
    if target.exists() and target.samefile(file):
        raise StoreError(f"{file} is the store itself; give the file of a backup")
    if target.exists() and not force:
        raise StoreError(
            f"{target} already exists; use --force to replace it, or restore to another file with --store OTHER"
        )
    with verified_copy(file, target, settings) as (copy, proof):
        replace_store(copy, target)
    report(target, proof, "restored", as_json)


def file_of_store(settings: Settings, command: str, file: Path) -> Path:
    """The file of the store in force. A server has tools of its own: the error tells the line."""
    path = opening.store_file(settings.store)
    if path is None:
        line = command.format(file=file, url=f"'{mask_credentials(settings.store)}'")
        raise StoreError(f"this command works only with files; for PostgreSQL, run: {line}")
    return path


@contextmanager
def verified_copy(source: Path, target: Path, settings: Settings) -> Iterator[tuple[Path, Verification]]:
    """A copy of the file of a store, verified and on the disk, in a folder beside the target that is gone after the
    block."""
    from everword.log.append_and_read import verify
    from everword.stores.backup import complete_file, copy_file
    from everword.wiring import open_store

    parent = target.absolute().parent
    if not parent.is_dir():
        raise InvalidInput("file", f"the folder {parent} does not exist; create it first")
    with TemporaryDirectory(prefix=f".{target.name}.", dir=parent) as folder:
        copy = Path(folder) / target.name
        is_json = settings.store.startswith(JSON)
        copy_file(source, copy, not is_json, settings.busy_seconds)
        with closing(open_store(f"{JSON if is_json else 'sqlite:'}{copy}", settings)) as store:
            proof = store.read(verify)
        if not proof.ok:
            faults = plural(len(proof.faults), "fault")
            raise StoreError(
                f"{source} has {faults}, so nothing was replaced. `everword verify --store {source}` lists "
                "the faults; `everword copy --salvage` copies all readable data"
            )
        complete_file(copy)
        yield copy, proof


def report(file: Path, proof: Verification, verb: str, as_json: bool) -> None:
    if as_json:
        counts = {"messages": proof.messages, "conversations": proof.conversations, "erased": proof.erased}
        print_json({"file": os.fspath(file), **counts, "root": proof.root})
        return
    scope = f"{plural(proof.messages, 'message')} in {plural(proof.conversations, 'conversation')}"
    click.echo(f"{printable(str(file))}: {verb}, {scope}, verified\nroot {proof.root}")
